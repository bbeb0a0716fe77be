//! Case 16: the schemas of the client's tools, as each provider accepts them.

use super::*;

const ALL: [Format; 4] =
    [Format::OpenAi, Format::OpenAiCompatible, Format::Anthropic, Format::Gemini];

fn with_schema(schema: &str, strict: bool) -> ChatRequest {
    let body = format!(
        r#"{{"model":"m","messages":[{{"role":"user","content":"x"}}],"tools":[{{"type":"function","function":{{"name":"complex_query","description":"D","parameters":{schema},"strict":{strict}}}}}]}}"#
    );
    decode(&body, &Notes::default()).unwrap()
}

/// 5.4: the error of the specification, before anything is sent.
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
    for (schema, strict, expected) in [
        (object(r#"{"allOf":[{"type":"string"}]}"#), false, ["", "", "", "allOf"]),
        (object(r#"{"not":{},"if":{}}"#), false, ["", "", "", "if not"]),
        (r#"{"type":"object","anyOf":[{}]}"#.to_owned(), false, ["anyOf", "", "anyOf", ""]),
        (object(r#"{"$ref":"https://example.com/x"}"#), false, ["$ref", "", "$ref", "$ref"]),
        (nested(11), false, ["depth", "", "depth", "depth"]),
        (
            r#"{"type":"object","properties":{"a b":{"type":"string"}}}"#.to_owned(),
            false,
            ["", "", "property_names", "property_names"],
        ),
        (r#"{"type":"array","items":{}}"#.to_owned(), false, ["type", "", "type", "type"]),
        (object(r#"{"type":"string"}"#), true, ["optional_properties", "", "", ""]),
    ] {
        let request = with_schema(&schema, strict);
        for (provider, expected) in ALL.into_iter().zip(expected) {
            let found = match provider.translate(&request, &options(provider), &Notes::default()) {
                Ok(_) => String::new(),
                Err(error) => {
                    assert_eq!(error.kind, ErrorKind::IncompatibleSchema);
                    assert_eq!(error.param.as_deref(), Some("tools[0].function.parameters"));
                    assert!(error.message.starts_with("Tool 'complex_query' uses '"), "{error:?}");
                    error.features.join(" ")
                }
            };
            assert_eq!(found, expected, "{provider:?} {schema}");
        }
    }
    let request = with_schema(&object(r#"{"allOf":[]}"#), false);
    let error = Format::Gemini
        .translate(&request, &options(Format::Gemini), &Notes::default())
        .unwrap_err();
    assert_eq!(error.kind, ErrorKind::IncompatibleSchema);
    assert_eq!(
        error.message,
        "Tool 'complex_query' uses 'allOf' which is not supported by google/gemini-2.5-flash"
    );
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
        let result = Format::Anthropic.translate(
            &with_schema(schema, true),
            &options(Format::Anthropic),
            &Notes::default(),
        );
        match result {
            Ok(_) => assert!(!cyclic, "{schema}"),
            Err(error) => {
                assert!(cyclic, "{schema}: {error:?}");
                assert_eq!(error.features, ["$ref"]);
            }
        }
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
    assert_eq!(rejected(Format::Anthropic, json!({"tools": many})).1, "tools");
    let hosted = json!({"tools": [{"type": "web_search"}]});
    for provider in [Format::Anthropic, Format::Gemini] {
        assert_eq!(rejected(provider, hosted.clone()).1, "tools[0].type");
    }
}
