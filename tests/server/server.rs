//! Tests of the server from request to response, with the small catalogue of `testing::echo`.

mod access;
mod body;
mod callers;
mod corpus;
mod entries;
mod envelope;
mod health;
mod ids;
mod log;
mod mcp;
mod parsers;
mod properties;
mod protocols;
mod provider_calls;
mod provider_lists;
mod rest;
mod rpc;
mod xaibo;

use crate::{CAPABILITIES, exchange};
use toolbooth::Server;
use toolbooth::call::Rejection;
use toolbooth::catalog::Catalog;
use toolbooth::catalog::Tool;
use toolbooth::host::{Host, Level, async_trait};
use toolbooth::http::{Body, Method, Request, Response};
use toolbooth::http::{BodyError, BodyStream};
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::{FakeHost, ready};
use toolbooth::testing::{Pairs, wire};

type Headers<'a> = &'a [(&'a str, &'a str)];

const JSON: (&str, &str) = ("content-type", "application/json");
const ORIGIN: (&str, &str) = ("origin", "https://a.example");
/// The body of a valid call.
const CALL: &str = r#"{"tool_id":"Echo.Say","call_id":"7","input":{"text":"hi"}}"#;

/// A body that must not be read.
const UNREAD: Body<'static> = Body::Unread(&Untouched);

struct Untouched;

#[async_trait(?Send)]
impl BodyStream for Untouched {
    async fn read(&self, _: usize) -> Result<Vec<u8>, BodyError> {
        panic!("read a body that must not be read")
    }

    async fn start(&self, _: usize) -> Vec<u8> {
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

#[async_trait(?Send)]
impl BodyStream for Sent {
    async fn read(&self, limit: usize) -> Result<Vec<u8>, BodyError> {
        let fits = |bytes: &Vec<u8>| bytes.len() <= limit;
        let read = self.bytes.clone();
        read.and_then(|bytes| fits(&bytes).then_some(bytes).ok_or(BodyError::TooLarge))
    }

    async fn start(&self, limit: usize) -> Vec<u8> {
        let mut bytes = self.bytes.clone().unwrap_or_default();
        bytes.truncate(limit);
        bytes
    }
}

/// The response of a new server, after a check of its format.
fn answer(
    catalog: &'static Catalog,
    host: &dyn Host,
    (method, path, headers): (&str, &str, Headers<'_>),
    body: Body<'_>,
) -> Response {
    let server = Server::new(catalog, CAPABILITIES, host);
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
fn unknown_paths_and_methods() {
    let not_found = |hint| error(404, "There is nothing at this address", hint);
    let below_oxp = not_found(
        "GET / lists the endpoints; here they are GET /oxp/health, GET /oxp/tools, POST /oxp/tools/call, \
         POST /oxp/call",
    );
    let not_found = not_found(
        "GET / lists the endpoints, GET /tools the tools; POST /call runs a tool. Other protocols are at /otc, /oxp/1.0, /oxp, /langchain, /opentool, /jsonrpc, \
         /xaibo, /rest, /mcp, /providers/openai-responses, /providers/openai, /providers/anthropic, \
         /providers/gemini, /providers, /2api/v1, /v1/responses, /v1/messages, /v1, /tasks, /usage",
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
