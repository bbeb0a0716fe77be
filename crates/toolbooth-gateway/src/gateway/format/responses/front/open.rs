//! Items of an answer that are still growing.

use crate::gateway::conversation::request::ClientTool;
use crate::gateway::format::responses::front::item::{Event, OutputItem, Part};
use crate::wire::Json;
use toolbooth::json::{self, Value};

/// An item that is no call.
pub(super) enum OpenItem {
    Message(Message),
    Reasoning { index: usize, id: String, text: String },
}

/// A message with its parts, of which the last one grows.
pub(super) struct Message {
    pub(super) index: usize,
    id: String,
    pub(super) parts: Vec<(PartKind, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PartKind {
    Text,
    Refusal,
}

impl PartKind {
    pub(super) fn part(self, text: &str) -> Part<'_> {
        match self {
            Self::Text => Part::OutputText { text, annotations: [], logprobs: [] },
            Self::Refusal => Part::Refusal { refusal: text },
        }
    }
}

impl Message {
    pub(super) fn new(index: usize, id: String) -> Self {
        Self { index, id, parts: Vec::new() }
    }

    /// An event of the last part.
    pub(super) fn event(&self) -> Event<'_> {
        Event {
            output_index: Some(self.index),
            item_id: Some(&self.id),
            content_index: Some(self.parts.len().saturating_sub(1)),
            ..Event::default()
        }
    }

    pub(super) fn json(&self, status: &'static str) -> String {
        json::to_string(&OutputItem {
            id: &self.id,
            r#type: "message",
            status: Some(status),
            role: Some("assistant"),
            content: Some(self.parts.iter().map(|(kind, text)| kind.part(text)).collect()),
            ..OutputItem::default()
        })
    }
}

/// A call that the client gets.
pub(super) struct OpenCall {
    /// Its position among the calls of the answer.
    pub(super) index: usize,
    /// Its position in the output.
    pub(super) position: usize,
    pub(super) item_id: String,
    pub(super) call_id: String,
    pub(super) name: String,
    pub(super) namespace: Option<String>,
    pub(super) kind: CallKind,
    pub(super) arguments: String,
}

/// The form in which the client knows a call.
pub(super) enum CallKind {
    Function,
    Custom,
    Search,
    /// One of this server's tools, whose call the user must approve; with the label of the server.
    Approval(String),
}

impl CallKind {
    /// The form of a call. `tool` is what the client knows by the name, and `label` that of the server if the tool is one of its own.
    pub(super) fn of(custom: bool, tool: Option<&ClientTool>, label: Option<String>) -> Self {
        match (label, tool) {
            (Some(label), None) => Self::Approval(label),
            (_, Some(ClientTool::Search)) => Self::Search,
            _ if custom => Self::Custom,
            _ => Self::Function,
        }
    }

    /// The beginning of the item's id.
    pub(super) fn prefix(&self) -> &'static str {
        match self {
            Self::Function => "fc",
            Self::Custom => "ctc",
            Self::Search => "tsc",
            Self::Approval(_) => "mcpr",
        }
    }

    pub(super) fn is_custom(&self) -> bool {
        matches!(self, Self::Custom)
    }

    pub(super) fn is_approval(&self) -> bool {
        matches!(self, Self::Approval(_))
    }

    pub(super) fn delta_event(&self) -> Option<&'static str> {
        match self {
            Self::Function => Some("response.function_call_arguments.delta"),
            Self::Custom => Some("response.custom_tool_call_input.delta"),
            Self::Search | Self::Approval(_) => None,
        }
    }

    pub(super) fn done_event(&self) -> Option<&'static str> {
        match self {
            Self::Function => Some("response.function_call_arguments.done"),
            Self::Custom => Some("response.custom_tool_call_input.done"),
            Self::Search | Self::Approval(_) => None,
        }
    }
}

impl OpenCall {
    /// Whether the arguments can have no further part.
    pub(super) fn is_complete(&self) -> bool {
        !self.kind.is_custom()
            && self.arguments.trim_end().ends_with('}')
            && json::parse(&self.arguments).is_ok()
    }

    pub(super) fn json(&self, status: &'static str) -> String {
        let text = || Json::Value(Value::from(&*self.arguments));
        let item = OutputItem {
            id: &self.item_id,
            call_id: Some(&self.call_id),
            name: Some(&self.name),
            namespace: self.namespace.as_deref(),
            status: Some(status),
            ..OutputItem::default()
        };
        json::to_string(&match &self.kind {
            CallKind::Function => {
                OutputItem { r#type: "function_call", arguments: Some(text()), ..item }
            }
            CallKind::Custom => {
                OutputItem { r#type: "custom_tool_call", input: Some(&self.arguments), ..item }
            }
            CallKind::Search => OutputItem {
                r#type: "tool_search_call",
                name: None,
                execution: Some("client"),
                // Clients expect an object.
                arguments: Some(match json::parse(&self.arguments) {
                    Ok(value @ Value::Object(_)) => Json::Value(value),
                    _ => Json::Text("{}".into()),
                }),
                ..item
            },
            CallKind::Approval(label) => OutputItem {
                r#type: "mcp_approval_request",
                call_id: None,
                status: None,
                server_label: Some(label),
                arguments: Some(text()),
                ..item
            },
        })
    }
}
