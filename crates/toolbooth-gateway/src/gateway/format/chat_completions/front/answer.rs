//! Answers in OpenAI's format: chat completions, and their chunks as Server-Sent Events.

use serde::Serialize;

use crate::gateway::answer::completion::{AssistantMessage, CompletionInfo};
use crate::gateway::answer::stream::Delta;
use crate::gateway::error::GatewayError;
use crate::gateway::format::chat_completions::front::error_body;
use crate::gateway::format::front::Answer;
use crate::gateway::format::front::EventEncoder;
use crate::gateway::format::front::paragraphs;
use crate::gateway::format::front::write_event;
use crate::gateway::format::front::write_raw;
use crate::gateway::relay::report::{RanCall, Report};
use crate::wire::openai::message::{Call, Message};
use crate::wire::{ImagePart, Usage};
use toolbooth::json::{self, Object, Rendered};

/// A chat completion, or a chunk of one.
#[derive(Serialize)]
struct Body<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    model: &'a str,
    choices: &'a [Choice<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'a Usage>,
    #[serde(flatten)]
    extra: Option<&'a Object<'a>>,
    /// The gateway's own member: the JSON of its report.
    #[serde(rename = "_2api", skip_serializing_if = "Option::is_none")]
    report: Option<Rendered<'a>>,
}

#[derive(Default, Serialize)]
struct Choice<'a> {
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Message<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Message<'a>>,
    finish_reason: Option<&'static str>,
    /// Whole answers have it, if only `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    logprobs: Option<()>,
    #[serde(flatten)]
    extra: Option<&'a Object<'a>>,
}

/// The body of a response (2api.ai, 3.2).
pub(super) fn encode(answer: &Answer<'_>) -> Vec<u8> {
    let Answer { completion, info, earlier, report, .. } = answer;
    let said = &completion.message;
    let notice = report.notice();
    let texts = answer.rounds().filter_map(|round| round.message.content.as_deref());
    let text = paragraphs(texts.chain(notice.as_deref()));
    let mut message = Message { content: Some(text.as_deref()), ..message(said) };
    let (reasoning, mut further);
    if !earlier.is_empty() {
        reasoning = paragraphs(answer.rounds().filter_map(|round| round.message.reasoning_text()));
        message.reasoning_content = reasoning.as_deref();
        // It has that of the last round.
        further = said.extra.clone();
        further.take("reasoning_content");
        message.extra = Some(&further);
    }
    let files = answer.rounds().flat_map(|round| &round.message.media);
    let images = files.filter_map(|(_, file)| file.image()).enumerate();
    message.images = images.map(|(index, image)| ImagePart { index, image }).collect();
    let report = report.json();
    let choice = Choice {
        message: Some(message),
        finish_reason: Some(completion.finish_reason.word(!said.tool_calls.is_empty())),
        logprobs: (!completion.of_choice.contains("logprobs")).then_some(()),
        extra: Some(&completion.of_choice),
        ..Choice::default()
    };
    json::to_vec(&Body {
        id: &info.id,
        object: "chat.completion",
        created: info.created,
        model: &info.model,
        choices: &[choice],
        usage: completion.usage.as_ref(),
        extra: Some(&completion.of_body),
        report: Some(Rendered(&report)),
    })
}

/// The message as a client gets it: its calls have their positions, and `refusal` is required.
fn message(message: &AssistantMessage) -> Message<'_> {
    let calls = message.tool_calls.iter().enumerate();
    let call = |(index, call)| Call { index: Some(index), ..Call::whole(call) };
    Message {
        audio: message.media.iter().find_map(|(_, file)| file.audio()),
        refusal: Some(message.refusal.as_deref()),
        tool_calls: calls.map(call).collect(),
        ..message.to_openai()
    }
}

/// Writes OpenAI's chunks as Server-Sent Events.
pub(super) struct ChunkEncoder {
    info: CompletionInfo,
    include_usage: bool,
    begun: bool,
    has_calls: bool,
    /// How many pictures there have been.
    images: usize,
    /// Whether there has been reasoning, and whether it was that of an earlier round.
    has_reasoning: bool,
    is_apart: bool,
    /// For the finish chunk.
    report: Option<String>,
}

