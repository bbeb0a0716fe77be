//! The tool calls in a model's response, in a form that is the same for all providers.

use std::borrow::Cow;

use crate::json::{self, JsonError, Object, Value};
use crate::text::excerpt;

/// A model's response.
#[derive(Debug, Default)]
pub(super) struct ModelResponse<'t> {
    /// The function calls, in order.
    pub(super) calls: Vec<ToolCall<'t>>,
    /// How many items the response consists of: calls, texts and others.
    pub(super) item_count: usize,
    /// Calls that the client must execute itself, by kind or function name.
    pub(super) client_calls: Vec<String>,
    /// Tools that the provider has executed itself, by kind.
    pub(super) hosted: Vec<String>,
    /// Whether there are several choices, of which only the first was read.
    pub(super) has_alternatives: bool,
    /// Why the model stopped.
    pub(super) finish_reason: FinishReason,
}

/// A call of a function.
#[derive(Debug)]
pub(super) struct ToolCall<'t> {
    /// Its index among the items of the response.
    pub(super) index: usize,
    /// The id that pairs the call with its result, unless it is missing or empty.
    pub(super) id: Option<Cow<'t, str>>,
    /// The function's name; empty if it is missing.
    pub(super) name: Cow<'t, str>,
    /// The arguments.
    pub(super) arguments: Arguments<'t>,
}

/// The arguments of a call.
#[derive(Debug)]
pub(super) enum Arguments<'t> {
    /// A string of JSON that the model wrote. An empty string means no arguments.
    Text(Cow<'t, str>),
    /// JSON that the provider has parsed.
    Json(Value<'t>),
    /// Unusable arguments, with an explanation for the model.
    Unreadable(&'static str),
}

/// Why the model stopped, as far as its provider reports it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum FinishReason {
    /// It finished, called tools, or the provider does not report a reason.
    #[default]
    Finished,
    /// It reached its token limit, so the last item may be incomplete.
    Length,
    /// A call failed, with an explanation and advice for the client.
    CallFailed(&'static str),
    /// A reason that should not occur together with tool calls.
    Other,
}

impl<'t> Arguments<'t> {
    /// The arguments of a call that may be incomplete.
    pub(super) const TRUNCATED: Self = Self::Unreadable(
        "The call was cut off at the token limit and did not run. \
         Please retry with shorter arguments or a higher limit.",
    );

    /// Arguments that a provider sends as an object. Absent ones are empty.
    pub(super) fn from_object(member: Option<Value<'t>>) -> Self {
        Self::Json(member.unwrap_or_else(no_arguments))
    }

    /// Arguments that a provider sends as a string of JSON. Absent ones are empty.
    pub(super) fn from_text(member: Option<Value<'t>>) -> Self {
        match member {
            None => Self::Json(no_arguments()),
            Some(Value::String(text)) => Self::Text(text),
            Some(_) => Self::Unreadable("The arguments must be a string of JSON."),
        }
    }

    /// Parses the arguments: at most `limit` bytes of JSON, and at most `values_left` values in a string.
    ///
    /// # Errors
    /// What is wrong with them, for the model: the position, never a value.
    pub(super) fn parse(self, limit: usize, values_left: &mut usize) -> Result<Value<'t>, String> {
        let size = match &self {
            Self::Text(text) => text.len(),
            Self::Json(value) => json::to_string(value).len(),
            Self::Unreadable(_) => 0,
        };
        if size > limit {
            return Err(format!("The arguments have {size} bytes of JSON; the limit is {limit}."));
        }
        match self {
            Self::Text(text) if text.is_empty() => Ok(no_arguments()),
            Self::Text(Cow::Borrowed(text)) => {
                json::parse_within(text, values_left).map_err(invalid_json)
            }
            // Most argument strings contain quotes, and therefore escapes.
            Self::Text(Cow::Owned(text)) => {
                json::parse_within(&text, values_left).map(Value::into_owned).map_err(invalid_json)
            }
            Self::Json(value) => Ok(value),
            Self::Unreadable(reason) => Err(reason.to_owned()),
        }
    }
}

fn no_arguments<'t>() -> Value<'t> {
    Value::Object(Object::default())
}

fn invalid_json(error: JsonError) -> String {
    format!("Invalid JSON in arguments. Please retry with valid JSON. Found: {error}.")
}

impl ModelResponse<'_> {
    /// Prevents the last call of a truncated response from running. Its arguments may look complete although
    /// they are not, because some providers repair the JSON.
    pub(super) fn block_truncated_call(&mut self) {
        if self.finish_reason == FinishReason::Length
            && let Some(call) = self.calls.last_mut()
            && call.index + 1 == self.item_count
        {
            call.arguments = Arguments::TRUNCATED;
        }
    }

    /// Leaves the calls of some functions to the client.
    pub(super) fn leave_to_client(&mut self, is_clients: impl Fn(&str) -> bool) {
        let calls = std::mem::take(&mut self.calls);
        let (left, kept): (Vec<_>, Vec<_>) =
            calls.into_iter().partition(|call| is_clients(&call.name));
        self.calls = kept;
        self.client_calls.extend(left.into_iter().map(|call| call.name.into_owned()));
    }

    /// What the client should know about the response. `had_calls` is whether it contained function calls,
    /// including those that were left to the client.
    pub(super) fn warnings(&self, had_calls: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.client_calls.is_empty() {
            warnings.push(format!(
                "Response contains tool_calls that are not run here. Client must execute tools and \
                 send results to continue conversation: {}",
                list_names(&self.client_calls)
            ));
        }
        if !self.hosted.is_empty() {
            warnings.push(format!(
                "The provider runs these itself, so they have no result here: {}",
                list_names(&self.hosted)
            ));
        }
        if !had_calls && self.client_calls.is_empty() {
            warnings.push("There are no tool calls to run".to_owned());
        }
        if self.has_alternatives {
            warnings.push("Only the first choice was read".to_owned());
        }
        match self.finish_reason {
            FinishReason::Finished => {}
            FinishReason::Length => warnings.push("The model's response was cut off".to_owned()),
            FinishReason::CallFailed(advice) => warnings.push(advice.to_owned()),
            FinishReason::Other if !had_calls => {}
            FinishReason::Other => warnings.push(
                "The model's response has tool calls, but its finish reason is a different one"
                    .to_owned(),
            ),
        }
        warnings
    }
}

/// The distinct names, up to as many as a person reads.
fn list_names(names: &[String]) -> String {
    const MAX_NAMES: usize = 8;
    let mut distinct: Vec<_> = Vec::new();
    for name in names.iter().map(|name| excerpt(name)) {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    if distinct.len() > MAX_NAMES {
        distinct.truncate(MAX_NAMES);
        distinct.push("…".to_owned());
    }
    distinct.join(", ")
}
