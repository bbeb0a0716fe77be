//! `GET /openapi.json`: an OpenAPI document with an operation for each tool, for importers and code generators.
//!
//! Each tool is one operation, its `POST`, so that what imports the document has the tools of the catalogue. Schemas are
//! those of the definitions: OpenAPI 3.1 uses the same JSON Schema.

use serde_json::{Map, Value, json};

use super::MOUNT;
use super::document::{Credentials, Document, member};
use crate::catalog::{Definition, Example, ListForm, Listed, Rendering};
use crate::protocol::definition::{description, latest, output_schema};

/// The list of the document: the members of `paths`.
pub(super) const LIST: ListForm = ListForm {
    name: "openapi",
    head: r#"{"openapi":"3.1.1","jsonSchemaDialect":"https://json-schema.org/draft/2020-12/schema","info":{"title":"{server.title}","version":"{server.version}","description":"Each operation runs a tool: the body of the request is its input, the response is its value. Errors are problems (RFC 9457)."},"servers":[{"url":"https://toolbooth.invalid"}],"security":[{"bearerAuth":[]}],"paths":{"#,
    tail: concat!("},", include_str!("components.json"), "}"),
    entry: |it| latest(it, render),
};

pub(super) static DOCUMENT: Document = Document::json(
    LIST.name,
    Credentials {
        start: r#""security":[{"bearerAuth":["#,
        end: "]}]",
        instead: r#""security":[]"#,
    },
);

const MAX_EXAMPLES: usize = 3;

/// The member of an operation with the examples that end in an error. They are no `examples` of its body, because tests
/// and code that are generated from the document take those for calls that succeed.
const FAILURES: &str = "x-toolbooth-failures";

/// The member with the address of the view that shows the value, which MCP's `resources/read` returns.
const VIEW: &str = "x-toolbooth-view";

fn render(listed: &Listed<'_>) -> Rendering {
    let Listed { definition, name, .. } = listed;
    let Definition { title, scopes, annotations, deprecated, input_schema, .. } = definition;
    let examples: Vec<_> =
        definition.examples.iter().filter(|it| it.value.is_some()).take(MAX_EXAMPLES).collect();
    let body = |schema: &Value, value: fn(&Example) -> Option<&Value>| {
        let examples = examples.iter().zip(1..).filter_map(|(one, number)| {
            Some((format!("example{number}"), described_example(one, value(one)?)))
        });
        let examples: Map<_, _> = examples.collect();
        let mut media = json!({ "schema": schema });
        if let (Value::Object(media), false) = (&mut media, examples.is_empty()) {
            media.insert("examples".to_owned(), examples.into());
        }
        json!({ "application/json": media })
    };
    let mut operation = json!({
        "operationId": name,
        "summary": title.as_deref().unwrap_or(name),
        "description": description(definition),
        "tags": [definition.toolkit()],
        "x-openai-isConsequential": !annotations.read_only,
        "requestBody": {
            "required": true,
            "content": body(&Value::Object(input_schema.clone()), |example| Some(&example.input)),
        },
        "responses": {
            "200": {
                "description": "The value of the tool.",
                "content": body(&output_schema(definition), |example| example.value.as_ref()),
            },
            "4XX": { "$ref": "#/components/responses/Problem" },
            "5XX": { "$ref": "#/components/responses/Problem" },
        },
    });
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    if let Some(responses) = responses.filter(|_| definition.task.is_some()) {
        let description = "The call continues as a task. Location has the address of its status.";
        responses.insert("202".to_owned(), json!({ "description": description }));
    }
    if let Value::Object(operation) = &mut operation {
        let failures = definition.examples.iter().filter(|it| it.error.is_some());
        let failures = failures.take(MAX_EXAMPLES).map(|it| described_example(it, &it.input));
        let failures: Vec<_> = failures.collect();
        let optional = [
            ("deprecated", deprecated.as_ref().map(|_| json!(true))),
            (FAILURES, (!failures.is_empty()).then(|| failures.into())),
            (VIEW, definition.view_uri().map(Value::from)),
            // Otherwise, the requirement of the document applies.
            ("security", (!scopes.is_empty()).then(|| json!([{ "bearerAuth": scopes }]))),
        ];
        let members = optional.into_iter();
        operation.extend(members.filter_map(|(name, value)| Some((name.to_owned(), value?))));
    }
    member(&format!("{MOUNT}/{name}"), &json!({ "post": operation }))
}

/// A value of an example, with its title.
fn described_example(example: &Example, value: &Value) -> Value {
    let mut described = Map::from_iter([("value".to_owned(), value.clone())]);
    described.extend(example.title.iter().map(|it| ("summary".to_owned(), json!(it))));
    described.into()
}
