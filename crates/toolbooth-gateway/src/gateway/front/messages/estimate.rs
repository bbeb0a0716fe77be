//! About how many tokens a request has, where no provider counts them.

use crate::gateway::{ChatRequest, HistoryItem, Tool};

/// A token has about four bytes of a text.
const BYTES_PER_TOKEN: u64 = 4;

/// An image has about so many tokens, however many bytes it has.
const MEDIA_TOKENS: u64 = 1600;

/// The tokens of a request: an estimate.
pub(super) fn input_tokens(request: &ChatRequest) -> u64 {
    let history = request.history.iter().map(|item| match item {
        HistoryItem::Message { json, .. } => tokens_of(json.get()),
        HistoryItem::Turn(turn) => {
            let results = turn.results.iter().flat_map(|it| [&it.content, &it.parts]);
            let results = results.map(|json| tokens_of(json));
            results.sum::<u64>().saturating_add(tokens_of(&turn.message))
        }
    });
    let tools = request.tools.iter().map(|tool| match tool {
        Tool::Function(function) => tokens_of(function.json.get()),
        Tool::Custom { json, .. } | Tool::Hosted { json, .. } => tokens_of(json.get()),
    });
    history.chain(tools).fold(1, u64::saturating_add)
}

/// The tokens of JSON: an estimate.
pub(in crate::gateway) fn tokens_of(json: &str) -> u64 {
    let (mut bytes, mut media) = (0, 0);
    for (index, part) in json.split("\"data:").enumerate() {
        let url = if index == 0 { 0 } else { part.find('"').unwrap_or(part.len()) };
        bytes += part.len() - url;
        media += u64::from(index > 0);
    }
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    bytes.div_ceil(BYTES_PER_TOKEN).saturating_add(media.saturating_mul(MEDIA_TOKENS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::front::chat::decode;
    use crate::gateway::{Format, Notes, ToolResult, Turn};

    #[test]
    fn images_in_the_results_of_a_round_count() {
        let body = r#"{"model":"m","messages":[{"role":"user","content":"x"}]}"#;
        let mut request = decode(body, &Notes::default()).unwrap();
        let before = input_tokens(&request);
        let image =
            r#"[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]"#.to_owned();
        let result = ToolResult {
            call_id: "c".to_owned(),
            name: "a".to_owned(),
            content: String::new(),
            is_error: false,
            parts: image,
        };
        request.history.push(HistoryItem::Turn(Turn {
            format: Format::OpenAi,
            message: String::new(),
            native: String::new(),
            results: vec![result],
        }));
        assert!(input_tokens(&request) > before + MEDIA_TOKENS);
    }
}
