//! `rpc.discover`: the tools as an OpenRPC document, rendered at build time. docs/PROTOCOLS.md explains what OpenRPC
//! has no field for.

use std::cmp::Reverse;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::catalog::{Definition, ListForm, Listed, Rendering, Requirements};
use crate::protocol::definition::{description, latest, output_schema};
use crate::protocol::keywords::properties;

/// The method that returns the document. JSON-RPC reserves `rpc.` for such, and no tool has a dot in its name.
pub(super) const METHOD: &str = "rpc.discover";

pub(crate) const LIST: ListForm = ListForm {
    name: "openrpc",
    head: r#"{"openrpc":"1.3.2","info":{"title":"{server.title}","version":"{server.version}"},"methods":["#,
    tail: "]}",
    entry: |it| latest(it, render),
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MethodObject<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
    description: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deprecated: bool,
    param_structure: &'static str,
    params: Vec<ContentDescriptor<'a>>,
    result: Value,
    /// The whole input schema, if it has rules about several parameters.
    #[serde(rename = "x-input-schema", skip_serializing_if = "Option::is_none")]
    input_schema: Option<&'a Map<String, Value>>,
    /// The tokens, secrets and user id that a call needs.
    #[serde(rename = "x-requirements", skip_serializing_if = "Option::is_none")]
    requirements: Option<&'a Requirements>,
}

/// OpenRPC's Content Descriptor Object.
#[derive(Serialize)]
struct ContentDescriptor<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    schema: Value,
}

fn render(listed: &Listed<'_>) -> Rendering {
    let Definition { title, input_schema, requirements, deprecated, .. } = listed.definition;
    Rendering::of(&MethodObject {
        name: listed.name,
        summary: title.as_deref(),
        description: description(listed.definition),
        deprecated: deprecated.is_some(),
        param_structure: "by-name",
        params: params(input_schema),
        result: json!({ "name": "result", "schema": output_schema(listed.definition) }),
        input_schema: Some(input_schema).filter(|input| has_further_rules(input)),
        requirements: requirements.as_ref(),
    })
}

/// The properties as parameters: first the required ones, as OpenRPC demands. Clients show their descriptions.
fn params(input: &Map<String, Value>) -> Vec<ContentDescriptor<'_>> {
    let params = properties(input).map(|(name, schema, required)| {
        let mut schema = schema.clone();
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        ContentDescriptor { name, description, required, schema }
    });
    let mut params: Vec<_> = params.collect();
    params.sort_by_key(|param| Reverse(param.required));
    params
}

/// Whether an input schema says more than a list of parameters can.
fn has_further_rules(input: &Map<String, Value>) -> bool {
    input.iter().any(|(keyword, value)| match keyword.as_str() {
        "type" | "properties" | "required" | "title" | "description" | "$schema" | "$comment" => {
            false
        }
        "additionalProperties" => *value != Value::Bool(false),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(definition: Value, latest: bool) -> Option<Value> {
        let definition: Definition = serde_json::from_value(definition).unwrap();
        match (LIST.entry)(&Listed { definition: &definition, name: "A_B", latest }) {
            Rendering::Supported { json, .. } => Some(serde_json::from_str(&json).unwrap()),
            Rendering::Omitted => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn methods() {
        let definition = |more: Value| {
            let mut definition = json!({
                "id": "A.B", "name": "A_B", "description": "Does b.", "version": "1.2.3",
                "input_schema": {
                    "type": "object",
                    "properties": {
                        "a": {"type": "string", "description": "An a."},
                        "b": {"minimum": 1},
                        "c": true
                    },
                    "required": ["b"],
                    "additionalProperties": false
                },
                "output_schema": {"type": "number"}
            });
            let (Value::Object(members), Value::Object(more)) = (&mut definition, more) else {
                panic!()
            };
            members.extend(more);
            definition
        };
        let method = |more: Value| {
            let mut method = json!({
                "name": "A_B", "description": "Does b.", "paramStructure": "by-name",
                "params": [
                    {"name": "b", "required": true, "schema": {"minimum": 1}},
                    {"name": "a", "description": "An a.", "schema": {"type": "string"}},
                    {"name": "c", "schema": true}
                ],
                "result": {"name": "result", "schema": {"type": "number"}}
            });
            let (Value::Object(members), Value::Object(more)) = (&mut method, more) else {
                panic!()
            };
            members.extend(more);
            method
        };
        let rules = json!({"type": "object", "minProperties": 1, "additionalProperties": false});
        let open = json!({"type": "object", "additionalProperties": {"type": "string"}});
        let user = json!({"user_id": true});
        for (more, expected) in [
            (json!({}), json!({})),
            (json!({"title": "B"}), json!({"summary": "B"})),
            (
                json!({"deprecated": {"message": "Use c."}}),
                json!({"deprecated": true, "description": "Does b. Deprecated: Use c."}),
            ),
            (
                json!({"output_schema": null}),
                json!({"result": {"name": "result", "schema": {"type": "null"}}}),
            ),
            (json!({"input_schema": rules}), json!({"params": [], "x-input-schema": rules})),
            (json!({"input_schema": open}), json!({"params": [], "x-input-schema": open})),
            (json!({"requirements": user}), json!({"x-requirements": user})),
        ] {
            let got = rendered(definition(more.clone()), true);
            assert_eq!(got, Some(method(expected)), "{more}");
        }
        assert_eq!(rendered(definition(json!({})), false), None, "an older version");
    }
}
