//! The conversation of a request, whatever the format of the client.

pub(in crate::gateway) mod open_calls;
pub(in crate::gateway) mod request;
pub(in crate::gateway) mod tool;

use std::borrow::Cow;

use base64ct::{Base64, Encoding};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::gateway::dialect::{Dialect, Feature};
use crate::gateway::error::GatewayError;
use crate::gateway::format::adapter::Format;
use crate::gateway::media_type;
use crate::gateway::provider_state::{ProviderState, REASONING};
use crate::gateway::raw_json::raw_members;
use crate::wire::ToolCall;
use toolbooth::json::{Object, Value};

/// How the result of a call begins whose tool failed (2api.ai, 8).
pub(in crate::gateway) const ERROR_MARK: &str = "Error:";

/// A message of the client, or a round of the server-side tool loop.
#[derive(Debug, Clone)]
pub(crate) enum HistoryItem {
    Message(Message),
    Turn(Turn),
}

/// A message of the client.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    /// Where it is in the request.
    pub path: String,
    pub body: MessageBody,
    /// The message as a client of Chat Completions wrote it. Providers with that format get it with as few changes as possible.
    pub written: Option<Box<RawValue>>,
}

#[derive(Debug, Clone)]
pub(crate) enum MessageBody {
    System(Vec<Part>),
    /// It means the same as `System` to newer models.
    Developer(Vec<Part>),
    User(Vec<Part>),
    Assistant(Assistant),
    Result(ToolResult),
}

/// What an assistant said and called.
#[derive(Debug, Clone, Default)]
pub(crate) struct Assistant {
    pub content: Vec<Part>,
    /// The calls. Their arguments are text.
    pub calls: Vec<ToolCall<'static>>,
    /// What providers must get back, by their names: signatures and reasoning.
    pub extra_content: Object<'static>,
    /// What one provider must get back in members of the message.
    pub state: ProviderState,
}

/// A part of what is said, or of a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub content: PartContent,
    /// Anthropic's `cache_control`, which many clients send in OpenAI's format.
    pub cache_control: Option<Value<'static>>,
    /// What providers must get back with it, by their names: the signature of a picture that a model has made.
    pub extra_content: Option<Value<'static>>,
    /// Where it is in the request.
    pub path: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum PartContent {
    Text(String),
    /// Why the model refused.
    Refusal(String),
    Image {
        source: Source,
        /// How closely the model looks at it: OpenAI's `detail`.
        detail: Option<String>,
    },
    Audio {
        /// Such as `mp3`.
        format: String,
        base64: String,
    },
    File {
        source: Source,
        name: Option<String>,
    },
    /// A part that only providers with the client's format know, by its type.
    Other(String),
}

/// Where an image or a file is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    Url(String),
    Data {
        media_type: String,
        base64: String,
    },
    /// The id of a file that the provider has stored.
    Id(String),
}

/// A model's answer with calls, and their results: one round of the tool loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Turn {
    /// The format of `native`. States that clients keep have it as `provider`.
    #[serde(rename = "provider")]
    pub format: Format,
    /// The id of the provider; empty if it is not known.
    #[serde(rename = "source", default)]
    pub provider: String,
    /// The assistant message in OpenAI's format.
    pub message: String,
    /// Its content as the provider wrote it, with signatures and reasoning: JSON. Empty if that is OpenAI's format.
    pub native: String,
    /// A result for each call, in the order of the calls.
    pub results: Vec<ToolResult>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct ToolResult {
    pub call_id: String,
    /// The tool's name; empty if only the call has it.
    pub name: String,
    pub content: ToolContent,
    pub is_error: bool,
}

/// What a call has returned; nothing is an empty text. It is sealed as text: only a client sends other parts.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(from = "String")]
pub(crate) struct ToolContent(pub Vec<Part>);

impl HistoryItem {
    /// A message that the client has written in a format other than Chat Completions.
    pub(in crate::gateway) fn message(path: impl Into<String>, body: MessageBody) -> Self {
        Self::Message(Message { path: path.into(), body, written: None })
    }

