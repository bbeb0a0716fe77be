//! Encodes the outcome of a call. Whatever a model could correct is a result with `isError`; everything
//! else is a JSON-RPC error.

use serde::Serialize;
use serde_json::Value;

use super::client_request::ClientCapabilities;
use super::elicitation::{Elicitation, describe_missing};
use super::error::{self, ErrorCode, ErrorData, McpError};
use super::message::Era;
use super::notifications::NotificationPreferences;
use super::response::{
    self, Caching, CallToolResult, Content, GetPromptResult, PromptMessage, ReadResourceResult,
    ResourceContents, ResultOptions, ResultType,
};
use crate::call::{InvalidInput, Outcome, Rejection, RequestContext, needs_client};
use crate::catalog::ServerInfo;
use crate::http::Response;
use crate::json::{self, Rendered};
use crate::tool::ToolError;

/// What encoding the outcome of a call needs to know of its request.
#[derive(Debug)]
pub(super) struct ResultContext {
    /// The id of the request.
    pub(super) id: Value,
    /// Its era.
    pub(super) era: Era,
    /// The server that responds.
    pub(super) server: &'static ServerInfo,
    /// What the client can be asked for.
    pub(super) elicitation: Elicitation,
    /// The notifications that the client wants.
    pub(super) notifications: NotificationPreferences,
    /// Whether the tool returns a list of content blocks.
    pub(super) returns_content: bool,
    /// What the tool runs for.
    pub(super) target: CallTarget,
}

/// What a tool runs for.
#[derive(Debug)]
pub(super) enum CallTarget {
    /// `tools/call`.
    Tool,
    /// `prompts/get`.
    Prompt {
        /// The prompt's description.
        description: String,
    },
    /// `resources/read`.
    Resource {
        /// The resource's address.
        uri: String,
        /// The media type of its text.
        mime_type: String,
    },
}

/// Encodes the outcome of a call.
pub(super) fn encode(
    outcome: Outcome,
    call: &ResultContext,
    context: &RequestContext<'_>,
) -> Response {
    match outcome {
        Outcome::Done { value, notifications, .. } => {
            call.notifications.prepend(&notifications, call.value(value))
        }
        Outcome::Failed { error, notifications, .. } => {
            call.notifications.prepend(&notifications, call.failure(&error))
        }
        Outcome::InvalidInput(input) => call.invalid_input(&input),
        Outcome::InputRequired { required, notifications } => {
            match call.elicitation.input_required(required) {
                Ok(result) => {
                    call.notifications.prepend(&notifications, call.input_required(&result))
                }
                Err(rejection) => call.rejection(&rejection, context),
            }
        }
        Outcome::Rejected(Rejection::MissingRequirements(missing)) => {
            if let Some(result) = call.elicitation.authorization_required(&missing) {
                return call.input_required(&result);
            }
            if let Some(error) = call.elicitation.authorization_error(&missing) {
                return error.encode(Some(&call.id));
            }
            let authorization: Vec<_> = missing.challenges.iter().map(Into::into).collect();
            let options = ResultOptions { authorization: &authorization, ..Default::default() };
            call.error(describe_missing(&missing), options)
        }
        Outcome::Rejected(Rejection::CannotAsk { lacking, .. }) => {
            let message = needs_client(&lacking);
            match call.era {
                Era::Legacy => call.error(message, ResultOptions::default()),
                Era::Modern => {
                    let required_capabilities = ClientCapabilities::required(&lacking);
                    McpError::new(ErrorCode::MissingClientCapability, message)
                        .data(ErrorData::MissingCapabilities { required_capabilities })
                        .encode(Some(&call.id))
                }
            }
        }
        Outcome::Rejected(rejection) => call.rejection(&rejection, context),
    }
}

impl ResultContext {
    fn result(&self, members: &impl Serialize, options: ResultOptions<'_>) -> Response {
        response::encode(&self.id, self.era, self.server, members, options)
    }

    fn input_required(&self, members: &impl Serialize) -> Response {
        let result_type = ResultType::InputRequired;
        self.result(members, ResultOptions { result_type, ..Default::default() })
    }

    fn rejection(&self, rejection: &Rejection, context: &RequestContext<'_>) -> Response {
        error::encode_rejection(rejection, Some(&self.id), context.pipeline)
    }

