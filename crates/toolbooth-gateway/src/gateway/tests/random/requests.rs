//! Any conversation reaches every provider: each call and result once, what was said in its order, and nothing that the provider
//! rejects.

use serde_json::Value;

use crate::gateway::dialect::{Dialect, Feature};
use crate::gateway::provider_state::REASONING;
use crate::gateway::tests::golden::rules;
use crate::gateway::tests::random::got::{self, Format, Got};
use crate::gateway::tests::random::marks::Marks;
use crate::gateway::tests::random::talk::{Choice, Talk, Thought};
use crate::gateway::tests::random::world::{Front, World, dialect};
use crate::gateway::tests::random::{ask_chat, ask_messages, ask_responses};
use crate::gateway::tests::{Reply, Sent};

/// The hosts whose rules are known.
const STAND_INS: [&str; 7] = [
    "api.openai.com",
    "api.anthropic.com",
    "generativelanguage",
    "api.deepseek.com",
    "vllm.example",
    "api.mistral.ai",
    "models.example",
];

/// Why a request may be an error although the client's own provider would take it.
const LIMITS: [&str; 3] = [
    // Nobody else can read it.
    "files that OpenAI has stored",
    // Anthropic has no JSON without a schema, and no other way to it beside tools and thinking.
    "type must be json_schema",
    // The provider of these tests answers with a text.
    "The model called no tool",
];

/// What a provider rejects of a request that its own client wrote for another of its models. It gets such a request as it is, once
/// more without members that it rejects, or its error is the client's.
const OF_CLIENT: [&str; 14] = [
    "sampling is deprecated",
    "top_p is deprecated",
    "top_k is deprecated",
    "thinking with a budget is gone",
    "thinking cannot be disabled",
    "adaptive thinking came later",
    "forced calls",
    "effort xhigh came later",
    "effort max came later",
    "effort came later",
    "prefill",
    "schemas of functions",
    "strict schemas",
    "thoughts before calls",
];

/// Whether the rules of a provider are known.
pub(super) fn has_rules(sent: &Sent) -> bool {
    STAND_INS.iter().any(|host| sent.url.contains(host))
}

pub(super) fn write(front: Front, talk: &Talk) -> (Value, Marks) {
    let (body, marks) = match front {
        Front::Chat => ask_chat::write(talk),
        Front::Messages => ask_messages::write(talk),
        Front::Responses => ask_responses::write(talk),
    };
    (Value::Object(body), marks)
}

/// What is wrong with what comes of a conversation.
pub(super) fn problems(world: &World, front: Front, model: &str, talk: &Talk) -> Vec<String> {
    let (body, marks) = write(front, talk);
    let reply = world.ask(front, model, &body);
    if marks.is_invalid {
        let is_error = reply.status == 400 && reply.sent.is_empty();
        return if is_error { vec![] } else { vec!["a call without a result is sent".to_owned()] };
    }
    if reply.status != 200 {
        let is_known = LIMITS.iter().any(|part| reply.text.contains(part));
        return if is_known { vec![] } else { vec![format!("{} {}", reply.status, reply.text)] };
    }
    let Some(sent) = reply.sent.last() else { return vec!["nothing was sent".to_owned()] };
    let mut found = Vec::new();
    if has_rules(sent) && marks.unknown.is_empty() {
        let is_own = is_as_written(front, Format::of(&sent.url));
        let is_of_client = |rule: &String| is_own && OF_CLIENT.iter().any(|it| rule.ends_with(it));
        let broken = rules::broken(sent).filter(|rule| !is_of_client(rule));
        found.extend(broken.map(|rule| format!("breaks {rule}")));
    }
    if let Some(dialect) = dialect(model) {
        found.extend(of_dialect(dialect, &sent.body));
    }
    let got = got::read(sent);
    found.extend(of_calls(&got, &marks, talk));
    found.extend(of_texts(sent, &marks));
    if !reply.text.contains("The model called no tool") {
        found.extend(of_losses(front, sent, &marks, &reply));
    }
    found
}

