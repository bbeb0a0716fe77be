//! The providers' formats: requests are translated into them, and answers are decoded from them.

pub(in crate::gateway::format) mod conversation;
pub(in crate::gateway) mod custom;
pub(in crate::gateway::format) mod fit;
pub(in crate::gateway::format) mod minimax;
pub(in crate::gateway) mod names;
pub(in crate::gateway::format) mod reasoning;
pub(in crate::gateway::format) mod renamed;
pub(in crate::gateway::format) mod schema;
pub(in crate::gateway::format) mod unique;

use fit::FittedTools;
pub(in crate::gateway) use names::Names;
use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::{Completion, Read, UpstreamError};
use crate::gateway::answer::sse::SseEvent;
use crate::gateway::answer::stream::DecodeOptions;
use crate::gateway::conversation::HistoryItem;
use crate::gateway::conversation::request::{ChatRequest, NativeRequest, Passage};
use crate::gateway::conversation::tool::{FunctionTool, Tool, ToolChoice};
use crate::gateway::dialect::Dialect;
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::facts::{Effort, Facts};
use crate::gateway::fields::Fields;
use crate::gateway::format::{chat_completions, gemini, messages, responses, workers_ai};
use crate::gateway::ids::IdSource;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{RawMembers, parse};
use crate::gateway::relay::optional_members::{complaints, described};
use crate::wire::fields::{count, text};
use crate::wire::{Json, Members};
use toolbooth::json::{self, Object, Value};
use toolbooth::schema::text::cut;

/// The most JSON values in an answer: log probabilities have many.
pub(in crate::gateway::format) const MAX_VALUES: usize = 2_000_000;

/// The most JSON values in an event, or in the arguments of a call: as many as 256 KiB of arguments can have, and more.
pub(in crate::gateway::format) const MAX_EVENT_VALUES: usize = 262_144;

/// The longest error message that is passed on, in characters.
pub(in crate::gateway::format) const MAX_MESSAGE: usize = 2000;

/// A provider's format. Its name is in what clients keep sealed between requests, and must not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    /// OpenAI itself, whose limits are known.
    OpenAi,
    /// Any other provider with OpenAI's Chat Completions format.
    OpenAiCompatible,
    /// OpenAI Responses, of OpenAI itself or of another provider.
    Responses,
    Anthropic,
    Gemini,
    /// The binding of Workers AI.
    WorkersAi,
}

/// What a translation needs to know apart from the request.
#[derive(Debug, Clone)]
pub(crate) struct TranslateOptions<'a> {
    /// The id of the provider.
    pub provider: &'a str,
    /// The model, as the provider names it.
    pub model: &'a str,
    /// Provider and model for error messages, such as `google/gemini-2.5-pro`.
    pub target: &'a str,
    /// What the provider accepts of Chat Completions.
    pub dialect: &'static Dialect,
    /// Whether to ask for a stream. Usage is always requested.
    pub stream: bool,
    /// The compiled-in tools that the model may call, as JSON in the provider's format: entries of the list
    /// `list` of its adapter.
    pub server_tools: &'a [Cow<'static, str>],
    /// Whether `tool_choice` may force a call. False after the first round of the tool loop: a forcing choice becomes
    /// `auto`.
    pub may_force: bool,
    /// The most tokens of the answer that the caller may ask for: the limit if the request has none.
    pub max_output_tokens: Option<u64>,
    /// What the model accepts.
    pub facts: &'a Facts,
    /// The most tokens of an answer, if `MODELS` says so.
    pub model_output_tokens: Option<u64>,
    /// Whether the provider must obey the limit of tokens: a budget counts on it.
    pub needs_limit: bool,
    /// Whether a schema that the provider lacks keywords for is an error, instead of a wider one.
    pub strict_schemas: bool,
}

/// A header of a request: name and value.
pub(in crate::gateway) type Header = (&'static str, Cow<'static, str>);

