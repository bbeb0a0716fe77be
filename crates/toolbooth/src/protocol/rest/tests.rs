//! What the documents say about a tool, and the types of the client.

use serde_json::{Value, json};

use super::typescript::type_of;
use super::*;
use crate::catalog::{Definition, Listed, Rendering};
use crate::testing::with_context;

fn definition() -> Definition {
    serde_json::from_value(json!({
        "id": "Shop.Order@1.0.0",
        "name": "Shop_Order",
        "title": "Order",
        "description": "Orders a book.\nIt is sent */ at once.",
        "version": "1.0.0",
        "scopes": ["shop:write"],
        "input_schema": {
            "type": "object",
            "properties": {
                "auth": {"type": "object", "additionalProperties": false},
                "isbn": {"type": "string", "description": "The book."},
            },
            "required": ["isbn"],
        },
        "output_schema": null,
        "examples": [
            {"input": {"isbn": "none"}, "error": {"message": "No such book"}},
            {"title": "A book", "input": {"isbn": "9"}, "value": null},
        ],
        "deprecated": {"message": "Use Shop.Buy."},
    }))
    .unwrap()
}

fn rendered(form: &ListForm) -> String {
    let definition = &definition();
    let listed = Listed { definition, name: "Shop_Order", latest: true };
    let old = (form.entry)(&Listed { latest: false, ..listed });
    assert_eq!(old, Rendering::Omitted, "{}", form.name);
    match (form.entry)(&listed) {
        Rendering::Supported { json, .. } => {
            [&form.head("My tools", "1.2.3"), &*json, form.tail].concat()
        }
        other => panic!("{}: {other:?}", form.name),
    }
}

#[test]
fn openapi() {
    let document: Value = serde_json::from_str(&rendered(&openapi::LIST)).unwrap();
    let examples = |value: Value| json!({"example1": {"summary": "A book", "value": value}});
    assert_eq!(
        document["paths"],
        json!({"/rest/Shop_Order": {"post": {
            "operationId": "Shop_Order",
            "summary": "Order",
            "description": "Orders a book.\nIt is sent */ at once. Deprecated: Use Shop.Buy.",
            "tags": ["Shop"],
            "deprecated": true,
            "security": [{"bearerAuth": ["shop:write"]}],
            "x-openai-isConsequential": true,
            "x-toolbooth-failures": [{"value": {"isbn": "none"}}],
            "requestBody": {"required": true, "content": {"application/json": {
                "schema": definition().input_schema,
                "examples": examples(json!({"isbn": "9"})),
            }}},
            "responses": {
                "200": {"description": "The value of the tool.", "content": {"application/json": {
                    "schema": {"type": "null"},
                    "examples": examples(Value::Null),
                }}},
                "4XX": {"$ref": "#/components/responses/Problem"},
                "5XX": {"$ref": "#/components/responses/Problem"},
            },
        }}})
    );
    assert_eq!(document["security"], json!([{"bearerAuth": []}]));
}

#[test]
fn utcp() {
    let manual: Value = serde_json::from_str(&rendered(&utcp::LIST)).unwrap();
    assert_eq!(
        manual["tools"][0]["inputs"],
        json!({"type": "object", "properties": {"body": definition().input_schema}, "required": ["body"]})
    );
    let template = &manual["tools"][0]["tool_call_template"];
    assert_eq!(template["url"], "https://toolbooth.invalid/rest/Shop_Order");
    assert_eq!(template["auth"]["api_key"], "Bearer ${TOOLBOOTH_KEY}");
}

#[test]
fn markdown() {
    assert!(rendered(&llms::LIST).ends_with(
        "- [Shop_Order](https://toolbooth.invalid/rest/Shop_Order): Orders a book. It is sent */ at once. Deprecated: Use Shop.Buy.\n"
    ));
    let full = rendered(&llms::FULL);
    let (_, section) = full.split_once("## ").unwrap();
    assert!(section.starts_with("Shop_Order\n\nOrders a book."), "{section}");
    assert!(section.contains("`POST https://toolbooth.invalid/rest/Shop_Order`"), "{section}");
    assert!(section.contains("Requires the scopes shop:write."), "{section}");
    let example = "Example of an input:\n\n```json\n{\"isbn\":\"9\"}\n```\n\nIts value:\n\n```json\nnull\n```\n\n";
    assert!(section.ends_with(example), "{section}");
}

#[test]
fn client() {
    let file = rendered(&typescript::LIST);
    let (_, tools) = file.split_once("export interface Tools {\n").unwrap();
    assert_eq!(
        tools,
        "  /**
   * Orders a book.
   * It is sent *\\/ at once. Deprecated: Use Shop.Buy.
   */
  \"Shop_Order\": {
    input: {
      \"auth\"?: Record<string, never>;
      /** The book. */
      \"isbn\": string;
    };
    output: null;
  };
}
"
    );
}

