//! The search through MCP and REST, with the small catalogue of `testing::echo`: three of its tools are listed.

use serde_json::{Value, json};

use super::tools::LISTED;
use crate::Server;
use crate::catalog::{Catalog, Entry, List, ListBody, Lists, Needs, SearchIndex, terms};
use crate::http::{Body, Method, Request};
use crate::testing::echo::{CATALOG, LISTS};
use crate::testing::mcp::{self, legacy};
use crate::testing::{CAPABILITIES, FakeHost, Pairs, ready};

/// Private, Say 2.0.0 and Scoped. The index has more words for the last.
const INDEX: SearchIndex = SearchIndex {
    words: &[
        ("echo", &[2, 1, 3, 1, 1, 1]),
        ("mail", &[2, 9]),
        ("say", &[5, 7, 1, 8]),
        ("text", &[5, 2]),
    ],
    pinned: &[2, 6],
};

const PRIVATE: &str = r#"{"name":"Echo_Private","description":"Needs mail.","inputSchema":{"type":"object"},"annotations":{}}"#;
const SAY: &str = r#"{"name":"Echo_Say","description":"Says it.","inputSchema":{"type":"object","properties":{"mood":{"enum":["glad","sad"]},"text":{"type":"string"},"x":{},"y":{"type":["string","null"]}},"required":["text"]},"_meta":{}}"#;
const SCOPED: &str =
    r#"{"name":"Echo_Scoped","description":"Says it to few.","inputSchema":{"type":"object"}}"#;

/// A skill of the last tool's toolkit, for callers who may run two tools.
const SKILL: &str = r#"{"skill":"say-it"}"#;

/// The small catalogue with these entries and the index.
fn catalogue() -> &'static Catalog {
    with_entries(&[(2, Needs::Tool, PRIVATE), (5, Needs::Tool, SAY), (6, Needs::Tool, SCOPED)])
}

fn with_entries(listed: &[(usize, Needs, &str)]) -> &'static Catalog {
    let mut body = "[".to_owned();
    let mut entries = Vec::new();
    for &(tool, needs, json) in listed {
        body.push_str(if entries.is_empty() { "" } else { "," });
        let start = body.len();
        body.push_str(json);
        let end = body.len();
        entries.push(Entry { tool, needs, name: "", start, end, unsupported: &[], warnings: &[] });
    }
    body.push(']');
    let body = ListBody::Plain(body.leak());
    let list = List { name: "mcp-tools", body, head: 1, entries: entries.leak(), etag: "\"tag\"" };
    let others = LISTS
        .iter()
        .copied()
        .filter(|it| !["mcp-tools", "search", "xaibo", "llms"].contains(&it.name));
    let names = ["mcp-tools", "search", "xaibo", "llms"];
    let lists: Vec<_> = others.chain(names.map(|name| List { name, ..list })).collect();
    let search = Lists { capability: "search", lists: &[], search: Some(INDEX) };
    let lists = vec![Lists::all(lists.leak()), search];
    Box::leak(Box::new(Catalog { lists: lists.leak(), ..*CATALOG }))
}

const SCOPES: (&str, &str) = ("ANONYMOUS_SCOPES", "echo:a,echo:b");

fn host(variables: &[(&'static str, &'static str)]) -> FakeHost {
    FakeHost::with(&[&[("AUTH", "none")], variables].concat())
}

fn post(host: &FakeHost, path: &str, method: &str, params: Value) -> (u16, Value) {
    mcp::read(mcp::post((catalogue(), CAPABILITIES), host, (path, &[]), &legacy(method, params)))
}

fn call(host: &FakeHost, name: &str, arguments: Value) -> Value {
    post(host, "/mcp", "tools/call", json!({"name": name, "arguments": arguments})).1
}

