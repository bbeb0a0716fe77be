//! Answers as responses: the items of the output, and the events that lead to them.

mod call;
mod mcp;
mod picture;
mod text;

use crate::gateway::answer::completion::CompletionInfo;
use crate::gateway::answer::stream::Delta;
use crate::gateway::conversation::request::{ChatRequest, ResponsesContext};
use crate::gateway::error::{ErrorKind, GatewayError};
use crate::gateway::format::front::EventEncoder;
use crate::gateway::format::front::write_event;
use crate::gateway::format::front::write_raw;
use crate::gateway::format::responses::front::item::{
    Event, Failure, Incomplete, OutputItem, Part, Response,
};
use crate::gateway::format::responses::front::open::{OpenCall, OpenItem, PartKind};
use crate::gateway::format::responses::front::{EXTRA, ROUNDS, answer};
use crate::gateway::ids;
use crate::gateway::provider_state::ProviderState;
use crate::gateway::relay::report::{RanCall, Report};
use crate::wire::{FinishReason, Members, Usage};
use toolbooth::json::{self, Object, Rendered, Value};
use toolbooth::seal::RequestState;

/// The most bytes of text and arguments that are kept for the whole response. What follows is left out.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// Writes a response and its events. Each item is complete before the next one begins, unless the provider mixes calls.
pub(super) struct ResponseEncoder {
    info: CompletionInfo,
    id: String,
    /// Whether events are written, and not only the response.
    stream: bool,
    /// The members of the request that the response repeats.
    request: Members<'static>,
    /// What this server is called in items.
    label: String,
    context: ResponsesContext,
    /// The number of the next event.
    sequence: u64,
    begun: bool,
    /// The items, each as JSON; empty until they are complete.
    output: Vec<String>,
    open: Option<OpenItem>,
    calls: Vec<OpenCall>,
    kept_bytes: usize,
    /// Whether calls have just run: what follows is a message of its own, so that no empty line must separate it.
    is_apart: bool,
    /// What the provider must get back: with the message, and `extra_content` of calls and pictures by their ids.
    state: ProviderState,
    extra_of_items: Object<'static>,
    finish: FinishReason,
    usage: Option<Usage>,
    report: Option<String>,
}

impl EventEncoder for ResponseEncoder {
    fn forward(&mut self, raw: &[u8], deltas: &[Delta], out: &mut Vec<u8>) {
        self.begun = true;
        if raw.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"data")) {
            self.sequence += 1;
        }
        write_raw(raw, deltas, Some("response"), &mut self.report, out);
    }

    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        self.begin(out);
        match delta {
            Delta::Text(text) if text == "\n\n" && std::mem::take(&mut self.is_apart) => {}
            Delta::Text(text) => self.text(PartKind::Text, text, out),
            Delta::Refusal(text) => self.text(PartKind::Refusal, text, out),
            Delta::Reasoning(text) => self.reasoning(text, out),
            // The first two are in the state; for the others there is no member.
            Delta::Thinking(_)
            | Delta::ExtraContent(_)
            | Delta::TextBlock
            | Delta::Citation(_)
            | Delta::Block(_)
            | Delta::StopSequence(_) => {}
            Delta::Media(file) => self.picture(file, out),
            Delta::State(state) => self.state.join(state.clone()),
            Delta::Call { index, id, name, custom, extra_content } => {
                self.extra_of_call(id, extra_content.as_ref(), out);
                self.call(*index, id, name, *custom, out);
            }
            Delta::Arguments { index, fragment, .. } => self.arguments(*index, fragment, out),
            Delta::Finish(reason) => {
                self.finish = *reason;
                self.close_all(out);
                self.seal_state(out);
            }
            Delta::Usage(usage) => self.usage = Some(usage.clone()),
            Delta::Done => {
                let (kind, _) = self.status();
                let response = Some(&self.response(None));
                let event = Event { response, ..Event::default() };
                write(self.stream, &mut { self.sequence }, kind, event, out);
            }
        }
    }

    fn ran(&mut self, calls: &[RanCall], out: &mut Vec<u8>) {
        self.begin(out);
        self.close_all(out);
        for call in calls {
            self.ran_call(call, out);
        }
        self.seal_state(out);
        self.is_apart = true;
    }

    fn report(&mut self, report: &Report) {
        let has_state = !self.state.is_empty() || !self.extra_of_items.is_empty();
        if has_state && self.context.token.is_none() {
            report.notes.warn(
                "STATE_KEY is not set, so the provider does not get its signatures and reasoning back",
            );
        }
        self.report = Some(report.json());
    }

    fn error(&mut self, error: &GatewayError, out: &mut Vec<u8>) {
        self.begin(out);
        let message = message_of(error);
        let response = Some(&self.response(Some(failure(error, &message))));
        let event = Event { response, ..Event::default() };
        write(self.stream, &mut { self.sequence }, "response.failed", event, out);
    }
}

