//! Encodes the outcome of a call. Whatever a model could correct is a result with `isError`; everything
//! else is a JSON-RPC error.

use serde_json::Value;

use super::challenge;
use super::client_request::{InputRequiredResult, RequiredCapabilities};
use super::elicitation::{Elicitation, describe_missing};
use super::error::{self, ErrorCode, ErrorData, McpError};
use super::message::{Era, McpRequest};
use super::response::{
    CacheScope, Caching, CallToolResult, CompleteResult, Content, GetPromptResult, PromptMessage,
    ReadResourceResult, ResourceContents, ResultOptions, ResultType,
};
use super::tasks;
use crate::call::{InvalidInput, Outcome, Rejection, RequestContext, needs_client};
use crate::catalog::Tool;
use crate::http::Response;
use crate::json::{self, Rendered};
use crate::protocol::oxp::AuthorizationChallenge;

/// What encoding the outcome of a call needs to know of its request.
#[derive(Debug)]
pub(super) struct ResultContext<'t> {
    pub(super) request: McpRequest<'t>,
    pub(super) elicitation: Elicitation,
    /// The tool, if there is one.
    pub(super) tool: Option<&'static Tool>,
    pub(super) target: CallTarget,
}

/// What a tool runs for.
#[derive(Debug)]
pub(super) enum CallTarget {
    Tool,
    Prompt { description: String },
    Resource { uri: String, mime_type: String },
    Completion,
}

pub(super) fn encode(
    outcome: Outcome,
    call: &ResultContext<'_>,
    context: &RequestContext<'_>,
) -> Response {
    if let (CallTarget::Completion, Some(values)) = (&call.target, completed(&outcome)) {
        return call.request.result(&CompleteResult::of(values));
    }
    if let Outcome::Rejected(rejection) = &outcome
        && context.shows_protected
        && let Some(response) = challenge::respond(rejection, call, context)
    {
        return response;
    }
    match outcome {
        Outcome::Done { value, .. } => call.value(value),
        Outcome::Failed { error, .. } => {
            let options = ResultOptions { error: Some(&error), ..Default::default() };
            call.error(error.describe(), options)
        }
        Outcome::InvalidInput(input) => call.invalid_input(&input),
        Outcome::InputRequired { required, .. } => {
            match call.elicitation.input_required(required) {
                Ok(result) => call.input_required(&result),
                Err(rejection) => call.rejection(&rejection, context),
            }
        }
        Outcome::Rejected(Rejection::MissingRequirements(missing)) => {
            match call.elicitation.authorization(&missing, &call.request, context.query) {
                Some(Ok(result)) => call.input_required(&result),
                Some(Err(error)) => error.encode(Some(&call.request.id)),
                None => {
                    let authorization: Vec<_> =
                        missing.challenges.iter().map(AuthorizationChallenge::new).collect();
                    let options =
                        ResultOptions { authorization: &authorization, ..Default::default() };
                    call.error(describe_missing(&missing), options)
                }
            }
        }
        Outcome::Rejected(Rejection::CannotAsk { lacking, .. }) => {
            let message = needs_client(&lacking);
            if call.request.era == Era::Legacy {
                return call.error(message, ResultOptions::default());
            }
            let required_capabilities = RequiredCapabilities::required(&lacking);
            McpError::new(ErrorCode::MISSING_CAPABILITY, message)
                .data(ErrorData::MissingCapabilities { required_capabilities })
                .encode(Some(&call.request.id))
        }
        Outcome::Rejected(rejection @ Rejection::NeedsTask { .. }) => {
            let message = rejection.describe().to_string();
            if call.request.era == Era::Legacy {
                return call.error(message, ResultOptions::default());
            }
            tasks::undeclared(message).encode(Some(&call.request.id))
        }
        Outcome::Rejected(rejection) => call.rejection(&rejection, context),
    }
}

/// What a tool completes; `None` is an error. While a user types, nothing is asked: there are no values until other arguments
/// are filled in, or until the user has authorized the tool by reading.
fn completed(outcome: &Outcome) -> Option<Vec<String>> {
    match outcome {
        Outcome::Done { value: Value::Array(values), .. } => {
            Some(values.iter().filter_map(Value::as_str).map(str::to_owned).collect())
        }
        Outcome::InvalidInput(_)
        | Outcome::InputRequired { .. }
        | Outcome::Rejected(Rejection::MissingRequirements(_) | Rejection::CannotAsk { .. }) => {
            Some(Vec::new())
        }
        _ => None,
    }
}

