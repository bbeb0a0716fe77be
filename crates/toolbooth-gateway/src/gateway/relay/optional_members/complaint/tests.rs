use serde_json::{Value as Json, json};

use crate::gateway::relay::optional_members::complaint::*;

fn found(body: &Json) -> Vec<(String, Scope)> {
    let text = body.to_string();
    let complaints = complaints(&json::parse(&text).unwrap());
    complaints.into_iter().map(|it| (it.path.join("."), it.scope)).collect()
}

fn openai(message: &str, param: &str, code: &str) -> Json {
    json!({"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}})
}

fn says(message: &str) -> Json {
    json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
}

/// As the providers write them: `complaint` has the reports.
#[test]
fn errors_that_name_a_member() {
    use Scope::{Member, NotDefault, Request, Value};
    let with_penalty = |violations: Json| {
        json!([{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "Invalid JSON payload received. …", "details": [
            {"@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": violations}]}}])
    };
    for (body, path, scope) in [
        // OpenAI.
        (
            openai(
                "Unsupported parameter: 'temperature' is not supported with this model.",
                "temperature",
                "unsupported_parameter",
            ),
            "temperature",
            Member,
        ),
        (
            openai(
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                "temperature",
                "unsupported_value",
            ),
            "temperature",
            NotDefault,
        ),
        (
            openai(
                "Unsupported value: 'reasoning.effort' does not support 'none' with this model. Supported values are: 'low' and 'high'.",
                "reasoning.effort",
                "unsupported_value",
            ),
            "reasoning.effort",
            Value,
        ),
        (
            openai(
                "Invalid value: 'xhigh'. Supported values are: 'low' and 'high'.",
                "reasoning_effort",
                "invalid_value",
            ),
            "reasoningeffort",
            Value,
        ),
        (
            openai("Encrypted content is not supported with this model.", "include", "x"),
            "include",
            Value,
        ),
        (
            openai(
                "Your organization must be verified to generate reasoning summaries.",
                "reasoning.summary",
                "unsupported_value",
            ),
            "reasoning.summary",
            Value,
        ),
        (
            openai("Unknown parameter: 'verbosity'.", "verbosity", "unknown_parameter"),
            "verbosity",
            Member,
        ),
        (
            openai(
                "Function tools with reasoning_effort are not supported for m in /v1/chat/completions.",
                "reasoning_effort",
                "",
            ),
            "reasoningeffort",
            Request,
        ),
        (
            json!({"error": {"message": "Unrecognized request argument supplied: reasoning_effort", "type": "invalid_request_error", "param": null, "code": null}}),
            "reasoningeffort",
            Member,
        ),
        (json!({"detail": "Unsupported parameter: safety_identifier"}), "safetyidentifier", Member),
        (
            json!({"error": {"message": "Unsupported parameter: 'top_p' is not supported with this model.", "code": "invalid_request_body"}}),
            "topp",
            Member,
        ),
        (
            json!({"error": {"message": "Unsupported service_tier: flex", "code": "invalid_request_error"}}),
            "servicetier",
            Value,
        ),
        // Libraries.
        (
            says("unknown field `service_tier`, expected one of `messages`, `model`"),
            "servicetier",
            Member,
        ),
        (
            says(
                "Failed to deserialize the JSON body into the target type: unknown field `seed`, expected `model` at line 1 column 9",
            ),
            "seed",
            Member,
        ),
        (json!({"error": "json: unknown field \"min_p\""}), "minp", Member),
        (says("Additional properties are not allowed ('seed' was unexpected)"), "seed", Member),
        (
            says(
                "* GenerateContentRequest.generation_config.seed: is not supported by this model\n",
            ),
            "generationconfig.seed",
            Value,
        ),
        // Anthropic.
        (says("`temperature` is deprecated for this model."), "temperature", Member),
        (says("temperature: range: 0..1"), "temperature", Value),
        (
            says(
                "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
            ),
            "topp",
            Request,
        ),
        (
            says("`temperature` may only be set to 1 when thinking is enabled."),
            "temperature",
            Request,
        ),
        (says("`top_k` must be unset when thinking is enabled."), "topk", Request),
        (says("This model does not support the effort parameter."), "effort", Member),
        (
            says("output_config.effort: Input should be 'low', 'medium' or 'high'"),
            "outputconfig.effort",
            Value,
        ),
        (says("output_config: Extra inputs are not permitted"), "outputconfig", Member),
        (says("context_management: Extra inputs are not permitted"), "contextmanagement", Member),
        (
            says("thinking.adaptive.display: Extra inputs are not permitted"),
            "thinking.adaptive.display",
            Member,
        ),
        (
            says(
                "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior.",
            ),
            "thinking.type.enabled",
            Member,
        ),
        (says("adaptive thinking is not supported on this model"), "thinking", Value),
        (
            says(
                "`clear_thinking_20251015` strategy requires `thinking` to be enabled or adaptive",
            ),
            "clearthinking20251015",
            Request,
        ),
        // Gemini.
        (
            with_penalty(
                json!([{"field": "generation_config", "description": "Invalid JSON payload received. Unknown name \"frequencyPenalty\" at 'generation_config': Cannot find field."}]),
            ),
            "generationconfig.frequencypenalty",
            Member,
        ),
        (
            with_penalty(
                json!([{"description": "Invalid JSON payload received. Unknown name \"top_k\": Cannot find field."}]),
            ),
            "topk",
            Member,
        ),
        (
            with_penalty(
                json!([{"field": "generation_config.temperature", "description": "Invalid value at 'generation_config.temperature' (TYPE_FLOAT), \"x\""}]),
            ),
            "generationconfig.temperature",
            Value,
        ),
        (
            with_penalty(json!([{"field": "generation_config.seed", "description": "?"}])),
            "generationconfig.seed",
            Value,
        ),
        (says("Thinking level is not supported for this model."), "thinkinglevel", Member),
        (says("Penalty is not enabled for this model"), "penalty", Member),
        (says("Penalty is not enabled for models/gemini-2.5-pro"), "penalty", Member),
        (says("Budget 0 is invalid. This model only works in thinking mode."), "budget", Value),
        (says("The model does not support setting thinking_budget to 0."), "thinkingbudget", Value),
        (
            says(
                "Unable to submit request because thinking_level MEDIUM is not supported by this model. Learn more: https://a.example",
            ),
            "thinkinglevel",
            Value,
        ),
        (
            says(
                "Unable to submit request because Thinking_config.include_thoughts is only enabled when thinking is enabled.",
            ),
            "thinkingconfig.includethoughts",
            Request,
        ),
        // Mistral, in its forms.
        (
            json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "frequency_penalty"], "msg": "Extra inputs are not permitted", "input": 0.0}]}),
            "frequencypenalty",
            Member,
        ),
        (
            json!({"object": "error", "message": {"detail": [{"type": "less_than_equal", "loc": ["body", "temperature"], "msg": "m", "input": 9}]}, "type": "invalid_request_error", "code": 3001}),
            "temperature",
            Value,
        ),
        (
            json!({"object": "error", "message": "{\"detail\":[{\"type\":\"extra_forbidden\",\"loc\":[\"body\",\"seed\"],\"msg\":\"m\"}]}", "type": "t"}),
            "seed",
            Member,
        ),
        (
            json!({"object": "Error", "message": [{"type": "extra_forbidden", "loc": ["body", "n"], "msg": "m"}], "type": "invalid_request_error"}),
            "n",
            Member,
        ),
        // vLLM and SGLang.
        (
            json!({"error": {"message": "top_p must be in (0, 1], got 2. (parameter=top_p, value=2)", "type": "BadRequestError", "param": "top_p", "code": 400}}),
            "topp",
            Value,
        ),
        (
            json!({"object": "error", "message": "[{'type': 'extra_forbidden', 'loc': ('body', 'min_p'), 'msg': 'm', 'input': 1}]", "code": 400}),
            "minp",
            Member,
        ),
        (
            json!({"object": "error", "message": "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"m\", 'input': 'xhigh'}\n\n  File", "code": 400}),
            "reasoningeffort",
            Value,
        ),
        (
            json!({"error": {"message": "1 validation error for ChatCompletionRequest\nprompt_cache_key\n  Extra inputs are not permitted [type=extra_forbidden, input_value='bob', input_type=str]", "param": "400"}}),
            "promptcachekey",
            Member,
        ),
        // Others.
        (
            says(
                "Failed to deserialize the JSON body into the target type: reasoning_effort: unknown variant `none`, expected one of `high`, `low` at line 1 column 68",
            ),
            "reasoningeffort",
            Value,
        ),
        (says("property 'verbosity' is unsupported"), "verbosity", Member),
        (
            says("property 'reasoning_effort' is unsupported, did you mean 'reasoning_format'?"),
            "reasoningeffort",
            Member,
        ),
        (
            json!({"code": "Client specified an invalid argument", "error": "Argument not supported on this model: presencePenalty"}),
            "presencepenalty",
            Member,
        ),
        (
            json!({"error": "Model grok-4.6 does not support parameter presencePenalty."}),
            "presencepenalty",
            Member,
        ),
        (
            says("Extra inputs are not permitted, field: 'reasoning_effort', value: 100"),
            "reasoningeffort",
            Member,
        ),
        (
            says("Error from provider: Extra inputs are not permitted, field: 'prompt_cache_key'"),
            "promptcachekey",
            Member,
        ),
        (says("invalid temperature: only 1 is allowed for this model"), "temperature", NotDefault),
        (
            says("<400> InternalError.Algo.InvalidParameter: Temperature should be in [0.0, 2.0)"),
            "temperature",
            Value,
        ),
        (
            says(
                "<400> InternalError.Algo.InvalidParameter: The thinking_budget parameter must be a positive integer",
            ),
            "thinkingbudget",
            Value,
        ),
        (says("temperature参数非法。请检查文档。"), "temperature", Value),
        (says("\"llama3.1:8b\" does not support thinking"), "thinking", Member),
        (says("think value \"medium\" is not supported for this model"), "think", Value),
        (
            says("invalid reasoning value: 'xhigh' (must be \"high\", \"low\" or \"none\")"),
            "reasoning",
            Value,
        ),
        (
            says("Reasoning is mandatory for this endpoint and cannot be disabled."),
            "reasoning",
            Value,
        ),
        (
            json!({"message": "body.reasoning_effort: Input should be 'low'\nbody.reasoning: property 'body.reasoning' is unsupported", "type": "invalid_request_error", "param": "validation_error", "code": "wrong_api_format"}),
            "reasoningeffort",
            Value,
        ),
        (
            json!({"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": openai("Unsupported parameter: 'temperature' is not supported with this model.", "temperature", "").to_string(), "provider_name": "OpenAI"}}}),
            "temperature",
            Member,
        ),
        (
            says(
                "Error from provider (Anthropic): context_management: Extra inputs are not permitted.",
            ),
            "contextmanagement",
            Member,
        ),
        (
            says(
                "litellm.BadRequestError: OpenAIException - {\"error\": {\"message\": \"m\", \"param\": \"reasoning.effort\", \"code\": \"unsupported_parameter\"}}. Received Model Group=gpt-4o",
            ),
            "reasoning.effort",
            Member,
        ),
        (
            says(
                "litellm.UnsupportedParamsError: together_ai does not support parameters: ['reasoning_effort'], for model=m.",
            ),
            "reasoningeffort",
            Member,
        ),
    ] {
        assert_eq!(found(&body), [(path.to_owned(), scope)], "{body}");
    }
}

