//! Collects a completion from its parts, for streams and for whole bodies alike.

mod call_parts;
mod media;

pub(in crate::gateway) use call_parts::{CallPart, CallProgress, is_complete};

use crate::gateway::answer::completion::{AssistantMessage, Completion, Read, UpstreamError};
use crate::gateway::answer::sse::SseEvent;
use crate::gateway::answer::stream::{DecodeOptions, Delta, StreamEvent};
use crate::gateway::conversation::open_calls::MAX_CALLS;
use crate::gateway::format::adapter::Names;
use crate::gateway::ids::IdSource;
use crate::gateway::provider_state::ProviderState;
use crate::wire::{Arguments, Finish, FinishReason, Item, ModelAnswer, ToolCall};
use toolbooth::json::{self, Object, Value};
use toolbooth::schema::text::excerpt;

/// The most warnings about an answer, or about a request.
pub(in crate::gateway) const MAX_WARNINGS: usize = 64;

/// The most bytes of text that are kept for the tool loop.
const MAX_KEPT_BYTES: usize = 32 << 20;

/// A completion that grows. Each part is also a delta.
pub(in crate::gateway) struct Builder {
    pub(in crate::gateway) completion: Completion,
    /// The parts since the last event.
    pub(in crate::gateway) deltas: Vec<Delta>,
    /// The events of a stream that were not taken yet.
    pub(in crate::gateway) events: Vec<StreamEvent>,
    /// The content as the provider wrote it, for the next request.
    pub(in crate::gateway) native: Vec<Value<'static>>,
    /// What the provider must get back, since the last delta with it.
    state: ProviderState,
    /// Whether text, reasoning and the native content are kept.
    pub(in crate::gateway) collect: bool,
    /// Whether events keep their bytes.
    forward: bool,
    pub(in crate::gateway) names: Names,
    /// The calls of custom tools that the provider knows as functions, whose text is not known yet.
    wrapped: Vec<usize>,
    /// How many bytes of the arguments of each call are among the deltas.
    sent: Vec<usize>,
    ids: IdSource,
    argument_bytes: usize,
    kept_bytes: usize,
    /// Whether the model has answered anything but reasoning.
    has_answer: bool,
    /// Why the model stopped, if that is no success: the HTTP status that fits it, and a sentence.
    failure: Option<(u16, String)>,
}

impl Builder {
    pub(in crate::gateway) fn new(ids: IdSource, options: DecodeOptions) -> Self {
        let DecodeOptions { collect, forward, names, provider } = options;
        let message = AssistantMessage { provider, ..AssistantMessage::default() };
        Self {
            completion: Completion { message, ..Completion::default() },
            state: ProviderState::default(),
            deltas: Vec::new(),
            events: Vec::new(),
            native: Vec::new(),
            collect,
            forward,
            names,
            wrapped: Vec::new(),
            sent: Vec::new(),
            ids,
            argument_bytes: 0,
            kept_bytes: 0,
            has_answer: false,
            failure: None,
        }
    }

    pub(in crate::gateway) fn into_completion(mut self) -> Completion {
        if self.collect && !self.native.is_empty() {
            self.completion.native = json::to_string(&self.native);
        }
        self.completion
    }

    /// The deltas since the last event are an event, which clients get as `raw` if it is there.
    pub(in crate::gateway) fn end_event(&mut self, raw: Option<Vec<u8>>) {
        let deltas = std::mem::take(&mut self.deltas);
        let raw = raw.filter(|_| self.forward).map(|raw| self.names.restored(raw));
        if raw.is_some() || !deltas.is_empty() {
            self.events.push(StreamEvent { raw, deltas });
        }
    }

    /// The deltas since the last event are this event, which clients that read the provider's format get as it is. It needs a name:
    /// `kind`, if it has none.
    pub(in crate::gateway) fn end_named_event(&mut self, event: &SseEvent<'_>, kind: &str) {
        let is_named = !event.name.is_empty() || kind.is_empty();
        let named = |bytes| match is_named {
            true => bytes,
            false => [format!("event: {kind}\n").into_bytes(), bytes].concat(),
        };
        let raw = self.forward.then(|| named(event.bytes()));
        self.end_event(raw);
    }

    /// A whole answer. The error: a call cannot be read, there are too many, or the model has failed without an answer.
    pub(in crate::gateway) fn answer(&mut self, mut answer: ModelAnswer<'_>) -> Read {
        self.head(&mut answer);
        for item in answer.items {
            self.item(item)?;
        }
        let reason = match answer.finish {
            Some(finish) => self.reason(&finish),
            None => self.no_reason(),
        };
        self.finish(reason)
    }

    /// The id and the model, unless they are known.
    pub(in crate::gateway) fn head(&mut self, answer: &mut ModelAnswer<'_>) {
        let completion = &mut self.completion;
        let (id, model) = (answer.id.take(), answer.model.take());
        completion.id = completion.id.take().or(id.map(Into::into));
        completion.model = completion.model.take().or(model.map(Into::into));
        completion.usage = answer.usage.take().or(completion.usage.take());
    }

