//! Any answer reaches the client of every front, the same whole and as a stream, and the provider gets back what it needs.

use std::cell::RefCell;

use serde_json::{Value, json};

use crate::gateway::tests::golden::rules;
use crate::gateway::tests::random::got::{self, Format};
use crate::gateway::tests::random::hear::{Heard, hear, list};
use crate::gateway::tests::random::requests::has_rules;
use crate::gateway::tests::random::say::Answer;
use crate::gateway::tests::random::speak::Speech;
use crate::gateway::tests::random::world::{Front, World, dialect};
use crate::gateway::tests::{HttpError, HttpRequest, HttpResponse, Reply, provider};
use toolbooth::testing::CHUNK_END;

thread_local! {
    /// What the provider says, by the number of the answer.
    static SAYS: RefCell<(Vec<Answer>, usize, String)> = RefCell::default();
}

/// A provider that says what it was told to.
pub(super) fn speaker(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let _ = provider(request);
    let body: Value = serde_json::from_slice(request.body.as_deref().unwrap_or_default()).unwrap();
    let format = Format::of(&request.url);
    let sent = crate::gateway::tests::Sent {
        url: request.url.to_string(),
        headers: vec![],
        body,
        timeout: request.timeout,
    };
    let tools = got::read(&sent).tools;
    let is_stream = sent.body["stream"] == true || sent.url.contains("stream");
    let text = SAYS.with_borrow_mut(|(answers, round, reasoning)| {
        let answer = &answers[*round % answers.len()];
        let speech = Speech { answer, tools: &tools, mark: mark(*round), reasoning, round: *round };
        *round += 1;
        match is_stream {
            true => answer.cuts.clone().bytes(&speech.stream(format)).join(&CHUNK_END),
            false => speech.whole(format).into_bytes(),
        }
    });
    Ok(HttpResponse::new(200, text))
}

/// What the provider must get back of an answer.
fn mark(round: usize) -> String {
    format!("sig{round:03}AAA")
}

const TOOLS: [&str; 3] = ["w", "get_weather-now", "9lives"];

fn begin(front: Front, tools: usize, stream: bool) -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let tools = TOOLS[..tools].iter();
    let mut body = match front {
        Front::Chat => json!({"messages": [{"role": "user", "content": "hi"}],
            "tools": tools.map(|it| json!({"type": "function", "function": {"name": it, "parameters": schema}})).collect::<Value>()}),
        Front::Messages => {
            json!({"messages": [{"role": "user", "content": "hi"}], "max_tokens": 4000,
            "tools": tools.map(|it| json!({"name": it, "input_schema": schema})).collect::<Value>()})
        }
        Front::Responses => json!({"input": [{"role": "user", "content": "hi"}], "store": false,
            "include": ["reasoning.encrypted_content"],
            "tools": tools.map(|it| json!({"type": "function", "name": it, "parameters": schema, "strict": false})).collect::<Value>()}),
    };
    if stream {
        body["stream"] = true.into();
    }
    if body["tools"] == json!([]) {
        body.as_object_mut().unwrap().remove("tools");
    }
    body
}

/// The next request: what the client got, a result for each call, or else what the user says.
fn next(front: Front, body: &Value, answer: &Value, round: usize) -> Value {
    let mut next = body.clone();
    let user = json!({"role": "user", "content": format!("go on {round}")});
    match front {
        Front::Chat => {
            let message = &answer["choices"][0]["message"];
            let results = list(&message["tool_calls"])
                .map(|call| json!({"role": "tool", "tool_call_id": call["id"], "content": "5"}));
            let messages = next["messages"].as_array_mut().unwrap();
            messages.push(message.clone());
            let before = messages.len();
            messages.extend(results);
            if messages.len() == before {
                messages.push(user);
            }
        }
        Front::Messages => {
            let results = list(&answer["content"]).filter(|block| block["type"] == "tool_use");
            let results: Vec<_> = results
                .map(|it| json!({"type": "tool_result", "tool_use_id": it["id"], "content": "5"}))
                .collect();
            let messages = next["messages"].as_array_mut().unwrap();
            if answer["content"] != json!([]) {
                messages.push(json!({"role": "assistant", "content": answer["content"]}));
            }
            let more = json!({"role": "user", "content": results});
            messages.push(if results.is_empty() { user } else { more });
        }
        Front::Responses => {
            let output = list(&answer["output"]);
            let results = output.clone().filter(|item| item["type"] == "function_call");
            let results: Vec<_> = results
                .map(|it| json!({"type": "function_call_output", "call_id": it["call_id"], "output": "5"}))
                .collect();
            let items = next["input"].as_array_mut().unwrap();
            items.extend(output.cloned());
            let has_none = results.is_empty();
            items.extend(results);
            items.extend(has_none.then_some(user));
        }
    }
    next
}

/// The member of Chat Completions in which a model writes what it thinks.
fn reasoning(model: &str) -> &'static str {
    match model.split('/').next().unwrap() {
        "openai" | "mistral" | "gopenai" => "",
        "openrouter" | "groq" | "ollama" => "reasoning",
        _ => "reasoning_content",
    }
}

/// The exchange of a client with a model, which gives these answers.
struct Exchange {
    heard: Heard,
    answer: Value,
    reply: Reply,
}

