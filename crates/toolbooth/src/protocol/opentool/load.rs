//! Renders the OpenTool document of `GET /load`, format 1.1.0, so that every known client can parse it: a
//! client that does not understand one schema shows no function at all.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::catalog::{Definition, ListForm, Listed, Rendering};
use crate::protocol::definition::latest;
use crate::protocol::keywords::{properties, types};
use crate::protocol::simple_schema::{digits_only, reduce};

pub(crate) const LIST: ListForm = ListForm {
    name: "opentool",
    head: r#"{"opentool":"1.1.0","info":{"title":"{server.title}","version":"{server.version}"},"functions":["#,
    tail: "]}",
    entry: |it| latest(it, render),
};

/// A tool in the document (OT27, OT40).
#[derive(Serialize)]
struct DocumentFunction<'a> {
    name: &'a str,
    description: String,
    parameters: Vec<Parameter<'a>>,
    r#return: Option<Value>,
    stream: Value,
}

/// A top-level property of the input (OT28).
#[derive(Serialize)]
struct Parameter<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<Value>,
    schema: Value,
    required: bool,
}

/// Renders a tool. If a request cannot carry its requirements, it does not fit: it could not be called.
fn render(listed: &Listed<'_>) -> Rendering {
    let Definition { description, input_schema, output_schema, requirements, .. } =
        listed.definition;
    let mut unsupported = Vec::new();
    if requirements.as_ref().is_some_and(|requirements| *requirements != Default::default()) {
        unsupported.push("requirements".to_owned());
    }
    let mut input = input_schema.clone();
    // The list of parameters implies it.
    input.remove("additionalProperties");
    input.remove("title");
    let input = reduce(&Value::Object(input));
    // Rules about several parameters have no other place.
    let description = match input.get("description") {
        Some(Value::String(rules)) => format!("{description} {rules}"),
        _ => description.clone(),
    };
    let output = output_schema.as_ref().and_then(result);
    let object = || json!({ "type": "object", "properties": {} });
    let returned = |schema: Value| json!({ "name": "result", "schema": schema });
    let function = DocumentFunction {
        name: listed.name,
        description,
        parameters: parameters(&input),
        stream: json!({ "data": returned(output.clone().unwrap_or_else(object)) }),
        r#return: output.map(returned),
    };
    let names = function.parameters.iter().map(|parameter| parameter.name);
    let texts = names.chain([function.name, &*function.description]);
    let digits = texts.filter(|text| digits_only(text));
    unsupported.extend(digits.map(|text| format!("the text \"{text}\"")));
    if unsupported.is_empty() {
        Rendering::of(&function)
    } else {
        Rendering::Unsupported(unsupported)
    }
}

/// The properties of a reduced schema. Descriptions move to the parameters, where models see them.
fn parameters(input: &Map<String, Value>) -> Vec<Parameter<'_>> {
    let parameter = |(name, schema, required): (_, &Value, _)| {
        let mut schema = schema.clone();
        let description = schema.as_object_mut().and_then(|schema| schema.remove("description"));
        Parameter { name, description, schema, required }
    };
    properties(input).map(parameter).collect()
}

/// The schema of `result` (see `object` in the parent module); `None` if the tool returns nothing.
fn result(output: &Map<String, Value>) -> Option<Value> {
    let anything = || {
        Some(json!({
            "type": "object",
            "properties": {},
            "description": "An object as it is; any other value as the member result.",
        }))
    };
    let types = types(output);
    let nothing = types.contains(&"null");
    let values: Vec<&str> = types.into_iter().filter(|name| *name != "null").collect();
    let mut reduced = reduce(&Value::Object(output.clone()));
    match values.as_slice() {
        [] if nothing => None,
        [] => anything(),
        ["object"] => {
            if nothing {
                reduced.remove("required");
            }
            Some(reduced.into())
        }
        several if several.contains(&"object") => anything(),
        _ => {
            let mut schema = Map::from_iter([("type".to_owned(), "object".into())]);
            schema.insert("properties".to_owned(), json!({ "result": reduced }));
            if !nothing {
                schema.insert("required".to_owned(), json!(["result"]));
            }
            Some(schema.into())
        }
    }
}
