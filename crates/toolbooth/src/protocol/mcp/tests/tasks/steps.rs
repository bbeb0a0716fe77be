//! How a call becomes a task, and its steps.

use super::*;

#[test]
fn mc80_a_call_becomes_a_task_whose_result_is_that_of_the_call() {
    let tested = Tested::new(&[]);
    let created = tested.call("Count", json!({"steps": 2}));
    let id = created["taskId"].as_str().unwrap();
    assert_eq!(id.len(), 32, "128 random bits");
    for (member, expected) in [("ttlMs", json!(86_400_000)), ("pollIntervalMs", json!(1_000))] {
        assert_eq!(created[member], expected);
    }
    let absent = ["result", "error", "inputRequests", "requestState", "statusMessage"];
    assert!(absent.iter().all(|member| created.get(*member).is_none()), "{created}");
    let working = tested.get(id);
    assert_eq!(
        (&working["status"], &working["resultType"]),
        (&json!("working"), &json!("complete"))
    );
    assert_eq!(tested.step(false), 1);
    assert_eq!(tested.get(id)["statusMessage"], "1 of 2: are counted");
    assert_eq!(tested.run(), 2);
    let done = tested.get(id);
    assert_eq!(done["status"], "completed");
    assert_eq!(done["result"]["structuredContent"], json!({"done": 2, "secret": ""}));
    // Not the extension: all steps run within the call, with the same result.
    let params = json!({"name": "Count", "arguments": {"steps": 2}, "_meta": {CAPABLE: {}}});
    let inline = tested.send("tools/call", params);
    assert_eq!(inline["structuredContent"], done["result"]["structuredContent"]);
    assert_eq!(inline["resultType"], "complete");

    // What the tool throws is its error. If the instance crashes, the task has failed.
    let id = tested.begin("Crash", json!({}));
    tested.run();
    let thrown = tested.get(&id);
    assert_eq!(
        (&thrown["status"], &thrown["result"]["isError"]),
        (&json!("completed"), &json!(true))
    );
    let id = tested.begin("Crash", json!({}));
    tested.host.tasks.crash();
    let failed = tested.get(&id);
    assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!(-32603)));
    assert_eq!(failed.get("result"), None);
}

#[test]
fn mc80_the_extension_is_declared_by_both_sides() {
    // Without a tool that can run as a task, there are only responses in the background, which MCP has not.
    let without = Tested::with_tools(CATALOG, CAPABILITIES, &[]);
    let discovered = without.send("server/discover", json!({}));
    assert_eq!(discovered["capabilities"]["extensions"], Value::Null);
    let (_, unknown) = without.send_as(None, "tasks/get", json!({"taskId": "a"}));
    assert_eq!(unknown["error"]["code"], json!(-32601));
    let tested = Tested::new(&[]);
    let discovered = tested.send("server/discover", json!({}));
    assert_eq!(discovered["capabilities"]["extensions"][EXTENSION], json!({}));
    for (method, further) in [
        ("tasks/get", json!({})),
        ("tasks/update", json!({"inputResponses": {}})),
        ("tasks/cancel", json!({})),
        ("tools/call", json!({"name": "Send"})),
    ] {
        let mut params = further;
        params["taskId"] = json!("t");
        params["_meta"][CAPABLE] = json!({});
        let (status, answer) = tested.send_as(None, method, params);
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32021)), "{method}");
        let required = &answer["error"]["data"]["requiredCapabilities"];
        assert_eq!(*required, json!({"extensions": {EXTENSION: {}}}));
    }
    for method in ["tasks/result", "tasks/list"] {
        let (_, answer) = tested.send_as(None, method, json!({"taskId": "t"}));
        assert_eq!(answer["error"]["code"], -32601, "{method}");
    }
    let call = legacy("tools/call", json!({"name": "Send"}));
    let (_, answer) = mcp::read(tested.request((Method::Post, "/mcp"), &[], &call.to_string()));
    assert_eq!(answer["result"]["isError"], true, "a client of an older version");
}

