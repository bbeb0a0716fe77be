//! A tool that needs the user's authorization: the same challenge for each kind of client.

use serde_json::{Value, json};
use toolbooth::testing::FakeHost;
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::mcp::{self, code, headers, legacy, modern};

use crate::CAPABILITIES;

/// The application that calls, by its key.
pub(crate) const KEY: (&str, &str) = ("oxp-api-key", "calendar-key");

/// A server whose tools may ask for authorization at `mail`.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("AUTH", "api-key"),
    (
        "API_KEYS",
        r#"[{"name":"Calendar","scopes":[],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#,
    ),
    ("OAUTH_PROVIDERS", "mail"),
    ("PUBLIC_URL", "https://tools.example"),
    ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
    ("GRANT_KEYS", "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
    ("OAUTH_MAIL_CLIENT_ID", "booth"),
    ("OAUTH_MAIL_CLIENT_SECRET", "s&cret"),
    ("OAUTH_MAIL_TITLE", "<Mail>"),
    ("OAUTH_MAIL_AUTHORIZE_URL", "https://mail.example/authorize?v=1"),
    ("OAUTH_MAIL_TOKEN_URL", "https://mail.example/token"),
    ("OAUTH_MAIL_SCOPES", "offline"),
];

const CAPABLE: &str = "io.modelcontextprotocol/clientCapabilities";

fn host() -> FakeHost {
    FakeHost::with(VARIABLES)
}

/// Arguments and context of a call that lacks an authorization and nothing else.
fn params() -> Value {
    json!({
        "name": "Echo_Private", "arguments": {"text": "token"},
        "_meta": {"toolbooth/context": {"user_id": "ada", "secrets": [{"id": "KEY", "value": "k"}]}}
    })
}

fn capable(capabilities: Value) -> Value {
    let mut params = params();
    params["_meta"][CAPABLE] = capabilities;
    params
}

/// The answer to a modern call with the key of the application.
fn call(host: &FakeHost, params: Value) -> (u16, Value) {
    let body = modern("tools/call", params);
    let headers: Vec<_> = headers(&body).into_iter().chain([KEY]).collect();
    send(host, ("/mcp", &headers), &body)
}

fn is_start_url(url: &Value) -> bool {
    url.as_str().is_some_and(|url| url.starts_with("https://tools.example/auth/start?c="))
}

#[test]
fn mc40_a_modern_client_that_opens_urls_is_asked_for_input() {
    let url = json!({"elicitation": {"url": {}}});
    let host = host();
    let (status, first) = call(&host, capable(url.clone()));
    let result = &first["result"];
    assert_eq!((status, &result["resultType"]), (200, &json!("input_required")), "{first}");
    let asked = &result["inputRequests"]["mail"];
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["mode"], "url");
    assert_eq!(asked["params"]["message"], "Authorization is required to access <Mail>");
    assert!(is_start_url(&asked["params"]["url"]));
    let state = result["requestState"].as_str().unwrap();

    let again = |changes: &[(&str, Value)]| {
        let mut params = capable(url.clone());
        params["requestState"] = json!(state);
        params["inputResponses"] = json!({"mail": {"action": "accept"}});
        for (name, value) in changes {
            params[name] = value.clone();
        }
        call(&host, params)
    };
    let responses =
        |action: &str| json!({"mail": {"action": action}, "other": {"action": "accept"}});
    for (what, changes, expected) in [
        ("consent alone", vec![], "input_required"),
        ("no responses", vec![("inputResponses", json!({}))], "input_required"),
        ("invalid responses", vec![("inputResponses", json!([1]))], "input_required"),
        (
            "of another provider",
            vec![("inputResponses", json!({"x": {"action": "decline"}}))],
            "input_required",
        ),
        ("declined", vec![("inputResponses", responses("decline"))], "isError"),
        ("cancelled", vec![("inputResponses", responses("cancel"))], "isError"),
        ("changed state", vec![("requestState", json!(format!("{state}a")))], "error"),
        ("not a string", vec![("requestState", json!(1))], "error"),
        ("a state that we did not issue", vec![("requestState", json!("a.b"))], "error"),
        ("of another call", vec![("arguments", json!({"text": "user"}))], "error"),
        ("of another tool", vec![("name", json!("Echo_Private__1_0_0"))], "error"),
    ] {
        let answer = again(&changes);
        let result = &answer.1["result"];
        let got = match code(&answer) {
            (200, -32602) => "error",
            (200, 0) if result["isError"] == true => "isError",
            (200, 0) => result["resultType"].as_str().unwrap(),
            other => panic!("{what}: {other:?}"),
        };
        assert_eq!(got, expected, "{what}: {answer:?}");
    }
    let mut of_another = capable(url.clone());
    of_another["requestState"] = json!(state);
    of_another["_meta"]["toolbooth/context"]["user_id"] = json!("bob");
    assert_eq!(code(&call(&host, of_another)), (200, -32602), "another user's");
    host.now_ms.set(host.now_ms.get() + 15 * 60 * 1000);
    let (_, late) = again(&[]);
    assert_eq!(
        late["error"]["message"],
        "requestState has expired; send the request again without it"
    );
}

