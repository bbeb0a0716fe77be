//! Requests and responses in envelopes.

use serde_json::{Value, json};

use super::*;
use crate::call::{InvalidInput, MissingRequirements, Outcome, ParameterError, ToolSelector};
use crate::catalog::Definition;
use crate::testing::echo::every_rejection;
use crate::testing::wire;
use crate::tool::ToolError;

const HEADERS: &str = "content-type: application/json\ncache-control: no-store\n";

/// The tool that an envelope names, or the rejection; and the `$schema` of the response.
fn tool_of(body: &Value, unmarked: Format) -> (Result<String, Rejection>, String) {
    let (format, call) = decode(body.into(), unmarked);
    let call = call.map(|call| match call.tool {
        ToolSelector::Id(id) => id.into_owned(),
        other => panic!("the protocols name tools by their id: {other:?}"),
    });
    (call, format.schema().unwrap().to_owned())
}

#[test]
fn versions() {
    let unsupported = || {
        Err(Rejection::UnsupportedVersion { field: "$schema", supported: "otc://1.0, urn:oxp:1.0" })
    };
    let no_string = || Err(malformed("$schema must be a string"));
    // $schema, the outcome, and the format of the response at /otc and at /oxp/1.0
    let mut rows = vec![
        // T8 XM3: both addresses serve both protocols
        (json!("otc://1.0"), Ok(()), Format::Otc("otc://1.0"), Format::Otc("otc://1.0")),
        (json!("urn:oxp:1.0"), Ok(()), Format::Oxp("urn:oxp:1.0"), Format::Oxp("urn:oxp:1.0")),
    ];
    for address in PUBLISHED {
        rows.push((json!(address), Ok(()), Format::Otc(address), Format::Oxp(address)));
    }
    for other in [
        // T7 XM1 T20: not a URI, not a version, or a version that is not served
        "",
        " ",
        "1.0",
        "otc",
        "otc:",
        "otc:1.0",
        "otc://",
        "otc://1",
        "otc://1.0.0",
        "otc://1.1",
        "otc://2.0",
        "otc://01.0",
        "otc://1.0/",
        " otc://1.0",
        "otc://1.0\n",
        "OTC://1.0",
        "urn:oxp",
        "urn:oxp:1",
        "urn:oxp:2.0",
        "urn:oxp:1.0.0",
        "urn:otc:1.0",
        "URN:OXP:1.0",
        "https://example.com",
        "https://json-schema.org/draft/2020-12/schema",
        "https://github.com/OpenToolCalling/Specification/tree/main/spec/http/2.0/openapi.json",
    ] {
        // The beginning of some shows which protocol they are a version of.
        let (at_otc, at_oxp) = match other.split(':').collect::<Vec<_>>().as_slice() {
            ["otc", ..] if other != "otc" => (OTC_1_0, OTC_1_0),
            ["urn", "oxp", _, ..] => (OXP_1_0, OXP_1_0),
            _ => (OTC_1_0, OXP_1_0),
        };
        rows.push((json!(other), unsupported(), at_otc, at_oxp));
    }
    for other in [json!(1.0), json!(true), json!(["otc://1.0"]), json!({})] {
        rows.push((other, no_string(), OTC_1_0, OXP_1_0));
    }
    for (sent, expected, at_otc, at_oxp) in rows {
        let body = json!({"$schema": sent, "request": {"tool_id": "A.B"}});
        for (unmarked, format_there) in [(OTC_1_0, at_otc), (OXP_1_0, at_oxp)] {
            let expected = expected.clone();
            assert_eq!(
                format(&(&body).into(), unmarked),
                expected.clone().map(|()| format_there),
                "{sent}"
            );
            let schema = format_there.schema().unwrap().to_owned();
            let call = expected.map(|()| "A.B".to_owned());
            assert_eq!(tool_of(&body, unmarked), (call, schema), "{sent}");
        }
    }
    // T9 XM2: without $schema, the latest version at the address
    for body in [
        json!({"request": {"tool_id": "A.B"}}),
        json!({"$schema": null, "request": {"tool_id": "A.B"}}),
    ] {
        assert_eq!(tool_of(&body, OTC_1_0), (Ok("A.B".to_owned()), "otc://1.0".to_owned()));
        assert_eq!(tool_of(&body, OXP_1_0), (Ok("A.B".to_owned()), "urn:oxp:1.0".to_owned()));
    }
}

