//! Streams as the providers send them.

/// OpenAI: text, two calls in parallel, usage.
pub(in crate::gateway) const OPENAI: &str = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":5,"model":"gpt-5","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

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
pub(in crate::gateway) const ANTHROPIC: &str = r#"event: message_start
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
pub(in crate::gateway) const GEMINI: &str = concat!(
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
pub(in crate::gateway) const OPENROUTER_ERROR: &str = r#": OPENROUTER PROCESSING

data: {"id":"gen-1","object":"chat.completion.chunk","created":5,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"par"},"finish_reason":null}]}

data: {"id":"gen-1","object":"chat.completion.chunk","created":5,"model":"m","choices":[],"error":{"code":502,"message":"Provider disconnected"}}

data: [DONE]

"#;

/// Anthropic: overloaded after text.
pub(in crate::gateway) const ANTHROPIC_ERROR: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","model":"claude","usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"par"}}

event: error
data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}

"#;

/// OpenAI Responses: reasoning, text, a call and a custom call.
pub(in crate::gateway) const RESPONSES: &str = r#"event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":5,"status":"in_progress","model":"gpt-5","output":[]}}

event: response.in_progress
data: {"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1","object":"response","created_at":5,"status":"in_progress","model":"gpt-5","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}

event: response.reasoning_summary_part.added
data: {"type":"response.reasoning_summary_part.added","sequence_number":3,"item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","sequence_number":4,"item_id":"rs_1","output_index":0,"summary_index":0,"delta":"hmm"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":5,"output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hmm"}],"encrypted_content":"gAAAA"}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":6,"output_index":1,"item":{"id":"msg_1","type":"message","status":"in_progress","role":"assistant","content":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"Grüße 🌍","logprobs":[]}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":8,"output_index":1,"item":{"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Grüße 🌍","annotations":[]}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":9,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"in_progress","call_id":"call_1","name":"a","arguments":""}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":10,"item_id":"fc_1","output_index":2,"delta":"{\"x\":"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":11,"item_id":"fc_1","output_index":2,"delta":"1}"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":12,"output_index":2,"item":{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"a","arguments":"{\"x\":1}"}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":13,"output_index":3,"item":{"id":"fc_2","type":"function_call","status":"in_progress","call_id":"call_2","name":"b","arguments":""}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":14,"output_index":3,"item":{"id":"fc_2","type":"function_call","status":"completed","call_id":"call_2","name":"b","arguments":"{}"}}

event: response.completed
data: {"type":"response.completed","sequence_number":15,"response":{"id":"resp_1","object":"response","created_at":5,"status":"completed","model":"gpt-5","output":[],"usage":{"input_tokens":2,"input_tokens_details":{"cached_tokens":1},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":9}}}

"#;

/// A response that fails after text.
pub(in crate::gateway) const RESPONSES_ERROR: &str = r#"event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","model":"gpt-5"}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":1,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"par","logprobs":[]}

event: response.failed
data: {"type":"response.failed","sequence_number":2,"response":{"id":"resp_1","status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow down"}}}

"#;
