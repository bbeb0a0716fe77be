//! Calls that run as tasks.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use jwt_compact::alg::{Hs256, Hs256Key};
use jwt_compact::{Algorithm, AlgorithmSignature};
use serde::Deserialize;

use super::*;
use crate::Server;
use crate::auth::{GRANT, HOLDER, OwnTokens, Permitted, TokenHolders};
use crate::capability::Capability;
use crate::catalog::{
    Lists, Run, SearchIndex, ServerInfo, TaskSupport, Tool, ToolFn, Version, Views, run,
};
use crate::host::{BoxFuture, Host};
use crate::http::{Body, Method, Request};
use crate::principal::Scopes;
use crate::schema::{Defaults, Schema};
use crate::secret::Secret;
use crate::settings::JwtSettings;
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

#[test]
fn mc80_a_call_becomes_a_task_whose_result_is_that_of_the_call() {
    let tested = Tested::new(&[]);
    let created = tested.call("Count", json!({"steps": 2}));
    let id = created["taskId"].as_str().unwrap();
    assert_eq!(id.len(), 32, "128 random bits");
    for (member, expected) in [("ttlMs", json!(86_400_000)), ("pollIntervalMs", json!(1_000))] {
        assert_eq!(created[member], expected);
    }
    let absent = ["result", "error", "inputRequests", "requestState", "statusMessage"];
    assert!(absent.iter().all(|member| created.get(*member).is_none()), "{created}");
    let working = tested.get(id);
    assert_eq!(
        (&working["status"], &working["resultType"]),
        (&json!("working"), &json!("complete"))
    );
    assert_eq!(tested.step(false), 1);
    assert_eq!(tested.get(id)["statusMessage"], "1 of 2: are counted");
    assert_eq!(tested.run(), 2);
    let done = tested.get(id);
    assert_eq!(done["status"], "completed");
    assert_eq!(done["result"]["structuredContent"], json!({"done": 2, "secret": ""}));
    // Not the extension: all steps run within the call, with the same result.
    let params = json!({"name": "Count", "arguments": {"steps": 2}, "_meta": {CAPABLE: {}}});
    let inline = tested.send("tools/call", params);
    assert_eq!(inline["structuredContent"], done["result"]["structuredContent"]);
    assert_eq!(inline["resultType"], "complete");

    // What the tool throws is its error. If the instance crashes, the task has failed.
    let id = tested.begin("Crash", json!({}));
    tested.run();
    let thrown = tested.get(&id);
    assert_eq!(
        (&thrown["status"], &thrown["result"]["isError"]),
        (&json!("completed"), &json!(true))
    );
    let id = tested.begin("Crash", json!({}));
    tested.host.tasks.crash();
    let failed = tested.get(&id);
    assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!(-32603)));
    assert_eq!(failed.get("result"), None);
}

#[test]
fn mc80_the_extension_is_declared_by_both_sides() {
    // Without a tool that can run as a task, there are only responses in the background, which MCP has not.
    let without = Tested::with_tools(CATALOG, CAPABILITIES, &[]);
    let discovered = without.send("server/discover", json!({}));
    assert_eq!(discovered["capabilities"]["extensions"], Value::Null);
    let (_, unknown) = without.send_as(None, "tasks/get", json!({"taskId": "a"}));
    assert_eq!(unknown["error"]["code"], json!(-32601));
    let tested = Tested::new(&[]);
    let discovered = tested.send("server/discover", json!({}));
    assert_eq!(discovered["capabilities"]["extensions"][EXTENSION], json!({}));
    for (method, further) in [
        ("tasks/get", json!({})),
        ("tasks/update", json!({"inputResponses": {}})),
        ("tasks/cancel", json!({})),
        ("tools/call", json!({"name": "Send"})),
    ] {
        let mut params = further;
        params["taskId"] = json!("t");
        params["_meta"][CAPABLE] = json!({});
        let (status, answer) = tested.send_as(None, method, params);
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32021)), "{method}");
        let required = &answer["error"]["data"]["requiredCapabilities"];
        assert_eq!(*required, json!({"extensions": {EXTENSION: {}}}));
    }
    for method in ["tasks/result", "tasks/list"] {
        let (_, answer) = tested.send_as(None, method, json!({"taskId": "t"}));
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
    let call = legacy("tools/call", json!({"name": "Send"}));
    let (_, answer) = mcp::read(tested.request((Method::Post, "/mcp"), &[], &call.to_string()));
    assert_eq!(answer["result"]["isError"], true, "a client of an older version");
}

