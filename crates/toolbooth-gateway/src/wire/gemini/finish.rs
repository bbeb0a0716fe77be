//! Why Gemini's models stop.
//!
//! The words are those of `FinishReason` in npm `@google/genai` 3.3.0, published on 2026-11-12. A word that is not among them is no
//! success: the provider has one word for that.

use crate::wire::{Failure, FinishReason};

/// The word that says nothing: the model has not stopped.
pub(super) const UNSPECIFIED: &str = "FINISH_REASON_UNSPECIFIED";

/// What each word means. A failed call is not repaired; the client should ask the model again (2api.ai, 5.3).
#[rustfmt::skip]
const MEANINGS: &[(&str, FinishReason)] = &[
    // It also means that the model calls tools.
    ("STOP", FinishReason::ToolCalls),
    ("MAX_TOKENS", FinishReason::Length),
    ("CONTINUATION", FinishReason::Length),
    ("SAFETY", FinishReason::ContentFilter),
    ("RECITATION", FinishReason::ContentFilter),
    ("LANGUAGE", FinishReason::ContentFilter),
    ("BLOCKLIST", FinishReason::ContentFilter),
    ("PROHIBITED_CONTENT", FinishReason::ContentFilter),
    ("SPII", FinishReason::ContentFilter),
    ("IMAGE_SAFETY", FinishReason::ContentFilter),
    ("IMAGE_PROHIBITED_CONTENT", FinishReason::ContentFilter),
    ("IMAGE_RECITATION", FinishReason::ContentFilter),
    ("ESCALATION", FinishReason::ContentFilter),
    ("MODEL_ARMOR", FinishReason::ContentFilter),
    ("MALFORMED_FUNCTION_CALL", failed("it wrote a malformed call. Ask it again")),
    ("UNEXPECTED_TOOL_CALL", failed("it called a tool that the request does not declare. Declare the tools, and ask it again")),
    ("TOO_MANY_TOOL_CALLS", failed("it called tools too many times in a row. Ask it again with a smaller task")),
    ("MALFORMED_RESPONSE", failed("it wrote a malformed response. Ask it again")),
    ("NO_IMAGE", failed("it was to make an image, and made none. Ask it again, or describe the image in other words")),
    ("IMAGE_OTHER", failed("it made no image, and gives no reason. Ask it again, or describe the image in other words")),
    ("OTHER", failed("it gives no reason. Ask it again")),
    ("PUP_LIMITED_DISABLED", failed("the provider has limited the account that was used. The operator must ask the provider why")),
    // The same request ends like this again.
    ("MISSING_THOUGHT_SIGNATURE", FinishReason::Failed(Failure {
        status: 400,
        advice: "the conversation lacks a signature of an earlier answer. Send answers back as they came",
    })),
];

/// A failure of the provider, so that another attempt makes sense.
const fn failed(advice: &'static str) -> FinishReason {
    FinishReason::Failed(Failure { status: 502, advice })
}

/// The meaning of `finishReason`.
pub(super) fn finish_reason(word: &str) -> FinishReason {
    let meaning = MEANINGS.iter().find_map(|(known, meaning)| (*known == word).then_some(*meaning));
    meaning.unwrap_or(failed(
        "this server does not know what that means. The answer may be incomplete",
    ))
}
