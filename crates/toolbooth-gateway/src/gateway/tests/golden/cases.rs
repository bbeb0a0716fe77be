//! A file of `golden/`: requests, answers of the provider, and what comes of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::gateway::tests::golden::{provider, rules, said};
use crate::gateway::tests::*;

/// The providers, so that each kind of address and key occurs.
const VARIABLES: &[(&str, &str)] = &[
    ("ANTHROPIC_API_KEY", "sk-a-0123456789"),
    ("GEMINI_API_KEY", "sk-g-0123456789"),
    ("PROVIDERS", "deepseek,qwen,mistral,compat,short,blank"),
    ("DEEPSEEK_BASE_URL", "https://api.deepseek.com/v1"),
    ("DEEPSEEK_API_KEY", "sk-d-0123456789"),
    ("QWEN_BASE_URL", "https://vllm.example/v1"),
    ("QWEN_API_KEY", "sk-q-0123456789"),
    ("MISTRAL_BASE_URL", "https://api.mistral.ai/v1"),
    ("MISTRAL_API_KEY", "sk-m-0123456789"),
    ("COMPAT_BASE_URL", "https://models.example/v1"),
    ("COMPAT_API_KEY", "sk-c-0123456789"),
    ("SHORT_BASE_URL", "https://models.example/v1"),
    ("SHORT_API_KEY", "ollama"),
    ("BLANK_BASE_URL", "https://models.example/v1"),
    ("BLANK_API_KEY", "EMPTY"),
];
/// The formats of clients, with their addresses.
const PATHS: [(&str, &str); 3] = [
    ("chat", "/v1/chat/completions"),
    ("messages", "/v1/messages"),
    ("responses", "/v1/responses"),
];

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    about: String,
    /// Where somebody reported it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    source: Vec<String>,
    /// The request in each format of clients, without its model.
    ask: BTreeMap<String, Map<String, Value>>,
    /// The models that it is for.
    to: Vec<String>,
    /// What the providers answer: a body, a list of events, or a status with a message. Then each says that it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answers: Vec<Value>,
    /// Whether the client goes on with what it got, with the result 5 for each call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    then: bool,
    /// What must hold of each outcome: a JSON Schema for the values at a JSON Pointer in which `*` is every item.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) right: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) gets: Vec<Value>,
}

/// What came of a request.
pub(super) struct Outcome {
    front: String,
    model: String,
    result: Value,
    broken: Vec<String>,
}

impl Case {
    /// Sends each request to each model.
    pub(super) fn run(&self) -> Vec<Outcome> {
        let asked = |model: &String| {
            let ask = self.ask.iter();
            ask.map(|(front, body)| self.send(front, body, model)).collect::<Vec<_>>()
        };
        self.to.iter().flat_map(asked).collect()
    }

    fn send(&self, front: &str, body: &Map<String, Value>, model: &str) -> Outcome {
        let (_, path) = PATHS.into_iter().find(|(name, _)| *name == front).unwrap();
        let mut gateway = TestGateway::with(VARIABLES);
        gateway.path = path;
        gateway.host.upstream = provider::answer;
        let server = gateway.server();
        let mut body = body.clone();
        body.insert("model".to_owned(), model.into());
        let mut body = Value::Object(body);
        provider::script(&self.answers);
        let mut replies = Vec::new();
        loop {
            let headers = [JSON, LOCAL, ("anthropic-version", "2023-06-01")];
            let to = (Method::Post, path);
            let reply = gateway.send_to(&server, to, Vec::new(), &headers, &body);
            let next =
                (self.then && replies.is_empty()).then(|| said::next(front, &body, &reply.json()));
            replies.push(reply);
            match next {
                Some(next) => body = next,
                None => break,
            }
        }
        let front = front.to_owned();
        let broken = replies.iter().flat_map(|reply| &reply.sent).filter_map(rules::broken);
        let broken = broken.collect();
        let mut results = replies.iter().map(|reply| result(&front, reply));
        let mut result = results.next().unwrap();
        if let Some(then) = results.next() {
            result["then"] = then;
        }
        Outcome { front, model: model.to_owned(), result, broken }
    }
}

/// What reached the provider and the client.
fn result(front: &str, reply: &Reply) -> Value {
    let sent: Vec<_> = reply
        .sent
        .iter()
        .map(|sent| {
            let path = sent.url.split_once("//").and_then(|(_, rest)| rest.split_once('/'));
            json!({"path": path.map(|(_, path)| path), "body": sent.body})
        })
        .collect();
    let said = said::said(front, reply);
    let mut result = json!({"sent": sent, "status": reply.status, "said": said.said});
    for (name, value) in [("dropped", said.dropped), ("warnings", said.warnings)] {
        if let Some(value) = value {
            result[name] = value;
        }
    }
    result
}

impl Outcome {
    pub(super) fn how(&self) -> String {
        format!("{} to {}", self.front, self.model)
    }

    /// Rules of the provider that the request breaks, and what is not right.
    pub(super) fn problems(&self, right: &BTreeMap<String, Value>) -> Vec<String> {
        let broken = self.broken.iter().map(|rule| format!("breaks {rule}"));
        let wrong = right.iter().filter_map(|(pointer, schema)| {
            // The formats of clients say the same in other words.
            let (pointer, front) = pointer.split_once(" of ").unwrap_or((pointer, &self.front));
            if front != self.front {
                return None;
            }
            let found = rules::places(&self.result, pointer);
            let is_right = match schema {
                Value::Bool(false) => found.is_empty(),
                _ => !found.is_empty() && found.iter().all(|(_, value)| rules::fits(schema, value)),
            };
            let values: Vec<_> = found.iter().map(|(_, value)| value).collect();
            (!is_right).then(|| format!("{pointer} is not {schema}, but {}", json!(values)))
        });
        broken.chain(wrong).collect()
    }
}

/// The outcomes, of which each has the formats of clients in which it is the same. That a provider is done need not be written.
pub(super) fn grouped(outcomes: &[Outcome]) -> Vec<Value> {
    let mut groups: Vec<(&str, Vec<&str>, Value)> = Vec::new();
    for Outcome { front, model, result, .. } in outcomes {
        let mut result = result.clone();
        let is_done = result["status"] == 200 && result["said"]["text"] == "Done";
        if let (true, Some(members)) = (is_done, result.as_object_mut()) {
            members.retain(|name, _| name != "said" && name != "status");
        }
        match groups.iter_mut().find(|(of, _, other)| of == model && *other == result) {
            Some((_, fronts, _)) => fronts.push(front),
            None => groups.push((model, vec![front], result)),
        }
    }
    let written = |(model, fronts, result): (&str, Vec<&str>, Value)| {
        let mut group = json!({"from": fronts, "to": model});
        if let (Some(group), Value::Object(members)) = (group.as_object_mut(), result) {
            group.extend(members);
        }
        group
    };
    groups.into_iter().map(written).collect()
}