#[test]
fn mc81_nothing_is_lost_or_done_twice_if_the_runtime_dies_in_a_step() {
    let tested = Tested::new(&[]);
    let id = tested.begin("Count", json!({"steps": 3}));
    tested.step(false);
    // It dies in the second step, which then runs again.
    for _ in 0..4 {
        assert_eq!(tested.step(true), 1);
    }
    tested.run();
    let done = tested.get(&id);
    assert_eq!(done["result"]["structuredContent"]["done"], 3, "{done}");

    // This tool has an effect and no checkpoint: it does not run again.
    let id = tested.begin("Send", json!({}));
    tested.step(true);
    tested.run();
    let done = tested.get(&id);
    assert_eq!((&done["status"], &done["result"]["isError"]), (&json!("completed"), &json!(true)));
    assert!(done["result"]["content"][0]["text"].as_str().unwrap().contains("restarted"), "{done}");

    // A step that always ends the runtime is given up.
    let id = tested.begin("Count", json!({"steps": 3}));
    tested.step(false);
    for _ in 0..5 {
        tested.step(true);
    }
    tested.run();
    assert_eq!(tested.get(&id)["result"]["isError"], true);
}

#[test]
fn mc81_steps_wait_and_end_with_the_task() {
    let tested = Tested::new(&[]);
    let id = tested.begin("Count", json!({"steps": 2, "pause_ms": 60_000}));
    assert_eq!(tested.run(), 1, "the second step is not due");
    tested.host.now_ms.update(|now_ms| now_ms + 60_000);
    assert_eq!(tested.run(), 1);
    let cancel = || tested.send("tasks/cancel", json!({"taskId": id}));
    let acknowledged = cancel();
    assert_eq!(acknowledged["resultType"], "complete");
    assert!(["taskId", "status"].iter().all(|member| acknowledged.get(*member).is_none()));
    tested.host.now_ms.update(|now_ms| now_ms + 60_000);
    assert_eq!(tested.run(), 0, "nothing runs after that");
    assert_eq!(tested.get(&id)["status"], "cancelled");
    assert_eq!(cancel()["resultType"], "complete", "again");
    tested.host.now_ms.update(|now_ms| now_ms + 86_400_000);
    let (_, gone) = tested.send_as(None, "tasks/get", json!({"taskId": id}));
    assert_eq!(gone["error"]["code"], -32602, "its time is over");
}

#[test]
fn mc82_a_task_asks_after_and_before_it_begins() {
    let tested = Tested::new(&[]);
    let answer = |key: &str, it: &str| json!({key: {"action": "accept", "content": {"it": it}}});
    let before = tested.call("Ask", json!({}));
    assert_eq!(before["resultType"], "input_required", "no task yet");
    let params = json!({"name": "Ask", "arguments": {}, "inputResponses": answer("q", "a")});
    let task = tested.send("tools/call", params);
    let id = task["taskId"].as_str().unwrap();
    for (key, it) in [("q.1", "b"), ("q.2", "c")] {
        tested.run();
        let asked = tested.get(id);
        assert_eq!(asked["status"], "input_required");
        let requests = asked["inputRequests"].as_object().unwrap();
        assert_eq!(requests.keys().collect::<Vec<_>>(), [key], "no key repeats");
        assert_eq!(requests[key]["method"], "elicitation/create");
        for ignored in
            [json!({}), answer("other", "x"), json!({key: 7}), json!({key: {"action": "x"}})]
        {
            assert_eq!(tested.update(id, ignored)["resultType"], "complete");
            assert_eq!(tested.get(id)["status"], "input_required");
        }
        tested.update(id, answer(key, it));
        assert_eq!(tested.get(id)["status"], "working");
    }
    tested.run();
    let done = tested.get(id);
    assert_eq!(done["result"]["structuredContent"], json!({"result": ["a", "b", "c"]}), "{done}");
}
