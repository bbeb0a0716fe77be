//! Parses a corpus file into a request.
//!
//! The fuzz target and the native tests include this file, so that both send the same request. It does not depend on
//! the library.

#[path = "contract.rs"]
mod contract;

#[allow(unused_imports, reason = "not every crate that shares this file uses all of it")]
pub use contract::{Answer, check, operations};

/// A request.
pub struct Request<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub headers: &'static [(&'static str, &'static str)],
    pub body: &'a [u8],
}

const JSON: (&str, &str) = ("content-type", "application/json");

/// Sets of headers, by the name that selects them in a request line.
const HEADERS: &[(&str, &[(&str, &str)])] = &[
    ("none", &[]),
    ("text", &[("content-type", "text/plain")]),
    ("oxp-2.0", &[JSON, ("oxp-version", "2.0")]),
    // In MCP revision 2026-07-28, a call repeats parts of its body in headers.
    (
        "mcp-2026-07-28",
        &[
            JSON,
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "Calculator_Add"),
        ],
    ),
];

/// Parses a request: `POST /mcp mcp-2026-07-28`, a line feed, and the body. The header set is optional; the default
/// declares a JSON body. Bytes without such a line are the body of a call at the root.
pub fn request(bytes: &[u8]) -> Request<'_> {
    let read = || {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (line, body) = bytes.split_at(end);
        let mut words = str::from_utf8(line).ok()?.split(' ');
        let (method, path) = (words.next()?, words.next()?);
        let named = words.next().and_then(|word| HEADERS.iter().find(|(name, _)| *name == word));
        Some(Request {
            method,
            path,
            headers: named.map_or(&[JSON], |(_, all)| all),
            body: body.get(1..)?,
        })
    };
    read().unwrap_or(Request { method: "POST", path: "/tools/call", headers: &[JSON], body: bytes })
}
