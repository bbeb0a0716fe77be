//! Compares protocols: the same call has the same result in each of them.

use serde_json::{Value, json};

use super::{Examples, FakeHost, Pairs, read_examples, ready};
use crate::Server;
use crate::capability::{Capabilities, Capability, ProtocolSample};
use crate::catalog::{Catalog, Example, Tool, versioned_name};
use crate::http::{Body, Method, Request};
use crate::route::{Sample, SampleCall, response_json};

/// Calls the tools of a server in each of its protocols.
#[derive(Debug)]
pub struct ProtocolTest {
    /// The tools.
    pub catalog: &'static Catalog,
    /// What the server serves.
    pub capabilities: &'static [&'static Capability],
    /// The host of a call. It must let anonymous callers use every tool.
    pub host: fn() -> FakeHost,
}

impl ProtocolTest {
    /// Checks every example in every protocol, and that invalid input is rejected with the name of the parameter. `examples` is the
    /// generated constant `EXAMPLES`.
    ///
    /// # Panics
    /// An outcome differs.
    pub fn check_examples(&self, examples: &str) {
        let samples = Capabilities(self.capabilities).samples();
        let paths = samples.flat_map(|ProtocolSample { paths, sample, .. }| {
            paths.into_iter().map(move |path| (path, sample))
        });
        for (path, sample) in paths {
            for (tool, Examples { id, examples, .. }) in
                self.catalog.tools.iter().zip(read_examples(examples))
            {
                assert_eq!(tool.id(), id, "the examples of this catalogue");
                let missing = missing_requirements(sample, tool);
                for example in &examples {
                    let got = self.call(&path, sample, tool, &example.input);
                    let input = &example.input;
                    assert!(
                        is_same(sample, example, &missing, &got),
                        "{id} {input} at {path}: {got:?}"
                    );
                }
                if missing.is_empty() {
                    let got = self.call(&path, sample, tool, &json!({"no_such_parameter": 1}));
                    let is_named =
                        got.as_ref().is_err_and(|error| error.contains("no_such_parameter"));
                    assert!(is_named, "{id} at {path}: {got:?}");
                }
            }
        }
    }

    /// Runs a call. Returns the value, or the error message, as a client reads it.
    fn call(
        &self,
        path: &str,
        sample: &Sample,
        tool: &Tool,
        input: &Value,
    ) -> Result<Value, String> {
        let host = (self.host)();
        let (id, name) = (tool.id(), versioned_name(tool.name, &tool.version));
        let context = context(tool);
        let context = sample.carries_context.then_some(&context);
        let call = SampleCall { id: "c1", tool_id: &id, name: &name, input, context };
        let body = Body::from(sample.request(&call).to_string().as_str());
        let request = Request {
            own_origin: None,
            method: Method::Post,
            path: &path.replace("{name}", &name),
            query: "",
            headers: &Pairs(&[("content-type", "application/json")]),
            body,
        };
        let server = Server::new(self.catalog, self.capabilities, &host);
        let response = ready(server.answer(request, &host)).head;
        sample.read(&response_json(&response.body))
    }
}

/// Whether a call has the outcome of the example, or lacks requirements that the protocol cannot carry and says so.
fn is_same(
    sample: &Sample,
    example: &Example,
    missing: &[&str],
    got: &Result<Value, String>,
) -> bool {
    match (&example.value, &example.error, got) {
        (.., Err(error)) if !missing.is_empty() => missing.iter().all(|id| error.contains(id)),
        _ if !missing.is_empty() => false,
        (Some(value), _, Ok(got)) => sample.is(got, value),
        (None, Some(expected), Err(error)) => error.contains(&expected.message),
        _ => false,
    }
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