    pub(in crate::gateway) fn item(&mut self, item: Item<'_>) -> Read {
        match item {
            Item::Text(text) => self.text(&text),
            Item::Refusal(text) => self.refusal(&text),
            Item::Reasoning(text) => self.reasoning(&text),
            Item::Call(call) => {
                if let Arguments::Unreadable(reason) = call.arguments {
                    return Err(UpstreamError::malformed(reason));
                }
                let mut progress = CallProgress::default();
                let part = CallPart {
                    id: &call.id,
                    name: &call.name,
                    arguments: &call.arguments.text(),
                    custom: call.custom,
                    extra: call.extra.into_owned(),
                };
                self.add_part(&mut progress, part)?;
                self.end_call(&mut progress)?;
            }
            Item::Media(media) => self.file(media),
            Item::Hosted(kind) | Item::ClientCall(kind) => {
                self.has_answer = true;
                self.leave_out(&kind);
            }
            Item::Other(kind) => self.leave_out(&kind),
            Item::Signature(_) | Item::Result(_) => {}
        }
        Ok(())
    }

    /// The client does not get a part of this kind, if its format is another one.
    pub(in crate::gateway) fn leave_out(&mut self, kind: &str) {
        let kind = excerpt(kind);
        let warning =
            format!("The answer has a part of the kind \"{kind}\", which is not translated");
        add_warning(&mut self.completion.untranslated, warning);
    }

    /// Whether clients get events as the provider sent them.
    pub(in crate::gateway) fn forwards(&self) -> bool {
        self.forward
    }

    pub(in crate::gateway) fn calls(&self) -> &[ToolCall<'static>] {
        &self.completion.message.tool_calls
    }

    /// Whether the model has answered anything but reasoning.
    pub(in crate::gateway) fn has_answer(&self) -> bool {
        self.has_answer
    }

    pub(in crate::gateway) fn text(&mut self, text: &str) {
        let has_text = !text.trim_ascii().is_empty();
        self.completion.has_text |= has_text;
        self.has_answer |= has_text;
        self.grow(|completion| &mut completion.message.content, text, Delta::Text);
    }

    pub(in crate::gateway) fn refusal(&mut self, text: &str) {
        self.has_answer |= !text.is_empty();
        self.grow(|completion| &mut completion.message.refusal, text, Delta::Refusal);
    }

    pub(in crate::gateway) fn reasoning(&mut self, text: &str) {
        self.grow(|completion| &mut completion.message.reasoning, text, Delta::Reasoning);
    }

    /// Adds text to a member, if text is kept.
    fn grow(
        &mut self,
        member: fn(&mut Completion) -> &mut Option<String>,
        more: &str,
        delta: fn(String) -> Delta,
    ) {
        if more.is_empty() {
            return;
        }
        self.kept_bytes = self.kept_bytes.saturating_add(more.len());
        if self.collect && self.kept_bytes <= MAX_KEPT_BYTES {
            member(&mut self.completion).get_or_insert_default().push_str(more);
        }
        self.deltas.push(delta(more.to_owned()));
    }

    /// A call begins. Without an id, or with that of another call of any round, it gets one: who approves a call by its id must not
    /// approve a second one, and a result must not become that of another call. The error: there are too many calls.
    pub(in crate::gateway) fn call(
        &mut self,
        id: &str,
        name: &str,
        custom: bool,
        extra: Object<'static>,
    ) -> Read {
        self.end_state();
        let index = self.calls().len();
        if index >= MAX_CALLS {
            return Err(UpstreamError::malformed("there are too many tool calls"));
        }
        self.has_answer = true;
        let is_taken =
            id.is_empty() || self.ids.is_taken(id) || self.calls().iter().any(|call| call.id == id);
        let id = if is_taken { self.ids.next_id() } else { id.to_owned() };
        let extra_content = extra.get("extra_content").cloned();
        let name = self.names.original(name).to_owned();
        let is_wrapped = self.names.is_custom(&name);
        self.wrapped.extend(is_wrapped.then_some(index));
        let custom = custom || is_wrapped;
        self.sent.push(0);
        self.completion.message.tool_calls.push(ToolCall {
            id: id.clone().into(),
            name: name.clone().into(),
            arguments: Arguments::default(),
            custom,
            extra,
        });
        self.deltas.push(Delta::Call { index, id, name, custom, extra_content });
        Ok(())
    }

    pub(in crate::gateway) fn complete_calls(&mut self) {
        for index in 0..self.calls().len() {
            self.complete_call(index);
        }
    }

    /// `extra_content` of the message.
    pub(in crate::gateway) fn extra_content(&mut self, value: Value<'static>) {
        self.completion.message.extra.insert("extra_content".into(), value.clone());
        self.state.members.insert("extra_content".into(), value.clone());
        self.deltas.push(Delta::ExtraContent(value));
    }

