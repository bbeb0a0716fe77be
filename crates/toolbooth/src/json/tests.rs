//! What is read, and in which words the rest is refused.

use super::*;

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

#[test]
fn what_is_read_and_what_is_refused() {
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
        let got = parse(body).map(|value| value.to_string()).map_err(|error| error.to_string());
        let expected = expected.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(got, expected, "{body}");
    }
}
