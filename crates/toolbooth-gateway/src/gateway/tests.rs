//! Tests of the gateway from request to response, with a scripted provider.

mod approval;
mod arguments;
mod budgets;
mod challenges;
mod contents;
mod conversation;
mod conversation_ids;
mod conversation_media;
mod conversation_reasoning;
mod conversation_roles;
mod costs;
mod embeddings;
mod endings;
mod errors;
mod golden;
mod hosted;
mod ids;
mod limits;
mod loops;
mod media;
mod media_back;
mod members;
mod messages;
mod messages_blocks;
mod messages_checks;
mod models;
mod names;
mod optional_members;
mod random;
mod responses;
mod routing;
mod schemas;
mod search;
mod shapes;
mod streams;
mod unknown;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::tests::CAPABILITIES;
use toolbooth::catalog::Catalog;
use toolbooth::host::{HttpError, HttpRequest, HttpResponse, async_trait};
use toolbooth::http::{Answer, Body, BodySink, ClientGone, Method, Request};
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::{FakeHost, Pairs};
use toolbooth::{Capability, Server};

thread_local! {
    /// The answers that the provider still gives; then it cannot be reached.
    static ANSWERS: RefCell<VecDeque<Result<HttpResponse, HttpError>>> = RefCell::default();
    /// The requests that it has got.
    static REQUESTS: RefCell<Vec<Sent>> = RefCell::default();
}

/// A request to a provider.
#[derive(Debug, Clone)]
struct Sent {
    url: String,
    headers: Vec<(String, String)>,
    body: Value,
    timeout: Duration,
}

impl Sent {
    fn header(&self, name: &str) -> &str {
        let mut headers = self.headers.iter();
        headers.find(|(key, _)| key == name).map_or("", |(_, value)| value)
    }
}

fn provider(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let body = request.body.as_deref().map(|body| serde_json::from_slice(body).unwrap());
    let body = body.unwrap_or_default();
    let headers = request.headers.iter();
    let headers = headers.map(|(name, value)| ((*name).to_owned(), value.to_string())).collect();
    let (url, timeout) = (request.url.to_string(), request.timeout);
    REQUESTS.with_borrow_mut(|all| all.push(Sent { url, headers, body, timeout }));
    let none = || Err(HttpError::Unreachable("no answer is left".to_owned()));
    ANSWERS.with_borrow_mut(VecDeque::pop_front).unwrap_or_else(none)
}

/// Anybody on this machine may chat, and OpenAI has a key.
const VARIABLES: &[(&str, &str)] = &[
    ("AUTH", "none"),
    ("ANONYMOUS_SCOPES", "gateway"),
    ("DEVELOPMENT", "true"),
    ("OPENAI_API_KEY", "sk-openai"),
    ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
];
const JSON: (&str, &str) = ("content-type", "application/json");
const LOCAL: (&str, &str) = ("host", "localhost:8787");

/// A gateway with its provider.
struct TestGateway {
    /// Where requests go.
    path: &'static str,
    host: FakeHost,
    catalog: &'static Catalog,
    capabilities: &'static [&'static Capability],
}

/// The response to a request, with what the provider got.
#[derive(Debug)]
struct Reply {
    status: u16,
    headers: Vec<(&'static str, String)>,
    text: String,
    sent: Vec<Sent>,
    log: Vec<String>,
}

impl TestGateway {
    fn new() -> Self {
        Self::with(&[])
    }

    fn with(variables: &[(&str, &str)]) -> Self {
        let host = FakeHost::with(&[VARIABLES, variables].concat());
        Self {
            path: "/v1/chat/completions",
            host: FakeHost { upstream: provider, ..host },
            catalog: CATALOG,
            capabilities: CAPABILITIES,
        }
    }

    /// Sends a request to a gateway whose provider gives these answers.
    fn ask(&self, answers: Vec<Result<HttpResponse, HttpError>>, body: &Value) -> Reply {
        self.ask_with(answers, &[JSON, LOCAL], body, usize::MAX)
    }

    /// A server with this configuration, whose cache lives as long as it.
    fn server(&self) -> Server {
        let server = Server::new(self.catalog, self.capabilities, &self.host);
        // What the server logs when it starts is not part of a request.
        self.host.log.take();
        server
    }

