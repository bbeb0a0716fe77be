//! The conversation in Anthropic's format.

use super::thinking;
use crate::gateway::Turn;
use crate::gateway::adapter::TranslateError;
use crate::gateway::adapter::conversation::{Assistant, Call, Conversation, Entry};
use crate::gateway::adapter::part::{Content, Part};
use crate::gateway::ids;
use crate::gateway::node::{Members, Node, members_of, object};

/// `system` and `messages`. All results of a turn are in one user message, before any text.
pub(super) fn write_messages<'t>(
    conversation: Conversation<'t>,
    body: &mut Members<'t>,
) -> Result<(), TranslateError> {
    let system = blocks(conversation.system)?;
    if !system.is_empty() {
        body.put("system", system);
    }
    let mut messages = Messages::default();
    for entry in conversation.entries {
        match entry {
            Entry::User(parts) => messages.push("user", blocks(parts)?),
            Entry::Assistant(message) => assistant(message, &mut messages)?,
            Entry::Native(turn) => native(turn, &mut messages),
        }
    }
    body.put("messages", messages.finish());
    Ok(())
}

/// Messages, of which no two in a row have the same role.
#[derive(Default)]
struct Messages<'t> {
    finished: Vec<Node<'t>>,
    role: &'static str,
    content: Vec<Node<'t>>,
}

impl<'t> Messages<'t> {
    fn push(&mut self, role: &'static str, content: Vec<Node<'t>>) {
        if role != self.role {
            self.flush();
            self.role = role;
        }
        self.content.extend(content);
    }

    fn flush(&mut self) {
        let content = std::mem::take(&mut self.content);
        if !content.is_empty() {
            self.finished.push(object([("role", self.role.into()), ("content", content.into())]));
        }
    }

    /// A message whose content is JSON already.
    fn push_native(&mut self, role: &'static str, content: &'t str) {
        self.flush();
        self.role = "";
        self.finished.push(object([("role", role.into()), ("content", Node::Raw(content.into()))]));
    }

    fn finish(mut self) -> Vec<Node<'t>> {
        self.flush();
        self.finished
    }
}

fn assistant<'t>(
    message: Assistant<'t>,
    messages: &mut Messages<'t>,
) -> Result<(), TranslateError> {
    let mut content: Vec<Node<'t>> =
        thinking::blocks(message.extra_content).into_iter().map(Node::from).collect();
    for text in message.texts {
        if !text.is_empty() {
            content.push(object([("type", "text".into()), ("text", text.into())]));
        }
    }
    let mut results = Vec::new();
    for call in message.calls {
        let Call { id, name, arguments, result, .. } = call;
        let id = ids::portable(id);
        content.push(object([
            ("type", "tool_use".into()),
            ("id", id.clone().into()),
            ("name", name.into()),
            ("input", arguments.into()),
        ]));
        if let Some(result) = result {
            let mut block =
                members_of([("type", "tool_result".into()), ("tool_use_id", id.into())]);
            let parts = blocks(result.parts)?;
            if !parts.is_empty() {
                block.put("content", parts);
            }
            if result.is_error {
                block.put("is_error", true);
            }
            results.push(block.into());
        }
    }
    messages.push("assistant", content);
    messages.push("user", results);
    Ok(())
}

fn native<'t>(turn: &'t Turn, messages: &mut Messages<'t>) {
    messages.push_native("assistant", &turn.native);
    let results = turn.results.iter().map(|result| {
        let mut block = members_of([
            ("type", "tool_result".into()),
            ("tool_use_id", result.call_id.as_str().into()),
        ]);
        if !result.content.is_empty() {
            block.put("content", result.content.as_str());
        }
        if result.is_error {
            block.put("is_error", true);
        }
        block.into()
    });
    messages.push("user", results.collect());
}

/// Content blocks. Anthropic rejects empty text.
fn blocks<'t>(parts: Vec<Part<'t>>) -> Result<Vec<Node<'t>>, TranslateError> {
    let mut blocks = Vec::new();
    for Part { content, cache_control, path } in parts {
        let mut block = match content {
            Content::Text(text) if text.is_empty() => continue,
            Content::Text(text) => members_of([("type", "text".into()), ("text", text.into())]),
            Content::Url(url) => {
                let kind = if has_pdf_extension(&url) { "document" } else { "image" };
                let source = object([("type", "url".into()), ("url", url.into())]);
                members_of([("type", kind.into()), ("source", source)])
            }
            Content::Data { media_type, base64 } => {
                let kind = match media_type.as_ref() {
                    "image/jpeg" | "image/png" | "image/gif" | "image/webp" => "image",
                    "application/pdf" => "document",
                    _ => {
                        let message = format!(
                            "{path} has a media type that Anthropic does not accept; expected JPEG, PNG, \
                             GIF, WebP or PDF"
                        );
                        return Err(TranslateError::invalid(&path, message));
                    }
                };
                let source = [
                    ("type", "base64".into()),
                    ("media_type", media_type.into()),
                    ("data", base64.into()),
                ];
                members_of([("type", kind.into()), ("source", object(source))])
            }
        };
        block.put_some("cache_control", cache_control);
        blocks.push(block.into());
    }
    Ok(blocks)
}

fn has_pdf_extension(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.len() >= 4
        && path.get(path.len() - 4..).is_some_and(|end| end.eq_ignore_ascii_case(".pdf"))
}
