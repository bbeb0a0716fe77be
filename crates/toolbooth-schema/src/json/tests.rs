//! What is accepted, and the messages for the rest.

use std::borrow::Cow;

use super::*;

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

#[test]
fn what_is_accepted_and_what_is_rejected() {
    let deep = nested(MAX_DEPTH);
    let too_deep = nested(MAX_DEPTH + 1);
    let long = format!("{{\"{0}\":1,\"{0}\":2}}", "k".repeat(5000));
    let cut = format!("the key \"{}…\" is repeated at line 1 column 10008", "k".repeat(64));
    let rows: &[(&str, Result<&str, &str>)] = &[
        (&long, Err(&cut)),
        ("{\"a\":[1,-2,0.1,true,null,\"x\"]}", Ok("{\"a\":[1,-2,0.1,true,null,\"x\"]}")),
        (" 1 ", Ok("1")),
        ("18446744073709551615", Ok("18446744073709551615")),
        ("-9223372036854775808", Ok("-9223372036854775808")),
        ("\"\\ud83d\\ude00\"", Ok("\"\u{1f600}\"")),
        (&deep, Ok(&deep)),
        (&too_deep, Err("nested deeper than 64 levels at line 1 column 66")),
        ("{\"a\":1,\"a\":2}", Err("the key \"a\" is repeated at line 1 column 10")),
        (r#"{"a":1,"\u0061":2}"#, Err("the key \"a\" is repeated at line 1 column 15")),
        (
            r#"{"\u0061":1,"b":{"c":[{}]},"c":0,"a":2}"#,
            Err("the key \"a\" is repeated at line 1 column 36"),
        ),
        ("{\"b\":1,\n \"a\":2,\n \"b\" }", Err("expected `:` at line 3 column 6")),
        ("{\"b\":1,\n \"a\":2,\n \"b\" :3}", Err("the key \"b\" is repeated at line 3 column 5")),
        ("{\"a\":1,\"a\":{\"b\":1,\"b\":1}}", Err("the key \"b\" is repeated at line 1 column 21")),
        ("{\"a\":1,\"a\":1,}", Err("trailing comma at line 1 column 14")),
        ("{\"a\":{\"b\":1,\"b\":1}}", Err("the key \"b\" is repeated at line 1 column 15")),
        ("1e999", Err("number out of range at line 1 column 5")),
        ("1 2", Err("trailing characters at line 1 column 3")),
        ("", Err("EOF while parsing a value at line 1 column 0")),
        ("{\"a\":", Err("EOF while parsing a value at line 1 column 5")),
        ("\"\\ud800\"", Err("unexpected end of hex escape at line 1 column 8")),
        ("\u{feff}{}", Err("expected value at line 1 column 1")),
        ("NaN", Err("expected value at line 1 column 1")),
    ];
    for (body, expected) in rows {
        let got = parse(body).map(|value| value.text()).map_err(|error| error.to_string());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(got, expected, "{body}");
    }
}

#[test]
fn which_of_several_repeated_keys_is_reported() {
    for (text, expected) in [
        (r#"{"b":1,"a":2,"a":3,"b":4}"#, "\"a\" is repeated at line 1 column 16"),
        (r#"{"b":1,"a":2,"b":3,"a":4,"b":5}"#, "\"b\" is repeated at line 1 column 16"),
        (r#"{"a":[1,{"x":2}],"a":1,"a":2}"#, "\"a\" is repeated at line 1 column 20"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert_eq!(error, format!("the key {expected}"), "{text}");
    }
}

#[test]
fn values_are_counted_and_not_bytes() {
    let list = |item: &str, count: usize| format!("[{}]", vec![item; count].join(","));
    let keys = |count: usize| {
        let members: Vec<_> = (0..count).map(|n| format!("\"{n}\":1")).collect();
        format!("{{{}}}", members.join(","))
    };
    let most = MAX_VALUES - 1;
    for (what, text, taken) in [
        ("numbers", list("1", most), true),
        ("a number too many", list("1", most + 1), false),
        ("arrays", list("[]", most), true),
        ("an array too many", list("[]", most + 1), false),
        ("objects with a member", list("{\"\":0}", most / 2), true),
        ("one too many", list("{\"\":0}", most / 2 + 1), false),
        ("members", keys(most), true),
        ("a member too many", keys(most + 1), false),
        ("a long text", format!("\"{}\"", "1,".repeat(MAX_VALUES)), true),
    ] {
        let got = parse(&text).map(|_| ()).map_err(|error| error.to_string());
        let told =
            got.as_ref().is_err_and(|error| error.starts_with("more than 65536 values at line 1"));
        assert_eq!((got.is_ok(), told), (taken, !taken), "{what}: {got:?}");
    }
    let (text, mut left) = ("[1,[2]]", 9);
    for expected in [Some(5), Some(1), None] {
        let read = parse_within(text, &mut left);
        assert_eq!(read.is_ok().then_some(left), expected);
    }
}

#[test]
fn strings_without_escapes_are_borrowed() {
    let text = r#"{"a":"plain é","b\n":"an \u0065scape","c":["x"],"d":""}"#;
    let own = |text: &Cow<'_, str>| matches!(text, Cow::Owned(_));
    let value = parse(text).unwrap();
    let members = value.as_object().unwrap();
    for (name, value) in members.iter() {
        let texts = value.as_array().unwrap_or(std::slice::from_ref(value));
        let [Value::String(text)] = texts else { panic!("{texts:?}") };
        assert_eq!((own(name), own(text)), (name == "b\n", name == "b\n"), "{name}");
    }
    assert_eq!(value.clone().into_owned(), value);
}

#[test]
fn members_are_found_in_any_order() {
    let written = |names: &mut dyn Iterator<Item = usize>| {
        let members: Vec<_> = names.map(|n| format!("\"m{n}\":{n}")).collect();
        format!("{{{}}}", members.join(","))
    };
    for count in [0, 1, 2, 12, 13, 40_000] {
        let mixed = (0..count).map(|n| n * 7919 % count.max(1));
        for text in
            [written(&mut (0..count)), written(&mut (0..count).rev()), written(&mut mixed.clone())]
        {
            let Ok(Value::Object(mut members)) = parse(&text) else { panic!("{count}") };
            assert_eq!((members.len(), members.is_empty()), (count, count == 0));
            let names: Vec<_> = members.iter().map(|(name, _)| name.clone()).collect();
            assert!(names.is_sorted());
            for n in (0..count).step_by(count / 50 + 1) {
                let (name, expected) = (format!("m{n}"), Some(Value::Number(n.into())));
                assert_eq!(members.get(&name), expected.as_ref());
                assert_eq!(members.take(&name), expected);
                assert!(!members.contains(&name) && members.take(&name).is_none());
            }
            assert!(!members.contains("") && !members.contains("m") && !members.contains("n"));
        }
        let twice: Vec<_> = mixed.chain([count / 2]).collect();
        let text = written(&mut twice.into_iter());
        let expected = match count {
            0 => Ok(1),
            _ => Err(format!(
                "the key \"m{}\" is repeated at line 1 column {}",
                count / 2,
                text.rfind(':').unwrap()
            )),
        };
        let got = parse(&text).map(|value| value.as_object().map_or(0, Object::len));
        assert_eq!(got.map_err(|error| error.to_string()), expected);
    }
}

#[test]
fn inserted_members_are_sorted() {
    let mut members = Object::default();
    for (name, value) in [("b", true), ("a", true), ("c", true), ("b", false)] {
        members.insert(name.into(), Value::Bool(value));
    }
    assert_eq!(Value::Object(members).text(), r#"{"a":true,"b":false,"c":true}"#);
}

#[test]
fn a_repeated_key_gives_no_values_back() {
    let mut left = 10;
    assert!(super::parse_within(r#"[0,0,0,{"a":1,"a":1}]"#, &mut left).is_err());
    assert_eq!(left, 3);
}

#[test]
fn maps_need_not_be_sorted() {
    // As `serde_json::Map` with `preserve_order` gives them.
    let members = [("c", true), ("a", false), ("b", true), ("a", false)];
    let value =
        Value::Object(members.into_iter().map(|(name, it)| (name, Value::Bool(it))).collect());
    assert_eq!(value.text(), r#"{"a":false,"b":true,"c":true}"#);
    assert!(value.get("a").is_some() && value.get("b").is_some() && value.get("c").is_some());
}

#[test]
fn a_repeated_key_among_many_is_found_quickly() {
    let members: Vec<_> = (0..MAX_VALUES - 2).map(|n| format!("\"{n}\":1")).collect();
    let text = format!("{{{},\"0\":1}}", members.join(","));
    assert!(parse(&text).unwrap_err().to_string().starts_with("the key \"0\" is repeated"));
}

#[test]
fn a_member_at_the_beginning_of_a_text() {
    let deep = format!("{{\"b\":{},\"a\":1}}", nested(MAX_DEPTH));
    for (text, expected) in [
        (r#"{"a":1}"#, Some("1")),
        (r#"{"b":[{"a":2}],"a":"x","c":"#, Some("\"x\"")),
        (r#"{"a":{"a":1}} and more"#, Some(r#"{"a":1}"#)),
        (r#"{"a":1"#, None),
        (r#"{"a":1,"b":2,"a":3}"#, None),
        (r#"{"a":1,"b":{"c":1,"c":2}}"#, Some("1")),
        (r#"{"b":1}"#, None),
        (r#"[{"a":1}]"#, None),
        (&deep, None),
        ("", None),
    ] {
        let got = leading_member(text, "a").map(|value| value.text());
        assert_eq!(got.as_deref(), expected, "{text}");
    }
}
