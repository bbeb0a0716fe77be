//! Answers of Gemini. A chunk of a stream has the same form as a whole body.

use crate::gateway::adapter::reported;
use crate::gateway::builder::Builder;
use crate::gateway::ids;
use crate::gateway::stream::Delta;
use crate::gateway::{Completion, FinishReason, IdSource, UpstreamError, Usage};
use crate::json::{self, Object, Value};
use crate::text::excerpt;

/// Decodes the body of a response.
pub(in crate::gateway::adapter) fn decode(
    body: Value<'_>,
    ids: IdSource,
) -> Result<Completion, UpstreamError> {
    let mut answer = Answer::new(ids, true);
    answer.chunk(&body, &mut Vec::new())?;
    let has_candidate =
        body.get("candidates").and_then(Value::as_array).is_some_and(|it| !it.is_empty());
    let Some(reason) = answer.reason.or(has_candidate.then_some(FinishReason::Stop)) else {
        return Err(UpstreamError::malformed("the answer has no candidates"));
    };
    answer.end(reason, &mut Vec::new());
    Ok(answer.into_completion())
}

/// An answer that grows.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) builder: Builder,
    /// Why the model stopped, once it has said so.
    pub(super) reason: Option<FinishReason>,
    pub(super) usage: Option<Usage>,
    parts: Vec<Value<'static>>,
    /// The signature of a part that is not a call.
    signature: Option<String>,
}

impl Answer {
    pub(super) fn new(ids: IdSource, collect: bool) -> Self {
        let builder = Builder::new(ids, collect);
        Self { builder, reason: None, usage: None, parts: Vec::new(), signature: None }
    }

    pub(super) fn into_completion(self) -> Completion {
        let collects = self.builder.collects();
        let mut completion = self.builder.completion;
        if collects {
            completion.native = json::to_string(&self.parts);
        }
        completion
    }

    /// The last deltas.
    pub(super) fn end(&mut self, reason: FinishReason, deltas: &mut Vec<Delta>) {
        if let Some(signature) = self.signature.take() {
            deltas.push(self.builder.extra_content(extra_content(&signature)));
        }
        deltas.push(self.builder.finish(reason));
        deltas.extend(self.usage.clone().map(|usage| self.builder.usage(usage)));
    }

    /// Reads a chunk, or a whole body.
    pub(super) fn chunk(
        &mut self,
        body: &Value<'_>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), UpstreamError> {
        if body.get("error").is_some_and(|error| !error.is_null()) {
            return Err(reported(200, body));
        }
        let Value::Object(body) = body else {
            return Err(UpstreamError::malformed("the answer is not an object"));
        };
        self.head(body);
        if let Some(Value::Object(usage)) = member(body, "usageMetadata", "usage_metadata") {
            self.usage = Some(read_usage(usage));
        }
        let candidates = body.get("candidates").and_then(Value::as_array).unwrap_or_default();
        if let Some(Value::Object(candidate)) = candidates.first() {
            let content = candidate.get("content");
            let parts = content.and_then(|content| content.get("parts"));
            for part in parts.and_then(Value::as_array).unwrap_or_default() {
                let Value::Object(part) = part else {
                    return Err(UpstreamError::malformed("a part is not an object"));
                };
                self.part(part, deltas)?;
            }
            let reason = member(candidate, "finishReason", "finish_reason").and_then(Value::as_str);
            if let Some(reason) = reason.filter(|reason| *reason != "FINISH_REASON_UNSPECIFIED") {
                self.reason = Some(finish_reason(&mut self.builder, reason));
            }
        } else if let Some(Value::Object(feedback)) =
            member(body, "promptFeedback", "prompt_feedback")
            && let Some(reason) = member(feedback, "blockReason", "block_reason")
        {
            let reason = excerpt(reason.as_str().unwrap_or_default());
            self.builder.warn(format!("Gemini has blocked the prompt: {reason}"));
            self.reason = Some(FinishReason::ContentFilter);
        }
        Ok(())
    }

    fn head(&mut self, body: &Object<'_>) {
        let text = |value: Option<&Value<'_>>| value.and_then(Value::as_str).map(str::to_owned);
        let completion = &mut self.builder.completion;
        if completion.id.is_none() {
            completion.id = text(member(body, "responseId", "response_id"));
        }
        if completion.model.is_none() {
            completion.model = text(member(body, "modelVersion", "model_version"));
        }
    }

    fn part(&mut self, part: &Object<'_>, deltas: &mut Vec<Delta>) -> Result<(), UpstreamError> {
        let signature = member(part, "thoughtSignature", "thought_signature");
        let signature = signature.and_then(Value::as_str);
        if let Some(call) = member(part, "functionCall", "function_call") {
            let Value::Object(call) = call else {
                return Err(UpstreamError::malformed("a function call is not an object"));
            };
            self.call(call, signature, deltas)?;
        } else {
            self.signature = signature.map(str::to_owned).or(self.signature.take());
            let is_thought = part.get("thought") == Some(&Value::Bool(true));
            match part.get("text").and_then(Value::as_str) {
                Some("") => {}
                Some(text) if is_thought => deltas.push(self.builder.reasoning(text)),
                Some(text) => deltas.push(self.builder.text(text)),
                None => self.other(part),
            }
        }
        if self.builder.collects() {
            self.parts.push(Value::Object(part.clone().into_owned()));
        }
        Ok(())
    }

