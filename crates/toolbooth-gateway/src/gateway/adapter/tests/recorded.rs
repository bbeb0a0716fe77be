//! Streams as the providers send them.

/// OpenAI: text, two calls in parallel, usage.
pub(super) const OPENAI: &str = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"gpt-5","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"gpt-5","choices":[{"index":0,"delta":{"content":"Grüße 🌍"},"finish_reason":null}],"usage":null}

: keep-alive

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"gpt-5","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"a","arguments":""}}]},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"gpt-5","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":"}}]},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"gpt-5","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"gpt-5","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_2","type":"function","function":{"name":"b","arguments":"{}"}}]},"finish_reason":null}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"gpt-5","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],"usage":null}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"gpt-5","choices":[],"usage":{"prompt_tokens":2,"completion_tokens":7,"total_tokens":9,"prompt_tokens_details":{"cached_tokens":1}}}

data: [DONE]

"#;

/// Anthropic: thinking, text, two calls of which one has no arguments, a ping.
pub(super) const ANTHROPIC: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":3,"cache_read_input_tokens":7,"cache_creation_input_tokens":5,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hmm"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: ping
data: {"type": "ping"}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Grüße 🌍"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_1","name":"a","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"1}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_2","name":"b","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":11}}

event: message_stop
data: {"type":"message_stop"}

"#;

/// Gemini: a thought, text, calls in a chunk before and a chunk with `STOP`, CRLF.
pub(super) const GEMINI: &str = concat!(
    r#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":"hmm","thought":true}]}}],"usageMetadata":{"promptTokenCount":2,"totalTokenCount":6,"thoughtsTokenCount":4},"modelVersion":"gemini","responseId":"r1"}"#,
    "\r\n\r\n",
    r#"data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Grüße 🌍"}]}}],"modelVersion":"gemini","responseId":"r1"}"#,
    "\r\n\r\n",
    r#"data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"a","args":{"x":1}},"thoughtSignature":"S1"}]}}]}"#,
    "\r\n\r\n",
    r#"data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"b"}}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":3,"thoughtsTokenCount":4,"totalTokenCount":9}}"#,
    "\r\n\r\n",
);

/// OpenRouter: an error after text, in an event with empty choices.
pub(super) const OPENROUTER_ERROR: &str = r#": OPENROUTER PROCESSING

data: {"id":"gen-1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"par"},"finish_reason":null}]}

data: {"id":"gen-1","object":"chat.completion.chunk","created":5,"model":"m","choices":[],"error":{"code":502,"message":"Provider disconnected"}}

data: [DONE]

"#;

/// Anthropic: overloaded after text.
pub(super) const ANTHROPIC_ERROR: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","model":"claude","usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"par"}}

event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}

"#;
