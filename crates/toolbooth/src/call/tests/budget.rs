//! Tests of budgets: what is taken from them, and what happens if the ledger fails.

use super::*;
use crate::budget::{Budget, Unit, Window};
use crate::host::{LEDGER, LedgerError};
use crate::log::CallRecorder;
use crate::principal::{KEY_SUBJECT, Scopes};
use crate::settings::Settings;
use crate::testing::Pairs;

/// The SHA-256 of "abc".
const HASH: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

/// A host whose key `ada` has these budgets.
fn host(budgets: &Value, is_bound: bool) -> FakeHost {
    let keys = json!([{"name": "ada", "scopes": [], "hash": HASH, "budgets": budgets}]).to_string();
    let mut host = FakeHost::with(&[("AUTH", "api-key"), ("API_KEYS", &keys)]);
    host.tick_ms = 0;
    if is_bound {
        host.bindings.insert(LEDGER);
    }
    host
}

fn key() -> Principal {
    Principal::key("ada", Scopes::NONE)
}

fn user(issuer: &str, subject: &str, budgets: Vec<Budget>) -> Principal {
    Principal::User {
        issuer: issuer.to_owned(),
        subject: Some(subject.to_owned()),
        scopes: Scopes::NONE,
        client: None,
        rule: None,
        budgets,
        tenant: None,
        client_ref: None,
        team: None,
        actor: None,
        grant: None,
    }
}

/// Serves a request with `count` calls.
fn request(count: usize, principal: &Principal, host: &FakeHost) -> Result<usize, Rejection> {
    let mut pipeline = Pipeline::new(CATALOG, host);
    pipeline.settings.own_issuer = Some("own".to_owned());
    let (pipeline, calls) = (&pipeline, &CallRecorder::default());
    let (query, parameter, headers) = ("", "", &Pairs(&[]));
    let context = RequestContext {
        query,
        parameter,
        headers,
        principal,
        pipeline,
        host,
        calls,
        only: None,
        shows_protected: false,
        listener: None,
    };
    // A call that cannot be decoded counts, too.
    let calls = (0..count).map(|_| Err(Rejection::InvalidToolId { meant: None })).collect();
    ready(context.call_all(calls)).map(|outcomes| outcomes.len())
}

#[test]
fn a_request_takes_all_of_its_calls_or_none() {
    let host = host(&json!([{"window": "1m", "tool_calls": 7}, {"window": "1d", "usd": 1}]), true);
    assert_eq!(request(5, &key(), &host), Ok(5));
    let rejected = request(3, &key(), &host).unwrap_err();
    let Rejection::BudgetExceeded(exceeded) = &rejected else { panic!("{rejected:?}") };
    // 20:13:20 UTC
    assert_eq!((exceeded.left, exceeded.needed, exceeded.retry_after), (2, 3, 40));
    assert_eq!(exceeded.resets_at_ms, 1_741_724_040_000);
    assert_eq!(request(2, &key(), &host), Ok(2));
    assert!(request(1, &key(), &host).is_err());
    host.now_ms.set(1_741_724_040_000);
    assert_eq!(request(7, &key(), &host), Ok(7));
}

#[test]
fn whose_budget_it_is() {
    let budgets = vec![Budget { window: Window::Day, unit: Unit::ToolCalls, limit: 2 }];
    let host = host(&json!([{"window": "1d", "tool_calls": 2}]), true);
    let token = user("own", &format!("{KEY_SUBJECT}ada"), Vec::new());
    for (principal, passes) in [
        (key(), true),
        // The holder of a token that was issued for the key.
        (token, true),
        (key(), false),
        (user("own", "github:1", budgets.clone()), true),
        (user("own", "github:2", budgets.clone()), true),
        (user("own", "github:1", budgets.clone()), true),
        (user("own", "github:1", budgets.clone()), false),
        // Another issuer's `sub` is another person.
        (user("other", "github:2", Vec::new()), true),
        (user("other", "api-key:ada", Vec::new()), true),
        (Principal::ANONYMOUS, true),
    ] {
        assert_eq!(request(1, &principal, &host).is_ok(), passes, "{principal:?}");
    }
}

/// Two keys of a team; `ada` has a budget of her own too.
fn team_host(team: &Value) -> FakeHost {
    const OTHER: &str = "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d";
    let own = json!([{"window": "1d", "tool_calls": 5}]);
    let keys = json!([
        {"name": "ada", "scopes": [], "hash": HASH, "budgets": own},
        {"name": "bob", "scopes": [], "hash": OTHER},
    ]);
    let teams = json!([{"name": "research", "rules": ["key:ada", "key:bob"], "budgets": team}]);
    let variables =
        [("AUTH", "api-key"), ("API_KEYS", &*keys.to_string()), ("TEAMS", &*teams.to_string())];
    let mut host = FakeHost::with(&variables);
    host.tick_ms = 0;
    host.bindings.insert(LEDGER);
    host
}