#[test]
fn envelopes() {
    let shape = "the body must be an object with request";
    let missing = "request is missing; it must be an object with tool_id and input";
    let no_object = "request must be an object with tool_id and input";
    let both = "request and tool_id exclude each other; tool_id belongs inside request";
    let flat = "tool_id belongs inside request; /oxp/tools/call accepts a call without envelope";
    let inputs = "in request: inputs is not a field; use input";
    let unknown = |field: &str| {
        format!(
            "in request: {field:?} is not a field of a call; \
             the fields are tool_id, call_id, trace_id, input and context"
        )
    };
    for (body, expected) in [
        (json!({"request": {"tool_id": "A.B"}}), Ok("A.B")),
        (json!({"request": {"tool_id": "no id"}}), Ok("no id")),
        // The envelope is open: the schemas do not forbid further fields.
        (json!({"request": {"tool_id": "A.B"}, "result": 1, "input": {}, "": []}), Ok("A.B")),
        (json!(null), Err(shape)),
        (json!([]), Err(shape)),
        (json!([{"request": {"tool_id": "A.B"}}]), Err(shape)),
        (json!("request"), Err(shape)),
        (json!({}), Err(missing)),
        (json!({"Request": {"tool_id": "A.B"}}), Err(missing)),
        (json!({"result": {"tool_id": "A.B"}}), Err(missing)),
        (json!({"input": {}}), Err(missing)),
        (json!({"request": null}), Err(no_object)),
        (json!({"request": "A.B"}), Err(no_object)),
        (json!({"request": [{"tool_id": "A.B"}]}), Err(no_object)),
        (json!({"request": {"tool_id": "A.B"}, "tool_id": "A.B"}), Err(both)),
        (json!({"request": null, "tool_id": null}), Err(both)),
        (json!({"tool_id": "A.B", "input": {}}), Err(flat)),
        (json!({"tool_id": null}), Err(flat)),
        (json!({"request": {}}), Err("in request: tool_id is missing; it must be a string")),
        (json!({"request": {"tool_id": 1}}), Err("in request: tool_id must be a string")),
        (json!({"request": {"tool_id": "A.B", "inputs": {}}}), Err(inputs)),
        (json!({"request": {"tool_id": "A.B", "$schema": "x"}}), Err(&*unknown("$schema"))),
        (
            json!({"request": {"tool_id": "A.B", "context": []}}),
            Err("in request: context must be an object"),
        ),
    ] {
        for unmarked in [OTC_1_0, OXP_1_0] {
            let expected = expected.map(str::to_owned).map_err(malformed);
            assert_eq!(tool_of(&body, unmarked).0, expected, "{body}");
        }
    }
}

#[test]
fn the_result_is_in_an_envelope() {
    let error = ToolError::new("No").developer_message("d").prompt("p").retry_after_ms(500);
    for (outcome, expected) in [
        (
            // T13 XM4
            Outcome::Done {
                call_id: Some("7".to_owned()),
                duration_ms: 2,
                value: json!(15),
                notifications: Vec::new(),
            },
            r#"{"call_id":"7","duration":2,"success":true,"value":15}"#,
        ),
        (
            // T26
            Outcome::Failed {
                call_id: Some("7".to_owned()),
                duration_ms: 60,
                error,
                notifications: Vec::new(),
            },
            r#"{"call_id":"7","duration":60,"success":false,"error":{"message":"No","developer_message":"d","can_retry":true,"additional_prompt_content":"p","retry_after_ms":500}}"#,
        ),
    ] {
        let expected = format!("{{\"$schema\":\"otc://1.0\",\"result\":{expected}}}");
        assert_eq!(wire(&oxp::encode(OTC_1_0, outcome)), format!("200\n{HEADERS}{expected}"));
    }
}

