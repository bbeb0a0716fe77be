//! The messages of a request, as the gateway's own: one of Anthropic's can be several.

use std::mem;

use serde_json::value::RawValue;

use super::part::{part, parts, text_part};
use super::thinking::{self, Thinking};
use crate::gateway::MAX_CALLS;
use crate::gateway::raw_json::{nested, pair, raw_items, raw_member, to_raw};
use crate::gateway::{Fields, GatewayError, HistoryItem, Notes, OpenCalls, Result, Role};
use toolbooth::json::{Object, Value};

/// The usual name of this server among the MCP servers of a request.
pub(super) const SERVER_NAME: &str = "toolbooth";

/// A conversation that is read message by message.
pub(super) struct History<'n> {
    pub(super) items: Vec<HistoryItem>,
    /// Whether it has calls that the gateway ran.
    pub(super) has_own_calls: bool,
    open: OpenCalls,
    /// What follows the results of these calls.
    held: Vec<HistoryItem>,
    /// The names of this server in blocks.
    own_names: &'n [String],
    losses: &'n Notes,
}

impl<'n> History<'n> {
    pub(super) fn new(own_names: &'n [String], losses: &'n Notes) -> Self {
        Self {
            items: Vec::new(),
            has_own_calls: false,
            open: OpenCalls::default(),
            held: Vec::new(),
            own_names,
            losses,
        }
    }

    /// Adds `system`: a string, or blocks of text.
    pub(super) fn system(&mut self, content: Option<Value<'n>>, path: String) -> Result<()> {
        if content.is_none() {
            return Ok(());
        }
        let parts = parts(content, &path, self.losses)?;
        self.say(Role::System, parts)
    }

