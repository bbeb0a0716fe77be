//! The client's schemas, as a provider accepts them (2api.ai, 5.4).

use std::collections::BTreeSet;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{ErrorKind, GatewayError, Job, Result};
use crate::gateway::raw_json::{parse, raw_member};
use crate::gateway::{Fields, FunctionTool};
use crate::providers::schema::{Target, adapt_schema};
use crate::wire::Json;
use toolbooth::json;
use toolbooth::protocol::keywords::{walk, walk_mut};

pub(super) struct ClientSchema<'t> {
    json: &'t RawValue,
    /// What has it, for messages: `Tool 'x'`.
    owner: String,
    path: String,
    /// Whether the provider requires the type `object`.
    pub(super) needs_type: bool,
}

impl<'t> ClientSchema<'t> {
    /// The parameters of a tool, which is at `path`.
    pub(super) fn of_tool(tool: &'t FunctionTool, path: &str) -> Option<Self> {
        Some(Self {
            json: tool.parameters.as_deref()?,
            owner: format!("Tool '{}'", tool.name),
            path: format!("{path}.function.parameters"),
            needs_type: true,
        })
    }

    /// The schema of `response_format`, whose members are `format`.
    pub(super) fn of_response_format(
        job: &'t Job<'t>,
        format: &mut Fields<'_>,
    ) -> Result<Option<Self>> {
        let mut own = format.required_fields("json_schema")?;
        let path = own.path_of("schema");
        own.take("schema");
        // The providers' answers always follow the schema.
        own.take("strict");
        own.finish();
        let format = job.request.members.get("response_format");
        let schema = format.and_then(|json| raw_member(json, &["json_schema", "schema"]));
        Ok(schema.filter(|json| json.get() != "null").map(|json| Self {
            json,
            owner: "response_format".to_owned(),
            path,
            needs_type: false,
        }))
    }

    /// The schema as `target` accepts it. If nothing changes, it is the client's text, with its members in the client's
    /// order.
    pub(super) fn convert(&self, target: &Target, job: &Job<'_>) -> Result<Json<'t>> {
        let model = job.options.target;
        let original = parse(self.json.get(), &self.path)?;
        let original: Map<String, Value> = json::read_value(&original)
            .ok_or_else(|| GatewayError::expected(&self.path, "a JSON Schema object"))?;
        let mut schema = Value::Object(original.clone());
        rename_definitions(&mut schema);
        let mut features = BTreeSet::new();
        if !has_only_local_references(&schema) || !target.allows_cycles && has_cycle(&schema) {
            features.insert("$ref".to_owned());
        }
        let Value::Object(mut schema) = schema else {
            return Err(self.incompatible(features, model));
        };
        if self.needs_type && !schema.contains_key("type") {
            schema.insert("type".to_owned(), "object".into());
        }
        if schema.get("type").is_some_and(|kind| kind != "object") {
            features.insert("type".to_owned());
        }
        let fitted = match adapt_schema(&schema, target) {
            Ok(fitted) if features.is_empty() => fitted,
            other => {
                features.extend(other.err().into_iter().flatten());
                return Err(self.incompatible(features, model));
            }
        };
        for warning in fitted.warnings {
            job.notes.warn(format!("{}: {warning}", self.owner));
        }
        if !fitted.described.is_empty() {
            let keywords = fitted.described.join(", ");
            job.notes.warn(format!(
                "{}: {model} does not enforce {keywords}; the description says it instead",
                self.owner
            ));
        }
        for keyword in fitted.dropped {
            job.notes.drop_member(&format!("{}.{keyword}", self.path));
        }
        if fitted.schema.as_object() == Some(&original) {
            return Ok(self.json.into());
        }
        Ok(Json::Value(json::Value::from(&fitted.schema).into_owned()))
    }

    fn incompatible(&self, features: BTreeSet<String>, model: &str) -> GatewayError {
        let features = Vec::from_iter(features);
        let are = if features.len() == 1 { "is" } else { "are" };
        let message = format!(
            "{} uses '{}' which {are} not supported by {model}",
            self.owner,
            features.join("', '")
        );
        let mut error = GatewayError::new(ErrorKind::IncompatibleSchema, message).at(&*self.path);
        error.features = features;
        error
    }
}

/// Moves `definitions`, as older drafts call them, to `$defs`.
fn rename_definitions(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    if members.contains_key("$defs") {
        return;
    }
    let Some(definitions) = members.remove("definitions") else { return };
    members.insert("$defs".to_owned(), definitions);
    walk_mut(schema, &mut |schema| {
        if let Some(Value::String(reference)) = schema.get_mut("$ref")
            && let Some(rest) = reference.strip_prefix("#/definitions/")
        {
            *reference = format!("#/$defs/{rest}");
        }
    });
}

/// Whether all references are to places in the schema itself.
fn has_only_local_references(schema: &Value) -> bool {
    let mut is_local = true;
    walk(schema, &mut |schema| {
        is_local &= !schema.contains_key("$dynamicRef") && !schema.contains_key("$recursiveRef");
        if let Some(Value::String(reference)) = schema.get("$ref") {
            is_local &= reference == "#" || reference.starts_with("#/");
        }
    });
    is_local
}

/// Whether a definition refers to itself, directly or through others.
fn has_cycle(schema: &Value) -> bool {
    let definitions = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
    let mut known: Vec<_> =
        definitions.map(|(name, definition)| (name.as_str(), references(definition))).collect();
    // The root has the definitions too: a reference to it refers to all.
    if references(schema).contains(&"#") {
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

fn references(schema: &Value) -> Vec<&str> {
    let mut references = Vec::new();
    walk(schema, &mut |schema| {
        references.extend(schema.get("$ref").and_then(Value::as_str));
    });
    references
}
