//! Messages and reasoning, which grow until another item begins.

use crate::gateway::format::responses::front::events::{ResponseEncoder, of_item, reasoning_item};
use crate::gateway::format::responses::front::item::{Event, Part};
use crate::gateway::format::responses::front::open::{Message, OpenItem, PartKind};
use crate::wire::FinishReason;

impl ResponseEncoder {
    pub(super) fn text(&mut self, kind: PartKind, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() || !self.keeps(text.len()) {
            return;
        }
        if !matches!(self.open, Some(OpenItem::Message(_))) {
            self.close_complete(out);
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

    pub(super) fn reasoning(&mut self, text: &str, out: &mut Vec<u8>) {
        if text.is_empty() || !self.keeps(text.len()) {
            return;
        }
        if !matches!(self.open, Some(OpenItem::Reasoning { .. })) {
            self.close_complete(out);
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

    /// Ends the item that is open, but no calls.
    pub(super) fn close_open(&mut self, out: &mut Vec<u8>) {
        match self.open.take() {
            None => {}
            Some(OpenItem::Message(message)) => {
                self.close_part(&message, out);
                let is_cut = matches!(self.finish, FinishReason::Length | FinishReason::Failed(_));
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
}
