//! The tools of a request, the MCP servers that it names, and which tools the model may call.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::value::RawValue;

use crate::gateway::conversation::tool::{Approval, FunctionTool, Selection, Tool, ToolChoice};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::messages::front::content::SERVER_NAME;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::raw_member;
use toolbooth::json::Value;
use toolbooth::schema::text::excerpt;

/// The name of this server, if a different one has its usual name.
const FURTHER_NAME: &str = "toolbooth-gateway";

/// The type of tools that servers of MCP run for Anthropic.
const MCP: &str = "mcp";

/// The MCP servers of a request.
pub(super) struct Servers {
    /// This server, if it is one of them.
    own: Option<OwnServer>,
    others: Vec<Tool>,
    /// Whether one of the others has the name that this server has if the request gives it none.
    taken: bool,
}

struct OwnServer {
    name: String,
    /// Where it is among the servers.
    position: usize,
    /// What it may run, unless `tools` says it; `None`: nothing.
    selection: Option<Selection>,
}

impl Servers {
    pub(super) fn read(
        servers: Option<Value<'_>>,
        json: Option<&RawValue>,
        losses: &Notes,
    ) -> Result<Self> {
        let mut all = Self { own: None, others: Vec::new(), taken: false };
        let servers = Fields::of_array(servers, json, "mcp_servers", losses)?;
        for (index, server) in servers.enumerate() {
            let (mut server, json) = server?;
            let name = server.name("name", "the name of the server")?;
            if server.required_text("url")? != SERVER_NAME {
                all.others.push(Tool::Hosted { kind: MCP.to_owned(), json: json.to_owned() });
                all.taken |= name == SERVER_NAME;
                continue;
            }
            for ignored in ["type", "authorization_token"] {
                server.take(ignored);
            }
            let path = server.path.clone();
            let (mut is_enabled, mut allowed, mut approval) =
                (true, None, Approval::UnlessReadOnly);
            if let Some(mut configuration) = server.fields("tool_configuration")? {
                is_enabled = configuration.boolean("enabled")? != Some(false);
                allowed = configuration.texts("allowed_tools")?;
                approval = configuration.approval()?;
                configuration.reject_others("enabled, allowed_tools and require_approval")?;
            }
            let selection =
                is_enabled.then_some(Selection { path, allowed, approval, search: None });
            server.reject_others("type, name, url and tool_configuration")?;
            if all.own.replace(OwnServer { name, position: index, selection }).is_some() {
                let message = format!("mcp_servers: only one can have the url \"{SERVER_NAME}\"");
                return Err(GatewayError::invalid("mcp_servers", message));
            }
        }
        Ok(all)
    }

    /// Where this server is among them.
    pub(super) fn own_position(&self) -> Option<usize> {
        self.own.as_ref().map(|own| own.position)
    }

    /// The names of this server in blocks of the conversation. Answers have the first one.
    pub(super) fn own_names(&self) -> Vec<String> {
        let usual = if self.taken { FURTHER_NAME } else { SERVER_NAME };
        let own = self.own.iter().map(|own| own.name.clone());
        own.chain([usual.to_owned()]).collect()
    }
}

/// The tools of a request.
pub(super) struct Tools {
    pub(super) tools: Vec<Tool>,
    pub(super) selections: Vec<Selection>,
    /// The positions of the toolsets of this server.
    pub(super) own_positions: Vec<usize>,
    /// The names of the tools that the model must find before it knows them.
    deferred: Vec<String>,
}

