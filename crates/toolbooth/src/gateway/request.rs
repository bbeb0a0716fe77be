//! A request in OpenAI's Chat Completions format.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Provider;
use crate::json::{self, Object, Value};
use crate::text::excerpt;

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
    /// The assistant message in OpenAI's format, for other providers.
    pub message: String,
    /// The assistant message as the provider wrote it, with signatures and reasoning: JSON.
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

/// A tool that the client runs.
#[derive(Debug, Clone)]
pub enum Tool {
    /// A function.
    Function(FunctionTool),
    /// A kind of tool that only OpenAI-compatible providers know, such as `custom`.
    Other {
        /// Its `type`.
        kind: String,
        /// Its name, if it has one.
        name: Option<String>,
        /// The whole definition.
        json: Box<RawValue>,
    },
}

/// A function that the client runs (2api.ai, 2.1).
#[derive(Debug, Clone)]
pub struct FunctionTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: Option<String>,
    /// The schema of its arguments; `None` if it has none.
    pub parameters: Option<Box<RawValue>>,
    /// Whether the provider must enforce the schema.
    pub strict: bool,
    /// The whole definition.
    pub json: Box<RawValue>,
}

/// Which tools the model may or must call (2api.ai, 3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolChoice {
    /// None.
    None,
    /// Any number of any.
    Auto,
    /// At least one of any.
    Required,
    /// This function.
    Function(String),
    /// Any number of these, or at least one.
    Allowed {
        /// Whether at least one is required.
        required: bool,
        /// The names of the functions.
        names: Vec<String>,
    },
    /// A choice that only OpenAI-compatible providers know, such as a custom tool: its JSON.
    Other(String),
}

impl ToolChoice {
    /// Whether the model must call a tool.
    pub fn forces_call(&self) -> bool {
        match self {
            Self::Required | Self::Function(_) | Self::Other(_) => true,
            Self::Allowed { required, .. } => *required,
            Self::None | Self::Auto => false,
        }
    }
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

type Tools = (Vec<Tool>, Vec<Box<RawValue>>);

/// The client's tools, and the entries that select compiled-in tools.
fn tools(request: &Object<'_>, raw: &BTreeMap<String, &RawValue>) -> Result<Tools, RequestError> {
    let (mut tools, mut gateway_tools) = (Vec::new(), Vec::new());
    let definitions = match request.get("tools") {
        None => return Ok((tools, gateway_tools)),
        Some(Value::Array(definitions)) => definitions,
        Some(_) => return Err(RequestError::expected("tools", "an array")),
    };
    for (index, (json, definition)) in items(raw, "tools").zip(definitions).enumerate() {
        let path = format!("tools[{index}]");
        let Value::Object(definition) = definition else {
            return Err(RequestError::expected(&path, "an object"));
        };
        let json = json.to_owned();
        let kind = text_member(definition, "type", &format!("{path}.type"))?
            .ok_or_else(|| RequestError::expected(&format!("{path}.type"), "\"function\""))?;
        let server = definition.get("server_url").and_then(Value::as_str);
        match kind.as_str() {
            "toolbooth" => gateway_tools.push(json),
            "mcp" if server == Some("toolbooth") => gateway_tools.push(json),
            "function" => {
                tools.push(Tool::Function(function_tool(
                    definition,
                    json,
                    &format!("{path}.function"),
                )?));
            }
            _ => {
                let name =
                    definition.get(&kind).and_then(|it| it.get("name")).and_then(Value::as_str);
                let name = name.map(str::to_owned);
                tools.push(Tool::Other { kind, name, json });
            }
        }
    }
    let mut names: Vec<&str> = tools.iter().filter_map(Tool::name).collect();
    names.sort_unstable();
    let repeated = names.windows(2).find_map(|pair| match pair {
        [one, other] if one == other => Some(*one),
        _ => None,
    });
    if let Some(name) = repeated {
        let message = format!("There are several tools named \"{}\"", excerpt(name));
        return Err(RequestError::new("tools", message));
    }
    Ok((tools, gateway_tools))
}

fn function_tool(
    definition: &Object<'_>,
    json: Box<RawValue>,
    path: &str,
) -> Result<FunctionTool, RequestError> {
    #[derive(Deserialize)]
    struct Definition<'a> {
        #[serde(borrow)]
        function: Function<'a>,
    }
    #[derive(Deserialize)]
    struct Function<'a> {
        #[serde(borrow, default)]
        parameters: Option<&'a RawValue>,
    }
    let Some(Value::Object(function)) = definition.get("function") else {
        return Err(RequestError::expected(path, "an object"));
    };
    let member = |name: &str| format!("{path}.{name}");
    let name = text_member(function, "name", &member("name"))?
        .ok_or_else(|| RequestError::expected(&member("name"), "the tool's name"))?;
    let description = match function.get("description") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.as_ref().to_owned()),
        Some(_) => return Err(RequestError::expected(&member("description"), "a string")),
    };
    let strict = bool_member(function, "strict", &member("strict"))?.unwrap_or(false);
    let parameters = match function.get("parameters") {
        None | Some(Value::Null) => None,
        Some(Value::Object(_)) => serde_json::from_str::<Definition<'_>>(json.get())
            .ok()
            .and_then(|definition| definition.function.parameters.map(RawValue::to_owned)),
        Some(_) => {
            return Err(RequestError::expected(&member("parameters"), "a JSON Schema object"));
        }
    };
    Ok(FunctionTool { name, description, parameters, strict, json })
}

