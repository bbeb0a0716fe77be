//! Who is named in events, and how much of them is written.

use serde_json::{Value, json};

use super::*;
use crate::principal::Scopes;
use crate::testing::FakeHost;

const KEY: &str = "0123456789abcdef0123456789abcdef";

fn settings(variables: &[(&str, &str)]) -> Settings {
    crate::testing::settings(crate::testing::CAPABILITIES, &FakeHost::with(variables))
}

fn user(subject: &str) -> Principal {
    let subject = Some(subject.to_owned());
    let issuer = "issuer".to_owned();
    Principal::User {
        issuer,
        subject,
        scopes: Scopes::NONE,
        client: None,
        rule: None,
        budgets: Vec::new(),
        tenant: None,
        client_ref: None,
        team: None,
        actor: None,
        grant: None,
    }
}

#[test]
fn callers_are_named_without_their_ids() {
    let plain = EventLog::new(&settings(&[]), &FakeHost::default());
    let keyed = EventLog::new(&settings(&[("STATE_KEY", KEY)]), &FakeHost::default());
    let key = Principal::key("ops", Scopes::NONE);
    assert_eq!(plain.caller(&key), "key:ops");
    assert_eq!(plain.caller(&Principal::ANONYMOUS), "anonymous");
    let mut acted_for = user("ada@example.com");
    assert_eq!(plain.actor(&acted_for), None);
    if let Principal::User { actor, .. } = &mut acted_for {
        *actor = Some("robot".to_owned());
    }
    assert_eq!(plain.actor(&acted_for).as_deref(), Some("key:robot"));
    let names = [
        plain.caller(&user("ada@example.com")),
        plain.caller(&user("bob@example.com")),
        keyed.caller(&user("ada@example.com")),
        keyed.caller(&user("bob@example.com")),
    ];
    for (at, name) in names.iter().enumerate() {
        assert!(name.starts_with("user:") && name.len() == 5 + 16, "{name}");
        assert!(!names[..at].contains(name), "{name} differs from the others");
    }
    // printf %s 'issuerada@example.com' | sha256sum, in base64url
    assert_eq!(names[0], "user:a_zwSs34m8ge0rTC");
    for (subject, name) in [("bob@example.com", 1), ("bob@example.com", 1), ("ada@example.com", 0)]
    {
        assert_eq!(plain.caller(&user(subject)), names[name], "who called before changes nothing");
    }
}

#[test]
fn each_level_of_detail_includes_the_one_before() {
    let rejected = Event::CredentialsRejected { protocol: "mcp", reason: "expired" };
    let missing = Event::CredentialsMissing { protocol: "mcp" };
    for (detail, lines) in [("off", 0), ("errors", 1), ("calls", 2)] {
        let host = FakeHost::default();
        let events = EventLog::new(&settings(&[("LOG", detail)]), &FakeHost::default());
        events.write(&rejected, &host);
        events.write(&missing, &host);
        assert_eq!(host.lines.borrow().len(), lines, "{detail}");
    }
}

#[test]
fn an_event_is_a_flat_object() {
    let host = FakeHost::default();
    let events = EventLog::new(&settings(&[]), &FakeHost::default());
    events.write(&Event::CredentialsRejected { protocol: "mcp", reason: "expired" }, &host);
    let (level, line) = host.lines.borrow_mut().pop().unwrap();
    let line: Value = serde_json::from_str(&line).unwrap();
    let expected = json!({"audit": 1, "event": "credentials_rejected", "protocol": "mcp", "reason": "expired", "outcome": "rejected"});
    assert_eq!((level, line), (Level::Warn, expected));
}

#[test]
fn a_sample_has_the_size_of_its_rate_and_favours_no_pattern() {
    let host = FakeHost::default();
    for (rate, part) in [("0", 0.0), ("0.01", 0.01), ("0.1", 0.1), ("0.5", 0.5), ("1", 1.0)] {
        let sampler = Sampler::new(settings(&[("LOG_SAMPLE", rate)]).log.sample, &host);
        let picks: Vec<_> = (0..10_000).map(|_| sampler.picks_next()).collect();
        for step in [1, 2, 3, 10] {
            let every: Vec<_> = picks.iter().step_by(step).collect();
            let picked = every.iter().filter(|picked| ***picked).count();
            let expected = part * every.len() as f64;
            assert!((picked as f64 - expected).abs() <= 5.0, "{rate}, each {step}th: {picked}");
        }
    }
}