    /// The round, if it is one.
    pub(in crate::gateway) fn turn(&self) -> Option<&Turn> {
        match self {
            Self::Turn(turn) => Some(turn),
            Self::Message(_) => None,
        }
    }

    /// The ids of its calls. A round has a result for each.
    pub(in crate::gateway) fn call_ids(&self) -> impl Iterator<Item = &str> {
        let calls = self.assistant().map_or(&[][..], |assistant| &assistant.calls);
        let results = self.turn().map_or(&[][..], |turn| &turn.results);
        let of_results = results.iter().map(|result| result.call_id.as_str());
        calls.iter().map(|call| &*call.id).chain(of_results)
    }

    /// Whether it is a message of an assistant of which a provider with this dialect gets nothing: it is empty, it only thought, or made
    /// pictures. Most providers reject one that is empty.
    pub(in crate::gateway) fn says_nothing(&self, dialect: &Dialect) -> bool {
        let Self::Message(Message { body: MessageBody::Assistant(said), written, .. }) = self
        else {
            return false;
        };
        let is_written = written.is_some();
        let is_nothing = |part: &Part| match &part.content {
            PartContent::Text(text) | PartContent::Refusal(text) => text.is_empty(),
            PartContent::Image { .. } => !is_written || part.path.ends_with(".images"),
            _ => !is_written,
        };
        if !said.calls.is_empty() || !said.content.iter().all(is_nothing) {
            return false;
        }
        // What a client of Chat Completions has written may have members that the gateway does not read, such as a sound's id.
        let Some(json) = written else { return true };
        let mut owners = said.extra_content.iter().map(|(owner, _)| &**owner);
        let has_extra = dialect.takes(Feature::ExtraContent)
            && !owners.all(|owner| matches!(owner, "anthropic" | "openai" | "toolbooth"));
        raw_members(json.get()).unwrap_or_default().iter().all(|(name, json)| {
            let is_read = matches!(name.as_str(), "role" | "name" | "content" | "images" | "_2api");
            let is_lost = || match name.as_str() {
                "extra_content" => !has_extra,
                name => REASONING.contains(&name) && !dialect.takes_reasoning(name),
            };
            is_read || matches!(json.get(), "null" | "\"\"" | "[]") || is_lost()
        })
    }

    /// The message of an assistant, if it is one.
    pub(in crate::gateway) fn assistant(&self) -> Option<&Assistant> {
        match self {
            Self::Message(Message { body: MessageBody::Assistant(assistant), .. }) => {
                Some(assistant)
            }
            Self::Message(_) | Self::Turn(_) => None,
        }
    }

    /// The same, to change it.
    pub(in crate::gateway) fn assistant_mut(&mut self) -> Option<&mut Assistant> {
        match self {
            Self::Message(Message { body: MessageBody::Assistant(assistant), .. }) => {
                Some(assistant)
            }
            Self::Message(_) | Self::Turn(_) => None,
        }
    }

    /// The results of a round, or of a message with one.
    pub(in crate::gateway) fn results_mut(&mut self) -> &mut [ToolResult] {
        match self {
            Self::Turn(turn) => &mut turn.results,
            Self::Message(Message { body: MessageBody::Result(result), .. }) => {
                std::slice::from_mut(result)
            }
            Self::Message(_) => &mut [],
        }
    }

    /// The result of a call, if it is a message with one.
    pub(in crate::gateway) fn result(&self) -> Option<&ToolResult> {
        match self {
            Self::Message(Message { body: MessageBody::Result(result), .. }) => Some(result),
            Self::Message(_) | Self::Turn(_) => None,
        }
    }
}

impl Part {
    pub(in crate::gateway) fn new(content: PartContent, path: impl Into<String>) -> Self {
        Self { content, cache_control: None, extra_content: None, path: path.into() }
    }

    pub(in crate::gateway) fn text(text: impl Into<String>, path: impl Into<String>) -> Self {
        Self::new(PartContent::Text(text.into()), path)
    }