impl ResultContext<'_> {
    #[inline(never)]
    fn input_required(&self, result: &InputRequiredResult) -> Response {
        let options =
            ResultOptions { result_type: ResultType::InputRequired, ..Default::default() };
        self.request.result_with(result, options)
    }

    fn rejection(&self, rejection: &Rejection, context: &RequestContext<'_>) -> Response {
        error::encode_rejection(rejection, Some(&self.request.id), context.pipeline)
    }

    /// Input that the tool's schema rejects. For a resource, it means that the address does not exist.
    #[inline(never)]
    fn invalid_input(&self, input: &InvalidInput) -> Response {
        let message = format!("The arguments are invalid. {input}");
        let error = match &self.target {
            CallTarget::Tool => return self.error(message, ResultOptions::default()),
            CallTarget::Prompt { .. } | CallTarget::Completion => McpError::invalid_params(message),
            CallTarget::Resource { uri, .. } => McpError::unknown_resource(uri, self.request.era),
        };
        error.encode(Some(&self.request.id))
    }

    /// The value that a tool returned. Content blocks pass through unchanged: the build makes sure that the output
    /// schema of a tool that returns content accepts nothing else.
    fn value(&self, value: Value) -> Response {
        let content: Vec<_> = match value {
            Value::Array(blocks) if self.tool.is_some_and(|tool| tool.content) => {
                blocks.into_iter().map(Content::Block).collect()
            }
            value if matches!(self.target, CallTarget::Tool) => return self.structured(value),
            Value::String(text) => vec![Content::text(text)],
            value => vec![Content::text(json::to_string(&value))],
        };
        match &self.target {
            CallTarget::Tool | CallTarget::Completion => {
                self.request.result(&CallToolResult { content, ..Default::default() })
            }
            CallTarget::Prompt { description } => {
                let messages =
                    content.into_iter().map(|content| PromptMessage::User { content }).collect();
                self.request.result(&GetPromptResult { description, messages })
            }
            CallTarget::Resource { uri, mime_type } => {
                let contents = content.iter().map(|one| resource_contents(one, uri, mime_type));
                let result = ReadResourceResult { contents: contents.collect::<Vec<_>>() };
                // The tool ran for this request.
                let caching = Some(Caching { ttl_ms: 0, cache_scope: CacheScope::Private });
                self.request.result_with(&result, ResultOptions { caching, ..Default::default() })
            }
        }
    }

    /// A value as `structuredContent`, and the same JSON as text for clients that pass only text to the
    /// model. Before 2026-07-28, `structuredContent` had to be an object.
    fn structured(&self, value: Value) -> Response {
        let json = json::to_string(&match value {
            Value::Object(_) => value,
            value => json::object([("result", value)]),
        });
        self.request.result(&CallToolResult {
            content: vec![Content::text(&*json)],
            structured_content: Some(Rendered(&json)),
            is_error: None,
        })
    }

    /// A result that reports a failure: one text, because some clients show only the first. What is meant for
    /// programs is not `structuredContent`, because some clients check that against the output schema even
    /// then. Prompts and resources have no such result, so they get an error.
    #[inline(never)]
    pub(super) fn error(&self, text: String, options: ResultOptions<'_>) -> Response {
        match &self.target {
            CallTarget::Tool => {
                let content = vec![Content::text(text)];
                let result = CallToolResult { content, is_error: Some(true), ..Default::default() };
                self.request.result_with(&result, options)
            }
            CallTarget::Prompt { .. } | CallTarget::Resource { .. } | CallTarget::Completion => {
                let error = McpError::new(ErrorCode::INTERNAL_ERROR, text).status(200);
                error.encode(Some(&self.request.id))
            }
        }
    }
}

/// A content block as the contents of a resource.
fn resource_contents<'a>(
    content: &'a Content<'_>,
    uri: &'a str,
    mime_type: &'a str,
) -> ResourceContents<'a> {
    let block = match content {
        Content::Text { text, .. } => return ResourceContents::Text { uri, mime_type, text },
        Content::Block(block) => block,
    };
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