#[test]
fn mc41_an_error_for_clients_of_2025_11_25_whose_url_asks_for_it() {
    let legacy_call = legacy("tools/call", params());
    const VERSION: (&str, &str) = ("mcp-protocol-version", "2025-11-25");
    const BEFORE: (&str, &str) = ("mcp-protocol-version", "2025-06-18");
    for (path, version, expected) in [
        ("/mcp?elicitation=url", &[VERSION, KEY][..], -32042),
        ("/mcp?elicitation=url", &[BEFORE, KEY], 0),
        ("/mcp?elicitation=url", &[KEY], 0),
        ("/mcp?elicitation=form", &[VERSION, KEY], 0),
        ("/mcp", &[VERSION, KEY], 0),
    ] {
        let answer = send(&host(), (path, version), &legacy_call);
        assert_eq!(code(&answer), (200, expected), "{path} {version:?}");
        if expected != 0 {
            let elicitation = &answer.1["error"]["data"]["elicitations"][0];
            assert_eq!(elicitation["mode"], "url");
            assert!(is_start_url(&elicitation["url"]) && elicitation["elicitationId"].is_string());
        }
    }
    let body = modern("tools/call", params());
    let headers: Vec<_> = headers(&body).into_iter().chain([KEY]).collect();
    let answer = send(&host(), ("/mcp?elicitation=url", &headers), &body);
    assert_eq!(code(&answer), (200, 0), "2026-07-28 has no such error");
}

#[test]
fn mc42_text_for_every_other_client() {
    for capabilities in [
        json!({}),
        json!({"elicitation": {}}),
        json!({"elicitation": {"form": {}}}),
        json!({"sampling": {}}),
    ] {
        let (status, answer) = call(&host(), capable(capabilities.clone()));
        let result = &answer["result"];
        assert_eq!((status, &result["isError"]), (200, &json!(true)), "{capabilities}");
        assert!(result.get("structuredContent").is_none());
        let text = result["content"][0]["text"].as_str().unwrap();
        let begin = "Authorization is required to access <Mail>. Ask the user to open this link, then call the tool again: https://tools.example/auth/start?c=";
        assert!(text.starts_with(begin) && !text.contains('\n'), "{text}");
        assert_eq!(result["content"].as_array().unwrap().len(), 1);
        let challenge = &result["_meta"]["toolbooth/authorization"][0];
        assert!(is_start_url(&challenge["url"]) && challenge["check_url"].is_string(), "{result}");
        assert!(text.ends_with(challenge["url"].as_str().unwrap()));
    }
}

#[test]
fn mc43_users_are_only_asked_if_their_consent_is_enough() {
    // The secret is missing too, so consent would not help.
    let mut params = capable(json!({"elicitation": {"url": {}}}));
    params["_meta"]["toolbooth/context"] = json!({"user_id": "ada"});
    let (_, answer) = call(&host(), params);
    assert_eq!(answer["result"]["isError"], true);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("The tool requires the secret \"KEY\". "), "{text}");
    // Without a user id, there is no user to ask.
    let mut params = capable(json!({"elicitation": {"url": {}}}));
    params["_meta"]["toolbooth/context"] = json!({"secrets": [{"id": "KEY", "value": "k"}]});
    let (_, answer) = call(&host(), params.clone());
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    assert!(answer["result"].get("inputRequests").is_none(), "{answer}");
    params["requestState"] = json!("a.b");
    let answer = call(&host(), params);
    assert_eq!(code(&answer), (200, -32602), "a state without a user");
}

/// The status and the body of the response to a message.
fn send(host: &FakeHost, to: (&str, &[(&str, &str)]), body: &Value) -> (u16, Value) {
    mcp::read(mcp::post((CATALOG, CAPABILITIES), host, to, body))
}
