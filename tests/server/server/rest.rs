//! Tests of REST from request to response. `send` and `answer` check the format of every response.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::properties::{any_json, modest};
use super::*;

/// The status, the content type and the JSON body of a response.
fn called(method: &str, path: &str, body: &str) -> (u16, String, Value) {
    let headers: Headers<'_> = if method == "POST" { &[JSON] } else { &[] };
    let answer = answer(CATALOG, &FakeHost::default(), (method, path, headers), Body::from(body));
    let content_type = answer.headers.iter().find(|(name, _)| *name == "content-type");
    let content_type = content_type.map(|(_, value)| value.to_string()).unwrap_or_default();
    (answer.status, content_type, serde_json::from_slice(&answer.body).unwrap())
}

fn problem(status: u16, code: &str, title: &str, detail: &str, more: Value) -> (u16, Value) {
    let mut problem = json!({
        "type": format!("urn:toolbooth:{code}"), "title": title, "status": status, "detail": detail,
    });
    let members = more.as_object().cloned().unwrap_or_default();
    problem.as_object_mut().unwrap().extend(members);
    (status, problem)
}

const INVALID: &str = "Some input parameters are invalid";

#[test]
fn calls() {
    let unknown = |name: &str, detail: &str| {
        problem(404, "tool_not_found", &format!("Tool '{name}' was not found"), detail, Value::Null)
    };
    let failed = problem(
        422,
        "tool_error",
        "The tool failed",
        "It failed",
        json!({"prompt": "try x", "can_retry": true, "retry_after_ms": 5, "developer_message": "why"}),
    );
    let rejected = |message: &str| {
        problem(
            422,
            "invalid_input",
            INVALID,
            &format!("text: {message}"),
            json!({"parameter_errors": {"text": message}}),
        )
    };
    for (tool, body, expected) in [
        ("Echo_Say", r#"{"text":"hi"}"#, (200, json!("hi"))),
        ("Echo_Say__1_0_0", r#"{"text":"hi"}"#, (200, json!("hi"))),
        ("Echo.Say", r#"{"text":"hi"}"#, (200, json!("hi"))),
        ("Echo.Say@1", r#"{"text":"hi"}"#, (200, json!("hi"))),
        ("Echo.Say%401", r#"{"text":"hi"}"#, (200, json!("hi"))),
        ("Echo_Say", r#"{"text":"fail"}"#, failed),
        ("Echo_Say", "{}", rejected("Is required")),
        ("Echo_Say", r#"{"text":1}"#, rejected("Must be a string")),
        (
            "Echo_Say",
            "[]",
            problem(
                422,
                "invalid_input",
                INVALID,
                "input: Must be an object",
                json!({"parameter_errors": {"input": "Must be an object"}}),
            ),
        ),
        (
            "Echo_Sya",
            "{}",
            unknown("Echo_Sya", "Echo_Sya is not a tool of this server; did you mean Echo_Say?"),
        ),
        ("%ff%22", "{}", unknown("\u{fffd}’", "\u{fffd}’ is not a tool of this server")),
        ("Echo.Say@3", "{}", unknown("Echo_Say", "Echo.Say version 3.0.0 is not available")),
        (
            "Echo_Private",
            r#"{"text":"hi"}"#,
            problem(
                403,
                "missing_requirements",
                "Authorization required",
                "the call lacks the token \"mail\", the secret \"KEY\", a user id",
                json!({"authorization": [{"id": "mail", "url": "/auth/help/mail"}]}),
            ),
        ),
        (
            "Echo_Scoped",
            r#"{"text":"hi"}"#,
            problem(
                403,
                "missing_scope",
                "Tool 'Echo_Scoped' may not be called with these credentials",
                "it requires the scopes: echo:a echo:b",
                Value::Null,
            ),
        ),
        (
            "Echo_Say",
            "{",
            problem(
                400,
                "invalid_json",
                "The request body is not valid JSON",
                "EOF while parsing an object at line 1 column 1",
                Value::Null,
            ),
        ),
    ] {
        let (status, content_type, got) = called("POST", &format!("/rest/{tool}"), body);
        assert_eq!((status, got), expected, "{tool} {body}");
        let is_value = status == 200;
        let expected = if is_value { "application/json" } else { "application/problem+json" };
        assert_eq!(content_type, expected, "{tool} {body}");
    }
}

#[test]
fn a_query_is_the_input_of_a_read_only_tool() {
    let invalid = |parameter: &str, message: &str| {
        problem(
            422,
            "invalid_input",
            INVALID,
            &format!("{parameter}: {message}"),
            json!({"parameter_errors": {parameter: message}}),
        )
    };
    let malformed = |detail: &str| {
        problem(400, "invalid_request", "The request is malformed", detail, Value::Null)
    };
    let many: String = (0..=100).map(|number| format!("p{number}=&")).collect();
    for (query, expected) in [
        ("text=hi", (200, json!("hi"))),
        ("text=a%20b&mood=sad", (200, json!("a bsad"))),
        ("text=a+b&times=3", (200, json!("a b"))),
        ("text=1&one=true", (200, json!("1"))),
        ("text=true&one=false", (200, json!("true"))),
        ("text=1&times=3.0", (200, json!("1"))),
        ("", invalid("text", "Is required")),
        ("text=a&times=12", invalid("times", "Must be less than 10")),
        ("text=a&times=x", invalid("times", "Must be an integer")),
        ("text=a&times=+1", invalid("times", "Must be an integer")),
        ("text=a&times=1%0a", invalid("times", "Must be an integer")),
        ("text=a&times=[1]", invalid("times", "Must be an integer")),
        ("text=a&times=", invalid("times", "Must be an integer")),
        ("text=a&moods=sad", invalid("moods", "Is not a known parameter (did you mean \"mood\"?)")),
        ("text=a&text=b", malformed("\"text\" is in the query twice")),
        (&many, malformed("the query has more than 100 parameters")),
    ] {
        let (status, _, got) = called("GET", &format!("/rest/Echo_Say?{query}"), "");
        assert_eq!((status, got), expected, "{query}");
    }
    for (site, status) in
        [("none", 200), ("same-origin", 200), ("same-site", 403), ("cross-site", 403)]
    {
        let request = ("GET", "/rest/Echo_Say?text=hi", &[("sec-fetch-site", site)][..]);
        let answer = answer(CATALOG, &FakeHost::default(), request, Body::from(""));
        assert_eq!(answer.status, status, "{site}");
    }
    let head = send(&FakeHost::default(), ("HEAD", "/rest/Echo_Say?text=hi", &[]), "");
    assert_eq!(head, "200\ncontent-type: application/json\ncache-control: no-store\n");
}

#[test]
fn other_tools_do_not_accept_a_query() {
    let tools: &'static [Tool] =
        vec![Tool { query: None, ..toolbooth::testing::echo::private() }].leak();
    let names: &'static [(&str, usize)] = &[("Echo_Private", 0)];
    let catalog = Box::leak(Box::new(Catalog { tools, names, ..*CATALOG }));
    let request = ("GET", "/rest/Echo_Private?text=hi", &[][..]);
    let answer = answer(catalog, &FakeHost::default(), request, Body::from(""));
    let allow = answer.headers.iter().find(|(name, _)| *name == "allow");
    assert_eq!((answer.status, allow.map(|(_, value)| &**value)), (405, Some("POST, OPTIONS")));
}

#[test]
fn documents_have_the_address_of_the_server() {
    let written = |variables: &[(&'static str, &'static str)], headers: Headers<'_>| {
        let host = FakeHost::with(variables);
        let answer = answer(CATALOG, &host, ("GET", "/llms.txt", headers), Body::from(""));
        String::from_utf8(answer.body.into_owned()).unwrap()
    };
    for (host, expected) in [
        (&[][..], ""),
        (&[("host", "tools.example")], "https://tools.example"),
        (&[("host", "localhost:8787")], "http://localhost:8787"),
        (&[("host", "a\"b")], ""),
        (&[("host", "a/b")], ""),
    ] {
        assert_eq!(written(&[], host), format!("# Toolbooth at {expected}/"), "{host:?}");
        let public = written(&[("PUBLIC_URL", "https://own.example")], host);
        assert_eq!(public, "# Toolbooth at https://own.example/", "{host:?}");
    }
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn any_tool_and_any_input_get_a_valid_response(tool in "[^/?]{1,12}", input in any_json()) {
        let path = format!("/rest/{tool}");
        let answer = send(&FakeHost::default(), ("POST", &path, &[JSON]), &input.to_string());
        prop_assert!(answer.starts_with("404\n"), "{}", answer);
    }
}

/// `OPTIONS` does not name `GET` for tools that write, to callers who may know the tool.
#[test]
fn methods_of_a_tool() {
    const KEYS: &str = r#"[{"name":"a","scopes":["*"],"hash":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}]"#;
    const ALL: &str = "GET, HEAD, POST, OPTIONS";
    let tools = vec![Tool { query: None, ..toolbooth::testing::echo::private() }].leak();
    let names: &'static [(&str, usize)] = &[("Echo_Private", 0)];
    let writes = Box::leak(Box::new(Catalog { tools, names, ..*CATALOG }));
    let key = [("authorization", "Bearer abc")];
    let open = FakeHost::default();
    let closed = FakeHost::with(&[("AUTH", "api-key"), ("API_KEYS", KEYS)]);
    for (catalog, host, headers, tool, allow) in [
        (CATALOG, &open, &[][..], "Echo_Say", ALL),
        (CATALOG, &open, &[], "Nothing", ALL),
        (CATALOG, &closed, &key, "Echo.Say@1", ALL),
        (writes, &closed, &key, "Echo_Private", "POST, OPTIONS"),
        (writes, &closed, &[], "Echo_Private", ALL),
        (writes, &closed, &[("authorization", "Bearer no")], "Echo_Private", ALL),
    ] {
        let request = ("OPTIONS", &*format!("/rest/{tool}"), headers);
        let answer = answer(catalog, host, request, Body::from(""));
        let found = answer.headers.iter().find(|(name, _)| *name == "allow");
        assert_eq!((answer.status, found.map(|(_, value)| &**value)), (204, Some(allow)), "{tool}");
    }
}