impl EventEncoder for ChunkEncoder {
    fn forward(&mut self, raw: &[u8], deltas: &[Delta], out: &mut Vec<u8>) {
        if matches!(deltas, [Delta::Usage(_)]) && !self.include_usage {
            return;
        }
        self.begun |= !deltas.is_empty();
        write_raw(raw, deltas, None, &mut self.report, out);
    }

    /// The first delta is preceded by a chunk with the role.
    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        let mut message = Message::default();
        match delta {
            Delta::Text(text) => message.content = Some(Some(text)),
            Delta::Refusal(text) => message.refusal = Some(Some(text)),
            Delta::Reasoning(text) => {
                if std::mem::take(&mut self.is_apart) {
                    self.delta(&Delta::Reasoning("\n\n".to_owned()), out);
                }
                self.has_reasoning = true;
                message.reasoning_content = Some(text);
            }
            Delta::Media(file) => {
                message.audio = file.audio();
                message
                    .images
                    .extend(file.image().map(|image| ImagePart { index: self.images, image }));
                self.images += message.images.len();
            }
            Delta::ExtraContent(value) => message.extra_content = Some(value),
            Delta::Call { .. } | Delta::Arguments { .. } => {
                self.has_calls = true;
                message.tool_calls.extend(delta.call_part());
            }
            // The first is in the extra content; for the second there is no member.
            Delta::Thinking(_)
            | Delta::TextBlock
            | Delta::Citation(_)
            | Delta::Block(_)
            | Delta::State(_)
            | Delta::StopSequence(_) => return,
            Delta::Finish(reason) => {
                self.role(out);
                let report = self.report.take();
                let word = reason.word(self.has_calls);
                return self.choice(message, Some(word), report.as_deref(), out);
            }
            Delta::Usage(_) if !self.include_usage => return,
            Delta::Usage(usage) => return self.chunk(&[], Some(usage), None, out),
            Delta::Done => return out.extend_from_slice(b"data: [DONE]\n\n"),
        }
        self.role(out);
        self.choice(message, None, None, out);
    }

    fn ran(&mut self, _: &[RanCall], _: &mut Vec<u8>) {
        self.is_apart = self.has_reasoning;
    }

    fn report(&mut self, report: &Report) {
        self.report = Some(report.json());
    }

    fn error(&mut self, error: &GatewayError, out: &mut Vec<u8>) {
        write_event("", &error_body(error), out);
    }
}

impl ChunkEncoder {
    /// An encoder. Without `include_usage`, usage chunks are left out.
    pub(super) fn new(info: CompletionInfo, include_usage: bool) -> Self {
        Self {
            info,
            include_usage,
            begun: false,
            has_calls: false,
            images: 0,
            has_reasoning: false,
            is_apart: false,
            report: None,
        }
    }

    /// Writes the chunk with the role, if no chunk has been written.
    fn role(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            let (role, content) = (Some("assistant"), Some(Some("")));
            self.choice(Message { role, content, ..Message::default() }, None, None, out);
        }
    }

    fn choice(
        &self,
        delta: Message<'_>,
        finish_reason: Option<&'static str>,
        report: Option<&str>,
        out: &mut Vec<u8>,
    ) {
        let choice = Choice { delta: Some(delta), finish_reason, ..Choice::default() };
        self.chunk(&[choice], None, report, out);
    }

    fn chunk(
        &self,
        choices: &[Choice<'_>],
        usage: Option<&Usage>,
        report: Option<&str>,
        out: &mut Vec<u8>,
    ) {
        let body = Body {
            id: &self.info.id,
            object: "chat.completion.chunk",
            created: self.info.created,
            model: &self.info.model,
            choices,
            usage,
            extra: None,
            report: report.map(Rendered),
        };
        write_event("", &body, out);
    }
}

#[cfg(test)]
mod tests;
