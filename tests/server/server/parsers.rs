//! Property tests that compare the small parsers with independent implementations of their rules.

use proptest::prelude::*;
use serde_json::Value;

use super::properties::{json, modest};
use toolbooth::catalog::{ToolRef, Version, parse_version};
use toolbooth::http::Origins;
use toolbooth::json;

/// Strips one or more leading characters of a kind.
fn some(text: &str, kind: fn(char) -> bool) -> Option<&str> {
    let rest = text.trim_start_matches(kind);
    (rest.len() < text.len()).then_some(rest)
}

/// The grammar of OXP's ToolId: `word.word`, then nothing, `@n` or `@n.n.n`.
fn is_tool_id(text: &str) -> bool {
    let word = |c: char| matches!(c, 'A'..='Z' | 'a'..='z' | '0'..='9' | '_');
    let rest = some(text, word).and_then(|rest| rest.strip_prefix('.'));
    match rest.and_then(|rest| some(rest, word)) {
        Some("") => true,
        Some(rest) => rest.strip_prefix('@').is_some_and(is_version),
        None => false,
    }
}

fn is_version(text: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit();
    let Some(rest) = some(text, digit) else { return false };
    let part = |rest: &str| rest.strip_prefix('.').and_then(|rest| some(rest, digit)).map(str::len);
    rest.is_empty()
        || part(rest).is_some_and(|left| {
            let rest = &rest[rest.len() - left..];
            part(rest) == Some(0)
        })
}

/// Valid and nearly valid ids.
fn nearly_an_id() -> impl Strategy<Value = String> {
    prop_oneof![
        "[A-Za-z0-9_]{1,6}\\.[A-Za-z0-9_]{1,6}(@[0-9]{1,25}(\\.[0-9]{1,3}\\.[0-9]{1,3})?)?",
        "[aZ_9.]{0,5}[.@]?[aZ_9.]{0,5}[.@]?[0-9.@]{0,6}",
        "[aA9_.@ +é\n-]{0,12}",
        any::<String>(),
    ]
}

/// Valid and nearly valid JSON.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let text = json(".{0,6}", "[ab]{0,2}").prop_map(|value| value.to_string().into_bytes());
    let spoilt =
        (text, any::<prop::sample::Index>(), any::<u8>()).prop_map(|(mut bytes, at, byte)| {
            let at = at.index(bytes.len());
            bytes[at] = byte;
            bytes
        });
    prop_oneof![
        json(".{0,6}", ".{0,6}").prop_map(|value| value.to_string().into_bytes()),
        spoilt,
        "[\\[\\]{}:,\"a1 ]{0,12}".prop_map(String::into_bytes),
        "-?[0-9]{1,24}(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3})?".prop_map(String::into_bytes),
        pieces().prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..24),
    ]
}