    /// The error: it is a file that only another provider has stored.
    pub(in crate::gateway) fn unreadable_file(&self) -> GatewayError {
        let path = &self.path;
        let message = format!("{path}: this provider cannot read files that OpenAI has stored");
        GatewayError::invalid(path.as_str(), message)
    }

    /// The text, if it is one.
    pub(in crate::gateway) fn as_text(&self) -> Option<&str> {
        match &self.content {
            PartContent::Text(text) | PartContent::Refusal(text) => Some(text),
            _ => None,
        }
    }
}

impl Source {
    /// The source that an address means: an `https:` URL, or a `data:` URL.
    pub(in crate::gateway) fn of_address(url: &str) -> Option<Self> {
        let begins = |scheme: &str| {
            url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
        };
        match begins("data:") {
            true => Self::of_data(url.get("data:".len()..)?),
            false => begins("https://").then(|| Self::Url(url.to_owned())),
        }
    }

    /// The source that the rest of a `data:` URL means (RFC 2397): a text without base64 has escapes of its own.
    fn of_data(data: &str) -> Option<Self> {
        let (head, data) = data.split_once(',')?;
        let (head, base64) = match head.rsplit_once(';') {
            Some((head, end)) if end.trim().eq_ignore_ascii_case("base64") => {
                // Line breaks and blanks mean nothing (RFC 2045), and providers reject them.
                (head, data.split_ascii_whitespace().collect())
            }
            _ => (head, Base64::encode_string(&percent_decode_str(data).collect::<Vec<u8>>())),
        };
        let media_type = match media_type::canonical(head) {
            none if none.is_empty() => "text/plain".to_owned(),
            media_type => media_type.into_owned(),
        };
        Some(Self::Data { media_type, base64 })
    }

    /// The text, if it is the data of one.
    pub(in crate::gateway) fn text(&self) -> Option<String> {
        let Self::Data { media_type, base64 } = self else { return None };
        if !media_type::is_text(media_type) {
            return None;
        }
        String::from_utf8(Base64::decode_vec(base64).ok()?).ok()
    }

    /// The id of a file that the provider has stored, if it is one.
    pub(in crate::gateway) fn id(&self) -> Option<&str> {
        match self {
            Self::Id(id) => Some(id),
            Self::Url(_) | Self::Data { .. } => None,
        }
    }

    /// The address, if there is one.
    pub(in crate::gateway) fn address(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Url(url) => Some(url.into()),
            Self::Data { media_type, base64 } => {
                Some(format!("data:{media_type};base64,{base64}").into())
            }
            Self::Id(_) => None,
        }
    }
}

impl From<String> for ToolContent {
    fn from(text: String) -> Self {
        match text.is_empty() {
            true => Self::default(),
            false => Self(vec![Part::text(text, "")]),
        }
    }
}

impl Serialize for ToolContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

impl ToolContent {
    /// The texts, separated by empty lines.
    pub(in crate::gateway) fn text(&self) -> Cow<'_, str> {
        joined(&self.0)
    }

    /// Whether it says that the tool failed.
    pub(in crate::gateway) fn is_error(&self) -> bool {
        let first = self.0.first().and_then(Part::as_text);
        first.is_some_and(|text| text.starts_with(ERROR_MARK))
    }

    /// Says that the tool failed, if the content does not say it.
    pub(in crate::gateway) fn mark_error(&mut self) {
        let text = self.0.iter_mut().find_map(|part| match &mut part.content {
            PartContent::Text(text) => Some(text),
            _ => None,
        });
        match text {
            Some(text) if text.starts_with(ERROR_MARK) => {}
            Some(text) => *text = format!("{ERROR_MARK} {text}"),
            None => self.0.insert(0, Part::text(ERROR_MARK, "")),
        }
    }
}

/// The texts of parts, separated by empty lines.
pub(in crate::gateway) fn joined(parts: &[Part]) -> Cow<'_, str> {
    let mut texts = parts.iter().filter_map(Part::as_text);
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    texts.fold(Cow::Borrowed(first), |all, text| format!("{all}\n\n{text}").into())
}
