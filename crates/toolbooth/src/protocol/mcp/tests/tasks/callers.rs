//! Who finds a task, and when it ends with what its caller stood for.

use std::cell::Cell;
use std::sync::Arc;

use base64ct::{Base64UrlUnpadded, Encoding};
use jwt_compact::alg::{Hs256, Hs256Key};
use jwt_compact::{Algorithm, AlgorithmSignature};

use super::*;
use crate::auth::{GRANT, HOLDER, OwnTokens, Permitted, TokenHolders};
use crate::host::{BoxFuture, Host};
use crate::principal::Scopes;
use crate::secret::Secret;
use crate::settings::JwtSettings;

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
