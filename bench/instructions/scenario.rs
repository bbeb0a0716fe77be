//! The requests whose instructions are counted, and the server that they are sent to.

use std::cell::RefCell;
use std::rc::Rc;

use serde_json::{Value, json};
use toolbooth::capabilities::{CORE, MCP, REST, SEARCH, USAGE, XAIBO};
use toolbooth::capability::Capabilities;
use toolbooth::host::async_trait;
use toolbooth::http::{Answer, BodySink, ClientGone, Method, Request, Response};
use toolbooth::route::SampleCall;
use toolbooth::testing::{FakeHost, Pairs, read_examples};
use toolbooth::{Capability, Server};
use toolbooth_gateway::{GATEWAY, PROVIDERS};
use toolbooth_sign_in::{ACCOUNT, CHALLENGES, SIGN_IN};

use crate::{CATALOG, EXAMPLES, session, sign_in, stream};

/// Every capability.
static CAPABILITIES: &[&Capability] = &[
    &CORE,
    &XAIBO,
    &REST,
    &MCP,
    &SEARCH,
    &PROVIDERS,
    &GATEWAY,
    &SIGN_IN,
    &ACCOUNT,
    &CHALLENGES,
    &USAGE,
];

pub(crate) const JSON: (&str, &str) = ("content-type", "application/json");

/// A request whose instructions are counted.
pub struct Scenario {
    /// Its name in the table.
    pub name: String,
    prepare: Box<dyn Fn() -> Prepared>,
}

