//! What a request sends, to find what it sends twice and what it does not send.

use std::collections::BTreeMap;

use serde_json::Value;
use toolbooth::catalog::Definition;

use crate::problem::{Problem, Problems};

/// What a request sends.
pub(super) struct Sent<'a> {
    definition: &'a Definition,
    /// The properties of the input, with the place that sends each.
    properties: BTreeMap<&'a str, String>,
    /// Parts of the request (`query page`, `header accept`), with the place that sends each.
    names: BTreeMap<String, String>,
}

impl<'a> Sent<'a> {
    pub(super) fn new(definition: &'a Definition) -> Self {
        Self { definition, properties: BTreeMap::new(), names: BTreeMap::new() }
    }

    pub(super) fn schema(&self, property: &str) -> Option<&Value> {
        self.definition.input_schema.get("properties")?.get(property)
    }

    pub(super) fn has_property(&self, property: &str) -> bool {
        self.properties.contains_key(property)
    }

    /// Records that a place sends a property.
    pub(super) fn property(
        &mut self,
        property: &'a str,
        place: &str,
        at: &str,
        problems: &mut Problems<'_>,
    ) {
        if self.schema(property).is_none() {
            problems
                .add(at, format!("is {property:?}, which input_schema.properties does not have"));
        } else if let Some(other) = self.properties.insert(property, place.to_owned()) {
            problems.add(at, format!("is {property:?}, which http.{other} sends too"));
        }
    }

    /// Records that a place sends a header or a field of the query.
    pub(super) fn name(
        &mut self,
        kind: &str,
        name: &str,
        place: &str,
        at: &str,
        problems: &mut Problems<'_>,
    ) {
        let shown = match kind {
            "header" => name.to_ascii_lowercase(),
            _ => name.to_owned(),
        };
        if let Some(other) = self.names.insert(format!("{kind} {shown}"), place.to_owned()) {
            problems.add(at, format!("is {name:?}, a {kind} that http.{other} sends too"));
        }
    }

    /// Reports the properties that are sent nowhere.
    pub(super) fn complete(&self, problems: &mut Problems<'_>) {
        let input = &self.definition.input_schema;
        let mut add = |place: String, message: &str| {
            problems.found.push(Problem::new(problems.file, place, message));
        };
        let properties = input.get("properties").and_then(Value::as_object);
        for name in properties.into_iter().flat_map(|it| it.keys()) {
            if !self.has_property(name) {
                let message = "is sent nowhere; add it to http.parameters or http.body";
                add(format!("input_schema.properties.{name}"), message);
            }
        }
        if input.get("additionalProperties") != Some(&Value::Bool(false)) {
            let message = "must be false: what http does not map would be lost";
            add("input_schema.additionalProperties".to_owned(), message);
        }
    }
}

/// Whether a header can have the value.
pub(super) fn is_header_value(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}