#[test]
fn which_tools_a_list_has() {
    let all = Ok(vec!["Echo_Private", "Echo_Say"]);
    let few = Ok(vec!["search_tools", "call_tool", "Echo_Private"]);
    let unknown = Err("tools must be all or search");
    for (variables, path, expected) in [
        (&[][..], "/mcp", all.clone()),
        (&[], "/mcp?tools=search", few.clone()),
        (&[], "/mcp?tools=all", all.clone()),
        (&[], "/mcp?tools=few", unknown.clone()),
        (&[("TOOLS_LIST", "auto")], "/mcp", all.clone()),
        (&[("TOOLS_LIST", "search")], "/mcp", few.clone()),
        (&[("TOOLS_LIST", "search")], "/mcp?tools=all", all.clone()),
        (&[("TOOLS_LIST", "all")], "/mcp", all.clone()),
        (&[("TOOLS_LIST", "all")], "/mcp?tools=search", few),
        (
            &[SCOPES],
            "/mcp?tools=search",
            Ok(vec!["search_tools", "call_tool", "Echo_Private", "Echo_Scoped"]),
        ),
        // What the operator does not allow is not listed.
        (
            &[("TOOL_ALLOWLIST", "Echo_Say")],
            "/mcp?tools=search",
            Ok(vec!["search_tools", "call_tool"]),
        ),
    ] {
        let (_, answer) = post(&host(variables), path, "tools/list", json!({}));
        let got = match answer["result"]["tools"].as_array() {
            Some(tools) => Ok(tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()),
            None => Err(answer["error"]["message"].as_str().unwrap_or_default()),
        };
        assert_eq!(
            got.map_err(|it| it.contains("tools must be")),
            expected.map_err(|_| true),
            "{variables:?} {path}"
        );
    }
    let (_, answer) = post(&host(&[]), "/mcp?tools=search", "tools/list", json!({"cursor": "1"}));
    assert_eq!(answer["error"]["code"], -32602, "there is one page");
}

#[test]
fn instructions_say_how_to_search_a_short_list() {
    const OWN: (&str, &str) = ("MCP_INSTRUCTIONS", "Say hi.");
    for (variables, path, expected) in [
        (&[][..], "/mcp", None),
        (&[], "/mcp?tools=search", Some("search_tools")),
        (&[], "/mcp?tools=few", None),
        (&[("TOOLS_LIST", "search")], "/mcp", Some("search_tools")),
        (&[("TOOLS_LIST", "search")], "/mcp?tools=all", None),
        (&[OWN], "/mcp", Some("Say hi.")),
        (&[OWN], "/mcp?tools=search", Some("Say hi.")),
    ] {
        let (status, answer) = post(&host(variables), path, "initialize", json!({}));
        assert_eq!(status, 200, "{variables:?} {path}: {answer}");
        let said = answer["result"].get("instructions").map(|said| said.as_str().unwrap());
        assert_eq!(said.is_some(), expected.is_some(), "{variables:?} {path}: {said:?}");
        let contains = said.zip(expected).is_none_or(|(said, part)| said.contains(part));
        assert!(contains, "{variables:?} {path}: {said:?}");
    }
}

#[test]
fn auto_counts_the_tools_that_the_caller_may_run() {
    let list = |count: usize| {
        let entry = |tool| Entry {
            tool,
            needs: Needs::Tool,
            name: "",
            start: 1,
            end: 2,
            unsupported: &[],
            warnings: &[],
        };
        let entries: Vec<_> = (0..count).map(|_| entry(5)).chain([entry(6)]).collect();
        let entries = entries.leak();
        let body = ListBody::Plain("[0]");
        &*Box::leak(Box::new(List { name: "mcp-tools", body, head: 1, entries, etag: "" }))
    };
    for (variables, count, expected) in [
        (&[][..], 39, false),
        (&[], 40, false),
        (&[], 41, true),
        (&[SCOPES], 39, false),
        (&[SCOPES], 40, true),
    ] {
        let lists = vec![
            Lists::all(std::slice::from_ref(list(count))),
            Lists { capability: "search", lists: &[], search: Some(INDEX) },
        ];
        let catalog = Box::leak(Box::new(Catalog { lists: lists.leak(), ..*CATALOG }));
        let sent = legacy("tools/list", json!({}));
        let (_, answer) =
            mcp::read(mcp::post((catalog, CAPABILITIES), &host(variables), ("/mcp", &[]), &sent));
        let is_short = answer["result"]["tools"][0]["name"] == "search_tools";
        assert_eq!(is_short, expected, "{count} {variables:?}");
    }
}

