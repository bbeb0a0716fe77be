//! Streams of Anthropic's events.

use std::mem;

use serde::Serialize;

use crate::gateway::answer::completion::CompletionInfo;
use crate::gateway::answer::stream::Delta;
use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::error::GatewayError;
use crate::gateway::format::front::EventEncoder;
use crate::gateway::format::front::write_event;
use crate::gateway::format::front::write_raw;
use crate::gateway::format::messages::front::answer::Message;
use crate::gateway::format::messages::front::block::{Block, Counts, Null, is_object, stop_reason};
use crate::gateway::format::messages::front::estimate::input_tokens;
use crate::gateway::format::messages::front::waiting::Waiting;
use crate::gateway::format::messages::front::{error_body, thinking};
use crate::gateway::relay::report::{RanCall, Report};
use crate::wire::{FinishReason, Usage};
use toolbooth::json::{self, Rendered, Value};

/// Writes Anthropic's events as Server-Sent Events: one block after the other.
pub(super) struct MessageEncoder {
    info: CompletionInfo,
    /// About how many tokens the request has.
    input_tokens: u64,
    /// What this server is called in blocks.
    server_name: String,
    shows_reasoning: bool,
    has_begun: bool,
    /// Whether events are those of Anthropic itself.
    passes: bool,
    /// The index of the next block.
    next: usize,
    open: Option<Open>,
    /// What came while a call was incomplete, which is open. The arguments of each call follow it at once.
    waiting: Waiting,
    /// Whether calls have just run: the text that follows is a block of its own, so that no empty line must separate it.
    is_apart: bool,
    refuses: bool,
    stop: FinishReason,
    stop_sequence: Option<String>,
    usage: Option<Usage>,
    report: Option<String>,
}

/// The block that grows.
enum Open {
    Text,
    Reasoning,
    /// A call by its position, with its arguments so far.
    Call(usize, String),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event<'a> {
    MessageStart {
        message: Message<'a>,
    },
    ContentBlockStart {
        index: usize,
        content_block: Block<'a>,
    },
    ContentBlockDelta {
        index: usize,
        delta: BlockDelta<'a>,
    },
    ContentBlockStop {
        index: usize,
    },
    MessageDelta {
        delta: Stop<'a>,
        usage: Counts,
        #[serde(rename = "_2api", skip_serializing_if = "Option::is_none")]
        report: Option<Rendered<'a>>,
    },
    MessageStop,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum BlockDelta<'a> {
    #[serde(rename = "text_delta")]
    Text { text: &'a str },
    #[serde(rename = "citations_delta")]
    Citation { citation: &'a Value<'a> },
    #[serde(rename = "thinking_delta")]
    Thinking { thinking: &'a str },
    #[serde(rename = "signature_delta")]
    Signature { signature: &'a str },
    #[serde(rename = "input_json_delta")]
    Input { partial_json: &'a str },
}

#[derive(Serialize)]
struct Stop<'a> {
    stop_reason: &'static str,
    stop_sequence: Option<&'a str>,
    stop_details: Null,
    container: Null,
}

impl Event<'_> {
    fn name(&self) -> &'static str {
        match self {
            Self::MessageStart { .. } => "message_start",
            Self::ContentBlockStart { .. } => "content_block_start",
            Self::ContentBlockDelta { .. } => "content_block_delta",
            Self::ContentBlockStop { .. } => "content_block_stop",
            Self::MessageDelta { .. } => "message_delta",
            Self::MessageStop => "message_stop",
        }
    }
}

/// Whether the client gets the reasoning of a model that is not Anthropic's: it has asked for thinking, and to see it.
pub(super) fn shows_reasoning(request: &ChatRequest) -> bool {
    let Some(thinking) = request.members.get("thinking") else { return false };
    let thinking = json::parse(thinking.get()).unwrap_or_default();
    let is = |name: &str, word| thinking.get(name).and_then(Value::as_str) == Some(word);
    !is("type", "disabled") && !is("display", "omitted")
}

impl EventEncoder for MessageEncoder {
    fn forward(&mut self, raw: &[u8], deltas: &[Delta], out: &mut Vec<u8>) {
        self.passes = true;
        write_raw(raw, deltas, None, &mut self.report, out);
    }

    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        match delta {
            Delta::StopSequence(sequence) => self.stop_sequence = Some(sequence.clone()),
            Delta::Finish(reason) => self.stop = *reason,
            Delta::Usage(usage) => self.usage = Some(usage.clone()),
            Delta::Done => self.end(out),
            // A complete block of thinking has come before, and no call needs the signature of a text.
            Delta::ExtraContent(_) => {}
            Delta::Text(text) if mem::take(&mut self.is_apart) && text == "\n\n" => {}
            part if self.must_wait(part) => self.waiting.add(part),
            part => self.part(part, out),
        }
    }