#[test]
fn credentials_are_left_out_where_callers_need_none() {
    let with = r#"{"a":{"security":[{"bearerAuth":["x","y"]}]},"security":[{"bearerAuth":[]}]}"#;
    let credentials = openapi::DOCUMENT.credentials.as_ref().unwrap();
    assert_eq!(credentials.replace(with), r#"{"a":{"security":[]},"security":[]}"#);
    let open = utcp::DOCUMENT.credentials.as_ref().unwrap().replace(&rendered(&utcp::LIST));
    let open: Value = serde_json::from_str(&open).unwrap();
    assert_eq!(open["tools"][0]["tool_call_template"]["auth"], Value::Null);
    assert_eq!(open["tools"][0]["tool_call_template"]["body_field"], "body");
    let body = &open["tools"][0]["inputs"]["properties"]["body"];
    assert_eq!(*body, Value::Object(definition().input_schema), "a parameter of the same name");
}

#[test]
fn a_toolkit_without_tools_of_the_caller_is_an_error() {
    let catalog = crate::testing::echo::CATALOG;
    let none = [("TOOL_ALLOWLIST", "Other.Tool")];
    for (query, variables, expected) in [
        ("", &[][..], None),
        ("x=1", &[], None),
        ("toolkit=Echo", &[], None),
        ("toolkit=Echo,Ech", &[], Some("there is no toolkit \"Ech\" with tools that you may call")),
        ("toolkit=", &[], Some("there is no toolkit \"\" with tools that you may call")),
        ("", &none, None),
        ("toolkit=Ech", &none, Some("there is no toolkit \"Ech\" with tools that you may call")),
        ("toolkit=Echo", &none, Some("there is no toolkit \"Echo\" with tools that you may call")),
    ] {
        let host = crate::testing::FakeHost::with(variables);
        let principal = &crate::principal::Principal::ANONYMOUS;
        let error =
            with_context(catalog, principal, query, &host, |context| {
                match openapi::DOCUMENT.page(context) {
                    Ok(_) => None,
                    Err(crate::route::PageError::Rejected(rejection)) => {
                        Some(rejection.describe().detail.into_owned())
                    }
                    Err(other) => panic!("{other:?}"),
                }
            });
        match expected {
            None => assert_eq!(error, None, "{query}"),
            Some(text) => assert!(error.as_ref().is_some_and(|it| it.contains(text)), "{error:?}"),
        }
    }
}

#[test]
fn types() {
    for (schema, expected) in [
        (json!(true), "unknown"),
        (json!(false), "never"),
        (json!({}), "unknown"),
        (json!({"type": "integer"}), "number"),
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"type": ["integer", "number"]}), "number"),
        (json!({"const": "a\"b"}), r#""a\"b""#),
        (json!({"enum": ["s", 7, null, true]}), r#""s" | 7 | null | true"#),
        (json!({"const": {"a": [1]}}), r#"{ "a": [1] }"#),
        (json!({"type": "array"}), "Array<unknown>"),
        (json!({"type": "array", "items": {"type": ["string", "null"]}}), "Array<string | null>"),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}),
            "[(string)?]",
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}]}),
            "[(string)?, ...Array<unknown>]",
        ),
        (json!({"type": "object"}), "Record<string, unknown>"),
        (
            json!({"properties": {"a": {"type": "number"}}, "additionalProperties": {"type": "string"}}),
            "{\n  \"a\"?: number;\n  [key: string]: unknown;\n}",
        ),
        (json!({"type": "object", "additionalProperties": false}), "Record<string, never>"),
        (
            json!({"type": "object", "additionalProperties": {"type": "number"}}),
            "Record<string, number>",
        ),
        (
            json!({
                "type": "object",
                "additionalProperties": {"type": "number"},
                "patternProperties": {"^s_": {"type": "string"}},
            }),
            "Record<string, unknown>",
        ),
        (
            json!({
                "type": "object",
                "properties": {"a": {"type": "number"}},
                "patternProperties": {"^s_": {"type": "string"}},
                "additionalProperties": false,
            }),
            "{\n  \"a\"?: number;\n  [key: string]: unknown;\n}",
        ),
        (
            json!({"properties": {"a b": {"type": "null"}}, "required": ["a b"]}),
            "{\n  \"a b\": null;\n}",
        ),
        (json!({"type": "object", "properties": {"a": {}}}), "{\n  \"a\"?: unknown;\n}"),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "string | null"),
        (json!({"oneOf": [{"type": "string"}, {}]}), "unknown"),
        (json!({"allOf": [{"type": "string"}, {"minLength": 1}]}), "string"),
        (
            json!({"type": "string", "anyOf": [{"const": "a"}, {"const": "b"}]}),
            r#"(string) & ("a" | "b")"#,
        ),
    ] {
        assert_eq!(type_of(&schema, ""), expected, "{schema}");
    }
}
