//! How large requests may be.

use super::reader::{Row, VariableDoc, VariableReader, count};

/// How large requests may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestLimits {
    /// `MAX_BODY_BYTES`: the largest request body.
    pub max_body_bytes: usize,
    /// `MAX_ARGUMENT_BYTES`: the longest JSON text of one tool call's arguments, if a model wrote it.
    pub max_argument_bytes: usize,
    /// `MAX_TOOL_CALLS`: the most calls in one request.
    pub max_tool_calls: usize,
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

pub(super) static DOCS: &[VariableDoc] =
    &[MAX_BODY_BYTES.doc(), MAX_ARGUMENT_BYTES.doc(), MAX_TOOL_CALLS.doc()];

impl RequestLimits {
    pub(super) fn read(reader: &mut VariableReader<'_>) -> Self {
        Self {
            max_body_bytes: reader.get(&MAX_BODY_BYTES),
            max_argument_bytes: reader.get(&MAX_ARGUMENT_BYTES),
            max_tool_calls: reader.get(&MAX_TOOL_CALLS),
        }
    }
}
