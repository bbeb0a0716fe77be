//! Requests for input from the user or the model of the client, and the responses.
//!
//! No call waits for a response. The tool returns its requests instead of a value and ends; the client repeats
//! the call with the responses and the state. A response is as untrusted as input: a caller can forge it. The
//! protocol makes sure that the state comes back unchanged, and only for the same call of the same caller.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ContentBlock, Named};
use crate::json;

/// What a client supports for tools that request input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ClientCapability {
    /// It shows a form to its user.
    Form,
    /// It shows a URL to its user.
    Url,
    /// It has its model write a message.
    Sampling,
    /// It lists the folders that it works on.
    Roots,
}

impl ClientCapability {
    pub(super) const ALL: [Self; 4] = [Self::Form, Self::Url, Self::Sampling, Self::Roots];

    /// A description, which can follow "a client that".
    pub fn description(self) -> &'static str {
        match self {
            Self::Form => "can show a form to its user",
            Self::Url => "can show a URL to its user",
            Self::Sampling => "lets its model write a message",
            Self::Roots => "can list its root folders",
        }
    }
}

/// Everything that a client supports for tools that request input. Most protocols cannot transport a response:
/// their clients have no capability.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientCapabilities(u8);

impl ClientCapabilities {
    /// All capabilities.
    pub const ALL: Self = Self(0b1111);

    /// Whether the client has `capability`.
    pub fn has(self, capability: ClientCapability) -> bool {
        self.0 & 1 << capability as u8 != 0
    }
}

impl FromIterator<ClientCapability> for ClientCapabilities {
    fn from_iter<T: IntoIterator<Item = ClientCapability>>(capabilities: T) -> Self {
        Self(capabilities.into_iter().fold(0, |set, capability| set | 1 << capability as u8))
    }
}

/// A request for input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum InputRequest {
    /// Asks the user to fill in a form. The response is an object with its fields.
    Form {
        /// The message for the user.
        message: String,
        /// JSON Schema of the response: an object of plain fields, because clients show no others.
        schema: Map<String, Value>,
    },
    /// Asks the user to open a URL. The response, an empty object, means that the user agreed, not that they did
    /// anything there. It must be a page of the tool that authenticates its visitors.
    Url {
        /// The message for the user.
        message: String,
        /// The URL.
        url: String,
    },
    /// Asks the client's model to write a message. The response has `role`, `content` and `model`.
    Sampling {
        /// `messages`, `maxTokens` and the other parameters of MCP's `sampling/createMessage`.
        request: Map<String, Value>,
    },
    /// Asks the client which folders it works on. The response has `roots`, each with `uri`.
    Roots,
}

impl InputRequest {
    /// A form. A `schema` that is not an object has no fields.
    pub fn form(message: impl Into<String>, schema: Value) -> Self {
        let schema = if let Value::Object(members) = schema { members } else { Map::new() };
        Self::Form { message: message.into(), schema }
    }

    /// A URL to open.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url { message: message.into(), url: url.into() }
    }

    /// A message that the model writes in response to `prompt`.
    pub fn sampling(prompt: impl Into<String>, max_tokens: u32) -> Self {
        let text = json::object([("type", "text".into()), ("text", prompt.into().into())]);
        let message = json::object([("role", "user".into()), ("content", text)]);
        let mut request = Map::new();
        request.insert("messages".to_owned(), vec![message].into());
        request.insert("maxTokens".to_owned(), max_tokens.into());
        Self::Sampling { request }
    }

    /// The capability that the client needs.
    pub fn capability(&self) -> ClientCapability {
        match self {
            Self::Form { .. } => ClientCapability::Form,
            Self::Url { .. } => ClientCapability::Url,
            Self::Sampling { .. } => ClientCapability::Sampling,
            Self::Roots => ClientCapability::Roots,
        }
    }
}

/// The response to a request for input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum InputResponse {
    /// The response: what the kind of request describes.
    Given(Value),
    /// The user declined.
    Declined,
    /// The user dismissed the request.
    Dismissed,
}

/// The responses that a call has for the requests of an earlier one, and the capabilities of its client.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dialogue {
    /// The capabilities of the client.
    pub capabilities: ClientCapabilities,
    /// Responses by the key of the request. Some may be missing, and others may not have been requested.
    pub answers: Named<InputResponse>,
    /// The state that the tool passed with its requests.
    pub state: Option<Value>,
}

/// The input that a tool requests.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InputRequired {
    /// The tool's name.
    pub tool: &'static str,
    /// The requests, by the keys of their responses.
    pub questions: Named<InputRequest>,
    /// The state, which comes back unchanged with the responses.
    pub state: Option<Value>,
}

const MOST_QUESTIONS: usize = 16;
/// The longest state, as JSON in bytes: it is part of a sealed token.
const LONGEST_STATE: usize = 2_000;

impl InputRequired {
    /// The capabilities that the client needs but lacks.
    pub(crate) fn lacking(&self, capabilities: ClientCapabilities) -> Vec<ClientCapability> {
        let missing = |capability: &ClientCapability| !capabilities.has(*capability);
        self.capabilities().into_iter().filter(missing).collect()
    }

    /// Why the requests are invalid, which is a bug of the tool.
    pub(crate) fn problem(&self) -> Option<&'static str> {
        let state = self.state.as_ref().map_or(0, |state| json::to_string(state).len());
        if self.questions.is_empty() {
            Some("it requests input without a request")
        } else if self.questions.len() > MOST_QUESTIONS {
            Some("it has more than 16 requests for input at once")
        } else if state > LONGEST_STATE {
            Some("the state of its requests for input has more than 2000 bytes")
        } else {
            None
        }
    }

    /// The capabilities that the client needs, each once.
    pub(crate) fn capabilities(&self) -> Vec<ClientCapability> {
        let needed = |capability| {
            self.questions.iter().any(|(_, request)| request.capability() == capability)
        };
        ClientCapability::ALL.into_iter().filter(|capability| needed(*capability)).collect()
    }
}

/// The response to [`InputRequest::Sampling`], without the members that most tools do not need.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct SamplingResponse {
    /// The message of the model.
    pub content: ContentBlock,
}
