//! What JSON Schema cannot say of a request: how its parts belong together.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::gateway::tests::golden::rules::Request;
use crate::gateway::tests::golden::subsets;

/// They need what the stand-ins know, such as what a provider has signed.
const OF_STAND_INS: &[&str] = &[
    "an older Gemini schema",
    "betas are asked for",
    "reasoning was issued",
    "signatures were issued",
    "the newer version has no sampling",
    "thoughts are signed",
];

/// Whether a request breaks a check at a place.
pub(super) fn is_broken(check: &str, request: &Request<'_>, path: &[usize], value: &Value) -> bool {
    let Request { table, body, .. } = request;
    let messages = items(if *table == "gemini" { &body["contents"] } else { &body["messages"] });
    let is_last = |roles: &[&str]| {
        messages.last().is_some_and(|it| roles.iter().any(|role| it["role"] == *role))
    };
    match check {
        "results follow calls" | "calls precede results" => unpaired(table, body).contains(&check),
        "the version is known" => request.sent.header("anthropic-version") != "2023-06-01",
        "the budget fits" => {
            let budget = body["thinking"]["budget_tokens"].as_u64();
            let most = body["max_tokens"].as_u64().unwrap_or(u64::MAX);
            body["thinking"]["type"] == "enabled" && budget.is_none_or(|it| it < 1024 || it >= most)
        }
        "at most four cache marks" => body.to_string().matches("\"cache_control\":{").count() > 4,
        "tools have names of their own" => {
            repeats(items(&body["tools"]).iter().map(|tool| &tool["name"]))
        }
        "only the last message may be empty" => {
            let is_empty = |it: &&Value| items(&it["content"]).is_empty();
            messages
                .iter()
                .position(|it| is_empty(&it))
                .is_some_and(|at| at + 1 < messages.len() || !is_last(&["assistant"]))
        }
        "results are the first blocks" => messages.iter().any(|message| {
            let kinds =
                items(&message["content"]).iter().map(|block| block["type"] == "tool_result");
            kinds.clone().skip_while(|is_result| *is_result).any(|is_result| is_result)
        }),
        "calls have ids of their own" => {
            repeats(blocks(messages, "tool_use").map(|block| &block["id"]))
        }
        "thoughts precede the last calls" => messages.iter().rev().take(2).any(|message| {
            let blocks = items(&message["content"]);
            let thinks = blocks
                .first()
                .is_some_and(|it| it["type"] == "thinking" || it["type"] == "redacted_thinking");
            !thinks && blocks.iter().any(|block| block["type"] == "tool_use")
        }),
        "a user ends the conversation" => is_last(&["assistant", "model"]),
        "a user or a result ends the conversation" => is_last(&["assistant"]),
        "one system message, the first" => messages.iter().skip(1).any(|it| it["role"] == "system"),
        "an assistant follows results" => messages.windows(2).any(|pair| {
            pair[0]["role"] == "tool" && pair[1]["role"] != "tool" && pair[1]["role"] != "assistant"
        }),
        "reasoning comes back with calls" => {
            let lacks =
                |it: &&Value| it["tool_calls"].is_array() && !it["reasoning_content"].is_string();
            body["thinking"]["type"] != "disabled" && messages.iter().any(|it| lacks(&it))
        }
        "no reference to an item" => {
            items(&body["input"]).iter().any(|it| it["type"] == "item_reference")
        }
        "parts of the assistant" => has_other_parts(value, &["output_text", "refusal"]),
        "parts of the user" => has_other_parts(value, &["input_text", "input_image", "input_file"]),
        "an item follows reasoning" => {
            let next = path.first().and_then(|at| items(&body["input"]).get(at + 1));
            next.is_none_or(|it| it["type"] == "message" && it["role"] != "assistant")
        }
        "calls come after users" => (0..messages.len()).any(|at| {
            let before = at.checked_sub(1).and_then(|at| messages.get(at));
            !called(&messages[at]).is_empty() && before.is_none_or(|it| it["role"] == "model")
        }),
        "results name their calls" => messages.windows(2).any(|pair| {
            let ids: Vec<_> =
                called(&pair[0]).into_iter().map(|call| &call["functionCall"]["id"]).collect();
            let results = answered(&pair[1]).into_iter().map(|it| &it["functionResponse"]["id"]);
            ids.iter().any(|id| id.is_string())
                && results.filter(|id| id.is_string()).any(|id| !ids.contains(&id))
        }),
        "calls are signed" => {
            let is_question = |it: &&Value| {
                it["role"] == "user" && answered(it).len() < items(&it["parts"]).len()
            };
            let start = messages.iter().rposition(|it| is_question(&it)).map_or(0, |at| at + 1);
            messages[start..].iter().any(|it| {
                called(it).first().is_some_and(|call| !call["thoughtSignature"].is_string())
            })
        }
        "allowed functions are declared" => {
            let names: Vec<_> = items(&body["tools"])
                .iter()
                .flat_map(|tool| items(&tool["functionDeclarations"]))
                .map(|function| &function["name"])
                .collect();
            let allowed =
                items(&body["toolConfig"]["functionCallingConfig"]["allowedFunctionNames"]);
            allowed.iter().any(|name| !names.contains(&name))
        }
        "references stand alone" => {
            has_siblings(&body["tools"])
                || has_siblings(&body["generationConfig"]["responseJsonSchema"])
        }
        "a Gemini schema of answers" => {
            subsets::is_outside(check, &value["responseJsonSchema"]).unwrap()
        }
        other => {
            let names = ["parameters", "parametersJsonSchema", "input_schema"];
            let schema = names.into_iter().find_map(|name| value.get(name));
            if let Some(is_outside) = schema.and_then(|it| subsets::is_outside(other, it)) {
                return is_outside;
            }
            let is_without = schema.is_none() && other.ends_with(" schema");
            assert!(is_without || OF_STAND_INS.contains(&other), "no check is named {other:?}");
            false
        }
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn blocks<'b>(messages: &'b [Value], kind: &'static str) -> impl Iterator<Item = &'b Value> {
    let blocks = messages.iter().flat_map(|message| items(&message["content"]));
    blocks.filter(move |block| block["type"] == kind)
}

fn repeats<'v>(values: impl Iterator<Item = &'v Value>) -> bool {
    let mut seen = BTreeSet::new();
    values.map(Value::to_string).any(|value| !seen.insert(value))
}

fn has_other_parts(item: &Value, known: &[&str]) -> bool {
    items(&item["content"]).iter().any(|part| known.iter().all(|kind| part["type"] != *kind))
}

fn parts<'v>(content: &'v Value, name: &str) -> Vec<&'v Value> {
    items(&content["parts"]).iter().filter(|part| part[name].is_object()).collect()
}

