//! Assistant messages: texts, calls and reasoning, which are items of their own.

use std::collections::BTreeSet;

use crate::gateway::conversation::open_calls::MAX_CALLS;
use crate::gateway::conversation::{self as message, MessageBody, Part, PartContent, Source};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::responses::front::input::Input;
use crate::gateway::format::responses::front::{EXTRA, ROUNDS};
use crate::gateway::raw_json::nested;
use crate::gateway::relay::continuation;
use crate::wire::ToolCall;
use toolbooth::json::{Object, Value};

/// An assistant message, with the results of the calls that the gateway ran.
#[derive(Default)]
pub(super) struct Assistant {
    pub(super) texts: Vec<String>,
    pub(super) refusals: Vec<String>,
    /// The pictures that the model has made.
    pub(super) pictures: Vec<Part>,
    pub(super) calls: Vec<(ToolCall<'static>, String)>,
    pub(super) results: Vec<(String, String)>,
    /// What the provider must get back: OpenAI's reasoning items, and what this server has sealed.
    pub(super) reasoning: Vec<Value<'static>>,
    pub(super) sealed: Option<String>,
    /// Rounds that this server has sealed.
    pub(super) rounds: Option<String>,
}

impl Assistant {
    /// A call, which is at `path`.
    pub(super) fn add(&mut self, call: ToolCall<'static>, path: String) -> Result<()> {
        if self.calls.len() >= MAX_CALLS {
            let message = format!("{path} is one of more than {MAX_CALLS} calls in one answer");
            return Err(GatewayError::invalid(path, message));
        }
        self.calls.push((call, path));
        Ok(())
    }
}

/// Removes the calls that the gateway ran: those with results.
fn drop_ran(calls: &mut Vec<(ToolCall<'static>, String)>, results: &[(String, String)]) {
    // `collect` would bring a sort into the Worker.
    let mut ran = BTreeSet::new();
    ran.extend(results.iter().map(|(id, _)| id.as_str()));
    calls.retain(|(call, _)| !ran.contains(&*call.id));
}

impl Input<'_> {
    /// The assistant message that is being read, or a new one: after what was sealed with the last one, or if `begins` and the gateway
    /// has run calls of it.
    pub(super) fn round(&mut self, begins: bool) -> Result<&mut Assistant> {
        let is_over =
            |open: &Assistant| open.sealed.is_some() || begins && !open.results.is_empty();
        if self.open.as_ref().is_some_and(is_over) {
            self.close()?;
        }
        if self.open.is_none() {
            self.pending.close()?;
            self.requests.clear();
        }
        Ok(self.open.get_or_insert_default())
    }

    /// A picture that the model has made. Without its content, which some clients leave out, it is lost.
    pub(super) fn picture(&mut self, item: &Fields<'_>) -> Result<()> {
        const PATH: &str = "input[].image_generation_call";
        let text = |name| item.get(name).and_then(Value::as_str);
        let Some(base64) = text("result").map(str::to_owned) else {
            self.tools.lost.push(PATH.to_owned());
            return Ok(());
        };
        let media_type = format!("image/{}", text("output_format").unwrap_or("png"));
        let source = Source::Data { media_type, base64 };
        let id = text("id").unwrap_or_default().to_owned();
        // What was sealed at the end of the answer names it.
        let extra_content = Some(nested("toolbooth", nested("item", Value::String(id.into()))));
        let content = PartContent::Image { source, detail: None };
        self.round(true)?.pictures.push(Part { extra_content, ..Part::new(content, PATH) });
        Ok(())
    }

    pub(super) fn reasoning(&mut self, index: usize, item: &Fields<'_>) -> Result<()> {
        let encrypted = item.get("encrypted_content").and_then(Value::as_str).unwrap_or_default();
        if let Some(sealed) = encrypted.strip_prefix(EXTRA) {
            self.removed.push(index);
            self.has_sealed = true;
            // What was sealed at the end of an answer belongs to it.
            self.round(false)?.sealed = Some(sealed.to_owned());
        } else if let Some(rounds) = encrypted.strip_prefix(ROUNDS) {
            self.removed.push(index);
            self.needs_translation = true;
            // The sealed rounds are those of this answer that the client has as items.
            let answer = self.answer;
            let open = self.round(false)?;
            drop_ran(&mut open.calls, &open.results);
            open.results.clear();
            open.rounds = Some(rounds.to_owned());
            self.history.truncate(answer);
        } else if encrypted.is_empty() {
            // Without its content, it means nothing to a server that has not stored it.
            self.removed.push(index);
        } else {
            let mut own = Object::from_iter([
                ("type", Value::from("reasoning")),
                ("encrypted_content", Value::from(encrypted)),
            ]);
            for name in ["id", "summary"] {
                let default = || (name == "summary").then(|| Value::Array(Vec::new()));
                if let Some(value) = item.get(name).cloned().or_else(default) {
                    own.insert(name.into(), value);
                }
            }
            let own = Value::Object(own).into_owned();
            self.round(true)?.reasoning.push(own);
        }
        Ok(())
    }

    /// The assistant message that was read is complete.
    pub(super) fn close(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        self.pending.close()?;
        let Assistant { texts, refusals, pictures, mut calls, results, reasoning, sealed, rounds } =
            open;
        if calls.is_empty() && texts.is_empty() && refusals.is_empty() && pictures.is_empty() {
            // Reasoning without an answer.
            return Ok(());
        }
        let mut extra = Object::default();
        if !reasoning.is_empty() {
            extra.insert("openai".into(), nested("reasoning", Value::Array(reasoning)));
        }
        if let Some(sealed) = sealed {
            extra.insert("toolbooth".into(), nested("sealed", Value::String(sealed.into())));
        }
        if let (Some(rounds), Some((call, _))) = (rounds, calls.first_mut()) {
            continuation::attach(call, &rounds);
        }
        let said = |text: String| Part::text(text, "");
        let refused = |text: String| Part::new(PartContent::Refusal(text), "");
        let content = texts.into_iter().map(said).chain(refusals.into_iter().map(refused));
        let message = message::Assistant {
            content: content.chain(pictures).collect(),
            calls: calls.iter().map(|(call, _)| call.clone()).collect(),
            extra_content: extra,
            ..message::Assistant::default()
        };
        self.push("input[]", MessageBody::Assistant(message));
        for (id, content) in &results {
            self.tool_message(id.clone(), content.clone().into(), "input[]");
        }
        drop_ran(&mut calls, &results);
        calls.into_iter().try_for_each(|(call, path)| self.pending.add(&call.id, path))
    }
}