#[test]
fn mc81_nothing_is_lost_or_done_twice_if_the_runtime_dies_in_a_step() {
    let tested = Tested::new(&[]);
    let id = tested.begin("Count", json!({"steps": 3}));
    tested.step(false);
    // It dies in the second step, which then runs again.
    for _ in 0..4 {
        assert_eq!(tested.step(true), 1);
    }
    tested.run();
    let done = tested.get(&id);
    assert_eq!(done["result"]["structuredContent"]["done"], 3, "{done}");

    // This tool has an effect and no checkpoint: it does not run again.
    let id = tested.begin("Send", json!({}));
    tested.step(true);
    tested.run();
    let done = tested.get(&id);
    assert_eq!((&done["status"], &done["result"]["isError"]), (&json!("completed"), &json!(true)));
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("restarted"), "{done}");

    // A step that always ends the runtime is given up.
    let id = tested.begin("Count", json!({"steps": 3}));
    tested.step(false);
    for _ in 0..5 {
        tested.step(true);
    }
    tested.run();
    assert_eq!(tested.get(&id)["result"]["isError"], true);
}

#[test]
fn mc81_steps_wait_and_end_with_the_task() {
    let tested = Tested::new(&[]);
    let id = tested.begin("Count", json!({"steps": 2, "pause_ms": 60_000}));
    assert_eq!(tested.run(), 1, "the second step is not due");
    tested.host.now_ms.update(|now_ms| now_ms + 60_000);
    assert_eq!(tested.run(), 1);
    let cancel = || tested.send("tasks/cancel", json!({"taskId": id}));
    let acknowledged = cancel();
    assert_eq!(acknowledged["resultType"], "complete");
    assert!(["taskId", "status"].iter().all(|member| acknowledged.get(*member).is_none()));
    tested.host.now_ms.update(|now_ms| now_ms + 60_000);
    assert_eq!(tested.run(), 0, "nothing runs after that");
    assert_eq!(tested.get(&id)["status"], "cancelled");
    assert_eq!(cancel()["resultType"], "complete", "again");
    tested.host.now_ms.update(|now_ms| now_ms + 86_400_000);
    let (_, gone) = tested.send_as(None, "tasks/get", json!({"taskId": id}));
    assert_eq!(gone["error"]["code"], -32602, "its time is over");
}

#[test]
fn mc82_a_task_asks_after_and_before_it_begins() {
    let tested = Tested::new(&[]);
    let answer = |key: &str, it: &str| json!({key: {"action": "accept", "content": {"it": it}}});
    let before = tested.call("Ask", json!({}));
    assert_eq!(before["resultType"], "input_required", "no task yet");
    let params = json!({"name": "Ask", "arguments": {}, "inputResponses": answer("q", "a")});
    let task = tested.send("tools/call", params);
    let id = task["taskId"].as_str().unwrap();
    for (key, it) in [("q.1", "b"), ("q.2", "c")] {
        tested.run();
        let asked = tested.get(id);
        assert_eq!(asked["status"], "input_required");
        let requests = asked["inputRequests"].as_object().unwrap();
        assert_eq!(requests.keys().collect::<Vec<_>>(), [key], "no key repeats");
        assert_eq!(requests[key]["method"], "elicitation/create");
        for ignored in
            [json!({}), answer("other", "x"), json!({key: 7}), json!({key: {"action": "x"}})]
        {
            assert_eq!(tested.update(id, ignored)["resultType"], "complete");
            assert_eq!(tested.get(id)["status"], "input_required");
        }
        tested.update(id, answer(key, it));
        assert_eq!(tested.get(id)["status"], "working");
    }
    tested.run();
    let done = tested.get(id);
    assert_eq!(done["result"]["structuredContent"], json!({"result": ["a", "b", "c"]}), "{done}");
}