#[test]
fn a_search_finds_what_the_caller_may_run() {
    for (variables, input, expected) in [
        (&[][..], json!({"query": "say"}), &["Echo_Say"][..]),
        (&[SCOPES], json!({"query": "say"}), &["Echo_Scoped", "Echo_Say"]),
        (&[SCOPES], json!({"query": "How to say a TEXT?"}), &["Echo_Say", "Echo_Scoped"]),
        (&[SCOPES], json!({"query": "say", "limit": 1}), &["Echo_Scoped"]),
        // What it may not run takes no place either.
        (&[], json!({"query": "say", "limit": 1}), &["Echo_Say"]),
        (&[("TOOL_ALLOWLIST", "Echo_Private")], json!({"query": "echo"}), &["Echo_Private"]),
        (&[], json!({"query": "echo", "toolkit": "Echo"}), &["Echo_Private", "Echo_Say"]),
        (&[], json!({"query": "nothing"}), &[]),
        (&[], json!({"query": "the"}), &[]),
    ] {
        let answer = call(&host(variables), "search_tools", input.clone());
        let tools = answer["result"]["structuredContent"]["tools"].as_array().unwrap();
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, expected, "{variables:?} {input}");
        for tool in tools {
            let mut members: Vec<_> = tool.as_object().unwrap().keys().collect();
            members.sort();
            assert_eq!(members, ["description", "inputSchema", "name"]);
        }
    }
    let text = |query: &str| {
        let input = json!({"query": query, "format": "text"});
        let answer = call(&host(&[]), "search_tools", input);
        assert!(answer["result"].get("structuredContent").is_none());
        answer["result"]["content"][0]["text"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        text("echo"),
        "Echo_Private()\nNeeds mail.\n\n\
         Echo_Say(mood?: glad | sad, text: string, x?: any, y?: string | null)\nSays it."
    );
    assert_eq!(text("nothing"), "No tool matches; try other words");
}

#[test]
fn a_search_that_is_not_possible() {
    for (input, expected) in [
        (json!({}), "The arguments are invalid. query: Is required"),
        (json!({"query": ""}), "The arguments are invalid. query: Must have at least 1 character"),
        (
            json!({"query": "x".repeat(401)}),
            "The arguments are invalid. query: Must have at most 400 characters",
        ),
        (
            json!({"query": "say", "limit": 21}),
            "The arguments are invalid. limit: Must be at most 20",
        ),
        (
            json!({"query": "say", "format": "xml"}),
            "The arguments are invalid. format: Must be one of: ",
        ),
        (json!({"query": "say", "x": 1}), "The arguments are invalid. x: "),
        (
            json!({"query": "say", "toolkit": "Other"}),
            "There is no toolkit \"Other\". Search without toolkit.",
        ),
    ] {
        let answer = call(&host(&[]), "search_tools", input.clone());
        let got = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(got.starts_with(expected), "{input}: {got}");
        assert_eq!(answer["result"]["isError"], true);
    }
    // A toolkit whose tools the caller may not run does not exist.
    let none = host(&[("TOOL_ALLOWLIST", "")]);
    let answer = call(&none, "search_tools", json!({"query": "say", "toolkit": "Echo"}));
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().starts_with("There is no"));
}

#[test]
fn call_tool_is_a_call_of_the_tool_that_it_names() {
    let host = host(&[]);
    let direct = |name: &str, arguments: Value| call(&host, name, arguments);
    for (name, arguments) in [
        ("Echo_Say", json!({"text": "hi"})),
        ("Echo_Say__1_0_0", json!({"text": "hi"})),
        ("Echo.Say@1.10.0", json!({"text": "hi"})),
        ("Echo_Say", json!({"text": "fail"})),
        ("Echo_Say", json!({"text": 1})),
        ("Echo_Say", json!({})),
        ("Echo_Private", json!({"text": "hi"})),
        ("Echo_Say__9_0_0", json!({})),
        ("Echo.Say@9.0.0", json!({})),
        ("Echo_Sya", json!({})),
        ("search_tools", json!({"query": "say"})),
    ] {
        let through = direct("call_tool", json!({"name": name, "arguments": arguments}));
        assert_eq!(through, direct(name, arguments.clone()), "{name} {arguments}");
    }
    let through = direct("call_tool", json!({"name": "Echo_Say"}));
    assert_eq!(through, direct("Echo_Say", json!({})), "no arguments");
    for (input, expected) in [
        (json!({}), "The arguments are invalid. name: Is required"),
        (json!({"name": 1}), "The arguments are invalid. name: Must be a string"),
        (
            json!({"name": "Echo_Say", "arguments": "{}"}),
            "The arguments are invalid. arguments: Must be an object",
        ),
        (json!({"name": "Echo_Say", "x": 1}), "The arguments are invalid. x: "),
        (json!({"name": "call_tool"}), "name must be that of another tool"),
    ] {
        let answer = direct("call_tool", input.clone());
        let got = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(got.starts_with(expected), "{input}: {got}");
    }
}

