//! Recursive schemas as the Worker checks them: as written, with references, if a check takes no longer than the value is large.
//!
//! A value of a recursive schema is as deep as a caller likes. If two schemas for the same value both lead to the schema that contains
//! them, each level of the value would double the time.

use std::collections::{BTreeMap, BTreeSet};
use std::ptr;

use serde_json::{Map, Value, json};
use toolbooth::protocol::keywords::walk;

use crate::references::target;
use crate::schema::{ANNOTATIONS, inner, inner_mut, is_in_place};

/// The most schemas that are read to find out how long a check takes.
const MAX_SCHEMAS: usize = 10_000;
/// Keywords whose check asks again what other keywords say.
const AGAIN: [&str; 2] = ["unevaluatedItems", "unevaluatedProperties"];
/// Where all references of a closed schema lead.
const DEFINITIONS: &str = "#/$defs/";

/// A schema whose references are valid, without annotations: all of them lead to its `$defs`. `None` if a check could take longer than
/// the value is large.
pub(crate) fn closed(schema: &Map<String, Value>) -> Option<Value> {
    let root = Value::Object(schema.clone());
    let mut targets = Vec::new();
    let mut closed = rewritten(&root, &root, &mut targets);
    let mut definitions = Map::new();
    // Each may lead to more.
    while let Some(target) = targets.get(definitions.len()).copied() {
        let definition = rewritten(target, &root, &mut targets);
        definitions.insert(definitions.len().to_string(), definition);
    }
    let mut cost = Cost::new(&definitions);
    if !cost.is_bounded(&closed) || !definitions.values().all(|it| cost.is_bounded(it)) {
        return None;
    }
    closed.as_object_mut()?.insert("$defs".to_owned(), Value::Object(definitions));
    Some(closed)
}

/// The schema with references to the places of their targets in `targets`.
fn rewritten<'a>(schema: &'a Value, root: &'a Value, targets: &mut Vec<&'a Value>) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let is_kept = |keyword: &str| {
        !ANNOTATIONS.contains(&keyword) && !matches!(keyword, "$anchor" | "$defs" | "$schema")
    };
    let mut result = Map::new();
    for (keyword, value) in members.iter().filter(|(keyword, _)| is_kept(keyword)) {
        let mut new = value.clone();
        if keyword == "$ref" {
            let Some(target) = target(root, value) else { continue };
            let known = targets.iter().position(|known| ptr::eq(*known, target));
            let at = known.unwrap_or(targets.len());
            if known.is_none() {
                targets.push(target);
            }
            new = json!(format!("{DEFINITIONS}{at}"));
        } else {
            let pairs = inner(keyword, value).into_iter().zip(inner_mut(keyword, &mut new));
            for ((_, one), (_, new)) in pairs {
                *new = rewritten(one, root, targets);
            }
        }
        result.insert(keyword.clone(), new);
    }
    Value::Object(result)
}

/// A part of a value that a recursive schema checks.
#[derive(Debug, PartialEq)]
enum Part {
    /// The member or item at a place.
    One(Kind, String),
    /// Any part but these.
    Others(Kind, Vec<String>),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Array,
    Object,
}

impl Part {
    /// Whether both can be the same part of a value.
    fn meets(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::One(..), Self::One(..)) => self == other,
            (Self::Others(kind, _), Self::Others(other, _)) => kind == other,
            (Self::One(kind, name), Self::Others(other, without))
            | (Self::Others(other, without), Self::One(kind, name)) => {
                kind == other && !without.contains(name)
            }
        }
    }
}

/// A closed schema whose cost is found out.
struct Cost<'a> {
    definitions: &'a Map<String, Value>,
    /// The definitions that lead to one which contains itself.
    recursive: BTreeSet<&'a str>,
    /// How many schemas have been read.
    count: usize,
}

impl<'a> Cost<'a> {
    fn new(definitions: &'a Map<String, Value>) -> Self {
        let reached = definitions.iter().map(|(name, definition)| {
            let mut reached = BTreeSet::new();
            reach(definition, definitions, &mut reached);
            (name.as_str(), reached)
        });
        let reached: BTreeMap<_, _> = reached.collect();
        let is_own = |name: &str| reached.get(name).is_some_and(|all| all.contains(name));
        let leads =
            reached.iter().filter(|(name, all)| is_own(name) || all.iter().any(|it| is_own(it)));
        let recursive = leads.map(|(name, _)| *name).collect();
        Self { definitions, recursive, count: 0 }
    }

    /// Whether each part of a value is checked by one recursive schema at most, wherever it is.
    fn is_bounded(&mut self, schema: &'a Value) -> bool {
        let mut parts = Vec::new();
        if !self.parts(schema, &mut parts) {
            return false;
        }
        let is_free =
            |(at, part): (usize, &Part)| !parts.iter().skip(at + 1).any(|other| part.meets(other));
        parts.iter().enumerate().all(is_free)
            && members(schema).all(|(keyword, value)| {
                inner(keyword, value).into_iter().all(|(_, schema)| self.is_bounded(schema))
            })
    }

    /// Collects the parts of a value that recursive schemas check. Returns whether that can be said.
    fn parts(&mut self, schema: &'a Value, parts: &mut Vec<Part>) -> bool {
        self.count += 1;
        if self.count > MAX_SCHEMAS || AGAIN.iter().any(|keyword| schema.get(keyword).is_some()) {
            return false;
        }
        if let Some(name) = schema.as_object().and_then(reference)
            && let Some(definition) = self.definitions.get(name)
            && !self.parts(definition, parts)
        {
            return false;
        }
        members(schema).all(|(keyword, value)| {
            if is_in_place(keyword) {
                return inner(keyword, value).into_iter().all(|(_, it)| self.parts(it, parts));
            }
            let recursive = inner(keyword, value).into_iter().filter(|(_, it)| self.recurs(it));
            parts.extend(recursive.filter_map(|(place, _)| part(schema, keyword, place)));
            true
        })
    }

