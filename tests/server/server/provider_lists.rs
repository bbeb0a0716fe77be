//! Property tests of provider lists: any query gets a response in the provider's format.

use proptest::prelude::*;
use proptest::sample::select;

use super::properties::modest;
use super::*;

const LISTS: [&str; 4] = [
    "/providers/openai/tools",
    "/providers/openai-responses/tools",
    "/providers/anthropic/tools",
    "/providers/gemini/tools",
];

fn paths() -> Vec<&'static str> {
    [&LISTS[..], &["/providers", "/providers/", "/providers/openai", "/providers/x/tools"]].concat()
}

/// A known or nearly known parameter with a plausible value.
fn parameter() -> impl Strategy<Value = String> {
    let names = select(vec!["strict", "include", "toolkit", "version", "skip_incompatible"]);
    let values = select(vec![
        "true",
        "false",
        "all",
        "latest",
        "1.0.0",
        "Echo",
        "Echo_Say",
        "Echo.Say@1",
        "Echo_Say,Nope",
        "",
    ]);
    prop_oneof![
        6 => (names, values).prop_map(|(name, value)| format!("{name}={value}")),
        1 => "[a-z%&=+,]{0,16}",
        1 => any::<String>(),
    ]
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn any_query_gets_a_response(
        path in select(paths()),
        parameters in prop::collection::vec(parameter(), 0..4),
        allowed in select(vec!["Echo.*", "Echo.Say", "Nope"]),
    ) {
        let path = format!("{path}?{}", parameters.join("&"));
        let host = FakeHost::with(&[("TOOL_ALLOWLIST", allowed)]);
        let answer = answer(CATALOG, &host, ("GET", &path, &[]), Body::from(""));
        prop_assert!([200, 400, 403, 404].contains(&answer.status), "{}", wire(&answer));
    }
}

#[test]
fn every_method_and_header() {
    let host = FakeHost::with(&[("ALLOWED_ORIGINS", "https://b.example")]);
    for (method, headers, status) in [
        ("GET", &[][..], 200),
        ("HEAD", &[], 200),
        ("GET", &[("if-none-match", "\"tag\", *")], 304),
        ("OPTIONS", &[], 204),
        ("OPTIONS", &[ORIGIN, ("access-control-request-method", "GET")], 403),
        ("POST", &[JSON], 405),
        ("DELETE", &[], 405),
        // Neither header is the version of a provider's format.
        ("GET", &[("oxp-version", "2.0"), ("anthropic-version", "1999-01-01")], 200),
    ] {
        for path in LISTS.into_iter().chain(["/providers"]) {
            let answer = answer(CATALOG, &host, (method, path, headers), UNREAD);
            assert_eq!(answer.status, status, "{method} {path} {headers:?}: {}", wire(&answer));
        }
    }
}

#[test]
fn empty_lists_are_arrays() {
    for (path, expected) in
        LISTS.into_iter().zip(["[]", "[]", "[]", r#"[{"functionDeclarations":[]}]"#])
    {
        let answer = send(&FakeHost::default(), ("GET", path, &[]), "");
        assert_eq!(answer.lines().last(), Some(expected), "{path}");
    }
}