impl Tools {
    /// The tools that the model does not know yet: deferred ones to which no message refers. If Anthropic looks for them itself,
    /// every model must know them all, because no other can.
    pub(super) fn unloaded(&self, messages: &[Value<'_>]) -> Vec<String> {
        let searches = |tool: &Tool| matches!(tool, Tool::Hosted { kind, .. } if kind.starts_with("tool_search"));
        if self.deferred.is_empty() || self.tools.iter().any(searches) {
            return Vec::new();
        }
        let mut found = BTreeSet::new();
        messages.iter().for_each(|message| references(message, &mut found));
        self.deferred.iter().filter(|name| !found.contains(name.as_str())).cloned().collect()
    }
}

/// The tools to which the content of a message or of a block refers.
fn references<'v>(value: &'v Value<'_>, found: &mut BTreeSet<&'v str>) {
    found.extend(value.get("tool_name").and_then(Value::as_str));
    for block in value.get("content").and_then(Value::as_array).unwrap_or_default() {
        references(block, found);
    }
}

/// Reads the tools.
pub(super) fn tools(
    definitions: Option<Value<'_>>,
    json: Option<&RawValue>,
    servers: Servers,
    losses: &Notes,
) -> Result<Tools> {
    let Servers { own, others, .. } = servers;
    let mut all = Tools {
        tools: Vec::new(),
        selections: Vec::new(),
        own_positions: Vec::new(),
        deferred: Vec::new(),
    };
    for (index, tool) in Fields::of_array(definitions, json, "tools", losses)?.enumerate() {
        let (mut tool, json) = tool?;
        let kind = tool.text("type")?.unwrap_or("custom".into());
        match kind.as_ref() {
            "custom" => {
                let is_deferred = tool.boolean("defer_loading")?.unwrap_or(false);
                let function = function(tool, json)?;
                all.deferred.extend(is_deferred.then(|| function.name.clone()));
                all.tools.push(Tool::Function(function));
            }
            "mcp_toolset" => {
                let server = tool.name("mcp_server_name", "the name of one of mcp_servers")?;
                match own.as_ref().is_some_and(|own| own.name == server) {
                    true => {
                        all.selections.extend(toolset(tool)?);
                        all.own_positions.push(index);
                    }
                    false => {
                        let kind = MCP.to_owned();
                        all.tools.push(Tool::Hosted { kind, json: json.to_owned() });
                    }
                }
            }
            _ => {
                let kind = kind.into_owned();
                all.tools.push(Tool::Hosted { kind, json: json.to_owned() });
            }
        }
    }
    all.tools.extend(others);
    if all.selections.is_empty() {
        all.selections.extend(own.and_then(|own| own.selection));
    }
    Tool::check_names(&all.tools)?;
    Ok(all)
}

/// An `mcp_toolset` of this server. Members that are not known are an error: one of them could be a misspelled `require_approval`.
///
/// Tools with `defer_loading` are a selection of their own.
fn toolset(mut entry: Fields<'_>) -> Result<Vec<Selection>> {
    let (mut by_default, mut search) = (true, None);
    if let Some(mut config) = entry.fields("default_config")? {
        by_default = config.boolean("enabled")?.unwrap_or(true);
        search = config.search("defer_loading")?;
    }
    // By name: those of which the model gets the definitions, and those for which it must search.
    let (mut listed, mut deferred) = (Vec::new(), Vec::new());
    let mut deferred_at = search.clone();
    if let Some(configs) = entry.fields("configs")? {
        let (path, notes) = (configs.path.clone(), configs.notes);
        for (name, config) in configs.into_object() {
            let mut config = Fields::of(config, format!("{path}.{}", excerpt(&name)), notes)?;
            let place = config.path_of("enabled");
            let is_enabled = config.boolean("enabled")?.unwrap_or(by_default);
            let defers = config.path_of("defer_loading");
            let is_deferred = config.boolean("defer_loading")?.unwrap_or(search.is_some());
            match is_enabled {
                true if is_deferred && by_default && search.is_none() => {
                    let message = format!(
                        "{defers} cannot be true alone: set default_config.defer_loading to true, and to false for \
                         the tools that the model always needs"
                    );
                    return Err(GatewayError::invalid(defers, message));
                }
                // All are.
                true if is_deferred && by_default => {}
                true if is_deferred => {
                    deferred_at.get_or_insert(defers);
                    deferred.push(name.into_owned());
                }
                true => listed.push(name.into_owned()),
                false if by_default => {
                    let message = format!(
                        "{place} cannot be false alone: set default_config.enabled to false, and enable the tools \
                         that the model may call"
                    );
                    return Err(GatewayError::invalid(place, message));
                }
                false => {}
            }
        }
    }
    let approval = entry.approval()?;
    entry.take("cache_control");
    let path = entry.path.clone();
    entry.reject_others(
        "mcp_server_name, default_config, configs, cache_control and require_approval",
    )?;
    let selection = |allowed, search| Selection {
        path: path.clone(),
        allowed,
        approval: approval.clone(),
        search,
    };
    let mut selections = Vec::new();
    if by_default {
        selections.push(selection(None, search.clone()));
    }
    // Without any, a toolset that enables none is an error that says so.
    let lists = match by_default {
        true => search.is_some() && !listed.is_empty(),
        false => !listed.is_empty() || deferred.is_empty(),
    };
    if lists {
        selections.push(selection(Some(listed), None));
    }
    if !deferred.is_empty() {
        selections.push(selection(Some(deferred), deferred_at));
    }
    Ok(selections)
}