#[test]
fn mc83_only_its_caller_finds_a_task() {
    let keys = r#"[
        {"name":"one","scopes":[],"hash":"9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a"},
        {"name":"two","scopes":[],"hash":"2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"}
    ]"#;
    let keys = [("AUTH", "api-key"), ("API_KEYS", keys)];
    let [one, two] = ["key-one", "secret"];
    let tested = Tested::new(&keys);
    let call = json!({"name": "Count", "arguments": {"steps": 1, "secret": "in the input"}});
    let (_, created) = tested.send_as(Some(one), "tools/call", call);
    let id = created["result"]["taskId"].clone();
    assert!(id.is_string(), "{created}");
    tested.step(false);
    for (method, further) in [
        ("tasks/get", json!({})),
        ("tasks/update", json!({"inputResponses": {}})),
        ("tasks/cancel", json!({})),
    ] {
        let request = |id: &Value| {
            let mut params = further.clone();
            params["taskId"] = id.clone();
            tested.send_as(Some(two), method, params)
        };
        let (of_other, of_none) = (request(&id), request(&json!("f".repeat(32))));
        assert_eq!(of_other, of_none, "{method}: the same as if there were none");
        assert_eq!(code(&of_other), (200, -32602));
    }
    tested.run();
    let kept = tested.host.tasks.kept();
    for hidden in ["in the input", "Count", "done", "counted", one, id.as_str().unwrap()] {
        assert!(!kept.contains(hidden), "{hidden} in {kept}");
    }
    // It is found after the key of the names has been replaced.
    let new = "fedcba9876543210fedcba9876543210";
    let replaced = [("STATE_KEY", new), ("STATE_KEY_PREVIOUS", STATE_KEY)];
    let mut rotated = Tested::new(&[&keys[..], &replaced].concat());
    rotated.host.tasks = tested.host.tasks;
    let (_, found) = rotated.send_as(Some(one), "tasks/get", json!({"taskId": id}));
    assert_eq!(found["result"]["result"]["structuredContent"]["secret"], "in the input");
}

#[test]
fn mc83_a_task_ends_when_the_key_of_its_caller_is_removed() {
    let one = "9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a";
    let new = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    let entry = |name: &str| json!({"name": name, "scopes": [], "hash": one});
    let replaced = json!({"name": "one", "scopes": [], "hash": new});
    let changing = json!({"name": "one", "scopes": [], "hash": new, "previous_hash": one});
    let server = |entry: Value| {
        Tested::new(&[("AUTH", "api-key"), ("API_KEYS", &json!([entry]).to_string())])
    };
    let before = json!({"name": "one", "scopes": ["a"], "hash": one});
    for (began, today, done) in [
        (&before, entry("one"), json!(2)),
        (&before, entry("other"), Value::Null),
        (&before, changing.clone(), json!(2)),
        (&before, replaced.clone(), Value::Null),
        (&changing, changing.clone(), json!(2)),
        (&changing, replaced, Value::Null),
    ] {
        let tested = server(began.clone());
        let call = json!({"name": "Count", "arguments": {"steps": 2}});
        let (_, created) = tested.send_as(Some("key-one"), "tools/call", call);
        let id = created["result"]["taskId"].clone();
        tested.step(false);
        let mut later = server(today.clone());
        later.host.tasks = tested.host.tasks;
        later.host.now_ms.update(|now_ms| now_ms + 1_000);
        later.run();
        let mut found = server(entry("one"));
        found.host.tasks = later.host.tasks;
        let (_, found) = found.send_as(Some("key-one"), "tasks/get", json!({"taskId": id}));
        assert_eq!(found["result"]["status"], "completed", "{today} {found}");
        let result = &found["result"]["result"];
        assert_eq!(result["structuredContent"]["done"], done, "{today} {found}");
        assert_eq!(result["isError"] == true, done.is_null(), "{today} {found}");
    }
}

