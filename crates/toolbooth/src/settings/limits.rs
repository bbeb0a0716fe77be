//! How large requests may be, and how long their tools may take.

use std::time::Duration;

use super::reader::{Row, VariableDoc, VariableReader, count};

/// How large requests may be, and how long their tools may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLimits {
    /// `MAX_BODY_BYTES`: the largest request body.
    pub max_body_bytes: usize,
    /// `MAX_ARGUMENT_BYTES`: the longest JSON text of one tool call's arguments, if a model wrote it.
    pub max_argument_bytes: usize,
    /// `MAX_TOOL_CALLS`: the most calls in one request.
    pub max_tool_calls: usize,
    /// `TOOL_TIMEOUT_MS`: how long a function in TypeScript or in another Worker may take.
    pub tool_timeout: Duration,
}

static MAX_BODY_BYTES: Row<usize> = Row::new(
    "MAX_BODY_BYTES",
    "the size of a request body, 1 to 8388608 | `262144` (256 KiB) | the default applies",
    256 * 1024,
    // A larger body could exhaust the isolate's 128 MB.
    |text| count(text, 8 * 1024 * 1024, " of bytes"),
);
static MAX_ARGUMENT_BYTES: Row<usize> = Row::new(
    "MAX_ARGUMENT_BYTES",
    "the size of one call's arguments in a model's answer (`/providers/…` and `/v1`), 1 to 262144. \
     Only matters if it is smaller than `MAX_BODY_BYTES` | `65536` (64 KiB) | the default applies",
    64 * 1024,
    |text| count(text, 256 * 1024, " of bytes"),
);
static MAX_TOOL_CALLS: Row<usize> = Row::new(
    "MAX_TOOL_CALLS",
    "the number of calls in one request, or in one answer of the chat gateway, 1 to 50 | `20` | \
     the default applies",
    20,
    |text| count(text, 50, ""),
);
/// How long a function may take where no variable says otherwise.
pub(crate) const DEFAULT_TOOL_TIMEOUT: Duration = Duration::from_secs(30);
static TOOL_TIMEOUT_MS: Row<Duration> = Row::new(
    "TOOL_TIMEOUT_MS",
    "how many milliseconds a function in TypeScript, or a tool in another Worker, may take, 1 to \
     600000; a step of a task may always take 14 minutes | `30000` | the default applies",
    DEFAULT_TOOL_TIMEOUT,
    |text| {
        let milliseconds = count(text, 600_000, " of milliseconds")?;
        Ok(Duration::from_millis(milliseconds as u64))
    },
);

pub(super) static DOCS: &[VariableDoc] =
    &[MAX_BODY_BYTES.doc(), MAX_ARGUMENT_BYTES.doc(), MAX_TOOL_CALLS.doc(), TOOL_TIMEOUT_MS.doc()];

impl RequestLimits {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        Self {
            max_body_bytes: reader.get(&MAX_BODY_BYTES),
            max_argument_bytes: reader.get(&MAX_ARGUMENT_BYTES),
            max_tool_calls: reader.get(&MAX_TOOL_CALLS),
            tool_timeout: reader.get(&TOOL_TIMEOUT_MS),
        }
    }
}
