//! The conversation in Anthropic's format.

use std::borrow::Cow;

use super::thinking;
use crate::gateway::adapter::conversation::{self, Assistant, Conversation, Entry};
use crate::gateway::adapter::part::{self, Part};
use crate::gateway::adapter::{GatewayError, Job, Result};
use crate::gateway::{HistoryItem, Turn, ids};
use crate::wire::Json;
use crate::wire::anthropic::ToolResult;
use crate::wire::anthropic::request::{Block, Content, Message, Source};
use toolbooth::json;

/// `system` and `messages`. All results of a turn are in one user message, before any text.
pub(super) fn messages(
    conversation: Conversation<'_>,
) -> Result<(Vec<Block<'_>>, Vec<Message<'_>>)> {
    let mut messages = Messages::default();
    for entry in conversation.entries {
        match entry {
            Entry::User(parts) => messages.push("user", blocks(parts)?),
            Entry::Assistant(message) => assistant(message, &mut messages)?,
            Entry::Native(turn, results) => native(turn, results, &mut messages)?,
        }
    }
    Ok((blocks(conversation.system)?, messages.0))
}

/// Messages, of which no two in a row have the same role.
#[derive(Default)]
struct Messages<'t>(Vec<Message<'t>>);

impl<'t> Messages<'t> {
    fn push(&mut self, role: &'static str, blocks: Vec<Block<'t>>) {
        match self.0.last_mut() {
            _ if blocks.is_empty() => {}
            Some(Message { role: last, content: Content::Blocks(content) }) if *last == role => {
                content.extend(blocks);
            }
            _ => self.0.push(Message { role, content: Content::Blocks(blocks) }),
        }
    }
}

fn assistant<'t>(message: Assistant<'t>, messages: &mut Messages<'t>) -> Result<()> {
    let thinking = thinking::blocks(message.extra_content);
    let mut content = Vec::from_iter(thinking.into_iter().map(Block::Verbatim));
    for text in message.texts {
        content.push(Block::Text { text, cache_control: None });
    }
    let mut results = Vec::new();
    for call in message.calls {
        let id = ids::portable(call.id);
        if let Some(result) = call.result {
            results.push(result_block(id.clone(), result)?);
        }
        content.push(Block::ToolUse { id, name: call.name, input: call.arguments });
    }
    messages.push("assistant", content);
    messages.push("user", results);
    Ok(())
}

/// The rounds of compiled-in tools, as messages.
pub(super) fn rounds(job: &Job<'_>) -> Result<Vec<Json<'static>>> {
    let mut messages = Messages::default();
    for turn in job.request.history.iter().filter_map(HistoryItem::turn) {
        let results = turn.results.iter().map(|it| conversation::result(it, "", job.notes));
        native(turn, results.collect::<Result<_>>()?, &mut messages)?;
    }
    let messages = messages.0.iter();
    Ok(messages.map(|message| Json::Text(json::to_string(message).into())).collect())
}

fn native<'t>(
    turn: &'t Turn,
    results: Vec<conversation::ResultContent<'t>>,
    messages: &mut Messages<'t>,
) -> Result<()> {
    let content = Content::Native(Json::Text(turn.native.as_str().into()));
    messages.0.push(Message { role: "assistant", content });
    let ids = turn.results.iter().map(|result| result.call_id.as_str().into());
    let results = ids.zip(results).map(|(id, result)| result_block(id, result));
    messages.push("user", results.collect::<Result<_>>()?);
    Ok(())
}

fn result_block<'t>(
    id: Cow<'t, str>,
    result: conversation::ResultContent<'t>,
) -> Result<Block<'t>> {
    let parts = Some(blocks(result.parts)?).filter(|parts| !parts.is_empty());
    let is_error = result.is_error.then_some(true);
    Ok(Block::Result(ToolResult { tool_use_id: id, content: parts, is_error }))
}

/// Content blocks. Anthropic rejects empty text.
fn blocks(parts: Vec<Part<'_>>) -> Result<Vec<Block<'_>>> {
    let mut blocks = Vec::new();
    for Part { content, cache_control, path } in parts {
        let (is_document, source) = match content {
            part::Content::Text(text) => {
                if !text.is_empty() {
                    blocks.push(Block::Text { text, cache_control });
                }
                continue;
            }
            part::Content::Url(url) => (has_pdf_extension(&url), Source::Url { url }),
            part::Content::Data { media_type, base64 } => {
                let is_document = match media_type.as_ref() {
                    "image/jpeg" | "image/png" | "image/gif" | "image/webp" => false,
                    "application/pdf" => true,
                    _ => {
                        let message = format!(
                            "{path} has a media type that Anthropic does not accept; expected JPEG, PNG, \
                             GIF, WebP or PDF"
                        );
                        return Err(GatewayError::invalid(path, message));
                    }
                };
                (is_document, Source::Base64 { media_type, data: base64 })
            }
        };
        blocks.push(match is_document {
            true => Block::Document { source, cache_control },
            false => Block::Image { source, cache_control },
        });
    }
    Ok(blocks)
}

fn has_pdf_extension(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.to_ascii_lowercase().ends_with(".pdf")
}
