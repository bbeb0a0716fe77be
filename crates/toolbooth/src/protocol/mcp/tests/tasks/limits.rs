//! How many tasks there may be, how much they keep, and servers that keep none.

use super::*;

#[test]
fn mc83_callers_have_a_limited_number_of_tasks_and_results_a_largest_size() {
    let tested = Tested::new(&[("MAX_TASKS", "2"), ("TASK_HOURS", "1")]);
    let one = tested.begin("Count", json!({"steps": 1}));
    let two = tested.begin("Large", json!({"steps": 1_500_000}));
    let call = json!({"name": "Count", "arguments": {"steps": 1}});
    let third = tested.send_as(None, "tools/call", call.clone());
    assert_eq!(code(&third), (429, -32600), "{third:?}");
    // Callers without credentials are counted by network.
    let (_, other) = tested.send_with(Some(("cf-connecting-ip", "192.0.2.7")), "tools/call", call);
    assert_eq!(other["result"]["status"], "working", "{other}");
    tested.run();
    assert_eq!(tested.get(&one)["ttlMs"], 3_600_000);
    let large = &tested.get(&two)["result"];
    assert_eq!(large["isError"], true);
    assert!(large["content"][0]["text"].as_str().unwrap().contains("too large"));
    tested.begin("Count", json!({"steps": 1}));
}

#[test]
fn what_a_task_remembers_fits_into_a_row_with_its_call() {
    let tested = Tested::new(&[("MAX_BODY_BYTES", "2097152")]);
    // Each of the two fits alone.
    let arguments = json!({"steps": 900_000, "secret": "s".repeat(700_000)});
    let task = tested.begin("Remember", arguments);
    assert_eq!(tested.run(), 1, "the step is not repeated");
    let result = &tested.get(&task)["result"];
    assert_eq!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("too much to remember"), "{text}");
}

#[test]
fn a_server_that_keeps_no_tasks_runs_or_rejects() {
    let mut tested = Tested::new(&[]);
    tested.host.bindings.clear();
    tested.server = Server::new(LONG, CAPABILITIES, &tested.host);
    let inline = tested.call("Count", json!({"steps": 2}));
    assert_eq!(inline["structuredContent"]["done"], 2);
    let (status, _) = tested.send_as(None, "tools/call", json!({"name": "Send"}));
    assert_eq!(status, 503);
    let (_, answer) = tested.send_as(None, "tasks/get", json!({"taskId": "t"}));
    assert_eq!(answer["error"]["code"], -32601);
    assert_eq!(tested.send("server/discover", json!({}))["capabilities"].get("extensions"), None);
    let warned = tested.host.printed();
    assert!(warned.contains("TASKS is not bound"), "{warned}");

    let failing = Tested::new(&[]);
    failing.host.tasks.fails.set(true);
    let call = json!({"name": "Count", "arguments": {"steps": 1}});
    let (status, _) = failing.send_as(None, "tools/call", call);
    assert_eq!(status, 503);
}

#[test]
fn what_is_missing_is_a_warning_if_a_tool_needs_it() {
    const BINDING: &str = "The Durable Object TASKS is not bound";
    const KEY: &str = "STATE_KEY is not set: nothing can run as a task";
    for (catalog, has_key, bound, expected) in [
        (LONG, true, true, None),
        (LONG, true, false, Some(BINDING)),
        (LONG, false, true, Some(KEY)),
        (LONG, false, false, Some(BINDING)),
        (crate::testing::echo::CATALOG, false, true, None),
        (crate::testing::echo::CATALOG, false, false, None),
    ] {
        let mut host = FakeHost::with(if has_key { &[("STATE_KEY", STATE_KEY)] } else { &[] });
        host.bindings.extend(bound.then_some("TASKS"));
        Server::new(catalog, CAPABILITIES, &host).log_warnings(&host);
        let printed = host.printed();
        for warning in [BINDING, KEY] {
            assert_eq!(printed.contains(warning), expected == Some(warning), "{printed}");
        }
    }
}
