//! A request, whatever the format of the client.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::value::RawValue;

use crate::gateway::conversation::tool::{Selection, Tool, ToolChoice};
use crate::gateway::conversation::{HistoryItem, MessageBody, PartContent};
use crate::gateway::error::GatewayError;
use crate::gateway::facts::Effort;
use crate::gateway::fields::effort_of;
use crate::gateway::format::adapter::Format;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{RawMembers, raw_member};
use crate::wire::ToolCall;
use toolbooth::json;
use toolbooth::seal::ContinuationToken;

/// A request. What is forwarded unchanged keeps its JSON text, so that the order of members, which models follow
/// when they write structured output, is not lost.
#[derive(Debug, Clone)]
pub(crate) struct ChatRequest {
    /// The model, as the client wrote it: `provider/model`, or an alias.
    pub model: String,
    pub stream: bool,
    /// Whether the stream ends with a usage chunk: `stream_options.include_usage`.
    pub include_usage: bool,
    pub history: Vec<HistoryItem>,
    pub tools: Vec<Tool>,
    /// The entries of `tools` that select compiled-in tools.
    pub selections: Vec<Selection>,
    pub tool_choice: Option<ToolChoice>,
    /// `request_options`, which are for the gateway.
    pub request_options: Option<Box<RawValue>>,
    /// `_2api.state`: a round of the tool loop that the client continues.
    pub state: Option<String>,
    /// The members that are passed on, by the names of OpenAI Chat Completions.
    pub members: RawMembers,
    /// What it loses if it is translated into another format than that of the client.
    pub(in crate::gateway) losses: Notes,
    /// The request as the client wrote it, for providers with its format.
    pub native: Option<NativeRequest>,
    /// What a request in the format of Responses has that this form lacks.
    pub responses: Option<Box<ResponsesContext>>,
}

/// What a request in the format of OpenAI Responses has that [`ChatRequest`] lacks.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResponsesContext {
    /// The tools that the client knows in a form of Responses, by their names here.
    pub tools: Vec<(String, ClientTool)>,
    /// The number of tools that the client runs, and that are no functions.
    pub further_tools: usize,
    /// The longest description of a namespace: where it is, and how many characters it has.
    pub longest_namespace: Option<(String, usize)>,
    /// Why the request cannot be translated.
    pub untranslatable: Option<GatewayError>,
    /// The entry of `tools` that gives the model compiled-in tools.
    pub server: Option<ServerEntry>,
    /// The calls of compiled-in tools that the user has approved. They run before the model is asked.
    pub approved: Vec<ApprovedCall>,
    /// Whether the client asks for the answer later.
    pub background: bool,
    /// Seals what a provider must get back. Without a key of the server, it is left out.
    pub token: Option<ContinuationToken>,
}

/// A tool of the client that is a function, or a custom tool, for models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ClientTool {
    /// A tool in a namespace, by its name there.
    Member { namespace: String, name: String },
    /// `tool_search`, with which the model asks the client for further tools.
    Search,
}

/// An entry `{"type": "mcp", "server_url": "toolbooth"}`.
#[derive(Debug, Clone)]
pub(crate) struct ServerEntry {
    pub label: String,
    /// Whether the conversation has the list of the tools.
    pub is_listed: bool,
    /// The compiled-in tools, each as a function of Responses.
    pub tools: Vec<ModelTool>,
}

/// A compiled-in tool, as a request gives it to the model.
#[derive(Debug, Clone)]
pub(crate) struct ModelTool {
    pub name: &'static str,
    /// Its definition in JSON. Without it, the model must search for the tool.
    pub definition: Option<Cow<'static, str>>,
}

/// A call that the user has approved.
#[derive(Debug, Clone)]
pub(crate) struct ApprovedCall {
    /// The id of the request for approval.
    pub request_id: String,
    pub call: ToolCall<'static>,
}

/// A request in a provider's own format.
#[derive(Debug, Clone)]
pub(crate) struct NativeRequest {
    pub format: Format,
    /// The members that the provider gets. The model is none of them.
    pub members: RawMembers,
    pub passage: Passage,
    /// Whether the conversation has calls that the gateway ran, which Anthropic gets as those of tools in the request.
    pub has_own_calls: bool,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// The tools that the model does not know yet, by name.
    pub unloaded: Vec<String>,
    /// What the provider does not get of it, although it goes there as it is: the reasoning of others.
    pub left_out: Option<&'static str>,
    /// Members of the gateway's form of a request, and what the client calls them.
    pub names: &'static [(&'static str, &'static str)],
    /// What this server is called among the MCP servers of the conversation.
    pub server_name: String,
}

