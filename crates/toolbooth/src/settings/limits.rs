//! How large requests may be.

use super::reader::{Row, VariableDoc, VariableReader, count, documented};

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

/// A larger body could exhaust the isolate's 128 MB.
const BODY_CEILING: usize = 8 * 1024 * 1024;
const ARGUMENT_CEILING: usize = 256 * 1024;
const CALLS_CEILING: usize = 50;

static MAX_BODY_BYTES: Row<usize> = Row {
    name: "MAX_BODY_BYTES",
    doc: documented("The largest request body, 1 to 8388608 bytes. Default: 262144."),
    default: 256 * 1024,
    parse: |text| count(text, BODY_CEILING, " of bytes"),
};
static MAX_ARGUMENT_BYTES: Row<usize> = Row {
    name: "MAX_ARGUMENT_BYTES",
    doc: documented(
        "The longest arguments that a model may write for one call, 1 to 262144 bytes. Default: 65536.",
    ),
    default: 64 * 1024,
    parse: |text| count(text, ARGUMENT_CEILING, " of bytes"),
};
static MAX_TOOL_CALLS: Row<usize> = Row {
    name: "MAX_TOOL_CALLS",
    doc: documented("The most calls in one request, 1 to 50. Default: 20."),
    default: 20,
    parse: |text| count(text, CALLS_CEILING, ""),
};

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
