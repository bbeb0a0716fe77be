//! Tests that the same call has the same result in every protocol.

use serde_json::{Value, json};
use toolbooth::Server;
use toolbooth::catalog::{Tool, versioned_name};
use toolbooth::http::{Body, Headers, Method, Request};
use toolbooth::protocol::sample::{ProtocolSamples, Sample, SampleCall, response_json};
use toolbooth::testing::{Examples, FakeHost, read_examples, ready};

use crate::tests::fake_services;
use crate::{CATALOG, EXAMPLES};

/// Lets anonymous callers use every tool.
const ALL_SCOPES: (&str, &str) = ("ANONYMOUS_SCOPES", "*");

/// Every path that accepts calls, with sample requests.
fn samples() -> impl Iterator<Item = (String, &'static Sample)> {
    toolbooth::built_in::samples().flat_map(ProtocolSamples::paths)
}

/// A call context with fake tokens, secrets and user id.
fn context(tool: &Tool) -> Value {
    let tokens = tool.authorization.iter().map(|need| json!({"id": need.id, "token": "t"}));
    let secrets = tool.secrets.iter().map(|id| json!({"id": id, "value": "s"}));
    json!({
        "user_id": "ada",
        "authorization": tokens.collect::<Vec<_>>(),
        "secrets": secrets.collect::<Vec<_>>(),
    })
}

/// The requirements of the tool that a request in this protocol cannot carry.
fn missing_requirements(sample: &Sample, tool: &Tool) -> Vec<&'static str> {
    let required = tool.authorization.iter().map(|need| need.id);
    let required = required.chain(tool.secrets.iter().copied());
    if sample.carries_context { Vec::new() } else { required.collect() }
}

struct JsonHeaders;

impl Headers for JsonHeaders {
    fn get(&self, name: &str) -> Option<String> {
        (name == "content-type").then(|| "application/json".to_owned())
    }
}

/// Runs a call. Returns the value, or the error message, as a client reads it.
fn call(path: &str, sample: &Sample, tool: &Tool, input: &Value) -> Result<Value, String> {
    let host = FakeHost { upstream: fake_services, ..FakeHost::with(&[ALL_SCOPES]) };
    let (id, name) = (tool.id(), versioned_name(tool.name, &tool.version));
    let context = context(tool);
    let context = sample.carries_context.then_some(&context);
    let call = SampleCall { id: "c1", tool_id: &id, name: &name, input, context };
    let body = Body::from(sample.request(&call).to_string().as_str());
    let path = &path.replace("{name}", &name);
    let request = Request {
        own_origin: None,
        method: Method::Post,
        path,
        query: "",
        headers: &JsonHeaders,
        body,
    };
    let response = ready(Server::new(&CATALOG, &host).answer(request, &host)).head;
    sample.read(&response_json(&response.body))
}

fn every_tool() -> impl Iterator<Item = (&'static Tool, Examples)> {
    CATALOG
        .tools
        .iter()
        .zip(read_examples(EXAMPLES))
        .inspect(|(tool, examples)| assert_eq!(tool.id(), examples.id))
}

#[test]
fn every_example_has_its_outcome_in_every_protocol() {
    for (tool, Examples { examples, id, .. }) in every_tool() {
        for example in examples {
            for (path, sample) in samples() {
                let got = call(&path, sample, tool, &example.input);
                let missing = missing_requirements(sample, tool);
                let same = match (&example.value, &example.error, &got) {
                    (.., Err(error)) if !missing.is_empty() => {
                        missing.iter().all(|id| error.contains(id))
                    }
                    _ if !missing.is_empty() => false,
                    (Some(value), _, Ok(got)) => sample.is(got, value),
                    (None, Some(expected), Err(error)) => error.contains(&expected.message),
                    _ => false,
                };
                assert!(same, "{id} {} at {path}: {got:?}", example.input);
            }
        }
    }
}

#[test]
fn invalid_input_is_rejected_in_every_protocol_and_names_the_parameter() {
    for (tool, _) in every_tool() {
        for (path, sample) in
            samples().filter(|(_, sample)| missing_requirements(sample, tool).is_empty())
        {
            let got = call(&path, sample, tool, &json!({"no_such_parameter": 1}));
            let named = got.as_ref().is_err_and(|error| error.contains("no_such_parameter"));
            assert!(named, "{} at {path}: {got:?}", tool.id());
        }
    }
}
