//! What clients get: OpenAI's chat completions, and their chunks as Server-Sent Events.

use serde::Serialize;

use super::{AssistantMessage, Completion, Delta, SseParser, StreamEvent};
use crate::wire::openai::argument_of;
use crate::wire::{Arguments, FinishReason, ToolCall, Usage};
use toolbooth::json::{self, Object, Value};

/// What the gateway adds to an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct CompletionInfo {
    pub id: String,
    /// The model that the client is shown.
    pub model: String,
    /// When it was created, in seconds since the Unix epoch.
    pub created: u64,
}

/// A chat completion, or a chunk of one.
#[derive(Serialize)]
struct Body<'a, C> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: &'a [C],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'a Usage>,
    #[serde(flatten)]
    extra: &'a Object<'a>,
    #[serde(rename = "_2api", skip_serializing_if = "Option::is_none")]
    two_api: Option<&'a Value<'a>>,
}

#[derive(Serialize)]
struct Choice<'a> {
    index: usize,
    message: Message<'a>,
    finish_reason: &'static str,
    #[serde(flatten)]
    extra: &'a Object<'a>,
}

#[derive(Serialize)]
pub(super) struct Message<'a> {
    role: &'static str,
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(flatten)]
    extra: &'a Object<'a>,
}

/// A call, or a part of one in a chunk.
#[derive(Default, Serialize)]
pub(super) struct Call<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<Function<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom: Option<Custom<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value<'a>>,
    #[serde(flatten)]
    extra: Option<&'a Object<'a>>,
}

#[derive(Serialize)]
struct Function<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    arguments: &'a str,
}

#[derive(Serialize)]
struct Custom<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    input: &'a str,
}

impl<'a> Call<'a> {
    /// With its name, or with a part of its arguments.
    fn new(custom: bool, name: Option<&'a str>, arguments: &'a str) -> Self {
        match custom {
            true => Self { custom: Some(Custom { name, input: arguments }), ..Self::default() },
            false => Self { function: Some(Function { name, arguments }), ..Self::default() },
        }
    }

    /// The part of a call that is a delta; `None` for other deltas.
    pub(super) fn part(delta: &'a Delta, is_custom: impl Fn(usize) -> bool) -> Option<Self> {
        match delta {
            Delta::Call { index, id, name, custom, extra_content } => Some(Self {
                index: Some(*index),
                id: Some(id),
                r#type: Some(argument_of(*custom).0),
                extra_content: extra_content.as_ref(),
                ..Self::new(*custom, Some(name), "")
            }),
            Delta::Arguments { index, fragment } => {
                Some(Self { index: Some(*index), ..Self::new(is_custom(*index), None, fragment) })
            }
            _ => None,
        }
    }

    fn whole(call: &'a ToolCall<'_>) -> Self {
        let Arguments::Text(arguments) = &call.arguments else { return Self::default() };
        Self {
            id: Some(&call.id),
            r#type: Some(argument_of(call.custom).0),
            extra: Some(&call.extra),
            ..Self::new(call.custom, Some(&call.name), arguments)
        }
    }
}

impl<'a> Message<'a> {
    /// The message as OpenAI gets it back.
    pub(super) fn of_request(message: &'a AssistantMessage) -> Self {
        let refusal = message.refusal.as_deref();
        Self {
            role: "assistant",
            content: message.content.as_deref(),
            refusal: refusal.map(Some),
            reasoning_content: message.reasoning.as_deref(),
            tool_calls: message.tool_calls.iter().map(Call::whole).collect(),
            extra: &message.extra,
        }
    }

    /// The message as a client gets it: its calls have their positions, and `refusal` is required.
    fn of_response(message: &'a AssistantMessage) -> Self {
        let calls = message.tool_calls.iter().enumerate();
        let call = |(index, call)| Call { index: Some(index), ..Call::whole(call) };
        Self {
            refusal: Some(message.refusal.as_deref()),
            tool_calls: calls.map(call).collect(),
            ..Self::of_request(message)
        }
    }
}

impl Completion {
    /// The body of a response (2api.ai, 3.2). `two_api` is the member `_2api`.
    pub(crate) fn encode(&self, info: &CompletionInfo, two_api: Option<&Value<'_>>) -> Vec<u8> {
        let choice = Choice {
            index: 0,
            message: Message::of_response(&self.message),
            finish_reason: self.finish_reason.as_str(),
            extra: &self.of_choice,
        };
        json::to_vec(&Body {
            id: &info.id,
            object: "chat.completion",
            created: info.created,
            model: &info.model,
            choices: &[choice],
            usage: self.usage.as_ref(),
            extra: &self.of_body,
            two_api,
        })
    }
}

#[derive(Serialize)]
struct ChunkChoice<'a> {
    index: usize,
    delta: ChunkDelta<'a>,
    finish_reason: Option<&'static str>,
}

#[derive(Default, Serialize)]
struct ChunkDelta<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a Value<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<[Call<'a>; 1]>,
}

