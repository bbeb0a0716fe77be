//! Tests of the lookup of tools and of the allowlist.

use super::*;
use crate::text::excerpt;

#[test]
fn the_allowlist_is_checked_first() {
    for (variables, tool, expected, logged) in [
        (&[("TOOL_ALLOWLIST", "Echo.Say")][..], "Echo_Say", "done", 0),
        (&[("TOOL_ALLOWLIST", "Echo.Say")], "Echo_Private", "forbidden", 0),
        (&[("TOOL_ALLOWLIST", "Echo.Say")], "Echo_Nothing", "unknown", 0),
        (&[("TOOL_ALLOWLIST", "X.Y"), ("TOOL_ALLOWLIST_MODE", "warn")], "Echo_Say", "done", 1),
        (&[("TOOL_ALLOWLIST", "X.Y"), ("TOOL_ALLOWLIST_MODE", "off")], "Echo_Say", "done", 0),
        (&[("TOOL_ALLOWLIST_MODE", "enforce")], "Echo_Say", "forbidden", 0),
        (&[("TOOL_ALLOWLIST_MODE", "yes")], "Echo_Say", "unavailable", 0),
    ] {
        let host = FakeHost::with(variables);
        let input = json!({"text": "hi"});
        let call = ToolRequest::new(ToolSelector::Name(tool.into()), (&input).into());
        let got = match call_tool(call, CATALOG, &Principal::ANONYMOUS, &host) {
            Outcome::Done { .. } => "done",
            Outcome::Rejected(Rejection::ToolNotAllowed { .. }) => "forbidden",
            Outcome::Rejected(Rejection::UnknownTool { .. }) => "unknown",
            Outcome::Rejected(Rejection::Unavailable(_)) => "unavailable",
            other => panic!("{other:?}"),
        };
        assert_eq!(got, expected, "{variables:?} {tool}");
        assert_eq!(host.log.borrow().len(), logged, "{:?}", host.log.borrow());
    }
}

#[test]
fn tools_are_found_by_name_versioned_name_and_id() {
    for (requested, expected) in [
        ("Echo_Say", Ok("2.0.0")),
        ("Echo_Say__1_0_0", Ok("1.0.0")),
        ("Echo.Say", Ok("2.0.0")),
        ("Echo.Say@1", Ok("1.0.0")),
        ("Echo.Say@3", Err("UnknownVersion")),
        ("Echo.Shout", Err("UnknownTool")),
        ("echo_say", Err("UnknownTool")),
        ("", Err("UnknownTool")),
    ] {
        let got = ToolSelector::Name(requested.into()).resolve(CATALOG);
        let got = got.map(|tool| tool.version.to_string()).map_err(|rejection| {
            format!("{rejection:?}").split([' ', '{']).next().unwrap_or_default().to_owned()
        });
        assert_eq!(got.as_deref().map_err(String::as_str), expected, "{requested}");
    }
}

#[test]
fn unknown_tools_are_reported_as_requested() {
    let long = "é".repeat(5000);
    let cut = format!("{}…", "é".repeat(64));
    for (selector, id, name) in [
        (ToolSelector::Id("Weather.Nope@2".into()), "Weather.Nope", "Weather_Nope"),
        (ToolSelector::Name("Weather.Nope".into()), "Weather.Nope", "Weather.Nope"),
        (ToolSelector::Name("Weather.Nope@2".into()), "Weather.Nope", "Weather.Nope@2"),
        (ToolSelector::Name("rpc.x".into()), "rpc.x", "rpc.x"),
        (ToolSelector::Name("Weather_Nope".into()), "Weather_Nope", "Weather_Nope"),
        (ToolSelector::Name("it's".into()), "it’s", "it’s"),
        (ToolSelector::Name(long.into()), &cut, &cut),
    ] {
        let rejection =
            Rejection::UnknownTool { id: id.to_owned(), name: name.to_owned(), meant: None };
        assert_eq!(selector.resolve(CATALOG).map(Tool::id), Err(rejection), "{selector:?}");
    }
}

#[test]
fn the_tool_that_was_meant_is_suggested_if_the_caller_may_run_it() {
    use crate::principal::Scopes;
    use crate::testing::Pairs;

    let name = |text: &'static str| ToolSelector::Name(text.into());
    let id = |text: &'static str| ToolSelector::Id(text.into());
    let scoped = || Scopes::Listed(vec!["echo:a".to_owned(), "echo:b".to_owned()]);
    let only_say = &[("TOOL_ALLOWLIST", "Echo.Say")][..];
    for (selector, scopes, variables, expected) in [
        (name("Echo_Sya"), Scopes::NONE, &[][..], Some("Echo_Say")),
        (name("echo.say"), Scopes::NONE, &[], Some("Echo_Say")),
        (name("EchoSay"), Scopes::NONE, &[], Some("Echo_Say")),
        (name("say"), Scopes::NONE, &[], Some("Echo_Say")),
        (name("Echo_Shout"), Scopes::NONE, &[], None),
        (name("cho_Say"), Scopes::NONE, &[], None),
        (name(""), Scopes::NONE, &[], None),
        (name("@"), Scopes::NONE, &[], None),
        (id("Echo_Say"), Scopes::NONE, &[], Some("Echo.Say")),
        (id("echo.say@7"), Scopes::NONE, &[], Some("Echo.Say")),
        (id("Say"), Scopes::NONE, &[], Some("Echo.Say")),
        (name("Echo_Scopd"), Scopes::NONE, &[], None),
        (name("Scoped"), Scopes::NONE, &[], None),
        (name("Echo_Scopd"), scoped(), &[], Some("Echo_Scoped")),
        (name("Echo_Brokn"), Scopes::NONE, &[], Some("Echo_Broken")),
        (name("Echo_Brokn"), Scopes::NONE, only_say, None),
    ] {
        let host = FakeHost::with(variables);
        let context = RequestContext {
            query: "",
            parameter: "",
            headers: &Pairs(&[]),
            principal: &Principal::Anonymous { scopes },
            pipeline: &Pipeline::new(CATALOG, &host),
            host: &host,
            calls: &crate::log::CallRecorder::default(),
            only: None,
            shows_protected: false,
            listener: None,
        };
        let rejection = context.resolve(&selector).map(Tool::id).unwrap_err();
        let hint = expected.map(|name| format!("did you mean {name}?"));
        let text = rejection.describe().detail;
        assert!(hint.as_ref().is_none_or(|hint| text.ends_with(hint)), "{selector:?}: {text}");
        assert_eq!(text.contains("did you mean"), hint.is_some(), "{selector:?}: {text}");
    }
}

#[test]
fn excerpts() {
    let letters = |count| "a".repeat(count);
    for (text, expected) in [
        (String::new(), String::new()),
        ("Echo.Say@1".to_owned(), "Echo.Say@1".to_owned()),
        (letters(64), letters(64)),
        (letters(65), letters(64) + "…"),
        (letters(100_000), letters(64) + "…"),
        ("é日🙂".repeat(100), "é日🙂".repeat(21) + "é…"),
        ("a\"b'c`d".to_owned(), "a’b’c’d".to_owned()),
        ("\0\r\n\t\u{7f}\u{85}".to_owned(), "�".repeat(6)),
        ("\u{200b}\u{2028}\u{202e}\u{2066}\u{feff}".to_owned(), "�".repeat(5)),
    ] {
        assert_eq!(excerpt(&text), expected, "{text:.20?}");
    }
}
