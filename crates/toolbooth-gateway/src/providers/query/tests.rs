//! Which tools the query of a list selects.

use super::*;
use toolbooth::principal::Principal;
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::{FakeHost, with_context};

/// The ids of the tools that a query selects.
fn select(query: &str, allowlist: &[(&str, &str)]) -> Result<String, Rejection> {
    let (host, query) = (FakeHost::with(allowlist), ListQuery::parse(query)?);
    let tools =
        with_context(CATALOG, &Principal::ANONYMOUS, "", &host, |context| query.tools(context))?;
    Ok(tools.iter().map(|tool| tool.id()).collect::<Vec<_>>().join(" "))
}

const SAY: &str = "Echo.Say@2.0.0";
const ALL_SAY: &str = "Echo.Say@1.0.0 Echo.Say@1.10.0 Echo.Say@2.0.0";
const LATEST: &str = "Echo.Broken@1.0.0 Echo.Narrow@1.0.0 Echo.Private@1.0.0 Echo.Say@2.0.0";

#[test]
fn valid_queries() {
    let all = LATEST.replace(SAY, ALL_SAY);
    let first = LATEST.replace(SAY, "Echo.Say@1.0.0");
    for (query, expected) in [
        ("", LATEST),
        ("&&", LATEST),
        ("version=latest", LATEST),
        ("version=all", &all),
        ("version=1.0.0", &first),
        ("version=1", &first),
        ("version=1.10.0", "Echo.Say@1.10.0"),
        ("strict=true&skip_incompatible=false", LATEST),
        ("include=Echo_Say", SAY),
        ("include=Echo.Say", SAY),
        ("include=Echo_Say__1_0_0", "Echo.Say@1.0.0"),
        ("include=Echo_Say__2_0_0", SAY),
        ("include=Echo.Say@1", "Echo.Say@1.0.0"),
        ("include=Echo.Say%401.10.0", "Echo.Say@1.10.0"),
        ("include=Echo_Say&version=all", ALL_SAY),
        ("include=Echo.Say&version=1.10.0", "Echo.Say@1.10.0"),
        ("include=Echo_Say__1_0_0&version=all", "Echo.Say@1.0.0"),
        ("include=Echo.Say@1.0.0&version=1.10.0", "Echo.Say@1.0.0"),
        ("include=Echo_Say,+Echo.Broken,", "Echo.Say@2.0.0 Echo.Broken@1.0.0"),
        ("include=Echo_Say%2CEcho_Broken", "Echo.Say@2.0.0 Echo.Broken@1.0.0"),
        ("toolkit=Echo", LATEST),
        ("toolkit=Echo&include=Echo_Say", SAY),
    ] {
        assert_eq!(select(query, &[]).as_deref(), Ok(expected), "{query}");
    }
}

#[test]
fn invalid_queries() {
    let long = "x".repeat(200);
    let flag = |name: &str| format!("{name} must be true or false");
    let version = "version must be latest, all or x.y.z";
    let names = |name: &str| format!("{name} must be a comma-separated list of names");
    let unknown = |name: &str| {
        format!(
            "{name} is not a parameter; the parameters are strict, strict_schemas, include, toolkit, \
             version, skip_incompatible, tools"
        )
    };
    let toolkit = |name: &str| {
        format!(
            "toolkit: there is no toolkit {name} with tools that you may call; expected the part of a tool's id \
             before the dot"
        )
    };
    for (query, expected) in [
        ("strict", flag("strict")),
        ("strict=", flag("strict")),
        ("strict=1", flag("strict")),
        ("strict=True", flag("strict")),
        ("skip_incompatible=yes", flag("skip_incompatible")),
        ("strict_schemas=yes", flag("strict_schemas")),
        ("version=", version.to_owned()),
        ("version=newest", version.to_owned()),
        ("version=1.0", version.to_owned()),
        ("version=1.0.0-rc", version.to_owned()),
        ("version=%20latest", version.to_owned()),
        ("include", names("include")),
        ("include=,%20,", names("include")),
        ("toolkit=", names("toolkit")),
        ("limit=1", unknown("\"limit\"")),
        ("Strict=true", unknown("\"Strict\"")),
        ("=x", unknown("\"\"")),
        ("%00%22=1", unknown("\"\u{fffd}’\"")),
        (&format!("{long}=1"), unknown(&format!("{:?}", excerpt(&long)))),
        ("strict=true&strict=true", "strict appears more than once".to_owned()),
        ("include=Echo_Say&include=Echo_Say", "include appears more than once".to_owned()),
        ("toolkit=echo", toolkit("\"echo\"")),
        ("toolkit=Echo,Nope", toolkit("\"Nope\"")),
        ("version=9.9.9", "version: none of the selected tools has version 9.9.9".to_owned()),
    ] {
        assert_eq!(select(query, &[]), Err(Rejection::Malformed(expected)), "{query}");
    }
}