    /// Input that the tool's schema rejects. For a resource, it means that the address does not exist.
    fn invalid_input(&self, input: &InvalidInput) -> Response {
        let message = format!("The arguments are invalid. {input}");
        let error = match &self.target {
            CallTarget::Tool => return self.error(message, ResultOptions::default()),
            CallTarget::Prompt { .. } => McpError::new(ErrorCode::InvalidParams, message),
            CallTarget::Resource { uri, .. } => McpError::unknown_resource(uri, self.era),
        };
        error.encode(Some(&self.id))
    }

    /// The value that a tool returned.
    fn value(&self, value: Value) -> Response {
        match &self.target {
            CallTarget::Tool => match self.content_blocks(value) {
                Ok(blocks) => {
                    let content = blocks.into_iter().map(Content::Block).collect();
                    let result =
                        CallToolResult { content, structured_content: None, is_error: None };
                    self.result(&result, ResultOptions::default())
                }
                Err(value) => self.structured(&value),
            },
            CallTarget::Prompt { description } => {
                let content = match self.content_blocks(value) {
                    Ok(blocks) => blocks.into_iter().map(Content::Block).collect(),
                    Err(value) => vec![Content::text(text(value))],
                };
                let messages = content.into_iter().map(PromptMessage::user).collect();
                self.result(&GetPromptResult { description, messages }, ResultOptions::default())
            }
            CallTarget::Resource { uri, mime_type } => {
                let options =
                    ResultOptions { caching: Some(Caching::NEVER), ..ResultOptions::default() };
                match self.content_blocks(value) {
                    Ok(blocks) => {
                        let contents = |block| resource_contents(block, uri, mime_type);
                        let contents = blocks.iter().map(contents).collect();
                        self.result(&ReadResourceResult { contents }, options)
                    }
                    Err(value) => {
                        let text = &text(value);
                        let contents = vec![ResourceContents::Text { uri, mime_type, text }];
                        self.result(&ReadResourceResult { contents }, options)
                    }
                }
            }
        }
    }

    /// The content blocks in a value. They pass through unchanged: the build makes sure that the output
    /// schema of a tool that returns content accepts nothing else.
    ///
    /// # Errors
    /// The value, if the tool does not return content blocks.
    fn content_blocks(&self, value: Value) -> Result<Vec<Value>, Value> {
        match value {
            Value::Array(blocks) if self.returns_content => Ok(blocks),
            value => Err(value),
        }
    }

    /// A value as `structuredContent`, and the same JSON as text for clients that pass only text to the
    /// model. Before 2026-07-28, `structuredContent` had to be an object.
    fn structured(&self, value: &Value) -> Response {
        #[derive(Serialize)]
        struct Wrapped<'a> {
            result: &'a Value,
        }
        let json = match value {
            Value::Object(_) => json::to_string(value),
            value => json::to_string(&Wrapped { result: value }),
        };
        let result = CallToolResult {
            content: vec![Content::text(&*json)],
            structured_content: Some(Rendered(&json)),
            is_error: None,
        };
        self.result(&result, ResultOptions::default())
    }

    /// The error of a tool: text for the model, and all of it in `_meta` for programs.
    fn failure(&self, error: &ToolError) -> Response {
        let options = ResultOptions { error: Some(error), ..Default::default() };
        self.error(error.describe(), options)
    }

    /// A result that reports a failure: one text, because some clients show only the first. What is meant for
    /// programs is not `structuredContent`, because some clients check that against the output schema even
    /// then. Prompts and resources have no such result, so they get an error.
    pub(super) fn error(&self, text: String, options: ResultOptions<'_>) -> Response {
        match &self.target {
            CallTarget::Tool => {
                let content = vec![Content::text(text)];
                let result =
                    CallToolResult { content, structured_content: None, is_error: Some(true) };
                self.result(&result, options)
            }
            CallTarget::Prompt { .. } | CallTarget::Resource { .. } => {
                let error = McpError::new(ErrorCode::InternalError, text).status(200);
                error.encode(Some(&self.id))
            }
        }
    }
}

/// A value as text.
fn text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        value => json::to_string(&value),
    }
}

/// A content block as the contents of a resource.
fn resource_contents<'a>(
    block: &'a Value,
    uri: &'a str,
    mime_type: &'a str,
) -> ResourceContents<'a> {
    let member = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    match (member("type"), block.get("resource")) {
        ("resource", Some(resource)) => ResourceContents::Returned(resource),
        ("resource_link", _) => {
            ResourceContents::Text { uri, mime_type: "text/uri-list", text: member("uri") }
        }
        ("image" | "audio", _) => {
            ResourceContents::Blob { uri, mime_type: member("mimeType"), blob: member("data") }
        }
        _ => ResourceContents::Text { uri, mime_type, text: member("text") },
    }
}