/// A request with the host of its server.
struct Prepared {
    host: FakeHost,
    message: Message,
    /// The status, and a part of the body: otherwise the scenario would count something else.
    expected: (u16, &'static str),
    /// Whether the server has served the same request before.
    is_repeated: bool,
}

/// A request.
pub(crate) struct Message {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
}

impl Message {
    pub(crate) fn get(path: &str) -> Self {
        Self { method: Method::Get, path: path.to_owned(), headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn post(path: &str, body: &Value) -> Self {
        let body = body.to_string().into_bytes();
        Self { method: Method::Post, path: path.to_owned(), headers: Vec::new(), body }.with([JSON])
    }

    pub(crate) fn with<const N: usize>(mut self, headers: [(&'static str, &str); N]) -> Self {
        self.headers.extend(headers.map(|(name, value)| (name, value.to_owned())));
        self
    }

    /// Sends it, and reads the whole response.
    pub(crate) fn send(&self, server: &Server, host: &FakeHost) -> Response {
        let headers: Vec<_> = self.headers.iter().map(|(name, value)| (*name, &**value)).collect();
        let (path, query) = self.path.split_once('?').unwrap_or((&self.path, ""));
        let request = Request {
            method: self.method,
            path,
            query,
            own_origin: None,
            headers: &Pairs(&headers),
            body: self.body.clone().into(),
        };
        pollster::block_on(async {
            let Answer { mut head, rest } = server.answer(request, host).await;
            if let Some(write) = rest {
                let read = Rc::default();
                write(Box::new(Reader(Rc::clone(&read)))).await;
                head.body.to_mut().extend_from_slice(&read.borrow());
            }
            head
        })
    }
}

/// Keeps what is written to a client.
struct Reader(Rc<RefCell<Vec<u8>>>);

#[async_trait(?Send)]
impl BodySink for Reader {
    async fn write(&self, bytes: &[u8]) -> Result<(), ClientGone> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(())
    }
}

impl Prepared {
    fn new(message: Message, expected: (u16, &'static str)) -> Self {
        Self { host: FakeHost::default(), message, expected, is_repeated: true }
    }

    fn on(self, host: FakeHost) -> Self {
        Self { host, ..self }
    }
}

impl Scenario {
    fn new(name: impl Into<String>, prepare: impl Fn() -> Prepared + 'static) -> Self {
        Self { name: name.into(), prepare: Box::new(prepare) }
    }

    /// Sends the request to a new server, and counts its instructions.
    ///
    /// # Panics
    /// The response is not the expected one.
    pub fn run(&self) {
        let Prepared { host, message, expected: (status, part), is_repeated } = (self.prepare)();
        let server = server(&host);
        if is_repeated {
            message.send(&server, &host);
        }
        let response = counted(&message, &server, &host);
        let text = String::from_utf8_lossy(&response.body);
        let is_expected = response.status == status && text.contains(part);
        assert!(is_expected, "{}: {} {text} {}", self.name, response.status, host.printed());
    }
}

/// Valgrind counts while a function of this name runs.
#[inline(never)]
fn counted(message: &Message, server: &Server, host: &FakeHost) -> Response {
    message.send(server, host)
}

pub(crate) fn server(host: &FakeHost) -> Server {
    let server = Server::new(&CATALOG, CAPABILITIES, host);
    let problems = &server.state().pipeline.settings.problems;
    assert!(problems.is_empty(), "{problems:?}");
    server
}

/// All scenarios, in the order of the table.
pub fn all() -> Vec<Scenario> {
    let mut all: Vec<_> = protocols().collect();
    all.extend(others());
    for (name, streams, expected) in
        [("100 chunks", true, "[DONE]"), ("a whole answer", false, "A short answer.")]
    {
        all.extend(stream::PROVIDERS.iter().map(|provider| {
            Scenario::new(format!("chat: {name} of {}", provider.name), move || {
                let message = Message::post("/v1/chat/completions", &provider.request(streams));
                let message = message.with([("host", "localhost:8787")]);
                Prepared::new(message, (200, expected)).on(provider.host(streams))
            })
        }));
    }
    all.extend(stream::PROVIDERS.iter().map(|provider| {
        Scenario::new(format!("agent: 100 KB of Messages to {}", provider.name), move || {
            Prepared::new(session::messages(provider.agent), (200, "message_stop"))
                .on(provider.host(true))
        })
    }));
    all
}

/// A call in each protocol, at the first of its paths.
fn protocols() -> impl Iterator<Item = Scenario> {
    let samples = Capabilities(CAPABILITIES).samples();
    let samples = samples.filter_map(|it| Some((it.paths.into_iter().next()?, it.sample)));
    samples.map(|(path, sample)| {
        Scenario::new(format!("{}: {path}", sample.title), move || {
            let input = &json!({"a": 10, "b": 5});
            let (tool_id, name) = ("Calculator.Add", "Calculator_Add");
            let call = SampleCall { id: "1", tool_id, name, input, context: None };
            Prepared::new(Message::post(&path.replace("{name}", name), &sample.request(&call)), SUM)
        })
    })
}

/// What a calculator says to 10 and 5.
const SUM: (u16, &str) = (200, "15");

/// A flat OXP call.
fn call(tool_id: &str, input: &Value) -> Message {
    let call = json!({"tool_id": tool_id, "call_id": "1", "input": input});
    Message::post("/tools/call", &call)
}

fn add() -> Message {
    call("Calculator.Add", &json!({"a": 10, "b": 5}))
}

fn others() -> [Scenario; 10] {
    [
        // The table has a call of an older revision of MCP, which repeats nothing in headers.
        Scenario::new("call of MCP 2026-07-28 as its clients send it", || {
            let params = json!({"name": "Calculator_Add", "arguments": {"a": 10, "b": 5}});
            Prepared::new(mcp("tools/call", params).with([("mcp-name", "Calculator_Add")]), SUM)
        }),
        Scenario::new("realistic call", || {
            let examples = read_examples(EXAMPLES);
            let price = examples.iter().find(|it| it.id == "Order.Price@1.0.0");
            let input = &price.expect("its definition").examples[0].input;
            Prepared::new(call("Order.Price", input), (200, "63997"))
        }),
        Scenario::new("call with an API key", || {
            Prepared::new(add().with([sign_in::KEY_HEADER]), SUM).on(sign_in::host())
        }),
        // A server verifies a token once, and then remembers it.
        Scenario::new("call with a new token of sign-in", || Prepared {
            is_repeated: false,
            ..with_token()
        }),
        Scenario::new("call with a known token of sign-in", with_token),
        Scenario::new("list", || Prepared::new(Message::get("/tools"), (200, "Calculator.Add"))),
        Scenario::new("list of MCP", || {
            Prepared::new(mcp("tools/list", json!({})), (200, "Calculator_Add"))
        }),
        Scenario::new("rejection: unknown tool", || {
            Prepared::new(call("Calculator.Ad", &json!({})), (400, "not found"))
        }),
        Scenario::new("rejection: invalid input", || {
            Prepared::new(call("Calculator.Add", &json!({"a": "1"})), (422, "Is required"))
        }),
        Scenario::new("rejection: no credentials", || {
            Prepared::new(add(), (401, "API key")).on(sign_in::host())
        }),
    ]
}

/// A request of a client of the current revision.
fn mcp(method: &'static str, mut params: Value) -> Message {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1.0.0"},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    Message::post("/mcp", &body).with([
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
    ])
}

fn with_token() -> Prepared {
    let host = sign_in::host();
    let token = sign_in::access_token(&server(&host), &host);
    let message = add().with([("authorization", &format!("Bearer {token}"))]);
    Prepared::new(message, SUM).on(host)
}
