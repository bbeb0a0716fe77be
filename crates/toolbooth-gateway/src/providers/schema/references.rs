//! The references of a schema: what they refer to, and where they lead back to themselves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Schema, add_to_description};
use toolbooth::protocol::keywords::{Subschemas, subschemas, walk, walk_mut};
use toolbooth::url::decoded;

/// The circles of references that a provider accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cycles {
    Any,
    /// Only those that a member which may be absent, or a list which may be empty, can end.
    Optional,
    None,
}

/// The place of the definitions in a reference.
const DEFINITIONS: &str = "#/$defs/";

/// What a reference within the schema refers to.
pub(super) fn resolve<'s>(root: &'s Value, reference: &str) -> Option<&'s Value> {
    let fragment = reference.strip_prefix('#')?;
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(fragment).or_else(|| root.pointer(&decoded(fragment)));
    }
    anchored(root, fragment)
}

fn anchored<'s>(schema: &'s Value, anchor: &str) -> Option<&'s Value> {
    if schema.get("$anchor").and_then(Value::as_str) == Some(anchor) {
        return Some(schema);
    }
    children(schema).into_iter().find_map(|(_, child)| anchored(child, anchor))
}

/// The schemas in a schema, each with the keyword that has it.
pub(super) fn children(schema: &Value) -> Vec<(&str, &Value)> {
    let mut all = Vec::new();
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match (subschemas(keyword), value) {
            (Subschemas::One, one) => all.push((keyword.as_str(), one)),
            (Subschemas::List, Value::Array(list)) => {
                all.extend(list.iter().map(|one| (keyword.as_str(), one)));
            }
            (Subschemas::Map, Value::Object(map)) => {
                all.extend(map.values().map(|one| (keyword.as_str(), one)));
            }
            (Subschemas::None | Subschemas::List | Subschemas::Map, _) => {}
        }
    }
    all
}

/// Makes each reference one to an entry of `$defs`: what others refer to is copied there. `with_root` is for references to
/// the whole schema, too.
pub(super) fn gather(schema: &mut Value, with_root: bool) {
    let is_elsewhere = |reference: &str| {
        let name = reference.strip_prefix(DEFINITIONS);
        name.is_none_or(|name| name.contains('/')) && (with_root || reference != "#")
    };
    let mut moved: BTreeMap<String, String> = BTreeMap::new();
    let mut copies = Schema::new();
    let known = |name: &str, copies: &Schema| {
        copies.contains_key(name) || schema.get("$defs").is_some_and(|all| all.get(name).is_some())
    };
    for reference in references(schema) {
        if !is_elsewhere(&reference) || moved.contains_key(&reference) {
            continue;
        }
        let Some(found) = resolve(schema, &reference) else { continue };
        let last = reference.rsplit(['/', '#']).next().unwrap_or_default();
        let is_plain = |name: &str| name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
        let base = if last.is_empty() || !is_plain(last) { "part" } else { last };
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let mut names = std::iter::once(base.to_owned()).chain(numbered);
        let Some(name) = names.find(|name| !known(name, &copies)) else { continue };
        let mut copy = found.clone();
        if let (true, Value::Object(copy)) = (std::ptr::eq(found, schema), &mut copy) {
            copy.remove("$defs");
        }
        copies.insert(name.clone(), copy);
        moved.insert(reference, format!("{DEFINITIONS}{name}"));
    }
    if moved.is_empty() {
        return;
    }
    if let Value::Object(root) = &mut *schema {
        let definitions = root.entry("$defs").or_insert_with(|| Map::new().into());
        if let Value::Object(definitions) = definitions {
            definitions.extend(copies);
        }
    }
    walk_mut(schema, &mut |schema| {
        if let Some(Value::String(reference)) = schema.get_mut("$ref")
            && let Some(new) = moved.get(reference)
        {
            reference.clone_from(new);
        }
    });
}

fn references(schema: &Value) -> Vec<String> {
    let mut all = Vec::new();
    walk(schema, &mut |schema| {
        all.extend(schema.get("$ref").and_then(Value::as_str).map(str::to_owned));
    });
    all
}

/// Which entries of `$defs`, and the root as `#`, refer to which.
struct Graph(BTreeMap<String, BTreeSet<String>>);

/// The parts of a schema whose references count.
type Parts = fn(&Value) -> Vec<&Value>;

impl Graph {
    fn of(root: &Value, parts: Parts) -> Self {
        let mut edges = BTreeMap::new();
        let definitions = root.get("$defs").and_then(Value::as_object);
        let named = definitions.into_iter().flatten();
        let named = named.map(|(name, schema)| (format!("{DEFINITIONS}{name}"), schema));
        for (name, schema) in named.chain([("#".to_owned(), root)]) {
            let mut found = BTreeSet::new();
            collect(schema, parts, &mut found);
            edges.insert(name, found);
        }
        Self(edges)
    }