fn exchange(world: &World, front: Front, model: &str, body: &Value) -> Result<Exchange, String> {
    let reply = world.ask(front, model, body);
    let (heard, answer) = hear(front, &reply).map_err(|it| format!("unreadable: {it}"))?;
    Ok(Exchange { heard, answer, reply })
}

pub(super) fn problems(
    world: &World,
    front: Front,
    model: &str,
    answers: &[Answer],
    tools: usize,
) -> Vec<String> {
    let set = |round| {
        SAYS.set((answers.to_vec(), round, reasoning(model).to_owned()));
    };
    let mut found = Vec::new();
    let mut body = begin(front, tools, false);
    for (round, answer) in answers.iter().enumerate() {
        let mut streamed = body.clone();
        streamed["stream"] = true.into();
        if front == Front::Chat {
            streamed["stream_options"] = json!({"include_usage": true});
        }
        set(round);
        let whole = exchange(world, front, model, &body);
        set(round);
        let stream = exchange(world, front, model, &streamed);
        let (whole, stream) = match (whole, stream) {
            (Ok(whole), Ok(stream)) => (whole, stream),
            (whole, stream) => {
                found.extend([whole.err(), stream.err()].into_iter().flatten());
                return found;
            }
        };
        if whole.heard != stream.heard {
            found.push(format!("streamed\n{:?}\nwhole\n{:?}", stream.heard, whole.heard));
        }
        if let Some(sent) = whole.reply.sent.last().filter(|it| has_rules(it)) {
            found.extend(rules::broken(sent).map(|rule| format!("breaks {rule}")));
        }
        if whole.heard.is_error {
            found.extend(of_error(&whole, answer, tools));
            return found;
        }
        found.extend(of_answer(&whole.heard, answer, tools));
        if round > 0 {
            found.extend(of_loop(model, &whole.reply, answers, round));
        }
        // Clients that stream go on with what they have joined.
        let kept = if round.is_multiple_of(2) { &stream.answer } else { &whole.answer };
        body = next(front, &body, kept, round);
    }
    found
}

fn of_error(whole: &Exchange, answer: &Answer, tools: usize) -> Vec<String> {
    let is_empty =
        answer.texts.concat().trim().is_empty() && (answer.calls.is_empty() || tools == 0);
    match is_empty {
        true => vec![],
        false => vec![format!("{} {}", whole.reply.status, whole.reply.text)],
    }
}

fn of_answer(heard: &Heard, answer: &Answer, tools: usize) -> Vec<String> {
    let mut found = Vec::new();
    let wanted = answer.texts.concat();
    // Anthropic has no blank texts.
    if heard.text.replace(char::is_whitespace, "") != wanted.replace(char::is_whitespace, "") {
        found.push(format!("the text is {:?} in place of {wanted:?}", heard.text));
    }
    let wanted = if tools == 0 { &[][..] } else { &answer.calls };
    let wanted: Vec<_> = wanted
        .iter()
        .map(|call| {
            let arguments: Value = serde_json::from_str(call.arguments).unwrap();
            [TOOLS[call.tool % tools].to_owned(), arguments.to_string()]
        })
        .collect();
    let calls = heard.calls.iter().map(|[_, name, arguments]| [name.clone(), arguments.clone()]);
    if calls.clone().collect::<Vec<_>>() != wanted {
        found.push(format!("the calls are {:?} in place of {wanted:?}", heard.calls));
    }
    found
}

/// What the provider gets of its earlier answers.
fn of_loop(model: &str, reply: &Reply, answers: &[Answer], round: usize) -> Vec<String> {
    let Some(sent) = reply.sent.last() else { return vec!["nothing was sent".to_owned()] };
    let mut found = Vec::new();
    let got = got::read(sent);
    let mut ids: Vec<_> = got.calls.iter().map(|call| &call.id).collect();
    let results: Vec<_> = got.results.iter().map(|result| &result.id).collect();
    if ids != results {
        found.push(format!("results {results:?} of the calls {ids:?}"));
    }
    ids.sort_unstable();
    ids.dedup();
    if ids.len() != got.calls.len() {
        found.push(format!("{} calls have {} ids", got.calls.len(), ids.len()));
    }
    let format = Format::of(&sent.url);
    let body = sent.body.to_string();
    for (at, answer) in answers[..round].iter().enumerate() {
        let has_calls = !answer.calls.is_empty() && !got.tools.is_empty();
        let needs = match format {
            Format::Chat => {
                let member = reasoning(model);
                let takes = dialect(model).is_some_and(|it| it.takes_reasoning(member));
                let thoughts = answer.thoughts.concat();
                let json = Value::from(thoughts.as_str()).to_string();
                let is_lost = takes
                    && has_calls
                    && !thoughts.trim().is_empty()
                    && !body.contains(json.trim_matches('"'));
                if is_lost {
                    found.push(format!("what it thought in answer {at} is lost"));
                }
                false
            }
            Format::Messages | Format::Responses => answer.is_signed && has_calls,
            Format::Gemini => answer.is_signed && has_calls,
        };
        let count = body.matches(&mark(at)).count();
        if needs && count != 1 {
            found.push(format!("the signature of answer {at} comes {count} times"));
        }
    }
    found
}
