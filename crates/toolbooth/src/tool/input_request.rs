//! Questions: what a tool must be told before it can go on, by the user or the model on the client's
//! side, and what it is told when the call is made again.
//!
//! No call waits for an answer. The tool gives its questions in place of a value and ends; the client
//! makes the same call once more, with the answers and the state that the tool gave along. An answer
//! is a client's word, like input: it can be forged by whoever may call. The state comes back as it
//! was given, for the same call of the same caller: that is for the protocol to see to.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{ContentBlock, Named};
use crate::json;

/// What a client can do for a tool that asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// It shows its user a form.
    Form,
    /// It shows its user an address to open.
    Url,
    /// It has its model write a message.
    Sampling,
    /// It names the folders that it works on.
    Roots,
}

impl Capability {
    const ALL: [Self; 4] = [Self::Form, Self::Url, Self::Sampling, Self::Roots];

    /// What it is for, in words that follow "that".
    pub fn words(self) -> &'static str {
        match self {
            Self::Form => "shows its user a form",
            Self::Url => "shows its user an address",
            Self::Sampling => "lets its model write a message",
            Self::Roots => "names its root folders",
        }
    }
}

/// All that a client can do for a tool that asks. Most protocols have no way to bring an answer:
/// theirs can nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capabilities([bool; 4]);

impl Capabilities {
    /// Every one.
    pub const ALL: Self = Self([true; 4]);

    /// Whether `capability` is among them.
    pub fn has(self, capability: Capability) -> bool {
        let Self([form, url, sampling, roots]) = self;
        match capability {
            Capability::Form => form,
            Capability::Url => url,
            Capability::Sampling => sampling,
            Capability::Roots => roots,
        }
    }
}

impl FromIterator<Capability> for Capabilities {
    fn from_iter<T: IntoIterator<Item = Capability>>(capabilities: T) -> Self {
        let capabilities: Vec<_> = capabilities.into_iter().collect();
        Self(Capability::ALL.map(|capability| capabilities.contains(&capability)))
    }
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub enum InputRequest {
    /// To the user: a form to fill in. The answer is an object of its fields.
    Form {
        /// What the user is told.
        message: String,
        /// JSON Schema of the answer: an object of plain fields, which is all that clients show.
        schema: Map<String, Value>,
    },
    /// To the user: an address to open. The answer, an empty object, says that the user would open
    /// it, and not what came of that. It must be a page of the tool's own that asks who comes.
    Url {
        /// What the user is told.
        message: String,
        /// The address.
        url: String,
    },
    /// To the client's model: what it is to write. The answer has `role`, `content` and `model`.
    Sampling {
        /// `messages`, `maxTokens` and what else MCP's `sampling/createMessage` takes.
        request: Map<String, Value>,
    },
    /// To the client: which folders it works on. The answer has `roots`, each with `uri`.
    Roots,
}

impl InputRequest {
    /// A form. A `schema` that is no object has no fields.
    pub fn form(message: impl Into<String>, schema: Value) -> Self {
        Self::Form { message: message.into(), schema: members(schema) }
    }

    /// An address to open.
    pub fn url(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self::Url { message: message.into(), url: url.into() }
    }

    /// A message that the model is to write in answer to `prompt`.
    pub fn sampling(prompt: impl Into<String>, max_tokens: u32) -> Self {
        let text = json::object([("type", "text".into()), ("text", prompt.into().into())]);
        let message = json::object([("role", "user".into()), ("content", text)]);
        let mut request = Map::new();
        request.insert("messages".to_owned(), vec![message].into());
        request.insert("maxTokens".to_owned(), max_tokens.into());
        Self::Sampling { request }
    }

    /// What the client must be able to do.
    pub fn capability(&self) -> Capability {
        match self {
            Self::Form { .. } => Capability::Form,
            Self::Url { .. } => Capability::Url,
            Self::Sampling { .. } => Capability::Sampling,
            Self::Roots => Capability::Roots,
        }
    }
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// What came back for a question.
#[derive(Debug, Clone, PartialEq)]
pub enum InputResponse {
    /// The answer: what the question's kind says.
    Given(Value),
    /// The user will not answer.
    Declined,
    /// The user put the question away.
    Dismissed,
}

/// What a call brings of an earlier one in which the tool asked, and what its client can do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dialogue {
    /// What the client can do.
    pub capabilities: Capabilities,
    /// Answers by the question's key. Some may be missing, others never asked for.
    pub answers: Named<InputResponse>,
    /// What the tool gave along with its questions.
    pub state: Option<Value>,
}

/// What a tool asks.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequired {
    /// The tool's name.
    pub tool: &'static str,
    /// The questions by the keys that their answers have.
    pub questions: Named<InputRequest>,
    /// What is to come back with the answers, unchanged and unread.
    pub state: Option<Value>,
}

/// The most questions at once.
const MOST_QUESTIONS: usize = 16;
/// The longest state, as JSON text in bytes: it travels in a sealed token.
const LONGEST_STATE: usize = 2_000;

impl InputRequired {
    /// What the client would have to be able to do and cannot.
    pub(crate) fn lacking(&self, capabilities: Capabilities) -> Vec<Capability> {
        self.capabilities().into_iter().filter(|one| !capabilities.has(*one)).collect()
    }

    /// What is wrong with it; that is the tool's own fault.
    pub(crate) fn fault(&self) -> Option<&'static str> {
        let state = self.state.as_ref().map_or(0, |state| json::to_string(state).len());
        if self.questions.is_empty() {
            Some("it asks and has no question")
        } else if self.questions.len() > MOST_QUESTIONS {
            Some("it has more than 16 questions at once")
        } else if state > LONGEST_STATE {
            Some("the state beside its questions has more than 2000 bytes")
        } else {
            None
        }
    }

    /// What the client must be able to do, each once.
    pub(crate) fn capabilities(&self) -> Vec<Capability> {
        let asked =
            |capability| self.questions.iter().any(|(_, one)| one.capability() == capability);
        Capability::ALL.into_iter().filter(|capability| asked(*capability)).collect()
    }
}

/// The answer to [`InputRequest::Sampling`], as far as most tools want it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SamplingResponse {
    /// What the model wrote.
    pub content: ContentBlock,
}
