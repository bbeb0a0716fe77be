//! Texts, images and documents, as parts of the gateway's messages.

use std::borrow::Cow;

use super::content::blocks;
use crate::gateway::raw_json::{nested, pair, typed};
use crate::gateway::{Fields, Notes, Result};
use toolbooth::json::Value;

/// The parts of a content.
pub(super) fn parts<'t>(
    content: Option<Value<'t>>,
    path: &str,
    losses: &'t Notes,
) -> Result<Vec<Value<'t>>> {
    let mut all = Vec::new();
    for block in blocks(content, path, losses)? {
        all.extend(part(block)?);
    }
    Ok(all)
}

pub(super) fn text_part(text: Cow<'_, str>) -> Value<'_> {
    typed("text", Value::String(text))
}

/// The parts that a block becomes. One that no provider but Anthropic knows is left out.
pub(super) fn part(mut block: Fields<'_>) -> Result<Vec<Value<'_>>> {
    let kind = block.required_text("type")?;
    let mut parts = match kind.as_ref() {
        "text" => vec![text_part(block.required_text("text")?)],
        "image" => image(&mut block)?.into_iter().collect(),
        "document" => document(&mut block)?,
        "search_result" => {
            let (title, source) = (block.required_text("title")?, block.required_text("source")?);
            let content = block.take("content");
            let head = text_part(format!("{title}\n{source}").into());
            [vec![head], parts(content, &block.path_of("content"), block.notes)?].concat()
        }
        "tool_reference" => {
            let name = block.required_text("tool_name")?;
            vec![text_part(format!("The tool {name} is available now.").into())]
        }
        _ => {
            // Its place has a position, which is no member.
            block.notes.drop_member(&format!("{}.{kind}", block.path));
            return Ok(Vec::new());
        }
    };
    // Providers reject empty text.
    let is_empty = |part: &Value<'_>| part.get("text").and_then(Value::as_str) == Some("");
    parts.retain(|part| !is_empty(part));
    let cache_control = block.take("cache_control");
    if let (Some(cache_control), Some(Value::Object(last))) = (cache_control, parts.last_mut()) {
        last.insert("cache_control".into(), cache_control);
    }
    block.finish();
    Ok(parts)
}

/// An image; `None` if it is a file that only Anthropic has.
fn image<'t>(block: &mut Fields<'t>) -> Result<Option<Value<'t>>> {
    let mut source = block.required_fields("source")?;
    let url = match source.required_text("type")?.as_ref() {
        "base64" => data_url(&mut source, &["image/jpeg", "image/png", "image/gif", "image/webp"])?,
        "url" => source.required_text("url")?,
        "file" => {
            source.take("file_id");
            source.notes.drop_member(&source.path_of("file_id"));
            return Ok(None);
        }
        _ => return source.expected("type", "one of base64, url, file"),
    };
    source.finish();
    Ok(Some(typed("image_url", nested("url", Value::String(url)))))
}

/// A document: a text, or a file.
fn document<'t>(block: &mut Fields<'t>) -> Result<Vec<Value<'t>>> {
    let title = block.text("title")?;
    let context = block.text("context")?;
    let mut source = block.required_fields("source")?;
    let data = match source.required_text("type")?.as_ref() {
        "base64" => data_url(&mut source, &["application/pdf"])?,
        "url" => source.required_text("url")?,
        "text" => {
            source.take("media_type");
            let text = source.required_text("data")?;
            source.finish();
            return Ok([title, context, Some(text)].into_iter().flatten().map(text_part).collect());
        }
        "content" => {
            let content = source.take("content");
            let inner = parts(content, &source.path_of("content"), source.notes)?;
            let head = [title, context].into_iter().flatten().map(text_part);
            return Ok(head.chain(inner).collect());
        }
        "file" => {
            source.take("file_id");
            source.notes.drop_member(&source.path_of("file_id"));
            return Ok(Vec::new());
        }
        _ => return source.expected("type", "one of base64, url, text, content, file"),
    };
    source.finish();
    let name = title.unwrap_or("document.pdf".into());
    let file = pair(("file_data", Value::String(data)), ("filename", Value::String(name)));
    let file = typed("file", Value::Object(file));
    Ok(context.map(text_part).into_iter().chain([file]).collect())
}

/// A `data:` URL of a source with base64.
fn data_url<'t>(source: &mut Fields<'t>, types: &[&str]) -> Result<Cow<'t, str>> {
    let media_type = source.required_text("media_type")?;
    if !types.contains(&media_type.as_ref()) {
        return source.expected("media_type", &format!("one of {}", types.join(", ")));
    }
    let data = source.required_text("data")?;
    Ok(format!("data:{media_type};base64,{data}").into())
}