    /// Each block comes whole, because SDKs join the input of `tool_use` only.
    fn ran(&mut self, calls: &[RanCall], out: &mut Vec<u8>) {
        self.go_on(out);
        let server_name = mem::take(&mut self.server_name);
        Block::of_ran(calls, &server_name).for_each(|block| self.whole(block, out));
        self.server_name = server_name;
        self.is_apart = true;
    }

    fn held_bytes(&self) -> usize {
        self.waiting.bytes()
    }

    fn report(&mut self, report: &Report) {
        self.report = Some(report.json());
    }

    fn error(&mut self, error: &GatewayError, out: &mut Vec<u8>) {
        write_event("error", &error_body(error), out);
    }
}

impl MessageEncoder {
    pub(super) fn new(request: &ChatRequest, info: CompletionInfo) -> Self {
        Self {
            info,
            input_tokens: input_tokens(request),
            server_name: request.server_name().to_owned(),
            shows_reasoning: shows_reasoning(request),
            has_begun: false,
            passes: false,
            next: 0,
            open: None,
            waiting: Waiting::default(),
            is_apart: false,
            refuses: false,
            stop: FinishReason::Stop,
            stop_sequence: None,
            usage: None,
            report: None,
        }
    }

    /// Whether a part must wait: a call is open, it is not a part of that call, and more of the call's arguments may follow.
    fn must_wait(&self, part: &Delta) -> bool {
        let Some(Open::Call(index, arguments)) = &self.open else { return false };
        let continues = matches!(part, Delta::Arguments { index: of, .. } if of == index);
        !continues && (!self.waiting.is_empty() || !is_object(arguments))
    }

    /// Ends the open block, and writes what has waited for it.
    fn go_on(&mut self, out: &mut Vec<u8>) {
        self.close(out);
        for part in mem::take(&mut self.waiting).into_parts() {
            self.part(&part, out);
        }
        self.close(out);
    }

