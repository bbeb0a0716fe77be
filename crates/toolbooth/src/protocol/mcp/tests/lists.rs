//! Lists, resources, prompts and completions.

use super::*;
use crate::catalog::Lists;
use crate::catalog::{Definition, Entry, List, ListBody, ListForm, Listed, Needs, Rendering};

fn definition(changes: Value) -> Definition {
    let mut definition = json!({
        "id": "Echo.Say@2.0.0", "name": "Echo_Say", "description": "Says it.", "version": "2.0.0",
        "input_schema": {"type": "object"}, "output_schema": null
    });
    definition.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(definition).unwrap()
}

fn rendered(form: &ListForm, changes: Value, latest: bool) -> Option<Value> {
    let definition = definition(changes);
    let name = if latest { "Echo_Say" } else { "Echo_Say__2_0_0" };
    match (form.entry)(&Listed { definition: &definition, name, latest }) {
        Rendering::Omitted => None,
        Rendering::Supported { json, warnings } => {
            assert_eq!(warnings, [""; 0]);
            Some(serde_json::from_str(&json).unwrap())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn mc20_a_tool_in_the_list() {
    let hints = json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true});
    let meta = json!({"toolbooth/id": "Echo.Say@2.0.0", "toolbooth/version": "2.0.0"});
    let bare = json!({
        "name": "Echo_Say", "description": "Says it.", "inputSchema": {"type": "object"},
        "annotations": hints, "_meta": meta
    });
    assert_eq!(rendered(&tool_list::LIST, json!({}), true), Some(bare.clone()));
    assert_eq!(rendered(&tool_list::LIST, json!({}), false), None, "older versions are not shown");
    let mut full = bare;
    full["title"] = json!("Say");
    full["description"] = json!("Says it. Deprecated: Use a pen.");
    full["annotations"] = json!({
        "title": "Say", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
        "openWorldHint": false
    });
    full["_meta"]["toolbooth/deprecated"] =
        json!({"message": "Use a pen.", "sunset": "2030-01-01"});
    let changes = json!({
        "title": "Say",
        "annotations": {"read_only": true, "destructive": false, "idempotent": true, "open_world": false},
        "deprecated": {"message": "Use a pen.", "sunset": "2030-01-01"}
    });
    assert_eq!(rendered(&tool_list::LIST, changes, true), Some(full));
}

#[test]
fn mc21_an_output_is_an_object_in_every_era() {
    let wrapped = |schema: Value| json!({"type": "object", "properties": {"result": schema}, "required": ["result"], "x-fastmcp-wrap-result": true});
    let open = json!({"type": "object", "description": "The value itself if it is an object; any other value is in the member result."});
    for (output, expected) in [
        (json!(null), None),
        (
            json!({"type": "object", "required": ["a"]}),
            Some(json!({"type": "object", "required": ["a"]})),
        ),
        (json!({"type": "string"}), Some(wrapped(json!({"type": "string"})))),
        (json!({"type": ["array", "null"]}), Some(wrapped(json!({"type": ["array", "null"]})))),
        (json!({"type": ["object", "null"]}), Some(open.clone())),
        (json!({}), Some(open)),
    ] {
        let tool = rendered(&tool_list::LIST, json!({"output_schema": output}), true).unwrap();
        assert_eq!(tool.get("outputSchema").cloned(), expected, "{output}");
    }
}

/// The catalogue of the tests with three entries in the list `name`.
pub(super) fn catalogue(
    name: &'static str,
    body: &'static str,
    entries: &'static [Entry],
) -> &'static Catalog {
    let list = List { name, body: ListBody::Plain(body), head: 1, entries, etag: "" };
    let lists =
        CATALOG.lists.iter().flat_map(|it| it.lists).copied().filter(|list| list.name != name);
    let lists: Vec<_> = lists.chain([list]).collect();
    let lists = vec![Lists::all(lists.leak())].leak();
    Box::leak(Box::new(Catalog { lists, ..*CATALOG }))
}

pub(super) const fn entry(tool: usize, start: usize, end: usize) -> Entry {
    Entry { tool, needs: Needs::Tool, name: "", start, end, unsupported: &[], warnings: &[] }
}

/// Broken, Say 2.0.0 and Scoped.
const ENTRIES: &[Entry] = &[entry(0, 1, 2), entry(5, 3, 4), entry(6, 5, 6)];

