//! Which compiled-in tools a request selects, which of their calls run, and which the user must approve.

use crate::gateway::tests::loops::{both, names, say, world};
use crate::gateway::tests::*;

/// `Echo_Say` is read-only, `Echo_Narrow` is not.
pub(super) fn narrow(id: &str, text: &str) -> Value {
    call(id, "Echo_Narrow", &json!({"text": text}).to_string())
}

pub(super) fn select(members: Value) -> Value {
    let mut entry = json!({"type": "toolbooth"});
    entry.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    entry
}

#[test]
fn which_tools_a_request_selects() {
    for (entry, expected) in [
        (json!({"type": "toolbooth"}), &["Echo_Narrow", "Echo_Private", "Echo_Say"][..]),
        (
            json!({"type": "toolbooth", "allowed": ["Echo.*"]}),
            &["Echo_Narrow", "Echo_Private", "Echo_Say"],
        ),
        (json!({"type": "toolbooth", "allowed": ["Echo_Say"]}), &["Echo_Say"]),
        (
            json!({"type": "mcp", "server_url": "toolbooth", "server_label": "x", "allowed_tools": ["Echo.Say"]}),
            &["Echo_Say"],
        ),
        (json!({"type": "toolbooth", "allowed": ["Echo.Scoped"]}), &[]),
        (json!({"type": "toolbooth", "allowed": ["Nothing.Here"]}), &[]),
        (json!({"type": "toolbooth", "allowed": "Echo.Say"}), &[]),
        (json!({"type": "toolbooth", "require_approval": "sometimes"}), &[]),
        (json!({"type": "toolbooth", "allowed": ["Echo.Say"], "allowed_tools": ["Echo.Say"]}), &[]),
    ] {
        let reply = world(&[]).ask(vec![says("hi")], &chat(json!({"tools": [entry]})));
        if expected.is_empty() {
            assert_eq!(
                (reply.status, reply.code().as_str()),
                (400, "invalid_request"),
                "{entry} {reply:?}"
            );
        } else {
            let tools = reply.sent[0].body["tools"].as_array().unwrap();
            assert_eq!(names(tools), expected, "{entry}");
        }
    }
    let reply = world(&[]).ask(vec![says("hi")], &chat(json!({"tools": [{"type": "toolbooth"}]})));
    let warnings = reply.json()["_2api"]["warnings"].to_string();
    assert!(warnings.contains("'Echo_Broken' is left out"), "{warnings}");
    // Only those of the caller's key: the hash is that of "key-one".
    let keys = r#"[{"name":"one","scopes":["gateway"],"tools":["Echo_Say", "Echo.Private"],
        "hash":"9b346041bc9a49574eb2665b2ad2a0a3f9f9cce4e42f5d1f26deb8a256b5966a"}]"#;
    let keyed = world(&[("AUTH", "api-key"), ("API_KEYS", keys)]);
    let body = chat(json!({"tools": [{"type": "toolbooth"}]}));
    let headers = [JSON, ("authorization", "Bearer key-one")];
    let reply = keyed.ask_with(vec![says("hi")], &headers, &body, usize::MAX);
    let tools = reply.sent[0].body["tools"].as_array().unwrap();
    assert_eq!(names(tools), ["Echo_Private", "Echo_Say"]);
    let twice =
        json!({"tools": [tool("Echo_Say"), {"type": "toolbooth", "allowed": ["Echo.Say"]}]});
    assert_eq!(world(&[]).ask(vec![], &chat(twice)).code(), "invalid_request", "the same name");
}

#[test]
fn tools_that_write_run_only_if_the_request_says_so() {
    let plain = || select(json!({}));
    let never = || select(json!({"require_approval": "never"}));
    let always = || select(json!({"require_approval": "always"}));
    let only = |tool: &str, approval: &str| {
        select(json!({"allowed": [tool], "require_approval": approval}))
    };
    let server = json!({"type": "mcp", "server_url": "toolbooth", "server_label": "own", "require_approval": "never"});
    for (entries, say_runs, narrow_runs) in [
        (vec![plain()], true, false),
        (vec![select(json!({"require_approval": null}))], true, false),
        (vec![never()], true, true),
        (vec![server], true, true),
        (
            vec![select(json!({"require_approval": {
                "always": {"tool_names": ["Echo_Say"]}, "never": {"tool_names": ["Echo_Narrow"]},
            }}))],
            false,
            true,
        ),
        (vec![always()], false, false),
        // The strictest entry decides, wherever it is.
        (vec![never(), plain()], true, false),
        (vec![plain(), never()], true, false),
        (vec![never(), only("Echo.Say", "always")], false, true),
        (vec![only("Echo.Say", "always"), never()], false, true),
        (vec![only("Echo.Narrow", "never"), plain()], true, false),
        (vec![only("Echo.Say", "never"), only("Echo.Narrow", "never")], true, true),
    ] {
        for (call, name, runs) in
            [(say("1", "a"), "Echo_Say", say_runs), (narrow("1", "a"), "Echo_Narrow", narrow_runs)]
        {
            let body = chat(json!({"tools": entries}));
            let (result, sent) = both(&world(&[]), &[calls(&[call]), says("x")], &body);
            // What runs has a result, which the provider gets.
            assert_eq!(sent.len() == 2, runs, "{entries:?} {name}");
            assert_eq!(result["calls"] == json!([name]), !runs, "{entries:?} {name} {result}");
            assert_eq!(result["_2api"]["tool_calls"].is_array(), runs, "{entries:?} {name}");
        }
    }
}