/// A function of the client, also in the gateway's form.
fn function(mut tool: Fields<'_>, json: &RawValue) -> Result<FunctionTool> {
    let name = tool.name("name", "the tool's name")?;
    let description = tool.text("description")?.map(Cow::into_owned);
    // What is not strict needs not be said.
    let strict = tool.boolean("strict")?.filter(|strict| *strict);
    let parameters = match tool.take("input_schema") {
        Some(Value::Object(_)) => raw_member(json, &["input_schema"]),
        _ => return tool.expected("input_schema", "a JSON Schema object"),
    };
    let cache_control = tool.take("cache_control").map(Value::into_owned);
    tool.take("eager_input_streaming");
    tool.finish();
    let parameters = parameters.map(RawValue::to_owned);
    Ok(FunctionTool { name, description, parameters, strict, cache_control, written: None })
}

/// Which tools the model may call, and whether it may call only one.
pub(super) struct Choice {
    pub(super) choice: Option<ToolChoice>,
    pub(super) is_single: bool,
}

pub(super) fn tool_choice(fields: &mut Fields<'_>, all: &Tools) -> Result<Choice> {
    let Some(mut choice) = fields.fields("tool_choice")? else {
        return Ok(Choice { choice: None, is_single: false });
    };
    let expected = "one of auto, any, tool, none";
    let kind = choice.name("type", expected)?;
    let is_single = choice.boolean("disable_parallel_tool_use")?.unwrap_or(false);
    let choice = match kind.as_str() {
        "auto" => ToolChoice::Auto,
        "any" => ToolChoice::Required,
        "none" => ToolChoice::None,
        "tool" => {
            let name = choice.name("name", "the name of a tool")?;
            let quoted = format!("\"{name}\"");
            let hosted = all.tools.iter().find_map(|tool| match tool {
                Tool::Hosted { json, .. } => {
                    raw_member(json, &["name"]).is_some_and(|it| it.get() == quoted).then_some(json)
                }
                _ => None,
            });
            // The name may also be that of one of this server's tools.
            let is_function = all.tools.iter().any(|tool| tool.name() == Some(&name));
            if let Some(hosted) = hosted {
                // The definition has the type of the tool.
                ToolChoice::Other(hosted.get().to_owned())
            } else if is_function || !all.selections.is_empty() {
                ToolChoice::Function(name)
            } else {
                let message =
                    format!("tool_choice.name is \"{}\", which is not in tools", excerpt(&name));
                return Err(GatewayError::invalid("tool_choice.name", message));
            }
        }
        _ => return choice.expected("type", expected),
    };
    Ok(Choice { choice: Some(choice), is_single })
}
