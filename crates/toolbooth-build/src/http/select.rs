//! Compiles a JSONPath (RFC 9535). A library reads it; the Worker gets its segments.

use serde_json_path::JsonPath;

const EXPECTED: &str = "expected names, indexes, slices, * and ..";

/// The Rust code of a `Select`, with `toolbooth::tool::http::*` in scope.
///
/// # Errors
/// The problem, and what was expected.
pub(super) fn compile(text: &str) -> Result<String, String> {
    let path =
        JsonPath::parse(text).map_err(|error| format!("is not a JSONPath (RFC 9535): {error}"))?;
    // The library does not show its segments, but writes them in one form.
    let plain = path.to_string().replace("...", "..");
    let mut is_singular = true;
    let mut descending = 0;
    let mut segments = String::new();
    let mut rest = plain.strip_prefix('$').unwrap_or_default();
    while !rest.is_empty() {
        let (descends, after) = match rest.strip_prefix("..") {
            Some(after) => (true, after),
            None => (false, rest.strip_prefix('.').unwrap_or(rest)),
        };
        descending += usize::from(descends);
        let mut selectors = Vec::new();
        rest = match after.strip_prefix('[') {
            Some(mut list) => loop {
                let (code, after) = selector(list)?;
                selectors.push(code);
                match after.split_at_checked(1) {
                    Some((",", more)) => list = more,
                    Some((_, after)) => break after,
                    None => break "",
                }
            },
            None => {
                let (name, after) = after.split_at(after.find(['.', '[']).unwrap_or(after.len()));
                selectors.push(if name == "*" { wildcard() } else { named(name) });
                after
            }
        };
        let is_one = selectors.len() == 1
            && selectors.iter().all(|it| it.contains("::Name(") || it.contains("::Index("));
        is_singular &= !descends && is_one;
        let selectors = selectors.join(", ");
        segments
            .push_str(&format!("Segment {{ descends: {descends}, selectors: &[{selectors}] }}, "));
    }
    if descending > 1 {
        return Err("has more than one ..; expected one at most".to_owned());
    }
    // The library writes quotation marks in names as they are, so the segments may be other ones.
    if JsonPath::parse(&plain).ok() != Some(path) {
        return Err("has a name with quotation marks, \\ or ..., which is not supported".to_owned());
    }
    Ok(format!("Select {{ segments: &[{segments}], is_singular: {is_singular} }}"))
}

fn wildcard() -> String {
    "Selector::Wildcard".to_owned()
}

fn named(name: &str) -> String {
    format!("Selector::Name({name:?})")
}

/// The code of the selector with which a text begins, and what comes after it.
fn selector(text: &str) -> Result<(String, &str), String> {
    if let Some(name) = text.strip_prefix('\'') {
        let (name, after) = name.split_once('\'').unwrap_or((name, ""));
        return Ok((named(name), after));
    }
    let (selector, after) = text.split_at(text.find([',', ']']).unwrap_or(text.len()));
    let code = if selector == "*" {
        wildcard()
    } else if selector.starts_with('?') {
        return Err(format!("has a filter (?…), which is not supported; {EXPECTED}"));
    } else if selector.contains(':') {
        let mut parts = selector.split(':').map(|part| part.parse::<i64>().ok());
        let mut next = || parts.next().flatten();
        let (start, end, step) = (next(), next(), next().unwrap_or(1));
        format!("Selector::Slice {{ start: {start:?}, end: {end:?}, step: {step} }}")
    } else {
        format!("Selector::Index({selector})")
    };
    Ok((code, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (path, expected) in [
            ("$", Ok("Select { segments: &[], is_singular: true }")),
            (
                "$.a['b\\u00e9'][-1]",
                Ok(
                    "Select { segments: &[Segment { descends: false, selectors: &[Selector::Name(\"a\")] }, \
                    Segment { descends: false, selectors: &[Selector::Name(\"bé\")] }, \
                    Segment { descends: false, selectors: &[Selector::Index(-1)] }, ], is_singular: true }",
                ),
            ),
            (
                "$..a[*, 1:3, ::-2]",
                Ok(
                    "Select { segments: &[Segment { descends: true, selectors: &[Selector::Name(\"a\")] }, \
                    Segment { descends: false, selectors: &[Selector::Wildcard, \
                    Selector::Slice { start: Some(1), end: Some(3), step: 1 }, \
                    Selector::Slice { start: None, end: None, step: -2 }] }, ], is_singular: false }",
                ),
            ),
            (
                "$.a[?@.b]",
                Err(
                    "has a filter (?…), which is not supported; expected names, indexes, slices, * and ..",
                ),
            ),
            ("$..a..b", Err("has more than one ..; expected one at most")),
            (
                "$[\"a','b\"]",
                Err("has a name with quotation marks, \\ or ..., which is not supported"),
            ),
            (
                "$['a\\'b']",
                Err("has a name with quotation marks, \\ or ..., which is not supported"),
            ),
            (
                "$['a...b']",
                Err("has a name with quotation marks, \\ or ..., which is not supported"),
            ),
            (
                "$['a\\nb']",
                Err("has a name with quotation marks, \\ or ..., which is not supported"),
            ),
        ] {
            assert_eq!(
                compile(path).as_deref(),
                expected.map_err(str::to_owned).as_deref(),
                "{path}"
            );
        }
        for path in ["", "a", "$.", "$.a[", "$[01]", "items[*]", "$.a b", "$[?length(@)]"] {
            let error = compile(path).unwrap_err();
            assert!(error.starts_with("is not a JSONPath (RFC 9535): "), "{path}: {error}");
        }
    }
}
