//! One exchange with the server: the request that some bytes stand for, and what an answer must be.
//!
//! The fuzz target and the native tests of crates/toolbooth share this file, so that a corpus file
//! means the same request to both. It names nothing of the library.

#[path = "form/mod.rs"]
mod form;

pub(crate) use form::{Answer, check};

/// A request.
pub(crate) struct Request<'a> {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) body: &'a [u8],
}

const JSON: (&str, &str) = ("content-type", "application/json");

/// What a call of `Calculator_Add` by MCP's revision 2026-07-28 repeats of its body.
const MODERN: &[(&str, &str)] = &[
    JSON,
    ("accept", "application/json, text/event-stream"),
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "Calculator_Add"),
];

/// Reads a request: the first byte picks the endpoint, the rest is the body.
///
/// The letters are for the people who read the corpus; every other byte is a plain call.
pub(crate) fn request(bytes: &[u8]) -> Request<'_> {
    let (first, body) = bytes.split_first().map_or((b'c', bytes), |(first, rest)| (*first, rest));
    let call: &[_] = &[JSON];
    let (method, path, headers): (_, _, &[_]) = match first {
        b'a' => ("POST", "/call", call),
        b'b' => ("POST", "/oxp/tools/call", call),
        b'e' => ("POST", "/otc/tools/call", call),
        b'f' => ("POST", "/oxp/1.0/tools/call", call),
        b'g' => ("GET", "/otc/tools", &[]),
        b'j' => ("POST", "/jsonrpc", call),
        b'M' => ("POST", "/mcp", call),
        b'N' => ("POST", "/mcp", MODERN),
        b'r' => ("POST", "/opentool/call", call),
        b's' => ("POST", "/opentool/streamCall", call),
        b'C' => ("POST", "/providers/openai/call", call),
        b'R' => ("POST", "/providers/openai-responses/call", call),
        b'A' => ("POST", "/providers/anthropic/call", call),
        b'G' => ("POST", "/providers/gemini/call", call),
        b'v' => ("POST", "/tools/call", &[JSON, ("oxp-version", "2.0")]),
        b'p' => ("POST", "/tools/call", &[("content-type", "text/plain")]),
        b't' => ("GET", "/tools", &[]),
        b'h' => ("GET", "/health", &[]),
        b'n' => ("POST", "/nowhere", call),
        b'm' => ("PUT", "/tools/call", call),
        b'x' => ("POST", "/xaibo/execute", call),
        b'o' => ("OPTIONS", "/tools/call", &[]),
        _ => ("POST", "/tools/call", call),
    };
    Request { method, path, headers, body }
}
