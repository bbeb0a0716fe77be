//! Who the server is and what it can do.

use super::message::{LEGACY, MODERN, McpRequest};
use super::reply::{SERVER_INFO, Scope};
use crate::http::Response;
use crate::json::Value;

/// What clients may ask for. Nothing that is compiled in changes while it is served.
macro_rules! capabilities {
    () => {
        r#""tools":{},"resources":{},"prompts":{},"completions":{}"#
    };
}
const CAPABILITIES: &str = concat!("{", capabilities!(), "}");
/// The revisions before have a capability for log messages, which come with calls.
const LEGACY_CAPABILITIES: &str = concat!("{", capabilities!(), r#","logging":{}}"#);

/// `server/discover`. Like the reference servers it names modern revisions only, though legacy ones
/// are served too.
pub(super) fn discover(request: &McpRequest<'_>) -> Response {
    let members = format!(r#""supportedVersions":["{MODERN}"],"capabilities":{CAPABILITIES}"#);
    request.kept(&members, Scope::Public)
}

/// `initialize`: the version that was asked for, if it is served, else the newest that has this
/// method at all. No session begins.
pub(super) fn initialize(request: &McpRequest<'_>) -> Response {
    let asked = request.params.get("protocolVersion").and_then(Value::as_str);
    let [newest, ..] = LEGACY;
    let version = LEGACY.into_iter().find(|version| asked == Some(version)).unwrap_or(newest);
    request.complete(&format!(
        r#""protocolVersion":"{version}","capabilities":{LEGACY_CAPABILITIES},"serverInfo":{SERVER_INFO}"#
    ))
}
