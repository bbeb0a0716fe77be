//! What each format accepts, and that nothing may stand around it.

use super::ALL;
use crate::StringKeyword;

fn is_valid(format: &str, text: &str) -> bool {
    let (_, keyword) = ALL.iter().find(|(name, _)| *name == format).unwrap();
    let StringKeyword::Format(_, check) = keyword else { panic!("{format}") };
    check(text)
}

#[test]
fn an_email_address_is_a_mailbox() {
    let long = |length: usize| "a".repeat(length);
    for (text, expected) in [
        ("a@b.example", true),
        ("joe.bloggs+tag@mail.b-c.example", true),
        ("!#$%&'*+-/=?^_`{|}~@localhost", true),
        ("\"joe bloggs\"@b.example", true),
        ("\"joe@bloggs..\"@b.example", true),
        ("\"a\\\"b\\\\\"@b.example", true),
        ("\"\"@b.example", true),
        ("a@[127.0.0.1]", true),
        ("a@[IPv6:::1]", true),
        ("a@[ipv6:2001:db8::1]", true),
        ("a@1.2.3", true),
        (&format!("{}@b.example", long(64)), true),
        (&format!("a@{}.example", long(63)), true),
        // What stands around a mailbox in a header.
        ("Ada <a@b.example>", false),
        ("\"Ada\" <a@b.example>", false),
        ("<a@b.example>", false),
        ("Ada\r\nBcc: e@e.example <a@b.example>", false),
        ("\0Ada <a@b.example>", false),
        ("; DROP <a@b.example>", false),
        ("a@b.example (Ada)", false),
        ("(Ada)a@b.example", false),
        ("a@b.example, c@d.example", false),
        ("mailto:a@b.example>", false),
        ("a@b.example>", false),
        ("\"a\r\nb\"@b.example", false),
        ("\"a\\\r\"@b.example", false),
        ("\"a\tb\"@b.example", false),
        ("\"a\"b\"@b.example", false),
        ("\"a\\\"@b.example", false),
        ("\"a@b.example", false),
        ("\"a\".b@b.example", false),
        ("a b@b.example", false),
        (".a@b.example", false),
        ("a.@b.example", false),
        ("a..b@b.example", false),
        ("@b.example", false),
        ("a@", false),
        ("a", false),
        ("", false),
        ("é@b.example", false),
        ("a@é.example", false),
        ("a@b..example", false),
        ("a@b.example.", false),
        ("a@-b.example", false),
        ("a@b-.example", false),
        ("a@b=c.example", false),
        ("a@b_c.example", false),
        ("a@[127.0.0.300]", false),
        ("a@[127.0.0.1", false),
        ("a@[::1]", false),
        ("a@[x:1]", false),
        ("a@[IPv6:::1%eth0]", false),
        (&format!("{}@b.example", long(65)), false),
        (&format!("a@{}.example", long(64)), false),
        (&format!("a@{}", vec![long(60); 5].join(".")), false),
    ] {
        assert_eq!(is_valid("email", text), expected, "{text:?}");
    }
}

/// A value of each format.
const SAMPLES: [(&str, &str); 17] = [
    ("date", "2028-02-29"),
    ("date-time", "2028-02-29T10:00:00.5Z"),
    ("duration", "P1DT2H"),
    ("email", "a@b.example"),
    ("hostname", "a.b-c.example"),
    ("ipv4", "127.0.0.1"),
    ("ipv6", "2001:db8::1"),
    ("iri", "https://a.example/ä?b=c#d"),
    ("iri-reference", "/ä?b=c"),
    ("json-pointer", "/a/b~0c"),
    ("regex", "^a+$"),
    ("relative-json-pointer", "1/a"),
    ("time", "10:00:00+01:00"),
    ("uri", "https://u@a.example:1/b?c=d#e"),
    ("uri-reference", "/a?b=c"),
    ("uri-template", "https://a.example/{b}{?c*}"),
    ("uuid", "2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
];

/// What a header, a log, a page or a URL would misread.
const MISREAD: [char; 21] = [
    '\0', '\t', '\n', '\u{b}', '\u{c}', '\r', '\u{1b}', ' ', '"', '<', '>', '\\', '\u{7f}',
    '\u{80}', '\u{85}', '\u{9f}', '\u{200e}', '\u{202e}', '\u{2066}', '\u{ad}', '\u{feff}',
];

#[test]
fn no_format_has_characters_that_others_misread() {
    assert_eq!(ALL.len(), SAMPLES.len());
    for (format, sample) in SAMPLES {
        assert!(is_valid(format, sample), "{format} {sample}");
        // RFC 6901 and ECMAScript allow every character in these.
        if ["json-pointer", "regex", "relative-json-pointer"].contains(&format) {
            continue;
        }
        // RFC 3987 and RFC 6570 allow these beyond ASCII.
        let beyond = |c: char| {
            matches!(c, '\u{ad}' | '\u{feff}')
                && (format.starts_with("iri") || format == "uri-template")
                || matches!(c, '\u{200e}' | '\u{202e}' | '\u{2066}') && format == "uri-template"
        };
        for misread in MISREAD.into_iter().filter(|c| !beyond(*c)) {
            for at in sample.char_indices().map(|(at, _)| at).chain([sample.len()]) {
                let mut text = sample.to_owned();
                text.insert(at, misread);
                assert!(!is_valid(format, &text), "{format} {text:?}");
            }
        }
    }
}

#[test]
fn nothing_stands_around_a_value() {
    let around = ["x ", "\r\nx: ", "<", "\u{feff}", "１"];
    for (format, sample) in SAMPLES {
        // These take most characters.
        if [
            "iri",
            "iri-reference",
            "json-pointer",
            "regex",
            "relative-json-pointer",
            "uri-template",
        ]
        .contains(&format)
        {
            continue;
        }
        for text in around {
            assert!(!is_valid(format, &format!("{sample}{text}")), "{format} {sample}{text:?}");
            assert!(!is_valid(format, &format!("{text}{sample}")), "{format} {text:?}{sample}");
        }
    }
}
