use std::time::Duration;

use super::*;
use crate::testing::FakeHost;

const DECLARED: &[Variable] =
    &[Variable::new("API_URL", "https://api.example", crate::address::base_address)];

#[test]
fn origins_of_known_clients() {
    const OWN: &[(&str, &str)] = &[("PUBLIC_URL", "https://own.example")];
    const LISTED: &[(&str, &str)] = &[("ALLOWED_ORIGINS", "https://a.example")];
    const ANY: &[(&str, &str)] = &[("ALLOWED_ORIGINS", "*")];
    const HERE: &[(&str, &str)] = &[("ALLOWED_ORIGINS", "http://localhost:*, http://[::1]:*")];
    for (variables, origin, clients, all) in [
        (&[][..], "https://claude.ai", true, false),
        (&[], "https://claude.ai:8443", false, false),
        (&[], "http://claude.ai", false, false),
        (&[], "http://localhost", true, false),
        (&[], "https://localhost:3000", true, false),
        (&[], "http://127.0.0.1:1", true, false),
        (&[], "http://[::1]:8787", true, false),
        (&[], "http://localhost:", false, false),
        (&[], "http://localhost:x", false, false),
        (&[], "http://localhost.a.example", false, false),
        (&[], "http://localhost1", false, false),
        (&[], "ftp://localhost", false, false),
        (&[], "null", false, false),
        (&[], "", false, false),
        (&[], "https://own.example", false, false),
        (OWN, "https://own.example", true, true),
        (OWN, "https://own.example:8443", false, false),
        (OWN, "http://own.example", false, false),
        (&[], "https://a.example", false, false),
        (LISTED, "https://a.example", true, true),
        (LISTED, "https://claude.ai", true, false),
        (ANY, "https://evil.example", true, true),
        (HERE, "http://localhost", true, true),
        (HERE, "http://localhost:3000", true, true),
        (HERE, "http://[::1]:3000", true, true),
        (HERE, "https://localhost:3000", true, false),
        (HERE, "http://127.0.0.1:3000", true, false),
        (HERE, "http://localhost:*", false, false),
        (HERE, "http://localhost:", false, false),
        (HERE, "http://localhost:x", false, false),
        (HERE, "http://localhost:3000/", false, false),
        (HERE, "http://localhost:80@evil.example", false, false),
        (HERE, "http://localhost.evil.example", false, false),
        (HERE, "http://localhostevil.example:80", false, false),
        (HERE, "http://evil.example:3000", false, false),
        (HERE, "https://evil.example", false, false),
        (HERE, "null", false, false),
    ] {
        let settings = Settings::read(&FakeHost::with(variables), &[], &[]);
        let got = [true, false].map(|clients| settings.cors.origins(clients).allow(origin));
        assert_eq!(got, [clients, all], "{variables:?} {origin}");
    }
}

#[test]
fn defaults() {
    let settings = Settings::read(&FakeHost::default(), &[], DECLARED);
    assert!(settings.problems.is_empty());
    let limits = RequestLimits {
        max_body_bytes: 262_144,
        max_argument_bytes: 65_536,
        max_tool_calls: 20,
        tool_timeout: Duration::from_secs(30),
    };
    assert_eq!(settings.limits, limits);
    let log = LogSettings { detail: LogDetail::Calls, sample: SampleRate::ALL };
    assert_eq!(settings.log, log);
    assert!(settings.cors.origins(false).none());
    assert_eq!(settings.tools.get("API_URL"), "https://api.example");
    assert_eq!(settings.tools.get("HOME"), "");
}

#[test]
fn each_wrong_value_is_named() {
    for (name, value, wrong) in [
        ("MAX_BODY_BYTES", "1000", false),
        ("MAX_BODY_BYTES", "0", true),
        ("MAX_BODY_BYTES", "-1", true),
        ("MAX_BODY_BYTES", "256k", true),
        ("MAX_BODY_BYTES", "", true),
        ("MAX_BODY_BYTES", "99999999999999999999", true),
        ("MAX_ARGUMENT_BYTES", "262144", false),
        ("MAX_ARGUMENT_BYTES", "262145", true),
        ("MAX_TOOL_CALLS", "50", false),
        ("MAX_TOOL_CALLS", "51", true),
        ("MAX_TOOL_CALLS", "0", true),
        ("TOOL_TIMEOUT_MS", "600000", false),
        ("TOOL_TIMEOUT_MS", "600001", true),
        ("TOOL_TIMEOUT_MS", "30s", true),
        ("LOG", "off", false),
        ("LOG", "errors", false),
        ("LOG", "calls", false),
        ("LOG", "Calls", true),
        ("LOG", "", true),
        ("LOG_SAMPLE", "0", false),
        ("LOG_SAMPLE", "0.1", false),
        ("LOG_SAMPLE", "1.0", false),
        ("LOG_SAMPLE", "1.1", true),
        ("LOG_SAMPLE", "-0.1", true),
        ("LOG_SAMPLE", "10%", true),
        ("LOG_SAMPLE", "\"1\"", true),
        ("LOG_SAMPLE", "", true),
        ("TOOL_ALLOWLIST", "Echo.Say", false),
        ("TOOL_ALLOWLIST", "", false),
        ("TOOL_ALLOWLIST_MODE", "warn", false),
        ("TOOL_ALLOWLIST_MODE", "Enforce", true),
        ("TOOL_ALLOWLIST_MODE", "", true),
        ("ALLOWED_ORIGINS", "*", false),
        ("ALLOWED_ORIGINS", "", false),
        ("ALLOWED_ORIGINS", "https://a.example, http://localhost:3000", false),
        ("ALLOWED_ORIGINS", "a.example", true),
        ("ALLOWED_ORIGINS", "https://a.example/", true),
        ("ALLOWED_ORIGINS", "https://*.example", true),
        ("ALLOWED_ORIGINS", "http://localhost:*, https://127.0.0.1:*", false),
        ("ALLOWED_ORIGINS", "http://a.example:*", true),
        ("ALLOWED_ORIGINS", "http://localhost:80:*", true),
        ("ALLOWED_ORIGINS", "http://localhost:**", true),
        ("ALLOWED_ORIGINS", "localhost:*", true),
        ("ALLOWED_ORIGINS", "http://:*", true),
        ("ALLOWED_HEADERS", "", false),
        ("ALLOWED_HEADERS", "X-Tenant, x-b", false),
        ("ALLOWED_HEADERS", "x tenant", true),
        ("ALLOWED_HEADERS", "x-a\r\nx-b", true),
        ("PUBLIC_URL", "https://a.example", false),
        ("PUBLIC_URL", "", false),
        ("PUBLIC_URL", "a.example", true),
        ("PUBLIC_URL", "https://a.example/", true),
    ] {
        let problems = Settings::read(&FakeHost::with(&[(name, value)]), &[], &[]).problems;
        assert_eq!(!problems.is_empty(), wrong, "{name}={value}: {problems:?}");
        assert!(problems.iter().all(|problem| problem.starts_with(name)), "{problems:?}");
    }
}

#[test]
fn variables_of_a_capability_that_is_not_served() {
    for (variables, problem) in [
        (&[("OAUTH_PROVIDERS", "github")][..], "OAUTH_PROVIDERS needs a Worker that serves"),
        (&[("AUTH", "sign-in")], "AUTH sign-in needs a Worker that serves"),
    ] {
        let Settings { problems, auth, .. } = Settings::read(&FakeHost::with(variables), &[], &[]);
        assert!(problems.iter().any(|it| it.starts_with(problem)), "{problems:?}");
        assert!(!auth.sign_in);
    }
}