    /// Adds a message, which is also `json`.
    pub(super) fn message(&mut self, json: &RawValue, mut message: Fields<'n>) -> Result<()> {
        let expected = "one of user, assistant, system";
        let role = message.name("role", expected)?;
        let content = message.take("content");
        let path = message.path_of("content");
        match role.as_str() {
            "user" => self.user(content, &path)?,
            "system" => self.system(Some(content.unwrap_or_default()), path)?,
            "assistant" => {
                self.close()?;
                self.assistant(content, raw_member(json, &["content"]), path)?;
            }
            _ => return message.expected("role", expected),
        }
        message.finish();
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Self> {
        self.close()?;
        if let Some(HistoryItem::Message { role: Role::Assistant, .. }) = self.items.last() {
            self.losses
                .warn("messages: only Anthropic goes on with the last message of the assistant");
        }
        Ok(self)
    }

    /// No results may follow any more: every call must have one.
    fn close(&mut self) -> Result<()> {
        self.open.close()?;
        self.items.append(&mut self.held);
        Ok(())
    }

    fn say(&mut self, role: Role, parts: Vec<Value<'_>>) -> Result<()> {
        if parts.is_empty() {
            return Ok(());
        }
        let message = pair(("role", role.as_str().into()), ("content", Value::Array(parts)));
        let item = HistoryItem::Message { role, json: to_raw(&message)? };
        match self.open.is_empty() {
            true => self.items.push(item),
            false => self.held.push(item),
        }
        Ok(())
    }

    /// The results of a user message are messages of their own, before the rest.
    fn user(&mut self, content: Option<Value<'n>>, path: &str) -> Result<()> {
        let mut said = Vec::new();
        for block in blocks(content, path, self.losses)? {
            if block.get("type").and_then(Value::as_str) == Some("tool_result") {
                self.result(block)?;
            } else {
                said.extend(part(block)?);
            }
        }
        if self.open.is_empty() {
            self.items.append(&mut self.held);
        }
        self.say(Role::User, said)
    }

    fn result(&mut self, mut block: Fields<'n>) -> Result<()> {
        block.take("type");
        let id = block.required_text("tool_use_id")?;
        self.open.answer(&id, block.path_of("tool_use_id"))?;
        let mut content = result_content(&mut block)?;
        if let Some(cache_control) = block.take("cache_control")
            && let Some(Value::Object(last)) = content.last_mut()
        {
            last.insert("cache_control".into(), cache_control);
        }
        block.finish();
        self.items.push(tool_message(&id, content)?);
        Ok(())
    }

    /// An assistant message is one for each round of calls that the gateway ran, and one for the rest.
    fn assistant(
        &mut self,
        content: Option<Value<'n>>,
        json: Option<&RawValue>,
        path: String,
    ) -> Result<()> {
        let before = self.items.len();
        let raw_blocks = raw_items(json);
        let mut round = Round::default();
        let mut continues = false;
        for (index, block) in blocks(content, &path, self.losses)?.into_iter().enumerate() {
            let kind = block.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
            let is_result = kind == "mcp_tool_result";
            if !is_result && !round.results.is_empty() {
                self.add(mem::take(&mut round))?;
            }
            match kind.as_str() {
                "text" => round.texts.extend(part(block)?),
                "thinking" | "redacted_thinking" => round.thinking(block),
                "tool_use" => {
                    let raw = raw_blocks.get(index).copied();
                    let (place, id) = (block.path.clone(), round.call(block, raw)?);
                    self.open.add(&id, place)?;
                }
                "mcp_tool_use" if self.is_own(&block) => {
                    let raw = raw_blocks.get(index).copied();
                    let id = round.call(block, raw)?;
                    round.own.push(id);
                }
                "mcp_tool_result" if round.is_result(&block) => round.result(block)?,
                _ => self.losses.drop_member(&format!("{path}[].{kind}")),
            }
            continues |= mem::take(&mut round.continues);
        }
        // The state has the rounds before the answer.
        if continues {
            self.items.truncate(before);
        }
        let own = round.own.len();
        if own > round.results.len() {
            let message = format!("{path}: an mcp_tool_use has no mcp_tool_result");
            return Err(GatewayError::invalid(path, message));
        }
        self.add(round)
    }

    /// Whether a call is one of this server's tools.
    fn is_own(&self, block: &Fields<'_>) -> bool {
        let name = block.get("server_name").and_then(Value::as_str);
        name.is_some_and(|name| self.own_names.iter().any(|known| known == name))
    }

    fn add(&mut self, round: Round<'_>) -> Result<()> {
        self.has_own_calls |= !round.own.is_empty();
        if let Some(message) = round.message() {
            self.items
                .push(HistoryItem::Message { role: Role::Assistant, json: to_raw(&message)? });
        }
        for (id, content) in round.results {
            self.items.push(tool_message(&id, content)?);
        }
        Ok(())
    }
}

/// What an assistant said, thought and called, with the results of the calls that the gateway ran.
#[derive(Default)]
struct Round<'t> {
    texts: Vec<Value<'t>>,
    thoughts: Vec<Value<'t>>,
    calls: Vec<Value<'t>>,
    /// The ids of the calls that the gateway ran.
    own: Vec<String>,
    results: Vec<(String, Vec<Value<'t>>)>,
    /// That of the call that follows.
    extra_content: Option<Value<'static>>,
    /// Whether it has the state of earlier rounds.
    continues: bool,
}

impl<'t> Round<'t> {
    fn thinking(&mut self, block: Fields<'t>) {
        let block = block.into_object();
        match thinking::read(&block) {
            Thinking::Anthropic => self.thoughts.push(Value::Object(block)),
            Thinking::Reasoning => {}
            Thinking::ExtraContent(content) => {
                self.continues |= content.get("toolbooth").is_some();
                self.extra_content = Some(content);
            }
        }
    }

    /// Adds a call, which is also `json`. Returns its id.
    fn call(&mut self, mut block: Fields<'t>, json: Option<&RawValue>) -> Result<String> {
        let id = block.name("id", "the id of the call")?;
        if self.calls.len() >= MAX_CALLS {
            let message = format!("{}: a message may have at most {MAX_CALLS} calls", block.path);
            return Err(GatewayError::invalid(block.path, message));
        }
        let name = block.name("name", "the name of the tool")?;
        if block.get("input").is_some_and(|input| input.as_object().is_none()) {
            return block.expected("input", "an object");
        }
        let input = json.and_then(|json| raw_member(json, &["input"]));
        let arguments = input.map_or("{}", RawValue::get).to_owned();
        let arguments = ("arguments", Value::String(arguments.into()));
        let function = pair(("name", Value::String(name.into())), arguments);
        let mut call = pair(("type", "function".into()), ("function", Value::Object(function)));
        call.insert("id".into(), Value::String(id.clone().into()));
        if let Some(content) = self.extra_content.take() {
            call.insert("extra_content".into(), content);
        }
        self.calls.push(Value::Object(call));
        for known in ["type", "input", "caller", "cache_control", "server_name", "toolset_name"] {
            block.take(known);
        }
        block.finish();
        Ok(id)
    }

