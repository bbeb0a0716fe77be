//! Checks of the contents that Anthropic gets as they are.

use crate::gateway::error::Result;
use crate::gateway::format::front::address;
use crate::gateway::format::front::unknown::{is_tool, may_define};
use crate::gateway::media_type;
use toolbooth::json::Value;

/// The blocks that define no tools, whatever the names of their members.
const KNOWN: [&str; 22] = [
    "advisor_tool_result",
    "bash_code_execution_tool_result",
    "code_execution_tool_result",
    "compaction",
    "container_upload",
    "document",
    "fallback",
    "image",
    "mcp_tool_result",
    "mcp_tool_use",
    "redacted_thinking",
    "search_result",
    "server_tool_use",
    "text",
    "text_editor_code_execution_tool_result",
    "thinking",
    "tool_reference",
    "tool_result",
    "tool_search_tool_result",
    "tool_use",
    "web_fetch_tool_result",
    "web_search_tool_result",
];

/// Whether Anthropic may get a message as it is: it has no other members than these, and only blocks that are known.
pub(super) fn is_known_message(message: &Value<'_>) -> bool {
    let members = message.as_object();
    members.is_some_and(|members| {
        members.iter().all(|(name, _)| matches!(&**name, "role" | "content"))
    }) && message.get("content").is_some_and(is_known)
}

/// Whether a content is a text, or has only blocks that Anthropic may get as they are. It adds types of blocks, which pass, too, unless they
/// can define what no limit has checked, or have an address that is not allowed.
pub(super) fn is_known(content: &Value<'_>) -> bool {
    let blocks = match content {
        Value::Null | Value::String(_) => return true,
        Value::Array(blocks) => blocks,
        _ => return false,
    };
    blocks.iter().all(|block| {
        let kind = block.get("type").and_then(Value::as_str);
        if let Some(kind) = kind.filter(|kind| !KNOWN.contains(kind)) {
            let may_harm = is_tool(kind) || may_define(block);
            return !may_harm && address::check("", block).is_ok();
        }
        let inner = [block.get("content"), block.get("source").and_then(|it| it.get("content"))];
        // A compaction can define tools, too.
        kind.is_some()
            && has_accepted_type(block)
            && block.get("tool_changes").is_none_or(Value::is_null)
            && inner.into_iter().flatten().all(|content| is_inner(kind, content))
    })
}

/// Whether the media type of a block has its registered name, which Anthropic requires. It takes no texts in base64.
fn has_accepted_type(block: &Value<'_>) -> bool {
    let member = |name| block.get("source").and_then(|source| source.get(name)?.as_str());
    let Some(media_type) = member("media_type") else { return true };
    let is_encoded_text = member("type") == Some("base64") && media_type::is_text(media_type);
    media_type::canonical(media_type) == media_type && !is_encoded_text
}

/// Checks the addresses in a content that passes. The inputs of calls, and the sources that Anthropic's own tools have found, may be any.
pub(super) fn check_addresses(path: &str, content: &Value<'_>) -> Result<()> {
    for (at, block) in content.as_array().unwrap_or_default().iter().enumerate() {
        let path = format!("{path}[{at}]");
        if let Some("text" | "image" | "document") = block.get("type").and_then(Value::as_str) {
            address::check(&path, block)?;
        }
        for (place, inner) in [("", Some(block)), (".source", block.get("source"))] {
            if let Some(content) = inner.and_then(|it| it.get("content")) {
                check_addresses(&format!("{path}{place}.content"), content)?;
            }
        }
    }
    Ok(())
}

/// The contents of results of Anthropic's own tools have types of their own.
fn is_inner(kind: Option<&str>, content: &Value<'_>) -> bool {
    let is_own =
        kind.is_some_and(|kind| kind.ends_with("_tool_result") && kind != "mcp_tool_result");
    is_own || is_known(content)
}