fn called(content: &Value) -> Vec<&Value> {
    parts(content, "functionCall")
}

fn answered(content: &Value) -> Vec<&Value> {
    parts(content, "functionResponse")
}

/// Whether a schema has a reference with members beside it that do not begin with `$`.
fn has_siblings(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_siblings),
        Value::Object(members) => {
            let is_reference = members.get("$ref").is_some_and(Value::is_string);
            let may_stand =
                |name: &String| name.starts_with('$') || name == "description" || name == "default";
            is_reference && !members.keys().all(may_stand) || members.values().any(has_siblings)
        }
        _ => false,
    }
}

/// The checks of calls and their results that a conversation breaks.
fn unpaired(table: &str, body: &Value) -> Vec<&'static str> {
    const MISSING: &str = "results follow calls";
    const FOREIGN: &str = "calls precede results";
    let mut broken = Vec::new();
    let mut note = |is_broken: bool, check| {
        if is_broken {
            broken.push(check);
        }
    };
    match table {
        "gemini" => {
            let contents = items(&body["contents"]);
            for at in 0..=contents.len() {
                let calls = at.checked_sub(1).map_or(0, |at| called(&contents[at]).len());
                note(calls != contents.get(at).map_or(0, |it| answered(it).len()), MISSING);
            }
        }
        "anthropic" => {
            let messages = items(&body["messages"]);
            for at in 0..=messages.len() {
                let ids = |at: Option<usize>, kind, name: &str| {
                    let message =
                        at.and_then(|at| messages.get(at)).into_iter().cloned().collect::<Vec<_>>();
                    blocks(&message, kind).map(|block| block[name].clone()).collect::<Vec<_>>()
                };
                let calls = ids(at.checked_sub(1), "tool_use", "id");
                let results = ids(Some(at), "tool_result", "tool_use_id");
                note(calls.iter().any(|id| !results.contains(id)), MISSING);
                note(results.iter().any(|id| !calls.contains(id)), FOREIGN);
            }
        }
        "responses" => {
            let mut open = Vec::new();
            for item in items(&body["input"]).iter().filter(|item| item["call_id"].is_string()) {
                let kind = item["type"].as_str().unwrap_or_default();
                if kind.ends_with("_call") {
                    open.push(&item["call_id"]);
                } else {
                    note(!open.contains(&&item["call_id"]), FOREIGN);
                    open.retain(|id| **id != item["call_id"]);
                }
            }
            note(!open.is_empty(), MISSING);
        }
        _ => {
            let mut open = Vec::new();
            for message in items(&body["messages"]) {
                if message["role"] == "tool" {
                    note(!open.contains(&&message["tool_call_id"]), FOREIGN);
                    open.retain(|id| **id != message["tool_call_id"]);
                } else {
                    note(!open.is_empty(), MISSING);
                    open = items(&message["tool_calls"]).iter().map(|call| &call["id"]).collect();
                }
            }
            note(!open.is_empty(), MISSING);
        }
    }
    broken
}