    fn is_result(&self, block: &Fields<'_>) -> bool {
        let id = block.get("tool_use_id").and_then(Value::as_str);
        let is_done = |id: &str| self.results.iter().any(|(known, _)| known == id);
        id.is_some_and(|id| self.own.iter().any(|known| known == id) && !is_done(id))
    }

    fn result(&mut self, mut block: Fields<'t>) -> Result<()> {
        let id = block.required_text("tool_use_id")?.into_owned();
        self.results.push((id, result_content(&mut block)?));
        Ok(())
    }

    fn message(&self) -> Option<Object<'_>> {
        let Self { texts, thoughts, calls, .. } = self;
        if texts.is_empty() && thoughts.is_empty() && calls.is_empty() {
            return None;
        }
        let content = match texts.is_empty() {
            true => Value::Null,
            false => Value::Array(texts.clone()),
        };
        let mut message = pair(("role", "assistant".into()), ("content", content));
        if !calls.is_empty() {
            message.insert("tool_calls".into(), Value::Array(calls.clone()));
        }
        if !thoughts.is_empty() {
            let own = nested("thinking_blocks", Value::Array(thoughts.clone()));
            message.insert("extra_content".into(), nested("anthropic", own));
        }
        Some(message)
    }
}

/// The blocks of a content, which may be a string.
pub(super) fn blocks<'t>(
    content: Option<Value<'t>>,
    path: &str,
    losses: &'t Notes,
) -> Result<Vec<Fields<'t>>> {
    match content {
        Some(Value::String(text)) => {
            Ok(vec![Fields::of(text_part(text), path.to_owned(), losses)?])
        }
        Some(Value::Array(blocks)) => {
            let blocks = blocks.into_iter().enumerate();
            blocks.map(|(at, block)| Fields::of(block, format!("{path}[{at}]"), losses)).collect()
        }
        _ => Err(GatewayError::expected(path, "a string or an array of content blocks")),
    }
}

/// The content of a result, which says whether the tool failed.
fn result_content<'t>(block: &mut Fields<'t>) -> Result<Vec<Value<'t>>> {
    let is_error = block.boolean("is_error")?.unwrap_or(false);
    let mut content = match block.take("content") {
        None => Vec::new(),
        content => parts(content, &block.path_of("content"), block.notes)?,
    };
    if is_error {
        mark_error(&mut content);
    }
    Ok(content)
}

/// The result of a call, as a message. A single text is a string.
fn tool_message(id: &str, mut content: Vec<Value<'_>>) -> Result<HistoryItem> {
    let is_plain =
        |part: &Value<'_>| part.get("text").is_some() && part.get("cache_control").is_none();
    let content = match content.as_mut_slice() {
        [] => "".into(),
        [Value::Object(part)] if is_plain(&Value::Object(part.clone())) => {
            part.take("text").unwrap_or_default()
        }
        _ => Value::Array(content),
    };
    let mut message = pair(("role", "tool".into()), ("content", content));
    message.insert("tool_call_id".into(), Value::String(id.to_owned().into()));
    Ok(HistoryItem::Message { role: Role::Tool, json: to_raw(&message)? })
}

/// Makes the content that of a tool that failed (2api.ai, 8).
fn mark_error(content: &mut Vec<Value<'_>>) {
    const MARK: &str = "Error:";
    let first = content.iter_mut().find_map(|part| match part {
        Value::Object(part) if part.contains("text") => Some(part),
        _ => None,
    });
    match first {
        Some(part) => {
            let text = part.get("text").and_then(Value::as_str).unwrap_or_default();
            if !text.starts_with(MARK) {
                let text = format!("{MARK} {text}");
                part.insert("text".into(), Value::String(text.into()));
            }
        }
        None => content.insert(0, text_part(MARK.into())),
    }
}