    /// A part of what the provider must get back. Clients that get its events as they are have it. The error: it is too much.
    pub(in crate::gateway) fn state(&mut self, name: &str, more: &Value<'_>) -> Read {
        if self.forward && !self.collect {
            return Ok(());
        }
        match more.as_str() {
            Some(text) => self.keep(text)?,
            None => self.keep(&more.text())?,
        }
        self.state.add(name, more.clone().into_owned());
        Ok(())
    }

    /// What has come of it so far is one part for the client, so that a call follows what the model thought before it.
    fn end_state(&mut self) {
        if self.state.is_empty() {
            return;
        }
        let message = &mut self.completion.message;
        let from = message.provider.clone();
        let part = ProviderState { from, ..std::mem::take(&mut self.state) };
        if self.collect {
            let mut all = message.state();
            all.join(part.clone());
            for (name, value) in all.members {
                message.extra.insert(name, value);
            }
        }
        self.deltas.push(Delta::State(part));
    }

    /// The model stopped. With calls, `stop` means `tool_calls` (2api.ai, 9). The error: it has failed without an answer. Clients that
    /// read the provider's format see why it stopped.
    pub(in crate::gateway) fn finish(&mut self, reason: FinishReason) -> Read {
        if !self.forward {
            self.check_answer(reason)?;
        }
        self.complete_calls();
        self.end_state();
        let has_calls = !self.calls().is_empty();
        let reason = match (reason, has_calls) {
            (FinishReason::Stop | FinishReason::Failed(_) | FinishReason::Other, true) => {
                FinishReason::ToolCalls
            }
            (FinishReason::ToolCalls, false) => FinishReason::Stop,
            (reason, _) => reason,
        };
        self.completion.finish_reason = reason;
        let stop_sequence = &mut self.completion.stop_sequence;
        stop_sequence.take_if(|_| reason != FinishReason::Stop);
        self.deltas.extend(stop_sequence.clone().map(Delta::StopSequence));
        self.deltas.push(Delta::Finish(reason));
        Ok(())
    }

    /// The last deltas: why the model stopped, the tokens, and the end.
    pub(in crate::gateway) fn end(&mut self, reason: FinishReason) -> Read {
        self.finish(reason)?;
        self.complete();
        Ok(())
    }

    /// The tokens, and the end.
    pub(in crate::gateway) fn complete(&mut self) {
        self.deltas.extend(self.completion.usage.clone().map(Delta::Usage));
        self.deltas.push(Delta::Done);
    }

    /// Why the model stopped, with a warning if OpenAI has no word for it.
    pub(in crate::gateway) fn reason(&mut self, finish: &Finish<'_>) -> FinishReason {
        let (status, message) = match finish.reason {
            FinishReason::Failed(failure) => {
                let message = finish.failure().unwrap_or_default();
                self.warn(message.clone());
                (failure.status, message)
            }
            FinishReason::Other => {
                let message = format!("The model ended with \"{}\"", excerpt(&finish.word));
                self.warn(format!("{message}, which is reported as stop"));
                (502, message)
            }
            // Gemini's word is the same without calls.
            FinishReason::ToolCalls if finish.word != "STOP" => {
                (502, "The model ended to call a tool, but called none".to_owned())
            }
            FinishReason::Stop
            | FinishReason::Length
            | FinishReason::ToolCalls
            | FinishReason::ContentFilter => return finish.reason,
        };
        self.failure = Some((status, format!("there is no answer. {message}")));
        finish.reason
    }

    /// The model has stopped, and the provider does not say why.
    pub(in crate::gateway) fn no_reason(&mut self) -> FinishReason {
        let message = "there is no answer. The provider sent no finish reason";
        self.failure = Some((502, message.to_owned()));
        FinishReason::Stop
    }

    /// Checks that there is an answer, which clients would take for complete if it ends without one. The error: the model has failed.
    pub(in crate::gateway) fn check_answer(&mut self, reason: FinishReason) -> Read {
        if self.has_answer {
            return Ok(());
        }
        if let Some((status, message)) = self.failure.take() {
            let usage = self.completion.usage.clone();
            return Err(UpstreamError::NoAnswer { status, message, usage });
        }
        if matches!(reason, FinishReason::Stop | FinishReason::ToolCalls) {
            self.warn("The model has answered nothing".to_owned());
        }
        Ok(())
    }

    pub(in crate::gateway) fn warn(&mut self, warning: String) {
        add_warning(&mut self.completion.warnings, warning);
    }

    /// Counts what is kept beside text. The error: it is too much.
    pub(in crate::gateway) fn keep(&mut self, more: &str) -> Read {
        self.kept_bytes = self.kept_bytes.saturating_add(more.len());
        match self.kept_bytes <= MAX_KEPT_BYTES {
            true => Ok(()),
            false => Err(UpstreamError::malformed("the answer is too long")),
        }
    }
}

fn add_warning(warnings: &mut Vec<String>, warning: String) {
    if warnings.len() < MAX_WARNINGS && !warnings.contains(&warning) {
        warnings.push(warning);
    }
}
