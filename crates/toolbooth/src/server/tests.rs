//! Tests of the server from request to response, with the small catalogue of `call::tests`.

mod access;
mod body;
mod callers;
mod corpus;
mod entries;
mod envelope;
pub(crate) mod exchange;
mod ids;
mod log;
mod mcp;
mod parsers;
pub(crate) mod properties;
mod protocols;
mod provider_calls;
mod provider_lists;
mod rest;
mod rpc;
mod xaibo;

use super::*;
use crate::call::tests::CATALOG;
use crate::catalog::Tool;
use crate::host::BoxFuture;
#[cfg(feature = "sign-in")]
use crate::host::SIGN_IN_LIMITER;
use crate::http::tests::{Pairs, wire};
use crate::http::{BodyError, BodyStream};
use crate::testing::{FakeHost, ready};
use crate::tool::Variable;

type Headers<'a> = &'a [(&'a str, &'a str)];

const JSON: (&str, &str) = ("content-type", "application/json");
const ORIGIN: (&str, &str) = ("origin", "https://a.example");
/// The body of a valid call.
const CALL: &str = r#"{"tool_id":"Echo.Say","call_id":"7","input":{"text":"hi"}}"#;

/// A body that must not be read.
const UNREAD: Body<'static> = Body::Unread(&Untouched);

struct Untouched;

impl BodyStream for Untouched {
    fn read(&self, _: usize) -> BoxFuture<'_, Result<Vec<u8>, BodyError>> {
        panic!("read a body that must not be read")
    }

    fn start(&self, _: usize) -> BoxFuture<'_, Vec<u8>> {
        panic!("read a body that must not be read")
    }
}

/// A body as a client sends it.
struct Sent {
    bytes: Result<Vec<u8>, BodyError>,
}

impl Sent {
    fn of(bytes: Vec<u8>) -> Self {
        Self { bytes: Ok(bytes) }
    }

    /// The body: read already, or a stream.
    fn body(&self, stream: bool) -> Body<'_> {
        match &self.bytes {
            Ok(bytes) if !stream => Body::Read(bytes.clone()),
            _ => Body::Unread(self),
        }
    }
}

impl BodyStream for Sent {
    fn read(&self, limit: usize) -> BoxFuture<'_, Result<Vec<u8>, BodyError>> {
        let fits = |bytes: &Vec<u8>| bytes.len() <= limit;
        let read = self.bytes.clone();
        let read = read.and_then(|bytes| fits(&bytes).then_some(bytes).ok_or(BodyError::TooLarge));
        Box::pin(std::future::ready(read))
    }

    fn start(&self, limit: usize) -> BoxFuture<'_, Vec<u8>> {
        let mut bytes = self.bytes.clone().unwrap_or_default();
        bytes.truncate(limit);
        Box::pin(std::future::ready(bytes))
    }
}

