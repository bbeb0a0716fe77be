//! What is written, byte for byte.

use serde_json::json;

use super::*;
use crate::call::ParameterError;
use crate::call::tests::asks;
use crate::http::tests::wire;
use crate::tool::Capability;

const HEADERS: &str = "content-type: application/json\ncache-control: no-store\n";

#[test]
fn every_call_that_ran_is_200() {
    let done =
        |value| Outcome::Done { call_id: "7".to_owned(), duration_ms: 2, value, notes: Vec::new() };
    let failed = |error| Outcome::Failed {
        call_id: "é\"\n".to_owned(),
        duration_ms: 0,
        error,
        notes: Vec::new(),
    };
    for (outcome, expected) in [
        (done(json!(15)), r#"{"call_id":"7","duration":2,"success":true,"value":15}"#),
        (done(json!(null)), r#"{"call_id":"7","duration":2,"success":true,"value":null}"#),
        (
            done(json!({"a": [1.5, "</script>é\u{2028}"]})),
            "{\"call_id\":\"7\",\"duration\":2,\"success\":true,\"value\":{\"a\":[1.5,\"</script>é\u{2028}\"]}}",
        ),
        (
            failed(ToolError::new("No")),
            r#"{"call_id":"é\"\n","duration":0,"success":false,"error":{"message":"No","can_retry":false}}"#,
        ),
        (
            failed(ToolError::new("No").developer_message("d").prompt("p").retry_after_ms(500)),
            r#"{"call_id":"é\"\n","duration":0,"success":false,"error":{"message":"No","developer_message":"d","can_retry":true,"additional_prompt_content":"p","retry_after_ms":500}}"#,
        ),
    ] {
        assert_eq!(wire(&encode(Form::Flat, outcome)), format!("200\n{HEADERS}{expected}"));
    }
}

#[test]
fn invalid_input_is_422() {
    for (errors, expected) in [
        (vec![], "{}"),
        (vec![("b", "Must be a number")], r#"{"b":"Must be a number"}"#),
        (vec![("b", "2"), ("[\"x.y\"]", "1")], r#"{"[\"x.y\"]":"1","b":"2"}"#),
    ] {
        let entry = |(parameter, message): &(&str, &str)| ParameterError {
            parameter: (*parameter).to_owned(),
            message: (*message).to_owned(),
        };
        let outcome =
            Outcome::InvalidInput(InvalidInput { errors: errors.iter().map(entry).collect() });
        let expected = format!(
            "422\n{HEADERS}{{\"message\":\"Some input parameters are invalid\",\"parameter_errors\":{expected}}}"
        );
        assert_eq!(wire(&encode(Form::Flat, outcome)), expected);
    }
}

/// One rejection of each kind. The match makes the compiler ask for the kind that is forgotten.
fn refusals() -> Vec<(Rejection, String)> {
    let plain = |status: u16, message: &str, detail: &str| {
        format!(
            "{status}\n{HEADERS}{{\"message\":\"{message}\",\"developer_message\":\"{detail}\"}}"
        )
    };
    let rows = vec![
        (
            Rejection::NotFound,
            plain(
                404,
                "There is nothing at this address",
                "the endpoints are GET /health, GET /tools and POST /tools/call",
            ),
        ),
        (
            Rejection::MethodNotAllowed { allow: "POST, OPTIONS" },
            "405\ncontent-type: application/json\ncache-control: no-store\nallow: POST, OPTIONS\n\
             {\"message\":\"This address does not take this method\",\
             \"developer_message\":\"it takes POST, OPTIONS\"}"
                .to_owned(),
        ),
        (
            Rejection::ForbiddenOrigin,
            plain(
                403,
                "This origin may not call the server",
                "ALLOWED_ORIGINS does not name the request's Origin",
            ),
        ),
        (
            Rejection::PayloadTooLarge { limit: 262_144 },
            plain(413, "The request is too large", "the body may have at most 262144 bytes"),
        ),
        (
            Rejection::UnsupportedMediaType,
            plain(415, "The request is not JSON", "send the header Content-Type: application/json"),
        ),
        (
            Rejection::Malformed("\"x\" is wrong".to_owned()),
            plain(400, "The request is malformed", "\\\"x\\\" is wrong"),
        ),
        (
            Rejection::UnsupportedVersion { supported: "1.0" },
            plain(400, "This version of OXP is not supported", "OXP-Version must be 1.0 or absent"),
        ),
        (
            Rejection::InvalidToolId,
            plain(
                400,
                "The tool id is invalid",
                "a tool id has the form Toolkit.Tool, Toolkit.Tool@1 or Toolkit.Tool@1.0.0, \
                 with letters, digits and _ in its names",
            ),
        ),
        (
            Rejection::UnknownTool {
                id: "Calculator.Sub".to_owned(),
                name: "Calculator_Sub".to_owned(),
            },
            plain(
                400,
                "Tool 'Calculator_Sub' was not found",
                "Calculator.Sub is not a tool of this server",
            ),
        ),
        (
            Rejection::UnknownVersion {
                id: "Calculator.Add".to_owned(),
                name: "Calculator_Add",
                version: "2.0.0".to_owned(),
            },
            plain(
                400,
                "Tool 'Calculator_Add' was not found",
                "Calculator.Add version 2.0.0 is not available",
            ),
        ),
        (
            Rejection::MissingRequirements(MissingRequirements {
                user_id: true,
                ..MissingRequirements::default()
            }),
            format!(
                "400\n{HEADERS}{{\"message\":\"The call must say for which user it is\",\
                 \"developer_message\":\"the call lacks context.user_id\",\
                 \"missing_requirements\":{{\"user_id\":true}}}}"
            ),
        ),
        (
            Rejection::InvalidJson("EOF".to_owned()),
            plain(400, "The request is malformed", "the body is not valid JSON: EOF"),
        ),
        (
            Rejection::Unauthenticated { reason: "the token has expired", sent: true },
            plain(401, "The request needs valid credentials", "the token has expired"),
        ),
        (
            Rejection::MissingScope { name: "A_B", scopes: &["a:read", "b"] },
            plain(
                403,
                "Tool 'A_B' may not be called with these credentials",
                "it requires the scopes: a:read b",
            ),
        ),
        (
            Rejection::TooManyRequests { retry_after: 60 },
            plain(429, "Too many calls", "try again after 60 seconds"),
        ),
        (
            Rejection::ToolNotAllowed { name: "A_B" },
            plain(400, "Tool 'A_B' may not be called", "TOOL_ALLOWLIST does not have it"),
        ),
        (
            Rejection::CannotAsk {
                name: "A_B",
                lacking: vec![Capability::Form, Capability::Sampling],
            },
            plain(
                400,
                "Tool 'A_B' needs an answer that this protocol cannot bring",
                "The tool asks back, which needs a client that shows its user a form and lets its model write a message",
            ),
        ),
        (
            Rejection::Unavailable("it has no random bytes"),
            plain(400, "The tool server is temporarily unavailable", "it has no random bytes"),
        ),
        (Rejection::Internal, plain(500, "The tool server failed", "its log says more")),
    ];
    rows
}

#[test]
fn every_refusal_has_its_answer() {
    let rows = refusals();
    let kinds: std::collections::HashSet<_> =
        rows.iter().map(|(rejection, _)| std::mem::discriminant(rejection)).collect();
    let all: std::collections::HashSet<_> =
        crate::call::tests::every_refusal().iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds, all, "a row for each kind");
    for (rejection, expected) in rows {
        assert_eq!(wire(&encode(Form::Flat, Outcome::Rejected(rejection))), expected);
    }
    let (asks, rejected) = asks();
    assert_eq!(wire(&encode(Form::Flat, asks)), wire(&reject(Form::Flat, rejected)));
}

#[test]
fn a_challenge_in_each_form() {
    let challenge = r#"[{"id":"challenge","url":"https://booth.example/auth/start?c=a.b","check_url":"https://booth.example/auth/check?c=a.b"}]"#;
    let machine = format!(
        r#","missing_requirements":{{"authorization":{challenge},"user_id":true,"secrets":["KEY"]}}"#
    );
    let link = "; the user can grant it at https://booth.example/auth/start?c=a.b";
    for (form, marker, link, machine) in [
        (Form::Flat, "", "", &*machine),
        (Form::Oxp("urn:oxp:1.0"), r#""$schema":"urn:oxp:1.0","#, "", &machine),
        (Form::Otc("otc://1.0"), r#""$schema":"otc://1.0","#, link, ""),
    ] {
        let mut refusals = crate::call::tests::every_refusal().into_iter();
        let rejection =
            refusals.find(|one| matches!(one, Rejection::MissingRequirements(_))).unwrap();
        let expected = format!(
            "400\n{HEADERS}{{{marker}\"message\":\"Authorization required{link}\",\
             \"developer_message\":\"the call lacks context.authorization with id \\\"mail\\\", \
             context.secrets with id \\\"KEY\\\", context.user_id\"{machine}}}"
        );
        assert_eq!(wire(&reject(form, rejection)), expected);
    }
}

#[test]
fn missing_requirements_are_named() {
    for (authorization, secrets, user_id, message, detail, machine) in [
        (
            &["mail"][..],
            &[][..],
            false,
            "Authorization required",
            r#"context.authorization with id \"mail\""#,
            "",
        ),
        (
            &["mail", "bank"],
            &["KEY"],
            true,
            "Authorization required",
            r#"context.authorization with id \"mail\", context.authorization with id \"bank\", context.secrets with id \"KEY\", context.user_id"#,
            r#","missing_requirements":{"user_id":true,"secrets":["KEY"]}"#,
        ),
        (
            &[],
            &["KEY", "PIN"],
            false,
            "The call lacks a secret",
            r#"context.secrets with id \"KEY\", context.secrets with id \"PIN\""#,
            r#","missing_requirements":{"secrets":["KEY","PIN"]}"#,
        ),
        (
            &[],
            &["KEY"],
            true,
            "The call must say for which user it is",
            r#"context.secrets with id \"KEY\", context.user_id"#,
            r#","missing_requirements":{"user_id":true,"secrets":["KEY"]}"#,
        ),
    ] {
        let missing = MissingRequirements {
            authorization: authorization.to_vec(),
            secrets: secrets.to_vec(),
            user_id,
            ..MissingRequirements::default()
        };
        let expected = format!(
            "400\n{HEADERS}{{\"message\":\"{message}\",\"developer_message\":\"the call lacks {detail}\"{machine}}}"
        );
        assert_eq!(
            wire(&encode(Form::Flat, Outcome::Rejected(Rejection::MissingRequirements(missing)))),
            expected
        );
    }
}