impl Tool {
    /// Its name, if it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Function(tool) => Some(&tool.name),
            Self::Other { name, .. } => name.as_deref(),
        }
    }
}

/// `tool_choice` (2api.ai, 3.1).
fn tool_choice(
    request: &Object<'_>,
    raw: &BTreeMap<String, &RawValue>,
    tools: &[Tool],
    has_gateway_tools: bool,
) -> Result<Option<ToolChoice>, RequestError> {
    const EXPECTED: &str = "\"none\", \"auto\", \"required\", a function or allowed_tools";
    let invalid = || RequestError::expected("tool_choice", EXPECTED);
    let choice = match request.get("tool_choice") {
        None => return Ok(None),
        Some(Value::String(word)) => match word.as_ref() {
            "none" => ToolChoice::None,
            "auto" => ToolChoice::Auto,
            "required" => ToolChoice::Required,
            _ => return Err(invalid()),
        },
        Some(Value::Object(choice)) => {
            let function = choice.get("function").and_then(|function| function.get("name"));
            let allowed = choice.get("allowed_tools");
            match choice.get("type").and_then(Value::as_str) {
                Some("function") | None if function.is_some() => {
                    let name = function.and_then(Value::as_str).ok_or_else(invalid)?;
                    ToolChoice::Function(name.to_owned())
                }
                Some("allowed_tools") => allowed_tools(allowed.ok_or_else(invalid)?)
                    .ok_or_else(invalid)?
                    .unwrap_or_else(|| other_choice(raw)),
                Some("function") | None => return Err(invalid()),
                Some(_) => other_choice(raw),
            }
        }
        Some(_) => return Err(invalid()),
    };
    let names: &[String] = match &choice {
        ToolChoice::Function(name) => std::slice::from_ref(name),
        ToolChoice::Allowed { names, .. } => names,
        ToolChoice::None | ToolChoice::Auto | ToolChoice::Required | ToolChoice::Other(_) => &[],
    };
    let is_unknown = |name: &&String| !tools.iter().any(|tool| tool.name() == Some(name.as_str()));
    if let Some(name) = names.iter().find(is_unknown).filter(|_| !has_gateway_tools) {
        let message = format!("tool_choice names \"{}\", which is not in tools", excerpt(name));
        return Err(RequestError::new("tool_choice", message));
    }
    Ok(Some(choice))
}

fn other_choice(raw: &BTreeMap<String, &RawValue>) -> ToolChoice {
    ToolChoice::Other(raw.get("tool_choice").map(|json| json.get().to_owned()).unwrap_or_default())
}

/// `tool_choice.allowed_tools`; `None` if it is invalid, `Some(None)` if it has tools other than functions.
fn allowed_tools(allowed: &Value<'_>) -> Option<Option<ToolChoice>> {
    let required = match allowed.get("mode")?.as_str()? {
        "auto" => false,
        "required" => true,
        _ => return None,
    };
    let mut names = Vec::new();
    for tool in allowed.get("tools")?.as_array()? {
        if tool.get("type").and_then(Value::as_str) != Some("function") {
            return Some(None);
        }
        names.push(tool.get("function")?.get("name")?.as_str()?.to_owned());
    }
    if names.is_empty() {
        return None;
    }
    Some(Some(ToolChoice::Allowed { required, names }))
}

#[cfg(test)]
mod tests;
