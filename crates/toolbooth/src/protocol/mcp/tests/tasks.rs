//! Calls that run as tasks: the tools and the server of their tests.

mod callers;
mod limits;
mod rest;
mod steps;

use std::time::Duration;

use serde::Deserialize;

use super::*;
use crate::Server;
use crate::capability::Capability;
use crate::catalog::{
    Lists, Run, SearchIndex, ServerInfo, TaskSupport, Tool, ToolFn, Version, Views, run,
};
use crate::http::{Body, Method, Request};
use crate::schema::{Defaults, Schema};
use crate::testing::echo::{LISTS, OBJECT};
use crate::testing::ready;
use crate::tool::{Context, InputRequest, ToolError};

const STATE_KEY: &str = "0123456789abcdef0123456789abcdef";
const EXTENSION: &str = "io.modelcontextprotocol/tasks";
const CAPABLE: &str = "io.modelcontextprotocol/clientCapabilities";

#[derive(Deserialize)]
struct Input {
    #[serde(default)]
    steps: u64,
    #[serde(default)]
    pause_ms: u64,
    #[serde(default)]
    secret: String,
}

/// Counts the steps in checkpoints.
async fn count(input: Input, context: &Context<'_>) -> Result<Value, ToolError> {
    let task = context.task()?;
    let done: u64 = task.resumed().unwrap_or_default();
    if task.is_cancelled().await {
        return Err(ToolError::new("It was cancelled"));
    }
    if done == input.steps {
        return Ok(json!({"done": done, "secret": input.secret}));
    }
    let total = Some(input.steps as f64);
    context.progress((done + 1) as f64, total, "are counted");
    Err(task.pause(Duration::from_millis(input.pause_ms), done + 1))
}

/// Has an effect that must not be repeated.
async fn send(_: Input, context: &Context<'_>) -> Result<Value, ToolError> {
    context.task()?;
    Ok(json!("sent"))
}

/// Asks twice in its task, with the same key, and once before it.
async fn ask(_: Input, context: &Context<'_>) -> Result<Value, ToolError> {
    let question = |text: &str| {
        let schema = json!({"type": "object", "properties": {"it": {"type": "string"}}});
        [("q", InputRequest::form(text, schema))]
    };
    #[derive(Deserialize)]
    struct It {
        it: String,
    }
    let given = context.answer("q")?.map(|It { it }| it);
    let before: Vec<String> = context.state().unwrap_or_default();
    let all: Vec<String> = before.into_iter().chain(given).collect();
    if all.is_empty() {
        return Err(context.ask(question("before"), ()));
    }
    context.task()?;
    match all.len() {
        3 => Ok(json!(all)),
        _ => Err(context.ask(question("within"), &all)),
    }
}

/// Remembers as many bytes as it is told.
async fn remember(input: Input, context: &Context<'_>) -> Result<Value, ToolError> {
    let task = context.task()?;
    Err(task.checkpoint("x".repeat(usize::try_from(input.steps).unwrap())))
}

/// Leaves nothing but a checkpoint.
async fn large(input: Input, context: &Context<'_>) -> Result<Value, ToolError> {
    let task = context.task()?;
    let Some(()) = task.resumed() else { return Err(task.checkpoint(())) };
    Ok(json!("x".repeat(usize::try_from(input.steps).unwrap())))
}

static ANYTHING: Schema = Schema { keywords: &[] };
static ANY_OBJECT: Schema = Schema { keywords: &[OBJECT] };

const fn tool(
    name: &'static str,
    scopes: &'static [&'static str],
    task: TaskSupport,
    run: ToolFn,
) -> Tool {
    let bindings: &[&str] = match task {
        TaskSupport::Required => &["TASKS"],
        TaskSupport::Optional => &[],
    };
    Tool {
        toolkit: "Long",
        tool: name,
        version: Version::new(1, 0, 0),
        name,
        title: None,
        scopes,
        authorization: &[],
        secrets: &[],
        variables: &[],
        bindings,
        user_id: false,
        headers: &[],
        query: None,
        content: false,
        read_only: false,
        idempotent: false,
        task: Some(task),
        input: &ANY_OBJECT,
        output: &ANYTHING,
        defaults: &Defaults::NONE,
        run: Run::Function(run),
    }
}

