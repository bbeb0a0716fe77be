//! Property tests of every protocol: anything that is posted gets a response in its format, and nothing panics.
//! The endpoints come from the index, so the tests include new protocols.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::properties::{any_json, modest, places};
use super::*;
use crate::call_samples;
use toolbooth::host::LEDGER;
use toolbooth::route::SampleCall;

/// A valid body for each path that accepts bodies.
fn valid_body(path: &str) -> Value {
    if path.ends_with("/chat/completions") {
        return json!({"model": "openai/m", "messages": [{"role": "user", "content": "hi"}]});
    }
    if path.ends_with("/v1/embeddings") {
        return json!({"model": "openai/m", "input": "hi"});
    }
    if path.starts_with("/v1/responses") {
        return json!({"model": "openai/m", "input": "hi"});
    }
    if path.starts_with("/v1/messages") {
        let messages = json!([{"role": "user", "content": "hi"}]);
        return json!({"model": "openai/m", "max_tokens": 9, "messages": messages});
    }
    let is_at = |sampled: &str| sampled.replace("{name}", NAME) == path;
    let (.., sample) = call_samples().find(|(_, sampled, _)| is_at(sampled)).unwrap();
    let input = &json!({"text": "hi"});
    let call = SampleCall { id: "7", tool_id: "Echo.Say", name: NAME, input, context: None };
    sample.request(&call)
}

/// The tool that the tests call.
const NAME: &str = "Echo_Say";

/// All endpoints of the index: method and path, which names the tool that the tests call.
pub(super) fn endpoints() -> Vec<(String, String)> {
    let index = send(&FakeHost::default(), ("GET", "/", &[]), "");
    let index: Value = serde_json::from_str(index.lines().last().unwrap()).unwrap();
    let protocols = index["protocols"].as_array().unwrap();
    let endpoints = protocols.iter().flat_map(|one| one["endpoints"].as_array().unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let named = |path: &Value| text(path).replace("{name}", NAME);
    endpoints.map(|one| (text(&one["method"]), named(&one["path"]))).collect()
}

/// How the paths of the chat gateway end.
const CHATS: [&str; 5] = [
    "/chat/completions",
    "/v1/responses",
    "/v1/messages",
    "/v1/messages/count_tokens",
    "/v1/embeddings",
];

/// The paths that accept calls of tools. The chat gateway has its own tests, and a path that names what is stored exists if that
/// does.
fn call_paths() -> Vec<String> {
    let calls = |(method, path): &(String, String)| {
        method == "POST" && !CHATS.iter().any(|end| path.ends_with(end)) && !path.contains("{id}")
    };
    endpoints().into_iter().filter(calls).map(|(_, path)| path).collect()
}

fn is_rpc(path: &str) -> bool {
    path.starts_with("/opentool") || path.starts_with("/jsonrpc")
}

#[test]
fn every_endpoint_serves_a_valid_body() {
    for path in call_paths() {
        let answer =
            send(&FakeHost::default(), ("POST", &path, &[JSON]), &valid_body(&path).to_string());
        assert!(answer.starts_with("200\n") && answer.contains("hi"), "{path}: {answer}");
    }
}

#[test]
fn every_page_of_the_index_exists() {
    // A path that names a model or a task exists if that does.
    let is_page = |(method, path): &(String, String)| {
        method == "GET" && !["{+", "{id}"].iter().any(|named| path.contains(named))
    };
    for (method, path) in endpoints().into_iter().filter(is_page) {
        let path = if path.ends_with(NAME) { format!("{path}?text=hi") } else { path };
        let answer = send(&FakeHost::default(), (&method, &path, &[]), "");
        assert!(answer.starts_with("200\n"), "{path}: {answer}");
    }
}

#[test]
fn early_rejections_have_the_format_of_their_protocol() {
    // `answer` checks the format.
    let host = FakeHost::with(&[("MAX_BODY_BYTES", "1000")]);
    for path in call_paths() {
        for (headers, body, status) in [
            (&[JSON][..], Body::from(vec![b' '; 1001]), 413),
            (&[], Body::from(""), 415),
            (&[JSON], Body::from("{"), 400),
        ] {
            let answer = answer(CATALOG, &host, ("POST", &path, headers), body);
            // OpenTool does not define 415, and JSON-RPC has its own code.
            let expected = if is_rpc(&path) && status == 415 { 400 } else { status };
            assert_eq!(answer.status, expected, "{path}: {}", wire(&answer));
        }
    }
}

#[test]
fn every_protocol_authenticates_and_limits_callers() {
    // `answer` checks the format.
    let closed =
        FakeHost::with(&[("AUTH", "jwt"), ("JWT_SECRET", "a secret of thirty-two bytes and")]);
    for (method, path) in endpoints() {
        let free = path == "/" || path.ends_with("/health");
        for headers in [&[JSON][..], &[JSON, ("authorization", "Bearer x")]] {
            let answer = send(&closed, (&method, &path, headers), "{}");
            assert_eq!(answer.starts_with("401\n"), !free, "{method} {path}: {answer}");
        }
    }
    for path in call_paths() {
        let full = FakeHost { limit: Some(Ok(0)), ..FakeHost::default() };
        let body = valid_body(&path).to_string();
        let answer = send(&full, ("POST", &path, &[JSON]), &body);
        assert!(answer.starts_with("429\n"), "{path}: {answer}");
        let scoped =
            |text: &str| text.replace("Echo.Say", "Echo.Scoped").replace(NAME, "Echo_Scoped");
        let request = (scoped(&path), scoped(&body));
        assert_ne!(request, (path.clone(), body), "{path}");
        let (scoped_path, body) = request;
        let answer = send(&FakeHost::default(), ("POST", &scoped_path, &[JSON]), &body);
        let explained = ["credentials", "scope"].iter().any(|word| answer.contains(word));
        assert!(explained, "{path}: {answer}");
    }
}

#[test]
fn every_protocol_applies_the_tools_of_a_key() {
    // The hash is that of "key-one".
    let keys = r#"[{"name":"one","scopes":["*"],"tools":["TOOL"],
        "hash":"9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a"}]"#;
    for (tool, allowed) in
        [("Echo.Say", true), ("Echo.*", true), (NAME, true), ("Echo.Scoped", false), ("*", false)]
    {
        let keys = keys.replace("TOOL", tool);
        let host = FakeHost::with(&[("AUTH", "api-key"), ("API_KEYS", &keys)]);
        for path in call_paths() {
            let headers = [JSON, ("oxp-api-key", "key-one")];
            let answer = send(&host, ("POST", &path, &headers), &valid_body(&path).to_string());
            let rejected = ["with these credentials", "Permission denied"];
            let is_rejected = rejected.iter().any(|text| answer.contains(text));
            assert_eq!(
                (answer.contains("hi"), is_rejected),
                (allowed, !allowed),
                "{path} {answer}"
            );
        }
    }
}