#[test]
fn mc83_a_task_has_the_scopes_that_callers_without_credentials_have_today() {
    let none = ("AUTH", "none");
    let began = [none, ("ANONYMOUS_SCOPES", "deep, other")];
    let hash = r#"[{"name":"one","scopes":[],"hash":"9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a"}]"#;
    let keys = [("AUTH", "api-key"), ("API_KEYS", hash)];
    for (tool, today, expected) in [
        ("Deep", &began[..], Ok(2)),
        ("Deep", &[none, ("ANONYMOUS_SCOPES", "*")], Ok(2)),
        ("Deep", &[none], Err("deep")),
        ("Count", &[none], Ok(2)),
        ("Count", &keys[..], Err("may no longer call")),
    ] {
        let tested = Tested::new(&began);
        let id = tested.begin(tool, json!({"steps": 2}));
        tested.step(false);
        let later = tested.deployed(Tested::new(today));
        later.run();
        let found = later.deployed(Tested::new(&began)).get(&id);
        let result = &found["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        match expected {
            Ok(done) => assert_eq!(result["structuredContent"]["done"], done, "{today:?} {found}"),
            Err(part) => {
                assert_eq!(result["isError"], true, "{today:?} {found}");
                assert!(text.contains(part), "{today:?} {text}");
            }
        }
    }
}

/// What has ended of what a token stood for.
#[derive(Clone, Copy, PartialEq)]
enum Ended {
    Nothing,
    Grant,
    Access,
    Scope,
}

thread_local! {
    static ENDED: Cell<Ended> = const { Cell::new(Ended::Nothing) };
}

struct Holders;

impl TokenHolders for Holders {
    fn permitted(&self, holder: &str) -> Option<Permitted> {
        let ended = ENDED.get();
        let scopes = if ended == Ended::Scope { Scopes::NONE } else { Scopes::All };
        let permitted = Permitted {
            scopes,
            rule: None,
            budgets: Vec::new(),
            key: (holder == "machine").then(|| "bot".to_owned()),
            team: None,
            actor: None,
        };
        (["ada", "machine"].contains(&holder) && ended != Ended::Access).then_some(permitted)
    }

    fn has_ended<'a>(&'a self, grant: &'a str, _: &'a dyn Host) -> BoxFuture<'a, bool> {
        assert_eq!(grant, "g1");
        Box::pin(async { ENDED.get() == Ended::Grant })
    }
}

static HOLDERS: Capability = Capability {
    start: Some(|startup| {
        let jwt = JwtSettings {
            secrets: vec![Secret::new(STATE_KEY.to_owned())],
            jwks_url: None,
            audiences: vec!["us".to_owned()],
            issuer: None,
            leeway: 0,
            tenant_claim: None,
            tenants: Vec::new(),
        };
        startup.own_tokens = Some(OwnTokens { jwt, holders: Arc::new(Holders) });
    }),
    ..Capability::new("holders")
};

fn with_holders() -> Tested {
    Tested::serving([CAPABILITIES, &[&HOLDERS]].concat().leak(), &[])
}

/// A token for a person, or for a machine that has an entry of `API_KEYS`.
fn token_of(holder: &str, now_ms: u64) -> String {
    let claims = json!({
        "sub": "ada", "aud": "us", "exp": now_ms / 1000 + 60, "scope": "deep",
        GRANT: "g1", HOLDER: holder,
    });
    let [header, claims] = [json!({"alg": "HS256", "typ": "at+jwt"}), claims]
        .map(|part| Base64UrlUnpadded::encode_string(part.to_string().as_bytes()));
    let message = format!("{header}.{claims}");
    let signature = Hs256.sign(&Hs256Key::new(STATE_KEY), message.as_bytes());
    format!("{message}.{}", Base64UrlUnpadded::encode_string(&signature.as_bytes()))
}

#[test]
fn mc83_a_task_ends_with_what_the_token_of_its_caller_stood_for() {
    for holder in ["ada", "machine"] {
        ends_with_what_it_stood_for(holder);
    }
}

