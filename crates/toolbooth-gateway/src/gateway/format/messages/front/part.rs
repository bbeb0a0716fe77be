//! Texts, images and documents, as parts of the conversation.

use std::borrow::Cow;

use crate::gateway::conversation::{Part, PartContent, Source};
use crate::gateway::error::Result;
use crate::gateway::fields::Fields;
use crate::gateway::format::messages::front::content::blocks;
use crate::gateway::media_type;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::typed;
use toolbooth::json::Value;

/// The parts of a content.
pub(super) fn parts(content: Option<Value<'_>>, path: &str, losses: &Notes) -> Result<Vec<Part>> {
    let mut all = Vec::new();
    for block in blocks(content, path, losses)? {
        all.extend(part(block)?);
    }
    Ok(all)
}

/// A text as a block, for a content that is a string.
pub(super) fn text_block(text: Cow<'_, str>) -> Value<'_> {
    typed("text", Value::String(text))
}

/// The parts that a block becomes. One that no provider but Anthropic knows is left out.
pub(super) fn part(mut block: Fields<'_>) -> Result<Vec<Part>> {
    let kind = block.required_text("type")?;
    let path = block.path.clone();
    let text = |text: String| Part::text(text, path.as_str());
    let mut parts = match kind.as_ref() {
        "text" => vec![text(block.required_text("text")?.into_owned())],
        "image" => image(&mut block)?.into_iter().collect(),
        "document" => document(&mut block)?,
        "search_result" => {
            let (title, source) = (block.required_text("title")?, block.required_text("source")?);
            let content = block.take("content");
            let head = text(format!("{title}\n{source}"));
            let content = parts(content, &block.path_of("content"), block.notes)?;
            [vec![head], content].concat()
        }
        // What came before it, in short: the model would know nothing of that.
        "compaction" if block.get("content").is_some_and(|it| it.as_str().is_some()) => {
            vec![text(block.required_text("content")?.into_owned())]
        }
        "tool_reference" => {
            let name = block.required_text("tool_name")?;
            vec![text(format!("The tool {name} is available now."))]
        }
        _ => {
            // Its place has a position, which is no member.
            block.notes.drop_member(&format!("{}.{kind}", block.path));
            return Ok(Vec::new());
        }
    };
    // Providers reject empty text.
    parts.retain(|part| part.as_text() != Some(""));
    if let (Some(cache_control), Some(last)) = (block.take("cache_control"), parts.last_mut()) {
        last.cache_control = Some(cache_control.into_owned());
    }
    block.finish();
    Ok(parts)
}

/// An image; `None` if it is a file that only Anthropic has.
fn image(block: &mut Fields<'_>) -> Result<Option<Part>> {
    let path = block.path.clone();
    let mut source = block.required_fields("source")?;
    let image = match source.required_text("type")?.as_ref() {
        "base64" => {
            let types = ["image/jpeg", "image/png", "image/gif", "image/webp"];
            data(&mut source, |it| types.contains(&it), &format!("one of {}", types.join(", ")))?
        }
        "url" => Source::Url(source.required_text("url")?.into_owned()),
        kind => {
            lose(&source, kind);
            return Ok(None);
        }
    };
    source.finish();
    Ok(Some(Part::new(PartContent::Image { source: image, detail: None }, path)))
}

/// A document: a text, or a file.
fn document(block: &mut Fields<'_>) -> Result<Vec<Part>> {
    let path = block.path.clone();
    let text = |text: Cow<'_, str>| Part::text(text, path.as_str());
    let title = block.text("title")?;
    let context = block.text("context")?;
    let mut source = block.required_fields("source")?;
    let file = match source.required_text("type")?.as_ref() {
        "base64" => {
            let is_known = |it: &str| it == "application/pdf" || media_type::is_text(it);
            data(&mut source, is_known, "application/pdf or that of a text")?
        }
        "url" => Source::Url(source.required_text("url")?.into_owned()),
        "text" => {
            source.take("media_type");
            let data = source.required_text("data")?;
            source.finish();
            return Ok([title, context, Some(data)].into_iter().flatten().map(text).collect());
        }
        "content" => {
            let content = source.take("content");
            let inner = parts(content, &source.path_of("content"), source.notes)?;
            let head = [title, context].into_iter().flatten().map(text);
            return Ok(head.chain(inner).collect());
        }
        kind => {
            lose(&source, kind);
            return Ok(Vec::new());
        }
    };
    source.finish();
    // OpenAI wants a name for a file that is no text.
    let untitled = || file.text().is_none().then(|| "document.pdf".to_owned());
    let name = title.map(Cow::into_owned).or_else(untitled);
    let file = Part::new(PartContent::File { source: file, name }, path.as_str());
    Ok(context.map(text).into_iter().chain([file]).collect())
}

/// Names a source that only Anthropic knows, such as the id of a file.
fn lose(source: &Fields<'_>, kind: &str) {
    let name = if kind == "file" { "file_id" } else { kind };
    source.notes.drop_member(&source.path_of(name));
}

/// The data of a source with base64, which has one of the media types that are known.
fn data(
    source: &mut Fields<'_>,
    is_known: impl Fn(&str) -> bool,
    expected: &str,
) -> Result<Source> {
    let written = source.required_text("media_type")?;
    let media_type = media_type::canonical(&written);
    if !is_known(&media_type) {
        return source.expected("media_type", expected);
    }
    let base64 = source.required_text("data")?.split_ascii_whitespace().collect();
    Ok(Source::Data { media_type: media_type.into_owned(), base64 })
}