impl ResponseEncoder {
    /// An encoder of the answer to a request. Without `stream`, it writes no events.
    pub(super) fn new(request: &ChatRequest, info: CompletionInfo, stream: bool) -> Self {
        let id = match info.id.starts_with("resp_") {
            true => info.id.clone(),
            false => format!("resp_{}", info.id),
        };
        Self {
            info,
            id,
            stream,
            request: answer::request_members(request),
            label: request.server_name().to_owned(),
            context: request.responses.as_deref().cloned().unwrap_or_default(),
            sequence: 0,
            begun: false,
            output: Vec::new(),
            open: None,
            calls: Vec::new(),
            kept_bytes: 0,
            is_apart: false,
            state: ProviderState::default(),
            extra_of_items: Object::default(),
            finish: FinishReason::Stop,
            usage: None,
            report: None,
        }
    }

    /// The response, which is complete.
    pub(super) fn body(&self) -> Vec<u8> {
        json::to_vec(&self.response(None))
    }

    /// The response, which has failed.
    pub(super) fn failed(&self, error: &GatewayError) -> Vec<u8> {
        json::to_vec(&self.response(Some(failure(error, &message_of(error)))))
    }

    fn response<'a>(&'a self, failure: Option<Failure<'a>>) -> Response<'a> {
        let (_, status) = self.status();
        let reason = match self.finish {
            FinishReason::Failed(_) | FinishReason::Length => Some("max_output_tokens"),
            FinishReason::ContentFilter => Some("content_filter"),
            _ => None,
        };
        let incomplete = reason.filter(|_| failure.is_none());
        let items = self.output.iter().filter(|item| !item.is_empty());
        Response {
            id: &self.id,
            object: "response",
            created_at: self.info.created,
            status: if failure.is_some() { "failed" } else { status },
            error: failure,
            incomplete_details: incomplete.map(|reason| Incomplete { reason }),
            model: &self.info.model,
            output: items.map(|item| Rendered(item)).collect(),
            usage: self.usage.as_ref().map(Into::into),
            request: &self.request,
            report: self.report.as_deref().map(Rendered),
        }
    }

    /// The last event of an answer that is complete, and the status of the response.
    fn status(&self) -> (&'static str, &'static str) {
        match self.finish {
            FinishReason::Failed(_) | FinishReason::Length | FinishReason::ContentFilter => {
                ("response.incomplete", "incomplete")
            }
            _ => ("response.completed", "completed"),
        }
    }

    /// Writes an event.
    fn write(&mut self, kind: &'static str, event: Event<'_>, out: &mut Vec<u8>) {
        write(self.stream, &mut self.sequence, kind, event, out);
    }

    /// Writes the events with which a response begins, and the list of this server's tools.
    fn begin(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        let mut sequence = self.sequence;
        for kind in ["response.created", "response.in_progress"] {
            let response = Response { status: "in_progress", ..self.response(None) };
            let event = Event { response: Some(&response), ..Event::default() };
            write(self.stream, &mut sequence, kind, event, out);
        }
        self.sequence = sequence;
        self.list_tools(out);
    }

    /// The position and the id of a new item, whose id begins like this. OpenAI, to which the item may go back, takes 64 letters,
    /// digits and underscores, and rejects other characters (CopilotKit/CopilotKit#6117, openai/codex#9360).
    fn add(&mut self, prefix: &str) -> (usize, String) {
        let index = self.output.len();
        self.output.push(String::new());
        let answer = self.id.strip_prefix("resp_").unwrap_or(&self.id);
        let answer = ids::portable(answer.into()).replace('-', "");
        (index, format!("{prefix}_{answer}_{index}"))
    }

    fn added(&mut self, index: usize, item: &str, out: &mut Vec<u8>) {
        let event =
            Event { output_index: Some(index), item: Some(Rendered(item)), ..Event::default() };
        self.write("response.output_item.added", event, out);
    }