    /// Notes a part that has no counterpart in OpenAI's format.
    fn other(&mut self, part: &Object<'_>) {
        let ignored = ["thought", "thoughtSignature", "thought_signature", "partMetadata"];
        let kind = part.iter().find(|(name, _)| !ignored.contains(&name.as_ref()));
        if let Some((kind, _)) = kind {
            let kind = excerpt(kind);
            self.builder.warn(format!("A part of the kind \"{kind}\" is left out of the answer"));
        }
    }

    fn call(
        &mut self,
        call: &Object<'_>,
        signature: Option<&str>,
        deltas: &mut Vec<Delta>,
    ) -> Result<(), UpstreamError> {
        if member(call, "willContinue", "will_continue") == Some(&Value::Bool(true))
            || member(call, "partialArgs", "partial_args").is_some()
        {
            return Err(UpstreamError::malformed("function calls in pieces are not supported"));
        }
        let Some(name) = call.get("name").and_then(Value::as_str).filter(|name| !name.is_empty())
        else {
            return Err(UpstreamError::malformed("a function call has no name"));
        };
        let calls = &self.builder.completion.message.tool_calls;
        let is_usable =
            |id: &&str| ids::is_portable(id) && !calls.iter().any(|call| call.id == **id);
        let id = call.get("id").and_then(Value::as_str).filter(is_usable);
        let mut extra = Object::default();
        if let Some(signature) = signature {
            extra.insert("extra_content".into(), extra_content(signature));
        }
        deltas.push(self.builder.call(id, name, false, extra)?);
        let index = self.builder.completion.message.tool_calls.len().saturating_sub(1);
        let arguments = match call.get("args") {
            None | Some(Value::Null) => "{}".to_owned(),
            Some(arguments) => arguments.text(),
        };
        deltas.push(self.builder.arguments(index, &arguments)?);
        Ok(())
    }
}

/// A member in either of the spellings that Google's libraries write.
fn member<'v, 't>(object: &'v Object<'t>, camel: &str, snake: &str) -> Option<&'v Value<'t>> {
    object.get(camel).or_else(|| object.get(snake)).filter(|value| !value.is_null())
}

/// A signature as Google's own OpenAI-compatible interface carries it.
fn extra_content(signature: &str) -> Value<'static> {
    let signature = Value::String(signature.to_owned().into());
    let own = Object::from_iter([("thought_signature", signature)]);
    Value::Object(Object::from_iter([("google", Value::Object(own))]))
}

fn read_usage(usage: &Object<'_>) -> Usage {
    let count = |camel: &str, snake: &str| {
        let value = member(usage, camel, snake).and_then(Value::as_number);
        value.and_then(serde_json::Number::as_u64).unwrap_or_default()
    };
    let prompt = count("promptTokenCount", "prompt_token_count")
        .saturating_add(count("toolUsePromptTokenCount", "tool_use_prompt_token_count"));
    let thoughts = count("thoughtsTokenCount", "thoughts_token_count");
    let answer = count("candidatesTokenCount", "candidates_token_count").saturating_add(thoughts);
    let total = count("totalTokenCount", "total_token_count").max(prompt.saturating_add(answer));
    Usage {
        prompt_tokens: prompt,
        completion_tokens: total.saturating_sub(prompt),
        total_tokens: total,
        cached_tokens: count("cachedContentTokenCount", "cached_content_token_count"),
        reasoning_tokens: thoughts,
        extra: None,
    }
}

/// Gemini's `finishReason`. With calls, `STOP` means that they are to be run.
fn finish_reason(builder: &mut Builder, reason: &str) -> FinishReason {
    match reason {
        "STOP" => FinishReason::Stop,
        "MAX_TOKENS" => FinishReason::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => {
            builder.warn(format!("Gemini ended with {reason}"));
            FinishReason::ContentFilter
        }
        "MALFORMED_FUNCTION_CALL"
        | "UNEXPECTED_TOOL_CALL"
        | "TOO_MANY_TOOL_CALLS"
        | "MALFORMED_RESPONSE" => {
            builder.warn(format!("Gemini ended with {reason}: ask it again"));
            FinishReason::Stop
        }
        "LANGUAGE" | "OTHER" | "NO_IMAGE" | "IMAGE_OTHER" | "CONTINUATION" => {
            builder.warn(format!("Gemini ended with {reason}, which is reported as stop"));
            FinishReason::Stop
        }
        other => {
            let other = excerpt(other);
            builder.warn(format!(
                "The provider ended with the unknown finish reason \"{other}\", which is reported as stop"
            ));
            FinishReason::Stop
        }
    }
}