#[test]
fn a_version_in_meta_is_that_of_the_tool_that_is_called() {
    let host = host(&[]);
    let call = |name: &str, arguments: &Value, version: &str| {
        let meta = json!({"toolbooth/version": version});
        let params = json!({"name": name, "arguments": arguments, "_meta": meta});
        post(&host, "/mcp", "tools/call", params).1
    };
    let say = json!({"text": "hi"});
    for (name, version, error) in [
        ("Echo_Say", "1.0.0", None),
        ("Echo_Say__2_0_0", "1", None),
        ("Echo_Say", "9", Some("Tool 'Echo_Say' was not found: Echo.Say version 9")),
        ("Echo_Sya", "1.0.0", Some("Tool 'Echo_Sya' was not found")),
        ("Echo_Scoped", "9", Some("Tool 'Echo_Scoped' was not found")),
    ] {
        let through = call("call_tool", &json!({"name": name, "arguments": say}), version);
        if name != "Echo_Scoped" {
            assert_eq!(through, call(name, &say, version), "{name} {version}");
        }
        let message = through["error"]["message"].as_str();
        let starts = message.zip(error).is_some_and(|(message, it)| message.starts_with(it));
        assert!(starts || message == error, "{name} {version}: {through}");
    }
    let found = call("search_tools", &json!({"query": "say"}), "1.0.0");
    assert_eq!(found["result"]["isError"], Value::Null, "{found}");
}

#[test]
fn a_tool_that_the_caller_may_not_run_is_unknown() {
    let host = host(&[]);
    for name in ["Echo_Scoped", "Echo.Scoped", "Echo.Scoped@9.0.0", "Echo_Scoped__1_0_0"] {
        let answer = call(&host, "call_tool", json!({"name": name, "arguments": {"text": "hi"}}));
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("Tool '{name}' was not found")), "{message}");
        let unknown = name.replace("Scoped", "Xcoped");
        let other = call(&host, "call_tool", json!({"name": unknown, "arguments": {"text": "hi"}}));
        assert_eq!(answer["error"]["code"], other["error"]["code"]);
        assert_eq!(
            message.replace("Scoped", "Xcoped"),
            other["error"]["message"].as_str().unwrap()
        );
    }
}

#[test]
fn calls_are_logged_under_the_name_of_the_tool() {
    let host = host(&[]);
    call(&host, "call_tool", json!({"name": "Echo_Say", "arguments": {"text": "hi"}}));
    call(&host, "search_tools", json!({"query": "say"}));
    let lines = host.lines.borrow();
    let log: Vec<_> = lines.iter().map(|(_, line)| line.as_str()).collect();
    let log = log.join("\n");
    assert!(log.contains("\"Echo_Say\"") && log.contains("\"search_tools\""), "{log}");
    assert!(!log.contains("call_tool"), "{log}");
}

#[test]
fn without_an_index_there_is_no_search() {
    let sent = legacy("tools/call", json!({"name": "search_tools", "arguments": {"query": "say"}}));
    let (_, answer) =
        mcp::read(mcp::post((CATALOG, CAPABILITIES), &host(&[]), ("/mcp", &[]), &sent));
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .starts_with("Tool 'search_tools' was not found")
    );
    let sent = legacy("tools/list", json!({}));
    let to = ("/mcp?tools=search", &[][..]);
    let (_, answer) = mcp::read(mcp::post((CATALOG, CAPABILITIES), &host(&[]), to, &sent));
    assert_eq!(answer["error"]["code"], -32602);
}

#[test]
fn the_listed_tools_are_those_of_the_search() {
    let listed: Value = serde_json::from_str(&format!("[{LISTED}]")).unwrap();
    for (tool, listed) in [&super::tools::SEARCH_TOOLS, &super::tools::CALL_TOOL]
        .iter()
        .zip(listed.as_array().unwrap())
    {
        assert_eq!(listed["name"], tool.name);
        assert_eq!(listed["annotations"]["readOnlyHint"], tool.read_only);
    }
    assert!(LISTED.len() < 2_000, "about 500 tokens");
}