#[test]
fn mc28_one_page_unless_the_url_has_a_page_size() {
    let catalog = catalogue("mcp-tools", "[0,5,6]", ENTRIES);
    let host = FakeHost::default();
    for (path, cursor, expected) in [
        ("/mcp", None, Ok((json!([0, 5]), None))),
        ("/mcp?page_size=0", None, Ok((json!([0, 5]), None))),
        ("/mcp?page_size=x", None, Ok((json!([0, 5]), None))),
        ("/mcp?page_size=2", None, Ok((json!([0, 5]), None))),
        ("/mcp?page_size=1", None, Ok((json!([0]), Some("1")))),
        ("/mcp?page_size=1", Some(json!("1")), Ok((json!([5]), None))),
        ("/mcp?page_size=1", Some(json!("3")), Err(-32602)),
        ("/mcp?page_size=1", Some(json!("-1")), Err(-32602)),
        ("/mcp?page_size=1", Some(json!("")), Err(-32602)),
        ("/mcp?page_size=1", Some(json!("x")), Err(-32602)),
        ("/mcp?page_size=1", Some(json!(5)), Err(-32602)),
        ("/mcp", Some(json!("5")), Err(-32602)),
    ] {
        let params = cursor.map_or(json!({}), |cursor| json!({"cursor": cursor}));
        let what = format!("{path} {params}");
        let (status, answer) = send(catalog, &host, (path, &[]), &legacy("tools/list", params));
        let result = &answer["result"];
        let got = match answer["error"]["code"].as_i64() {
            Some(code) => Err(code),
            None => Ok((result["tools"].clone(), result["nextCursor"].as_str())),
        };
        assert_eq!((status, got), (200, expected), "{what}");
    }
}

#[test]
fn mc29_who_may_cache_the_lists() {
    const AUTH: (&str, &str) = ("AUTH", "none,api-key");
    for (variables, expected) in [(&[][..], "public"), (&[AUTH, ("API_KEYS", "[]")], "private")] {
        for method in ["tools/list", "resources/list", "resources/templates/list", "prompts/list"] {
            let host = FakeHost::with(variables);
            let (status, answer) = send_modern(CATALOG, &host, &modern(method, json!({})));
            assert_eq!(
                (status, &answer["result"]["cacheScope"]),
                (200, &json!(expected)),
                "{method}"
            );
            assert!(answer["result"]["ttlMs"].is_u64());
        }
    }
}

#[test]
fn mc30_resources_are_read_by_their_address() {
    let catalog = catalogue("mcp-documents", "[0,5,6]", ENTRIES);
    for (uri, expected) in [
        ("toolbooth://tools/Echo.Say@2.0.0", Ok(json!([5]))),
        ("toolbooth://tools/Echo.Say%402.0.0", Ok(json!([5]))),
        ("toolbooth://tools/Echo.Say%ff", Err("toolbooth://tools/Echo.Say%ff")),
        ("toolbooth://tools/Echo.Say", Ok(json!([5]))),
        ("toolbooth://tools/Echo.Broken@1", Ok(json!([0]))),
        ("toolbooth://tools/Echo.Scoped", Err("toolbooth://tools/Echo.Scoped")),
        ("toolbooth://tools/Echo.Say@1.0.0", Err("toolbooth://tools/Echo.Say@1.0.0")),
        ("toolbooth://tools/Echo.Shout", Err("toolbooth://tools/Echo.Shout")),
        ("toolbooth://tools/", Err("toolbooth://tools/")),
        ("Echo.Say", Err("Echo.Say")),
        ("", Err("")),
    ] {
        let host = FakeHost::default();
        for (era, absent) in [("modern", -32602), ("legacy", -32002)] {
            let (status, answer) = if era == "modern" {
                send_modern(catalog, &host, &modern("resources/read", json!({"uri": uri})))
            } else {
                send(catalog, &host, ("/mcp", &[]), &legacy("resources/read", json!({"uri": uri})))
            };
            assert_eq!(status, 200);
            match &expected {
                Ok(contents) => assert_eq!(&answer["result"]["contents"], contents, "{uri}"),
                Err(address) => {
                    assert_eq!(answer["error"]["code"], absent, "{era} {uri}");
                    assert_eq!(answer["error"]["data"]["uri"], *address);
                }
            }
        }
    }
    let (_, answer) =
        send_modern(CATALOG, &FakeHost::default(), &modern("resources/read", json!({})));
    assert_eq!(answer["error"]["message"], "uri must be a string");
}

