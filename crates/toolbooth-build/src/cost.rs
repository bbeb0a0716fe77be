//! Warns about keywords whose checks need much code in the Worker. docs/SIZE.md has the measurements.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolbooth_schema::{Matcher, compile_pattern};

use crate::entry::Entry;
use crate::problem::Problem;
use crate::schema::visit;

/// Formats, and the KB of code that the first use of each adds.
const FORMATS: &[(&str, u32)] = &[("uri", 10), ("regex", 7), ("hostname", 6), ("date-time", 5)];

/// Warnings for the schemas of all tools: one for each keyword, at its first use, because more of them cost
/// nothing.
pub(crate) fn warnings(entries: &[Entry]) -> Vec<Problem> {
    let mut warnings = Vec::new();
    let mut reported = BTreeSet::new();
    for entry in entries {
        for (place, schema) in entry.schemas() {
            visit(schema, place, &mut |place, schema, _| {
                for message in expensive(schema) {
                    if reported.insert(message.clone()) {
                        warnings.push(entry.problem(place, message));
                    }
                }
            });
        }
    }
    warnings
}

fn expensive(schema: &Map<String, Value>) -> Vec<String> {
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let names = schema.get("patternProperties").and_then(Value::as_object);
    let names = names.into_iter().flat_map(Map::keys).map(String::as_str);
    let is_large = |pattern: &&str| matches!(compile_pattern(pattern).matcher, Matcher::Engine(_));
    let patterns = pattern.into_iter().chain(names).filter(is_large).map(|pattern| {
        format!(
            "has the pattern {pattern:?}, which adds the `regex` crate, about 320 KB, to the Worker: it has a word boundary or needs too many states"
        )
    });
    let format = schema.get("format").and_then(Value::as_str);
    let format = FORMATS.iter().find(|(name, _)| format == Some(name)).map(|(name, kb)| {
        format!(
            "has \"format\": {name:?}, whose check adds about {kb} KB to the Worker; a `pattern` adds less than 1 KB"
        )
    });
    patterns.chain(format).collect()
}
