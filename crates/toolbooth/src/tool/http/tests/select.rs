//! Parts of documents: RFC 9535.

use super::*;
use crate::json::{MAX_VALUES, parse};

fn select(segments: &[Segment], is_singular: bool, text: &str) -> Option<Json> {
    let segments: &'static [Segment] = segments.to_vec().leak();
    let root = parse(text).unwrap();
    Select { segments, is_singular }.of(&root).map(|value| Json::from(&value))
}

const fn child(selectors: &'static [Selector]) -> Segment {
    Segment { descends: false, selectors }
}

const fn slice(start: Option<i64>, end: Option<i64>, step: i64) -> Selector {
    Selector::Slice { start, end, step }
}

#[test]
fn selected_parts() {
    use Selector::{Index, Name, Wildcard};
    const ITEMS: &str = "[0,1,2,3,4,5]";
    let slices: [(Selector, &str); 10] = [
        (slice(Some(1), Some(3), 1), "[1,2]"),
        (slice(Some(5), None, 1), "[5]"),
        (slice(Some(1), Some(5), 2), "[1,3]"),
        (slice(Some(5), Some(1), -2), "[5,3]"),
        (slice(None, None, -1), "[5,4,3,2,1,0]"),
        (slice(Some(-2), None, 1), "[4,5]"),
        (slice(None, Some(-4), 1), "[0,1]"),
        (slice(Some(i64::MIN), Some(i64::MAX), i64::MAX), "[0]"),
        (slice(Some(i64::MAX), Some(i64::MIN), i64::MIN), "[5]"),
        (slice(None, None, 0), "[]"),
    ];
    for (selector, expected) in slices {
        let segment = child(vec![selector].leak());
        let got = select(&[segment], false, ITEMS).unwrap();
        assert_eq!(got.to_string(), expected, "{selector:?}");
    }
    let (name, wildcard) = (child(&[Name("a")]), child(&[Wildcard]));
    for (segments, is_singular, text, expected) in [
        (vec![], true, "[1]", json!([1])),
        (vec![name], true, r#"{"a":{"b":1}}"#, json!({"b": 1})),
        (vec![name], true, r#"{"b":1}"#, json!(null)),
        (vec![name], false, r#"{"b":1}"#, json!([])),
        (vec![name], true, "[1]", json!(null)),
        (vec![wildcard, name], false, r#"[{"a":1},2,{"a":null}]"#, json!([1, null])),
        (vec![wildcard], false, r#"{"b":1,"a":2}"#, json!([2, 1])),
        (vec![child(&[Index(-1)])], true, "[1,2]", json!(2)),
        (vec![child(&[Index(-3)])], true, "[1,2]", json!(null)),
        (vec![child(&[Index(0), Name("a"), Index(0)])], false, "[1,2]", json!([1, 1])),
        (
            vec![Segment { descends: true, selectors: &[Name("a")] }],
            false,
            r#"{"a":{"a":1},"b":[{"a":2}]}"#,
            json!([{"a": 1}, 1, 2]),
        ),
    ] {
        assert_eq!(select(&segments, is_singular, text), Some(expected), "{segments:?} {text}");
    }
}

#[test]
fn what_grows_too_much_is_refused() {
    let deep = format!("{}{}", "[".repeat(60), "]".repeat(60));
    let wide = format!("[{}]", vec![deep; 60].join(","));
    let all = Segment { descends: true, selectors: &[Selector::Wildcard] };
    assert_eq!(select(&[all], false, &wide), None, "each value has those below it");
    let twice = child(vec![Selector::Wildcard; 100].leak());
    let items = format!("[{}]", vec!["1"; MAX_VALUES / 50].join(","));
    assert_eq!(select(&[twice], false, &items), None);
}
