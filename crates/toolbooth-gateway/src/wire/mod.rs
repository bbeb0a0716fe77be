//! The formats of model providers: what their models answer, and the results of calls that go back to them.
//!
//! `/providers` and the chat gateway share these types. Each format is a file, or a folder with its `request`, which
//! only the gateway sends. It reads answers into an [`ModelAnswer`], and has the types of its results.

pub(crate) mod anthropic;
mod call;
pub(crate) mod fields;
pub(crate) mod gemini;
mod media;
pub(crate) mod openai;
pub(crate) mod responses;
mod usage;

use std::borrow::Cow;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

pub(crate) use call::{Arguments, ToolCall};
pub(crate) use media::{ImagePart, Media, MediaForm, MediaSource};
use toolbooth::json::{self, Rendered, Value};
use toolbooth::schema::text::excerpt;
pub(crate) use usage::Usage;

/// What is read from an answer; the error says what was expected, and where.
pub(crate) type Read<T = ()> = Result<T, String>;

/// What a model answered, the same for all providers: what they say of it.
#[derive(Default)]
pub(crate) struct ModelAnswer<'t> {
    pub id: Option<Cow<'t, str>>,
    pub model: Option<Cow<'t, str>>,
    /// What the answer consists of, in order.
    pub items: Vec<Item<'t>>,
    pub finish: Option<Finish<'t>>,
    pub usage: Option<Usage>,
    /// Whether there are several choices, of which only the first was read.
    pub has_alternatives: bool,
}

pub(crate) enum Item<'t> {
    Text(Cow<'t, str>),
    /// Why the model refuses.
    Refusal(Cow<'t, str>),
    /// The readable part of the model's reasoning, which may be empty.
    Reasoning(Cow<'t, str>),
    /// A signature of what precedes it, which the provider must get back.
    Signature(Cow<'t, str>),
    Call(ToolCall<'t>),
    Media(Media<'t>),
    /// The result of an earlier call, by the call's id.
    Result(Option<Cow<'t, str>>),
    /// A tool that the provider has run itself, by kind.
    Hosted(Cow<'t, str>),
    /// A call that only the client can run, by kind.
    ClientCall(Cow<'t, str>),
    /// Anything else, by kind.
    Other(Cow<'t, str>),
}

/// Why a model stopped: the provider's word, and what it means.
pub(crate) struct Finish<'t> {
    pub word: Cow<'t, str>,
    pub reason: FinishReason,
}

impl<'t> Finish<'t> {
    fn new(word: Cow<'t, str>, meaning: fn(&str) -> FinishReason) -> Self {
        Self { reason: meaning(&word), word }
    }

    /// What has failed, and what the client should do, if the model has failed.
    pub(crate) fn failure(&self) -> Option<String> {
        match self.reason {
            FinishReason::Failed(failure) => {
                Some(format!("The model ended with {}: {}", excerpt(&self.word), failure.advice))
            }
            _ => None,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum FinishReason {
    #[default]
    Stop,
    /// It reached a limit of tokens, so the last part may be incomplete.
    Length,
    ToolCalls,
    /// The provider withheld the rest, or the model refuses.
    ContentFilter,
    /// It failed, so the answer is incomplete.
    Failed(Failure),
    /// Another reason, for which OpenAI has no word.
    Other,
}

/// How a model failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    /// The HTTP status that fits it if it leaves no answer.
    pub status: u16,
    /// What happened, and what the client should do.
    pub advice: &'static str,
}

impl FinishReason {
    /// The word of an answer, which is `tool_calls` whenever it has calls (2api.ai, 9).
    pub(crate) fn word(self, has_calls: bool) -> &'static str {
        if has_calls { Self::ToolCalls.as_str() } else { self.as_str() }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Stop | Self::Other => "stop",
            // No format has a word for the former. Agents take an answer that ends with `stop` for complete.
            Self::Failed(_) | Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
        }
    }
}

/// JSON that is passed on as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Json<'t> {
    Text(#[serde(serialize_with = "rendered")] Cow<'t, str>),
    Value(Value<'t>),
}

impl Json<'_> {
    pub(crate) fn into_owned(self) -> Json<'static> {
        match self {
            Self::Text(text) => Json::Text(text.into_owned().into()),
            Self::Value(value) => Json::Value(value.into_owned()),
        }
    }
}

impl<'t> From<&'t RawValue> for Json<'t> {
    fn from(json: &'t RawValue) -> Self {
        Self::Text(json.get().into())
    }
}

impl<'t> From<Value<'t>> for Json<'t> {
    fn from(value: Value<'t>) -> Self {
        Self::Value(value)
    }
}

impl From<&Members<'_>> for Json<'_> {
    fn from(members: &Members<'_>) -> Self {
        Self::Text(json::to_string(members).into())
    }
}

fn rendered<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    Rendered(text).serialize(serializer)
}

/// Members in the order in which they are written.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Members<'t>(pub Vec<(Cow<'t, str>, Json<'t>)>);

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'t> Members<'t> {
    /// Adds a member, if it is there.
    pub(crate) fn add(&mut self, name: &'static str, value: Option<impl Into<Json<'t>>>) {
        self.0.extend(value.map(|value| (name.into(), value.into())));
    }

    /// An object of a kind as OpenAI Chat Completions has it: these are in the member that is named after the kind.
    pub(crate) fn of_type(&self, kind: &'static str) -> Self {
        let mut typed = Self::default();
        typed.add("type", Some(Value::from(kind)));
        typed.add(kind, Some(self));
        typed
    }
}

/// Whether a member may be left out.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
