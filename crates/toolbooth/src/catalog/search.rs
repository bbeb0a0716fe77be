//! The search in the catalogue: an index that the build makes, and what a query finds in it.
//!
//! The build weighs each word of each tool (BM25), so that a query only looks words up and adds.

use crate::names::order;

/// An index of the latest version of each tool.
#[derive(Debug, Clone, Copy)]
pub struct SearchIndex {
    /// The [`terms`], sorted, each with the tools that have it: for each tool, the difference to the index of the one before
    /// (to zero for the first) in groups of 7 bits, the lowest first and all but the last with the highest bit set; then a
    /// byte with the word's weight.
    pub words: &'static [(&'static str, &'static [u8])],
    /// The tools that the short list has, by their indexes.
    pub pinned: &'static [usize],
}

/// The most words of a query that count.
const MAX_WORDS: usize = 32;

impl SearchIndex {
    /// The tools that match a query, the best first, at most `limit`: by their indexes. Only those that `allows` accepts are
    /// ranked, so that the others leave no trace.
    pub fn find(&self, query: &str, limit: usize, allows: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let mut scores: Vec<u32> = Vec::new();
        for word in terms(query).take(MAX_WORDS) {
            let Ok(at) = self.words.binary_search_by(|(known, _)| order(known, &word)) else {
                continue;
            };
            let postings = self.words.get(at).map_or(&[][..], |(_, postings)| *postings);
            for (tool, weight) in (Postings { rest: postings, tool: 0 }) {
                if scores.len() <= tool {
                    scores.resize(tool + 1, 0);
                }
                if let Some(score) = scores.get_mut(tool) {
                    *score += u32::from(weight);
                }
            }
        }
        // Few are kept, so that to sort all would cost more, in code too.
        let mut best: Vec<(u32, usize)> = Vec::new();
        for (tool, score) in scores.into_iter().enumerate().filter(|(_, score)| *score > 0) {
            let rank = best.iter().take_while(|(other, _)| *other >= score).count();
            if rank < limit && allows(tool) {
                best.insert(rank, (score, tool));
                best.truncate(limit);
            }
        }
        best.into_iter().map(|(_, tool)| tool).collect()
    }
}

/// The tools that have a word, with its weight.
struct Postings {
    rest: &'static [u8],
    tool: usize,
}

impl Iterator for Postings {
    type Item = (usize, u8);

    fn next(&mut self) -> Option<Self::Item> {
        let (mut shift, mut difference) = (0, 0);
        loop {
            let (byte, rest) = self.rest.split_first()?;
            self.rest = rest;
            difference |= usize::from(byte & 0x7f).checked_shl(shift)?;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let (weight, rest) = self.rest.split_first()?;
        self.rest = rest;
        self.tool = self.tool.checked_add(difference)?;
        Some((self.tool, *weight))
    }
}

/// The words of a text as the index has them: in lower case, without endings, and without words that every text has. A change
/// from lower to upper case begins a word, as in `listIssues`.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut rest = text;
    let words = std::iter::from_fn(move || {
        let start = rest.find(is_part)?;
        let word = rest.get(start..)?;
        let end = end(word);
        rest = word.get(end..)?;
        word.get(..end).map(stem)
    });
    words.filter(|word| !STOP_WORDS.contains(&word.as_str()))
}

/// What the index has of a text: its [`words`], and after a word that says what is done, the kind of operation. So `fetch`
/// also finds what `get` does, though `get` itself ranks higher.
pub fn terms(text: &str) -> impl Iterator<Item = String> {
    words(text).flat_map(|word| {
        let kind = KINDS.iter().find(|(_, verbs)| verbs.contains(&word.as_str()));
        let kind = kind.map(|(kind, _)| (*kind).to_owned());
        std::iter::once(word).chain(kind)
    })
}

/// The kinds of operations, with the words for them. No word is equal to a kind.
const KINDS: &[(&str, &[&str])] = &[
    ("+create", &["create", "add", "post", "new", "make", "generate"]),
    ("+delete", &["delete", "remove", "destroy"]),
    ("+get", &["get", "retrieve", "fetch", "read", "show", "view", "return", "obtain"]),
    ("+list", &["list"]),
    ("+update", &["update", "edit", "modify", "change", "patch", "replace", "set"]),
];

/// Letters and digits. Other alphabets would need tables: all of their characters are parts of words.
fn is_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || !character.is_ascii()
}

/// Where the word ends that a text begins with.
fn end(text: &str) -> usize {
    let mut before = '\0';
    for (at, character) in text.char_indices() {
        let is_next = before.is_ascii_lowercase() && character.is_ascii_uppercase();
        if is_next || !is_part(character) {
            return at;
        }
        before = character;
    }
    text.len()
}

/// What says nothing about a tool.
const STOP_WORDS: &[&str] = &[
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "for",
    "from", "how", "i", "if", "in", "is", "it", "its", "me", "my", "of", "on", "or", "our", "that",
    "the", "this", "to", "tool", "use", "want", "we", "what", "when", "which", "with", "you",
    "your",
];

/// Endings with what replaces them, the first that fits, for words of at least four bytes.
const ENDINGS: &[(&str, &str)] = &[
    ("ies", "y"),
    ("sses", "ss"),
    ("xes", "x"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
];

/// A word in lower case, in the singular.
fn stem(word: &str) -> String {
    let word = word.to_ascii_lowercase();
    if word.len() < 4 {
        return word;
    }
    let ending =
        ENDINGS.iter().find_map(|(end, instead)| Some((word.strip_suffix(end)?, *instead)));
    ending.map_or_else(|| word.clone(), |(start, instead)| [start, instead].concat())
}