/// Tokens of JSON in any order: syntax errors of all kinds, also after line breaks.
fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        r"[\[{]",
        r"[\]},:]",
        r#""[ab]":"#,
        r#""[ab]""#,
        r"[ \r\n\t]{1,3}",
        "true|false|null|[truefalsn]",
        "-?(0|[1-9][0-9]{0,2})",
        "-?[0-9]{17,22}",
        r"-?[0-9]{0,2}[.eE][+-]?[0-9]{0,25}",
        r#""[^"\\]{0,20}""#,
        r#""([ -!]{0,9}\\["\\/bfnrtux]?[0-9a-fA-Fg]{0,4}){1,3}"?"#,
        r#""\\u[dD][89a-fA-F][0-9a-f]{2}(\\?u?([dD][89a-f])?[0-9a-f]{2})?"?"#,
    ];
    prop::string::string_regex(&format!("(({})){{0,12}}", pieces.join(")|("))).unwrap()
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn ids_are_parsed_by_the_grammar(text in nearly_an_id()) {
        let read = ToolRef::parse(&text);
        prop_assert_eq!(read.is_ok(), is_tool_id(&text), "{:?}", text);
    }

    #[test]
    fn ids_display_in_canonical_form(
        toolkit in "[A-Za-z0-9_]{1,8}",
        tool in "[A-Za-z0-9_]{1,8}",
        version in prop::option::of((any::<u64>(), any::<u64>(), any::<u64>())),
    ) {
        let version = version.map(|(major, minor, patch)| Version::new(major, minor, patch));
        let id = ToolRef { toolkit: &toolkit, tool: &tool, version };
        let text = id.to_string();
        prop_assert_eq!(ToolRef::parse(&text), Ok(id.clone()));
        let short = format!("{toolkit}.{tool}@{}", id.version.as_ref().map_or(7, |it| it.major));
        let read = ToolRef::parse(&short).ok().and_then(|it| it.version);
        let expected = Version::new(id.version.map_or(7, |it| it.major), 0, 0);
        prop_assert_eq!(read, Some(expected), "x means x.0.0");
    }

    #[test]
    fn version_parts_are_numbers(text in "[0-9.]{0,8}|[0-9]{1,30}|[0-9]{1,3}(\\.[0-9]{1,30}){2}|.{0,4}") {
        let expected = is_version(&text).then(|| {
            let number = |part: Option<&str>| {
                // Numbers beyond 64 bits become `u64::MAX`, which no definition has.
                let digits = part.unwrap_or("0").trim_start_matches('0');
                let value = digits.bytes().fold(0_u128, |sum, byte| {
                    sum.saturating_mul(10).saturating_add(u128::from(byte - b'0'))
                });
                u64::try_from(value).unwrap_or(u64::MAX)
            };
            let mut parts = text.split('.');
            Version::new(number(parts.next()), number(parts.next()), number(parts.next()))
        });
        prop_assert_eq!(parse_version(&text), expected, "{:?}", text);
    }

    #[test]
    fn strict_json_is_a_subset_of_json(bytes in nearly_json()) {
        let Ok(text) = String::from_utf8(bytes.clone()) else { return Ok(()) };
        match (json::parse(&text), serde_json::from_slice::<Value>(&bytes)) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours.text(), theirs.to_string(), "{}", text),
            (Ok(ours), Err(error)) => prop_assert!(false, "{} is {:?} although {}", text, ours, error),
            (Err(error), Ok(_)) => {
                let why = error.to_string();
                let stricter = why.contains(" is repeated at ") || why.starts_with("nested deeper");
                prop_assert!(stricter, "{} was rejected: {}", text, why);
            }
            (Err(_), Err(_)) => {}
        }
    }

    #[test]
    fn json_round_trips(value in json(".{0,8}", ".{0,8}")) {
        let text = value.to_string();
        let read = json::parse(&text).map(|value| value.text());
        prop_assert_eq!(read.map_err(|error| error.to_string()), Ok(text));
    }

    #[test]
    fn depth_is_counted_through_arrays_and_objects(kinds in prop::collection::vec(any::<bool>(), 0..90)) {
        let open: String = kinds.iter().map(|array| if *array { "[" } else { "{\"k\":" }).collect();
        let close: String = kinds.iter().rev().map(|array| if *array { ']' } else { '}' }).collect();
        let text = format!("{open}0{close}");
        prop_assert_eq!(json::parse(&text).is_ok(), kinds.len() <= json::MAX_DEPTH);
    }

    #[test]
    fn origins_are_parsed_or_rejected(
        text in "[ ,*]{0,3}|(https?://[a-z.]{0,6}(:[0-9]{1,4})?[/?#@* ]?[, ]{0,2}){0,3}|.{0,12}",
        origin in "https?://[a-z.]{1,6}|.{0,8}",
    ) {
        match Origins::parse(&text) {
            Ok(Origins::Any) => prop_assert_eq!(text.trim(), "*"),
            Ok(Origins::Listed(listed)) => {
                let expected: Vec<_> = text.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
                prop_assert_eq!(&listed, &expected, "exactly the listed origins");
                for one in &listed {
                    let host = one.split_once("://").map_or("", |(_, host)| host);
                    prop_assert!(!host.is_empty() && !host.contains(['/', '*']), "{}", one);
                }
                let read = Origins::Listed(listed.clone());
                prop_assert_eq!(Origins::parse(&listed.join(",")), Ok(read.clone()));
                prop_assert_eq!(read.allow(&origin), listed.contains(&origin));
                prop_assert!(listed.iter().all(|one| read.allow(one)));
            }
            Ok(Origins::Clients(_)) => prop_assert!(false, "no text is parsed as these"),
            Err(_) => prop_assert!(!text.trim().is_empty(), "nothing is a valid list"),
        }
    }
}