fn ends_with_what_it_stood_for(holder: &str) {
    let token = |now_ms: u64| token_of(holder, now_ms);
    for (tool, ended, done) in [
        ("Count", Ended::Nothing, json!(2)),
        ("Count", Ended::Grant, Value::Null),
        ("Count", Ended::Access, Value::Null),
        ("Count", Ended::Scope, json!(2)),
        ("Deep", Ended::Nothing, json!(2)),
        ("Deep", Ended::Scope, Value::Null),
    ] {
        ENDED.set(Ended::Nothing);
        let tested = with_holders();
        let now = || tested.host.now_ms.get();
        let call = json!({"name": tool, "arguments": {"steps": 2}});
        let (_, created) = tested.send_as(Some(&token(now())), "tools/call", call);
        let id = created["result"]["taskId"].clone();
        assert!(id.is_string(), "{created}");
        assert_eq!(tested.step(false), 1);
        // The token itself has expired by then.
        tested.host.now_ms.update(|now_ms| now_ms + 7_200_000);
        ENDED.set(ended);
        tested.run();
        ENDED.set(Ended::Nothing);
        let get = json!({"taskId": id});
        let (_, found) = tested.send_as(Some(&token(now())), "tasks/get", get);
        let result = &found["result"]["result"];
        assert_eq!(result["structuredContent"]["done"], done, "{tool} {found}");
        assert_eq!(result["isError"] == true, done.is_null(), "{tool} {found}");
        if matches!(ended, Ended::Grant | Ended::Access) {
            let text = result["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("the client was disconnected"), "{text}");
        }
    }
}

/// A deployment without sign-in cannot tell whether the caller may still call.
#[test]
fn mc83_a_task_waits_for_a_deployment_that_knows_its_caller() {
    ENDED.set(Ended::Nothing);
    for (tool, dies, expected) in [("Count", false, "2"), ("Send", true, "restarted")] {
        let tested = with_holders();
        let token = |tested: &Tested| token_of("ada", tested.host.now_ms.get());
        let call = json!({"name": tool, "arguments": {"steps": 2}});
        let (_, created) = tested.send_as(Some(&token(&tested)), "tools/call", call);
        let id = created["result"]["taskId"].clone();
        assert_eq!(tested.step(dies), 1);
        let without = tested.deployed(Tested::new(&[]));
        assert_eq!(without.run(), 1);
        let again = without.deployed(with_holders());
        assert_eq!(again.run(), 0, "not before a minute has passed");
        again.host.now_ms.update(|now_ms| now_ms + 60_000);
        again.run();
        let get = json!({"taskId": id});
        let (_, found) = again.send_as(Some(&token(&again)), "tasks/get", get);
        assert_eq!(found["result"]["status"], "completed", "{found}");
        let result = found["result"]["result"].to_string();
        // What may have had an effect before is not repeated.
        assert!(result.contains(expected), "{tool} {result}");
    }
}

#[test]
fn mc83_callers_have_a_limited_number_of_tasks_and_results_a_largest_size() {
    let tested = Tested::new(&[("MAX_TASKS", "2"), ("TASK_HOURS", "1")]);
    let one = tested.begin("Count", json!({"steps": 1}));
    let two = tested.begin("Large", json!({"steps": 1_500_000}));
    let call = json!({"name": "Count", "arguments": {"steps": 1}});
    let third = tested.send_as(None, "tools/call", call.clone());
    assert_eq!(code(&third), (429, -32600), "{third:?}");
    // Callers without credentials are counted by network.
    let (_, other) = tested.send_with(Some(("cf-connecting-ip", "192.0.2.7")), "tools/call", call);
    assert_eq!(other["result"]["status"], "working", "{other}");
    tested.run();
    assert_eq!(tested.get(&one)["ttlMs"], 3_600_000);
    let large = &tested.get(&two)["result"];
    assert_eq!(large["isError"], true);
    assert!(large["content"][0]["text"].as_str().unwrap().contains("too large"));
    tested.begin("Count", json!({"steps": 1}));
}

#[test]
fn what_a_task_remembers_fits_into_a_row_with_its_call() {
    let tested = Tested::new(&[("MAX_BODY_BYTES", "2097152")]);
    // Each of the two fits alone.
    let arguments = json!({"steps": 900_000, "secret": "s".repeat(700_000)});
    let task = tested.begin("Remember", arguments);
    assert_eq!(tested.run(), 1, "the step is not repeated");
    let result = &tested.get(&task)["result"];
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("too much to remember"), "{text}");
}

