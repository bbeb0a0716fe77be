//! Responses in the background: a task runs the chat, and its client asks for the response.

use crate::gateway::tests::responses::*;
use toolbooth::capabilities::{CORE, TASKS as TASKS_CAPABILITY};
use toolbooth::host::{LEDGER, TASKS};

use crate::{GATEWAY, PROVIDERS};

static WITH_TASKS: &[&Capability] = &[&CORE, &PROVIDERS, &GATEWAY, &TASKS_CAPABILITY];

/// The keys "abc" and "key-one".
const HASHES: [&str; 2] = [
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a",
];
const ONE: &str = "Bearer abc";
const TWO: &str = "Bearer key-one";
const MODELS: &str = r#"{"m": {"targets": [{"provider": "openai", "model": "m"}], "price": {"input": 1, "output": 2}, "max_output_tokens": 100}}"#;

/// A server that keeps tasks, for two callers.
struct Tested {
    gateway: TestGateway,
    server: Server,
}

impl Tested {
    fn new(variables: &[(&str, &str)]) -> Self {
        let entry = |name, hash| json!({"name": name, "scopes": ["*"], "hash": hash});
        Self::with(&[entry("one", HASHES[0]), entry("two", HASHES[1])], variables)
    }

    fn with(keys: &[Value], variables: &[(&str, &str)]) -> Self {
        let keys = json!(keys).to_string();
        let own = [("AUTH", "api-key"), ("API_KEYS", &*keys), ("DEVELOPMENT", "false")];
        let mut gateway = gateway(&[&own[..], variables].concat());
        gateway.host.bindings.extend([TASKS, LEDGER]);
        gateway.capabilities = WITH_TASKS;
        let server = gateway.server();
        Self { gateway, server }
    }

    /// The same tasks after a deployment with other variables.
    fn deployed(self, keys: &[Value]) -> Self {
        let mut later = Self::with(keys, &[]);
        later.gateway.host.tasks = self.gateway.host.tasks;
        later
    }

    fn send(&self, key: &str, method: Method, path: &str, body: &Value) -> Reply {
        let headers = [JSON, LOCAL, ("authorization", key)];
        self.gateway.send_to(&self.server, (method, path), vec![], &headers, body)
    }

    /// Sends a request in the background, which must be accepted. Returns the path of the response.
    fn begin(&self, more: Value) -> String {
        let reply = self.post(more);
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert!(reply.sent.is_empty(), "no provider is asked yet");
        format!("/v1/responses/{}", reply.json()["id"].as_str().unwrap())
    }

    fn post(&self, more: Value) -> Reply {
        let mut request = body(json!({"background": true}));
        for (name, value) in more.as_object().unwrap() {
            request[name] = value.clone();
        }
        self.send(ONE, Method::Post, "/v1/responses", &request)
    }

    fn get(&self, path: &str) -> Value {
        let reply = self.send(ONE, Method::Get, path, &Value::Null);
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.json()
    }

    /// Runs what is due. The provider gives these answers. Returns what it has got.
    fn run(&self, answers: Vec<Result<HttpResponse, HttpError>>) -> Vec<Sent> {
        self.step(answers, false)
    }

    fn step(&self, answers: Vec<Result<HttpResponse, HttpError>>, dies: bool) -> Vec<Sent> {
        ANSWERS.set(answers.into());
        REQUESTS.take();
        let Self { gateway: TestGateway { host, .. }, server } = self;
        // Each request sets the clock to the same time.
        host.now_ms.update(|now_ms| now_ms + 1_000);
        assert_eq!(pollster::block_on(host.tasks.run(server, host, dies)), 1);
        REQUESTS.take()
    }
}

