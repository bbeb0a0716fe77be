//! The tools of coding agents, by the kinds of their schemas, at each front and for each provider.

use crate::gateway::tests::*;

/// Where requests come in.
const PATHS: [&str; 3] = ["/v1/chat/completions", "/v1/responses", "/v1/messages"];

/// A model of each kind of provider.
const MODELS: [&str; 4] = ["openai/m", "compat/m", "anthropic/claude-x", "google/gemini-3-pro"];

const KEYS: &[(&str, &str)] = &[
    ("ANTHROPIC_API_KEY", "sk-ant"),
    ("GEMINI_API_KEY", "g"),
    ("PROVIDERS", "compat"),
    ("COMPAT_API_KEY", "c"),
    ("COMPAT_BASE_URL", "https://compat.example/v1"),
];

/// The kinds of schemas that Claude Code and Codex send, and their MCP servers.
fn agent_tools() -> Vec<(&'static str, Value)> {
    let object = |properties: Value, required: Value| {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": properties, "required": required, "additionalProperties": false
        })
    };
    vec![
        (
            "free_metadata",
            object(
                json!({
                    "subject": {"type": "string", "description": "What to do"},
                    "metadata": {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": {}}
                }),
                json!(["subject"]),
            ),
        ),
        (
            "patterns_in_all_of",
            object(
                json!({"to": {
                    "type": "string", "description": "Who", "allOf": [{"pattern": "^[^\\n]*$"}, {"pattern": "^.{0,300}$"}]
                }}),
                json!(["to"]),
            ),
        ),
        (
            "union_with_const",
            object(
                json!({"status": {"anyOf": [
                    {"type": "string", "enum": ["open", "done"]}, {"type": "string", "const": "deleted"}
                ]}}),
                json!([]),
            ),
        ),
        (
            "bounds",
            object(
                json!({
                    "files": {"type": "array", "maxItems": 9, "items": {
                        "type": "object", "required": ["path"], "additionalProperties": false,
                        "properties": {
                            "path": {"type": "string", "minLength": 1, "maxLength": 256, "pattern": "^\\w+$"},
                            "width": {"type": "integer", "exclusiveMinimum": 0, "maximum": 4096}
                        }
                    }},
                    "url": {"type": "string", "format": "uri"},
                    "all": {"type": "boolean", "default": false}
                }),
                json!([]),
            ),
        ),
        (
            "reference_beside_keywords",
            json!({
                "type": "object", "properties": {"id": {"$ref": "#/$defs/id2"}, "at": {"$ref": "#/$defs/at", "description": "When."}},
                "$defs": {
                    "id": {"type": "string"}, "at": {"type": "string", "description": "A time."},
                    "id2": {"type": "string", "minLength": 1, "format": "uuid", "description": "Which.", "$ref": "#/$defs/id"}
                }
            }),
        ),
        ("no_type", json!({"properties": {"q": {"type": "string"}}})),
        (
            "type_null",
            json!({"type": null, "anyOf": [{"type": "object", "properties": {"q": {"type": "string"}}}]}),
        ),
        (
            "one_of_at_the_root",
            json!({"type": "object", "oneOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]}
            ]}),
        ),
        (
            "conditions",
            json!({
                "type": "object", "properties": {"kind": {"type": "string"}, "size": {"type": "integer"}},
                "if": {"properties": {"kind": {"const": "box"}}}, "then": {"required": ["size"]}, "else": {"not": {"required": ["size"]}},
                "dependentRequired": {"size": ["kind"]}, "patternProperties": {"^x-": {"type": "string"}}, "minProperties": 1,
                "unevaluatedProperties": false
            }),
        ),
        (
            "lists",
            object(
                json!({"pair": {
                    "type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false, "uniqueItems": true,
                    "contains": {"type": "string"}, "minContains": 1
                }}),
                json!(["pair"]),
            ),
        ),
        (
            "recursive",
            json!({
                "type": "object", "properties": {"tree": {"$ref": "#/$defs/tree"}}, "required": ["tree"],
                "$defs": {"tree": {
                    "type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/$defs/tree"}},
                    "required": ["name", "next"]
                }}
            }),
        ),
        (
            "names",
            json!({"type": "object", "properties": {"$filter": {"type": "string"}, "top": {"type": "integer"}}}),
        ),
    ]
}

/// The request of a client that has these tools.
fn request(path: &str, model: &str, tools: &[(&str, Value)]) -> Value {
    let tools: Vec<Value> = tools
        .iter()
        .map(|(name, schema)| match path {
            "/v1/messages" => json!({"name": name, "description": "D", "input_schema": schema}),
            "/v1/responses" => {
                json!({"type": "function", "name": name, "description": "D", "parameters": schema, "strict": false})
            }
            _ => json!({"type": "function", "function": {"name": name, "description": "D", "parameters": schema}}),
        })
        .collect();
    let hi = json!([{"role": "user", "content": "hi"}]);
    match path {
        "/v1/responses" => json!({"model": model, "input": hi, "tools": tools}),
        "/v1/messages" => json!({"model": model, "messages": hi, "tools": tools, "max_tokens": 99}),
        _ => json!({"model": model, "messages": hi, "tools": tools}),
    }
}