    /// Those that refer to one of them, directly or through others.
    fn sources(&self, of: &str) -> BTreeSet<&str> {
        let (mut seen, mut open) = (BTreeSet::new(), vec![of]);
        while let Some(target) = open.pop() {
            for (name, targets) in &self.0 {
                if targets.contains(target) && seen.insert(name.as_str()) {
                    open.push(name);
                }
            }
        }
        seen
    }
}

fn collect(schema: &Value, parts: Parts, found: &mut BTreeSet<String>) {
    found.extend(schema.get("$ref").and_then(Value::as_str).map(str::to_owned));
    parts(schema).into_iter().for_each(|part| collect(part, parts, found));
}

/// Whether a definition, or the whole schema, refers to itself, directly or through others.
pub(super) fn has_cycle(root: &Value) -> bool {
    let graph = Graph::of(root, |schema| {
        let all = children(schema).into_iter();
        all.filter(|(keyword, _)| *keyword != "$defs").map(|(_, child)| child).collect()
    });
    graph.0.keys().any(|name| graph.sources(name).contains(name.as_str()))
}

/// The names that a schema requires.
fn required(schema: &Value) -> BTreeSet<&str> {
    let all = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).collect()
}

fn needs_items(schema: &Value) -> bool {
    schema.get("minItems").and_then(Value::as_u64).is_some_and(|least| least > 0)
}

/// The parts that a value of the schema must have.
fn needed(schema: &Value) -> Vec<&Value> {
    let (required, needs_items) = (required(schema), needs_items(schema));
    let mut parts = Vec::new();
    for (keyword, value) in schema.as_object().into_iter().flatten() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(all)) => {
                let all = all.iter().filter(|(name, _)| required.contains(name.as_str()));
                parts.extend(all.map(|(_, schema)| schema));
            }
            ("items", one) if needs_items => parts.push(one),
            ("prefixItems", Value::Array(all)) if needs_items => parts.extend(all),
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => parts.extend(all),
            _ => {}
        }
    }
    parts
}

/// Takes those members out of `required` through which a definition needs itself. Returns whether there are any.
pub(super) fn break_needed_cycles(root: &mut Value) -> bool {
    let graph = Graph::of(root, needed);
    let mut is_broken = false;
    for name in graph.0.keys() {
        let sources = graph.sources(name);
        if !sources.contains(name.as_str()) {
            continue;
        }
        let definition = match name.strip_prefix(DEFINITIONS) {
            Some(definition) => root.get_mut("$defs").and_then(|all| all.get_mut(definition)),
            None => Some(&mut *root),
        };
        let leads_back = |target: &str| target == name || sources.contains(target);
        is_broken |= definition.is_some_and(|it| release(it, &leads_back));
    }
    is_broken
}

/// Takes the members out of `required` that lead back, and says in words that they are required.
fn release(schema: &mut Value, leads_back: &dyn Fn(&str) -> bool) -> bool {
    let goes_back = |child: &Value| {
        let mut found = BTreeSet::new();
        collect(child, needed, &mut found);
        found.iter().any(|target| leads_back(target))
    };
    let member = |name: &str| schema.get("properties").and_then(|all| all.get(name));
    let all = required(schema).into_iter();
    let (released, kept): (BTreeSet<&str>, BTreeSet<&str>) =
        all.partition(|name| member(name).is_some_and(goes_back));
    let owned =
        |all: BTreeSet<&str>| -> BTreeSet<String> { all.into_iter().map(str::to_owned).collect() };
    let (released, kept) = (owned(released), owned(kept));
    let needs_items = needs_items(schema);
    let Value::Object(members) = schema else { return false };
    if !released.is_empty() {
        if let Some(Value::Array(required)) = members.get_mut("required") {
            required.retain(|name| name.as_str().is_none_or(|name| !released.contains(name)));
        }
        let names = Vec::from_iter(released.iter().map(String::as_str)).join(", ");
        add_to_description(members, &[format!("Required: {names}.")]);
    }
    let mut is_broken = !released.is_empty();
    for (keyword, value) in members.iter_mut() {
        let inner: Vec<&mut Value> = match (keyword.as_str(), value) {
            ("properties", Value::Object(all)) => {
                all.iter_mut().filter(|(name, _)| kept.contains(*name)).map(|(_, it)| it).collect()
            }
            ("items", one) if needs_items => vec![one],
            ("prefixItems", Value::Array(all)) if needs_items => all.iter_mut().collect(),
            ("anyOf" | "oneOf" | "allOf", Value::Array(all)) => all.iter_mut().collect(),
            _ => Vec::new(),
        };
        for child in inner {
            is_broken |= release(child, leads_back);
        }
    }
    is_broken
}