static TOOLS: [Tool; 7] = [
    tool("Ask", &[], TaskSupport::Required, |input, context| run(input, context, ask)),
    tool("Count", &[], TaskSupport::Optional, |input, context| run(input, context, count)),
    tool("Crash", &[], TaskSupport::Optional, |_, context| {
        Box::pin(async {
            context.task().map_err(crate::catalog::RunError::Tool)?;
            Err(crate::catalog::RunError::Crashed)
        })
    }),
    tool("Deep", &["deep"], TaskSupport::Optional, |input, context| run(input, context, count)),
    tool("Large", &[], TaskSupport::Optional, |input, context| run(input, context, large)),
    tool("Remember", &[], TaskSupport::Optional, |input, context| run(input, context, remember)),
    tool("Send", &[], TaskSupport::Required, |input, context| run(input, context, send)),
];

const LONG: &Catalog = &Catalog {
    tools: &TOOLS,
    names: &[
        ("Ask", 0),
        ("Count", 1),
        ("Crash", 2),
        ("Deep", 3),
        ("Large", 4),
        ("Remember", 5),
        ("Send", 6),
    ],
    lists: &[
        Lists::all(LISTS),
        Lists {
            capability: "search",
            lists: &[],
            search: Some(SearchIndex { words: &[], pinned: &[] }),
        },
    ],
    variables: &[],
    server: ServerInfo { name: "long", title: "Long", version: "1.0.0" },
    external: None,
    views: Views::NONE,
};

/// A server that keeps tasks.
struct Tested {
    host: FakeHost,
    server: Server,
}

impl Tested {
    fn new(variables: &[(&str, &str)]) -> Self {
        Self::serving(CAPABILITIES, variables)
    }

    fn serving(capabilities: &'static [&Capability], variables: &[(&str, &str)]) -> Self {
        Self::with_tools(LONG, capabilities, variables)
    }

    fn with_tools(
        catalog: &'static Catalog,
        capabilities: &'static [&Capability],
        variables: &[(&str, &str)],
    ) -> Self {
        let mut host = FakeHost::with(&[("STATE_KEY", STATE_KEY)]);
        host.variables.extend(
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        );
        host.bindings.insert("TASKS");
        let server = Server::new(catalog, capabilities, &host);
        Self { host, server }
    }

    /// The same tasks after a deployment, a second later.
    fn deployed(self, mut later: Self) -> Self {
        later.host.now_ms.set(self.host.now_ms.get() + 1_000);
        later.host.tasks = self.host.tasks;
        later
    }

    fn request(
        &self,
        (method, path): (Method, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let headers: Vec<_> =
            [("content-type", "application/json")].iter().chain(headers).copied().collect();
        let request = Request {
            own_origin: None,
            method,
            path,
            query: "",
            headers: &Pairs(&headers),
            body: Body::from(body),
        };
        ready(self.server.answer(request, &self.host)).head
    }

    /// Sends a request of a client that takes tasks and shows forms, with this key or token.
    fn send_as(&self, key: Option<&str>, method: &str, params: Value) -> (u16, Value) {
        let bearer = key.map(|key| format!("Bearer {key}"));
        let header = bearer.as_deref().map(|bearer| ("authorization", bearer));
        self.send_with(header, method, params)
    }

    fn send_with(
        &self,
        header: Option<(&str, &str)>,
        method: &str,
        mut params: Value,
    ) -> (u16, Value) {
        if params["_meta"][CAPABLE].is_null() {
            params["_meta"][CAPABLE] = json!({"elicitation": {}, "extensions": {EXTENSION: {}}});
        }
        let body = modern(method, params);
        let mut headers = headers(&body);
        headers.extend(header);
        mcp::read(self.request((Method::Post, "/mcp"), &headers, &body.to_string()))
    }

    fn send(&self, method: &str, params: Value) -> Value {
        let (_, mut answer) = self.send_as(None, method, params);
        answer["result"].take()
    }

    fn call(&self, name: &str, arguments: Value) -> Value {
        self.send("tools/call", json!({"name": name, "arguments": arguments}))
    }

    /// Begins a task, and returns its id.
    fn begin(&self, name: &str, arguments: Value) -> String {
        let task = self.call(name, arguments);
        assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
        task["taskId"].as_str().unwrap().to_owned()
    }

    fn get(&self, id: &str) -> Value {
        self.send("tasks/get", json!({"taskId": id}))
    }

    fn update(&self, id: &str, responses: Value) -> Value {
        self.send("tasks/update", json!({"taskId": id, "inputResponses": responses}))
    }

    /// Runs steps until none is due.
    fn run(&self) -> usize {
        (0..100).map(|_| self.step(false)).take_while(|steps| *steps > 0).sum()
    }

    fn step(&self, dies: bool) -> usize {
        ready(self.host.tasks.run(&self.server, &self.host, dies))
    }
}
