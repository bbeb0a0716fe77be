//! Describes in which members two JSON values differ.

use serde_json::Value;

const MAX: usize = 10;

/// Lines that name each member that differs, with what was expected and what there is; empty if the values are equal.
pub(super) fn differences(expected: &Value, got: &Value) -> String {
    let mut found = Vec::new();
    compare("", Some(expected), Some(got), &mut found);
    let more = found.len().saturating_sub(MAX);
    found.truncate(MAX);
    if more > 0 {
        found.push(format!("  and {more} more"));
    }
    found.join("\n")
}

fn compare(path: &str, expected: Option<&Value>, got: Option<&Value>, found: &mut Vec<String>) {
    match (expected, got) {
        _ if expected == got => {}
        (Some(Value::Array(expected)), Some(Value::Array(got))) => {
            for index in 0..expected.len().max(got.len()) {
                let path = format!("{path}[{index}]");
                compare(&path, expected.get(index), got.get(index), found);
            }
        }
        // Objects without a common member are different things.
        (Some(Value::Object(expected)), Some(Value::Object(got)))
            if expected.keys().any(|key| got.contains_key(key)) =>
        {
            let added = got.keys().filter(|key| !expected.contains_key(*key));
            for key in expected.keys().chain(added) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                compare(&path, expected.get(key), got.get(key), found);
            }
        }
        _ => {
            let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
            let path = if path.is_empty() { String::new() } else { format!("  {path}\n") };
            let (expected, got) = (text(expected), text(got));
            found.push(format!("{path}    expected: {expected}\n    got:      {got}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_members_that_differ() {
        for (expected, got, lines) in [
            (json!({"value": {"a": 1}}), json!({"value": {"a": 1}}), ""),
            (
                json!({"value": {"a": 1, "b": [1, {"c": 2}]}}),
                json!({"value": {"a": 1, "b": [1, {"c": 3}, 4]}}),
                "  value.b[1].c\n    expected: 2\n    got:      3\n  value.b[2]\n    expected: nothing\n    got:      4",
            ),
            (
                json!({"value": {"a": 1, "b": 2}}),
                json!({"value": {"a": 1, "c": 2}}),
                "  value.b\n    expected: 2\n    got:      nothing\n  value.c\n    expected: nothing\n    got:      2",
            ),
            (
                json!({"value": null}),
                json!({"error": {"message": "a"}}),
                "    expected: {\"value\":null}\n    got:      {\"error\":{\"message\":\"a\"}}",
            ),
        ] {
            assert_eq!(differences(&expected, &got), lines);
        }
        let many = differences(&json!(vec!["a"; 12]), &json!(vec!["b"; 12]));
        assert_eq!(many.lines().count(), 3 * MAX + 1);
        assert!(many.ends_with("\n  and 2 more"), "{many}");
    }
}