/// The name and the schema of each tool that a provider has got.
fn sent_tools(body: &Value) -> Vec<(String, Value)> {
    let tools = &body["tools"];
    let tools = tools[0].get("functionDeclarations").unwrap_or(tools).as_array().unwrap();
    tools
        .iter()
        .map(|tool| {
            let function = tool.get("function").unwrap_or(tool);
            let schemas = ["parameters", "input_schema", "parametersJsonSchema"];
            let schema = schemas.iter().find_map(|name| function.get(name)).cloned();
            (function["name"].as_str().unwrap().to_owned(), schema.unwrap_or_default())
        })
        .collect()
}

fn uses(schema: &Value, keyword: &str) -> bool {
    let mut found = false;
    toolbooth::protocol::keywords::walk(schema, &mut |schema| {
        found |= schema.contains_key(keyword)
    });
    found
}

/// G15, G20, G23: one tool never fails the request.
#[test]
fn every_tool_of_an_agent_reaches_every_provider() {
    let tools = agent_tools();
    for path in PATHS {
        let gateway = TestGateway { path, ..TestGateway::with(KEYS) };
        for model in MODELS {
            for stream in [false, true] {
                let mut body = request(path, model, &tools);
                body["stream"] = stream.into();
                let reply = gateway.ask(vec![], &body);
                let [sent] = &reply.sent[..] else { panic!("{path} {model}: {}", reply.text) };
                let sent_tools = sent_tools(&sent.body);
                let names: Vec<&str> = sent_tools.iter().map(|(name, _)| name.as_str()).collect();
                assert_eq!(
                    names,
                    Vec::from_iter(tools.iter().map(|(name, _)| *name)),
                    "{path} {model}"
                );
                let is_as_it_is = matches!(
                    (path, model),
                    ("/v1/messages", "anthropic/claude-x") | ("/v1/responses", "openai/m")
                );
                if is_as_it_is {
                    assert_eq!(
                        sent_tools,
                        Vec::from_iter(
                            tools.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone()))
                        )
                    );
                    continue;
                }
                for (name, schema) in sent_tools {
                    let what = format!("{path} {model} {name}: {schema}");
                    assert_eq!(schema["type"], "object", "{what}");
                    let lacks: &[&str] = match model {
                        "google/gemini-3-pro" => &[
                            "allOf",
                            "propertyNames",
                            "if",
                            "then",
                            "else",
                            "not",
                            "const",
                            "pattern",
                            "contains",
                            "oneOf",
                        ],
                        "compat/m" => &[
                            "allOf",
                            "propertyNames",
                            "if",
                            "then",
                            "else",
                            "not",
                            "const",
                            "pattern",
                            "contains",
                            "oneOf",
                            "prefixItems",
                            "maxItems",
                        ],
                        _ => &[],
                    };
                    let used = lacks.iter().find(|keyword| uses(&schema, keyword));
                    assert_eq!(used, None, "{what}");
                    if model != "google/gemini-3-pro" {
                        let union =
                            ["anyOf", "oneOf", "allOf"].iter().find(|it| schema.get(*it).is_some());
                        assert_eq!(union, None, "{what}");
                    }
                }
            }
        }
    }
}

/// What a schema loses is in the warnings, by the name of the tool and of the keyword.
#[test]
fn what_a_schema_loses_is_said() {
    let answer_of_gemini = || {
        let content = json!({"role": "model", "parts": [{"text": "Hello"}]});
        answer(
            200,
            json!({"candidates": [{"content": content, "finishReason": "STOP"}]}).to_string(),
        )
    };
    for path in PATHS {
        let gateway = TestGateway { path, ..TestGateway::with(KEYS) };
        let body = request(path, "google/gemini-3-pro", &agent_tools());
        let reply = gateway.ask(vec![answer_of_gemini()], &body);
        assert_eq!(reply.status, 200, "{}", reply.text);
        let warnings = reply.json()["_2api"]["warnings"].to_string();
        for expected in [
            "Tool 'free_metadata': google/gemini-3-pro does not enforce propertyNames; it is left out",
            "Tool 'patterns_in_all_of': allOf is merged into the schema that has it",
            "Tool 'patterns_in_all_of': google/gemini-3-pro does not enforce pattern; the description says it instead",
            "Tool 'conditions': google/gemini-3-pro does not enforce dependentRequired, else, if,",
            "Tool 'names': google/gemini-3-pro does not enforce property_names;",
        ] {
            assert!(warnings.contains(expected), "{path} {expected}: {warnings}");
        }
    }
}
