//! Requests, responses and lists of the Xaibo protocol.

use serde_json::json;

use super::*;
use crate::call::{InvalidInput, ParameterError};
use crate::catalog::Definition;
use crate::principal::Principal;
use crate::testing::FakeHost;
use crate::testing::echo::{CATALOG, asks, every_rejection};
use crate::testing::wire;
use crate::testing::with_context;

fn decoded(body: &str) -> Result<(String, Value, Option<String>), Rejection> {
    decode(json::parse(body).unwrap()).map(|call| {
        let ToolSelector::Name(name) = call.tool else { panic!("Xaibo names tools by their name") };
        (name.into_owned(), (&call.input).into(), call.credentials.user_id)
    })
}

#[test]
fn valid_calls() {
    for (body, name, parameters, user) in [
        (r#"{"tool_name":"add","parameters":{"a":2}}"#, "add", json!({"a": 2}), None),
        (r#"{"tool_name":"add"}"#, "add", json!({}), None),
        (r#"{"tool_name":"add","parameters":null,"context":null}"#, "add", json!({}), None),
        (r#"{"parameters":{},"tool_name":""}"#, "", json!({}), None),
        (
            r#"{"tool_name":"A.B@1","parameters":{"a":[{"b":null}]}}"#,
            "A.B@1",
            json!({"a": [{"b": null}]}),
            None,
        ),
        (r#"{"tool_name":"a","context":{"user_id":"u"}}"#, "a", json!({}), Some("u")),
    ] {
        let expected = (name.to_owned(), parameters, user.map(str::to_owned));
        assert_eq!(decoded(body), Ok(expected), "{body}");
    }
}

#[test]
fn malformed_calls() {
    let shape = "the body must be an object with tool_name and parameters";
    let fields = "the fields are tool_name, parameters and context";
    for (body, expected) in [
        ("null", shape.to_owned()),
        ("[]", shape.to_owned()),
        (r#""add""#, shape.to_owned()),
        ("{}", "tool_name is missing; it must be a string".to_owned()),
        (r#"{"parameters":{}}"#, "tool_name is missing; it must be a string".to_owned()),
        (r#"{"tool_name":null}"#, "tool_name must be a string".to_owned()),
        (r#"{"tool_name":["add"]}"#, "tool_name must be a string".to_owned()),
        (r#"{"tool_name":"a","parameters":[]}"#, "parameters must be an object".to_owned()),
        (r#"{"tool_name":"a","parameters":"{}"}"#, "parameters must be an object".to_owned()),
        (r#"{"tool_name":"a","context":[]}"#, "context must be an object".to_owned()),
        (r#"{"tool_name":"a","params":{}}"#, format!("\"params\" is not a field; {fields}")),
        (r#"{"tool_name":"a","a\n":{}}"#, format!("\"a�\" is not a field; {fields}")),
        (
            &format!(r#"{{"tool_name":"a","{}":1}}"#, "é".repeat(99)),
            format!("\"{}…\" is not a field; {fields}", "é".repeat(64)),
        ),
    ] {
        assert_eq!(decoded(body), Err(Rejection::Malformed(expected)), "{body}");
    }
}

const HEADERS: &str = "content-type: application/json\ncache-control: no-store\n";

fn failure(error: &str) -> String {
    json!({"success": false, "result": null, "error": error}).to_string()
}

/// Compares a response with a head and a body, regardless of the order of members.
fn assert_same(written: &Response, head: &str, body: &str, what: &str) {
    let written = wire(written);
    let (got_head, got_body) = written.split_at(written.find('{').unwrap());
    assert_eq!(got_head, head, "{what}");
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(json(got_body), json(body), "{what}");
}

/// The notice at the end of a result that was cut, in JSON.
const CUT: &str = r"\n\n[Truncated: Result exceeded 64KB limit]";

#[test]
fn results() {
    let done =
        |value| Outcome::Done { call_id: None, duration_ms: 2, value, notifications: Vec::new() };
    for (value, expected) in [
        (json!(15), r#"{"success":true,"result":15,"error":null}"#),
        (json!(null), r#"{"success":true,"result":null,"error":null}"#),
        (json!({"a": [1.5, "é"]}), r#"{"success":true,"result":{"a":[1.5,"é"]},"error":null}"#),
        (
            json!("é".repeat(32_768)),
            &format!(r#"{{"success":true,"result":"{}","error":null}}"#, "é".repeat(32_768)),
        ),
        (
            json!("é".repeat(32_769)),
            &format!(r#"{{"success":true,"result":"{}{CUT}","error":null}}"#, "é".repeat(30_000)),
        ),
        (
            json!({"a": "b".repeat(65_536)}),
            &format!(
                r#"{{"success":true,"result":"{{\"a\":\"{}{CUT}","error":null}}"#,
                "b".repeat(59_994)
            ),
        ),
    ] {
        assert_eq!(
            wire(&encode(done(value), Vec::new).unwrap()),
            format!("200\n{HEADERS}{expected}")
        );
    }
}

#[test]
fn failures_of_a_tool() {
    for (error, expected) in [
        (ToolError::new("No"), "Tool execution failed: No."),
        (ToolError::new("No!").developer_message("for a log"), "Tool execution failed: No!"),
        (
            ToolError::new("Unknown id").prompt("The ids are a, b."),
            "Tool execution failed: Unknown id. The ids are a, b. The call may be tried again.",
        ),
        (
            ToolError::new("Busy").retry_after_ms(500),
            "Tool execution failed: Busy. Try again after 500 ms.",
        ),
        (
            ToolError::new("Busy").prompt("Ask for less").retry_after_ms(0),
            "Tool execution failed: Busy. Ask for less. Try again after 0 ms.",
        ),
        (ToolError::new(" ").prompt(""), "Tool execution failed: The call may be tried again."),
    ] {
        let outcome =
            Outcome::Failed { call_id: None, duration_ms: 0, error, notifications: Vec::new() };
        assert_same(
            &encode(outcome, Vec::new).unwrap(),
            &format!("200\n{HEADERS}"),
            &failure(expected),
            expected,
        );
    }
}

#[test]
fn every_invalid_parameter_is_listed() {
    for (errors, expected) in [
        (vec![("b", "Must be a number")], "Invalid tool parameters: b: Must be a number"),
        (
            vec![("b", "Is required"), ("c.d[1]", "Must be a string; Must be short")],
            "Invalid tool parameters: b: Is required; c.d[1]: Must be a string; Must be short",
        ),
    ] {
        let error = |(parameter, message): &(&str, &str)| ParameterError {
            parameter: (*parameter).to_owned(),
            message: (*message).to_owned(),
        };
        let outcome =
            Outcome::InvalidInput(InvalidInput { errors: errors.iter().map(error).collect() });
        assert_same(
            &encode(outcome, Vec::new).unwrap(),
            &format!("200\n{HEADERS}"),
            &failure(expected),
            expected,
        );
    }
}

#[test]
fn every_rejection_is_a_tool_result() {
    let tools = "Available tools: ['a', 'b']";
    for rejection in every_rejection() {
        let description = rejection.describe();
        // XB4: what execute_tool itself may report is 200.
        let of_the_tool = match &rejection {
            Rejection::InvalidToolId { .. } => Some(format!("Tool not found. {tools}")),
            Rejection::UnknownTool { .. } => Some(format!("Tool 'A.B' not found. {tools}")),
            Rejection::UnknownVersion { .. } => {
                Some(format!("Tool 'A.B@2.0.0' not found. {tools}"))
            }
            Rejection::ToolNotAllowed { .. }
            | Rejection::ToolNotInKey { .. }
            | Rejection::ToolNotInTeam { .. }
            | Rejection::MissingScope { .. } => Some(format!("{}. {tools}", description.message)),
            Rejection::MissingRequirements(_) => Some(
                "Tool execution failed: the call lacks context.authorization with id \"mail\", \
                 context.secrets with id \"KEY\", context.user_id; the user can grant it at \
                 https://tools.example/auth/start?c=a.b"
                    .to_owned(),
            ),
            Rejection::ToolNotConfigured { .. } | Rejection::NeedsTask { .. } => {
                Some(format!("Tool execution failed: {description}"))
            }
            Rejection::CannotAsk { .. } => {
                Some(format!("Tool execution failed: {}", description.detail))
            }
            _ => None,
        };
        let what = format!("{rejection:?}");
        let got = encode(Outcome::Rejected(rejection.clone()), || vec!["a", "b"]);
        match of_the_tool {
            Some(error) => {
                assert_same(&got.unwrap(), &format!("200\n{HEADERS}"), &failure(&error), &what);
            }
            None => {
                assert_eq!(got, Err(rejection.clone()));
                let got =
                    with_context(CATALOG, &Principal::ANONYMOUS, "", &FakeHost::default(), |it| {
                        let EncodeRejection::Plain(encode) = XAIBO.encode_rejection else {
                            panic!("Xaibo has no ids")
                        };
                        encode(&rejection, it.pipeline)
                    });
                let header = rejection.header().map(|(name, value)| format!("{name}: {value}\n"));
                let head = format!(
                    "{}\n{HEADERS}{}",
                    description.kind.status(),
                    header.unwrap_or_default()
                );
                assert_same(&got, &head, &failure(&description.to_string()), &what);
            }
        }
    }
    let (asks, rejected) = asks();
    let encoded = |outcome| wire(&encode(outcome, Vec::new).unwrap());
    assert_eq!(encoded(asks), encoded(Outcome::Rejected(rejected)));
}

#[test]
fn an_error_lists_the_available_tools_up_to_a_limit() {
    for (allowlist, expected) in [
        (None, vec!["Echo_Broken", "Echo_Narrow", "Echo_Private", "Echo_Say"]),
        (Some("Echo_Say"), vec!["Echo_Say"]),
        // The latest version is not allowed, and older ones have no plain name.
        (Some("Echo.Say@1.0.0, Echo.Broken"), vec!["Echo_Broken"]),
        (Some(""), vec![]),
    ] {
        let variable = allowlist.map(|list| ("TOOL_ALLOWLIST", list));
        let host = FakeHost::with(variable.as_slice());
        let got = with_context(CATALOG, &Principal::ANONYMOUS, "", &host, available);
        assert_eq!(got, expected, "{allowlist:?}");
    }
    let many = vec!["x"; MAX_NAMED + 1];
    for (count, end) in [(0, "[]"), (1, "['x']"), (MAX_NAMED, ", 'x']"), (MAX_NAMED + 1, "'x', …]")]
    {
        let text = not_found("Tool 'a' not found", &many[..count]);
        assert!(text.starts_with("Tool 'a' not found. Available tools: ["), "{text}");
        assert!(text.ends_with(end), "{count}: {text}");
        assert_eq!(text.matches("'x'").count(), count.min(MAX_NAMED));
    }
}

fn listed(input_schema: &Value, latest: bool) -> Rendering {
    let definition: Definition = serde_json::from_value(json!({
        "id": "A.B@1.0.0", "name": "A_B", "description": "Does it", "version": "1.0.0",
        "input_schema": input_schema, "output_schema": null
    }))
    .unwrap();
    let name = if latest { "A_B" } else { "A_B__1_0_0" };
    (LIST.entry)(&Listed { definition: &definition, name, latest })
}

#[test]
fn only_the_latest_version_is_listed() {
    let empty = json!({"type": "object"});
    assert_eq!(listed(&empty, false), Rendering::Omitted);
    let tool = r#"{"name":"A_B","description":"Does it","parameters":{}}"#;
    let fits = Rendering::Supported { json: tool.to_owned(), warnings: vec![] };
    assert_eq!(listed(&empty, true), fits);
}

#[test]
fn descriptions_contain_what_a_parameter_cannot_express() {
    let base = |parameter: &Value| {
        let mut full = json!({"type": "string", "description": "D", "required": false});
        full.as_object_mut().unwrap().extend(parameter.as_object().unwrap().clone());
        full
    };
    for (property, expected) in [
        (json!({"type": "string"}), json!({})),
        (json!({"type": "number"}), json!({"type": "number"})),
        (json!({"type": "integer"}), json!({"type": "integer"})),
        (json!({"type": "boolean", "default": true}), json!({"type": "boolean", "default": true})),
        (
            json!({"default": null}),
            json!({"default": null, "description": "D. May be of any type."}),
        ),
        (json!({"enum": ["a", "b"], "default": "a"}), json!({"enum": ["a", "b"], "default": "a"})),
        (
            json!({"type": "integer", "enum": [1, 2]}),
            json!({"type": "integer", "description": "D. Must be one of: 1, 2."}),
        ),
        (
            json!({"type": ["number", "null"], "minimum": 0}),
            json!({"type": "number", "description": "D. May be null. At least 0."}),
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "default": [1]}),
            json!({"type": "array", "description": "D. An array of integer.", "default": [1]}),
        ),
        (
            json!({"type": "array"}),
            json!({"type": "array", "description": "D. An array of any value."}),
        ),
        (
            json!({"type": "array", "items": {"description": "As you like", "default": 1}}),
            json!({
                "type": "array",
                "description": "D. An array of any value (As you like. Default: 1.)."
            }),
        ),
        (
            json!({"type": "object", "properties": {"x": {"description": "Anything"}, "y": {}}}),
            json!({
                "type": "object",
                "description": "D. An object with x (any value: Anything.), y (any value)."
            }),
        ),
        (
            json!({"type": "object", "properties": {"x": {"type": "number", "default": 1}}, "required": ["x"]}),
            json!({
                "type": "object",
                "description": "D. An object with x (number, required: Default: 1.)."
            }),
        ),
        (json!({}), json!({"description": "D. May be of any type."})),
        (json!({"type": "null"}), json!({"description": "D. Must be null."})),
    ] {
        let mut property = property;
        property["description"] = json!("D");
        let schema = json!({"type": "object", "properties": {"p": property}});
        let Rendering::Supported { json, warnings } = listed(&schema, true) else {
            panic!("{schema}")
        };
        assert_eq!(warnings, Vec::<String>::new());
        let tool: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(tool["parameters"], json!({"p": base(&expected)}), "{schema}");
    }
}

#[test]
fn rules_of_the_whole_input_are_in_the_tools_description() {
    for (rules, required, expected) in [
        (json!({"required": ["a"]}), [true, false], "Does it"),
        (json!({"required": ["b", "a"], "additionalProperties": false}), [true, true], "Does it"),
        (
            json!({"minProperties": 1, "description": "All of it"}),
            [false, false],
            "Does it. All of it. At least 1 member.",
        ),
        (
            json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            [false, false],
            "Does it. Must match one of: {\"required\":[\"a\"]}; {\"required\":[\"b\"]}.",
        ),
    ] {
        let mut schema = json!({"type": "object", "properties": {"a": {}, "b": {}}});
        schema.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
        let Rendering::Supported { json, .. } = listed(&schema, true) else { panic!("{schema}") };
        let tool: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(tool["description"], expected, "{schema}");
        let got = ["a", "b"].map(|name| tool["parameters"][name]["required"] == json!(true));
        assert_eq!(got, required, "{schema}");
    }
}