/// `GATEWAY_TOOLS`, `tools` of a model and of a caller: clients that know nothing of compiled-in tools have them.
#[test]
fn the_operator_adds_tools_to_chats() {
    let wide =
        r#"{"m": {"targets": [{"provider": "openai", "model": "gpt-5"}], "tools": ["Echo.*"]}}"#;
    let exact = wide.replace("Echo.*", "Echo.Narrow");
    for (variables, model, say_runs, narrow_runs) in [
        (vec![("GATEWAY_TOOLS", "Echo.*")], "openai/gpt-5", true, false),
        (vec![("GATEWAY_TOOLS", "Echo.Say, Echo_Narrow")], "openai/gpt-5", true, true),
        // A name that the Worker does not have, and one that the caller may not call.
        (vec![("GATEWAY_TOOLS", "Nothing.*,Echo.Hidden,Echo.Say")], "openai/gpt-5", true, false),
        (vec![("MODELS", wide)], "m", true, false),
        (vec![("MODELS", &exact)], "m", false, true),
        (vec![("MODELS", wide)], "openai/gpt-5", false, false),
    ] {
        let world = world(&variables);
        for (call, runs) in [(say("1", "a"), say_runs), (narrow("1", "a"), narrow_runs)] {
            let mut body = chat(json!({}));
            body["model"] = json!(model);
            let reply = world.ask(vec![calls(std::slice::from_ref(&call)), says("x")], &body);
            assert_eq!(reply.sent.len() == 2, runs, "{variables:?} {call} {}", reply.text);
        }
    }
    // What the client says of a tool holds, and its own tool of that name is its own.
    let world = world(&[("GATEWAY_TOOLS", "Echo.Say")]);
    let own = json!({"type": "function", "function": {"name": "Echo_Say"}});
    for tool in [select(json!({"require_approval": "always"})), own] {
        let body = chat(json!({"tools": [tool]}));
        let reply = world.ask(vec![calls(&[say("1", "a")])], &body);
        assert_eq!(reply.sent.len(), 1, "{}", reply.text);
        let sent = &reply.sent[0].body;
        let tools = sent["tools"].as_array().unwrap().iter();
        assert_eq!(tools.filter(|it| it["function"]["name"] == "Echo_Say").count(), 1);
    }
}

#[test]
fn members_of_an_entry_that_are_unknown_are_errors() {
    for (entry, param) in [
        (select(json!({"require_approvals": "always"})), "tools[0].require_approvals"),
        (select(json!({"requireApproval": "always"})), "tools[0].requireApproval"),
        (select(json!({"server_label": "own"})), "tools[0].server_label"),
        (select(json!({"require_approval": "sometimes"})), "tools[0].require_approval"),
        (select(json!({"require_approval": {"allways": {}}})), "tools[0].require_approval.allways"),
        (
            select(json!({"require_approval": {"never": {"read_only": true}}})),
            "tools[0].require_approval.never.read_only",
        ),
        (select(json!({"allowed": "Echo.Say"})), "tools[0].allowed"),
        (select(json!({"allowed": ["Nothing.Here"]})), "tools[0].allowed"),
        // A misspelled name next to one that matches.
        (
            select(json!({"allowed": ["Echo.Say", "Echo.Narow"], "require_approval": "always"})),
            "tools[0].allowed",
        ),
        (select(json!({"allowed": ["Echo.*", "Ecko.*"]})), "tools[0].allowed"),
        (
            json!({"type": "mcp", "server_url": "toolbooth", "headers": {"a": "b"}}),
            "tools[0].headers",
        ),
    ] {
        let reply = world(&[]).ask(vec![says("hi")], &chat(json!({"tools": [entry]})));
        assert_eq!((reply.status, reply.sent.len()), (400, 0), "{entry} {}", reply.text);
        let error = &reply.json()["error"];
        assert_eq!(error["code"], "invalid_request", "{error}");
        assert_eq!(error["param"], param, "{error}");
    }
}