#[test]
fn a_team_has_one_budget_beside_those_of_its_members() {
    use crate::host::Host;

    let host = team_host(&json!([{"window": "1d", "tool_calls": 7}]));
    let key = |name: &str| Principal::key(name, Scopes::NONE);
    let used = |account: &str| {
        let usage = ready((&host as &dyn Host).usage(account)).unwrap();
        let day = usage
            .windows
            .into_iter()
            .find(|it| (it.window, it.unit) == (Window::Day, Unit::ToolCalls));
        day.map_or((0, 0), |it| (it.used, it.reserved))
    };
    for (name, calls, exceeded) in [
        ("ada", 4, None),
        // More than is left of her own budget: nothing is taken from that of the team.
        ("ada", 2, Some(None)),
        ("bob", 2, None),
        // More than is left of the team's: nothing is taken from her own.
        ("ada", 1, None),
        ("bob", 1, Some(Some("research"))),
    ] {
        let result = request(calls, &key(name), &host);
        let team = result.err().map(|rejection| match rejection {
            Rejection::BudgetExceeded(exceeded) => exceeded.team,
            other => panic!("{other:?}"),
        });
        let expected = exceeded.map(|team| team.map(str::to_owned));
        assert_eq!(team, expected, "{name} {calls}");
    }
    // What each member has used is known, also without a budget of its own.
    let all = ["team:research", "key:ada", "key:bob"].map(used);
    assert_eq!(all, [(7, 0), (5, 0), (2, 0)]);
    let user = user("own", &format!("{KEY_SUBJECT}bob"), Vec::new());
    let rejected = request(1, &user, &host).unwrap_err().describe();
    assert_eq!(rejected.message, "The budget of the team 'research' does not cover the request");
    host.ledger.fails.set(true);
    assert_eq!(request(1, &key("bob"), &host).unwrap_err().describe().kind.status(), 503);
}

#[test]
fn what_a_team_does_not_cover_is_not_taken_from_its_member() {
    use crate::host::Host;

    let host = team_host(&json!([{"window": "1d", "tool_calls": 3}]));
    assert!(request(4, &key(), &host).is_err());
    assert_eq!(request(3, &key(), &host), Ok(3));
    let usage = ready((&host as &dyn Host).usage("key:ada")).unwrap();
    let used: Vec<_> = usage.days.iter().map(|day| day.used).collect();
    assert_eq!(used, [3]);
}

#[test]
fn a_budget_that_cannot_be_counted_is_spent() {
    let budgets = json!([{"window": "1d", "tool_calls": 2}]);
    let unbound = host(&budgets, false);
    let rejected = request(1, &key(), &unbound).unwrap_err().describe();
    assert_eq!((rejected.kind.status(), rejected.detail.contains(LEDGER)), (503, true));
    assert_eq!(request(1, &Principal::ANONYMOUS, &unbound), Ok(1));
    assert!(unbound.log.borrow().is_empty(), "the server has logged it when it started");

    let failing = host(&budgets, true);
    failing.ledger.fails.set(true);
    let rejected = request(1, &key(), &failing).unwrap_err().describe();
    assert_eq!(rejected.kind.status(), 503);
    assert_eq!(*failing.log.borrow(), [r#"Error ledger [("problem", "down")]"#]);
    failing.ledger.fails.set(false);
    assert_eq!(request(2, &key(), &failing), Ok(2), "nothing was taken");
}

#[test]
fn callers_without_a_budget_of_the_unit_ask_no_ledger() {
    let host = host(&json!([{"window": "1d", "usd": 2}]), true);
    assert_eq!(request(3, &key(), &host), Ok(3));
    assert!(host.ledger.operations.borrow().is_empty());
}

#[test]
fn a_claim_belongs_to_one_caller() {
    use crate::host::Ledger;
    use std::time::Duration;

    let host = host(&json!([{"window": "1d", "usd": 2}]), true);
    let claim = |key| ready(host.claim(key, Duration::from_secs(60)));
    assert_eq!([claim("a"), claim("a"), claim("b")], [Ok(true), Ok(false), Ok(true)]);
    host.now_ms.update(|now| now + 60_000);
    assert_eq!([claim("a"), claim("a")], [Ok(true), Ok(false)]);
    host.ledger.fails.set(true);
    assert_eq!(claim("c"), Err(LedgerError::Failed("down".to_owned())));
    let unbound = FakeHost::default();
    assert_eq!(ready(unbound.claim("a", Duration::from_secs(60))), Err(LedgerError::NotBound));
}

#[test]
fn entries_of_api_keys() {
    for (budgets, problem) in [
        (json!([{"window": "1d", "usd": 5}, {"window": "1m", "requests": 60}]), ""),
        (json!([{"window": "1y", "usd": 5}]), r#"API_KEYS[0].budgets of "ada" must be"#),
        (
            json!([{"window": "1d", "usd": 5}, {"window": "1d", "usd": 6}]),
            r#"API_KEYS[0].budgets of "ada" must not have"#,
        ),
    ] {
        let host = host(&budgets, true);
        let settings = Settings::read(&host, &[], &[]);
        let problems = [&*settings.problems, &*settings.rejected].concat();
        let first = problems.first().map(String::as_str).unwrap_or_default();
        assert!(first.starts_with(problem), "{budgets}: {problems:?}");
        assert_eq!(problems.is_empty(), problem.is_empty(), "{budgets}: {problems:?}");
    }
}
