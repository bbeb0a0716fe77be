//! Responses, and how they become values and errors.

use super::*;
use crate::call::Rejection;
use crate::catalog::QueryValue;
use crate::host::{HttpError, HttpResponse};
use crate::schema::{AnyKeyword, Keyword, Types};

const URL: &str = "GET https://web.example/items";

fn responding(call: HttpCall, response: Result<HttpResponse, HttpError>) -> ToolTest {
    test(call).respond(&format!("{} https://web.example/items", call.method), response)
}

#[test]
fn values_of_responses() {
    let names = Select {
        segments: &[
            Segment { descends: false, selectors: &[Selector::Name("items")] },
            Segment { descends: false, selectors: &[Selector::Wildcard] },
            Segment { descends: false, selectors: &[Selector::Name("name")] },
        ],
        is_singular: false,
    };
    let select = HttpCall { select: Some(names), ..CALL };
    for (call, status, body, expected) in [
        (CALL, 200, &br#"{"a":[1]}"#[..], json!({"a": [1]})),
        (CALL, 201, b"7", json!(7)),
        (CALL, 200, b"plain text", json!("plain text")),
        (CALL, 200, "é".as_bytes(), json!("é")),
        (CALL, 200, b"\xef\xbb\xbf{\"a\":1}", json!({"a": 1})),
        (CALL, 200, "\u{feff}é".as_bytes(), json!("é")),
        (select, 200, b"\xef\xbb\xbf{\"items\":[{\"name\":\"a\"}]}", json!(["a"])),
        (CALL, 200, b"\xff\xfe\x00", json!("[The response is no text: 3 bytes.]")),
        (CALL, 204, b"", json!(null)),
        (CALL, 200, b"", json!(null)),
        (HttpCall { returns_nothing: true, ..CALL }, 200, b"{}", json!(null)),
        (HttpCall { method: "HEAD", ..CALL }, 200, b"", json!(null)),
        (select, 200, br#"{"items":[{"name":"a"},{"id":1},{"name":"b"}]}"#, json!(["a", "b"])),
        (select, 200, b"[]", json!([])),
        (
            HttpCall { max_bytes: 5, ..CALL },
            200,
            b"[1,2,3]",
            json!("[1,2,\n\n[The response was cut after 5 bytes.]"),
        ),
        (
            HttpCall { max_bytes: 2, ..CALL },
            200,
            "aéé".as_bytes(),
            json!("a\n\n[The response was cut after 2 bytes.]"),
        ),
        (HttpCall { max_bytes: 7, ..CALL }, 200, b"[1,2,3]", json!([1, 2, 3])),
        (HttpCall { max_bytes: 7, ..select }, 200, b"[1,2,3]", json!([])),
        (HttpCall { max_bytes: 5, returns_nothing: true, ..CALL }, 200, b"[1,2,3]", json!(null)),
    ] {
        let test = responding(call, respond(status, body));
        assert_eq!(test.value("Web.Call", json!({})), expected, "{status} {body:?}");
    }
}

/// JSON that is not read is a text, which says why.
#[test]
fn responses_that_seem_to_be_json() {
    const LIST: Select = Select {
        segments: &[Segment { descends: false, selectors: &[Selector::Name("a")] }],
        is_singular: true,
    };
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    let many = format!("[{}1]", "1,".repeat(70_000));
    let large = HttpCall { max_bytes: 1_000_000, ..CALL };
    for (status, body, flaw) in [
        (
            200,
            r#"{"a":1,"a":2}"#,
            "cannot be read as JSON: an object has two members of the same name, at line 1, column 10.",
        ),
        (
            200,
            r#"{"a":"\ud800"}"#,
            "cannot be read as JSON: a text has half of a surrogate pair, at line 1, column ",
        ),
        (
            200,
            r#"{"a":"\udc00x"}"#,
            "cannot be read as JSON: a text has half of a surrogate pair, at line 1, column ",
        ),
        (200, "[1e400]", "cannot be read as JSON: a number is too large, at line 1, column "),
        (200, &deep, "cannot be read as JSON: it is nested too deeply, at line 1, column "),
        (200, &many, "cannot be read as JSON: it has too many values, at line 1, column "),
        (206, r#"{"a":"#, "is a part of a longer one: its status is 206."),
        (206, "12", "is a part of a longer one: its status is 206."),
        (206, "a,b\n", "is a part of a longer one: its status is 206."),
    ] {
        let value = responding(large, respond(status, body)).value("Web.Call", json!({}));
        let text = value.as_str().unwrap();
        assert!(text.starts_with(&format!("{body}\n\n[The response {flaw}")), "{text}");
        assert!(text.ends_with(".]"), "{text}");
        let call = HttpCall { select: Some(LIST), ..large };
        let error = responding(call, respond(status, body)).error("Web.Call", json!({}));
        assert_eq!(error.message, "The service's response is not valid");
        let detail = error.developer_message.unwrap_or_default();
        assert!(detail.starts_with(&format!("It {flaw}")), "{detail}");
    }
    for (status, body, expected) in [
        (206, "[1,2]", json!([1, 2])),
        (206, r#"{"a":1}"#, json!({"a": 1})),
        (200, "[an excerpt]", json!("[an excerpt]")),
        (200, "{", json!("{")),
    ] {
        let value = responding(CALL, respond(status, body)).value("Web.Call", json!({}));
        assert_eq!(value, expected, "{status} {body}");
    }
}

/// It may have members that the tool does not return, and not the one that reports a failure.
#[test]
fn a_response_that_is_no_json_is_an_error_if_the_tool_reads_it() {
    const FAILURE: Failure = Failure { path: &["error"], unauthorized: &[] };
    const SELECT: Select = Select {
        segments: &[Segment { descends: false, selectors: &[Selector::Name("id")] }],
        is_singular: true,
    };
    for (what, call) in [
        ("select", HttpCall { select: Some(SELECT), ..CALL }),
        ("fields", HttpCall { fields: &[Kept { name: "id", fields: &[] }], ..CALL }),
        ("decode", HttpCall { decode: &["id"], ..CALL }),
        ("failure", HttpCall { failure: Some(FAILURE), ..CALL }),
    ] {
        for body in ["secret: 1", r#"{"secret":1,"secret":2}"#] {
            let error = responding(call, respond(200, body)).error("Web.Call", json!({}));
            assert_eq!(error.message, "The service's response is not valid", "{what} {body}");
            assert!(!format!("{error:?}").contains("secret"), "{what} {error:?}");
        }
    }
    let paged = HttpCall { pagination: Some(Pagination::Link), ..CALL };
    let value = responding(paged, respond(200, "plain text")).value("Web.Call", json!({}));
    assert_eq!(value, json!({"value": "plain text", "next": null}));
}

#[test]
fn parts_of_values_that_are_kept_and_decoded() {
    const NAME: Kept = Kept { name: "name", fields: &[] };
    const FIELDS: &[Kept] =
        &[Kept { name: "id", fields: &[] }, Kept { name: "user", fields: &[NAME] }];
    let kept = HttpCall { fields: FIELDS, ..CALL };
    let decoded = HttpCall { decode: &["data"], ..CALL };
    for (call, body, expected) in [
        (
            kept,
            json!([{"id": 1, "user": {"name": "Ada", "url": "u"}, "x": 1}, {"user": null}, 7]),
            json!([{"id": 1, "user": {"name": "Ada"}}, {"user": null}, 7]),
        ),
        (
            kept,
            json!({"id": {"a": 1}, "user": [{"name": {"b": 2}}, {}]}),
            json!({"id": {"a": 1}, "user": [{"name": {"b": 2}}, {}]}),
        ),
        (
            decoded,
            json!({"data": "w6k_", "b": [{"data": "w6k/\r\n"}, {"data": "aA=="}], "c": "aA"}),
            json!({"data": "é?", "b": [{"data": "é?"}, {"data": "h"}], "c": "aA"}),
        ),
        (
            decoded,
            json!([{"data": "/w=="}, {"data": "no base64"}, {"data": {"data": "aA"}}]),
            json!([{"data": "/w=="}, {"data": "no base64"}, {"data": {"data": "h"}}]),
        ),
    ] {
        let test = responding(call, respond(200, body.to_string()));
        assert_eq!(test.value("Web.Call", json!({})), expected, "{body}");
    }
}

#[test]
fn failures_with_a_status_of_success() {
    const FAILURE: Failure = Failure { path: &["meta", "error"], unauthorized: &["expired"] };
    let call = HttpCall {
        failure: Some(FAILURE),
        auth: &[HttpAuth::Provider { id: "web", scheme: "Bearer" }],
        ..CALL
    };
    let failed = |prompt: &str| ToolError::new("The service reports a failure").prompt(prompt);
    for (error, expected) in [
        (json!(null), None),
        (json!(false), None),
        (json!([]), None),
        (json!("no_such_channel"), Some(failed("no_such_channel"))),
        (json!([{"message": "a"}]), Some(failed(r#"[{"message":"a"}]"#))),
    ] {
        let body = json!({"meta": {"error": error}});
        match responding(call, respond(200, body.to_string())).call("Web.Call", json!({})) {
            Outcome::Done { value, .. } => assert_eq!((value, expected), (body, None)),
            Outcome::Failed { error: got, .. } => assert_eq!(Some(got), expected, "{error}"),
            outcome => panic!("{outcome:?}"),
        }
    }
    let test = responding(call, respond(200, r#"{"meta":{"error":"expired"}}"#));
    let Outcome::Rejected(rejection) = test.call("Web.Call", json!({})) else { panic!("rejected") };
    assert!(matches!(rejection, Rejection::MissingRequirements { .. }), "{rejection:?}");
}

#[test]
fn a_cut_response_of_a_tool_that_returns_no_text_is_an_error() {
    static LIST: Schema = Schema { keywords: &[Keyword::Any(AnyKeyword::Type(Types(1 << 5)))] };
    let call = HttpCall { max_bytes: 5, ..CALL };
    let test = test_of(Tool { output: &LIST, ..tool(call) }).respond(URL, respond(200, "[1,2,3]"));
    assert_eq!(test.error("Web.Call", json!({})).message, "The service's response is too large");
}

/// The beginning has members that the tool does not return, and may lack the one that reports a failure.
#[test]
fn a_cut_response_that_the_tool_reads_is_an_error() {
    const SELECT: Select = Select {
        segments: &[Segment { descends: false, selectors: &[Selector::Name("id")] }],
        is_singular: true,
    };
    const FAILURE: Failure = Failure { path: &["error"], unauthorized: &[] };
    let cut = HttpCall { max_bytes: 20, ..CALL };
    for (what, call) in [
        ("select", HttpCall { select: Some(SELECT), ..cut }),
        ("fields", HttpCall { fields: &[Kept { name: "id", fields: &[] }], ..cut }),
        ("decode", HttpCall { decode: &["data"], ..cut }),
        ("error", HttpCall { failure: Some(FAILURE), ..cut }),
        ("no value", HttpCall { failure: Some(FAILURE), returns_nothing: true, ..cut }),
        ("pagination", HttpCall { pagination: Some(Pagination::Link), ..cut }),
    ] {
        let test = responding(call, respond(200, r#"{"private":"p4ss","id":1}"#));
        let error = test.error("Web.Call", json!({}));
        assert_eq!(error.message, "The service's response is too large", "{what}");
        assert!(!format!("{error:?}").contains("p4ss"), "{what}");
    }
}

#[test]
fn errors_of_services() {
    let error = |message: &str| ToolError::new(message);
    let status = |status: u16| {
        error(&format!("The service responded with status {status}"))
            .developer_message(format!("The service responded with status {status}."))
    };
    let post = HttpCall { method: "POST", ..CALL };
    const SECRET: &[HttpAuth] =
        &[HttpAuth::Secret { secret: "WEB_KEY", place: SecretPlace::Query("key"), scheme: None }];
    let long = "é".repeat(5_000);
    let large = HttpCall { max_bytes: 20_000, ..CALL };
    for (call, response, expected) in [
        (
            CALL,
            respond(404, r#"{"message":"No such item"}"#),
            status(404).prompt(r#"{"message":"No such item"}"#),
        ),
        (CALL, respond(422, " \n"), status(422)),
        (large, respond(400, &long), status(400).prompt("é".repeat(4_096) + "…")),
        (
            CALL,
            respond(403, "No"),
            status(403).developer_message("The service responded with status 403. No"),
        ),
        (
            CALL,
            respond(302, "https://evil.example"),
            error("The service redirects the request").developer_message(
                "The service responded with status 302. Redirects are not followed.",
            ),
        ),
        (
            CALL,
            respond(304, ""),
            error("Nothing has changed at the service").developer_message(
                "The service responded with status 304. It has nothing newer than what the request names.",
            ),
        ),
        (
            CALL,
            respond(300, "Choose"),
            status(300).developer_message("The service responded with status 300. Choose"),
        ),
        (CALL, respond(500, ""), status(500).retryable()),
        (post, respond(500, ""), status(500)),
        (
            post,
            Ok(HttpResponse::new(503, "").retry_after_ms(9_000)),
            status(503).retry_after_ms(9_000),
        ),
        (CALL, Ok(HttpResponse::new(429, "")), status(429).retryable()),
        (CALL, respond(401, ""), status(401)),
        (CALL, Err(HttpError::Timeout), error("The service did not respond in time").retryable()),
        (post, Err(HttpError::Timeout), error("The service did not respond in time")),
    ] {
        let test = responding(call, response);
        assert_eq!(test.error("Web.Call", json!({"secret": "inp-ut"})), expected);
        assert!(!format!("{:?}", test.log()).contains("inp-ut"), "{:?}", test.log());
    }
    let call = HttpCall { auth: SECRET, ..CALL };
    let test = test(call).respond(&format!("{URL}?key=k3y"), respond(401, "The key k3y is wrong"));
    let got = test.error("Web.Call", json!({}));
    assert_eq!(got.message, "The service rejected the credentials of the server");
    assert!(!format!("{got:?} {:?}", test.log()).contains("k3y"), "{got:?}");
}

#[test]
fn no_error_has_the_credentials() {
    const fn secret(place: SecretPlace) -> [HttpAuth; 1] {
        [HttpAuth::Secret { secret: "WEB_KEY", place, scheme: None }]
    }
    const PLACES: [(&[HttpAuth], &str); 5] = [
        (&secret(SecretPlace::Query("key")), "?key=k%2F3y"),
        (&secret(SecretPlace::Header("x-key")), ""),
        (&secret(SecretPlace::Cookie("sid")), ""),
        (&[HttpAuth::Basic { user: "WEB_USER", password: "WEB_KEY" }], ""),
        (&[HttpAuth::Provider { id: "web", scheme: "Bearer" }], ""),
    ];
    const FAILURE: Failure = Failure { path: &["error"], unauthorized: &[] };
    for (auth, query) in PLACES {
        for (failure, status) in [(None, 400), (None, 403), (Some(FAILURE), 200)] {
            let call = HttpCall { auth, failure, ..CALL };
            let body = r#"{"error":"No: k/3y k%2F3y YWRhOmsvM3k= t0ken"}"#;
            let test = test(call).variable("WEB_KEY", "k/3y");
            let test = test.respond(&format!("{URL}{query}"), respond(status, body));
            let error = format!("{:?} {:?}", test.error("Web.Call", json!({})), test.log());
            let sent: &[&str] = match auth {
                [HttpAuth::Provider { .. }] => &["t0ken"],
                [HttpAuth::Basic { .. }] => &["k/3y", "k%2F3y", "YWRhOmsvM3k="],
                _ => &["k/3y", "k%2F3y"],
            };
            assert!(sent.iter().all(|it| !error.contains(it)), "{status} {error}");
            assert!(error.contains("No: ") && error.contains("[secret]"), "{status} {error}");
        }
    }
}

#[test]
fn a_refused_token_is_requested_again() {
    let auth = [HttpAuth::Provider { id: "web", scheme: "Bearer" }];
    let test =
        responding(HttpCall { auth: Box::leak(Box::new(auth)), ..CALL }, respond(401, "expired"));
    let outcome = test.call("Web.Call", json!({}));
    let Outcome::Rejected(Rejection::MissingRequirements(missing)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(missing.authorization, ["web"]);
}

#[test]
fn reads_are_repeated_once() {
    let busy = |status, ms| Ok(HttpResponse::new(status, "busy").retry_after_ms(ms));
    let retry = HttpCall { retry: true, ..CALL };
    for (call, first, second, expected, requests) in [
        (retry, busy(429, 0), respond(200, "1"), Ok(json!(1)), 2),
        (retry, busy(503, 0), respond(200, "1"), Ok(json!(1)), 2),
        (retry, busy(429, 0), busy(429, 5), Err(Some(5)), 2),
        (retry, busy(429, 10_001), respond(200, "1"), Err(Some(10_001)), 1),
        (retry, busy(500, 0), respond(200, "1"), Err(Some(0)), 1),
        (CALL, busy(429, 0), respond(200, "1"), Err(Some(0)), 1),
    ] {
        let test = test(call).respond(URL, first).respond(URL, second);
        let got = match test.call("Web.Call", json!({})) {
            Outcome::Done { value, .. } => Ok(value),
            Outcome::Failed { error, .. } => Err(error.retry_after_ms),
            outcome => panic!("{outcome:?}"),
        };
        assert_eq!((got, test.requests().len()), (expected, requests));
    }
}

#[test]
fn the_next_page() {
    const fn field(property: &'static str, name: &'static str, read: QueryValue) -> QueryField {
        QueryField { property, name, style: Style::Form, explode: true, read: Some(read) }
    }
    const PAGE: &[QueryField] = &[
        field("page", "p", QueryValue::Number),
        field("after", "a", QueryValue::Text),
        field("all", "all", QueryValue::Boolean),
        QueryField { read: None, ..field("tags", "t", QueryValue::Text) },
    ];
    let cursor = |path| Some(Pagination::Cursor { path, property: "after" });
    let link = Some(Pagination::Link);
    let linked = |link: &str| Ok(HttpResponse::new(200, "[1]").link(link));
    for (pagination, response, expected) in [
        (link, respond(200, "[1]"), json!(null)),
        (link, linked("<https://web.example/items?p=3&token=t>; rel=\"next\""), json!({"page": 3})),
        (
            link,
            linked(
                "<https://a.example/?p=1>; rel=\"prev\", <https://a.example/?a=x%20y&p=z&all=true&t=1#y>; title=\"a\"; rel=next",
            ),
            json!({"after": "x y", "all": true}),
        ),
        (link, linked("<https://a.example/?p=1>; rel=\"prev first\""), json!(null)),
        (link, linked("<https://a.example/?q=1>; rel=next"), json!(null)),
        (link, linked("<<<;;;,=>"), json!(null)),
        (link, linked(&format!("<?a={}>; rel=next", "x".repeat(3_000))), json!(null)),
        (
            cursor(&["meta", "next"]),
            respond(200, r#"{"meta":{"next":"c1"}}"#),
            json!({"after": "c1"}),
        ),
        (cursor(&["next"]), respond(200, r#"{"next":7}"#), json!({"after": 7})),
        (cursor(&["next"]), respond(200, r#"{"next":""}"#), json!(null)),
        (cursor(&["next"]), respond(200, r#"{"next":{}}"#), json!(null)),
        (cursor(&["next"]), respond(200, "[]"), json!(null)),
        (cursor(&["next"]), respond(200, "text"), json!(null)),
    ] {
        let call = HttpCall { pagination, query: PAGE, ..CALL };
        let value = test(call).respond(URL, response.clone()).value("Web.Call", json!({}));
        assert_eq!(value["next"], expected, "{response:?}");
        let keys: Vec<_> = value.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["next", "value"]);
    }
}
