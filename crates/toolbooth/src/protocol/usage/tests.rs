use serde_json::{Value, json};

use crate::Server;
use crate::budget::{Budget, Unit};
use crate::capabilities::{CORE, USAGE};
use crate::capability::Capability;
use crate::host::{Amount, LEDGER, Ledger};
use crate::http::{Answer, Body, Method, Request};
use crate::settings::parse_budgets;
use crate::testing::echo::CATALOG;
use crate::testing::{FakeHost, Pairs, ready};

const CAPABILITIES: &[&Capability] = &[&CORE, &USAGE];
/// The hashes of "abc", "b" and "c".
const HASHES: [&str; 3] = [
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d",
    "2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6",
];

/// The key "abc" of ada has budgets; "b" of bob has none, and "c" of the operator the scope `usage`.
fn host() -> FakeHost {
    let budgets = json!([{"window": "1d", "usd": 5}, {"window": "1m", "tool_calls": 20}]);
    let keys = json!([
        {"name": "ada", "scopes": [], "hash": HASHES[0], "budgets": budgets},
        {"name": "bob", "scopes": [], "hash": HASHES[1]},
        {"name": "operator", "scopes": ["usage"], "hash": HASHES[2]},
    ]);
    let mut host = FakeHost::with(&[
        ("AUTH", "api-key, none"),
        ("ANONYMOUS_SCOPES", "*"),
        ("API_KEYS", &keys.to_string()),
    ]);
    host.tick_ms = 0;
    host.bindings.insert(LEDGER);
    host
}

fn budgets(text: &str) -> Vec<Budget> {
    parse_budgets(&crate::json::parse(text).unwrap()).unwrap()
}

fn take(host: &FakeHost, account: &str, budgets: &[Budget], unit: Unit, units: u64) {
    ready(host.charge(account, Amount { budgets, unit, units })).unwrap().unwrap();
}

fn get(host: &FakeHost, key: &str, query: &str) -> (u16, Value) {
    let server = Server::new(CATALOG, CAPABILITIES, host);
    let headers = [("x-api-key", key)];
    let headers = if key.is_empty() { &[][..] } else { &headers };
    let request = Request {
        own_origin: None,
        method: Method::Get,
        path: "/usage",
        query,
        headers: &Pairs(headers),
        body: Body::Read(Vec::new()),
    };
    let Answer { head, .. } = ready(server.answer(request, host));
    (head.status, serde_json::from_slice(&head.body).unwrap())
}