    /// Whether a schema leads to one that contains itself.
    fn recurs(&self, schema: &Value) -> bool {
        let mut found = false;
        walk(schema, &mut |schema| {
            found |= reference(schema).is_some_and(|name| self.recursive.contains(name));
        });
        found
    }
}

/// The part of a value that the schema at a `place` in a keyword of `schema` is for. Names of members have no parts.
fn part(schema: &Value, keyword: &str, place: String) -> Option<Part> {
    let others = |keyword: &str| {
        let known = schema.get(keyword).map(|value| inner(keyword, value)).unwrap_or_default();
        known.into_iter().map(|(place, _)| place).collect()
    };
    match keyword {
        "properties" => Some(Part::One(Kind::Object, place)),
        "prefixItems" => Some(Part::One(Kind::Array, place)),
        "additionalProperties" => Some(Part::Others(Kind::Object, others("properties"))),
        "patternProperties" => Some(Part::Others(Kind::Object, Vec::new())),
        "items" => Some(Part::Others(Kind::Array, others("prefixItems"))),
        "contains" => Some(Part::Others(Kind::Array, Vec::new())),
        _ => None,
    }
}

/// The definition that a schema of a closed schema refers to.
fn reference(schema: &Map<String, Value>) -> Option<&str> {
    schema.get("$ref")?.as_str()?.strip_prefix(DEFINITIONS)
}

/// Adds the definitions that a schema leads to.
fn reach<'a>(schema: &'a Value, all: &'a Map<String, Value>, reached: &mut BTreeSet<&'a str>) {
    walk(schema, &mut |schema| {
        if let Some(name) = reference(schema)
            && reached.insert(name)
            && let Some(definition) = all.get(name)
        {
            reach(definition, all, reached);
        }
    });
}

/// The keywords of a schema that is none but an object.
fn members(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema.as_object().into_iter().flatten().map(|(keyword, value)| (keyword.as_str(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_closed(schema: &Value) -> bool {
        closed(schema.as_object().unwrap()).is_some()
    }

    #[test]
    fn references_lead_to_definitions() {
        let schema = json!({
            "$defs": {
                "a b": {"$anchor": "node", "type": "object", "description": "A node.", "properties": {"all": {"items": {"$ref": "#/%24defs/a%20b"}}}},
                "unused": {"type": "null"}
            },
            "type": "object",
            "properties": {"root": {"$ref": "#node"}, "again": {"$ref": "#", "title": "Me."}, "yes": {"$ref": "#/$defs/a%20b/properties/all"}}
        });
        let node =
            json!({"type": "object", "properties": {"all": {"items": {"$ref": "#/$defs/1"}}}});
        let properties = json!({"again": {"$ref": "#/$defs/0"}, "root": {"$ref": "#/$defs/1"}, "yes": {"$ref": "#/$defs/2"}});
        let root = json!({"type": "object", "properties": properties});
        let expected = json!({
            "type": "object",
            "properties": properties,
            "$defs": {"0": root, "1": node, "2": {"items": {"$ref": "#/$defs/1"}}}
        });
        assert_eq!(closed(schema.as_object().unwrap()), Some(expected));
    }

    #[test]
    fn no_part_of_a_value_is_checked_twice_by_a_recursive_schema() {
        let node = json!({"$ref": "#"});
        for (schema, expected) in [
            (json!({"properties": {"a": node, "b": {"items": node}}}), true),
            (
                json!({"anyOf": [{"items": node}, {"additionalProperties": node}, {"type": "string"}]}),
                true,
            ),
            (
                json!({"oneOf": [{"properties": {"and": {"items": node}}}, {"properties": {"or": {"items": node}}}, {"properties": {"not": node}}]}),
                true,
            ),
            (json!({"properties": {"a": node}, "additionalProperties": node}), true),
            (json!({"prefixItems": [node, node], "items": node}), true),
            (json!({"propertyNames": {"minLength": 1}, "additionalProperties": node}), true),
            (json!({"properties": {"a": {"not": node}}}), true),
            (
                json!({"anyOf": [{"properties": {"a": node}}, {"properties": {"a": {"items": node}}}]}),
                false,
            ),
            (
                json!({"allOf": [{"properties": {"a": node}}, {"additionalProperties": node}]}),
                false,
            ),
            (json!({"allOf": [{"items": node}, {"prefixItems": [node]}]}), false),
            (json!({"items": node, "contains": node}), false),
            (json!({"patternProperties": {"^a": node, "b$": node}}), false),
            (json!({"properties": {"a": node}, "patternProperties": {"^b": node}}), false),
            (
                json!({"if": {"properties": {"a": node}}, "then": {"properties": {"a": node}}}),
                false,
            ),
            (json!({"properties": {"a": {"anyOf": [node, node]}}}), false),
            (json!({"properties": {"a": node}, "unevaluatedProperties": false}), false),
            (
                json!({"$defs": {"b": {"properties": {"a": node}}}, "properties": {"a": node}, "allOf": [{"$ref": "#/$defs/b"}]}),
                false,
            ),
        ] {
            assert_eq!(is_closed(&schema), expected, "{schema}");
        }
    }
}
