//! Tests of the envelope protocols from request to response, and of the detection of envelopes at the root.

use super::*;

const RESULT: &str = r#"{"call_id":"7","duration":1,"success":true,"value":"hi"}"#;
const INVALID: &str =
    r#""message":"Some input parameters are invalid","parameter_errors":{"text":"Is required"}}"#;

/// The status and the body of the response. Checks that only protocols without envelope have the version header.
fn respond(path: &str, headers: Headers<'_>, body: &str) -> String {
    let answer = send(&FakeHost::default(), ("POST", path, headers), body);
    let flat = !path.starts_with("/otc") && !path.starts_with("/oxp/1.0");
    assert_eq!(answer.contains("\noxp-version: 1.0\n"), flat, "{path} {body}: {answer}");
    let status = answer.lines().next().unwrap();
    format!("{status} {}", answer.lines().last().unwrap())
}

#[test]
fn a_response_has_the_format_of_its_request() {
    let call = CALL.to_owned();
    let envelope = |schema: &str| format!("{{{schema}\"request\":{CALL}}}");
    let marked = |schema: &str| envelope(&format!("\"$schema\":\"{schema}\","));
    let ran = |schema: &str| format!("200 {{\"$schema\":\"{schema}\",\"result\":{RESULT}}}");
    let malformed = |schema: &str, detail: &str| {
        format!(
            "400 {{{schema}\"message\":\"The request is malformed\",\"developer_message\":\"{detail}\"}}"
        )
    };
    let (otc, oxp) = ("\"$schema\":\"otc://1.0\",", "\"$schema\":\"urn:oxp:1.0\",");
    let version = |schema: &str| {
        format!(
            "400 {{{schema}\"message\":\"This protocol version is not supported\",\
             \"developer_message\":\"$schema must be otc://1.0, urn:oxp:1.0 or absent\"}}"
        )
    };
    let flat_only = malformed(
        "",
        "request is an envelope, which /otc and /oxp/1.0 accept; here its fields belong in the body itself",
    );
    let no_id = malformed("", "tool_id is missing; it must be a string");
    let no_flat = "tool_id belongs inside request; /oxp/tools/call accepts a call without envelope";
    let no_field = r#"\"$schema\" is not a field of a call; the fields are tool_id, call_id, trace_id, input and context"#;
    let no_request = "request is missing; it must be an object with tool_id and input";
    let both = "request and tool_id exclude each other; tool_id belongs inside request";
    let published =
        "https://github.com/OpenToolCalling/Specification/tree/main/spec/http/1.0/openapi.json";
    let with_both = format!("{{\"request\":{CALL},\"tool_id\":\"Echo.Say\"}}");
    let flat = format!("200 {RESULT}");
    // body; the response at the root, at /oxp, at /oxp/1.0 and at /otc
    for (body, root, at_oxp, at_oxp_1_0, at_otc) in [
        (call, flat.clone(), flat, malformed(oxp, no_flat), malformed(otc, no_flat)),
        (envelope(""), ran("urn:oxp:1.0"), flat_only.clone(), ran("urn:oxp:1.0"), ran("otc://1.0")),
        (
            marked("otc://1.0"),
            ran("otc://1.0"),
            flat_only.clone(),
            ran("otc://1.0"),
            ran("otc://1.0"),
        ),
        (
            marked("urn:oxp:1.0"),
            ran("urn:oxp:1.0"),
            flat_only.clone(),
            ran("urn:oxp:1.0"),
            ran("urn:oxp:1.0"),
        ),
        (marked(published), ran(published), flat_only.clone(), ran(published), ran(published)),
        (marked("otc://2.0"), version(otc), flat_only.clone(), version(otc), version(otc)),
        (marked("urn:oxp:2.0"), version(oxp), flat_only.clone(), version(oxp), version(oxp)),
        (marked("2.0"), version(oxp), flat_only.clone(), version(oxp), version(otc)),
        (
            CALL.replacen('{', r#"{"$schema":"otc://1.0","#, 1),
            malformed(otc, no_flat),
            malformed("", no_field),
            malformed(otc, no_flat),
            malformed(otc, no_flat),
        ),
        (
            "{}".to_owned(),
            no_id.clone(),
            no_id,
            malformed(oxp, no_request),
            malformed(otc, no_request),
        ),
        (
            with_both,
            malformed(oxp, both),
            flat_only.clone(),
            malformed(oxp, both),
            malformed(otc, both),
        ),
        (
            r#"{"$schema":"otc://1.0","request":{"tool_id":"Echo.Say"}}"#.to_owned(),
            format!("422 {{{otc}{INVALID}"),
            flat_only.clone(),
            format!("422 {{{otc}{INVALID}"),
            format!("422 {{{otc}{INVALID}"),
        ),
        (
            r#"{"$schema":"otc://1.0","request":[]}"#.to_owned(),
            malformed(otc, "request must be an object with tool_id and input"),
            flat_only,
            malformed(otc, "request must be an object with tool_id and input"),
            malformed(otc, "request must be an object with tool_id and input"),
        ),
    ] {
        for (mount, expected) in
            [("", root), ("/oxp", at_oxp), ("/oxp/1.0", at_oxp_1_0), ("/otc", at_otc)]
        {
            for path in ["/tools/call", "/call"] {
                let path = format!("{mount}{path}");
                assert_eq!(respond(&path, &[JSON], &body), expected, "{path} {body}");
            }
        }
    }
}

#[test]
fn lists_and_health_of_the_envelope_protocols() {
    let host = FakeHost::default();
    let json = "content-type: application/json\n";
    for (mount, list) in [
        ("/otc", r#"{"$schema":"otc://1.0","tools":[]}"#),
        ("/oxp/1.0", r#"{"$schema":"urn:oxp:1.0","items":[]}"#),
    ] {
        let whole = format!("200\n{json}etag: \"tag\"\ncache-control: no-cache\n");
        let unchanged = "304\netag: \"tag\"\ncache-control: no-cache\n";
        let health = format!("200\n{json}cache-control: no-store\n");
        for (method, path, headers, expected) in [
            ("GET", "/tools", &[][..], format!("{whole}{list}")),
            ("HEAD", "/tools", &[], whole.clone()),
            ("GET", "/tools", &[("if-none-match", "\"tag\"")], unchanged.to_owned()),
            // The envelope protocols ignore this header.
            ("GET", "/tools", &[("oxp-version", "2.0")], format!("{whole}{list}")),
            ("GET", "/health", &[], format!("{health}{{\"status\":\"OK\"}}")),
            ("GET", "/health", &[("authorization", "x")], format!("{health}{{\"status\":\"OK\"}}")),
            ("HEAD", "/health", &[("oxp-version", "2.0")], health.clone()),
        ] {
            let path = format!("{mount}{path}");
            // T6: a client may send its version as the body of a GET
            for body in ["", "{}", r#"{"$schema":"otc://1.0"}"#, r#"{"$schema":"otc://9.0"}"#, "{"]
            {
                let got = send(&host, (method, &path, headers), body);
                assert_eq!(got, expected, "{method} {path} {headers:?} {body}");
            }
        }
        let wrong = FakeHost::with(&[("MAX_BODY_BYTES", "0")]);
        let path = format!("{mount}/health");
        assert!(send(&wrong, ("GET", &path, &[]), "").starts_with("503\n"), "T2");
    }
}

#[test]
fn a_missing_list_is_reported_in_the_format_of_the_mount() {
    static BARE: toolbooth::catalog::Catalog =
        toolbooth::catalog::Catalog { lists: &[], ..*CATALOG };
    for (path, schema) in [("/otc/tools", "otc://1.0"), ("/oxp/1.0/tools", "urn:oxp:1.0")] {
        let got = answer(&BARE, &FakeHost::default(), ("GET", path, &[]), Body::from(""));
        let expected = format!(
            "400\ncontent-type: application/json\ncache-control: no-store\n\
             {{\"$schema\":\"{schema}\",\"message\":\"The tool server is temporarily unavailable\",\
             \"developer_message\":\"its catalogue has no list for this protocol\"}}"
        );
        assert_eq!(wire(&got), expected);
    }
}