/// All that an error names.
#[test]
fn errors_that_name_several_members() {
    let item = |name: &str| json!({"type": "extra_forbidden", "loc": ["body", name], "msg": "m"});
    let body = json!({"detail": [item("store"), item("seed"), item("max_completion_tokens"), item("top_k")]});
    assert_eq!(
        found(&body),
        [("seed".to_owned(), Scope::Member), ("topk".to_owned(), Scope::Member)]
    );
}

#[test]
fn errors_about_betas() {
    for (message, expected) in [
        (
            "Unexpected value(s) `effort-2025-11-24` for the `anthropic-beta` header. Please consult our documentation.",
            &["effort-2025-11-24"][..],
        ),
        (
            "The model returned the following errors: Unexpected value(s) `a-1`, `b-2` for the `anthropic-beta` header.",
            &["a-1", "b-2"],
        ),
        ("Unexpected value(s) `disabled` for the `thinking.type` parameter", &[]),
        ("x: Unexpected value(s) `a-1` for the `anthropic-beta` header", &[]),
    ] {
        let expected: Vec<_> =
            expected.iter().map(|beta| (format!("anthropicbeta.{beta}"), Scope::Value)).collect();
        assert_eq!(found(&says(message)), expected, "{message}");
    }
}

/// What is no complaint about an optional member, and what only quotes one.
#[test]
fn other_errors() {
    for body in [
        json!(null),
        json!("temperature"),
        json!({"error": {}}),
        json!({"error": {"message": {"text": "temperature"}}}),
        openai(
            "Invalid value for 'content': expected a string.",
            "messages[0].content",
            "invalid_type",
        ),
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "max_tokens",
            "unsupported_parameter",
        ),
        openai(
            "The following tools cannot be used with reasoning.effort 'minimal': web_search.",
            "tools",
            "",
        ),
        openai(
            "Invalid schema for response_format 'temperature'",
            "response_format",
            "invalid_json_schema",
        ),
        says("messages.0.content.0.text: temperature: Extra inputs are not permitted"),
        says("messages.1.content.0.thinking.cache_control: Extra inputs are not permitted"),
        says("system.2.cache_control.ephemeral.scope: Extra inputs are not permitted"),
        says(
            "tools.0.custom.input_schema: JSON schema is invalid: `temperature` is deprecated for this model.",
        ),
        says("`max_tokens` must be greater than `thinking.budget_tokens`."),
        says(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ),
        says("Invalid `signature` in `thinking` block"),
        says("Your request \"temperature is deprecated for this model\" was rejected"),
        says("The text 'Unsupported parameter: 'temperature'' is not allowed"),
        says("prompt is too long: temperature: 3"),
        says("User location is not supported for the API use."),
        says("Stop. The temperature is deprecated"),
        says("The user is over its limit"),
        says(
            "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property 'metadata' is unsupported)]",
        ),
        says(
            "Failed to deserialize the JSON body into the target type: messages[1].role: unknown variant `developer`, expected `user`",
        ),
        says(
            "Invalid JSON payload received. Unknown name \"temperature\" at 'contents[0].parts[0]': Cannot find field.",
        ),
        says("Thinking about it, temperature is deprecated"),
        json!({"detail": [{"type": "extra_forbidden", "loc": ["body", "messages", 0, "user", "metadata"], "msg": "m"}]}),
        json!({"error": {"message": "1 validation error for ChatCompletionRequest\nmessages.0.user.name\n  Extra inputs are not permitted"}}),
        json!({"error": {"message": "{\"error\":{\"message\":\"{\\\"error\\\":{\\\"message\\\":\\\"{\\\\\\\"error\\\\\\\":{\\\\\\\"message\\\\\\\":\\\\\\\"`top_k` is deprecated\\\\\\\"}}\\\"}}\"}}"}}),
    ] {
        assert_eq!(found(&body), [], "{body}");
    }
}

/// A client cannot widen what an error says by the value that it has sent.
#[test]
fn values_in_errors() {
    for (value, scope) in [
        ("high", Scope::Value),
        ("Unsupported parameter: 'temperature'", Scope::Value),
        ("is deprecated for this model", Scope::Value),
        ("Extra inputs are not permitted", Scope::Value),
        ("Only the default (", Scope::NotDefault),
        ("a when b", Scope::Request),
    ] {
        let message = format!("Invalid value: '{value}'. Supported values are: 'low'.");
        let bodies = [
            openai(&message, "reasoning_effort", "invalid_value"),
            says(&format!("reasoning_effort: '{value}' is no effort")),
        ];
        for body in bodies {
            assert_eq!(found(&body), [("reasoningeffort".to_owned(), scope)], "{body}");
        }
    }
}
