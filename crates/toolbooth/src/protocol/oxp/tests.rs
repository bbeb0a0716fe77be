//! Requests and lists of OXP; `response/tests.rs` has the responses.

use serde_json::{Value, json};

use super::*;
use crate::testing::Pairs;
use crate::tool::{Named, Secret};

/// A call as JSON, with its secrets in plain text.
fn shown(call: &ToolRequest<'_>) -> Value {
    let open = |secrets: &Named<Secret>| -> Value {
        secrets.iter().map(|(id, secret)| (id.clone(), json!(secret.expose()))).collect()
    };
    json!({
        "tool_id": match &call.tool {
            ToolSelector::Id(id) => json!(id),
            other => panic!("OXP names tools by their id: {other:?}"),
        },
        "call_id": match &call.call_id {
            CallId::Sent(id) => json!(id),
            id => json!((*id == CallId::Generated).then_some("generated")),
        },
        "input": Value::from(&call.input),
        "user_id": call.credentials.user_id,
        "tokens": open(&call.credentials.tokens),
        "secrets": open(&call.credentials.secrets),
    })
}

fn decoded(body: &str) -> Result<Value, Rejection> {
    decode(crate::json::parse(body).unwrap()).map(|call| shown(&call))
}

/// A call with these fields, and the defaults of the others.
fn call(fields: &Value) -> Value {
    let mut call = json!({
        "tool_id": "A.B", "call_id": "generated", "input": {}, "user_id": null, "tokens": {}, "secrets": {}
    });
    for (field, value) in fields.as_object().unwrap() {
        call[field] = value.clone();
    }
    call
}