/// What a provider's format needs. Each format has a folder; [`Format::adapter`] is the table.
pub(in crate::gateway) struct Adapter {
    /// The name of the list of compiled-in tools in the format ([`Catalog::list`](toolbooth::catalog::Catalog::list)).
    pub(in crate::gateway) list: &'static str,
    /// How a function is written: what precedes its name and its description, the name of the member with its schema, and what
    /// follows that.
    pub(in crate::gateway) function: [&'static str; 3],
    /// The path and query after the base URL, for a model and whether its answer is streamed.
    pub(in crate::gateway::format) path: fn(&str, bool) -> String,
    /// The path and query of the list of models, if the provider has one.
    pub(in crate::gateway::format) models: Option<&'static str>,
    /// The headers that authenticate a request with a key, and those that select the version.
    pub(in crate::gateway::format) headers: fn(Option<&str>) -> Vec<Header>,
    /// Which names of functions the provider accepts, if not all that a request may have.
    pub(in crate::gateway::format) accepts_name: Option<names::Accepts>,
    pub(in crate::gateway::format) translate: fn(&Job<'_>) -> Result<Vec<u8>>,
    /// The member of a request that limits the tokens of the answer.
    pub(in crate::gateway::format) limit_member: &'static str,
    /// Reads the body of an answer that is not a stream: its text, and the value of that.
    pub(in crate::gateway::format) decode: fn(&str, Value<'_>, &mut Builder) -> Read,
    pub(in crate::gateway) decoder: fn() -> Box<dyn EventDecoder>,
}

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

/// Reads the events of a provider's stream.
pub(in crate::gateway) trait EventDecoder {
    fn event(&mut self, event: &SseEvent<'_>, builder: &mut Builder) -> Read;

    /// The stream has ended.
    fn end(&mut self, builder: &mut Builder) -> Read;
}

impl Format {
    pub(in crate::gateway) fn adapter(self) -> &'static Adapter {
        match self {
            Self::OpenAi => &chat_completions::adapter::OPENAI,
            Self::OpenAiCompatible => &chat_completions::adapter::COMPATIBLE,
            Self::Responses => &responses::adapter::ADAPTER,
            Self::Anthropic => &messages::adapter::ADAPTER,
            Self::Gemini => &gemini::ADAPTER,
            Self::WorkersAi => &workers_ai::ADAPTER,
        }
    }

    pub(crate) fn path(self, model: &str, stream: bool) -> String {
        (self.adapter().path)(model, stream)
    }

    /// The path and query of the list of models after the base URL, if the provider has one.
    pub(crate) fn models_path(self) -> Option<&'static str> {
        self.adapter().models
    }

    /// The headers of a request. A provider on one's own machine may have no key.
    pub(in crate::gateway) fn headers(self, key: Option<&str>) -> Vec<Header> {
        (self.adapter().headers)(key)
    }

    /// The tools of a request that the provider knows in a different form, which is that of its answers.
    pub(crate) fn names(self, request: &ChatRequest) -> Names {
        let has_answer = self == Self::Anthropic && wants_json_object(request);
        Names::of(request, self.adapter().accepts_name, has_answer, custom::wrapped(request, self))
    }

    /// The body of a request, unless the provider cannot get it. The notes get what it loses.
    pub(crate) fn translate(
        self,
        request: &ChatRequest,
        options: &TranslateOptions<'_>,
        notes: &Notes,
    ) -> Result<Vec<u8>> {
        let names = self.names(request);
        match names.are_same() {
            true => self.body(request, options, notes),
            false => self.body(&renamed::renamed(request, self, &names)?, options, notes),
        }
    }

    /// The body of a request whose names the provider accepts.
    fn body(
        self,
        request: &ChatRequest,
        options: &TranslateOptions<'_>,
        notes: &Notes,
    ) -> Result<Vec<u8>> {
        if let Some(native) = request.native_for(self) {
            native.left_out.into_iter().for_each(|name| notes.drop_member(name));
            let job = Job::new(self, request, options, notes);
            return job.native_body(native, self.adapter().limit_member);
        }
        if let Some(error) = request.responses.as_ref().and_then(|it| it.untranslatable.as_ref()) {
            return Err(error.clone());
        }
        let is_own = self.is_chat() && request.native.is_none();
        if !is_own && !request.says_something() {
            let expected = "a conversation of which the provider of this model can read a part";
            return Err(GatewayError::expected("messages", expected));
        }
        let losses = match is_own {
            true => Notes::default(),
            false => request.losses.clone(),
        };
        let body = self.translated(request, options, &losses);
        notes.add(&losses, request.native.as_ref().map_or(&[], |native| native.names));
        body
    }

    /// Whether it is that of Chat Completions.
    fn is_chat(self) -> bool {
        matches!(self, Self::OpenAi | Self::OpenAiCompatible | Self::WorkersAi)
    }

    /// The body of a request that is translated.
    fn translated(
        self,
        request: &ChatRequest,
        options: &TranslateOptions<'_>,
        notes: &Notes,
    ) -> Result<Vec<u8>> {
        let own = reasoning::own(request, options.provider, notes)?;
        let request = own.as_ref().unwrap_or(request);
        let unique = unique::ids(request)?;
        let request = unique.as_ref().unwrap_or(request);
        let go_on = fit::go_on(request, self, options, notes);
        let job = Job { go_on: go_on.as_ref(), ..Job::new(self, request, options, notes) };
        let translate = self.adapter().translate;
        match fit::fit(request, self, notes)? {
            None => translate(&job),
            Some(fitted) => {
                let FittedTools { tools, choice } = &fitted;
                translate(&Job { tools, tool_choice: choice.as_ref(), ..job })
            }
        }
    }

    /// Decodes the body of a successful response that is not a stream. All of it is kept.
    pub(crate) fn decode(
        self,
        body: &[u8],
        ids: IdSource,
        options: DecodeOptions,
    ) -> Read<Completion> {
        let text = str::from_utf8(body)
            .map_err(|_| UpstreamError::malformed("the answer is not UTF-8"))?;
        let value = json::parse_within(text, &mut { MAX_VALUES })
            .map_err(|_| UpstreamError::malformed("the answer is not JSON"))?;
        let mut builder = Builder::new(ids, DecodeOptions { collect: true, ..options });
        (self.adapter().decode)(text, value, &mut builder)?;
        builder.keep_media()?;
        Ok(builder.into_completion())
    }
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

/// Whether a request asks for JSON without a schema.
pub(in crate::gateway::format) fn wants_json_object(request: &ChatRequest) -> bool {
    #[derive(Deserialize)]
    struct ResponseFormat {
        r#type: String,
    }
    let format = request.members.get("response_format");
    let format = format.and_then(|json| json::read::<ResponseFormat>(json.get().as_bytes()));
    format.is_some_and(|format| format.r#type == "json_object")
}

/// The data of an event, which must be JSON.
pub(in crate::gateway::format) fn event_data(data: &str, max_values: usize) -> Read<Value<'_>> {
    json::parse_within(data, &mut { max_values })
        .map_err(|_| UpstreamError::malformed("an event of the stream is not JSON"))
}

/// The JSON that a text is, for what a value of it does not have.
pub(in crate::gateway::format) fn raw(text: &str) -> Option<&RawValue> {
    serde_json::from_str(text).ok()
}

/// The members of an answer or of an event, which is no error.
pub(in crate::gateway::format) fn members_of_answer(value: Value<'_>) -> Read<Object<'_>> {
    if value.get("error").is_some_and(|error| !error.is_null()) || minimax::code(&value).is_some() {
        return Err(reported(200, &value));
    }
    match value {
        Value::Object(members) => Ok(members),
        _ => Err(UpstreamError::malformed("the answer is not an object")),
    }
}

/// Decodes the body of a response with an error status. All providers' errors are alike.
pub(in crate::gateway) fn decode_error(status: u16, body: &[u8]) -> UpstreamError {
    reported(status, &json::parse_bytes(body).unwrap_or_default())
}

/// The error in a body or in an event. Without a status of its own, it has `status`; an error within an answer with
/// the status 200 gets the status that fits its type.
pub(in crate::gateway::format) fn reported(status: u16, whole: &Value<'_>) -> UpstreamError {
    // Gemini sends an array if the request was for a stream.
    let value = whole.as_array().and_then(<[_]>::first).unwrap_or(whole);
    let error = value.get("error").filter(|error| !error.is_null());
    let own = || value.get("base_resp").filter(|_| minimax::code(value).is_some());
    let error = error.or_else(own).unwrap_or(value);
    let first = |names: &[&str]| names.iter().find_map(|name| text(error.get(name)));
    let message = error.as_str().or_else(|| first(&["message", "detail", "status_msg"]));
    let message = message.map(Cow::Borrowed);
    let message = message.or_else(|| described(error).map(Cow::Owned));
    let message = message.unwrap_or("The provider reported an error without a message".into());
    let kind = first(&["type", "status", "code"]).unwrap_or_default();
    let code = count(error.get("code")).and_then(|code| u16::try_from(code).ok());
    let code = code.filter(|it| (400..600).contains(it));
    // Gemini answers a wrong key with 400.
    let details = error.get("details").and_then(Value::as_array).unwrap_or_default();
    let is_key_invalid = |detail: &Value<'_>| text(detail.get("reason")) == Some("API_KEY_INVALID");
    let status = match status {
        400 if details.iter().any(is_key_invalid) => 401,
        200 => code
            .or_else(|| minimax::code(value).map(minimax::status))
            .unwrap_or_else(|| status_of(kind)),
        status => status,
    };
    let message = cut(&message, MAX_MESSAGE);
    let complaints = if matches!(status, 400 | 422) { complaints(whole) } else { Vec::new() };
    match complaints.is_empty() {
        true => UpstreamError::Reported { status, message },
        false => UpstreamError::Rejected { status, message, complaints },
    }
}

/// The status that fits a type of error.
pub(in crate::gateway::format) fn status_of(kind: &str) -> u16 {
    match kind {
        "invalid_request_error"
        | "invalid_prompt"
        | "invalid_value"
        | "unknown_parameter"
        | "unsupported_parameter"
        | "unsupported_value"
        | "context_length_exceeded"
        | "INVALID_ARGUMENT"
        | "FAILED_PRECONDITION" => 400,
        "authentication_error" | "UNAUTHENTICATED" => 401,
        "billing_error" => 402,
        "permission_error" | "PERMISSION_DENIED" => 403,
        "not_found_error" | "NOT_FOUND" => 404,
        "request_too_large" => 413,
        "rate_limit_error"
        | "rate_limit_exceeded"
        | "insufficient_quota"
        | "RESOURCE_EXHAUSTED" => 429,
        "UNAVAILABLE" => 503,
        "overloaded_error" => 529,
        "timeout_error" | "DEADLINE_EXCEEDED" => 504,
        _ => 500,
    }
}

#[cfg(test)]
pub(in crate::gateway) mod tests;
