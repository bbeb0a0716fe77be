//! The conversation: items become messages.

mod assistant;
mod content;
mod mcp;
mod unknown;

use std::collections::BTreeSet;

use serde_json::value::RawValue;

use crate::gateway::conversation::open_calls::OpenCalls;
use crate::gateway::conversation::request::{ApprovedCall, Role};
use crate::gateway::conversation::{HistoryItem, MessageBody, Part, ToolContent, ToolResult};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::front::address;
use crate::gateway::format::front::unknown::defines;
use crate::gateway::format::responses::front::input::assistant::Assistant;
use crate::gateway::format::responses::front::tools::{SEARCH, Tools, flat_name};
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::raw_member;
use crate::wire::{Arguments, ToolCall};
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

/// Items that only OpenAI's models know, with their outputs. Others cannot need them.
const ONLY_OPENAI: &[&str] = &[
    "apply_patch_call",
    "apply_patch_call_output",
    "code_interpreter_call",
    "computer_call",
    "computer_call_output",
    "file_search_call",
    "local_shell_call",
    "local_shell_call_output",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "shell_call",
    "shell_call_output",
    "web_search_call",
];

/// Items without which the conversation means something different, and that only OpenAI's models know.
const UNTRANSLATABLE: &[&str] =
    &["compaction_trigger", "configuration_update", "program", "program_output"];

/// Items that stand for the conversation before them. Without encrypted content, they only say where it was.
const COMPACTIONS: &[&str] = &["compaction", "compaction_summary", "context_compaction"];

/// The beginning of the ids of requests for approval. The id of the call follows.
pub(super) const APPROVAL: &str = "mcpr_";

/// That of the ids of calls that the gateway ran.
pub(super) const RAN: &str = "mcp_";

/// Reads items in their order.
pub(super) struct Input<'n> {
    pub(super) history: Vec<HistoryItem>,
    pub(super) tools: Tools,
    notes: &'n Notes,
    /// The assistant message that is being read.
    open: Option<Assistant>,
    /// The calls whose results must follow.
    pending: OpenCalls,
    /// Messages between a call and its result, which follow the result.
    deferred: Vec<HistoryItem>,
    /// Where the answer that is being read begins in the history.
    answer: usize,
    pub(super) untranslatable: Option<GatewayError>,
    pub(super) needs_translation: bool,
    /// Whether there is something that was sealed for a provider with a different format.
    pub(super) has_sealed: bool,
    pub(super) approved: Vec<ApprovedCall>,
    /// The requests for approval without an answer, by their ids: those of the assistant message that was read last.
    requests: Vec<(String, ToolCall<'static>)>,
    /// The ids of items of other servers, and so of their requests for approval.
    other_ids: BTreeSet<String>,
    /// The positions of items that no provider may get: what this server has sealed, reasoning without its content, and unknown items
    /// that can define tools.
    pub(super) removed: Vec<usize>,
    /// The ids of calls that only providers with this format know.
    left_out: BTreeSet<String>,
    /// Whether only providers with this format get all that was said.
    pub(super) is_incomplete: bool,
}

/// Checks the addresses of an item that a model's server may fetch: those in the parts of messages and of results. A result that is a
/// text may have any.
fn check_addresses(path: &str, item: &Value<'_>) -> Result<()> {
    if matches!(item.get("type").and_then(Value::as_str), None | Some("message")) {
        address::check(path, item)?;
    }
    for name in ["content", "output", "outputs"] {
        if let Some(parts @ (Value::Array(_) | Value::Object(_))) = item.get(name) {
            address::check(&format!("{path}.{name}"), parts)?;
        }
    }
    Ok(())
}

/// Whether the provider has searched for tools itself.
fn is_of_provider(item: &Fields<'_>) -> bool {
    item.get("execution").and_then(Value::as_str) == Some("server")
}

/// Whether it is a compaction with the conversation before it, which only OpenAI can read.
fn is_compaction(kind: &str, item: &Fields<'_>) -> bool {
    let encrypted = item.get("encrypted_content").and_then(Value::as_str);
    COMPACTIONS.contains(&kind) && encrypted.is_some_and(|content| !content.is_empty())
}

