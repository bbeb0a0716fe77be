//! Patterns: what looks for them, and that it finds what the reference finds.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolbooth_schema::{Keyword, Matcher, StringKeyword, compile};

use crate::reference;

/// A pattern, and whether an automaton of reasonable size finds it.
const PATTERNS: [(&str, bool); 30] = [
    ("", true),
    ("^", true),
    ("$", true),
    ("^$", true),
    ("a", true),
    ("^a", true),
    ("a$", true),
    ("^a$", true),
    ("^[a-z][a-z0-9_-]{0,31}$", true),
    ("^(a|ab)(c|bcd)(d*)$", true),
    ("^(a+)+$", true),
    ("(a|aa)+b", true),
    ("a.c", true),
    ("^.$", true),
    ("^[^a]$", true),
    ("\\d{3}-\\d{4}", true),
    ("^\\w+$", true),
    ("^\\W+$", true),
    ("\\s", true),
    ("^\\S*$", true),
    ("[é-ü]", true),
    ("^\\p{L}+$", true),
    ("^\\u0061+$", true),
    ("\\cA", true),
    ("(?i)straße", true),
    ("^[A-Z]{2}[0-9]{2}([ ]?[A-Z0-9]{4}){2,7}$", true),
    // Whether a letter beyond ASCII stands there is more than a byte tells.
    ("\\ba", false),
    ("a\\B", false),
    // Too many states.
    ("\\p{L}{30}", false),
    ("^(?:a{1,200}){1,20}$", false),
];

fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        "a",
        "aa",
        "b",
        "ab",
        "abc",
        "abcd",
        "ba",
        "ca",
        "A",
        "é",
        "aé",
        "éa",
        "ü",
        "😀",
        "a😀c",
        "a\nc",
        "\n",
        "a\n",
        " ",
        "\u{a0}",
        "\u{feff}",
        "\u{1}",
        "555-1234",
        "0555-12345",
        "x_1-y",
        "STRASSE",
        "straße",
        "STRAßE",
        "GB82 WEST 1234 5698 7654 32",
        "a_",
        "_a",
        "a-",
        "٣",
        "日本語",
    ]
    .map(str::to_owned)
    .into();
    texts.extend([31, 32, 33, 200, 201, 4_000].map(|count| "a".repeat(count)));
    texts
}

fn automaton(pattern: &str) -> bool {
    let table = compile(&json!({ "pattern": pattern }));
    let [Keyword::String(StringKeyword::Pattern(pattern))] = table.keywords else {
        panic!("{pattern}: {table:?}")
    };
    matches!(pattern.matcher, Matcher::Automaton(_))
}

#[test]
fn a_pattern_finds_what_the_judge_finds() {
    for (pattern, small) in PATTERNS {
        assert_eq!(automaton(pattern), small, "{pattern}");
        let schema = json!({ "pattern": pattern });
        let (table, reference) = (compile(&schema), reference(&schema).unwrap());
        for text in texts().into_iter().map(Value::from) {
            assert_eq!(
                table.is_valid(&(&text).into()),
                reference.is_valid(&text),
                "{pattern}: {text}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_pattern_finds_what_the_judge_finds_in_any_text(
        pattern in "(\\^)?([ab]|\\.|\\[\\^?[a-cé]\\]|\\(a\\|b\\|\\)|\\\\[dwsDWS]){0,6}[*+?]?(\\$)?",
        texts in proptest::collection::vec("[ab1é😀 \n]{0,12}", 16),
    ) {
        let schema = json!({ "pattern": pattern });
        // A quantifier with nothing before it is no pattern.
        if let Ok(reference) = reference(&schema) {
            let table = compile(&schema);
            for text in texts.into_iter().map(Value::from) {
                prop_assert_eq!(table.is_valid(&(&text).into()), reference.is_valid(&text), "{}: {}", pattern, text);
            }
        }
    }
}
