//! Tasks in REST.

use super::*;

#[test]
fn rest_answers_202_with_the_address_of_the_status() {
    let tested = Tested::new(&[]);
    let post = |name: &str, headers: &[(&str, &str)], body: Value| {
        tested.request((Method::Post, &format!("/rest/{name}")), headers, &body.to_string())
    };
    let json_of =
        |response: &Response| -> Value { serde_json::from_slice(&response.body).unwrap() };
    let header = |response: &Response, name: &str| {
        let found = response.headers.iter().find(|(it, _)| *it == name);
        found.map(|(_, value)| value.to_string())
    };
    let inline = post("Count", &[], json!({"steps": 1}));
    assert_eq!((inline.status, &json_of(&inline)["done"]), (200, &json!(1)));
    let begun = post("Count", &[("prefer", "wait=5, respond-async")], json!({"steps": 1}));
    assert_eq!(begun.status, 202);
    assert_eq!(header(&begun, "preference-applied").as_deref(), Some("respond-async"));
    let path = header(&begun, "location").unwrap();
    let get = |path: &str| tested.request((Method::Get, path), &[], "");
    assert_eq!(header(&get(&path), "retry-after").as_deref(), Some("1"));
    assert_eq!(json_of(&get(&path))["status"], "working");
    tested.run();
    let done = get(&path);
    assert_eq!(json_of(&done)["value"]["done"], 1);
    assert_eq!(header(&done, "retry-after"), None);

    let required = post("Send", &[], json!({}));
    assert_eq!((required.status, header(&required, "preference-applied")), (202, None));
    let through_search = post("call_tool", &[], json!({"name": "Send", "arguments": {}}));
    assert_eq!(through_search.status, 202, "{}", String::from_utf8_lossy(&through_search.body));
    let path = header(&required, "location").unwrap();
    assert_eq!(tested.request((Method::Delete, &path), &[], "").status, 204);
    assert_eq!(json_of(&get(&path))["status"], "cancelled");
    assert_eq!(get("/tasks/ffffffffffffffffffffffffffffffff").status, 404);
    // A tool that asks has a client that cannot be asked.
    let asks = post("Ask", &[], json!({}));
    assert_eq!(asks.status, 400, "{}", String::from_utf8_lossy(&asks.body));
    for (crashes, status, code) in [(false, "completed", 422), (true, "failed", 500)] {
        let begun = header(&post("Crash", &[("prefer", "respond-async")], json!({})), "location");
        if crashes {
            tested.host.tasks.crash();
        }
        tested.run();
        let ended = json_of(&get(&begun.unwrap()));
        assert_eq!((&ended["status"], &ended["problem"]["status"]), (&json!(status), &json!(code)));
    }
}