#[test]
fn valid_calls() {
    for (body, expected) in [
        (r#"{"tool_id":"A.B"}"#, json!({})),
        (" {\"tool_id\" :\n\"A.B\"\t} ", json!({})),
        (
            r#"{"tool_id":"any text; the pipeline reads it"}"#,
            json!({"tool_id": "any text; the pipeline reads it"}),
        ),
        (r#"{"tool_id":""}"#, json!({"tool_id": ""})),
        (r#"{"tool_id":"A.B","call_id":"7"}"#, json!({"call_id": "7"})),
        (r#"{"tool_id":"A.B","call_id":""}"#, json!({"call_id": ""})),
        (r#"{"tool_id":"A.B","trace_id":"span"}"#, json!({})),
        (
            r#"{"tool_id":"A.B","input":{"a":[1,{"b":null}]}}"#,
            json!({"input": {"a": [1, {"b": null}]}}),
        ),
        // The tool's schema decides which inputs are valid; the others are 422.
        (r#"{"tool_id":"A.B","input":null}"#, json!({"input": null})),
        (r#"{"tool_id":"A.B","input":[1]}"#, json!({"input": [1]})),
        (r#"{"tool_id":"A.B","input":"x"}"#, json!({"input": "x"})),
        (r#"{"tool_id":"A.B","input":0.5}"#, json!({"input": 0.5})),
        (r#"{"tool_id":"A.B","input":false}"#, json!({"input": false})),
        (r#"{"tool_id":"A.B","input":18446744073709551615}"#, json!({"input": u64::MAX})),
        // Some clients write every member that a call may have.
        (r#"{"tool_id":"A.B","call_id":null,"trace_id":null,"context":null}"#, json!({})),
        (
            r#"{"tool_id":"A.B","context":{"user_id":null,"authorization":null,"secrets":null}}"#,
            json!({}),
        ),
        // The context and its items are open.
        (r#"{"tool_id":"A.B","context":{}}"#, json!({})),
        (r#"{"tool_id":"A.B","context":{"locale":["de"],"inputs":1}}"#, json!({})),
        (r#"{"tool_id":"A.B","context":{"user_id":"u"}}"#, json!({"user_id": "u"})),
        (r#"{"tool_id":"A.B","context":{"authorization":[],"secrets":[]}}"#, json!({})),
        (
            r#"{"tool_id":"A.B","context":{"authorization":[{"id":"a","token":"t","scope":"s"},{"id":"b","token":""}]}}"#,
            json!({"tokens": {"a": "t", "b": ""}}),
        ),
        (
            r#"{"tool_id":"A.B","context":{"secrets":[{"id":"k","value":"v","token":7},{"id":"","value":"w"}]}}"#,
            json!({"secrets": {"k": "v", "": "w"}}),
        ),
        (
            r#"{"tool_id":"A.B","context":{"secrets":[{"id":"k","value":"first"},{"id":"k","value":"last"}]}}"#,
            json!({"secrets": {"k": "last"}}),
        ),
        (
            r#"{"context":{"user_id":"u","secrets":[{"value":"v","id":"k"}],"authorization":[{"token":"t","id":"a"}]},"trace_id":"s","input":{"x":1},"call_id":"7","tool_id":"A.B@1"}"#,
            json!({
                "tool_id": "A.B@1", "call_id": "7", "input": {"x": 1}, "user_id": "u",
                "tokens": {"a": "t"}, "secrets": {"k": "v"}
            }),
        ),
    ] {
        assert_eq!(decoded(body), Ok(call(&expected)), "{body}");
    }
}

#[test]
fn malformed_calls() {
    let shape = "the body must be an object with tool_id and input";
    let no_id = "tool_id is missing; it must be a string";
    let fields = "the fields are tool_id, call_id, trace_id, input and context";
    for (body, expected) in [
        ("null", shape.to_owned()),
        ("[]", shape.to_owned()),
        (r#"["tool_id"]"#, shape.to_owned()),
        (r#""A.B""#, shape.to_owned()),
        ("1", shape.to_owned()),
        ("{}", no_id.to_owned()),
        (r#"{"input":{}}"#, no_id.to_owned()),
        (r#"{"Tool_id":"A.B"}"#, no_id.to_owned()),
        (r#"{"request":{"tool_id":"A.B"}}"#, no_id.to_owned()),
        (r#"{"tool_id":"A.B","inputs":{}}"#, "inputs is not a field; use input".to_owned()),
        (
            r#"{"tool_id":"A.B","inputs":{},"input":{}}"#,
            "inputs is not a field; use input".to_owned(),
        ),
        (
            r#"{"tool_id":"A.B","version":"1"}"#,
            format!("\"version\" is not a field of a call; {fields}"),
        ),
        (
            r#"{"tool_id":"A.B","$schema":"urn:oxp:1.0"}"#,
            format!("\"$schema\" is not a field of a call; {fields}"),
        ),
        (
            r#"{"tool_id":"A.B","request":{}}"#,
            format!("\"request\" is not a field of a call; {fields}"),
        ),
        (
            r#"{"tool_id":"A.B","user_id":"u"}"#,
            format!("\"user_id\" is not a field of a call; {fields}"),
        ),
        (r#"{"tool_id":"A.B","":1}"#, format!("\"\" is not a field of a call; {fields}")),
        (r#"{"tool_id":"A.B","a\n\"b":1}"#, format!("\"a�’b\" is not a field of a call; {fields}")),
    ] {
        assert_eq!(decoded(body), Err(Rejection::Malformed(expected)), "{body}");
    }
}

#[test]
fn strings_must_be_strings() {
    for (place, before, after) in [
        ("tool_id", r#"{"tool_id":"#, "}"),
        ("call_id", r#"{"tool_id":"A.B","call_id":"#, "}"),
        ("trace_id", r#"{"tool_id":"A.B","trace_id":"#, "}"),
        ("context.user_id", r#"{"tool_id":"A.B","context":{"user_id":"#, "}}"),
    ] {
        // Only that of the tool is required; the others are absent if they are null.
        let null = Some("null").filter(|_| place == "tool_id");
        for value in ["1", "1.5", "true", "[]", r#"["A.B"]"#, "{}"].into_iter().chain(null) {
            let body = format!("{before}{value}{after}");
            let expected = Err(Rejection::Malformed(format!("{place} must be a string")));
            assert_eq!(decoded(&body), expected, "{body}");
        }
    }
}

#[test]
fn malformed_contexts() {
    for value in ["1", "true", "\"u\"", "[]", r#"[{"user_id":"u"}]"#] {
        let body = format!(r#"{{"tool_id":"A.B","context":{value}}}"#);
        let expected = Err(malformed("context must be an object"));
        assert_eq!(decoded(&body), expected, "{body}");
    }
    for (list, key) in [("authorization", "token"), ("secrets", "value")] {
        for value in [
            "1".to_owned(),
            "\"x\"".to_owned(),
            "{}".to_owned(),
            format!(r#"{{"id":"a","{key}":"x"}}"#),
            "[null]".to_owned(),
            "[\"x\"]".to_owned(),
            "[{}]".to_owned(),
            r#"[{"id":"a"}]"#.to_owned(),
            format!(r#"[{{"{key}":"x"}}]"#),
            format!(r#"[{{"id":1,"{key}":"x"}}]"#),
            format!(r#"[{{"id":"a","{key}":null}}]"#),
            format!(r#"[{{"id":"a","{key}":["x"]}}]"#),
            format!(r#"[["a","x"],{{"id":"a","{key}":"x"}}]"#),
            format!(r#"[{{"id":"a","{key}":"x"}},{{}}]"#),
        ] {
            let body = format!(r#"{{"tool_id":"A.B","context":{{"{list}":{value}}}}}"#);
            let expected =
                format!("context.{list} must be an array of objects with the strings id and {key}");
            assert_eq!(decoded(&body), Err(Rejection::Malformed(expected)), "{body}");
        }
    }
}

#[test]
fn versions_of_the_protocol() {
    for (sent, taken) in [
        (None, true),
        (Some(""), true),
        (Some(" "), true),
        (Some("1"), true),
        (Some("1.0"), true),
        (Some("1.0.0"), true),
        (Some(" 1.0\t"), true),
        (Some("2.0"), false),
        (Some("1.1"), false),
        (Some("1.0.1"), false),
        (Some("0.9"), false),
        (Some("01.0"), false),
        (Some("1."), false),
        (Some("v1.0"), false),
        (Some("1.0-rc"), false),
        (Some("1.0, 1.0"), false),
        (Some("latest"), false),
        (Some("*"), false),
    ] {
        let headers: Vec<_> = sent.map(|sent| ("oxp-version", sent)).into_iter().collect();
        let expected = if taken {
            Ok(())
        } else {
            Err(Rejection::UnsupportedVersion { field: "OXP-Version", supported: "1.0" })
        };
        assert_eq!(check_version(&Pairs(&headers)), expected, "{sent:?}");
    }
}

#[test]
fn lists() {
    let definitions: Vec<Definition> = serde_json::from_value(json!([
        {
            "id": "A.B@1.0.0", "name": "A_B", "title": "T", "description": "\"d\"é", "version": "1.0.0",
            "input_schema": {"type": "object"}, "output_schema": null,
            "annotations": {"read_only": true}, "deprecated": {"message": "m"},
            "examples": [{"input": {}, "value": null}]
        },
        {
            "id": "A.B@1.1.0", "name": "A_B", "description": "d", "version": "1.1.0",
            "input_schema": {}, "output_schema": {}, "requirements": {}
        },
        {
            "id": "A.C@1.0.0", "name": "A_C", "description": "d", "version": "1.0.0",
            "input_schema": {}, "output_schema": {"type": "string"},
            "requirements": {
                "authorization": [{"id": "mail"}, {"id": "bank", "oauth2": {"scopes": ["read"]}}],
                "secrets": [{"id": "KEY"}],
                "user_id": true
            }
        }
    ]))
    .unwrap();
    let expected = [
        r#"{"id":"A.B@1.0.0","name":"A_B","description":"\"d\"é","version":"1.0.0","input_schema":{"type":"object"},"output_schema":null}"#,
        r#"{"id":"A.B@1.1.0","name":"A_B","description":"d","version":"1.1.0","input_schema":{},"output_schema":{},"requirements":{}}"#,
        r#"{"id":"A.C@1.0.0","name":"A_C","description":"d","version":"1.0.0","input_schema":{},"output_schema":{"type":"string"},"requirements":{"authorization":[{"id":"mail"},{"id":"bank","oauth2":{"scopes":["read"]}}],"secrets":[{"id":"KEY"}],"user_id":true}}"#,
    ];
    for (definition, expected) in definitions.iter().zip(expected) {
        let got = render(&Listed { definition, name: "ignored", latest: false });
        let warnings = Vec::new();
        assert_eq!(got, Rendering::Supported { json: expected.to_owned(), warnings });
    }
}
