//! The messages of a request, as the gateway's own: one of Anthropic's can be several.

use std::collections::BTreeSet;
use std::mem;

use serde_json::value::RawValue;

use crate::gateway::conversation::open_calls::{MAX_CALLS, OpenCalls};
use crate::gateway::conversation::{
    Assistant, HistoryItem, MessageBody, Part, ToolContent, ToolResult,
};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::front::unknown::UNREADABLE;
use crate::gateway::format::messages::front::part::{part, parts, text_block};
use crate::gateway::format::messages::front::thinking::{self, Thinking};
use crate::gateway::notes::Notes;
use crate::gateway::provider_state::ProviderState;
use crate::gateway::raw_json::{nested, raw_items, raw_member};
use crate::wire::{Arguments, ToolCall};
use toolbooth::json::{Object, Value};

/// The usual name of this server among the MCP servers of a request.
pub(super) const SERVER_NAME: &str = "toolbooth";

/// A conversation that is read message by message.
pub(super) struct History<'n> {
    pub(super) items: Vec<HistoryItem>,
    /// Whether it has calls that the gateway ran.
    pub(super) has_own_calls: bool,
    /// Whether it has reasoning of other providers than Anthropic, which only they get.
    pub(super) has_state: bool,
    open: OpenCalls,
    /// What follows the results of these calls.
    held: Vec<HistoryItem>,
    /// The ids of calls of types that this server does not know. Only Anthropic gets them and their results.
    left_out: BTreeSet<String>,
    /// The names of this server in blocks.
    own_names: &'n [String],
    losses: &'n Notes,
}

