//! Tests of authentication, scopes and rate limits from request to response: 401, 403 and 429, their order
//! among the checks, and lists filtered for the caller.

use proptest::prelude::*;

use super::properties::modest;
use super::*;
use toolbooth::call::RequestContext;
use toolbooth::catalog::{Entry, List, ListBody, Lists, Needs};
use toolbooth::log::CallRecorder;
use toolbooth::principal::{Principal, Scopes};

const KEY: (&str, &str) = ("oxp-api-key", "key-one");
const OPERATOR: (&str, &str) = ("oxp-api-key", "secret");
const KEYS: &str = r#"[
    {"name":"one","scopes":["echo:a"],"hash":"9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a"},
    {"name":"ops","scopes":["*"],"hash":"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"},
    {"name":"two","scopes":["echo:b","echo:a"],"hash":"c8df51469c308a59bfbd48a3e0bdd228ca922d6032035f5ef6e4ad45f473a9f3"}
]"#;
const SCOPED: &str = r#"{"tool_id":"Echo.Scoped","call_id":"7","input":{"text":"hi"}}"#;
const OPEN: &str = "www-authenticate: Bearer realm=\"toolbooth\"";

fn host(more: Headers<'_>) -> FakeHost {
    let variables: Vec<_> =
        [("AUTH", "api-key"), ("API_KEYS", KEYS)].iter().chain(more).copied().collect();
    FakeHost::with(&variables)
}

/// The response for an error with a header that HTTP requires, as text.
fn error_with(status: u16, header: &str, message: &str, detail: &str) -> String {
    let text = error(status, message, detail);
    text.replace("oxp-version: 1.0\n", &format!("{header}\noxp-version: 1.0\n"))
}

#[test]
fn credentials_are_checked_right_after_the_route() {
    let expected = "send an API key: Authorization: Bearer … or X-API-Key";
    let message = "The request needs valid credentials";
    let missing = error_with(401, OPEN, message, expected);
    let why = "the credentials are not valid";
    let header = format!("{OPEN}, error=\"invalid_token\", error_description=\"{why}\"");
    let wrong = error_with(401, &header, message, why);
    let host = host(&[("MAX_BODY_BYTES", "1000")]);
    let invalid = ("authorization", "Bearer unknown");
    for (headers, expected) in [
        (&[JSON][..], &missing),
        (&[], &missing),
        (&[JSON, ("oxp-version", "2.0")], &missing),
        (&[("if-none-match", "*")], &missing),
        (&[JSON, invalid], &wrong),
        (&[invalid, ("oxp-version", "2.0")], &wrong),
        (&[JSON, ("otc-api-key", "")], &wrong),
    ] {
        for path in ["/tools/call", "/oxp/call"] {
            for body in [CALL, SCOPED, "{", ""] {
                assert_eq!(send(&host, ("POST", path, headers), body), *expected, "{headers:?}");
            }
            let large = answer(CATALOG, &host, ("POST", path, headers), UNREAD);
            assert_eq!(wire(&large), *expected, "{headers:?} with a large body");
        }
        assert_eq!(send(&host, ("GET", "/tools", headers), ""), *expected, "{headers:?}");
        let head = send(&host, ("HEAD", "/oxp/tools", headers), "");
        assert_eq!(Some(&*head), expected.split('{').next(), "{headers:?}");
    }
    for (method, path, status) in [
        ("GET", "/health", "200\n"),
        ("GET", "/oxp/health", "200\n"),
        ("GET", "/", "200\n"),
        ("HEAD", "/", "200\n"),
        ("OPTIONS", "/call", "204\n"),
        ("GET", "/nowhere", "404\n"),
        ("GET", "/call", "405\n"),
    ] {
        for headers in [&[][..], &[invalid]] {
            let got = send(&host, (method, path, headers), "");
            assert!(got.starts_with(status), "{method} {path} needs no credentials: {got}");
        }
    }
    let preflight = [ORIGIN, ("access-control-request-method", "POST")];
    let open = FakeHost::with(&[("AUTH", ""), ("ALLOWED_ORIGINS", "*")]);
    assert!(send(&open, ("OPTIONS", "/call", &preflight), "").starts_with("204\n"));
}