#[test]
fn errors_are_next_to_the_version() {
    let error =
        ParameterError { parameter: "b".to_owned(), message: "Must be a number".to_owned() };
    let invalid = || Outcome::InvalidInput(InvalidInput { errors: vec![error.clone()] });
    for (format, schema) in [(OTC_1_0, "otc://1.0"), (OXP_1_0, "urn:oxp:1.0")] {
        // T24
        assert_eq!(
            wire(&oxp::encode(format, invalid())),
            format!(
                "422\n{HEADERS}{{\"$schema\":\"{schema}\",\
                 \"message\":\"Some input parameters are invalid\",\
                 \"parameter_errors\":{{\"b\":\"Must be a number\"}}}}"
            )
        );
        // T20: the flat error with the version in front
        for rejection in every_rejection() {
            if !matches!(rejection, Rejection::MissingRequirements(_)) {
                let flat = wire(&reject(Format::Flat, &rejection));
                let expected = flat.replacen('{', &format!("{{\"$schema\":\"{schema}\","), 1);
                assert_eq!(wire(&reject(format, &rejection)), expected);
            }
        }
    }
}

#[test]
fn otc_has_no_missing_requirements() {
    for (format, expected) in [
        // T43
        (OTC_1_0, None),
        (OXP_1_0, Some(json!({"user_id": true, "secrets": ["KEY"]}))),
    ] {
        let missing = MissingRequirements {
            authorization: vec!["mail"],
            secrets: vec!["KEY"],
            user_id: true,
            ..MissingRequirements::default()
        };
        let response = reject(format, &Rejection::MissingRequirements(missing));
        let body: Value = serde_json::from_slice(&response.body).unwrap();
        assert_eq!(body.get("missing_requirements"), expected.as_ref(), "{body}");
    }
}

#[test]
fn lists() {
    let definitions: Vec<Definition> = serde_json::from_value(json!([
        {
            "id": "A.B@1.0.0", "name": "A_B", "title": "T", "description": "d", "version": "1.0.0",
            "input_schema": {"type": "object"}, "output_schema": null,
            "annotations": {"read_only": true}, "deprecated": {"message": "m"},
            "examples": [{"input": {}, "value": null}]
        },
        {
            "id": "A.C@1.0.0", "name": "A_C", "description": "d", "version": "1.0.0",
            "input_schema": {}, "output_schema": {"type": "string"},
            "requirements": {"secrets": [{"id": "KEY"}], "user_id": true}
        }
    ]))
    .unwrap();
    // T10 T32 T34 T35
    let otc = [
        r#"{"id":"A.B@1.0.0","name":"A_B","description":"d","version":"1.0.0","input_schema":{"parameters":{"type":"object"}},"output_schema":null}"#,
        r#"{"id":"A.C@1.0.0","name":"A_C","description":"d","version":"1.0.0","input_schema":{"parameters":{}},"output_schema":{"type":"string"},"requirements":{"secrets":[{"id":"KEY"}],"user_id":true}}"#,
    ];
    let fits = |json: String| Rendering::Supported { json, warnings: Vec::new() };
    for (definition, otc) in definitions.iter().zip(otc) {
        let listed = Listed { definition, name: "ignored", latest: false };
        let oxp = otc.replace("{\"parameters\":{\"type\":\"object\"}}", "{\"type\":\"object\"}");
        let oxp = oxp.replace("{\"parameters\":{}}", "{}");
        for (form, expected) in [OTC_LIST, OXP_LIST].iter().zip([otc.to_owned(), oxp]) {
            assert_eq!((form.entry)(&listed), fits(expected), "{}", form.name);
        }
    }
    for form in [OTC_LIST, OXP_LIST] {
        // T11
        let empty: Value = serde_json::from_str(&format!("{}{}", form.head, form.tail)).unwrap();
        let array = if form.name == "otc" { "tools" } else { "items" };
        assert_eq!(empty[array], json!([]));
        assert_eq!(empty.as_object().unwrap().len(), 2);
    }
}
