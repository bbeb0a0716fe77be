//! The tools that providers get.

use crate::gateway::conversation::tool::{Approval, Tool};
use crate::gateway::format::messages::front::tests::*;

const FORMATS: [Format; 3] = [Format::OpenAi, Format::OpenAiCompatible, Format::Gemini];

#[test]
fn tools_and_choices() {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let cached = json!({"name": "a", "description": "D", "strict": true, "input_schema": schema, "cache_control": {"type": "ephemeral"}});
    for (choice, openai, gemini) in [
        (json!({"type": "any"}), json!("required"), "ANY"),
        (json!({"type": "none"}), json!("none"), "NONE"),
        (
            json!({"type": "tool", "name": "a"}),
            json!({"type": "function", "function": {"name": "a"}}),
            "ANY",
        ),
    ] {
        let request = request(json!({"tools": [cached, tool("b")], "tool_choice": choice}));
        let (body, dropped) = sent(Format::OpenAiCompatible, &request);
        assert_eq!(body["tool_choice"], openai);
        assert_eq!(
            body["tools"],
            json!([
                {"type": "function", "function": {"name": "a", "description": "D", "parameters": schema, "strict": true}},
                openai_tool("b"),
            ])
        );
        assert_eq!(dropped, ["tools[].cache_control"]);
        let (body, _) = sent(Format::Gemini, &request);
        assert_eq!(body["toolConfig"]["functionCallingConfig"]["mode"], gemini);
        let (body, dropped) = translated(&request);
        assert_eq!(body["tool_choice"]["type"], choice["type"]);
        assert_eq!(body["tools"][0]["cache_control"], json!({"type": "ephemeral"}));
        assert_eq!(dropped, [""; 0]);
    }
}

/// OpenAI rejects long descriptions: the model has them in a system message.
#[test]
fn long_descriptions() {
    let mut long = tool("a");
    let text = format!("{}é{}", "x".repeat(970), "y".repeat(17_000));
    long["description"] = text.clone().into();
    let request = request(json!({"system": "S", "tools": [long, tool("b")]}));
    let (body, _) = sent(Format::OpenAi, &request);
    let sent_text = body["tools"][0]["function"]["description"].as_str().unwrap();
    assert!(
        sent_text.chars().count() <= 1024 && sent_text.starts_with(&"x".repeat(900)),
        "{sent_text}"
    );
    let first = json!({"role": "system", "content": format!("# The tool a\n\n{text}")});
    assert_eq!((&body["messages"][0], &body["messages"][1]["content"]), (&first, &json!("S")));
    let (body, _) = sent(Format::OpenAiCompatible, &request);
    assert_eq!(body["tools"][0]["function"]["description"], text);
}

/// A deferred tool is for the model only once a message refers to it. If Anthropic itself searches, all are.
#[test]
fn tools_that_the_model_must_find() {
    let deferred = |name: &str| {
        let mut tool = tool(name);
        tool["defer_loading"] = true.into();
        tool
    };
    let search = json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"});
    let found = json!([
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "s", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "tool_reference", "tool_name": "b"}]}]},
    ]);
    for (tools, messages, expected) in [
        (json!([tool("s"), deferred("b")]), json!([{"role": "user", "content": "x"}]), &["s"][..]),
        (json!([tool("s"), deferred("b"), deferred("c")]), found, &["s", "b"]),
        (json!([search, deferred("b")]), json!([{"role": "user", "content": "x"}]), &["b"]),
    ] {
        let request = request(json!({"tools": tools, "messages": messages}));
        for format in FORMATS {
            let (body, _) = sent(format, &request);
            let tools = body.get("tools").unwrap();
            let names: Vec<_> = match format {
                Format::Gemini => tools[0]["functionDeclarations"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|it| &it["name"])
                    .collect(),
                _ => tools.as_array().unwrap().iter().map(|it| &it["function"]["name"]).collect(),
            };
            assert_eq!(names, expected);
        }
        // Anthropic's own limits and the operator's hold for all of them.
        assert_eq!(sent(Format::Anthropic, &request).0["tools"], tools);
    }
}

/// Tools that only Anthropic can run are left out for others by name, unless the model must call one.
#[test]
fn tools_of_anthropic() {
    let search = json!({"type": "web_search_20250305", "name": "web_search"});
    let request = request(json!({"tools": [search, tool("a")]}));
    for format in FORMATS {
        let (body, dropped) = sent(format, &request);
        assert_eq!(dropped, ["tools[] (web_search_20250305)"]);
        assert!(!body.to_string().contains("web_search"));
    }
    assert_eq!(translated(&request).0["tools"][1], search);
    for choice in [json!({"type": "tool", "name": "web_search"}), json!({"type": "any"})] {
        let request = decode(json!({"tools": [search], "tool_choice": choice})).unwrap();
        let error = Format::Gemini.translate(&request, &options(Format::Gemini), &Notes::default());
        assert_eq!(error.unwrap_err().param.as_deref(), Some("tool_choice"));
    }
}

/// This server as an MCP server of the request.
#[test]
fn selections() {
    let server = json!([{"type": "url", "name": "own", "url": "toolbooth"}]);
    let toolset = |more: Value| {
        let mut set = json!({"type": "mcp_toolset", "mcp_server_name": "own"});
        for (name, value) in more.as_object().unwrap() {
            set[name] = value.clone();
        }
        json!({"mcp_servers": server, "tools": [set]})
    };
    let some =
        |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
    for (members, allowed, approval) in [
        (toolset(json!({})), None, Approval::UnlessReadOnly),
        (
            toolset(json!({"require_approval": "never", "cache_control": {"type": "ephemeral"}})),
            None,
            Approval::Never,
        ),
        (
            toolset(
                json!({"default_config": {"enabled": false}, "configs": {"A.*": {"enabled": true}, "B": {"enabled": false}}}),
            ),
            some(&["A.*"]),
            Approval::UnlessReadOnly,
        ),
        (json!({"mcp_servers": server}), None, Approval::UnlessReadOnly),
        (
            json!({"mcp_servers": [{"type": "url", "name": "own", "url": "toolbooth", "tool_configuration": {"allowed_tools": ["A"], "require_approval": "always"}}]}),
            some(&["A"]),
            Approval::Always,
        ),
    ] {
        let request = request(members.clone());
        let [selection] = &request.selections[..] else { panic!("{members}: {request:?}") };
        assert_eq!((&selection.allowed, &selection.approval), (&allowed, &approval), "{members}");
        assert!(!request.passes_to(Format::Anthropic));
    }
    let other = json!({"mcp_servers": [{"type": "url", "name": "o", "url": "https://o.example"}], "tools": [{"type": "mcp_toolset", "mcp_server_name": "o"}]});
    let request = request(other);
    let is_mcp = |tool: &Tool| matches!(tool, Tool::Hosted { kind, .. } if kind == "mcp");
    assert!(request.tools.len() == 2 && request.tools.iter().all(is_mcp), "{request:?}");
    let (body, dropped) = translated(&request);
    assert_eq!((body.get("tools"), dropped), (None, vec!["tools[] (mcp)".to_owned()]));
}