#[test]
fn the_words_of_texts() {
    for (text, expected) in [
        ("", &[][..]),
        ("The tools of a list", &["list", "+list"]),
        ("listIssues for_repo", &["list", "+list", "issue", "repo"]),
        ("GitHub_ListIssues", &["git", "hub", "list", "+list", "issue"]),
        ("Retrieves or edits +get", &["retrieve", "+get", "edit", "+update", "get", "+get"]),
        ("HTTPServer v2 2FA", &["httpserver", "v2", "2fa"]),
        (
            "repositories branches boxes statuses classes",
            &["repository", "branch", "box", "statuse", "class"],
        ),
        ("status access this analysis bus", &["status", "access", "analysis", "bus"]),
        ("Größe straße, ÄÖ", &["größe", "straße", "ÄÖ"]),
        ("a\u{301}b\n\t-/x", &["a\u{301}b", "x"]),
    ] {
        assert_eq!(terms(text).collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn postings_that_are_cut_off_end() {
    for (postings, expected) in [
        (&[][..], &[][..]),
        (&[0x80], &[]),
        (&[1], &[]),
        (&[0x81, 0x01, 5, 1, 9], &[130, 129]),
        (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1], &[]),
    ] {
        let words: &'static [(&str, &[u8])] = vec![("word", postings)].leak();
        let index = SearchIndex { words, pinned: &[] };
        assert_eq!(index.find("words", 5, &|_| true), expected, "{postings:?}");
    }
}

#[test]
fn a_query_selects_entries_of_lists() {
    let list = |path: &str, query: &str, variables: &[(&'static str, &'static str)]| {
        let host = host(variables);
        let request = Request {
            own_origin: None,
            method: Method::Get,
            path,
            query,
            headers: &Pairs(&[]),
            body: Body::from(""),
        };
        let catalog = catalogue();
        let response = ready(Server::new(catalog, CAPABILITIES, &host).answer(request, &host)).head;
        (response.status, String::from_utf8(response.body.into_owned()).unwrap())
    };
    let all = format!("{PRIVATE},{SAY},{SCOPED}");
    for (query, variables, expected) in [
        ("", &[SCOPES][..], all.clone()),
        ("query=say", &[SCOPES], format!("{SCOPED},{SAY}")),
        ("query=say", &[], SAY.to_owned()),
        ("query=MAIL+text", &[SCOPES], format!("{PRIVATE},{SAY}")),
        ("query=nothing", &[SCOPES], String::new()),
        ("query=", &[SCOPES], String::new()),
    ] {
        let (status, body) = list("/xaibo/tools", query, variables);
        assert_eq!((status, body), (200, format!("[{expected}]")), "{query}");
        let (_, body) = list("/llms.txt", query, variables);
        assert!(body.contains(&expected.replace("},{", "}{")), "{query}: {body}");
    }
    let (_, body) = list("/llms.txt", "query=say&toolkit=Echo", &[]);
    assert!(body.contains(SAY) && !body.contains(PRIVATE), "{body}");
}

#[test]
fn skills_hide_no_tool_from_a_query_and_are_not_found_in_place_of_one() {
    // Each at a tool before and at the last one, and more of them than tools.
    const NEEDED: Needs = Needs::Tools(&[5, 6]);
    for skills in [&[2][..], &[5], &[2, 2], &[5, 5, 5, 5]] {
        let mut listed = vec![(2, Needs::Tool, PRIVATE), (5, Needs::Tool, SAY)];
        listed.extend(skills.iter().map(|tool| (*tool, NEEDED, SKILL)));
        let catalog = with_entries(&listed);
        for (query, variables, expected) in [
            ("query=mail+text", &[SCOPES][..], format!("{PRIVATE},{SAY}")),
            ("query=mail+text", &[], format!("{PRIVATE},{SAY}")),
            ("query=say", &[], SAY.to_owned()),
        ] {
            let host = host(variables);
            let request = Request {
                own_origin: None,
                method: Method::Get,
                path: "/xaibo/tools",
                query,
                headers: &Pairs(&[]),
                body: Body::from(""),
            };
            let response =
                ready(Server::new(catalog, CAPABILITIES, &host).answer(request, &host)).head;
            let body = String::from_utf8(response.body.into_owned()).unwrap();
            assert_eq!(body, format!("[{expected}]"), "{skills:?} {query} {variables:?}");
        }
    }
}