#[test]
fn every_protocol_says_that_a_budget_is_spent_and_when_to_try_again() {
    // The hash is that of "key-one".
    let keys = r#"[{"name":"one","scopes":["*"],"budgets":[{"window":"1d","tool_calls":1}],
        "hash":"9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a"}]"#;
    for path in call_paths() {
        let mut host = FakeHost::with(&[("AUTH", "api-key"), ("API_KEYS", keys)]);
        host.bindings.insert(LEDGER);
        let headers = [JSON, ("oxp-api-key", "key-one")];
        let call = || send(&host, ("POST", &path, &headers), &valid_body(&path).to_string());
        let first = call();
        assert!(first.starts_with("200\n") && first.contains("hi"), "{path}: {first}");
        let second = call();
        assert!(second.contains("of which 0 calls of tools are left"), "{path}: {second}");
        assert!(second.contains("\nretry-after: "), "{path}: {second}");
        assert!(second.starts_with("429\n"), "{path}: {second}");
    }
}

#[test]
fn a_crash_response_has_the_format_of_its_protocol() {
    let host = FakeHost::with(&[("ALLOWED_ORIGINS", "*")]);
    let server = Server::new(CATALOG, CAPABILITIES, &host);
    for path in call_paths() {
        let answer = server.failed(&path, &Pairs(&[ORIGIN]), b"");
        let headers: Vec<_> =
            answer.headers.iter().map(|(name, value)| (*name, &**value)).collect();
        assert!(headers.contains(&("access-control-allow-origin", "*")), "{path}: {headers:?}");
        let (status, body) = (answer.status, &answer.body);
        let response =
            exchange::Answer { method: "POST", path: &path, status, headers: &headers, body };
        // OpenTool does not define 500 either.
        let expected = if is_rpc(&path) { 503 } else { 500 };
        assert_eq!(
            (status, exchange::check(&response)),
            (expected, Ok(())),
            "{path}: {}",
            wire(&answer)
        );
    }
}

