//! A request in OpenAI's Chat Completions format.

mod tools;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Provider;
use crate::json::{self, Object, Value};

pub use tools::{FunctionTool, Tool, ToolChoice};
use tools::{tool_choice, tools};

/// The most JSON values in a request. A conversation is larger than the input of a tool.
const MAX_VALUES: usize = 262_144;

/// A request. What is forwarded unchanged keeps its JSON text, so that the order of members, which models follow
/// when they write structured output, is not lost.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// The model, as the client wrote it: `provider/model`, or an alias.
    pub model: String,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether the stream ends with a usage chunk: `stream_options.include_usage`.
    pub include_usage: bool,
    /// The conversation.
    pub history: Vec<HistoryItem>,
    /// The client's own tools.
    pub tools: Vec<Tool>,
    /// The entries of `tools` that select compiled-in tools: `type: "toolbooth"`, or `type: "mcp"` with the
    /// `server_url` `toolbooth`.
    pub gateway_tools: Vec<Box<RawValue>>,
    /// `tool_choice`, if the client sent it.
    pub tool_choice: Option<ToolChoice>,
    /// `request_options`, which are for the gateway.
    pub request_options: Option<Box<RawValue>>,
    /// `_2api`: the state of a round of the tool loop that the client continues.
    pub two_api: Option<Box<RawValue>>,
    /// All other members, by name. None of them is `null`.
    pub members: Vec<(String, Box<RawValue>)>,
}

/// A message of the client, or a round of the server-side tool loop.
#[derive(Debug, Clone)]
pub enum HistoryItem {
    /// A message as the client sent it.
    Message {
        /// Its role.
        role: Role,
        /// The whole message.
        json: Box<RawValue>,
    },
    /// A round of the tool loop: the model's answer, and the results of all its calls.
    Turn(Turn),
}

/// The role of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// `system`
    System,
    /// `developer`, which means the same to newer models.
    Developer,
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// `tool`: the result of a call.
    Tool,
}

/// A model's answer with calls, and their results: one round of the tool loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// The provider whose format `native` has.
    pub provider: Provider,
    /// The assistant message in OpenAI's format.
    pub message: String,
    /// Its content as the provider wrote it, with signatures and reasoning: JSON. Empty if that is OpenAI's format.
    pub native: String,
    /// A result for each call, in the order of the calls.
    pub results: Vec<ToolResult>,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The id of the call.
    pub call_id: String,
    /// The name of the tool.
    pub name: String,
    /// The result or an error message: text, or JSON as text.
    pub content: String,
    /// Whether the tool failed.
    pub is_error: bool,
}

/// The request is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestError {
    /// What is wrong, and what was expected.
    pub message: String,
    /// The member with the fault, such as `messages[2].role`.
    pub param: Option<String>,
}

impl RequestError {
    fn new(param: &str, message: String) -> Self {
        Self { message, param: Some(param.to_owned()) }
    }

    fn expected(param: &str, expected: &str) -> Self {
        Self::new(param, format!("{param} must be {expected}"))
    }
}

impl ChatRequest {
    /// Reads the body of a request.
    ///
    /// # Errors
    /// Invalid JSON, a member of the wrong type, or a request that no provider could get (`n` above 1, no messages).
    pub fn parse(body: &str) -> Result<Self, RequestError> {
        let value = json::parse_within(body, &mut { MAX_VALUES }).map_err(|error| {
            RequestError { message: format!("The body is not valid JSON: {error}"), param: None }
        })?;
        let not_an_object =
            || RequestError { message: "The body must be an object".to_owned(), param: None };
        let Value::Object(mut value) = value else { return Err(not_an_object()) };
        value.retain(|_, value| !value.is_null());
        // The same text again, now for the JSON of each member.
        let raw: BTreeMap<String, &RawValue> =
            serde_json::from_str(body).map_err(|_| not_an_object())?;
        let owned = |name: &str| raw.get(name).map(|json| (*json).to_owned());

        let model = text_member(&value, "model", "model")?.ok_or_else(|| {
            RequestError::expected("model", "the name of a model, such as \"openai/gpt-5\"")
        })?;
        let Some(Value::Array(messages)) = value.get("messages") else {
            return Err(RequestError::expected("messages", "an array of messages"));
        };
        if messages.is_empty() {
            return Err(RequestError::new("messages", "messages must not be empty".to_owned()));
        }
        let history = items(&raw, "messages")
            .zip(messages)
            .enumerate()
            .map(|(index, (json, message))| history_item(index, message, json))
            .collect::<Result<_, _>>()?;
        if value.get("n").is_some_and(|n| n.as_f64() != Some(1.0)) {
            return Err(RequestError::new(
                "n",
                "n must be 1: send several requests instead".to_owned(),
            ));
        }
        let (tools, gateway_tools) = tools(&value, &raw)?;
        let options = match value.get("stream_options") {
            None => None,
            Some(Value::Object(options)) => Some(options),
            Some(_) => return Err(RequestError::expected("stream_options", "an object")),
        };
        let include_usage = match options.and_then(|options| options.get("include_usage")) {
            None | Some(Value::Null) => false,
            Some(Value::Bool(include)) => *include,
            Some(_) => {
                return Err(RequestError::expected("stream_options.include_usage", "a boolean"));
            }
        };
        const OWN: &[&str] =
            &["model", "messages", "stream", "tools", "tool_choice", "request_options", "_2api"];
        let members =
            raw.iter().filter(|(name, _)| !OWN.contains(&name.as_str()) && value.contains(name));
        Ok(Self {
            model,
            stream: bool_member(&value, "stream", "stream")?.unwrap_or(false),
            include_usage,
            history,
            tool_choice: tool_choice(&value, &raw, &tools, !gateway_tools.is_empty())?,
            tools,
            gateway_tools,
            request_options: value
                .contains("request_options")
                .then(|| owned("request_options"))
                .flatten(),
            two_api: value.contains("_2api").then(|| owned("_2api")).flatten(),
            members: members.map(|(name, json)| (name.clone(), (*json).to_owned())).collect(),
        })
    }
}

/// The JSON of each item of an array.
fn items<'t>(
    raw: &BTreeMap<String, &'t RawValue>,
    name: &str,
) -> impl Iterator<Item = &'t RawValue> + use<'t> {
    let items: Vec<&'t RawValue> =
        raw.get(name).and_then(|json| serde_json::from_str(json.get()).ok()).unwrap_or_default();
    items.into_iter()
}

fn text_member(
    object: &Object<'_>,
    name: &str,
    path: &str,
) -> Result<Option<String>, RequestError> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.as_ref().to_owned())),
        Some(_) => Err(RequestError::expected(path, "a string that is not empty")),
    }
}

fn bool_member(object: &Object<'_>, name: &str, path: &str) -> Result<Option<bool>, RequestError> {
    match object.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(value)) => Ok(Some(*value)),
        Some(_) => Err(RequestError::expected(path, "a boolean")),
    }
}

fn history_item(
    index: usize,
    message: &Value<'_>,
    json: &RawValue,
) -> Result<HistoryItem, RequestError> {
    let Value::Object(members) = message else {
        return Err(RequestError::expected(&format!("messages[{index}]"), "an object"));
    };
    let role = match members.get("role").and_then(Value::as_str) {
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool") => Role::Tool,
        _ => {
            let expected = "one of system, developer, user, assistant, tool";
            return Err(RequestError::expected(&format!("messages[{index}].role"), expected));
        }
    };
    Ok(HistoryItem::Message { role, json: json.to_owned() })
}

#[cfg(test)]
mod tests;