/// Writes OpenAI's chunks as Server-Sent Events.
pub(crate) struct ChunkEncoder {
    info: CompletionInfo,
    include_usage: bool,
    begun: bool,
    /// Whether each call so far is of a custom tool.
    custom: Vec<bool>,
    /// The member `_2api`, which the finish chunk gets.
    pub(super) two_api: Option<Value<'static>>,
}

impl ChunkEncoder {
    /// An encoder. Without `include_usage`, usage chunks are left out.
    pub(crate) fn new(info: CompletionInfo, include_usage: bool) -> Self {
        Self { info, include_usage, begun: false, custom: Vec::new(), two_api: None }
    }

    /// An encoder for events within a stream that has begun.
    pub(super) fn continuing(info: CompletionInfo) -> Self {
        Self { begun: true, ..Self::new(info, true) }
    }

    /// The bytes for an event: its own, if it has any, otherwise a chunk for each delta.
    pub(crate) fn event(&mut self, event: &StreamEvent) -> Vec<u8> {
        let is_usage = matches!(event.deltas.as_slice(), [Delta::Usage(_)]);
        match &event.raw {
            Some(_) if is_usage && !self.include_usage => Vec::new(),
            Some(raw) => {
                self.begun |= !event.deltas.is_empty();
                let finishes = event.deltas.iter().any(|it| matches!(it, Delta::Finish(_)));
                match &self.two_api {
                    Some(two_api) if finishes => with_two_api(raw, two_api),
                    _ => raw.clone(),
                }
            }
            None => event.deltas.iter().flat_map(|delta| self.delta(delta)).collect(),
        }
    }

    /// The bytes for a delta. The first one is preceded by a chunk with the role.
    pub(crate) fn delta(&mut self, delta: &Delta) -> Vec<u8> {
        let mut chunk = ChunkDelta::default();
        match delta {
            Delta::Text(text) => chunk.content = Some(text),
            Delta::Refusal(text) => chunk.refusal = Some(text),
            Delta::Reasoning(text) => chunk.reasoning_content = Some(text),
            Delta::ExtraContent(value) => chunk.extra_content = Some(value),
            Delta::Call { custom, .. } => self.custom.push(*custom),
            Delta::Arguments { .. } => {}
            Delta::Finish(reason) => {
                let two_api = self.two_api.take();
                return self.finish(*reason, two_api.as_ref());
            }
            Delta::Usage(_) if !self.include_usage => return Vec::new(),
            Delta::Usage(usage) => return self.chunk(&[], Some(usage), None),
            Delta::Done => return b"data: [DONE]\n\n".to_vec(),
        }
        let is_custom = |index: usize| self.custom.get(index).copied().unwrap_or_default();
        chunk.tool_calls = Call::part(delta, is_custom).map(|call| [call]);
        let mut bytes = self.role();
        bytes.extend(self.choice(chunk, None, None));
        bytes
    }

    /// The finish chunk with the member `_2api`.
    pub(crate) fn finish(&mut self, reason: FinishReason, two_api: Option<&Value<'_>>) -> Vec<u8> {
        let mut bytes = self.role();
        bytes.extend(self.choice(ChunkDelta::default(), Some(reason.as_str()), two_api));
        bytes
    }

    /// The chunk with the role, if no chunk has been written.
    fn role(&mut self) -> Vec<u8> {
        if std::mem::replace(&mut self.begun, true) {
            return Vec::new();
        }
        let (role, content) = (Some("assistant"), Some(""));
        self.choice(ChunkDelta { role, content, ..ChunkDelta::default() }, None, None)
    }

    fn choice(
        &self,
        delta: ChunkDelta<'_>,
        finish_reason: Option<&'static str>,
        two_api: Option<&Value<'_>>,
    ) -> Vec<u8> {
        self.chunk(&[ChunkChoice { index: 0, delta, finish_reason }], None, two_api)
    }

    fn chunk(
        &self,
        choices: &[ChunkChoice<'_>],
        usage: Option<&Usage>,
        two_api: Option<&Value<'_>>,
    ) -> Vec<u8> {
        event_bytes(&Body {
            id: &self.info.id,
            object: "chat.completion.chunk",
            created: self.info.created,
            model: &self.info.model,
            choices,
            usage,
            extra: &Object::default(),
            two_api,
        })
    }
}

pub(super) fn event_bytes(data: &impl Serialize) -> Vec<u8> {
    let mut bytes = b"data: ".to_vec();
    bytes.extend(json::to_vec(data));
    bytes.extend(b"\n\n");
    bytes
}

/// The event with a further member `_2api`; unchanged if its data is not a JSON object.
pub(super) fn with_two_api(event: &[u8], two_api: &Value<'_>) -> Vec<u8> {
    let mut parser = SseParser::default();
    let changed = parser.push(event).ok().and_then(|()| {
        parser.end();
        let data = parser.next_event().ok()??.data?;
        let Ok(Value::Object(mut chunk)) = json::parse(&data) else { return None };
        chunk.insert("_2api".into(), two_api.clone());
        Some(event_bytes(&Value::Object(chunk)))
    });
    changed.unwrap_or_else(|| event.to_vec())
}

#[cfg(test)]
mod tests;