/// Members that a response repeats: ids, and members with fixed values.
const ECHOED: [&str; 6] = ["id", "call_id", "$schema", "jsonrpc", "type", "role"];

/// `value` with a long word instead of each string, or as a key of each object; also in JSON within strings.
/// Values under the keys of `echoed` are kept.
fn lengthened(value: &Value, word: &str, keys: bool, echoed: &[&str]) -> Value {
    let lengthen = |value: &Value| lengthened(value, word, keys, echoed);
    match value {
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| {
                let stays = echoed.contains(&&**key);
                (key.clone(), if stays { value.clone() } else { lengthen(value) })
            };
            let more = keys.then(|| (word.to_owned(), json!(1)));
            Value::Object(members.iter().map(member).chain(more).collect())
        }
        Value::Array(items) => items.iter().map(lengthen).collect(),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(inner) => lengthen(&inner).to_string().into(),
            Err(_) if keys => text.as_str().into(),
            Err(_) => word.into(),
        },
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn responses_do_not_grow_with_the_strings_of_a_request(
        path in select(call_paths()),
        word in prop_oneof!["[a-z]{1,3}", "[A-Z]\\.[a-z]", "\\PC{1,3}", any::<String>()],
        keys in any::<bool>(),
        at in any::<Index>(),
    ) {
        let word = word.repeat(20_000 / word.len().max(1));
        let mut echoed = ECHOED.to_vec();
        if path.starts_with("/providers") {
            // A result contains the name of its function.
            echoed.push("name");
        }
        let whole = lengthened(&valid_body(&path), &word, keys, &echoed);
        // Also a single long value, because many may hide each other.
        let mut one = valid_body(&path);
        let all = places(&one);
        let place = &all[at.index(all.len())];
        if let Some(value) = whole.pointer(place) {
            *one.pointer_mut(place).unwrap() = value.clone();
        }
        for body in [whole, one] {
            let host = FakeHost::with(&[("MAX_BODY_BYTES", "100000000")]);
            let answer = send(&host, ("POST", &path, &[JSON]), &body.to_string());
            prop_assert!(answer.len() < 8 * 1024, "{} bytes: {:.2000}", answer.len(), answer);
        }
    }

    #[test]
    fn any_json_gets_a_valid_response(path in select(call_paths()), body in any_json()) {
        send(&FakeHost::default(), ("POST", &path, &[JSON]), &body.to_string());
    }

    #[test]
    fn any_bytes_get_a_valid_response(
        path in select(call_paths()),
        body in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        answer(CATALOG, &FakeHost::default(), ("POST", &path, &[JSON]), Body::from(body));
    }

    #[test]
    fn a_valid_body_with_one_change_gets_a_valid_response(
        path in select(call_paths()),
        at in any::<Index>(),
        value in any_json(),
    ) {
        let mut body = valid_body(&path);
        let all = places(&body);
        if let Some(place) = body.pointer_mut(&all[at.index(all.len())]) {
            *place = value;
        }
        send(&FakeHost::default(), ("POST", &path, &[JSON]), &body.to_string());
    }

    #[test]
    fn any_query_gets_a_valid_response(
        (method, path) in select(endpoints()),
        query in prop_oneof![
            any::<String>(),
            "(strict|include|toolkit|version|skip_incompatible|unknown|validate_tool_arguments)=[a-zA-Z0-9_.,%]{0,12}(&[a-z]{0,6}=[a-z]{0,4}){0,3}",
        ],
    ) {
        let body = if method == "POST" { valid_body(&path).to_string() } else { String::new() };
        let path = format!("{path}?{query}");
        send(&FakeHost::default(), (&method, &path, &[JSON]), &body);
    }
}

