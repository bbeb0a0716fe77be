//! A member that is null counts as absent, in every format.

use super::*;

/// Paths of objects in a response, each with the members that a library may write as null.
type NullableMembers = &'static [(&'static str, &'static [&'static str])];

#[rustfmt::skip]
const OPENAI: NullableMembers = &[
    ("", &["id", "choices", "created", "model", "object", "service_tier", "system_fingerprint",
        "usage", "metadata", "moderation", "request_id", "role", "tool_calls", "content"]),
    ("/choices/0", &["finish_reason", "index", "logprobs", "message", "delta"]),
    ("/choices/0/message", &["content", "refusal", "role", "annotations", "audio", "function_call",
        "tool_calls", "reasoning_content"]),
    ("/choices/0/message/tool_calls/0", &["id", "function", "type", "custom", "index"]),
    ("/choices/0/message/tool_calls/0/function", &["name", "arguments"]),
];
#[rustfmt::skip]
const RESPONSES: NullableMembers = &[
    ("", &["id", "created_at", "error", "incomplete_details", "instructions", "metadata", "model",
        "object", "output", "parallel_tool_calls", "temperature", "tool_choice", "tools", "top_p",
        "background", "completed_at", "conversation", "max_output_tokens", "max_tool_calls",
        "previous_response_id", "prompt", "prompt_cache_key", "reasoning", "safety_identifier",
        "service_tier", "status", "text", "top_logprobs", "truncation", "usage", "user"]),
    ("/output/0", &["id", "type", "call_id", "name", "arguments", "status", "namespace",
        "created_by", "role"]),
];
#[rustfmt::skip]
const ANTHROPIC: NullableMembers = &[
    ("", &["id", "container", "content", "context_management", "model", "role", "stop_details",
        "stop_reason", "stop_sequence", "type", "usage"]),
    ("/content/0", &["id", "type", "name", "input", "caller", "cache_control", "citations", "text"]),
];
#[rustfmt::skip]
const GEMINI: NullableMembers = &[
    ("", &["candidates", "promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata",
        "modelVersion", "model_version", "responseId", "response_id", "createTime", "create_time",
        "sdkHttpResponse", "sdk_http_response", "automaticFunctionCallingHistory",
        "automatic_function_calling_history", "parsed", "modelStatus", "content", "parts", "role",
        "finishReason", "finish_reason"]),
    ("/candidates/0", &["content", "finishReason", "finish_reason", "finishMessage",
        "finish_message", "citationMetadata", "citation_metadata", "tokenCount", "token_count",
        "avgLogprobs", "avg_logprobs", "groundingMetadata", "grounding_metadata", "index",
        "logprobsResult", "logprobs_result", "safetyRatings", "safety_ratings",
        "urlContextMetadata", "url_context_metadata"]),
    ("/candidates/0/content", &["parts", "role"]),
    ("/candidates/0/content/parts/0", &["functionCall", "function_call", "executableCode",
        "executable_code", "toolCall", "tool_call", "name", "args", "text", "thought",
        "thoughtSignature", "thought_signature", "inlineData", "inline_data", "fileData",
        "file_data", "functionResponse", "function_response", "codeExecutionResult",
        "code_execution_result", "toolResponse", "tool_response", "partMetadata",
        "part_metadata", "mediaResolution", "media_resolution", "videoMetadata",
        "video_metadata", "candidates", "role"]),
    ("/candidates/0/content/parts/0/functionCall", &["id", "name", "args", "partialArgs",
        "partial_args", "willContinue", "will_continue"]),
];

/// A response with a valid call, and the members of its objects.
fn whole(provider: &str) -> (Value, NullableMembers) {
    let calls = calls(provider, &[(Some("1"), "Echo_Say", r#"{"text":"hi"}"#)]);
    match provider {
        "openai" => (
            json!({"choices": [{"finish_reason": "tool_calls",
                "message": {"role": "assistant", "tool_calls": calls}}]}),
            OPENAI,
        ),
        "openai-responses" => (json!({"status": "completed", "output": calls}), RESPONSES),
        "anthropic" => (json!({"stop_reason": "tool_use", "content": calls}), ANTHROPIC),
        _ => (
            json!({"candidates": [{"finishReason": "STOP",
                "content": {"role": "model", "parts": calls}}]}),
            GEMINI,
        ),
    }
}

#[test]
fn null_counts_as_absent() {
    // A new host each time, because generated ids contain the time.
    let post = |address: &str, body: &Value| post(&FakeHost::default(), address, body);
    for provider in PROVIDERS {
        let (body, members) = whole(provider);
        let address = format!("{provider}/call");
        let mut all = body.clone();
        for (path, names) in members {
            for name in *names {
                let (mut null, mut absent) = (body.clone(), body.clone());
                let object = |body: &mut Value| body.pointer_mut(path).unwrap().take();
                let mut one = object(&mut null);
                one[*name] = Value::Null;
                *null.pointer_mut(path).unwrap() = one;
                absent.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(*name);
                let expected = post(&address, &absent);
                assert_eq!(post(&address, &null), expected, "{provider} {path}/{name}");
                let here = all.pointer_mut(path).unwrap().as_object_mut().unwrap();
                here.entry(*name).or_insert(Value::Null);
            }
        }
        // All at once, as the libraries write them.
        assert_eq!(post(&address, &all), post(&address, &body), "{provider}: {all}");
        let (response, _) = call_ok(&FakeHost::default(), &address, &all);
        assert_eq!(read_results(provider, &response)[0].1, "hi", "{provider}");
    }
}

#[test]
fn null_in_arguments_is_a_value_if_the_schema_allows_it() {
    for (arguments, expected) in [
        (r#"{"text":"hi","mood":null}"#, "hi"),
        (
            r#"{"text":null}"#,
            "Error: Invalid arguments for tool 'Echo_Say'. text: Must be a string. Please retry.",
        ),
    ] {
        for provider in PROVIDERS {
            for query in ["", "?validate_tool_arguments=true"] {
                let body = calls(provider, &[(Some("1"), "Echo_Say", arguments)]);
                let (status, response) =
                    post(&FakeHost::default(), &format!("{provider}/call{query}"), &body);
                if status == 400 {
                    assert!(
                        !query.is_empty() && expected != "hi",
                        "{provider} {arguments}: {response}"
                    );
                    continue;
                }
                assert_eq!(
                    read_results(provider, &response)[0].1,
                    expected,
                    "{provider} {arguments}"
                );
            }
        }
    }
}
