//! Responses, byte for byte.

use serde_json::json;

use super::*;
use crate::call::{InvalidInput, ParameterError};
use crate::testing::echo::{asks, every_rejection};
use crate::testing::{rejection_header, wire};

const HEADERS: &str = "content-type: application/json\ncache-control: no-store\n";

#[test]
fn every_call_that_ran_is_200() {
    let done = |value| Outcome::Done {
        call_id: Some("7".to_owned()),
        duration_ms: 2,
        value,
        notifications: Vec::new(),
    };
    let failed = |error| Outcome::Failed {
        call_id: Some("é\"\n".to_owned()),
        duration_ms: 0,
        error,
        notifications: Vec::new(),
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
        assert_eq!(wire(&encode(Format::Flat, outcome)), format!("200\n{HEADERS}{expected}"));
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
        assert_eq!(wire(&encode(Format::Flat, outcome)), expected);
    }
}

#[test]
fn every_rejection_is_a_server_error_response() {
    for rejection in every_rejection() {
        let description = rejection.describe();
        // X16: calls that did not run are 400 where HTTP has no more exact status.
        let status = match description.kind {
            RejectionKind::ToolNotAllowed | RejectionKind::Unavailable => 400,
            kind => kind.status(),
        };
        let response = encode(Format::Flat, Outcome::Rejected(rejection.clone()));
        assert_eq!(response.status, status, "{rejection:?}");
        assert_eq!(rejection_header(&response), rejection.header());
        let mut body: Value = serde_json::from_slice(&response.body).unwrap();
        let missing = body.as_object_mut().unwrap().remove("missing_requirements");
        let lacks = description.kind == RejectionKind::MissingRequirements;
        assert_eq!(missing.is_some(), lacks, "{rejection:?}");
        let expected =
            json!({"message": description.message, "developer_message": description.detail});
        assert_eq!(body, expected, "X17 X19");
    }
    let (asks, rejected) = asks();
    assert_eq!(wire(&encode(Format::Flat, asks)), wire(&reject(Format::Flat, &rejected)));
}

#[test]
fn a_challenge_in_each_format() {
    let challenge = r#"[{"id":"challenge","url":"https://tools.example/auth/start?c=a.b","check_url":"https://tools.example/auth/check?c=a.b"}]"#;
    let machine = format!(
        r#","missing_requirements":{{"authorization":{challenge},"user_id":true,"secrets":["KEY"]}}"#
    );
    let link = "; the user can grant it at https://tools.example/auth/start?c=a.b";
    for (format, marker, link, machine) in [
        (Format::Flat, "", "", &*machine),
        (Format::Oxp("urn:oxp:1.0"), r#""$schema":"urn:oxp:1.0","#, "", &machine),
        (Format::Otc("otc://1.0"), r#""$schema":"otc://1.0","#, link, ""),
    ] {
        let mut rejections = every_rejection().into_iter();
        let rejection =
            rejections.find(|one| matches!(one, Rejection::MissingRequirements(_))).unwrap();
        let Description { message, detail, .. } = rejection.describe();
        let expected = format!(
            "400\n{HEADERS}{{{marker}\"message\":\"{message}{link}\",\"developer_message\":{}{machine}}}",
            json!(detail)
        );
        assert_eq!(wire(&reject(format, &rejection)), expected);
    }
}

/// X20: the published schema requires `url`.
#[test]
fn each_missing_token_has_a_url() {
    let challenge = Challenge {
        id: "c".to_owned(),
        url: "https://a.example/auth/start?c=x".to_owned(),
        check_url: "https://a.example/auth/check?c=x".to_owned(),
        provider: "mail".to_owned(),
        title: "Mail".to_owned(),
    };
    let url = "https://a.example/auth/help/bank".to_owned();
    let missing = MissingRequirements {
        authorization: vec!["mail", "bank"],
        challenges: vec![challenge],
        help: vec![AuthorizationHelp { provider: "bank", url }],
        ..MissingRequirements::default()
    };
    let response = reject(Format::Flat, &Rejection::MissingRequirements(missing));
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    let expected = json!([
        {"id": "c", "url": "https://a.example/auth/start?c=x", "check_url": "https://a.example/auth/check?c=x"},
        {"id": "bank", "url": "https://a.example/auth/help/bank"}
    ]);
    assert_eq!(body["missing_requirements"]["authorization"], expected, "{body}");
}

#[test]
fn missing_requirements_are_members() {
    for (authorization, secrets, user_id, expected) in [
        (&["mail"][..], &[][..], false, None),
        (&["mail", "bank"], &["KEY"], true, Some(json!({"user_id": true, "secrets": ["KEY"]}))),
        (&[], &["KEY", "PIN"], false, Some(json!({"secrets": ["KEY", "PIN"]}))),
        (&[], &[], true, Some(json!({"user_id": true}))),
    ] {
        let missing = MissingRequirements {
            authorization: authorization.to_vec(),
            secrets: secrets.to_vec(),
            user_id,
            ..MissingRequirements::default()
        };
        let response = reject(Format::Flat, &Rejection::MissingRequirements(missing));
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(body.get("missing_requirements"), expected.as_ref(), "{body}");
    }
}