    /// Writes a part of a block.
    fn part(&mut self, part: &Delta, out: &mut Vec<u8>) {
        match part {
            Delta::Text(text) => self.text(text, out),
            Delta::Refusal(text) => {
                self.refuses = true;
                self.text(text, out);
            }
            Delta::Reasoning(thinking) if self.shows_reasoning => {
                if !matches!(self.open, Some(Open::Reasoning)) {
                    self.close(out);
                    self.begin(Block::Thinking { thinking: "", signature: "" }, out);
                    self.open = Some(Open::Reasoning);
                }
                self.grow(BlockDelta::Thinking { thinking }, out);
            }
            Delta::Thinking(block) => self.thinking(block, out),
            Delta::State(state) => {
                if let Some(block) = Block::state(state) {
                    self.whole(block, out);
                }
            }
            Delta::TextBlock if matches!(self.open, Some(Open::Text)) => self.close(out),
            Delta::Citation(citation) if matches!(self.open, Some(Open::Text)) => {
                self.grow(BlockDelta::Citation { citation }, out);
            }
            Delta::Block(block) => self.whole(Block::Verbatim(block), out),
            Delta::Call { index, id, name, extra_content, .. } => {
                self.close(out);
                if let Some(content) = extra_content {
                    self.whole(Block::extra_content(content), out);
                }
                self.begin(Block::call(id, name, "{}"), out);
                self.open = Some(Open::Call(*index, String::new()));
            }
            Delta::Arguments { index, fragment, .. } if !fragment.is_empty() => {
                if let Some(Open::Call(open, arguments)) = &mut self.open
                    && open == index
                {
                    arguments.push_str(fragment);
                    self.grow(BlockDelta::Input { partial_json: fragment }, out);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<u8>) {
        if !matches!(self.open, Some(Open::Text)) {
            self.close(out);
            self.begin(Block::text(""), out);
            self.open = Some(Open::Text);
        }
        self.grow(BlockDelta::Text { text }, out);
    }

    /// A block of thinking of Anthropic is complete. Its text may have been written.
    fn thinking(&mut self, block: &Value<'_>, out: &mut Vec<u8>) {
        let member = |name| block.get(name).and_then(Value::as_str);
        let Some(thinking) = member("thinking") else {
            return self.whole(Block::Verbatim(block), out);
        };
        if !matches!(self.open, Some(Open::Reasoning)) {
            self.close(out);
            self.begin(Block::Thinking { thinking: "", signature: "" }, out);
            if !thinking.is_empty() {
                self.grow(BlockDelta::Thinking { thinking }, out);
            }
        }
        let signature = member("signature").unwrap_or_default();
        self.grow(BlockDelta::Signature { signature }, out);
        self.open = None;
        self.stop_block(out);
    }

    /// Ends the block that grows.
    fn close(&mut self, out: &mut Vec<u8>) {
        let Some(open) = self.open.take() else { return };
        if let Open::Reasoning = open {
            self.grow(BlockDelta::Signature { signature: thinking::SIGNATURE }, out);
        }
        self.stop_block(out);
    }

    /// Writes a block without deltas.
    fn whole(&mut self, block: Block<'_>, out: &mut Vec<u8>) {
        self.close(out);
        self.begin(block, out);
        self.stop_block(out);
    }

    fn begin(&mut self, content_block: Block<'_>, out: &mut Vec<u8>) {
        self.start(out);
        write(&Event::ContentBlockStart { index: self.next, content_block }, out);
    }

    fn grow(&self, delta: BlockDelta<'_>, out: &mut Vec<u8>) {
        write(&Event::ContentBlockDelta { index: self.next, delta }, out);
    }

    fn stop_block(&mut self, out: &mut Vec<u8>) {
        write(&Event::ContentBlockStop { index: self.next }, out);
        self.next += 1;
    }

    /// Writes the first event, if none has been written.
    fn start(&mut self, out: &mut Vec<u8>) {
        if !mem::replace(&mut self.has_begun, true) {
            let usage = Counts::estimated(self.input_tokens);
            let message = Message::new(&self.info.id, &self.info.model, usage);
            write(&Event::MessageStart { message }, out);
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        if !self.passes {
            self.start(out);
            self.go_on(out);
            let usage = match &self.usage {
                Some(usage) => Counts::of(usage),
                None => Counts::estimated(self.input_tokens),
            };
            let sequence = self.stop_sequence.take();
            let delta = Stop {
                stop_reason: stop_reason(self.stop, self.refuses, sequence.as_deref()),
                stop_sequence: sequence.as_deref(),
                stop_details: None,
                container: None,
            };
            let report = self.report.take();
            let report = report.as_deref().map(Rendered);
            write(&Event::MessageDelta { delta, usage, report }, out);
        }
        write(&Event::MessageStop, out);
    }
}

/// Writes an event with its name, without which clients skip it.
fn write(event: &Event<'_>, out: &mut Vec<u8>) {
    write_event(event.name(), event, out);
}
