//! Which calls of compiled-in tools run, and which the user must approve.

use super::loops::{both, say, world};
use super::*;

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

#[test]
fn members_of_an_entry_that_are_unknown_are_errors() {
    for (entry, param) in [
        (select(json!({"require_approvals": "always"})), "tools[0].require_approvals"),
        (select(json!({"requireApproval": "always"})), "tools[0].requireApproval"),
        (select(json!({"server_label": "own"})), "tools[0].server_label"),
        (select(json!({"require_approval": "sometimes"})), "tools[0].require_approval"),
        (select(json!({"require_approval": {"always": {}}})), "tools[0].require_approval"),
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
