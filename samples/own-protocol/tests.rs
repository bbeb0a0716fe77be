//! The capability from request to response, and the examples of the tools.

use toolbooth::capabilities::{CORE, REST};
use toolbooth::http::{Body, Headers, Method, Request};
use toolbooth::testing::{FakeHost, ProtocolTest, ToolTest, ready};
use toolbooth::{Capability, Server};

use super::plain_text::CAPABILITY;
use super::{CATALOG, EXAMPLES};

static OWN: &[&Capability] = &[&CORE, &REST, &CAPABILITY];

const TEAM: (&str, &str) = ("TEAM", "the platform team");
const OPEN: (&str, &str) = ("AUTH", "none");

struct Json;

impl Headers for Json {
    fn get(&self, name: &str) -> Option<String> {
        (name == "content-type").then(|| "application/json".to_owned())
    }
}

fn send(variables: &[(&str, &str)], method: Method, path: &str, body: &str) -> (u16, String) {
    let host = FakeHost::with(variables);
    let body = Body::from(body);
    let (query, headers) = ("", &Json);
    let request = Request { own_origin: None, method, path, query, headers, body };
    let server = Server::new(&CATALOG, OWN, &host);
    let response = ready(server.answer(request, &host)).head;
    (response.status, String::from_utf8(response.body.into_owned()).unwrap())
}

#[test]
fn every_example_has_its_documented_outcome() {
    ToolTest::new(&CATALOG).check_examples(EXAMPLES);
}

#[test]
fn the_same_call_has_the_same_result_in_every_protocol() {
    let host = || FakeHost::with(&[TEAM, OPEN]);
    ProtocolTest { catalog: &CATALOG, capabilities: OWN, host }.check_examples(EXAMPLES);
}

#[test]
fn calls_in_plain_text() {
    let all = [TEAM, OPEN];
    let key = [TEAM, ("AUTH", "api-key")];
    let add = "/text/Calculator_Add";
    for (variables, path, body, status, expected) in [
        (&all[..], add, r#"{"a":10,"b":5}"#, 200, "15\n"),
        (&all, add, r#"{"a":1e308,"b":1e308}"#, 422, "The sum is too large for a number"),
        (&all, add, r#"{"a":10}"#, 400, "b"),
        (&all, add, "{", 400, "JSON"),
        (&all, "/text/Calculator_Ad", "{}", 400, "did you mean Calculator_Add"),
        (&all, "/text/a/b", "{}", 404, "POST /text/{name}"),
        (&key, add, r#"{"a":10,"b":5}"#, 401, "credentials"),
        (&[OPEN], add, r#"{"a":10,"b":5}"#, 503, "configuration"),
        (&[OPEN], "/rest/Calculator_Add", r#"{"a":10,"b":5}"#, 200, "15"),
    ] {
        let (got, text) = send(variables, Method::Post, path, body);
        assert_eq!(got, status, "{path} {body}: {text}");
        assert!(text.contains(expected), "{path} {body}: {text}");
    }
}

#[test]
fn the_page_and_the_index() {
    let (status, page) = send(&[TEAM, OPEN], Method::Get, "/text", "");
    assert_eq!((status, page.contains("Ask the platform team.")), (200, true), "{page}");
    let (_, index) = send(&[TEAM, OPEN], Method::Get, "/", "");
    assert!(index.contains(r#"{"method":"POST","path":"/text/{name}"}"#), "{index}");
}