#[test]
fn mc31_the_documentation_of_a_tool() {
    let changes = json!({
        "title": "Say", "scopes": ["a", "b"],
        "requirements": {"authorization": [{"id": "mail"}], "secrets": [{"id": "KEY"}]},
        "deprecated": {"message": "Use a pen.", "sunset": "2030-01-01", "replacement": "A.B@1.0.0"},
        "output_schema": {"type": "string", "description": "A fence: ```"},
        "examples": [{"title": "One", "input": {}, "value": 1}, {"input": {}, "error": {"message": "No"}}]
    });
    let document = rendered(&documentation::DOCUMENTS, changes, false).unwrap();
    assert_eq!(document["uri"], "toolbooth://tools/Echo.Say@2.0.0");
    assert_eq!(document["mimeType"], "text/markdown");
    let expected = "# Say\n\nSays it.\n\n- Name: `Echo_Say__2_0_0`\n- Id: `Echo.Say@2.0.0`\n\
        - Deprecated: Use a pen. It may be removed from 2030-01-01. Use `A.B@1.0.0` instead.\n\
        - Required scopes: `a`, `b`\n- Requires the user's authorization for `mail`\n\
        - Requires the secret `KEY`\n\n## Input\n\n```json\n{\n  \"type\": \"object\"\n}\n```\n\n\
        ## Output\n\n````json\n{\n  \"description\": \"A fence: ```\",\n  \"type\": \"string\"\n}\n````\n\n\
        ## One\n\n```json\n{\n  \"input\": {},\n  \"value\": 1\n}\n```\n\n\
        ## Example\n\n```json\n{\n  \"error\": \"No\",\n  \"input\": {}\n}\n```\n";
    assert_eq!(document["text"], expected);
    let entry = rendered(&resources::LIST, json!({"title": "Say"}), false).unwrap();
    let expected = json!({
        "uri": "toolbooth://tools/Echo.Say@2.0.0", "name": "Echo.Say@2.0.0", "title": "Say",
        "description": "Says it.", "mimeType": "text/markdown"
    });
    assert_eq!(entry, expected);
}

const PROMPT: &str = r#"[[{"tool":"Echo.Say@2.0.0","name":"greet","description":"Greets.","text":"Greet {whom} {how}!","required":["whom"]}]]"#;

fn with_prompt() -> &'static Catalog {
    const WHOLE: &[Entry] = &[entry(5, 1, PROMPT.len() - 1)];
    catalogue("mcp-prompt-texts", PROMPT, WHOLE)
}

/// What is completed of the prompt and of a template.
const COMPLETIONS: &str = r#"[[{"of":"greet","argument":"whom","values":["Ada","adam","Bob"]},{"of":"a://{how}/{who}","argument":"how","values":["well"]},{"of":"a://{how}/{who}","argument":"who","values":[],"tool":"Echo.None","with":["how"]}]]"#;

fn with_completions() -> &'static Catalog {
    const WHOLE: &[Entry] = &[entry(5, 1, COMPLETIONS.len() - 1)];
    let list = List {
        name: "mcp-completions",
        body: ListBody::Plain(COMPLETIONS),
        head: 1,
        entries: WHOLE,
        etag: "",
    };
    let catalog = with_prompt();
    let lists = catalog.lists.iter().flat_map(|it| it.lists).copied();
    let lists: Vec<_> = lists.filter(|it| it.name != list.name).chain([list]).collect();
    let lists = vec![Lists::all(lists.leak())].leak();
    Box::leak(Box::new(Catalog { lists, ..*catalog }))
}