#[test]
fn unknown_tools() {
    let unknown = |name: &str| Rejection::UnknownTool {
        id: name.to_owned(),
        name: name.to_owned(),
        meant: None,
    };
    let missing = |version: &str| Rejection::UnknownVersion {
        id: "Echo.Say".to_owned(),
        name: "Echo_Say",
        version: version.to_owned(),
    };
    let long = "x".repeat(200);
    for (query, expected) in [
        ("include=Nope", unknown("Nope")),
        ("include=Echo_Say,Nope", unknown("Nope")),
        ("include=Echo.Nope", unknown("Echo.Nope")),
        ("include=Echo_Say__9_9_9", unknown("Echo_Say__9_9_9")),
        ("include=Echo", unknown("Echo")),
        (
            "include=echo_say",
            Rejection::UnknownTool {
                id: "echo_say".to_owned(),
                name: "echo_say".to_owned(),
                meant: Some("Echo_Say".to_owned()),
            },
        ),
        (&format!("include={long}"), unknown(&excerpt(&long))),
        ("include=Echo.Say@9", missing("9.0.0")),
        ("include=Echo_Say&version=9.0.0", missing("9.0.0")),
    ] {
        assert_eq!(select(query, &[]), Err(expected), "{query}");
    }
}

/// 7.2: a list omits tools that the caller may not run.
#[test]
fn the_allowlist() {
    let only = [("TOOL_ALLOWLIST", "Echo.Say@2.0.0")];
    let warn = [("TOOL_ALLOWLIST", "Echo.Say"), ("TOOL_ALLOWLIST_MODE", "warn")];
    let forbidden = |name| Err(Rejection::ToolNotAllowed { name });
    let none = [("TOOL_ALLOWLIST", "Other.Tool")];
    let no_toolkit = |name: &str| {
        Err(Rejection::Malformed(format!(
            "toolkit: there is no toolkit \"{name}\" with tools that you may call; expected the part of a tool's \
             id before the dot"
        )))
    };
    for (query, allowlist, expected) in [
        ("", &only[..], Ok(SAY)),
        ("version=all", &only, Ok(SAY)),
        ("version=1.0.0", &only, Ok("")),
        ("include=Echo_Say&version=all", &only, Ok(SAY)),
        ("include=Echo_Broken", &only, forbidden("Echo_Broken")),
        ("include=Echo.Say@1.0.0", &only, forbidden("Echo_Say")),
        ("", &warn, Ok(LATEST)),
        ("toolkit=Echo", &only, Ok(SAY)),
        ("", &none, Ok("")),
        // The names of other toolkits stay secret.
        ("toolkit=Echo", &none, no_toolkit("Echo")),
        ("toolkit=Ech", &none, no_toolkit("Ech")),
    ] {
        assert_eq!(select(query, allowlist), expected.map(str::to_owned), "{query} {allowlist:?}");
    }
}

/// A list omits tools that require other scopes.
#[test]
fn scopes() {
    let only = [("TOOL_ALLOWLIST", "Echo.Say")];
    let scopes = Rejection::MissingScope {
        name: "Echo_Scoped",
        scopes: &["echo:a", "echo:b"],
        held: Vec::new(),
    };
    for (query, allowlist, expected) in [
        ("", &[][..], Ok(LATEST)),
        ("include=Echo_Scoped", &[], Err(scopes.clone())),
        ("include=Echo_Say,Echo.Scoped@1", &[], Err(scopes)),
        ("include=Echo_Scoped", &only, Err(Rejection::ToolNotAllowed { name: "Echo_Scoped" })),
    ] {
        assert_eq!(select(query, allowlist), expected.map(str::to_owned), "{query} {allowlist:?}");
    }
}