#[test]
fn a_server_that_keeps_no_tasks_runs_or_rejects() {
    let mut tested = Tested::new(&[]);
    tested.host.bindings.clear();
    tested.server = Server::new(LONG, CAPABILITIES, &tested.host);
    let inline = tested.call("Count", json!({"steps": 2}));
    assert_eq!(inline["structuredContent"]["done"], 2);
    let (status, _) = tested.send_as(None, "tools/call", json!({"name": "Send"}));
    assert_eq!(status, 503);
    let (_, answer) = tested.send_as(None, "tasks/get", json!({"taskId": "t"}));
    assert_eq!(answer["error"]["code"], -32601);
    assert_eq!(tested.send("server/discover", json!({}))["capabilities"].get("extensions"), None);
    let warned = tested.host.printed();
    assert!(warned.contains("TASKS is not bound"), "{warned}");

    let failing = Tested::new(&[]);
    failing.host.tasks.fails.set(true);
    let call = json!({"name": "Count", "arguments": {"steps": 1}});
    let (status, _) = failing.send_as(None, "tools/call", call);
    assert_eq!(status, 503);
}

#[test]
fn what_is_missing_is_a_warning_if_a_tool_needs_it() {
    const BINDING: &str = "The Durable Object TASKS is not bound";
    const KEY: &str = "STATE_KEY is not set: nothing can run as a task";
    for (catalog, has_key, bound, expected) in [
        (LONG, true, true, None),
        (LONG, true, false, Some(BINDING)),
        (LONG, false, true, Some(KEY)),
        (LONG, false, false, Some(BINDING)),
        (crate::testing::echo::CATALOG, false, true, None),
        (crate::testing::echo::CATALOG, false, false, None),
    ] {
        let mut host = FakeHost::with(if has_key { &[("STATE_KEY", STATE_KEY)] } else { &[] });
        host.bindings.extend(bound.then_some("TASKS"));
        Server::new(catalog, CAPABILITIES, &host).log_warnings(&host);
        let printed = host.printed();
        for warning in [BINDING, KEY] {
            assert_eq!(printed.contains(warning), expected == Some(warning), "{printed}");
        }
    }
}

#[test]
fn rest_answers_202_with_the_address_of_the_status() {
    let tested = Tested::new(&[]);
    let post = |name: &str, headers: &[(&str, &str)], body: Value| {
        tested.request((Method::Post, &format!("/rest/{name}")), headers, &body.to_string())
    };
    let json_of =
        |response: &Response| -> Value { serde_json::from_slice(&response.body).unwrap() };
    let header = |response: &Response, name: &str| {
        let found = response.headers.iter().find(|(it, _)| *it == name);
        found.map(|(_, value)| value.to_string())
    };
    let inline = post("Count", &[], json!({"steps": 1}));
    assert_eq!((inline.status, &json_of(&inline)["done"]), (200, &json!(1)));
    let begun = post("Count", &[("prefer", "wait=5, respond-async")], json!({"steps": 1}));
    assert_eq!(begun.status, 202);
    assert_eq!(header(&begun, "preference-applied").as_deref(), Some("respond-async"));
    let path = header(&begun, "location").unwrap();
    let get = |path: &str| tested.request((Method::Get, path), &[], "");
    assert_eq!(header(&get(&path), "retry-after").as_deref(), Some("1"));
    assert_eq!(json_of(&get(&path))["status"], "working");
    tested.run();
    let done = get(&path);
    assert_eq!(json_of(&done)["value"]["done"], 1);
    assert_eq!(header(&done, "retry-after"), None);

    let required = post("Send", &[], json!({}));
    assert_eq!((required.status, header(&required, "preference-applied")), (202, None));
    let through_search = post("call_tool", &[], json!({"name": "Send", "arguments": {}}));
    assert_eq!(through_search.status, 202, "{}", String::from_utf8_lossy(&through_search.body));
    let path = header(&required, "location").unwrap();
    assert_eq!(tested.request((Method::Delete, &path), &[], "").status, 204);
    assert_eq!(json_of(&get(&path))["status"], "cancelled");
    assert_eq!(get("/tasks/ffffffffffffffffffffffffffffffff").status, 404);
    // A tool that asks has a client that cannot be asked.
    let asks = post("Ask", &[], json!({}));
    assert_eq!(asks.status, 400, "{}", String::from_utf8_lossy(&asks.body));
    for (crashes, status, code) in [(false, "completed", 422), (true, "failed", 500)] {
        let begun = header(&post("Crash", &[("prefer", "respond-async")], json!({})), "location");
        if crashes {
            tested.host.tasks.crash();
        }
        tested.run();
        let ended = json_of(&get(&begun.unwrap()));
        assert_eq!((&ended["status"], &ended["problem"]["status"]), (&json!(status), &json!(code)));
    }
}
