//! A request that is translated, with what the translation needs to know.

use std::borrow::Cow;

use crate::gateway::conversation::HistoryItem;
use crate::gateway::conversation::request::{ChatRequest, NativeRequest, Passage};
use crate::gateway::conversation::tool::{FunctionTool, Tool, ToolChoice};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::facts::Effort;
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::names::Names;
use crate::gateway::format::adapter::{Format, TranslateOptions};
use crate::gateway::format::messages;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{RawMembers, parse};
use crate::wire::{Json, Members};
use toolbooth::json::{self, Object, Value};

/// A request that is translated.
pub(in crate::gateway::format) struct Job<'t> {
    pub(in crate::gateway::format) format: Format,
    pub(in crate::gateway::format) request: &'t ChatRequest,
    /// The tools of the request that the provider can get, and which of them the model may call.
    pub(in crate::gateway::format) tools: &'t [Tool],
    pub(in crate::gateway::format) tool_choice: Option<&'t ToolChoice>,
    pub(in crate::gateway::format) options: &'t TranslateOptions<'t>,
    pub(in crate::gateway::format) notes: &'t Notes,
    pub(in crate::gateway::format) names: Names,
    /// What the user says at the end of the conversation so that the model can answer.
    pub(in crate::gateway::format) go_on: Option<&'t HistoryItem>,
}

impl<'t> Job<'t> {
    pub(in crate::gateway::format) fn new(
        format: Format,
        request: &'t ChatRequest,
        options: &'t TranslateOptions<'t>,
        notes: &'t Notes,
    ) -> Self {
        let (tools, tool_choice) = (request.tools.as_slice(), request.tool_choice.as_ref());
        let names = format.names(request);
        Self { format, request, tools, tool_choice, options, notes, names, go_on: None }
    }

    /// The body of a request that the client has written in the provider's format: with the provider's name of the model, and
    /// with a limit of tokens if it needs one.
    pub(in crate::gateway::format) fn native_body(
        &self,
        native: &NativeRequest,
        limit_member: &'static str,
    ) -> Result<Vec<u8>> {
        let model = json::to_string(self.options.model);
        let mut body = Members::default();
        body.add("model", Some(Json::Text(model.into())));
        if native.passage == Passage::Extended {
            body.0.append(&mut messages::adapter::extended::members(self, native)?.0);
        } else {
            let members = native.members.iter();
            body.0.extend(members.map(|(name, json)| (name.into(), json.into())));
        }
        let own_limit = native.members.get(limit_member);
        let limit = self.options.max_output_tokens.filter(|_| own_limit.is_none());
        body.add(limit_member, limit.map(|limit| Json::Text(limit.to_string().into())));
        Ok(json::to_vec(&body))
    }

    /// The conversation.
    pub(in crate::gateway::format) fn history(&self) -> impl Iterator<Item = &'t HistoryItem> {
        self.request.history.iter().chain(self.go_on)
    }

    /// The members of the request that a translation reads. The gateway itself has read `n` and
    /// `stream_options.include_usage`.
    pub(in crate::gateway::format) fn members(&self) -> Result<Fields<'t>> {
        Self::fields_of(&self.request.members, self.notes)
    }

    /// The same of other members.
    pub(in crate::gateway::format) fn fields_of<'m>(
        members: &'m RawMembers,
        notes: &'m Notes,
    ) -> Result<Fields<'m>> {
        let mut object = Object::default();
        for (name, json) in members.iter() {
            object.insert(name.into(), parse(json.get(), name)?);
        }
        let mut fields = Fields::of(Value::Object(object), String::new(), notes)?;
        fields.take("n");
        if let Some(mut options) = fields.fields("stream_options")? {
            options.take("include_usage");
            options.finish();
        }
        Ok(fields)
    }

    /// The client's functions, each with its path. There may be no tool of another kind.
    pub(in crate::gateway::format) fn functions(&self) -> Result<Vec<(String, &'t FunctionTool)>> {
        let tools = self.tools.iter().enumerate();
        tools
            .filter(|(_, tool)| !self.is_own_hosted(tool))
            .map(|(index, tool)| match tool {
                Tool::Function(function) => Ok((format!("tools[{index}]"), function)),
                Tool::Custom { .. } | Tool::Hosted { .. } => {
                    let path = format!("tools[{index}].type");
                    Err(GatewayError::expected(&path, "\"function\" for this provider"))
                }
            })
            .collect()
    }

    /// The provider does not get the `cache_control` of a function, which is at `path`.
    pub(in crate::gateway::format) fn drop_cache_control(
        &self,
        function: &FunctionTool,
        path: &str,
    ) {
        if function.cache_control.is_some() {
            self.notes.drop_member(&format!("{path}.cache_control"));
        }
    }

    /// Whether it is a tool that the provider runs, in the provider's own format: the client has it.
    pub(in crate::gateway::format) fn is_own_hosted(&self, tool: &Tool) -> bool {
        self.request.native.is_some() && matches!(tool, Tool::Hosted { .. })
    }

    /// The tools that the provider runs, as the client wrote them. Those of MCP servers are left out: the servers are a member of the
    /// request that is not translated.
    pub(in crate::gateway::format) fn hosted_tools(&self) -> impl Iterator<Item = Json<'t>> {
        self.tools.iter().filter_map(|tool| match tool {
            Tool::Hosted { kind, .. } if kind == "mcp" => {
                self.notes.drop_member("tools[] (mcp)");
                None
            }
            Tool::Hosted { json, .. } if self.is_own_hosted(tool) => Some((&**json).into()),
            _ => None,
        })
    }

    /// The definitions of this server's tools.
    pub(in crate::gateway::format) fn server_tools(&self) -> impl Iterator<Item = Json<'t>> {
        self.options.server_tools.iter().map(|json| Json::Text(Cow::Borrowed(json)))
    }

    /// The effort that the model knows, and that is nearest to what the client asks for.
    pub(in crate::gateway::format) fn effort(&self, wanted: Effort) -> Option<Effort> {
        let known = self.options.facts.effort(wanted, self.format)?;
        if known != wanted {
            self.notes.warn(format!(
                "reasoning_effort: {} does not have {}, so it is asked with {}",
                self.options.target,
                wanted.as_str(),
                known.as_str()
            ));
        }
        Some(known)
    }

    /// Whether `tool_choice` may force a call.
    pub(in crate::gateway::format) fn may_force(&self) -> bool {
        let forces = self.tool_choice.is_some_and(ToolChoice::forces_call);
        let can = self.options.facts.can_be_forced();
        if forces && self.options.may_force && !can {
            self.notes.warn(format!(
                "tool_choice: {} cannot be forced to call a tool, so it is asked with auto",
                self.options.target
            ));
        }
        self.options.may_force && can
    }

    /// Without tools, there is nothing to choose.
    pub(in crate::gateway::format) fn drop_choice(&self, parallel: Option<bool>) {
        if self.tool_choice.is_some() {
            self.notes.drop_member("tool_choice");
        }
        if parallel.is_some() {
            self.notes.drop_member("parallel_tool_calls");
        }
    }
}
