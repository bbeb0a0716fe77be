//! Case 16: the schemas of the client's tools, as each provider accepts them.

use crate::gateway::format::adapter::tests::*;

const ALL: [Format; 5] = [
    Format::OpenAi,
    Format::Responses,
    Format::OpenAiCompatible,
    Format::Anthropic,
    Format::Gemini,
];

fn with_schema(schema: &str, strict: bool) -> ChatRequest {
    let body = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":"x"}}],"tools":[{{"type":"function","function":{{"name":"complex_query","description":"D","parameters":{schema},"strict":{strict}}}}}]}}"#
    );
    decode(&body, &Notes::default()).unwrap()
}

/// The only tool of a body: its parameters, and whether it is strict.
fn only_tool(body: &Value) -> (Value, bool) {
    let tool = &body["tools"][0];
    let function = tool.get("function").unwrap_or(tool);
    let schema = [
        &function["parameters"],
        &function["input_schema"],
        &function["functionDeclarations"][0]["parametersJsonSchema"],
    ];
    let schema = schema.into_iter().find(|it| !it.is_null()).cloned().unwrap_or_default();
    (schema, function["strict"] == true)
}

/// 5.4: the error of the specification, before anything is sent: if nothing of a schema would be left, or if the caller wants no
/// wider one.
#[test]
fn case_16_incompatible_schemas() {
    let object = |rest: &str| format!(r#"{{"type":"object","properties":{{"p":{rest}}}}}"#);
    let nested = |levels: usize| {
        let mut schema = r#"{"type":"string"}"#.to_owned();
        for _ in 1..levels {
            schema = object(&schema);
        }
        schema
    };
    let root = |rest: &str| format!(r#"{{"type":"object",{rest}}}"#);
    let all = |feature| [feature; 5];
    // Whether the tool is strict; for which of the options there is the error; the features.
    for (schema, strict, when, expected) in [
        (r#"{"type":"array","items":{}}"#.to_owned(), false, "both", all("type")),
        (
            root(r#""anyOf":[{"type":"string"}]"#),
            false,
            "both",
            ["anyOf", "anyOf", "anyOf", "anyOf", ""],
        ),
        (r#"{"$ref":"https://example.com/x"}"#.to_owned(), false, "both", all("$ref")),
        (nested(11), false, "both", ["depth", "depth", "", "depth", "depth"]),
        (
            object(r#"{"allOf":[{"type":"string"}]}"#),
            false,
            "strict",
            ["", "", "allOf", "", "allOf"],
        ),
        (object(r#"{"not":{},"if":{}}"#), false, "strict", ["", "", "if not", "", "if not"]),
        (root(r#""anyOf":[{}]"#), false, "strict", ["anyOf", "anyOf", "anyOf", "anyOf", ""]),
        (object(r#"{"$ref":"https://example.com/x"}"#), false, "strict", all("$ref")),
        (
            root(r#""properties":{"a b":{"type":"string"}}"#),
            false,
            "strict",
            ["", "", "", "property_names", "property_names"],
        ),
        (
            object(r#"{"type":"string"}"#),
            true,
            "strict",
            ["optional_properties", "optional_properties", "", "", ""],
        ),
        (
            object("{}"),
            true,
            "strict",
            ["optional_properties untyped", "optional_properties untyped", "", "untyped", ""],
        ),
        (object(r#"{"type":"string","minLength":1}"#), false, "strict", all("")),
    ] {
        let request = with_schema(&schema, strict);
        for strict_schemas in [false, true] {
            let is_checked = strict_schemas || when == "both";
            for (provider, expected) in ALL.into_iter().zip(expected) {
                let options = TranslateOptions { strict_schemas, ..options(provider) };
                let found = match provider.translate(&request, &options, &Notes::default()) {
                    Ok(_) => String::new(),
                    Err(error) => {
                        assert_eq!(error.kind, ErrorKind::IncompatibleSchema);
                        assert_eq!(error.param.as_deref(), Some("tools[0].function.parameters"));
                        let of = error.features.join("', '");
                        let are = if error.features.len() == 1 { "is" } else { "are" };
                        let target = options.target;
                        let message = format!(
                            "Tool 'complex_query' uses '{of}' which {are} not supported by {target}"
                        );
                        assert_eq!(error.message, message);
                        error.features.join(" ")
                    }
                };
                let expected = if is_checked { expected } else { "" };
                assert_eq!(found, expected, "{provider:?} {strict_schemas} {schema}");
            }
        }
    }
}

/// A strict tool that the provider cannot hold to its schema is sent as one that is not strict.
#[test]
fn case_16_strict_tools() {
    let closed = r#"{"type":"object","properties":{"p":{"type":"string"}},"required":["p"],"additionalProperties":false}"#;
    let optional = r#"{"type":"object","properties":{"p":{"type":"string"}}}"#;
    let open = r#"{"type":"object","properties":{"p":{"type":"object"}},"required":["p"]}"#;
    let narrow = r#"{"type":"object","properties":{"p":{"type":"string","not":{"const":"a"}}},"required":["p"],"additionalProperties":false}"#;
    for (schema, strict, reason) in [
        (closed, [true, true, true, true], ""),
        (narrow, [true, true, true, true], ""),
        (optional, [false, false, true, true], "optional_properties"),
        (open, [false, false, true, false], "open_object"),
    ] {
        let request = with_schema(schema, true);
        for (provider, expected) in ALL.into_iter().zip(strict) {
            let (body, _, warnings) = translated_with(provider, &request, &options(provider));
            let (sent, is_strict) = only_tool(&body);
            assert_eq!(is_strict, expected, "{provider:?} {schema}");
            assert!(sent["properties"]["p"]["type"].is_string(), "{provider:?} {sent}");
            let warning = format!("strict is false: {reason}");
            let is_warned = warnings.iter().any(|it| it.ends_with(&warning));
            assert_eq!(is_warned, !expected, "{provider:?} {warnings:?}");
        }
    }
}

/// Arguments are an object, and some providers reject schemas that do not say so.
#[test]
fn case_16_parameters_without_a_type() {
    let q = json!({"q": {"type": "string"}});
    let branch = json!({"type": "object", "properties": q});
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    for (parameters, expected) in [
        (json!(null), object(json!({}))),
        (json!({}), object(json!({}))),
        (json!({"properties": q}), object(q.clone())),
        (json!({"type": null, "properties": q, "required": null}), object(q.clone())),
        (json!({"type": ["object", "null"], "properties": q}), object(q.clone())),
        (json!({"type": null, "anyOf": [branch]}), object(q.clone())),
        (json!({"$ref": "#/definitions/A", "definitions": {"A": branch}}), object(q.clone())),
    ] {
        let with = with_schema(&parameters.to_string(), false);
        for provider in ALL {
            let (body, _, _) = translated_with(provider, &with, &options(provider));
            let (mut sent, _) = only_tool(&body);
            let what = format!("{provider:?} {parameters}: {sent}");
            match &mut sent {
                // Gemini's declarations may be without.
                Value::Null => {
                    assert!(provider == Format::Gemini && parameters.is_null(), "{what}")
                }
                Value::Object(schema) => {
                    schema.remove("$defs");
                    if expected["properties"].get("q").is_none() {
                        schema.entry("properties").or_insert(json!({}));
                    }
                    if provider == Format::Gemini && schema.contains_key("anyOf") {
                        assert_eq!(schema["type"], "object", "{what}");
                        continue;
                    }
                    assert_eq!(sent, expected, "{what}");
                }
                _ => panic!("{what}"),
            }
        }
    }
    // Without the member, OpenAI itself knows what is meant.
    let without = json!({"tools": [tool("a")]});
    for (provider, expected) in [
        (Format::OpenAi, tool("a")["function"].clone()),
        (Format::OpenAiCompatible, json!({"name": "a", "parameters": object(json!({}))})),
    ] {
        let (body, _, _) = translated(provider, without.clone());
        assert_eq!(body["tools"][0]["function"], expected, "{provider:?}");
    }
}

/// What a provider cannot enforce is described, and reported.
#[test]
fn case_16_converted_schemas() {
    let request = with_schema(
        r#"{"type":"object","$schema":"x","properties":{"p":{"type":"string","minLength":1},"q":{"oneOf":[{"type":"string"}]}}}"#,
        false,
    );
    let (body, dropped, warnings) =
        translated_with(Format::Gemini, &request, &options(Format::Gemini));
    let schema = &body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"];
    assert_eq!(schema["properties"]["p"]["description"], "At least 1 character.");
    assert_eq!(schema["properties"]["q"], json!({"anyOf": [{"type": "string"}]}));
    assert_eq!(dropped, ["tools[].function.parameters.$schema"]);
    assert_eq!(
        warnings,
        [
            "Tool 'complex_query': oneOf is listed as anyOf",
            "Tool 'complex_query': google/gemini-2.5-flash does not enforce minLength; the description says it instead"
        ]
    );
    let (body, dropped, warnings) =
        translated_with(Format::Anthropic, &request, &options(Format::Anthropic));
    assert_eq!(body["tools"][0]["input_schema"]["properties"]["p"]["minLength"], 1);
    // The warning is about the limit of tokens.
    assert_eq!((dropped.len(), warnings.len()), (0, 1));
    // OpenAI rejects arrays without items.
    let request = with_schema(r#"{"type":"object","properties":{"l":{"type":"array"}}}"#, false);
    let (body, _, _) = translated_with(Format::OpenAi, &request, &options(Format::OpenAi));
    let function = &body["tools"][0]["function"];
    assert_eq!(function["parameters"]["properties"]["l"]["items"], json!({}));
    assert_eq!((&function["description"], &function["strict"]), (&json!("D"), &json!(false)));
}

#[test]
fn case_16_references() {
    let schema = r##"{"type":"object","properties":{"p":{"$ref":"#/definitions/a"}},"definitions":{"a":{"type":"object","properties":{"x":{"$ref":"#/definitions/b"}}},"b":{"type":"string"}}}"##;
    let request = with_schema(schema, false);
    let (body, dropped, warnings) =
        translated_with(Format::Gemini, &request, &options(Format::Gemini));
    let sent = &body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"];
    assert_eq!(sent["properties"]["p"], json!({"$ref": "#/$defs/a"}));
    assert_eq!(sent["$defs"]["a"]["properties"]["x"], json!({"$ref": "#/$defs/b"}));
    assert_eq!((dropped.len(), warnings.len()), (0, 0));
    for (schema, cyclic) in [
        (
            r##"{"type":"object","properties":{"p":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}"##,
            false,
        ),
        (r##"{"type":"object","properties":{"p":{"$ref":"#"}}}"##, true),
        (
            r##"{"type":"object","properties":{"p":{"$ref":"#/$defs/a"}},"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"}]}}}"##,
            true,
        ),
    ] {
        let request = with_schema(schema, true);
        let (body, _, _) =
            translated_with(Format::Anthropic, &request, &options(Format::Anthropic));
        assert_eq!(only_tool(&body).1, !cyclic, "{schema}");
        let plain = with_schema(schema, false);
        assert!(
            Format::Anthropic
                .translate(&plain, &options(Format::Anthropic), &Notes::default())
                .is_ok()
        );
    }
}

/// Tools without parameters, and strict tools.
#[test]
fn tools_of_each_provider() {
    let strict = |name: &str| {
        json!({"type": "function", "function": {"name": name, "strict": true,
        "parameters": {"type": "object", "properties": {}, "additionalProperties": false}}})
    };
    let (body, _, _) = translated(Format::Anthropic, json!({"tools": [tool("a"), strict("b")]}));
    assert_eq!(
        body["tools"][0],
        json!({"name": "a", "input_schema": {"type": "object", "properties": {}}})
    );
    assert_eq!(body["tools"][1]["strict"], true);
    let (body, _, warnings) =
        translated(Format::Gemini, json!({"tools": [tool("a"), strict("b")]}));
    assert_eq!(body["tools"][0]["functionDeclarations"][0], json!({"name": "a"}));
    assert_eq!(body["toolConfig"]["functionCallingConfig"], json!({"mode": "VALIDATED"}));
    assert_eq!(warnings.len(), 1);
    let many: Vec<Value> = (0..21).map(|number| strict(&format!("t{number}"))).collect();
    let (body, _, warnings) = translated(Format::Anthropic, json!({"tools": many}));
    let is_strict = |tool: &&Value| tool["strict"] == true;
    assert_eq!(body["tools"].as_array().unwrap().iter().filter(is_strict).count(), 20);
    assert_eq!(warnings.len(), 1);
    let hosted = json!({"tools": [{"type": "web_search"}]});
    for provider in [Format::Anthropic, Format::Gemini] {
        assert_eq!(rejected(provider, hosted.clone()).1, "tools[0].type");
    }
}
