//! The conversation in Anthropic's format.

use crate::gateway::conversation::{
    HistoryItem, Part, PartContent, Source as ClientSource, ToolResult as CallResult, Turn,
};
use crate::gateway::error::Result;
use crate::gateway::format::adapter::conversation::{self, Assistant, Conversation, Entry};
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::messages::adapter::thinking;
use crate::gateway::ids;
use crate::gateway::notes::Notes;
use crate::wire::Json;
use crate::wire::anthropic::ToolResult;
use crate::wire::anthropic::request::{Block, Content, Message, Source};
use toolbooth::json;

/// `system` and `messages`. All results of a turn are in one user message, before any text.
pub(super) fn messages<'e>(
    conversation: &'e Conversation<'_>,
    notes: &'e Notes,
) -> Result<(Vec<Block<'e>>, Vec<Message<'e>>)> {
    let mut messages = Messages::default();
    for entry in &conversation.entries {
        match entry {
            Entry::User(parts) => messages.push("user", blocks(parts.iter().copied(), notes)?),
            Entry::Assistant(message) => assistant(message, &mut messages, notes)?,
            Entry::Native(turn) => native(turn, &mut messages, notes)?,
        }
    }
    let system = blocks(conversation.system.iter().copied(), notes)?;
    Ok((system, messages.finish(notes)?))
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

    /// The messages as Anthropic accepts them. The error: none is left.
    fn finish(mut self, notes: &Notes) -> Result<Vec<Message<'t>>> {
        if let Some(Message { role: "assistant", content: Content::Blocks(blocks) }) =
            self.0.last_mut()
            && let Some(Block::Text { text, .. }) = blocks.last_mut()
        {
            // Anthropic rejects white space at the end of what it goes on with.
            *text = text.trim_end().to_owned().into();
        }
        match self.0.first() {
            None => return Err(conversation::is_empty()),
            Some(Message { role: "user", .. }) => {}
            Some(_) => {
                let text = conversation::begins_with_assistant(notes).into();
                let blocks = vec![Block::Text { text, cache_control: None }];
                self.0.insert(0, Message { role: "user", content: Content::Blocks(blocks) });
            }
        }
        Ok(self.0)
    }
}

fn assistant<'e>(
    assistant: &'e Assistant<'_>,
    messages: &mut Messages<'e>,
    notes: &'e Notes,
) -> Result<()> {
    let thinking = thinking::blocks(&assistant.message.extra_content);
    let mut content = Vec::from_iter(thinking.cloned().map(Block::Verbatim));
    let text = |text: &'e str| Block::Text { text: text.into(), cache_control: None };
    content.extend(assistant.texts(notes).filter(|text| !text.trim().is_empty()).map(text));
    let mut results = Vec::new();
    for answered in assistant.calls(notes) {
        let id = ids::portable(answered.call.id.as_ref().into());
        if let Some(result) = answered.result {
            results.push(result_block(&answered.call.id, result, notes)?);
        }
        let (name, input) = (answered.call.name.as_ref().into(), answered.arguments);
        content.push(Block::ToolUse { id, name, input });
    }
    messages.push("assistant", content);
    messages.push("user", results);
    Ok(())
}

/// The rounds of compiled-in tools, as messages.
pub(super) fn rounds(job: &Job<'_>) -> Result<Vec<Json<'static>>> {
    let mut messages = Messages::default();
    for turn in job.request.history.iter().filter_map(HistoryItem::turn) {
        native(turn, &mut messages, job.notes)?;
    }
    let messages = messages.0.iter();
    Ok(messages.map(|message| Json::Text(json::to_string(message).into())).collect())
}

fn native<'t>(turn: &'t Turn, messages: &mut Messages<'t>, notes: &Notes) -> Result<()> {
    let content = Content::Native(Json::Text(turn.native.as_str().into()));
    messages.0.push(Message { role: "assistant", content });
    let results = turn.results.iter();
    let results = results.map(|result| result_block(&result.call_id, result, notes));
    messages.push("user", results.collect::<Result<_>>()?);
    Ok(())
}

fn result_block<'t>(id: &'t str, result: &'t CallResult, notes: &Notes) -> Result<Block<'t>> {
    let parts = blocks(result.content.0.iter(), notes)?;
    Ok(Block::Result(ToolResult {
        tool_use_id: ids::portable(id.into()),
        content: (!parts.is_empty()).then_some(parts),
        is_error: result.is_error.then_some(true),
    }))
}

/// Content blocks. Anthropic rejects texts of nothing but white space.
fn blocks<'t>(parts: impl Iterator<Item = &'t Part>, notes: &Notes) -> Result<Vec<Block<'t>>> {
    let mut blocks = Vec::new();
    for part in parts {
        blocks.extend(block(part, notes)?);
    }
    Ok(blocks)
}

/// The block that a part becomes; `None` if Anthropic cannot get it.
fn block<'t>(part: &'t Part, notes: &Notes) -> Result<Option<Block<'t>>> {
    let Part { content, cache_control, path, .. } = part;
    let cache_control = cache_control.clone();
    let not_shown = |cache_control| Block::Text {
        text: conversation::not_shown(part, notes).into(),
        cache_control,
    };
    let (is_document, source) = match content {
        PartContent::Text(text) | PartContent::Refusal(text) => {
            let text = (!text.trim().is_empty()).then(|| text.as_str().into());
            return Ok(text.map(|text| Block::Text { text, cache_control }));
        }
        PartContent::Image { source, .. } | PartContent::File { source, .. } => match source {
            ClientSource::Data { media_type, base64 } => {
                let base64 = || {
                    let (media_type, data) = (media_type.into(), base64.into());
                    Source::Base64 { media_type, data }
                };
                match media_type.as_str() {
                    "image/jpeg" | "image/png" | "image/gif" | "image/webp" => (false, base64()),
                    "application/pdf" => (true, base64()),
                    _ => {
                        let Some(data) = source.text() else {
                            return Ok(Some(not_shown(cache_control)));
                        };
                        (true, Source::Text { media_type: "text/plain", data: data.into() })
                    }
                }
            }
            ClientSource::Url(url) => (has_pdf_extension(url), Source::Url { url: url.into() }),
            ClientSource::Id(_) => return Err(part.unreadable_file()),
        },
        PartContent::Audio { .. } => return Ok(Some(not_shown(cache_control))),
        PartContent::Other(kind) => {
            notes.drop_member(&format!("{path} ({kind})"));
            return Ok(None);
        }
    };
    if let PartContent::Image { detail: Some(_), .. } = content {
        notes.drop_member(&format!("{path}.image_url.detail"));
    }
    Ok(Some(match is_document {
        true => Block::Document { source, cache_control },
        false => Block::Image { source, cache_control },
    }))
}

fn has_pdf_extension(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    path.to_ascii_lowercase().ends_with(".pdf")
}