    /// Sends a request to this address.
    fn send(
        &self,
        to: (Method, &str),
        answers: Vec<Result<HttpResponse, HttpError>>,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Reply {
        self.send_to(&self.server(), to, answers, headers, body)
    }

    fn send_to(
        &self,
        server: &Server,
        to: (Method, &str),
        answers: Vec<Result<HttpResponse, HttpError>>,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Reply {
        self.exchange(server, to, answers, headers, (body, usize::MAX))
    }

    /// With these headers, from a client that goes after so many writes.
    fn ask_with(
        &self,
        answers: Vec<Result<HttpResponse, HttpError>>,
        headers: &[(&str, &str)],
        body: &Value,
        writes: usize,
    ) -> Reply {
        let to = (Method::Post, self.path);
        self.exchange(&self.server(), to, answers, headers, (body, writes))
    }

    fn exchange(
        &self,
        server: &Server,
        (method, path): (Method, &str),
        answers: Vec<Result<HttpResponse, HttpError>>,
        headers: &[(&str, &str)],
        (body, writes): (&Value, usize),
    ) -> Reply {
        ANSWERS.set(answers.into());
        REQUESTS.take();
        // The same request gets the same response.
        self.host.next_random.set(0);
        self.host.now_ms.set(1_741_724_000_000);
        let request = Request {
            own_origin: None,
            method,
            path,
            query: "",
            headers: &Pairs(headers),
            body: Body::Read(body.to_string().into_bytes()),
        };
        let (head, text) = pollster::block_on(async {
            let Answer { head, rest } = server.answer(request, &self.host).await;
            let sink = FakeSink { text: Rc::default(), left: RefCell::new(writes) };
            let text = Rc::clone(&sink.text);
            text.borrow_mut().extend_from_slice(&head.body);
            if let Some(write) = rest {
                write(Box::new(sink)).await;
            }
            (head, text.take())
        });
        Reply {
            status: head.status,
            headers: head.headers.iter().map(|(name, value)| (*name, value.to_string())).collect(),
            text: String::from_utf8(text).unwrap(),
            sent: REQUESTS.take(),
            log: {
                let lines = self.host.lines.take();
                let problems = self.host.log.take();
                problems.into_iter().chain(lines.into_iter().map(|(_, line)| line)).collect()
            },
        }
    }
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
    }

    /// The code of an error.
    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The last line of the log.
    fn line(&self) -> Value {
        serde_json::from_str(self.log.last().unwrap()).unwrap()
    }

    /// The data of the events of a stream.
    fn events(&self) -> Vec<Value> {
        let data = self.text.lines().filter_map(|line| line.strip_prefix("data: "));
        data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| data.into())).collect()
    }

    /// The text of a stream.
    fn content(&self) -> String {
        let events = self.events();
        let parts = events.iter().filter_map(|it| it["choices"][0]["delta"]["content"].as_str());
        parts.collect()
    }
}

/// A client that reads a stream.
struct FakeSink {
    text: Rc<RefCell<Vec<u8>>>,
    /// The writes until it goes.
    left: RefCell<usize>,
}

#[async_trait(?Send)]
impl BodySink for FakeSink {
    async fn write(&self, bytes: &[u8]) -> Result<(), ClientGone> {
        let mut left = self.left.borrow_mut();
        *left = left.checked_sub(1).ok_or(ClientGone)?;
        self.text.borrow_mut().extend_from_slice(bytes);
        Ok(())
    }
}

/// A request of a user who says `hi`, with further members.
fn chat(more: Value) -> Value {
    let mut body = json!({"model": "openai/m", "messages": [{"role": "user", "content": "hi"}]});
    for (name, value) in more.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

fn answer(status: u16, body: impl Into<Vec<u8>>) -> Result<HttpResponse, HttpError> {
    Ok(HttpResponse::new(status, body))
}

/// An answer with this message, as OpenAI writes it.
fn completion(message: Value) -> Result<HttpResponse, HttpError> {
    let has_calls = message.get("tool_calls").is_some();
    let finish_reason = if has_calls { "tool_calls" } else { "stop" };
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason});
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12});
    let body = json!({
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [choice], "usage": usage,
    });
    answer(200, body.to_string())
}

fn says(text: &str) -> Result<HttpResponse, HttpError> {
    completion(json!({"role": "assistant", "content": text}))
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn calls(calls: &[Value]) -> Result<HttpResponse, HttpError> {
    completion(json!({"role": "assistant", "content": null, "tool_calls": calls}))
}

/// A tool of the client.
fn tool(name: &str) -> Value {
    let parameters =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    json!({"type": "function", "function": {"name": name, "parameters": parameters}})
}
