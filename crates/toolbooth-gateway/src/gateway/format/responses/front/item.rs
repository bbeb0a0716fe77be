//! The objects of answers: the response, its items, and events.

use serde::Serialize;

use crate::wire::{Json, Members, Usage};
use toolbooth::json::Rendered;

/// A response, whole or as far as it has come.
#[derive(Serialize)]
pub(super) struct Response<'a> {
    pub(super) id: &'a str,
    pub(super) object: &'static str,
    /// In seconds since the Unix epoch.
    pub(super) created_at: u64,
    pub(super) status: &'static str,
    pub(super) error: Option<Failure<'a>>,
    pub(super) incomplete_details: Option<Incomplete>,
    pub(super) model: &'a str,
    /// The items, each as JSON.
    pub(super) output: Vec<Rendered<'a>>,
    pub(super) usage: Option<Counts>,
    /// What the request asked for.
    #[serde(flatten)]
    pub(super) request: &'a Members<'a>,
    #[serde(rename = "_2api", skip_serializing_if = "Option::is_none")]
    pub(super) report: Option<Rendered<'a>>,
}

/// Why a response has failed.
#[derive(Serialize)]
pub(super) struct Failure<'a> {
    /// One of OpenAI's list.
    pub(super) code: &'static str,
    pub(super) message: &'a str,
}

#[derive(Serialize)]
pub(super) struct Incomplete {
    pub(super) reason: &'static str,
}

/// The tokens of a response.
#[derive(Serialize)]
pub(super) struct Counts {
    input_tokens: u64,
    input_tokens_details: InputDetails,
    output_tokens: u64,
    output_tokens_details: OutputDetails,
    total_tokens: u64,
}

#[derive(Serialize)]
struct InputDetails {
    cached_tokens: u64,
    cache_write_tokens: u64,
}

#[derive(Serialize)]
struct OutputDetails {
    reasoning_tokens: u64,
}

impl From<&Usage> for Counts {
    fn from(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.prompt_tokens,
            input_tokens_details: InputDetails {
                cached_tokens: usage.cached_tokens,
                cache_write_tokens: usage.cache_write_tokens,
            },
            output_tokens: usage.completion_tokens,
            output_tokens_details: OutputDetails { reasoning_tokens: usage.reasoning_tokens },
            total_tokens: usage.total_tokens,
        }
    }
}

/// An item of the output. Each type has some of the members.
#[derive(Default, Serialize)]
pub(super) struct OutputItem<'a> {
    pub(super) id: &'a str,
    pub(super) r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<Vec<Part<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary: Option<Vec<Part<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) encrypted_content: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) call_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) execution: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) approval_request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) server_label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) namespace: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'a str>,
    /// A string, but an object for `tool_search_call`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<Json<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<&'a str>,
    /// `Some(None)` is `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Option<ToolFailure<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Rendered<'a>>,
    /// The base64 of a picture. `Some(None)` is `null`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<Option<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_format: Option<&'a str>,
}

/// Why a call of an MCP tool has failed.
#[derive(Serialize)]
pub(super) struct ToolFailure<'a> {
    pub(super) r#type: &'static str,
    pub(super) content: [ErrorText<'a>; 1],
}

#[derive(Serialize)]
pub(super) struct ErrorText<'a> {
    pub(super) r#type: &'static str,
    pub(super) text: &'a str,
}

/// A part of a message, or of a summary.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Part<'a> {
    OutputText { text: &'a str, annotations: [(); 0], logprobs: [(); 0] },
    Refusal { refusal: &'a str },
    SummaryText { text: &'a str },
}

/// An event of a stream. Each type has some of the members.
#[derive(Default, Serialize)]
pub(super) struct Event<'a> {
    pub(super) r#type: &'static str,
    pub(super) sequence_number: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) response: Option<&'a Response<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<Rendered<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) item_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) summary_index: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) part: Option<Part<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delta: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) refusal: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) arguments: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) logprobs: Option<[(); 0]>,
}
