//! Answers as responses: the items of the output, and the events that lead to them.

use super::input::{APPROVAL, RAN};
use super::item::{ErrorText, Event, Failure, Incomplete, OutputItem, Part, Response, ToolFailure};
use super::open::{Message, OpenCall, OpenItem, PartKind};
use super::{EXTRA, ROUNDS, answer};
use crate::gateway::front::EventEncoder;
use crate::gateway::report::RanCall;
use crate::gateway::{
    ChatRequest, CompletionInfo, Delta, ErrorKind, GatewayError, Report, ResponsesContext,
    StreamEvent,
};
use crate::wire::{FinishReason, Json, Members, Usage};
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
    context: ResponsesContext,
    /// The number of the next event.
    sequence: u64,
    begun: bool,
    /// The items, each as JSON; empty until they are complete.
    output: Vec<String>,
    open: Option<OpenItem>,
    calls: Vec<OpenCall>,
    kept_bytes: usize,
    /// What the provider must get back: `extra_content` of the message, and of calls by their ids.
    extra: Option<Value<'static>>,
    extra_of_calls: Object<'static>,
    finish: FinishReason,
    usage: Option<Usage>,
    report: Option<String>,
}

impl EventEncoder for ResponseEncoder {
    fn event(&mut self, event: &StreamEvent, out: &mut Vec<u8>) {
        let Some(raw) = &event.raw else {
            return event.deltas.iter().for_each(|delta| self.delta(delta, out));
        };
        let finishes = event.deltas.iter().any(|it| matches!(it, Delta::Finish(_)));
        self.begun = true;
        if raw.split(|byte| *byte == b'\n').any(|line| line.starts_with(b"data")) {
            self.sequence += 1;
        }
        match self.report.take_if(|_| finishes) {
            Some(report) => out.extend(answer::with_report(raw, b"\"response\":", &report)),
            None => out.extend_from_slice(raw),
        }
    }