fn names(body: &Value) -> Vec<&str> {
    body["callers"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect()
}

#[test]
fn what_a_caller_has_used() {
    let host = host();
    let of_ada = budgets(r#"[{"window":"1d","usd":5},{"window":"1m","tool_calls":20}]"#);
    take(&host, "key:ada", &of_ada, Unit::Usd, 1_250_000_000);
    take(&host, "key:ada", &of_ada, Unit::ToolCalls, 3);
    let expected = json!({"callers": [{
        "name": "ada",
        "kind": "key",
        "budgets": [
            {"window": "1d", "unit": "usd", "limit": 5.0, "used": 1.25, "reserved": 0.0, "resets_at": "2025-03-12T00:00:00Z"},
            {"window": "1m", "unit": "tool_calls", "limit": 20, "used": 3, "reserved": 0, "resets_at": "2025-03-11T20:14:00Z"},
        ],
        "days": [{"day": "2025-03-11", "usd": 1.25, "tool_calls": 3}],
    }]});
    assert_eq!(get(&host, "abc", ""), (200, expected));
}

#[test]
fn who_sees_whom() {
    let host = host();
    take(
        &host,
        "person:github:1",
        &budgets(r#"[{"window":"30d","requests":9}]"#),
        Unit::Requests,
        2,
    );
    // A key that is no longer in API_KEYS.
    take(&host, "key:old", &budgets(r#"[{"window":"1d","requests":9}]"#), Unit::Requests, 1);
    for (key, expected) in
        [("", &[][..]), ("abc", &["ada"]), ("b", &["bob"]), ("c", &["ada", "old", "github:1"])]
    {
        let (status, body) = get(&host, key, "");
        assert_eq!((status, names(&body)), (200, expected.to_vec()), "{key:?}");
    }
    assert_eq!(get(&host, "wrong", "").0, 401);
    let (_, all) = get(&host, "c", "");
    let person = &all["callers"][2];
    assert_eq!((&person["kind"], &person["budgets"][0]["used"]), (&json!("person"), &json!(2)));
}

/// Ada and Bob are in a team: both see what is left of its budget, and only Ada what it and its keys have used on each day.
#[test]
fn what_a_team_has_used() {
    let keys = json!([
        {"name": "ada", "scopes": ["usage:team"], "hash": HASHES[0]},
        {"name": "bob", "scopes": [], "hash": HASHES[1]},
        {"name": "operator", "scopes": ["usage"], "hash": HASHES[2]},
    ]);
    let budget = json!([{"window": "1m", "tool_calls": 20}]);
    let teams = json!([{"name": "research", "rules": ["key:ada", "key:bob"], "budgets": budget}]);
    let mut host = FakeHost::with(&[
        ("AUTH", "api-key"),
        ("API_KEYS", &keys.to_string()),
        ("TEAMS", &teams.to_string()),
    ]);
    host.tick_ms = 0;
    host.bindings.insert(LEDGER);
    let budget = budgets(&budget.to_string());
    take(&host, "team:research", &budget, Unit::ToolCalls, 5);
    take(&host, "key:bob", &[], Unit::ToolCalls, 3);
    for (key, expected) in [
        ("abc", &["ada", "research", "bob"][..]),
        ("b", &["bob", "research"]),
        ("c", &["bob", "research"]),
    ] {
        let (status, body) = get(&host, key, "");
        assert_eq!((status, names(&body)), (200, expected.to_vec()), "{key}");
    }
    let (_, body) = get(&host, "abc", "");
    let team = &body["callers"][1];
    assert_eq!((&team["kind"], &team["budgets"][0]["used"]), (&json!("team"), &json!(5)));
    assert_eq!(team["days"], json!([{"day": "2025-03-11", "tool_calls": 5}]));
    assert_eq!(body["callers"][2]["days"], json!([{"day": "2025-03-11", "tool_calls": 3}]));
    let (_, body) = get(&host, "b", "");
    let team = &body["callers"][1];
    assert_eq!((&team["budgets"][0]["used"], &team["days"]), (&json!(5), &json!([])));
}

/// A unit that a budget counts is there on each day; one that none counts is never 0.
#[test]
fn units_that_are_counted() {
    let keys = json!([{"name": "ada", "scopes": [], "hash": HASHES[0], "budgets": [{"window": "1d", "usd": 5}]}]);
    let team = json!({"name": "research", "rules": ["key:ada"], "budgets": [{"window": "1m", "tool_calls": 20}]});
    for (teams, expected) in [
        (json!([]), json!({"day": "2025-03-11", "usd": 1.0})),
        (json!([team]), json!({"day": "2025-03-11", "usd": 1.0, "tool_calls": 0})),
    ] {
        let mut host = FakeHost::with(&[
            ("AUTH", "api-key"),
            ("API_KEYS", &keys.to_string()),
            ("TEAMS", &teams.to_string()),
        ]);
        host.tick_ms = 0;
        host.bindings.insert(LEDGER);
        take(&host, "key:ada", &[], Unit::Usd, 1_000_000_000);
        assert_eq!(get(&host, "abc", "").1["callers"][0]["days"], json!([expected]), "{teams}");
    }
}

#[test]
fn many_callers_have_several_pages() {
    let host = host();
    let budgets = budgets(r#"[{"window":"1d","requests":9}]"#);
    for number in 0..120 {
        take(&host, &format!("person:{number:03}"), &budgets, Unit::Requests, 1);
    }
    let (mut after, mut all) = (String::new(), Vec::new());
    for count in [50, 50, 21] {
        let (_, body) = get(&host, "c", &format!("after={after}"));
        assert_eq!(names(&body).len(), count);
        all.extend(names(&body).into_iter().map(str::to_owned));
        after = body["next"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!(after, "");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 121);
}

#[test]
fn without_a_ledger() {
    let mut unbound = host();
    unbound.bindings.clear();
    for (key, status) in [("", 200), ("abc", 503), ("b", 200), ("c", 503)] {
        assert_eq!(get(&unbound, key, "").0, status, "{key:?}");
    }
    let failing = host();
    failing.ledger.fails.set(true);
    for (key, status) in [("abc", 503), ("c", 503)] {
        assert_eq!(get(&failing, key, "").0, status, "{key:?}");
    }
}

#[test]
fn the_operator_learns_which_budgets_need_a_ledger() {
    let mut unbound = host();
    unbound.bindings.clear();
    Server::new(CATALOG, CAPABILITIES, &unbound);
    let log = unbound.log.take().join("\n");
    assert!(
        log.contains(r#"API_KEYS of \"ada\" has budgets, which need the Durable Object LEDGER"#),
        "{log}"
    );
    let bound = host();
    Server::new(CATALOG, CAPABILITIES, &bound);
    assert!(!bound.log.take().join("\n").contains(LEDGER));
}