#[test]
fn a_body_that_mixes_two_protocols_is_rejected() {
    let flat = r#""tool_id":"Echo.Say","input":{"text":"hi"}"#;
    let rpc = r#""jsonrpc":"2.0","id":"1","method":"Echo_Say","params":{"text":"hi"}"#;
    let envelope = r#""request":{"tool_id":"Echo.Say","input":{"text":"hi"}}"#;
    let list = r#""jsonrpc":"2.0","id":1,"method":"tools/list""#;
    let both = |one: &str, other: &str| {
        format!("{one} and {other} belong to different protocols; a call has only one of them")
    };
    let inside = "request and tool_id exclude each other; tool_id belongs inside request";
    let (ids, envelopes) = (both("jsonrpc", "tool_id"), both("jsonrpc", "request"));
    for (path, members, status, reason) in [
        ("/call", [flat, rpc].as_slice(), 400, &*ids),
        ("/call", &[rpc, r#""tool_id":null"#], 400, &ids),
        ("/tools/call", &[envelope, rpc], 400, &envelopes),
        ("/call", &[envelope, rpc, flat], 400, &ids),
        ("/call", &[envelope, flat], 400, inside),
        ("/oxp/call", &[flat, rpc], 400, "is not a field of a call"),
        ("/otc/call", &[envelope, rpc], 400, &both("request", "jsonrpc")),
        ("/oxp/1.0/call", &[envelope, rpc], 400, &both("request", "jsonrpc")),
        ("/xaibo/execute", &[r#""tool_name":"Echo_Say""#, rpc], 400, "is not a field"),
        ("/jsonrpc", &[rpc, r#""tool_id":"Echo.Say""#], 200, &ids),
        ("/jsonrpc", &[rpc, envelope], 200, &envelopes),
        ("/opentool/call", &[rpc, r#""tool_id":"Echo.Say""#], 200, &ids),
        ("/mcp", &[list, r#""tool_id":"Echo.Say""#], 400, &ids),
        ("/mcp", &[list, envelope], 400, &envelopes),
    ] {
        let body = format!("{{{}}}", members.join(","));
        let host = FakeHost::default();
        let got = answer(CATALOG, &host, ("POST", path, &[JSON]), Body::from(&*body));
        assert_eq!(got.status, status, "{path} {body}: {}", wire(&got));
        assert!(wire(&got).contains(reason), "{path} {body}: {}", wire(&got));
        assert!(!wire(&got).contains("hi\""), "{path} {body}: the tool ran");
    }
    // Other members do not identify a protocol.
    for (path, members) in [
        ("/call", [rpc, r#""$schema":"otc://1.0""#].as_slice()),
        ("/call", &[rpc, r#""tool_name":"x","input":{}"#]),
        ("/jsonrpc", &[rpc, r#""$schema":"x","context":{}"#]),
        ("/otc/call", &[envelope, r#""$schema":"otc://1.0","method":"x","params":{}"#]),
    ] {
        let body = format!("{{{}}}", members.join(","));
        let host = FakeHost::default();
        let got = wire(&answer(CATALOG, &host, ("POST", path, &[JSON]), Body::from(&*body)));
        assert!(got.starts_with("200\n") && got.contains("\"hi\""), "{path} {body}: {got}");
    }
}

#[test]
fn some_protocols_treat_null_as_absent() {
    let input = r#"{"text":"hi","mood":null}"#;
    for (path, body, rejected) in [
        ("/call", format!(r#"{{"tool_id":"Echo.Say","input":{input}}}"#), Some(422)),
        (
            "/otc/call",
            format!(r#"{{"request":{{"tool_id":"Echo.Say","input":{input}}}}}"#),
            Some(422),
        ),
        (
            "/jsonrpc",
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"Echo_Say","params":{input}}}"#),
            Some(200),
        ),
        (
            "/xaibo/execute",
            format!(r#"{{"tool_name":"Echo_Say","parameters":{input}}}"#),
            Some(200),
        ),
        ("/providers/gemini/call", format!(r#"[{{"name":"Echo_Say","args":{input}}}]"#), None),
    ] {
        let host = FakeHost::default();
        let got = wire(&answer(CATALOG, &host, ("POST", path, &[JSON]), Body::from(&*body)));
        assert!(got.starts_with(&format!("{}\n", rejected.unwrap_or(200))), "{path}: {got}");
        assert_eq!(got.contains("Must be one of"), rejected.is_some(), "{path}: {got}");
    }
}