/// Whether the provider has the client's format.
fn is_as_written(front: Front, format: Format) -> bool {
    matches!(
        (front, format),
        (Front::Messages, Format::Messages) | (Front::Responses, Format::Responses)
    )
}

fn of_calls(got: &Got, marks: &Marks, talk: &Talk) -> Vec<String> {
    // Anthropic gets only the allowed ones.
    let has_tools = !got.tools.is_empty() && !talk.tools.is_empty();
    let has_all = has_tools && !matches!(talk.choice, Choice::Allowed { .. });
    let mut found = Vec::new();
    let mut ids = Vec::new();
    for call in &got.calls {
        if ids.contains(&&call.id) {
            found.push(format!("the id {} comes twice", call.id));
        }
        ids.push(&call.id);
        if has_all
            && !got.tools.contains(&call.name)
            && !["gone", "tool_search"].contains(&call.name.as_str())
        {
            found.push(format!("a call of {}, which is no tool", call.name));
        }
    }
    for (what, now, wanted) in [
        ("calls", got.calls.len(), marks.calls.len()),
        ("results", got.results.len(), marks.calls.len()),
    ] {
        if now != wanted {
            found.push(format!("{now} {what} in place of {wanted}"));
        }
    }
    for (at, wanted) in marks.calls.iter().enumerate() {
        let calls = got.calls.iter().filter(|it| it.arguments.contains(&wanted.call));
        let calls: Vec<_> = calls.collect();
        let [call] = calls.as_slice() else {
            found.push(format!("call {at} comes {} times", calls.len()));
            continue;
        };
        let Some(result) = got.results.iter().find(|it| it.id == call.id) else {
            found.push(format!("call {at} has no result"));
            continue;
        };
        if !wanted.result.iter().all(|mark| result.content.contains(mark)) {
            found.push(format!("call {at} has the result {}", result.content));
        }
        if wanted.is_error && !result.says_error {
            found.push(format!("the result of call {at} is no error"));
        }
    }
    found
}

fn of_texts(sent: &Sent, marks: &Marks) -> Vec<String> {
    let body = sent.body.to_string();
    let mut found = Vec::new();
    let results = marks.calls.iter().flat_map(|call| &call.result);
    for mark in [&marks.said, &marks.system, &marks.moved].into_iter().flatten().chain(results) {
        let count = body.matches(mark.as_str()).count();
        if count != 1 {
            found.push(format!("{mark} comes {count} times"));
        }
    }
    for text in &marks.exact {
        let json = Value::from(text.as_str()).to_string();
        if !body.contains(json.trim_matches('"')) {
            found.push(format!("the text {json} is not the same"));
        }
    }
    // Instructions come before all messages, whatever their place in the JSON.
    let first =
        ["system", "systemInstruction", "instructions"].map(|name| sent.body[name].to_string());
    let ordered = first.concat() + &body;
    for (what, marks) in [("said", &marks.said), ("system", &marks.system)] {
        let places: Vec<_> = marks.iter().filter_map(|mark| ordered.find(mark.as_str())).collect();
        if !places.is_sorted() {
            found.push(format!("the order of what is {what} is another one"));
        }
    }
    found
}

/// Parts and reasoning arrive, or are named.
fn of_losses(front: Front, sent: &Sent, marks: &Marks, reply: &Reply) -> Vec<String> {
    let body = sent.body.to_string();
    let mut found = Vec::new();
    let report = report(reply);
    let has_named = !report["dropped"].is_null();
    for part in &marks.media {
        if !part.iter().any(|text| body.contains(text.as_str())) && !has_named {
            found.push(format!("{part:?} is lost"));
        }
    }
    let format = Format::of(&sent.url);
    for (kind, mark) in &marks.thoughts {
        let is_own = match kind {
            Thought::Anthropic => format == Format::Messages,
            Thought::OpenAi => format == Format::Responses,
            Thought::Google => format == Format::Gemini || sent.url.contains("gopenai"),
            _ => continue,
        };
        let has_it = body.contains(mark.as_str());
        if has_it && !is_own {
            found.push(format!("{kind:?}'s reasoning reaches another provider"));
        }
        if !has_it && (is_as_written(front, format) || !has_named) {
            found.push(format!("{kind:?}'s reasoning is lost"));
        }
    }
    found
}

