//! The client's schemas, as a provider accepts them (2api.ai, 5.4).

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::TranslateError;
use super::report::{Fields, Report};
use crate::gateway::ChatRequest;
use crate::gateway::node::Node;
use crate::protocol::providers::schema::{Target, fit};

/// A schema of the request.
pub(super) struct ClientSchema<'t> {
    /// Its JSON.
    pub(super) json: &'t RawValue,
    /// What has it, for messages: `Tool 'x'`.
    pub(super) owner: String,
    /// Where it is in the request.
    pub(super) path: String,
}

impl<'t> ClientSchema<'t> {
    /// The schema of `response_format`, whose members are `format`.
    ///
    /// # Errors
    /// It is malformed.
    pub(super) fn of_response_format(
        request: &'t ChatRequest,
        format: &mut Fields<'_>,
        report: &mut Report,
    ) -> Result<Option<Self>, TranslateError> {
        #[derive(Deserialize)]
        struct Format<'a> {
            #[serde(borrow)]
            json_schema: JsonSchema<'a>,
        }
        #[derive(Deserialize)]
        struct JsonSchema<'a> {
            #[serde(borrow, default)]
            schema: Option<&'a RawValue>,
        }
        let Some(mut own) = format.fields("json_schema")? else {
            return Err(TranslateError::expected(&format.path_of("json_schema"), "an object"));
        };
        let path = own.path_of("schema");
        own.take("schema");
        // The providers' answers always follow the schema.
        own.take("strict");
        own.finish(report);
        let member = request.members.iter().find(|(name, _)| name == "response_format");
        let format =
            member.and_then(|(_, json)| serde_json::from_str::<Format<'t>>(json.get()).ok());
        Ok(format.and_then(|format| format.json_schema.schema).map(|json| Self {
            json,
            owner: "response_format".to_owned(),
            path,
        }))
    }

    /// Like [`convert`](Self::convert), for a provider that requires the type `object`.
    ///
    /// # Errors
    /// As [`convert`](Self::convert).
    pub(super) fn convert_object(
        &self,
        target: &Target,
        allows_cycles: bool,
        model: &str,
        report: &mut Report,
    ) -> Result<Node<'t>, TranslateError> {
        self.convert_with(target, allows_cycles, true, model, report)
    }

    /// The schema as `target` accepts it. If nothing changes, it is the client's text, with its members in the client's
    /// order.
    ///
    /// # Errors
    /// The target does not accept it. `model` names it in the message.
    pub(super) fn convert(
        &self,
        target: &Target,
        allows_cycles: bool,
        model: &str,
        report: &mut Report,
    ) -> Result<Node<'t>, TranslateError> {
        self.convert_with(target, allows_cycles, false, model, report)
    }

    fn convert_with(
        &self,
        target: &Target,
        allows_cycles: bool,
        needs_type: bool,
        model: &str,
        report: &mut Report,
    ) -> Result<Node<'t>, TranslateError> {
        let original: Map<String, Value> = serde_json::from_str(self.json.get())
            .map_err(|_| TranslateError::expected(&self.path, "a JSON Schema object"))?;
        let mut schema = original.clone();
        rename_definitions(&mut schema);
        if needs_type && !schema.contains_key("type") {
            schema.insert("type".to_owned(), "object".into());
        }
        let mut features = Vec::new();
        if !has_only_local_references(&schema) || !allows_cycles && has_cycle(&schema) {
            features.push("$ref".to_owned());
        }
        if schema.get("type").is_some_and(|kind| kind != "object") {
            features.push("type".to_owned());
        }
        let fitted = match fit(&schema, target) {
            Ok(fitted) if features.is_empty() => fitted,
            Ok(_) => return Err(self.incompatible(features, model)),
            Err(more) => {
                features.extend(more);
                features.sort();
                features.dedup();
                return Err(self.incompatible(features, model));
            }
        };
        for warning in fitted.warnings {
            report.warn(format!("{}: {warning}", self.owner));
        }
        if !fitted.described.is_empty() {
            let keywords = fitted.described.join(", ");
            report.warn(format!(
                "{}: {model} does not enforce {keywords}; the description says it instead",
                self.owner
            ));
        }
        for keyword in fitted.dropped {
            report.drop_member(&format!("{}.{keyword}", self.path));
        }
        if fitted.schema.as_object() == Some(&original) {
            return Ok(Node::Raw(self.json.get().into()));
        }
        Ok(Node::Raw(fitted.schema.to_string().into()))
    }

    fn incompatible(&self, features: Vec<String>, model: &str) -> TranslateError {
        let are = if features.len() == 1 { "is" } else { "are" };
        TranslateError::IncompatibleSchema {
            message: format!(
                "{} uses '{}' which {are} not supported by {model}",
                self.owner,
                features.join("', '")
            ),
            features,
            param: self.path.clone(),
        }
    }
}

/// Moves `definitions`, as older drafts call them, to `$defs`.
fn rename_definitions(schema: &mut Map<String, Value>) {
    if !schema.contains_key("$defs")
        && let Some(definitions) = schema.remove("definitions")
    {
        schema.insert("$defs".to_owned(), definitions);
        for value in schema.values_mut() {
            rename_references(value);
        }
        if let Some(Value::String(reference)) = schema.get_mut("$ref") {
            rename_reference(reference);
        }
    }
}

fn rename_references(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(rename_references),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(reference) if name == "$ref" => rename_reference(reference),
                    value => rename_references(value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn rename_reference(reference: &mut String) {
    if let Some(rest) = reference.strip_prefix("#/definitions/") {
        *reference = format!("#/$defs/{rest}");
    }
}

/// Whether all references are to places in the schema itself.
fn has_only_local_references(schema: &Map<String, Value>) -> bool {
    schema.iter().all(|(name, value)| match (name.as_str(), value) {
        ("$ref", Value::String(reference)) => reference == "#" || reference.starts_with("#/"),
        ("$dynamicRef" | "$recursiveRef", _) => false,
        ("const" | "enum" | "default" | "examples", _) => true,
        (_, Value::Object(schema)) => has_only_local_references(schema),
        (_, Value::Array(items)) => {
            items.iter().filter_map(Value::as_object).all(has_only_local_references)
        }
        _ => true,
    })
}

/// Whether a definition refers to itself, directly or through others.
fn has_cycle(schema: &Map<String, Value>) -> bool {
    let definitions = schema.get("$defs").and_then(Value::as_object);
    let mut known: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, definition) in definitions.into_iter().flatten() {
        let mut references = Vec::new();
        collect_references(definition, &mut references);
        known.push((name, references));
    }
    let mut root = Vec::new();
    for (name, value) in schema {
        if name != "$defs" {
            collect_references(value, &mut root);
        }
    }
    if root.contains(&"#") {
        return true;
    }
    // Definitions that only refer to definitions already removed are removed, until nothing changes.
    loop {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let is_open = |references: &[&str]| {
            references.iter().any(|reference| {
                let name = reference.strip_prefix("#/$defs/").and_then(|it| it.split('/').next());
                name.is_none_or(|name| names.contains(&name))
            })
        };
        let before = known.len();
        known.retain(|(_, references)| is_open(references));
        if known.len() == before {
            return before > 0;
        }
    }
}

fn collect_references<'v>(value: &'v Value, references: &mut Vec<&'v str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, references)),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(reference) if name == "$ref" => references.push(reference),
                    value => collect_references(value, references),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
