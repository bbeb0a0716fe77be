//! Tests of the checks before a protocol decodes the body: size, content type, JSON, version.

use super::*;

#[test]
fn invalid_json() {
    let deep = format!(r#"{{"tool_id":"A.B","input":{}1{}}}"#, "[".repeat(64), "]".repeat(64));
    for (body, expected) in [
        (&b""[..], "EOF while parsing a value at line 1 column 0"),
        (b"tool_id=A.B", "expected ident at line 1 column 2"),
        (b"{\"tool_id\":\"A.B\"", "EOF while parsing an object at line 1 column 16"),
        (b"{\"tool_id\":\"A.B\"}{}", "trailing characters at line 1 column 18"),
        (b"{\"tool_id\":\"A.B\",}", "trailing comma at line 1 column 18"),
        (b"{'tool_id':'A.B'}", "key must be a string at line 1 column 2"),
        (b"{\"tool_id\":\"\xff\"}", "the body is not UTF-8"),
        // After replacement of the invalid bytes, this would have as many characters as bytes.
        (b"\xef\xbb\xbf{\"tool_id\":\"x\xff\xe2\x82y\"}", "the body is not UTF-8"),
        (b"{\"tool_id\":\"\xed\xa0\x80\"}", "the body is not UTF-8"),
        (b"{\"tool_id\":\"\xc0\xaf\"}", "the body is not UTF-8"),
        (b"{\"tool_id\":\"\xf0\x9f\x98\"}", "the body is not UTF-8"),
        (
            b"{\"tool_id\":\"A.B\",\"tool_id\":\"A.B\"}",
            "the key \"tool_id\" is repeated at line 1 column 26",
        ),
        (
            b"{\"tool_id\":\"A.B\",\"input\":{\"a\":1,\"\\u0061\":1}}",
            "the key \"a\" is repeated at line 1 column 40",
        ),
        (
            b"{\"tool_id\":\"A.B\",\"input\":{\"a\":1e400}}",
            "number out of range at line 1 column 35",
        ),
        (b"\xef\xbb\xbf{\"tool_id\":\"A.B\"}", "expected value at line 1 column 1"),
        (deep.as_bytes(), "nested deeper than 64 levels at line 1 column 89"),
    ] {
        let host = FakeHost::default();
        let sent = Body::from(body.to_vec());
        let got = wire(&answer(CATALOG, &host, ("POST", "/oxp/call", &[JSON]), sent));
        let detail = expected.replace('"', "\\\"");
        assert_eq!(got, error(400, "The request body is not valid JSON", &detail), "{body:?}");
    }
}

#[test]
fn the_first_failed_check_decides_the_error() {
    let other = ("oxp-version", "2.0");
    // Each row fixes one more error than the row before.
    for (headers, body, status, detail) in [
        (&[other][..], None, 413, "it may have at most 262144 bytes"),
        (&[other], Some("{"), 415, "send the header Content-Type: application/json"),
        (&[other, JSON], Some("{"), 400, "EOF while parsing"),
        (&[other, JSON], Some("[]"), 400, "OXP-Version must be 1.0 or absent"),
        (&[JSON], Some("[]"), 400, "the body must be an object with tool_id and input"),
    ] {
        let sent = Sent::of(body.map_or(vec![b' '; 262_145], Vec::from));
        for path in ["/call", "/oxp/call"] {
            let request = ("POST", path, headers);
            let got = wire(&answer(CATALOG, &FakeHost::default(), request, sent.body(false)));
            assert!(got.starts_with(&format!("{status}\n")), "{body:?}: {got}");
            assert!(got.contains(detail), "{body:?}: {got}");
        }
    }
}

#[test]
fn content_types_of_a_call() {
    for (sent, accepted) in [
        (Some("application/json"), true),
        (Some("application/json;charset=utf-8"), true),
        (Some("APPLICATION/JSON"), true),
        (Some("application/vnd.oxp+json"), true),
        (Some("text/plain"), false),
        (Some("text/plain; x=application/json"), false),
        (Some("multipart/form-data"), false),
        (Some(""), false),
        (None, false),
    ] {
        let headers: Vec<_> = sent.map(|sent| ("content-type", sent)).into_iter().collect();
        let got = send(&FakeHost::default(), ("POST", "/call", &headers), CALL);
        assert!(got.starts_with(if accepted { "200\n" } else { "415\n" }), "{sent:?}: {got}");
    }
}

#[test]
fn the_body_size_limit() {
    let host = FakeHost::with(&[("MAX_BODY_BYTES", "1000")]);
    let too_large = error(413, "The request body is too large", "it may have at most 1000 bytes");
    for headers in [&[JSON][..], &[], &[JSON, ("oxp-version", "2.0")]] {
        for stream in [false, true] {
            let sent = Sent::of(vec![b' '; 1001]);
            let got = answer(CATALOG, &host, ("POST", "/tools/call", headers), sent.body(stream));
            assert_eq!(wire(&got), too_large, "{headers:?}: the size is checked first");
        }
    }
    for (host, limit) in [(&host, 1000), (&FakeHost::default(), 262_144)] {
        for stream in [false, true] {
            let mut bytes = CALL.as_bytes().to_vec();
            bytes.resize(limit, b' ');
            let sent = Sent::of(bytes);
            let got = answer(CATALOG, host, ("POST", "/tools/call", &[JSON]), sent.body(stream));
            assert_eq!(got.status, 200, "{limit} bytes: {}", wire(&got));
        }
    }
}

#[test]
fn an_incomplete_body() {
    let sent = Sent { bytes: Err(BodyError::Incomplete) };
    let got = answer(CATALOG, &FakeHost::default(), ("POST", "/call", &[JSON]), sent.body(true));
    let detail = "the body is incomplete";
    assert_eq!(wire(&got), error(400, "The request body is not valid JSON", detail));
}
