//! The line of the log for a chat request.

use serde::Serialize;

use toolbooth::host::Level;
use toolbooth::log::LogEvent;

/// A chat request: who used which model, and how much.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename = "chat")]
pub(super) struct ChatEvent<'a> {
    #[serde(rename = "gen_ai.operation.name")]
    pub(super) operation: &'static str,
    #[serde(rename = "gen_ai.provider.name", skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<&'a str>,
    #[serde(rename = "gen_ai.request.model", skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<&'a str>,
    pub(super) caller: String,
    #[serde(rename = "error.type", skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<&'static str>,
    #[serde(rename = "http.response.status_code")]
    pub(super) status: u16,
    pub(super) duration_ms: u64,
    #[serde(rename = "gen_ai.usage.input_tokens")]
    pub(super) input_tokens: u64,
    #[serde(rename = "gen_ai.usage.output_tokens")]
    pub(super) output_tokens: u64,
    #[serde(rename = "gen_ai.usage.cache_read.input_tokens")]
    pub(super) cached_tokens: u64,
    pub(super) tool_calls: usize,
    pub(super) rounds: usize,
    pub(super) attempts: usize,
}

impl LogEvent for ChatEvent<'_> {
    fn level(&self) -> Level {
        if self.status < 400 { Level::Info } else { Level::Warn }
    }
}