    fn delta(&mut self, delta: &Delta, out: &mut Vec<u8>) {
        self.begin(out);
        match delta {
            Delta::Text(text) => self.text(PartKind::Text, text, out),
            Delta::Refusal(text) => self.text(PartKind::Refusal, text, out),
            Delta::Reasoning(text) => self.reasoning(text, out),
            Delta::ExtraContent(value) => self.extra = Some(value.clone()),
            Delta::Call { index, id, name, custom, extra_content } => {
                self.extra_of_call(id, extra_content.as_ref(), out);
                self.call(*index, id, name, *custom, out);
            }
            Delta::Arguments { index, fragment, .. } => self.arguments(*index, fragment, out),
            Delta::Finish(reason) => {
                self.finish = *reason;
                self.close_all(out);
                self.seal_extra(out);
            }
            Delta::Usage(usage) => self.usage = Some(usage.clone()),
            Delta::Done => {
                let (kind, _) = self.status();
                let event = Event { response: Some(self.response(None)), ..Event::default() };
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
    }

    fn report(&mut self, report: &Report) {
        let has_extra = self.extra.is_some() || !self.extra_of_calls.is_empty();
        if has_extra && self.context.token.is_none() {
            report.notes.warn(
                "STATE_KEY is not set, so the provider does not get its signatures and reasoning back",
            );
        }
        self.report = Some(report.json());
    }

    fn error(&mut self, error: &GatewayError, out: &mut Vec<u8>) {
        self.begin(out);
        let message = message_of(error);
        let failure = Failure { code: code_of(error.kind), message: &message };
        let event = Event { response: Some(self.response(Some(failure))), ..Event::default() };
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
            context: request.responses.as_deref().cloned().unwrap_or_default(),
            sequence: 0,
            begun: false,
            output: Vec::new(),
            open: None,
            calls: Vec::new(),
            kept_bytes: 0,
            extra: None,
            extra_of_calls: Object::default(),
            finish: FinishReason::Stop,
            usage: None,
            report: None,
        }
    }

    /// The response, which is complete.
    pub(super) fn body(&self) -> Vec<u8> {
        json::to_vec(&self.response(None))
    }

    fn response<'a>(&'a self, failure: Option<Failure<'a>>) -> Response<'a> {
        let (_, status) = self.status();
        let reason = match self.finish {
            FinishReason::Length => Some("max_output_tokens"),
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
            FinishReason::Length | FinishReason::ContentFilter => {
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
            let event = Event { response: Some(response), ..Event::default() };
            write(self.stream, &mut sequence, kind, event, out);
        }
        self.sequence = sequence;
        self.list_tools(out);
    }

    fn list_tools(&mut self, out: &mut Vec<u8>) {
        let Some(server) = self.context.server.take_if(|it| !it.is_listed && !it.tools.is_empty())
        else {
            return;
        };
        let tools = answer::listed(&server.tools);
        let (index, id) = self.add("mcpl");
        let item = OutputItem {
            id: &id,
            r#type: "mcp_list_tools",
            server_label: Some(&server.label),
            ..OutputItem::default()
        };
        let empty = json::to_string(&OutputItem { tools: Some(Rendered("[]")), ..item });
        self.added(index, &empty, out);
        for kind in ["response.mcp_list_tools.in_progress", "response.mcp_list_tools.completed"] {
            self.write(kind, of_item(index, &id), out);
        }
        let item = OutputItem {
            id: &id,
            r#type: "mcp_list_tools",
            server_label: Some(&server.label),
            tools: Some(Rendered(&tools)),
            ..OutputItem::default()
        };
        self.done(index, json::to_string(&item), out);
        self.context.server = Some(server);
    }

    /// The position and the id of a new item, whose id begins like this.
    fn add(&mut self, prefix: &str) -> (usize, String) {
        let index = self.output.len();
        self.output.push(String::new());
        let answer = self.id.strip_prefix("resp_").unwrap_or(&self.id);
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

    fn text(&mut self, kind: PartKind, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() || !self.keeps(text.len()) {
            return;
        }
        if !matches!(self.open, Some(OpenItem::Message(_))) {
            self.close_all(out);
            let (index, id) = self.add("msg");
            let message = Message::new(index, id);
            self.added(index, &message.json("in_progress"), out);
            self.open = Some(OpenItem::Message(message));
        }
        let Some(OpenItem::Message(mut message)) = self.open.take() else { return };
        if message.parts.last().is_none_or(|(last, _)| *last != kind) {
            self.close_part(&message, out);
            message.parts.push((kind, String::new()));
            let event = Event { part: Some(kind.part("")), ..message.event() };
            self.write("response.content_part.added", event, out);
        }
        if let Some((_, last)) = message.parts.last_mut() {
            last.push_str(text);
        }
        let event = Event { delta: Some(text), ..message.event() };
        match kind {
            PartKind::Text => {
                let event = Event { logprobs: Some([]), ..event };
                self.write("response.output_text.delta", event, out);
            }
            PartKind::Refusal => self.write("response.refusal.delta", event, out),
        }
        self.open = Some(OpenItem::Message(message));
    }

    /// Ends the last part of a message, if it has one.
    fn close_part(&mut self, message: &Message, out: &mut Vec<u8>) {
        let Some((kind, text)) = message.parts.last() else { return };
        match kind {
            PartKind::Text => {
                let event = Event { text: Some(text), logprobs: Some([]), ..message.event() };
                self.write("response.output_text.done", event, out);
            }
            PartKind::Refusal => {
                let event = Event { refusal: Some(text), ..message.event() };
                self.write("response.refusal.done", event, out);
            }
        }
        let event = Event { part: Some(kind.part(text)), ..message.event() };
        self.write("response.content_part.done", event, out);
    }

    fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() || !self.keeps(text.len()) {
            return;
        }
        if !matches!(self.open, Some(OpenItem::Reasoning { .. })) {
            self.close_all(out);
            let (index, id) = self.add("rs");
            self.added(index, &reasoning_item(&id, None, None), out);
            let part = Some(Part::SummaryText { text: "" });
            let event = Event { part, summary_index: Some(0), ..of_item(index, &id) };
            self.write("response.reasoning_summary_part.added", event, out);
            self.open = Some(OpenItem::Reasoning { index, id, text: String::new() });
        }
        let Some(OpenItem::Reasoning { index, id, text: mut all }) = self.open.take() else {
            return;
        };
        all.push_str(text);
        let event = Event { delta: Some(text), summary_index: Some(0), ..of_item(index, &id) };
        self.write("response.reasoning_summary_text.delta", event, out);
        self.open = Some(OpenItem::Reasoning { index, id, text: all });
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
            self.extra_of_calls.insert(id.to_owned().into(), Value::Object(extra));
        }
    }

    /// Seals what the provider must get back into an item.
    fn seal_extra(&mut self, out: &mut Vec<u8>) {
        let (message, calls) = (self.extra.take(), std::mem::take(&mut self.extra_of_calls));
        if message.is_none() && calls.is_empty() {
            return;
        }
        let Some(token) = &self.context.token else { return };
        let mut state = Members::default();
        state.add("message", message);
        state.add("calls", Some(Value::Object(calls)));
        let state = serde_json::Value::String(json::to_string(&state));
        let sealed = token.seal(RequestState { state: Some(state), ..RequestState::default() });
        self.sealed(&format!("{EXTRA}{sealed}"), out);
    }

    fn call(&mut self, index: usize, id: &str, name: &str, custom: bool, out: &mut Vec<u8>) {
        self.close_open(out);
        // The provider may go on with an earlier call, unless it is complete.
        let (complete, open) =
            std::mem::take(&mut self.calls).into_iter().partition(OpenCall::is_complete);
        self.calls = open;
        let complete: Vec<OpenCall> = complete;
        complete.into_iter().for_each(|call| self.close_call(call, out));
        let is_own = |tool: &&(&str, &str)| tool.0 == name;
        let server = self.context.server.as_ref();
        let server = server.filter(|it| it.tools.iter().any(|tool| is_own(&tool)));
        let label = server.map(|server| server.label.clone());
        let known = self.context.tools.iter().find(|(known, _)| known == name);
        let mut call = OpenCall::new(index, id, name, custom, known.map(|(_, tool)| tool), label);
        let (position, item_id) = self.add(call.kind.prefix());
        call.position = position;
        call.item_id = match call.kind.is_approval() {
            true => format!("{APPROVAL}{id}"),
            false => item_id,
        };
        self.added(position, &call.json("in_progress"), out);
        self.calls.push(call);
    }

    fn arguments(&mut self, index: usize, fragment: &str, out: &mut Vec<u8>) {
        if fragment.is_empty() || !self.keeps(fragment.len()) {
            return;
        }
        let Some(at) = self.calls.iter().position(|call| call.index == index) else { return };
        let mut call = self.calls.remove(at);
        call.arguments.push_str(fragment);
        if let Some(kind) = call.kind.delta_event() {
            let event = Event { delta: Some(fragment), ..of_item(call.position, &call.item_id) };
            self.write(kind, event, out);
        }
        self.calls.insert(at, call);
    }

    fn close_call(&mut self, call: OpenCall, out: &mut Vec<u8>) {
        if let Some(kind) = call.kind.done_event() {
            let text = Some(&*call.arguments);
            let (arguments, input) =
                if call.kind.is_custom() { (None, text) } else { (text, None) };
            let event = Event { arguments, input, ..of_item(call.position, &call.item_id) };
            self.write(kind, event, out);
        }
        let is_cut = self.finish == FinishReason::Length && !call.is_complete();
        let status = if is_cut { "incomplete" } else { "completed" };
        self.done(call.position, call.json(status), out);
    }

    /// A call that the gateway has run.
    fn ran_call(&mut self, call: &RanCall, out: &mut Vec<u8>) {
        let (index, _) = self.add("mcp");
        let id = format!("{RAN}{}", call.id);
        let label =
            self.context.server.as_ref().map_or("toolbooth", |server| &server.label).to_owned();
        let mut approved = self.context.approved.iter();
        let request = approved.find(|it| it.call.id == call.id).map(|it| it.request_id.clone());
        let item = |status, arguments: &str, output, error| {
            json::to_string(&OutputItem {
                id: &id,
                r#type: "mcp_call",
                status: Some(status),
                approval_request_id: request.as_deref(),
                server_label: Some(&label),
                name: Some(&call.tool),
                arguments: Some(Json::Value(Value::from(arguments))),
                output: Some(output),
                error: Some(error),
                ..OutputItem::default()
            })
        };
        self.added(index, &item("in_progress", "", None, None), out);
        self.write("response.mcp_call.in_progress", of_item(index, &id), out);
        let arguments = &*call.arguments;
        let event = Event { delta: Some(arguments), ..of_item(index, &id) };
        self.write("response.mcp_call_arguments.delta", event, out);
        let event = Event { arguments: Some(arguments), ..of_item(index, &id) };
        self.write("response.mcp_call_arguments.done", event, out);
        let item = match &call.error {
            None => {
                self.write("response.mcp_call.completed", of_item(index, &id), out);
                item("completed", arguments, Some(&*call.output), None)
            }
            Some(_) => {
                self.write("response.mcp_call.failed", of_item(index, &id), out);
                let content = [ErrorText { r#type: "text", text: &call.output }];
                let error = ToolFailure { r#type: "mcp_tool_execution_error", content };
                item("failed", arguments, None, Some(error))
            }
        };
        self.done(index, item, out);
    }

    /// Ends the item that is open, but no calls.
    fn close_open(&mut self, out: &mut Vec<u8>) {
        match self.open.take() {
            None => {}
            Some(OpenItem::Message(message)) => {
                self.close_part(&message, out);
                let is_cut = matches!(self.finish, FinishReason::Length);
                let status = if is_cut { "incomplete" } else { "completed" };
                self.done(message.index, message.json(status), out);
            }
            Some(OpenItem::Reasoning { index, id, text }) => {
                let event =
                    Event { text: Some(&text), summary_index: Some(0), ..of_item(index, &id) };
                self.write("response.reasoning_summary_text.done", event, out);
                let part = Some(Part::SummaryText { text: &text });
                let event = Event { part, summary_index: Some(0), ..of_item(index, &id) };
                self.write("response.reasoning_summary_part.done", event, out);
                self.done(index, reasoning_item(&id, Some(&text), None), out);
            }
        }
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
    out.extend_from_slice(b"event: ");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\ndata: ");
    out.extend(json::to_vec(&event));
    out.extend_from_slice(b"\n\n");
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