#[test]
fn a_task_runs_the_chat() {
    let own = json!({"type": "mcp", "server_label": "own", "server_url": "toolbooth", "require_approval": "never", "allowed_tools": ["Echo.Say"]});
    let text = || vec![native(json!([message("T")]))];
    let calls = || {
        let call = function_call("c1", "Echo_Say", &json!({"text": "a"}));
        vec![native(json!([call])), native(json!([message("Done")]))]
    };
    let cut = || {
        let mut body = response(json!([message("T")]));
        body["status"] = json!("incomplete");
        body["incomplete_details"] = json!({"reason": "max_output_tokens"});
        vec![answer(200, body.to_string())]
    };
    for (more, answers, status) in [
        (json!({"instructions": "Be brief", "metadata": {"a": "b"}}), text(), "completed"),
        (json!({"tools": [own]}), calls(), "completed"),
        (json!({"store": true}), cut(), "incomplete"),
        (json!({"model": "groq/m"}), vec![says("T")], "completed"),
    ] {
        let tested = Tested::new(GROQ);
        let created = tested.post(more.clone()).json();
        let path = tested.begin(more.clone());
        let id = path.rsplit_once('/').unwrap().1;
        assert_eq!((id.len(), &id[..5]), (37, "resp_"), "128 random bits");
        let own = |response: &Value| {
            ["object", "id", "background", "store", "created_at", "instructions", "metadata"]
                .map(|name| response[name].clone())
        };
        assert_eq!(created["status"], "queued");
        let working = tested.get(&path);
        assert_eq!((&working["status"], &working["output"]), (&json!("in_progress"), &json!([])));
        assert_eq!(own(&working), own(&created));
        let sent = tested.run(answers.clone());
        assert_eq!(sent.len(), answers.len());
        let ended = tested.get(&path);
        assert_eq!(ended["status"], status, "{ended}");
        assert_eq!(own(&ended)[..5], own(&created)[..5], "{more}");
        // What the same request would have got at once.
        let mut request = body(more);
        request.as_object_mut().unwrap().remove("store");
        let headers = [JSON, LOCAL, ("authorization", ONE)];
        let at = (Method::Post, "/v1/responses");
        let whole = tested.gateway.send_to(&tested.server, at, answers, &headers, &request).json();
        assert_eq!(kinds(&ended), kinds(&whole));
        assert_eq!((&ended["usage"], &ended["model"]), (&whole["usage"], &whole["model"]));
        assert_eq!(ended["_2api"]["rounds"], whole["_2api"]["rounds"]);
        assert_eq!(sent.len(), ended["_2api"]["rounds"].as_u64().unwrap() as usize);
    }
}