impl<'n> Input<'n> {
    pub(super) fn new(tools: Tools, notes: &'n Notes) -> Self {
        Self {
            history: Vec::new(),
            tools,
            notes,
            open: None,
            pending: OpenCalls::default(),
            deferred: Vec::new(),
            answer: 0,
            untranslatable: None,
            needs_translation: false,
            has_sealed: false,
            approved: Vec::new(),
            requests: Vec::new(),
            other_ids: BTreeSet::new(),
            removed: Vec::new(),
            left_out: BTreeSet::new(),
            is_incomplete: false,
        }
    }

    /// The instructions, or an input that is only text.
    pub(super) fn text(&mut self, path: &str, text: String, body: fn(Vec<Part>) -> MessageBody) {
        self.push(path, body(vec![Part::text(text, path)]));
    }

    /// The result of a call, as a message.
    fn tool_message(&mut self, call_id: String, content: ToolContent, path: &str) {
        let is_error = content.is_error();
        let result = ToolResult { call_id, name: String::new(), content, is_error };
        self.push(path, MessageBody::Result(result));
    }

    /// Adds a message.
    fn push(&mut self, path: &str, body: MessageBody) {
        self.history.push(HistoryItem::message(path, body));
    }

    /// Reads the item at a position; `json` is its text.
    pub(super) fn item(&mut self, index: usize, item: Value<'_>, json: &RawValue) -> Result<()> {
        let path = format!("input[{index}]");
        check_addresses(&path, &item)?;
        let mut item = Fields::of(item, path, self.notes)?;
        let kind = match item.text("type")? {
            Some(kind) => kind,
            None if item.get("role").is_some() => "message".into(),
            None => return item.expected("type", "the type of an item, such as \"message\""),
        };
        let label = item.get("server_label").and_then(Value::as_str);
        let is_other = label.is_some_and(|label| self.tools.other_servers.contains(label));
        match kind.as_ref() {
            "message" => self.message(item),
            "agent_message" => self.agent_message(item),
            "tool_search_call" | "tool_search_output" if is_of_provider(&item) => {
                self.tools.lost.push(format!("input[].{kind}"));
                self.further_tools(item, json)
            }
            "function_call" | "custom_tool_call" | "tool_search_call" => self.call(&kind, item),
            "function_call_output" | "custom_tool_call_output" => self.output(item),
            "tool_search_output" => self.search_output(item, json),
            "additional_tools" => self.further_tools(item, json),
            "image_generation_call" => self.picture(&item),
            "reasoning" => self.reasoning(index, &item),
            "mcp_list_tools" if !is_other => {
                self.removed.push(index);
                if let Some(server) = &mut self.tools.server {
                    server.is_listed |= label == Some(&server.label);
                }
                Ok(())
            }
            "mcp_call" if !is_other => self.ran(item),
            "mcp_approval_request" if !is_other => self.approval_request(item),
            "mcp_approval_response" if self.is_own_approval(&item) => self.approval_response(item),
            "item_reference" => {
                let path = item.path_of("type");
                let message = format!(
                    "{path} is item_reference, but this server stores no items: send the item itself"
                );
                Err(GatewayError::invalid(path, message))
            }
            known if UNTRANSLATABLE.contains(&known) || is_compaction(known, &item) => {
                let path = item.path;
                let message = format!("{path} is a {known}, which only OpenAI can read");
                self.untranslatable.get_or_insert(GatewayError::invalid(path, message));
                Ok(())
            }
            known if ONLY_OPENAI.contains(&known) => {
                let id = item.get("id").and_then(Value::as_str);
                self.other_ids.extend(id.filter(|_| is_other).map(str::to_owned));
                let call_id = item.get("call_id").and_then(Value::as_str);
                self.left_out.extend(call_id.map(str::to_owned));
                self.tools.lost.push(format!("input[].{known}"));
                Ok(())
            }
            unknown => self.unknown(index, unknown, item),
        }
    }

    /// Tools that the model knows from now on, if the item has any.
    fn further_tools(&mut self, mut item: Fields<'_>, json: &RawValue) -> Result<()> {
        let path = item.path_of("tools");
        let definitions = item.take("tools");
        self.tools.read(definitions, raw_member(json, &["tools"]), &path, self.notes)
    }

    /// What is left of an item is lost in a translation.
    fn finish(&mut self, item: Fields<'_>) {
        let members = item.into_object();
        self.needs_translation |= defines(&members);
        for (name, _) in members {
            if !matches!(&*name, "id" | "status" | "execution") {
                self.tools.lost.push(format!("input[].{}", excerpt(&name)));
            }
        }
    }

