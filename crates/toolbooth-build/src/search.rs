//! The index of the search: BM25 over names, titles, descriptions, parameters and paths, computed here, so that a query only adds.

use std::collections::BTreeMap;

use serde_json::Value;
use toolbooth::catalog::{Definition, HttpDefinition, HttpMethod, Listing, SearchIndex, terms};

use crate::entry::{Entry, is_latest};
use crate::problem::Problem;

/// The names of the tools of the search.
const RESERVED: [&str; 2] = ["call_tool", "search_tools"];
/// The most tools that are always listed, so that a list stays short.
const MAX_PINNED: usize = 12;

/// How much a word counts: in the name of a tool, in its title, and in everything else but descriptions of parameters.
const NAME: f64 = 5.0;
const TITLE: f64 = 3.0;
const TEXT: f64 = 1.0;
const PARAMETER_TEXT: f64 = 0.3;
/// What the method of a request says that it does, and the last name in its path, which is that of the object.
const METHOD: f64 = 2.0;
const OBJECT: f64 = 4.0;

/// The usual constants of BM25: how soon a repeated word counts no more, and how much a long text counts less.
const K1: f64 = 1.6;
const B: f64 = 0.75;

/// Checks that no tool has a name of the search, and that few are always listed.
pub(crate) fn check(entries: &[Entry]) -> Vec<Problem> {
    let reserved = entries.iter().filter(|it| RESERVED.contains(&it.definition.name.as_str()));
    let reserved = reserved.map(|entry| {
        let name = &entry.definition.name;
        entry.problem("name", format!("is {name:?}, which is the name of a tool of the search"))
    });
    let always = |at: &usize| entries.get(*at).filter(|it| it.definition.is_for_models());
    let too_many = pinned(entries).into_iter().filter_map(|at| always(&at)).skip(MAX_PINNED);
    let too_many = too_many.map(|entry| {
        let message =
            format!("is \"always\" for more than {MAX_PINNED} tools: a list of a large catalogue stays short");
        entry.problem("listed", message)
    });
    reserved.chain(too_many).collect()
}

/// The code of the index.
pub(crate) fn rust(entries: &[Entry]) -> String {
    let words: String = postings(entries)
        .iter()
        .map(|(word, postings)| format!("({word:?}, b\"{}\"),\n", postings.escape_ascii()))
        .collect();
    format!(
        "toolbooth::catalog::SearchIndex {{ words: &[\n{words}], pinned: &{:?} }}",
        pinned(entries)
    )
}

/// The index of a catalogue, for tests.
pub(crate) fn index(entries: &[Entry]) -> SearchIndex {
    let words = postings(entries).into_iter();
    let words: Vec<(&str, &[u8])> =
        words.map(|(word, postings)| (&*word.leak(), &*postings.leak())).collect();
    SearchIndex { words: words.leak(), pinned: pinned(entries).leak() }
}

/// The tools that are always listed. Those that only views call are, too: hosts hide them from models, which do not search for them.
fn pinned(entries: &[Entry]) -> Vec<usize> {
    let latest = entries.iter().enumerate().filter(|(at, _)| is_latest(entries, *at));
    let pinned = latest.filter(|(_, Entry { definition, .. })| match definition.listed {
        Listing::Always => true,
        Listing::Never => false,
        _ => !definition.is_for_models(),
    });
    pinned.map(|(at, _)| at).collect()
}

/// The words of the latest versions, sorted, with their postings as [`SearchIndex::words`] describes them.
fn postings(entries: &[Entry]) -> Vec<(String, Vec<u8>)> {
    let found = |at: usize, it: &Entry| is_latest(entries, at) && it.definition.is_for_models();
    let latest = entries.iter().enumerate().filter(|(at, entry)| found(*at, entry));
    let texts: Vec<_> = latest.map(|(at, entry)| (at, frequencies(&entry.definition))).collect();
    let length = |text: &BTreeMap<String, f64>| text.values().sum::<f64>();
    let count = texts.len() as f64;
    let average = texts.iter().map(|(_, text)| length(text)).sum::<f64>() / count.max(1.0);
    let mut scores: BTreeMap<&str, Vec<(usize, f64)>> = BTreeMap::new();
    for (at, text) in &texts {
        let norm = K1 * (1.0 - B + B * length(text) / average);
        for (word, frequency) in text {
            let score = frequency * (K1 + 1.0) / (frequency + norm);
            scores.entry(word).or_default().push((*at, score));
        }
    }
    let mut highest = f64::MIN_POSITIVE;
    for tools in scores.values_mut() {
        let having = tools.len() as f64;
        let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
        for (_, score) in tools {
            *score *= rarity;
            highest = highest.max(*score);
        }
    }
    let encode = |(word, tools): (&str, Vec<(usize, f64)>)| {
        let (mut bytes, mut before) = (Vec::new(), 0);
        for (at, score) in tools {
            number(at - before, &mut bytes);
            before = at;
            // One byte is as exact as ranks need.
            bytes.push((score / highest * 255.0).round().max(1.0) as u8);
        }
        (word.to_owned(), bytes)
    };
    scores.into_iter().map(encode).collect()
}

/// Writes a number in groups of seven bits.
fn number(mut number: usize, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// How often a tool has each word, by the weights of the places.
fn frequencies(definition: &Definition) -> BTreeMap<String, f64> {
    let Definition { id, name, title, description, input_schema, http, annotations, .. } =
        definition;
    let mut found = BTreeMap::new();
    let mut add = |text: &str, weight: f64| {
        for word in terms(text) {
            *found.entry(word).or_insert(0.0) += weight;
        }
    };
    add(name, NAME);
    add(id.split('@').next().unwrap_or_default(), TEXT);
    add(title.as_deref().unwrap_or_default(), TITLE);
    add(description, TEXT);
    let properties = input_schema.get("properties").and_then(Value::as_object);
    for (parameter, schema) in properties.into_iter().flatten() {
        add(parameter, TEXT);
        let text = schema.get("description").and_then(Value::as_str);
        add(text.unwrap_or_default(), PARAMETER_TEXT);
    }
    if let Some(http) = http {
        add(&http.path, TEXT);
        add(operation(http, annotations.read_only), METHOD);
        let object = http.path.rsplit('/').find(|part| !part.is_empty() && !part.starts_with('{'));
        add(object.unwrap_or_default(), OBJECT);
    }
    found
}

/// What a request does, as most services use methods: a path that ends in a parameter is that of one object, any other that of
/// a collection. Empty if the method does not tell.
fn operation(http: &HttpDefinition, is_read: bool) -> &'static str {
    let is_object = http.url.is_some() || http.path.trim_end_matches('/').ends_with('}');
    match http.method {
        HttpMethod::Get | HttpMethod::Head => {
            if is_object {
                "get"
            } else {
                "list"
            }
        }
        _ if is_read => "",
        HttpMethod::Delete => "delete",
        HttpMethod::Post if !is_object => "create",
        HttpMethod::Post | HttpMethod::Put | HttpMethod::Patch => "update",
    }
}
