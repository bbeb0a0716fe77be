//! About how many tokens a request has, where no provider counts them.

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::conversation::tool::{FunctionTool, Tool};
use crate::gateway::conversation::{Assistant, HistoryItem, MessageBody, Part};

/// A token has about four bytes of a text.
const BYTES_PER_TOKEN: u64 = 4;

/// An image has about so many tokens, however many bytes it has.
const MEDIA_TOKENS: u64 = 1600;

/// The tokens of a request: an estimate.
pub(super) fn input_tokens(request: &ChatRequest) -> u64 {
    let history = request.history.iter().map(|item| match item {
        HistoryItem::Message(message) => match &message.body {
            MessageBody::System(parts)
            | MessageBody::Developer(parts)
            | MessageBody::User(parts) => of_parts(parts),
            MessageBody::Assistant(assistant) => of_assistant(assistant),
            MessageBody::Result(result) => of_parts(&result.content.0),
        },
        HistoryItem::Turn(turn) => {
            let results = turn.results.iter().map(|it| of_parts(&it.content.0));
            results.fold(tokens_of(&turn.message), u64::saturating_add)
        }
    });
    history.chain(request.tools.iter().map(of_tool)).fold(1, u64::saturating_add)
}

/// The tokens of a tool. Its definition is not written for that: agents have tens of kilobytes of them.
fn of_tool(tool: &Tool) -> u64 {
    match tool {
        Tool::Function(function) => tokens(of_function(function)),
        Tool::Custom { json, .. } | Tool::Hosted { json, .. } => tokens(json.get().len()),
    }
}

/// The bytes of a function's definition.
fn of_function(function: &FunctionTool) -> usize {
    if let Some(written) = &function.written {
        return written.get().len();
    }
    let description = function.description.as_ref().map_or(0, String::len);
    let parameters = function.parameters.as_ref().map_or(0, |json| json.get().len());
    function.name.len() + description + parameters
}

/// The tokens of an assistant message with its calls.
fn of_assistant(assistant: &Assistant) -> u64 {
    let calls = assistant.calls.iter();
    let calls = calls.map(|call| tokens(call.name.len() + call.arguments.text().len()));
    calls.fold(of_parts(&assistant.content), u64::saturating_add)
}

fn of_parts(parts: &[Part]) -> u64 {
    let of_part = |part: &Part| match part.as_text() {
        Some(text) => tokens(text.len()),
        None => MEDIA_TOKENS,
    };
    parts.iter().map(of_part).fold(0, u64::saturating_add)
}

/// The tokens of so many bytes.
fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX).div_ceil(BYTES_PER_TOKEN)
}

/// The tokens of JSON: an estimate.
pub(in crate::gateway) fn tokens_of(json: &str) -> u64 {
    let (mut bytes, mut media) = (json.len(), 0_u64);
    let urls = json.split("\"data:").skip(1);
    // Gemini has the data of a medium in a member of its own.
    let parts = json.split("\"inlineData\":").skip(1);
    let parts = parts.filter_map(|part| Some(part.split_once("\"data\":\"")?.1));
    for data in urls.chain(parts) {
        bytes = bytes.saturating_sub(data.find('"').unwrap_or(data.len()));
        media += 1;
    }
    tokens(bytes).saturating_add(media.saturating_mul(MEDIA_TOKENS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::conversation::{PartContent, Source};
    use crate::gateway::conversation::{ToolContent, ToolResult, Turn};
    use crate::gateway::format::adapter::Format;
    use crate::gateway::format::chat_completions::front::decode;
    use crate::gateway::notes::Notes;

    #[test]
    fn the_data_of_media_counts_once() {
        let data = "A".repeat(100_000);
        for (json, media) in [
            (format!(r#"{{"image_url":{{"url":"data:image/png;base64,{data}"}}}}"#), 1),
            (format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{data}"}}}}"#), 1),
            (format!(r#"[{{"inlineData":{{"data":"{data}"}}}},"data:a,{data}"]"#), 2),
            (format!(r#"{{"inlineData":{{"data":"data:{data}"}}}}"#), 2),
            (r#"{"inlineData":{"mimeType":"a"}}"#.to_owned(), 0),
        ] {
            let tokens = tokens_of(&json);
            assert!(
                (media * MEDIA_TOKENS..(media + 1) * MEDIA_TOKENS).contains(&tokens),
                "{tokens}: {json:.60}"
            );
        }
        assert_eq!(tokens_of(&format!(r#"{{"data":"{data}"}}"#)), 25_003);
    }

    #[test]
    fn images_in_the_results_of_a_round_count() {
        let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#;
        let mut request = decode(body, &Notes::default()).unwrap();
        let before = input_tokens(&request);
        let source = Source::Url("https://example.org/a.png".to_owned());
        let image = Part::new(PartContent::Image { source, detail: None }, "");
        let result = ToolResult {
            call_id: "c".to_owned(),
            name: "a".to_owned(),
            is_error: false,
            content: ToolContent(vec![image]),
        };
        request.history.push(HistoryItem::Turn(Turn {
            provider: String::new(),
            format: Format::OpenAi,
            message: String::new(),
            native: String::new(),
            results: vec![result],
        }));
        assert!(input_tokens(&request) >= before + MEDIA_TOKENS);
    }
}