/// The member `_2api` of an answer.
pub(super) fn report(reply: &Reply) -> Value {
    let is_stream =
        reply.header("content-type").is_some_and(|it| it.starts_with("text/event-stream"));
    let events = if is_stream { reply.events() } else { vec![reply.json()] };
    let mut own = events.iter().flat_map(|it| [&it["_2api"], &it["response"]["_2api"]]);
    own.rfind(|own| own.is_object()).cloned().unwrap_or_default()
}

/// What a dialect does not take.
fn of_dialect(dialect: &Dialect, body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap();
    let role = |at: usize| messages.get(at).map_or("", |it| it["role"].as_str().unwrap());
    let mut found = Vec::new();
    let mut lacks = |feature: Feature, is_used: bool| {
        if is_used && !dialect.takes(feature) {
            found.push(format!("the dialect lacks {feature:?}"));
        }
    };
    let all = 0..messages.len();
    lacks(Feature::Developer, all.clone().any(|at| role(at) == "developer"));
    lacks(Feature::LaterSystemMessages, all.clone().skip(1).any(|at| role(at) == "system"));
    lacks(Feature::RepeatedRoles, all.clone().any(|at| is_repeated(dialect, messages, at)));
    let parts = |at: usize| messages[at]["content"].as_array();
    let is_text = |part: &Value| part["type"] == "text";
    let is_list = |at: usize| parts(at).is_some_and(|parts| parts.iter().all(is_text));
    lacks(Feature::TextParts, all.clone().any(is_list));
    let has_file = |at: usize| parts(at).is_some_and(|it| it.iter().any(|it| it["type"] == "file"));
    lacks(Feature::Files, all.clone().any(has_file));
    lacks(Feature::ExtraContent, body["messages"].to_string().contains("\"extra_content\""));
    lacks(Feature::MaxCompletionTokens, body.get("max_completion_tokens").is_some());
    lacks(Feature::StreamOptions, body.get("stream_options").is_some());
    lacks(Feature::Prefill, messages.last().is_some_and(|it| it["role"] == "assistant"));
    let has = |name: &str| messages.iter().any(|it| it.get(name).is_some_and(|it| !it.is_null()));
    lacks(Feature::Refusals, has("refusal") || has("audio"));
    let calls = messages.iter().flat_map(|it| it["tool_calls"].as_array().into_iter().flatten());
    let mut arguments = calls.filter_map(|call| call["function"]["arguments"].as_str());
    let is_object = |text: &str| serde_json::from_str::<Value>(text).is_ok_and(|it| it.is_object());
    lacks(Feature::MalformedArguments, arguments.any(|text| !is_object(text)));
    if messages.iter().any(|it| it["role"] == "assistant" && is_nothing(it)) {
        found.push("an assistant says nothing".to_owned());
    }
    found
}

/// Whether the next message has the same role. What a model has thought belongs to its own message.
fn is_repeated(dialect: &Dialect, messages: &[Value], at: usize) -> bool {
    let [Some(first), Some(second)] = [messages.get(at), messages.get(at + 1)] else {
        return false;
    };
    let mut names = first.as_object().unwrap().keys();
    first["role"] == second["role"]
        && (first["role"] == "user"
            || first["role"] == "assistant" && !names.any(|name| dialect.takes_reasoning(name)))
}

/// Whether a message of an assistant has neither content nor calls nor thoughts.
fn is_nothing(message: &Value) -> bool {
    let has = |name: &str| message.get(name).is_some_and(|it| !it.is_null() && it != "");
    let said = ["content", "tool_calls", "refusal", "audio"];
    !said.into_iter().chain(REASONING).any(has)
}