impl<'n> History<'n> {
    pub(super) fn new(own_names: &'n [String], losses: &'n Notes) -> Self {
        Self {
            items: Vec::new(),
            has_own_calls: false,
            has_state: false,
            open: OpenCalls::default(),
            held: Vec::new(),
            left_out: BTreeSet::new(),
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
        self.say(&path, parts, MessageBody::System);
        Ok(())
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
        if self.items.last_mut().and_then(HistoryItem::assistant_mut).is_some() {
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

    fn say(&mut self, path: &str, parts: Vec<Part>, body: fn(Vec<Part>) -> MessageBody) {
        if parts.is_empty() {
            return;
        }
        let item = HistoryItem::message(path, body(parts));
        match self.open.is_empty() {
            true => self.items.push(item),
            false => self.held.push(item),
        }
    }

    /// The results of a user message are messages of their own, before the rest.
    fn user(&mut self, content: Option<Value<'n>>, path: &str) -> Result<()> {
        let mut said = Vec::new();
        for block in blocks(content, path, self.losses)? {
            let kind = block.get("type").and_then(Value::as_str);
            let call = block.get("tool_use_id").and_then(Value::as_str);
            match (kind, call) {
                (Some("tool_result"), Some(id)) if self.left_out.contains(id) => {
                    self.losses.drop_member(&format!("{}.tool_result", block.path));
                }
                (Some("tool_result"), _) => self.result(block)?,
                (Some(_), Some(id)) if self.open.has(id) => {
                    let id = id.to_owned();
                    self.unknown_result(id, block)?;
                }
                _ => said.extend(part(block)?),
            }
        }
        if self.open.is_empty() {
            self.items.append(&mut self.held);
        }
        self.say(path, said, MessageBody::User);
        Ok(())
    }

    /// The result of a call, in a block of a type that this server does not know.
    fn unknown_result(&mut self, call_id: String, block: Fields<'n>) -> Result<()> {
        self.open.answer(&call_id, block.path_of("tool_use_id"))?;
        let text = block.get("content").and_then(Value::as_str).unwrap_or(UNREADABLE).to_owned();
        let (name, path) = (String::new(), block.path.clone());
        let content = ToolContent::from(text);
        part(block)?;
        let result = ToolResult { call_id, name, content, is_error: false };
        self.items.push(HistoryItem::message(path, MessageBody::Result(result)));
        Ok(())
    }

    fn result(&mut self, mut block: Fields<'n>) -> Result<()> {
        block.take("type");
        let id = block.required_text("tool_use_id")?;
        self.open.answer(&id, block.path_of("tool_use_id"))?;
        let mut result = result_of(id.into_owned(), &mut block)?;
        if let Some(cache_control) = block.take("cache_control")
            && let Some(last) = result.content.0.last_mut()
        {
            last.cache_control = Some(cache_control.into_owned());
        }
        let path = block.path.clone();
        block.finish();
        self.items.push(HistoryItem::message(path, MessageBody::Result(result)));
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
                self.add(&path, mem::take(&mut round));
            }
            match kind.as_str() {
                "text" | "compaction" => round.assistant.content.extend(part(block)?),
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
                _ => {
                    self.left_out
                        .extend(block.get("id").and_then(Value::as_str).map(str::to_owned));
                    self.losses.drop_member(&format!("{path}[].{kind}"));
                }
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
        self.add(&path, round);
        Ok(())
    }

    /// Whether a call is one of this server's tools.
    fn is_own(&self, block: &Fields<'_>) -> bool {
        let name = block.get("server_name").and_then(Value::as_str);
        name.is_some_and(|name| self.own_names.iter().any(|known| known == name))
    }

    fn add(&mut self, path: &str, round: Round) {
        self.has_own_calls |= !round.own.is_empty();
        self.has_state |= !round.state.is_empty();
        let Round { assistant, results, thoughts, state, .. } = round;
        if !assistant.content.is_empty() || !assistant.calls.is_empty() || !thoughts.is_empty() {
            let mut assistant = assistant;
            state.attach(&mut assistant);
            if !thoughts.is_empty() {
                let own = nested("thinking_blocks", Value::Array(thoughts));
                assistant.extra_content.insert("anthropic".into(), own);
            }
            let path = path.strip_suffix(".content").unwrap_or(path);
            self.items.push(HistoryItem::message(path, MessageBody::Assistant(assistant)));
        }
        let results = results.into_iter().map(MessageBody::Result);
        self.items.extend(results.map(|result| HistoryItem::message(path, result)));
    }
}

/// What an assistant said, thought and called, with the results of the calls that the gateway ran.
#[derive(Default)]
struct Round {
    assistant: Assistant,
    thoughts: Vec<Value<'static>>,
    /// The ids of the calls that the gateway ran.
    own: Vec<String>,
    results: Vec<ToolResult>,
    /// That of the call that follows.
    extra_content: Option<Value<'static>>,
    /// What the provider must get back.
    state: ProviderState,
    /// Whether it has the state of earlier rounds.
    continues: bool,
}

impl Round {
    fn thinking(&mut self, block: Fields<'_>) {
        let block = block.into_object();
        match thinking::read(&block) {
            Thinking::Anthropic => self.thoughts.push(Value::Object(block).into_owned()),
            Thinking::Reasoning => {}
            Thinking::State(state) => self.state.join(state),
            Thinking::ExtraContent(content) => {
                self.continues |= content.get("toolbooth").is_some();
                self.extra_content = Some(content);
            }
        }
    }

    /// Adds a call, which is also `json`. Returns its id.
    fn call(&mut self, mut block: Fields<'_>, json: Option<&RawValue>) -> Result<String> {
        let id = block.name("id", "the id of the call")?;
        if self.assistant.calls.len() >= MAX_CALLS {
            let message = format!("{}: a message may have at most {MAX_CALLS} calls", block.path);
            return Err(GatewayError::invalid(block.path, message));
        }
        let name = block.name("name", "the name of the tool")?;
        if block.get("input").is_some_and(|input| input.as_object().is_none()) {
            return block.expected("input", "an object");
        }
        let input = json.and_then(|json| raw_member(json, &["input"]));
        let input = input.filter(|input| input.get() != "null");
        let arguments = input.map_or("{}", RawValue::get).to_owned();
        let mut extra = Object::default();
        if let Some(content) = self.extra_content.take() {
            extra.insert("extra_content".into(), content);
        }
        self.assistant.calls.push(ToolCall {
            id: id.clone().into(),
            name: name.into(),
            arguments: Arguments::Text(arguments.into()),
            extra,
            ..ToolCall::default()
        });
        for known in ["type", "input", "caller", "cache_control", "server_name", "toolset_name"] {
            block.take(known);
        }
        block.finish();
        Ok(id)
    }

    fn is_result(&self, block: &Fields<'_>) -> bool {
        let id = block.get("tool_use_id").and_then(Value::as_str);
        let is_done = |id: &str| self.results.iter().any(|result| result.call_id == id);
        id.is_some_and(|id| self.own.iter().any(|known| known == id) && !is_done(id))
    }

    fn result(&mut self, mut block: Fields<'_>) -> Result<()> {
        let id = block.required_text("tool_use_id")?.into_owned();
        self.results.push(result_of(id, &mut block)?);
        Ok(())
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
            Ok(vec![Fields::of(text_block(text), path.to_owned(), losses)?])
        }
        Some(Value::Array(blocks)) => {
            let blocks = blocks.into_iter().enumerate();
            blocks.map(|(at, block)| Fields::of(block, format!("{path}[{at}]"), losses)).collect()
        }
        _ => Err(GatewayError::expected(path, "a string or an array of content blocks")),
    }
}

/// The result of a call, whose content says whether the tool failed.
fn result_of(call_id: String, block: &mut Fields<'_>) -> Result<ToolResult> {
    let is_error = block.boolean("is_error")?.unwrap_or(false);
    let mut content = ToolContent(match block.take("content") {
        None => Vec::new(),
        content => parts(content, &block.path_of("content"), block.notes)?,
    });
    if is_error {
        content.mark_error();
    }
    let is_error = content.is_error();
    Ok(ToolResult { call_id, name: String::new(), content, is_error })
}
