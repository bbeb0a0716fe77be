//! Reads the template of a path: `/repos/{owner}/{repo}.json`.

/// A part of a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// Text, encoded.
    Text(String),
    /// The name of a parameter.
    Parameter(String),
}

/// The segments of a path, each in parts.
///
/// # Errors
/// The problem, and what was expected.
pub(super) fn parse(template: &str) -> Result<Vec<Vec<Part>>, String> {
    if template.is_empty() {
        return Ok(Vec::new());
    }
    let Some(rest) = template.strip_prefix('/') else {
        return Err("must begin with /".to_owned());
    };
    rest.split('/').map(segment).collect()
}

fn segment(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        add_text(&mut parts, before)?;
        let Some((name, after)) = after.split_once('}') else {
            return Err(format!("has {text:?}, where a }} is missing"));
        };
        if name.is_empty() || name.contains('{') {
            return Err(format!("has {text:?}; expected a name between {{ and }}"));
        }
        parts.push(Part::Parameter(name.to_owned()));
        rest = after;
    }
    add_text(&mut parts, rest)?;
    let is_dots = match &parts[..] {
        [Part::Text(text)] => matches!(&**text, "." | ".."),
        _ => false,
    };
    if is_dots {
        return Err(format!("has the segment {text:?}, which leads to another path"));
    }
    Ok(parts)
}

fn add_text(parts: &mut Vec<Part>, text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Ok(());
    }
    if let Some(found) = text.find(['?', '#']) {
        let rest = text.get(found..).unwrap_or_default();
        return Err(format!("has {rest:?}; expected only a path; send a query with parameters"));
    }
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@%".contains(&byte);
    if let Some(other) = text.chars().find(|other| !u8::try_from(*other).is_ok_and(is_allowed)) {
        return Err(format!("has {other:?}; expected it as %XX, in UTF-8"));
    }
    for escape in text.split('%').skip(1) {
        let digits = escape.get(..2).unwrap_or_default();
        let is_hex = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex || ["2e", "2f", "5c"].iter().any(|it| it.eq_ignore_ascii_case(digits)) {
            return Err(format!(
                "has \"%{digits}\"; expected two hexadecimal digits after %, and no dot, / or \\"
            ));
        }
    }
    parts.push(Part::Text(text.to_owned()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates() {
        let text = |text: &str| Part::Text(text.to_owned());
        let parameter = |name: &str| Part::Parameter(name.to_owned());
        for (template, expected) in [
            ("", Ok(vec![])),
            ("/", Ok(vec![vec![]])),
            ("/a/", Ok(vec![vec![text("a")], vec![]])),
            ("/a%20b/{c}", Ok(vec![vec![text("a%20b")], vec![parameter("c")]])),
            (
                "/{a}.{b}/x:y",
                Ok(vec![vec![parameter("a"), text("."), parameter("b")], vec![text("x:y")]]),
            ),
            ("a", Err("must begin with /")),
            ("https://a.example", Err("must begin with /")),
            ("/a?b={c}", Err("has \"?b=\"; expected only a path; send a query with parameters")),
            ("/a#b", Err("has \"#b\"; expected only a path; send a query with parameters")),
            ("/../a", Err("has the segment \"..\", which leads to another path")),
            (
                "/%2e%2E/a",
                Err("has \"%2e\"; expected two hexadecimal digits after %, and no dot, / or \\"),
            ),
            (
                "/a%2Fb",
                Err("has \"%2F\"; expected two hexadecimal digits after %, and no dot, / or \\"),
            ),
            (
                "/a%zz",
                Err("has \"%zz\"; expected two hexadecimal digits after %, and no dot, / or \\"),
            ),
            (
                "/a%4",
                Err("has \"%\"; expected two hexadecimal digits after %, and no dot, / or \\"),
            ),
            ("/a b", Err("has ' '; expected it as %XX, in UTF-8")),
            ("/é", Err("has 'é'; expected it as %XX, in UTF-8")),
            ("/a\\b", Err("has '\\\\'; expected it as %XX, in UTF-8")),
            ("/{a", Err("has \"{a\", where a } is missing")),
            ("/{}", Err("has \"{}\"; expected a name between { and }")),
            ("/a}", Err("has '}'; expected it as %XX, in UTF-8")),
        ] {
            assert_eq!(parse(template), expected.map_err(str::to_owned), "{template}");
        }
    }
}
