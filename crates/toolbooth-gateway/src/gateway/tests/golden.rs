//! Golden bodies: what each provider gets of a client's request, what is lost, and what the client reads. The files in `golden/`
//! are for people to review; `UPDATE=1` writes them again.
//!
//! Whatever a file says, what reaches a provider must hold to the rules in `stand-ins/`.

mod cases;
mod checks;
mod print;
pub(super) mod provider;
pub(super) mod rules;
mod said;
mod subsets;

use std::path::PathBuf;

use crate::gateway::tests::*;
use cases::Case;

/// The files, with their names.
fn files() -> Vec<(PathBuf, Case)> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/golden"));
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read(&path).unwrap();
        let case =
            serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        (path, case)
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn bodies_are_what_the_files_say() {
    let is_update = std::env::var_os("UPDATE").is_some();
    let only = std::env::var("ONLY").unwrap_or_default();
    let mut problems = Vec::new();
    for (path, mut case) in files() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if !name.contains(&only) {
            continue;
        }
        let outcomes = case.run();
        for outcome in &outcomes {
            let found = outcome.problems(&case.right);
            problems.extend(found.into_iter().map(|it| format!("{name}: {}: {it}", outcome.how())));
        }
        let gets = cases::grouped(&outcomes);
        if is_update {
            case.gets = gets;
            std::fs::write(&path, print::print(&serde_json::to_value(&case).unwrap())).unwrap();
        } else if gets != case.gets {
            problems.push(format!("{name}: {}", difference(&case.gets, &gets)));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// The first outcome that differs from what a file says.
fn difference(before: &[Value], now: &[Value]) -> String {
    let changed = now.iter().find(|it| !before.contains(it));
    let gone = before.iter().find(|it| !now.contains(it));
    let show = |it: Option<&Value>| it.map_or("nothing".to_owned(), print::print);
    format!("not what the file says, but\n{}in place of\n{}", show(changed), show(gone))
}

/// The rules find what providers reject: otherwise that all files hold to them would prove nothing.
#[test]
fn rules_are_broken() {
    const CHAT: &str = "/v1/chat/completions";
    let user = json!({"role": "user", "content": "hi"});
    let call =
        json!({"role": "assistant", "content": null, "tool_calls": [call("call_1", "w", "{}")]});
    let used = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "w", "input": {}}]});
    let model = json!({"role": "model", "parts": [{"functionCall": {"name": "w", "args": {}}}]});
    for (host, path, body, expected) in [
        ("api.openai.com", CHAT, json!({"messages": [user]}), None),
        (
            "api.openai.com",
            CHAT,
            json!({"messages": [user, call]}),
            Some("chat: calls have results"),
        ),
        (
            "api.openai.com",
            CHAT,
            json!({"messages": [user], "x": 1}),
            Some("chat: members of the request"),
        ),
        (
            "api.openai.com",
            CHAT,
            json!({"model": "gpt-5.6-sol", "messages": [user], "tools": [tool("w")]}),
            Some("chat: effort by default with tools"),
        ),
        (
            "api.openai.com",
            "/v1/responses",
            json!({"input": [{"type": "function_call_output", "call_id": "a", "output": "5"}]}),
            Some("responses: outputs have calls"),
        ),
        (
            "api.anthropic.com",
            "/v1/messages",
            json!({"model": "claude-opus-5", "messages": [user], "temperature": 0.2}),
            Some("anthropic: sampling is deprecated"),
        ),
        (
            "api.anthropic.com",
            "/v1/messages",
            json!({"messages": [user, used]}),
            Some("anthropic: calls have results"),
        ),
        (
            "generativelanguage.googleapis.com",
            "/v1beta/models/gemini-3-pro:generateContent",
            json!({"contents": [model]}),
            Some("gemini: as many results as calls"),
        ),
        (
            "vllm.example",
            CHAT,
            json!({"messages": [user, {"role": "system", "content": "x"}]}),
            Some("qwen: system comes first"),
        ),
        ("api.mistral.ai", CHAT, json!({"messages": [user, call]}), Some("mistral: ids of calls")),
    ] {
        let mut body = body;
        if body["model"].is_null() && host != "generativelanguage.googleapis.com" {
            body["model"] = "m".into();
        }
        if host == "api.anthropic.com" {
            body["max_tokens"] = 1.into();
        }
        let headers = vec![("anthropic-version".to_owned(), "2023-06-01".to_owned())];
        let url = format!("https://{host}{path}");
        let sent = Sent { url, headers, body, timeout: Duration::default() };
        assert_eq!(rules::broken(&sent).as_deref(), expected, "{sent:?}");
    }
}