/// The response of a new server, after a check of its format.
fn answer(
    catalog: &'static Catalog,
    host: &dyn Host,
    (method, path, headers): (&str, &str, Headers<'_>),
    body: Body<'_>,
) -> Response {
    let server = Server::new(catalog, host);
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let request = Request {
        own_origin: None,
        method: method.into(),
        path,
        query,
        headers: &Pairs(headers),
        body,
    };
    let response = ready(server.answer(request, host)).head;
    let headers: Vec<_> = response.headers.iter().map(|(name, value)| (*name, &**value)).collect();
    let (status, body) = (response.status, &response.body);
    let format =
        exchange::check(&exchange::Answer { method, path, status, headers: &headers, body });
    assert_eq!(format, Ok(()), "{method} {path} {headers:?}: {}", wire(&response));
    response
}

fn send(host: &dyn Host, request: (&str, &str, Headers<'_>), body: &str) -> String {
    wire(&answer(CATALOG, host, request, Body::from(body)))
}

/// The response for an error, as text.
fn error(status: u16, message: &str, detail: &str) -> String {
    format!(
        "{status}\ncontent-type: application/json\ncache-control: no-store\noxp-version: 1.0\n\
         {{\"message\":\"{message}\",\"developer_message\":\"{detail}\"}}"
    )
}

#[test]
fn the_list_and_its_entity_tag() {
    let whole = "200\ncontent-type: application/json\netag: \"tag\"\ncache-control: no-cache\n\
                 oxp-version: 1.0\n";
    let unchanged = "304\netag: \"tag\"\ncache-control: no-cache\noxp-version: 1.0\n";
    let full = format!("{whole}{{\"items\":[]}}");
    let version =
        error(400, "This protocol version is not supported", "OXP-Version must be 1.0 or absent");
    let host = FakeHost::default();
    for (method, path, headers, expected) in [
        ("GET", "/tools", &[][..], &*full),
        ("GET", "/oxp/tools", &[], &full),
        ("HEAD", "/tools", &[], whole),
        ("GET", "/tools", &[("if-none-match", "\"tag\"")], unchanged),
        ("GET", "/tools", &[("if-none-match", "W/\"tag\"")], unchanged),
        ("GET", "/oxp/tools", &[("if-none-match", "\"old\", \"tag\"")], unchanged),
        ("GET", "/tools", &[("if-none-match", "*")], unchanged),
        ("HEAD", "/tools", &[("if-none-match", "\"tag\"")], unchanged),
        ("GET", "/tools", &[("if-none-match", "\"old\"")], &full),
        ("GET", "/tools", &[("if-none-match", "tag")], &full),
        ("GET", "/tools", &[("if-none-match", "")], &full),
        ("GET", "/tools", &[("oxp-version", "1.0"), ("authorization", "Bearer x")], &full),
        ("GET", "/tools", &[("oxp-version", "2.0")], &version),
        ("GET", "/tools", &[("oxp-version", "2.0"), ("if-none-match", "*")], &version),
    ] {
        // Some clients send a body with GET; it is ignored.
        for body in ["", "{}", "\u{0}"] {
            assert_eq!(
                send(&host, (method, path, headers), body),
                expected,
                "{method} {headers:?}"
            );
        }
        let large = answer(CATALOG, &host, (method, path, headers), UNREAD);
        assert_eq!(wire(&large), expected, "{method} {headers:?} with a large body");
    }
}

#[test]
fn health() {
    let answer = |status: u16, body: &str| {
        format!(
            "{status}\ncontent-type: application/json\ncache-control: no-store\noxp-version: 1.0\n{body}"
        )
    };
    let failing = || FakeHost { store_works: false, ..FakeHost::default() };
    let wrong = || FakeHost::with(&[("MAX_BODY_BYTES", "0"), ("ALLOWED_ORIGINS", "a.example")]);
    let unavailable = r#"{"status":"unavailable"}"#;
    for (what, host, method, headers, expected) in [
        ("ready", FakeHost::default(), "GET", &[][..], answer(200, r#"{"status":"OK"}"#)),
        ("HEAD", FakeHost::default(), "HEAD", &[], answer(200, "")),
        (
            "any credentials",
            FakeHost::default(),
            "GET",
            &[("authorization", "Bearer x")],
            answer(200, r#"{"status":"OK"}"#),
        ),
        (
            "another version",
            FakeHost::default(),
            "GET",
            &[("oxp-version", "9")],
            error(
                400,
                "This protocol version is not supported",
                "OXP-Version must be 1.0 or absent",
            ),
        ),
        ("store", failing(), "GET", &[], answer(503, unavailable)),
        ("store, without body", failing(), "HEAD", &[], answer(503, "")),
        ("configuration", wrong(), "GET", &[], answer(503, unavailable)),
        ("both", FakeHost { store_works: false, ..wrong() }, "GET", &[], answer(503, unavailable)),
    ] {
        for path in ["/health", "/oxp/health"] {
            assert_eq!(send(&host, (method, path, headers), ""), expected, "{what}");
        }
    }
}

#[test]
fn tools_whose_provider_is_not_configured_are_reported() {
    const WARNING: &str = "OAUTH_PROVIDERS does not include \"mail\", which Echo_Private requires: users cannot \
                           grant access, so clients must send tokens";
    let logged = format!("Warn configuration [(\"warning\", {WARNING:?})]");
    let key = [("authorization", "Bearer secret")];
    let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let keys = format!(r#"[{{"name":"ops","scopes":[],"hash":"{hash}"}}]"#);
    let keys = [("AUTH", "api-key"), ("API_KEYS", &keys)];
    let without = [keys[0], keys[1], ("TOOL_ALLOWLIST", "Echo.Say")];
    #[cfg(feature = "sign-in")]
    let for_sign_in = [
        ("AUTH", "sign-in, api-key"),
        keys[1],
        ("PUBLIC_URL", "https://tools.example"),
        ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
        ("OAUTH_PROVIDERS", "mail"),
        ("OAUTH_MAIL_CLIENT_ID", "c1"),
        ("OAUTH_MAIL_ISSUER", "https://mail.example"),
    ];
    #[cfg(feature = "sign-in")]
    let no_keys = WARNING.replace(
        "OAUTH_PROVIDERS does not include",
        "GRANT_KEYS is not set, so people can only sign in at",
    );
    for (variables, headers, expected) in [
        (&keys[..], &key[..], Some(WARNING)),
        (&keys, &[], None),
        (&without, &key, None),
        #[cfg(feature = "sign-in")]
        (&for_sign_in, &key, Some(&no_keys)),
    ] {
        let host = FakeHost::with(variables);
        let got = answer(CATALOG, &host, ("GET", "/health", headers), Body::from(""));
        let body: serde_json::Value = serde_json::from_slice(&got.body).unwrap();
        assert_eq!((got.status, &body["status"]), (200, &"OK".into()), "{variables:?}");
        assert_eq!(body["warnings"][0].as_str(), expected, "{variables:?} {headers:?}");
        let log = host.log.borrow();
        assert_eq!(log.contains(&logged), variables.len() == 2, "{log:?}");
    }
}

#[cfg(feature = "sign-in")]
#[test]
fn a_limit_of_calls_alone_is_reported_where_people_sign_in() {
    const WARNING: &str = "RATE_LIMIT is bound and SIGN_IN_LIMITER is not: requests to sign-in and authorization are not limited";
    let sign_in = [
        ("AUTH", "sign-in"),
        ("PUBLIC_URL", "http://localhost:8787"),
        ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
        ("DEVELOPMENT", "true"),
    ];
    for (variables, calls, visits, expected) in [
        (&sign_in[..], true, false, true),
        (&sign_in, true, true, false),
        (&sign_in, false, false, false),
        (&[("AUTH", "none")], true, false, false),
    ] {
        let mut host = FakeHost::with(variables);
        host.limit = calls.then_some(Ok(9));
        host.limits.extend(visits.then_some((SIGN_IN_LIMITER, Ok(9))));
        let server = Server::new(CATALOG, &host);
        let warned = server.warnings.iter().any(|warning| warning == WARNING);
        assert_eq!(warned, expected, "{variables:?} {calls} {visits}: {:?}", server.warnings);
    }
}

#[test]
fn server_problems_are_logged() {
    let host = FakeHost { store_works: false, ..FakeHost::with(&[("MAX_BODY_BYTES", "0")]) };
    let server = Server::new(CATALOG, &host);
    let configuration = "Error configuration [(\"problem\", \"MAX_BODY_BYTES must be a whole number of bytes from 1 to 8388608\")]";
    assert_eq!(*host.log.borrow(), [configuration], "once, when the server is created");
    for path in ["/health", "/tools", "/health"] {
        let body = Body::from("");
        ready(server.answer(
            Request {
                own_origin: None,
                method: Method::Get,
                path,
                query: "",
                headers: &Pairs(&[]),
                body,
            },
            &host,
        ));
    }
    let store = "Error store [(\"problem\", \"down\")]";
    assert_eq!(
        *host.log.borrow(),
        [configuration, store, store],
        "and the store at each health check"
    );
}

#[test]
fn a_missing_secret_disables_only_the_tools_that_read_it() {
    const VARIABLES: &[Variable] = &[Variable::secret("MAIL_KEY")];
    let say = |tool: &Tool| Tool { version: tool.version.clone(), ..*tool };
    let mut tools: Vec<_> = CATALOG.tools.iter().map(say).collect();
    for tool in tools.iter_mut().filter(|tool| tool.tool == "Say" && tool.version.major == 1) {
        tool.variables = &["MAIL_KEY"];
    }
    let catalog: &'static Catalog =
        Box::leak(Box::new(Catalog { tools: tools.leak(), variables: VARIABLES, ..*CATALOG }));
    for (variables, status) in [(&[][..], 400), (&[("MAIL_KEY", "k")], 200)] {
        let host = FakeHost::with(variables);
        let server = Server::new(catalog, &host);
        let problem = "MAIL_KEY is not set; it disables Echo.Say@1.0.0, Echo.Say@1.10.0";
        let expected = format!("Error configuration [(\"problem\", \"{problem}\")]");
        let expected = if status == 400 { vec![expected] } else { vec![] };
        let mut log = host.log.take();
        log.retain(|line| line.starts_with("Error"));
        assert_eq!(log, expected);
        let send = |method, path, body: &str| {
            let headers = &Pairs(&[JSON]);
            let body = Body::from(body);
            let request = Request { own_origin: None, method, path, query: "", headers, body };
            ready(server.answer(request, &host))
        };
        let call = |id: &str| {
            let body = format!("{{\"tool_id\":\"{id}\",\"input\":{{\"text\":\"hi\"}}}}");
            send(Method::Post, "/call", &body)
        };
        let disabled = call("Echo.Say@1.0.0");
        let text = String::from_utf8_lossy(&disabled.head.body).into_owned();
        assert_eq!(disabled.head.status, status, "{text}");
        assert_eq!(text.contains("Tool 'Echo_Say' is not configured"), status == 400, "{text}");
        assert_eq!(call("Echo.Say@2.0.0").head.status, 200);
        assert_eq!(send(Method::Get, "/health", "").head.status, 200, "other tools are served");
    }
}

#[test]
fn unknown_paths_and_methods() {
    let not_found = |hint| error(404, "There is nothing at this address", hint);
    let below_oxp = not_found(
        "GET / lists the endpoints; here they are GET /oxp/health, GET /oxp/tools, POST /oxp/tools/call, \
         POST /oxp/call",
    );
    let not_found = not_found(
        "GET / lists the endpoints, GET /tools the tools; POST /call runs a tool. Other protocols are at /otc, /oxp/1.0, /oxp, /xaibo, /rest, /langchain, /opentool, \
         /jsonrpc, /mcp, /providers/openai-responses, /providers/openai, /providers/anthropic, \
         /providers/gemini, /providers, /2api/v1, /v1",
    );
    let not_allowed = |allow: &str| {
        format!(
            "405\ncontent-type: application/json\ncache-control: no-store\nallow: {allow}\n\
             oxp-version: 1.0\n{{\"message\":\"This address does not accept this method\",\
             \"developer_message\":\"it accepts {allow}\"}}"
        )
    };
    let (read, call) = (not_allowed("GET, HEAD, OPTIONS"), not_allowed("POST, OPTIONS"));
    let host = FakeHost::default();
    for (method, path, expected) in [
        ("GET", "", &not_found),
        ("POST", "/tools/call/", &not_found),
        ("POST", "/oxp", &below_oxp),
        ("GET", "/oxp/tool", &below_oxp),
        ("DELETE", "/nowhere", &not_found),
        ("OPTIONS", "/nowhere", &not_found),
        ("OPTIONS", "*", &not_found),
        ("POST", "/tools", &read),
        ("POST", "/health", &read),
        ("DELETE", "/oxp/tools", &read),
        ("get", "/tools", &read),
        ("GET", "/tools/call", &call),
        ("PUT", "/call", &call),
        ("TRACE", "/oxp/call", &call),
        ("", "/call", &call),
    ] {
        assert_eq!(send(&host, (method, path, &[JSON]), CALL), *expected, "{method} {path}");
    }
    let head = |path| send(&host, ("HEAD", path, &[]), "");
    assert_eq!(Some(&*head("/nowhere")), not_found.split('{').next(), "without the body");
    assert_eq!(Some(&*head("/call")), call.split('{').next(), "without the body");
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

#[test]
fn an_invalid_configuration_rejects_calls_but_not_lists() {
    let host =
        FakeHost::with(&[("MAX_BODY_BYTES", "lots"), ("ALLOWED_ORIGINS", "https://a.example")]);
    let unavailable = error(
        400,
        "The tool server is temporarily unavailable",
        "its configuration is invalid; its log has the details",
    );
    for body in [CALL, r#"{"tool_id":"Echo.Private"}"#, r#"{"tool_id":"?"}"#] {
        let got = send(&host, ("POST", "/call", &[JSON]), body);
        assert_eq!(got.replace("vary: Origin\n", ""), unavailable, "{body}");
    }
    let list = send(&host, ("GET", "/tools", &[ORIGIN]), "");
    assert!(list.starts_with("200\n") && list.ends_with("{\"items\":[]}"), "{list}");
    assert!(list.contains("access-control-allow-origin: https://a.example\n"), "{list}");
    assert!(send(&host, ("GET", "/tools", &[("if-none-match", "*")]), "").starts_with("304\n"));
    assert!(send(&host, ("GET", "/health", &[]), "").starts_with("503\n"));
}

#[test]
fn calls() {
    let host = FakeHost::default();
    let json = "content-type: application/json\ncache-control: no-store\noxp-version: 1.0\n";
    let generated_id = "00010203-0405-4607-8809-0a0b0c0d0e0f";
    for (body, status, expected) in [
        (CALL, 200, r#"{"call_id":"7","duration":1,"success":true,"value":"hi"}"#.to_owned()),
        (
            r#"{"tool_id":"Echo.Say","input":{"text":"hi"}}"#,
            200,
            format!(r#"{{"call_id":"{generated_id}","duration":1,"success":true,"value":"hi"}}"#),
        ),
        (
            r#"{"tool_id":"Echo.Say@1","call_id":"","input":{"text":"fail"}}"#,
            200,
            r#"{"call_id":"","duration":1,"success":false,"error":{"message":"It failed","developer_message":"why","can_retry":true,"additional_prompt_content":"try x","retry_after_ms":5}}"#.to_owned(),
        ),
        (
            r#"{"tool_id":"Echo.Say","call_id":"7","input":{"text":"long"}}"#,
            200,
            r#"{"call_id":"7","duration":1,"success":false,"error":{"message":"The tool failed","developer_message":"Echo.Say@2.0.0: its output does not match output_schema","can_retry":false}}"#.to_owned(),
        ),
        (
            r#"{"tool_id":"Echo.Say"}"#,
            422,
            r#"{"message":"Some input parameters are invalid","parameter_errors":{"text":"Is required"}}"#.to_owned(),
        ),
        (
            r#"{"tool_id":"Echo.Say","input":null}"#,
            422,
            r#"{"message":"Some input parameters are invalid","parameter_errors":{"input":"Must be an object"}}"#.to_owned(),
        ),
        (
            r#"{"tool_id":"Echo.Say@1.1.0","input":{"text":1}}"#,
            400,
            r#"{"message":"Tool 'Echo_Say' was not found","developer_message":"Echo.Say version 1.1.0 is not available"}"#.to_owned(),
        ),
        (
            r#"{"tool_id":"Echo.Private","input":{"text":"token"},"context":{"user_id":"u","authorization":[{"id":"mail","token":"t"}],"secrets":[{"id":"KEY","value":"k"}]}}"#,
            200,
            format!(r#"{{"call_id":"{generated_id}","duration":1,"success":true,"value":"t"}}"#),
        ),
        (
            r#"{"tool_id":"Echo.Private","input":{"text":"a"},"context":{"user_id":"u","authorization":[{"id":"mail","token":""}],"secrets":[{"id":"KEY","value":""}]}}"#,
            400,
            r#"{"message":"Authorization required","developer_message":"the call lacks context.authorization with id \"mail\", context.secrets with id \"KEY\"","missing_requirements":{"authorization":[{"id":"mail","url":"/auth/help/mail"}],"secrets":["KEY"]}}"#.to_owned(),
        ),
        (
            r#"{"tool_id":"Echo.Private","input":{},"context":{"authorization":[{"id":"mail","token":"t"}]}}"#,
            400,
            r#"{"message":"A user id is required","developer_message":"the call lacks context.secrets with id \"KEY\", context.user_id","missing_requirements":{"user_id":true,"secrets":["KEY"]}}"#.to_owned(),
        ),
    ] {
        for path in ["/tools/call", "/call", "/oxp/tools/call", "/oxp/call"] {
            host.next_random.set(0);
            let got = send(&host, ("POST", path, &[JSON]), body);
            assert_eq!(got, format!("{status}\n{json}{expected}"), "{path} {body}");
        }
    }
}

#[test]
fn without_randomness_no_call_id_is_generated() {
    let host = FakeHost { random_works: false, ..FakeHost::default() };
    let expected =
        error(400, "The tool server is temporarily unavailable", "it has no random bytes");
    let body = r#"{"tool_id":"Echo.Say","input":{"text":"hi"}}"#;
    assert_eq!(send(&host, ("POST", "/call", &[JSON]), body), expected);
    let named = send(&host, ("POST", "/call", &[JSON]), CALL);
    assert!(named.starts_with("200\n"), "a call with an id needs no random bytes: {named}");
}