    fn done(&mut self, index: usize, item: String, out: &mut Vec<u8>) {
        let event =
            Event { output_index: Some(index), item: Some(Rendered(&item)), ..Event::default() };
        self.write("response.output_item.done", event, out);
        if let Some(place) = self.output.get_mut(index) {
            *place = item;
        }
    }

    /// Whether so many more bytes can be kept. If not, the answer ends as if it had reached its limit of tokens.
    fn keeps(&mut self, bytes: usize) -> bool {
        self.kept_bytes = self.kept_bytes.saturating_add(bytes);
        self.kept_bytes <= MAX_KEPT_BYTES
    }

    /// Writes a reasoning item that has only what this server must get back.
    fn sealed(&mut self, content: &str, out: &mut Vec<u8>) {
        self.close_all(out);
        let (index, id) = self.add("rs");
        self.added(index, &reasoning_item(&id, None, None), out);
        self.done(index, reasoning_item(&id, None, Some(content)), out);
    }

    /// Takes what must come back from `extra_content` of a call.
    fn extra_of_call(&mut self, id: &str, extra: Option<&Value<'static>>, out: &mut Vec<u8>) {
        let Some(Value::Object(extra)) = extra else { return };
        let mut extra = extra.clone();
        if let Some(own) = extra.take("toolbooth")
            && let Some(state) = own.get("state").and_then(Value::as_str)
        {
            self.sealed(&format!("{ROUNDS}{state}"), out);
        }
        if !extra.is_empty() {
            self.extra_of_items.insert(id.to_owned().into(), Value::Object(extra));
        }
    }

    /// Seals what the provider must get back into an item, which follows the message.
    fn seal_state(&mut self, out: &mut Vec<u8>) {
        let (state, items) =
            (std::mem::take(&mut self.state), std::mem::take(&mut self.extra_of_items));
        if state.is_empty() && items.is_empty() {
            return;
        }
        let Some(token) = &self.context.token else { return };
        let mut sealed = Members::default();
        sealed.add("from", Some(Value::from(state.from.as_str())));
        sealed.add("members", Some(Value::Object(state.members.clone())));
        sealed.add("calls", Some(Value::Object(items)));
        let sealed = serde_json::Value::String(json::to_string(&sealed));
        let sealed = token.seal(RequestState { state: Some(sealed), ..RequestState::default() });
        self.sealed(&format!("{EXTRA}{sealed}"), out);
    }

    fn close_all(&mut self, out: &mut Vec<u8>) {
        self.close_open(out);
        for call in std::mem::take(&mut self.calls) {
            self.close_call(call, out);
        }
        if self.kept_bytes > MAX_KEPT_BYTES {
            self.finish = FinishReason::Length;
        }
    }
}

/// Writes an event with its number, if events are written.
fn write(
    stream: bool,
    sequence: &mut u64,
    kind: &'static str,
    event: Event<'_>,
    out: &mut Vec<u8>,
) {
    if !stream {
        return;
    }
    let event = Event { r#type: kind, sequence_number: *sequence, ..event };
    *sequence += 1;
    write_event(kind, &event, out);
}

/// An event of the item at a position.
fn of_item(index: usize, id: &str) -> Event<'_> {
    Event { output_index: Some(index), item_id: Some(id), ..Event::default() }
}

fn reasoning_item(id: &str, summary: Option<&str>, encrypted: Option<&str>) -> String {
    let summary = summary.into_iter().map(|text| Part::SummaryText { text }).collect();
    json::to_string(&OutputItem {
        id,
        r#type: "reasoning",
        summary: Some(summary),
        encrypted_content: encrypted,
        ..OutputItem::default()
    })
}

fn failure<'m>(error: &GatewayError, message: &'m str) -> Failure<'m> {
    Failure { code: code_of(error.kind), message }
}

/// OpenAI's code for an error: its list is closed.
fn code_of(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::RateLimited | ErrorKind::BudgetExceeded => "rate_limit_exceeded",
        ErrorKind::InvalidRequest | ErrorKind::ProviderRejected(_) => "invalid_prompt",
        _ => "server_error",
    }
}

/// The message of an error. Clients read from it when they may try again.
fn message_of(error: &GatewayError) -> String {
    match error.retry_after_ms {
        Some(ms) if code_of(error.kind) == "rate_limit_exceeded" => {
            format!("{} Please try again in {}s.", error.message, ms.div_ceil(1000))
        }
        _ => error.message.clone(),
    }
}