/// How a provider with the client's format gets a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Passage {
    /// As the client wrote it. The client gets the answer as it comes.
    AsIs,
    /// As the client wrote it, with compiled-in tools and their rounds.
    Extended,
    /// Translated, as if the provider had another format: it has something that only the gateway understands.
    Translated,
}

impl NativeRequest {
    /// It has something that only the gateway understands.
    pub(in crate::gateway) fn must_be_translated(&mut self) {
        self.passage = Passage::Translated;
    }

    /// The compiled-in tools of the request are known, and whether the conversation has rounds that were sealed.
    pub(in crate::gateway) fn settle(&mut self, has_tools: bool, has_rounds: bool) {
        let is_extended = has_tools || self.passage == Passage::Extended;
        self.passage = match self.passage {
            // Sealed rounds are in the place of messages.
            _ if has_rounds => Passage::Translated,
            // Calls need tools.
            _ if self.has_own_calls && !has_tools => Passage::Translated,
            // Only the definitions and rounds of Anthropic can be added to what the client wrote.
            Passage::AsIs | Passage::Extended if is_extended => match self.format {
                Format::Anthropic => Passage::Extended,
                _ => Passage::Translated,
            },
            passage => passage,
        };
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    System,
    /// It means the same to newer models.
    Developer,
    User,
    Assistant,
    Tool,
}

impl Role {
    pub(in crate::gateway) fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
        }
    }

    pub(in crate::gateway) fn of(word: &str) -> Option<Self> {
        let all = [Self::System, Self::Developer, Self::User, Self::Assistant, Self::Tool];
        all.into_iter().find(|role| role.as_str() == word)
    }
}

/// Whether several calls have the same id.
pub(in crate::gateway) fn repeats_ids(history: &[HistoryItem]) -> bool {
    let mut known = BTreeSet::new();
    !history.iter().flat_map(HistoryItem::call_ids).all(|id| known.insert(id))
}

impl ChatRequest {
    /// Whether the client asks for the answer later.
    pub(in crate::gateway) fn is_background(&self) -> bool {
        self.responses.as_ref().is_some_and(|context| context.background)
    }

    /// Whether anything of the conversation is left if it is translated.
    pub(in crate::gateway) fn says_something(&self) -> bool {
        self.history.iter().any(|item| match item {
            HistoryItem::Turn(_) => true,
            HistoryItem::Message(message) => match &message.body {
                MessageBody::System(parts)
                | MessageBody::Developer(parts)
                | MessageBody::User(parts) => {
                    parts.iter().any(|part| !matches!(part.content, PartContent::Other(_)))
                }
                MessageBody::Assistant(_) | MessageBody::Result(_) => true,
            },
        })
    }

    /// How much the client asks the model to think.
    pub(in crate::gateway) fn effort(&self) -> Option<Effort> {
        let Some(word) = self.members.get("reasoning_effort") else {
            let thinking = json::parse(self.members.get("thinking")?.get()).ok()?;
            return effort_of(&thinking);
        };
        Effort::of(&json::read::<String>(word.get().as_bytes())?)
    }

    /// Whether the client sees what the model thinks.
    pub(in crate::gateway) fn shows_thinking(&self) -> bool {
        self.native.is_none() || self.asks_for_summary()
    }

    /// Whether the client asks for a summary of what the model thinks.
    pub(in crate::gateway) fn asks_for_summary(&self) -> bool {
        let native = self.native_of(Format::Responses);
        let reasoning = native.and_then(|native| native.members.get("reasoning"));
        let has = |name| {
            let json = raw_member(reasoning?, &[name])?;
            Some(json.get() != "null")
        };
        ["summary", "generate_summary"].into_iter().any(|name| has(name).unwrap_or(false))
    }

    /// The request as the client wrote it, if it can go to a provider with this format. After a round of a provider with a different
    /// one, it is translated.
    pub(in crate::gateway) fn native_for(&self, format: Format) -> Option<&NativeRequest> {
        let native =
            self.native_of(format).filter(|native| native.passage != Passage::Translated)?;
        let mut turns = self.history.iter().filter_map(HistoryItem::turn);
        turns.all(|turn| turn.format == format).then_some(native)
    }

    /// The request as the client wrote it, if that is this format.
    pub(in crate::gateway) fn native_of(&self, format: Format) -> Option<&NativeRequest> {
        self.native.as_ref().filter(|native| native.format == format)
    }

    /// Whether a provider with this format gets the request as the client wrote it, and the client gets the answer as it comes.
    pub(in crate::gateway) fn passes_to(&self, format: Format) -> bool {
        self.native_for(format).is_some_and(|native| native.passage == Passage::AsIs)
    }

    /// What this server is called where answers have calls of compiled-in tools.
    pub(in crate::gateway) fn server_name(&self) -> &str {
        self.native.as_ref().map_or("", |native| &native.server_name)
    }
}