#[test]
fn an_unconfigured_server_rejects_callers_and_logs_what_to_set() {
    let host = FakeHost::with(&[("AUTH", "")]);
    let closed = error_with(
        401,
        OPEN,
        "The request needs valid credentials",
        "the server accepts no callers yet; its log names the variables to set",
    );
    for headers in [&[JSON][..], &[JSON, KEY], &[JSON, ("authorization", "Bearer x")]] {
        assert_eq!(send(&host, ("POST", "/call", headers), CALL), closed, "{headers:?}");
        assert_eq!(send(&host, ("GET", "/oxp/tools", headers), ""), closed, "{headers:?}");
    }
    let health = send(&host, ("GET", "/health", &[]), "");
    let body = r#"{"status":"unavailable"}"#;
    assert!(health.starts_with("503\n") && health.ends_with(body), "{health}");
    let problem = "AUTH is not set, so every call is rejected with 401; it can be api-key, jwt, sign-in or none, or several of them separated by commas";
    let logged =
        format!("Error configuration [(\"problem\", \"{problem}\"), (\"affects\", \"calls\")]");
    assert_eq!(host.log.borrow().last(), Some(&logged));
}

#[test]
fn health_details_require_valid_credentials() {
    const WRONG: &str = "MAX_BODY_BYTES must be a whole number of bytes from 1 to 8388608";
    const DOWN: &str = "the KV namespace does not answer";
    let answer = |details: &str| {
        format!(
            "503\ncontent-type: application/json\ncache-control: no-store\noxp-version: 1.0\n\
             {{\"status\":\"unavailable\"{details}}}"
        )
    };
    let problems = |wrong: &str| answer(&format!(r#","problems":["{wrong}","{DOWN}"]"#));
    let short = answer("");
    let (names, full) = (problems("MAX_BODY_BYTES: details are in the log"), problems(WRONG));
    for (auth, headers, expected) in [
        ("api-key", &[][..], &short),
        ("api-key", &[("oxp-api-key", "key-three")], &short),
        ("api-key", &[("authorization", "Bearer key-three")], &short),
        ("api-key", &[KEY], &names),
        ("api-key", &[("otc-api-key", "key-two")], &names),
        ("api-key", &[OPERATOR], &full),
        // Credentials are not checked here, so no caller is authenticated.
        ("none", &[], &short),
        ("none", &[OPERATOR], &short),
        ("none,api-key", &[], &short),
        ("none,api-key", &[KEY], &names),
        ("none,api-key", &[OPERATOR], &full),
        ("", &[OPERATOR], &short),
    ] {
        // Whoever may call without credentials is not the operator.
        let set = [("AUTH", auth), ("MAX_BODY_BYTES", "0"), ("ANONYMOUS_SCOPES", "*")];
        let host = FakeHost { store_works: false, ..host(&set) };
        for path in ["/health", "/oxp/health"] {
            let got = send(&host, ("GET", path, headers), "");
            assert_eq!(got, *expected, "{auth} {headers:?}");
        }
    }
}

#[test]
fn pages_can_read_authentication_errors() {
    let host = host(&[("ALLOWED_ORIGINS", "https://a.example")]);
    let got = send(&host, ("GET", "/tools", &[ORIGIN]), "");
    assert!(got.starts_with("401\n"), "{got}");
    assert!(got.contains("access-control-expose-headers") && got.contains("www-authenticate"));
    assert!(
        got.contains("access-control-allow-origin: https://a.example\nvary: Origin\n"),
        "{got}"
    );
}

#[test]
fn a_missing_scope_rejects_the_call() {
    let scope = format!("{OPEN}, error=\"insufficient_scope\", scope=\"echo:a echo:b\"");
    let rejected = error_with(
        403,
        &scope,
        "Tool 'Echo_Scoped' may not be called with these credentials",
        "it requires the scopes: echo:a echo:b",
    );
    let ran = "200\ncontent-type: application/json\ncache-control: no-store\noxp-version: 1.0\n\
               {\"call_id\":\"7\",\"duration\":1,\"success\":true,\"value\":\"hi\"}";
    let no_input = r#"{"tool_id":"Echo.Scoped@1.0.0","input":7}"#;
    for (auth, headers, body, expected) in [
        ("api-key", &[JSON, KEY][..], SCOPED, &*rejected),
        ("api-key", &[JSON, KEY], no_input, &rejected),
        ("api-key", &[JSON, KEY], CALL, ran),
        ("api-key", &[JSON, ("oxp-api-key", "key-two")], SCOPED, ran),
        ("none", &[JSON], SCOPED, &rejected),
        ("none", &[JSON, ("oxp-api-key", "key-two")], SCOPED, &rejected),
        ("none,api-key", &[JSON], SCOPED, &rejected),
        ("none,api-key", &[JSON], CALL, ran),
        ("none,api-key", &[JSON, ("oxp-api-key", "key-two")], SCOPED, ran),
    ] {
        let got = send(&host(&[("AUTH", auth)]), ("POST", "/call", headers), body);
        assert_eq!(got, expected, "{auth} {headers:?} {body}");
    }
}

const fn entry(tool: usize, start: usize) -> Entry {
    Entry {
        tool,
        needs: Needs::Tool,
        name: "",
        start,
        end: start + 1,
        unsupported: &[],
        warnings: &[],
    }
}

/// The small catalogue, with a list of two tools: 5 is Echo.Say and 6 is Echo.Scoped. No contract
/// allows such tools, so `listed` does not check the response.
static LISTED: Catalog = Catalog {
    lists: &[Lists::all(&[List {
        name: "oxp",
        body: ListBody::Plain(r#"{"items":[5,6]}"#),
        head: 10,
        entries: &[entry(5, 10), entry(6, 12)],
        etag: "\"tag\"",
    }])],
    ..*CATALOG
};

fn listed(host: &FakeHost, headers: Headers<'_>) -> String {
    let headers = &Pairs(headers);
    let request = Request {
        own_origin: None,
        method: Method::Get,
        path: "/tools",
        query: "",
        headers,
        body: UNREAD,
    };
    wire(&ready(Server::new(&LISTED, CAPABILITIES, host).answer(request, host)).head)
}

#[test]
fn lists_show_what_the_caller_may_run() {
    let private = "cache-control: private, no-cache\n\
                   vary: Authorization, OTC-API-Key, OXP-API-Key, X-API-Key, X-Auth-Token\n";
    let shared = "cache-control: no-cache\n";
    for (auth, headers, items, caching) in [
        ("api-key", &[KEY][..], "[5]", private),
        ("api-key", &[("otc-api-key", "key-two")], "[5,6]", private),
        ("none,api-key", &[], "[5]", private),
        ("none,api-key", &[("oxp-api-key", "key-two")], "[5,6]", private),
        ("none", &[], "[5]", shared),
        ("none", &[("oxp-api-key", "key-two")], "[5]", shared),
    ] {
        let host = host(&[("AUTH", auth)]);
        let got = listed(&host, headers);
        assert!(
            got.starts_with("200\n") && got.ends_with(&format!("{{\"items\":{items}}}")),
            "{got}"
        );
        assert!(got.contains(&format!("{caching}oxp-version")), "{auth} {headers:?}: {got}");
        let tag = got.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        let again: Vec<_> = [("if-none-match", tag)].iter().chain(headers).copied().collect();
        let got = listed(&host, &again);
        assert!(got.starts_with("304\n") && got.contains(caching), "{auth} {headers:?}: {got}");
        assert_eq!(tag == "\"tag\"", items == "[5,6]", "the tag depends on the list");
    }
    let pages = host(&[("ALLOWED_ORIGINS", "*")]);
    let got = send(&pages, ("GET", "/tools", &[KEY, ORIGIN]), "");
    let vary = "\nvary: Origin, Authorization, OTC-API-Key, OXP-API-Key, X-API-Key, X-Auth-Token\n";
    assert!(got.contains(vary), "{got}");
}

#[test]
fn each_caller_has_its_own_rate_limit() {
    let limited = |auth, limit| FakeHost { limit: Some(limit), ..host(&[("AUTH", auth)]) };
    let too_many =
        error_with(429, "retry-after: 60", "Too many requests", "try again after 60 seconds");
    let post = |host: &FakeHost, headers: Headers<'_>, body: &str| {
        let headers: Vec<_> = [JSON].iter().chain(headers).copied().collect();
        send(host, ("POST", "/call", &headers), body)
    };
    let server = limited("none,api-key", Ok(2));
    let there = [("cf-connecting-ip", "192.0.2.7")];
    for (headers, status, key) in [
        (&[KEY][..], "200", "key:one"),
        (&[KEY], "200", "key:one"),
        (&[KEY], "429", "key:one"),
        (&[("otc-api-key", "key-two")], "200", "key:two"),
        (&[], "200", "address:"),
        (&there, "200", "address:192.0.2.7"),
        // A customer with IPv6 usually has 2^64 addresses.
        (&[("cf-connecting-ip", "2001:db8::1")], "200", "address:20010db800000000"),
        (&[("cf-connecting-ip", "2001:db8:0:0:ff::")], "200", "address:20010db800000000"),
        (&[("cf-connecting-ip", "2001:DB8::2:1")], "429", "address:20010db800000000"),
        (&[("cf-connecting-ip", "2001:db8:0:1::1")], "200", "address:20010db800000001"),
        (&[("cf-connecting-ip", "1:2:3:4:5:6:7:8")], "200", "address:1000200030004"),
        (&[("cf-connecting-ip", "::1")], "200", "address:0"),
        (&[("cf-connecting-ip", "::ffff:192.0.2.1")], "200", "address:::ffff:192.0.2.1"),
        (&[("cf-connecting-ip", "1:2:3:4:5")], "200", "address:1:2:3:4:5"),
        (&[("cf-connecting-ip", "1:2:3:4:5::6:7:8:9")], "200", "address:1:2:3:4:5::6:7:8:9"),
        (&[KEY], "429", "key:one"),
    ] {
        let got = post(&server, headers, CALL);
        assert!(got.starts_with(status), "{headers:?}: {got}");
        assert!(status != "429" || got == too_many, "{got}");
        assert!(server.taken.borrow().contains_key(key), "{:?}", server.taken.borrow());
    }
    let before = server.taken.borrow().clone();
    post(&server, &[("oxp-api-key", "x")], CALL);
    post(&server, &[("otc-api-key", "key-two")], "{");
    send(&server, ("GET", "/tools", &[KEY]), "");
    send(&server, ("GET", "/health", &[]), "");
    assert_eq!(*server.taken.borrow(), before, "only calls count");

    let down = limited("api-key", Err("overloaded".to_owned()));
    assert!(post(&down, &[KEY], CALL).starts_with("200\n"), "calls are served without the counter");
    let log = down.log.borrow();
    assert_eq!(log.last().unwrap(), "Error rate_limit [(\"problem\", \"overloaded\")]");
}

#[test]
fn what_limits_count_by() {
    let ada = Principal::user_of("i", "ada", Scopes::NONE);
    let mut nobody = ada.clone();
    let Principal::User { subject, .. } = &mut nobody else { panic!("it is a user") };
    *subject = None;
    let host = FakeHost::default();
    let server = Server::new(CATALOG, CAPABILITIES, &host);
    for (principal, address, expected) in [
        (&Principal::ANONYMOUS, "192.0.2.7", "address:192.0.2.7"),
        (&ada, "192.0.2.7", "user:i:ada"),
        (&ada, "192.0.2.8", "user:i:ada"),
        // Nothing else tells the holders of such tokens apart.
        (&nobody, "192.0.2.7", "token:i:192.0.2.7"),
        (&nobody, "2001:db8::1", "token:i:20010db800000000"),
    ] {
        let context = RequestContext {
            query: "",
            parameter: "",
            headers: &Pairs(&[("cf-connecting-ip", address)]),
            principal,
            pipeline: &server.state().pipeline,
            host: &host,
            calls: &CallRecorder::default(),
            only: None,
            shows_protected: false,
            listener: None,
        };
        assert_eq!(context.limiter_key(), expected);
    }
}

#[test]
fn each_call_of_a_request_counts_against_the_limit() {
    let host = FakeHost { limit: Some(Ok(5)), ..FakeHost::default() };
    let server = Server::new(CATALOG, CAPABILITIES, &host);
    for (calls, within) in [(0, true), (3, true), (2, true), (1, false)] {
        let context = RequestContext {
            query: "",
            parameter: "",
            headers: &Pairs(&[]),
            principal: &Principal::ANONYMOUS,
            pipeline: &server.state().pipeline,
            host: &host,
            calls: &CallRecorder::default(),
            only: None,
            shows_protected: false,
            listener: None,
        };
        let rejected = || Err(Rejection::NOT_FOUND);
        let counted = ready(context.call_all((0..calls).map(|_| rejected()).collect())).map(drop);
        let limit = Err(Rejection::TooManyRequests { retry_after: 60 });
        assert_eq!(counted, if within { Ok(()) } else { limit }, "{calls} more");
    }
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn made_up_credentials_are_rejected(
        header in prop::sample::select(vec!["authorization", "oxp-api-key", "otc-api-key"]),
        scheme in prop::sample::select(vec!["Bearer ", "bearer  ", "Basic ", ""]),
        value in prop_oneof![
            any::<String>(),
            "[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{0,40}",
            "eyJhbGciOiJIUzI1NiJ9\\.[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{43}",
            "eyJhbGciOiJSUzI1NiJ9\\.e30\\.[A-Za-z0-9_-]{0,80}",
        ],
    ) {
        let host = host(&[
            ("AUTH", "api-key,jwt"),
            ("JWT_SECRET", "0123456789abcdef0123456789abcdef"),
            ("JWKS_URL", "https://issuer.example/keys"),
            ("JWT_ISSUER", "https://issuer.example"),
            ("JWT_AUDIENCE", "us"),
        ]);
        let sent = format!("{scheme}{value}");
        let got = send(&host, ("POST", "/call", &[JSON, (header, &sent)]), CALL);
        let unavailable = "the keys that verify tokens cannot be fetched";
        prop_assert!(got.starts_with("401\n") || got.contains(unavailable), "{}", got);
        let hidden = value.len() < 8 || !got.contains(&value) && !host.printed().contains(&value);
        prop_assert!(hidden, "it repeats the credentials: {}", got);
    }
}
