//! The providers' formats: requests are translated into them, and answers are decoded from them.

pub(in crate::gateway::format) mod conversation;
pub(in crate::gateway) mod custom;
pub(in crate::gateway) mod errors;
pub(in crate::gateway::format) mod fit;
pub(in crate::gateway::format) mod job;
pub(in crate::gateway::format) mod minimax;
pub(in crate::gateway) mod names;
pub(in crate::gateway::format) mod reasoning;
pub(in crate::gateway::format) mod renamed;
pub(in crate::gateway::format) mod schema;
pub(in crate::gateway::format) mod unique;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::{Completion, Read, UpstreamError};
use crate::gateway::answer::sse::SseEvent;
use crate::gateway::answer::stream::DecodeOptions;
use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::dialect::Dialect;
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::facts::Facts;
use crate::gateway::format::{chat_completions, gemini, messages, responses, workers_ai};
use crate::gateway::ids::IdSource;
use crate::gateway::notes::Notes;
use errors::reported;
use fit::FittedTools;
use job::Job;
pub(in crate::gateway) use names::Names;
use toolbooth::json::{self, Object, Value};

/// The most JSON values in an answer: log probabilities have many.
pub(in crate::gateway::format) const MAX_VALUES: usize = 2_000_000;

/// The most JSON values in an event, or in the arguments of a call: as many as 256 KiB of arguments can have, and more.
pub(in crate::gateway::format) const MAX_EVENT_VALUES: usize = 262_144;

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
    /// Which names of functions the provider accepts.
    pub(in crate::gateway::format) accepts_name: names::Accepts,
    pub(in crate::gateway::format) translate: fn(&Job<'_>) -> Result<Vec<u8>>,
    /// The member of a request that limits the tokens of the answer.
    pub(in crate::gateway::format) limit_member: &'static str,
    /// Reads the body of an answer that is not a stream: its text, and the value of that.
    pub(in crate::gateway::format) decode: fn(&str, Value<'_>, &mut Builder) -> Read,
    pub(in crate::gateway) decoder: fn() -> Box<dyn EventDecoder>,
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

#[cfg(test)]
pub(in crate::gateway) mod tests;