#[test]
fn a_response_that_fails_says_why() {
    for (status, code) in
        [(500, "server_error"), (429, "rate_limit_exceeded"), (400, "invalid_prompt")]
    {
        let tested = Tested::new(&[]);
        let path = tested.begin(json!({"instructions": "Be brief"}));
        tested.run(vec![answer(status, r#"{"error":{"message":"because"}}"#)]);
        let event = tested.gateway.host.lines.take().pop().unwrap().1;
        assert!(event.contains(r#""event":"chat""#) && event.contains("error.type"), "{event}");
        let failed = tested.get(&path);
        assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!(code)));
        assert!(failed["error"]["message"].as_str().unwrap().contains("because"), "{failed}");
        assert_eq!(failed["instructions"], "Be brief");
    }
}

/// An answer may have been paid for, and calls may have had an effect.
#[test]
fn a_response_that_was_interrupted_fails_and_is_not_asked_for_again() {
    let tested = Tested::with(
        &[
            json!({"name": "one", "scopes": ["*"], "hash": HASHES[0], "budgets": [{"window": "1d", "usd": 1}]}),
        ],
        &[("MODELS", MODELS)],
    );
    let operations = || tested.gateway.host.ledger.operations.take();
    let path = tested.begin(json!({"model": "m"}));
    let checked = operations();
    assert_eq!((checked.len(), &*checked[1]), (2, "settle 0"), "nothing is taken before the chat");
    assert_eq!(tested.step(vec![native(json!([message("T")]))], true).len(), 1);
    let reserved = operations();
    assert_eq!(reserved.len(), 2, "{reserved:?}");
    assert!(tested.run(vec![]).is_empty());
    let failed = tested.get(&path);
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("failed"), &json!("server_error"))
    );
    assert!(failed["error"]["message"].as_str().unwrap().contains("restarted"), "{failed}");
    assert!(operations().is_empty(), "neither the restart nor a look costs anything");
}

/// What is stored takes space, so it costs as much as a request that is answered at once.
#[test]
fn a_response_is_stored_and_counted_once_if_the_budgets_cover_it() {
    let with = |budgets: Value, most: &str| {
        let key = json!({"name": "one", "scopes": ["*"], "hash": HASHES[0], "budgets": [budgets]});
        Tested::with(&[key], &[("MODELS", MODELS), ("MAX_TASKS", most)])
    };
    for (budgets, kept) in [
        (json!({"window": "1d", "requests": 2}), 2),
        (json!({"window": "1d", "requests": 1}), 1),
        (json!({"window": "1d", "usd": 0.000_000_001}), 0),
    ] {
        let tested = with(budgets.clone(), "10");
        for _ in 0..kept {
            tested.begin(json!({"model": "m"}));
        }
        let stored = tested.gateway.host.tasks.kept();
        let headers = [JSON, LOCAL, ("authorization", ONE)];
        let reply = tested.post(json!({"model": "m"}));
        assert_eq!((reply.status, reply.code()), (429, "budget_exceeded".to_owned()), "{budgets}");
        let request = body(json!({"model": "m"}));
        let at = (Method::Post, "/v1/responses");
        let whole = tested.gateway.send_to(&tested.server, at, vec![], &headers, &request);
        assert_eq!((whole.status, whole.code()), (reply.status, reply.code()));
        assert_eq!(tested.gateway.host.tasks.kept(), stored, "{budgets}");
    }

    let tested = with(json!({"window": "1d", "requests": 9}), "1");
    let operations = || tested.gateway.host.ledger.operations.take();
    tested.begin(json!({"model": "m"}));
    assert_eq!(operations(), ["reserve 1 requests", "settle 1"]);
    assert_eq!(tested.post(json!({"model": "m"})).code(), "too_many_tasks");
    assert_eq!(operations(), ["reserve 1 requests", "settle 0"]);
    assert_eq!(tested.run(vec![native(json!([message("T")]))]).len(), 1);
    assert!(operations().is_empty(), "the chat is not counted once more");
}

#[test]
fn a_response_ends_when_it_is_cancelled_or_deleted() {
    let tested = Tested::new(&[]);
    let path = tested.begin(json!({}));
    let cancel = || tested.send(ONE, Method::Post, &format!("{path}/cancel"), &Value::Null);
    for _ in 0..2 {
        let cancelled = cancel();
        assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")));
    }
    assert_eq!(tested.get(&path)["status"], "cancelled");
    let run = |tested: &Tested| {
        pollster::block_on(tested.gateway.host.tasks.run(
            &tested.server,
            &tested.gateway.host,
            false,
        ))
    };
    assert_eq!(run(&tested), 0);

    let delete = || tested.send(ONE, Method::Delete, &path, &Value::Null);
    let id = path.rsplit_once('/').unwrap().1;
    let deleted = delete();
    assert_eq!(deleted.json(), json!({"id": id, "object": "response", "deleted": true}));
    assert_eq!((delete().status, delete().code()), (404, "not_found".to_owned()));
    assert_eq!(tested.gateway.host.tasks.kept(), "");

    // What has ended stays as it is.
    let path = tested.begin(json!({}));
    tested.run(vec![native(json!([message("T")]))]);
    let cancelled = tested.send(ONE, Method::Post, &format!("{path}/cancel"), &Value::Null);
    assert_eq!(cancelled.json(), tested.get(&path));
    assert_eq!(cancelled.json()["status"], "completed");
}

#[test]
fn only_its_caller_finds_a_response() {
    let tested = Tested::new(&[]);
    let path =
        tested.begin(json!({"input": "a secret question", "metadata": {"a": "of the caller"}}));
    let unknown = format!("/v1/responses/resp_{}", "f".repeat(32));
    let hex = path.rsplit_once('_').unwrap().1;
    for (method, end) in [(Method::Get, ""), (Method::Post, "/cancel"), (Method::Delete, "")] {
        let of_other = tested.send(TWO, method, &format!("{path}{end}"), &Value::Null);
        let of_none = tested.send(TWO, method, &format!("{unknown}{end}"), &Value::Null);
        assert_eq!((of_other.status, &of_other.text), (404, &of_none.text));
        assert_eq!(of_other.json()["error"]["type"], "invalid_request_error");
        // It is no task of a call either.
        for path in [format!("/tasks/{hex}{end}"), format!("/v1/responses/{hex}{end}")] {
            assert_eq!(tested.send(ONE, method, &path, &Value::Null).status, 404, "{path}");
        }
    }
    assert_eq!(tested.get(&path)["status"], "in_progress");
    tested.run(vec![native(json!([message("a secret answer")]))]);
    let kept = tested.gateway.host.tasks.kept();
    for hidden in ["secret", "of the caller", hex] {
        assert!(!kept.contains(hidden), "{hidden} in {kept}");
    }
}

#[test]
fn a_response_fails_when_the_key_of_its_caller_is_removed() {
    let entry =
        |name: &str, scopes: &[&str]| json!({"name": name, "scopes": scopes, "hash": HASHES[0]});
    for (today, expected) in [
        (entry("one", &["gateway"]), "completed"),
        (entry("one", &[]), "failed"),
        (entry("other", &["gateway"]), "failed"),
    ] {
        let tested = Tested::with(&[entry("one", &["gateway"])], &[]);
        let path = tested.begin(json!({}));
        let later = tested.deployed(std::slice::from_ref(&today));
        later.gateway.host.now_ms.set(1_741_724_000_000);
        let sent = later.run(vec![native(json!([message("T")]))]);
        assert_eq!(sent.is_empty(), expected == "failed", "{today}");
        let found = later.deployed(&[entry("one", &["gateway"])]).get(&path);
        assert_eq!(found["status"], expected, "{today} {found}");
    }
}

#[test]
fn what_cannot_run_in_the_background_is_rejected() {
    let tested = Tested::new(&[("MAX_TASKS", "1"), ("GEMINI_API_KEY", "k")]);
    let schema = json!({"type": "array"});
    let unsupported = json!({"type": "function", "name": "f", "parameters": schema});
    for (more, param, words) in [
        // As within the request.
        (json!({"stream": true}), json!("stream"), "GET /v1/responses/{id}"),
        (json!({"model": "unknown"}), json!("model"), "unknown"),
        (json!({"model": "google/g", "tools": [unsupported]}), json!("tools"), "'type'"),
    ] {
        let reply = tested.post(more.clone());
        assert!(matches!(reply.status, 400 | 404), "{more} {}", reply.text);
        let error = &reply.json()["error"];
        assert_eq!(error["param"], param, "{more}");
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
    let path = tested.begin(json!({}));
    assert_eq!(tested.post(json!({})).code(), "too_many_tasks");
    let headers = [LOCAL, ("authorization", ONE)];
    let request = Request {
        own_origin: None,
        method: Method::Get,
        path: &path,
        query: "stream=true",
        headers: &Pairs(&headers),
        body: Body::Read(Vec::new()),
    };
    let answer = pollster::block_on(tested.server.answer(request, &tested.gateway.host));
    assert_eq!(answer.head.status, 400, "a stream of it");

    // What would not fit into a row of the object.
    let tested = Tested::new(&[("GATEWAY_MAX_BODY_BYTES", "4000000")]);
    assert_eq!(tested.post(json!({"input": "a".repeat(1_500_000)})).status, 413);
    let path = tested.begin(json!({}));
    tested.run(vec![native(json!([message(&"a".repeat(1_500_000))]))]);
    let failed = tested.get(&path);
    assert!(failed["error"]["message"].as_str().unwrap().contains("too large"), "{failed}");

    for lacks in ["the binding", "the capability", "the key"] {
        let mut tested = Tested::new(if lacks == "the key" { &[("STATE_KEY", "")] } else { &[] });
        match lacks {
            "the binding" => tested.gateway.host.bindings.clear(),
            "the capability" => tested.gateway.capabilities = CAPABILITIES,
            _ => {}
        }
        tested.server = tested.gateway.server();
        let reply = tested.post(json!({}));
        assert_eq!(
            (reply.status, &reply.json()["error"]["param"]),
            (400, &json!("background")),
            "{lacks}"
        );
        assert!(reply.text.contains("TASKS"), "{}", reply.text);
        assert_eq!(tested.send(ONE, Method::Get, "/v1/responses/resp_1", &Value::Null).status, 404);
    }
    let tested = Tested::new(&[]);
    tested.gateway.host.tasks.fails.set(true);
    assert_eq!(tested.post(json!({})).status, 503);
}