#[test]
fn mc32_prompts() {
    let changes = json!({"prompts": [{
        "name": "greet", "description": "Greets.", "text": "Greet {whom} {how}!", "arguments": [
            {"name": "whom", "description": "Who.", "required": true, "enum": ["Ada", "adam", "Bob"]},
            {"name": "how", "description": "How."}
        ]
    }]});
    assert_eq!(
        rendered(&prompts::TEXTS, changes.clone(), true),
        Some(serde_json::from_str::<Value>(PROMPT).unwrap()[0].clone())
    );
    assert_eq!(
        rendered(&completion::LIST, changes.clone(), true),
        Some(json!([{
            "of": "greet", "argument": "whom", "values": ["Ada", "adam", "Bob"]
        }]))
    );
    assert_eq!(
        rendered(&prompts::LIST, changes.clone(), true),
        Some(json!({
            "name": "greet", "description": "Greets.", "arguments": [
                {"name": "whom", "description": "Who.", "required": true},
                {"name": "how", "description": "How.", "required": false}
            ]
        }))
    );
    assert_eq!(rendered(&prompts::LIST, changes, false), None);
    assert_eq!(rendered(&prompts::LIST, json!({}), true), None);

    for (params, expected) in [
        (
            json!({"name": "greet", "arguments": {"whom": "{how}", "how": "now"}}),
            Ok("Greet {how} now!"),
        ),
        (json!({"name": "greet", "arguments": {"whom": "Ada", "other": 1}}), Ok("Greet Ada !")),
        (json!({"name": "greet"}), Err("The argument whom is missing")),
        (
            json!({"name": "greet", "arguments": {"whom": 1}}),
            Err("The argument whom must be a string"),
        ),
        (json!({"name": "greet", "arguments": []}), Err("arguments must be an object")),
        (json!({"name": "greets"}), Err("Unknown prompt: greets")),
        (json!({}), Err("name must be a string")),
    ] {
        let (status, answer) = send_modern(
            with_prompt(),
            &FakeHost::default(),
            &modern("prompts/get", params.clone()),
        );
        assert_eq!(status, 200);
        let got = match answer["error"]["message"].as_str() {
            Some(message) => Err(message),
            None => Ok(answer["result"]["messages"][0]["content"]["text"].as_str().unwrap()),
        };
        assert_eq!(got, expected, "{params}");
    }
}

#[test]
fn mc33_completions() {
    let prompt = json!({"type": "ref/prompt", "name": "greet"});
    let tool = json!({"type": "ref/resource", "uri": "toolbooth://tools/{id}"});
    let template = json!({"type": "ref/resource", "uri": "a://{how}/{who}"});
    let all = [
        "Echo.Broken@1.0.0",
        "Echo.Narrow@1.0.0",
        "Echo.Private@1.0.0",
        "Echo.Say@1.0.0",
        "Echo.Say@1.10.0",
        "Echo.Say@2.0.0",
    ];
    for (reference, name, value, expected) in [
        (&prompt, "whom", "", Ok(&["Ada", "adam", "Bob"][..])),
        (&prompt, "whom", "a", Ok(&["Ada", "adam"])),
        (&prompt, "whom", "x", Ok(&[])),
        (&prompt, "how", "", Ok(&[])),
        (&prompt, "where", "", Ok(&[])),
        (&tool, "id", "", Ok(&all)),
        (&tool, "id", "echo.say@1.1", Ok(&all[4..5])),
        (&tool, "name", "", Ok(&[])),
        (&json!({"type": "ref/resource", "uri": "x"}), "id", "", Ok(&[])),
        (&template, "how", "W", Ok(&["well"])),
        (&template, "what", "", Ok(&[])),
        (
            &template,
            "who",
            "",
            Err("Tool 'Echo_None' was not found: Echo.None is not a tool of this server"),
        ),
        (&json!({"type": "ref/resource"}), "id", "", Err("ref.uri must be a string")),
        (
            &json!({"type": "ref/tool"}),
            "id",
            "",
            Err("ref.type must be ref/prompt or ref/resource"),
        ),
        (&json!({"type": "ref/prompt", "name": "x"}), "id", "", Err("Unknown prompt: x")),
        (&json!("x"), "id", "", Err("ref.type must be a string")),
    ] {
        let params = json!({"ref": reference, "argument": {"name": name, "value": value}});
        let (_, answer) = send_modern(
            with_completions(),
            &FakeHost::default(),
            &modern("completion/complete", params.clone()),
        );
        let completion = &answer["result"]["completion"];
        match expected {
            Err(message) => assert_eq!(answer["error"]["message"], message, "{params}"),
            Ok(values) => {
                assert_eq!(completion["values"], json!(values), "{params}");
                assert_eq!(completion["total"], values.len());
                assert_eq!(completion["hasMore"], false);
            }
        }
    }
}