    fn message(&mut self, mut item: Fields<'_>) -> Result<()> {
        let expected = "one of user, assistant, system, developer";
        let body = match Role::of(&item.name("role", expected)?) {
            Some(Role::Assistant) => return self.assistant_message(item),
            Some(Role::System) => MessageBody::System,
            Some(Role::Developer) => MessageBody::Developer,
            Some(Role::User) => MessageBody::User,
            Some(Role::Tool) | None => return item.expected("role", expected),
        };
        self.say(item, body)
    }

    /// A message that is not one of the assistant. If nothing is left of its content, there is none.
    fn say(&mut self, mut item: Fields<'_>, body: fn(Vec<Part>) -> MessageBody) -> Result<()> {
        let content = self.content(&mut item, "content")?;
        let path = item.path.clone();
        self.finish(item);
        self.close()?;
        if content.is_empty() {
            self.is_incomplete = true;
            self.answer = self.history.len();
            return Ok(());
        }
        self.push(&path, body(content));
        if !self.pending.is_empty() {
            self.deferred.extend(self.history.pop());
        }
        self.answer = self.history.len();
        Ok(())
    }

    fn call(&mut self, kind: &str, mut item: Fields<'_>) -> Result<()> {
        let id = item.name("call_id", "the id of the call")?;
        let namespace = item.text("namespace")?;
        let (name, argument) = match kind {
            "function_call" => (None, "arguments"),
            "custom_tool_call" => (None, "input"),
            _ => (Some(SEARCH.to_owned()), "arguments"),
        };
        let name = match name {
            Some(name) => name,
            None => flat_name(namespace.as_deref(), &item.name("name", "the tool's name")?),
        };
        let arguments = match item.take(argument) {
            None => String::new(),
            Some(Value::String(text)) => text.into_owned(),
            Some(value) if kind == "tool_search_call" => value.text(),
            Some(_) => return item.expected(argument, "a string"),
        };
        let call = ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: Arguments::Text(arguments.into()),
            custom: kind == "custom_tool_call",
            ..ToolCall::default()
        };
        let path = item.path.clone();
        self.finish(item);
        self.round(false)?.add(call, path)
    }

    fn output(&mut self, mut item: Fields<'_>) -> Result<()> {
        let id = item.name("call_id", "the id of the call")?;
        let content = ToolContent(self.content(&mut item, "output")?);
        let path = item.path_of("call_id");
        self.finish(item);
        if self.left_out.contains(&id) && !self.is_open(&id) {
            self.tools.lost.push("input[].output".to_owned());
            return Ok(());
        }
        self.result(&id, content, &path)
    }

    /// The result of a call. The error: there is no such call before it.
    fn result(&mut self, id: &str, content: ToolContent, path: &str) -> Result<()> {
        self.close()?;
        self.pending.answer(id, path.to_owned())?;
        self.tool_message(id.to_owned(), content, path);
        if self.pending.is_empty() {
            self.history.append(&mut self.deferred);
        }
        self.answer = self.history.len();
        Ok(())
    }

    /// The tools that the client has found. They are tools of the request from now on.
    fn search_output(&mut self, mut item: Fields<'_>, json: &RawValue) -> Result<()> {
        let path = item.path_of("call_id");
        let id = item.name("call_id", "the id of the call")?;
        let before = self.tools.list.len();
        let definitions = item.take("tools");
        let count = definitions.as_ref().and_then(Value::as_array).map_or(0, <[_]>::len);
        let json = raw_member(json, &["tools"]);
        self.tools.read(definitions, json, &item.path_of("tools"), self.notes)?;
        let added = self.tools.list.get(before..).unwrap_or_default();
        let names: Vec<_> = added.iter().filter_map(|tool| tool.name()).collect();
        let text = match (names.is_empty(), count) {
            (false, _) => format!("These tools can be called now: {}", names.join(", ")),
            (true, 0) => "No tools were found.".to_owned(),
            (true, _) => "The tools that were found can be called already.".to_owned(),
        };
        self.result(&id, text.into(), &path)
    }

    /// All items have been read.
    pub(super) fn end(&mut self) -> Result<()> {
        self.close()?;
        self.pending.close()?;
        self.history.append(&mut self.deferred);
        Ok(())
    }
}
