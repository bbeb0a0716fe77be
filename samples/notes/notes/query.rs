//! Turns words into a query of SQLite's full-text search.

use toolbooth::ToolError;

/// The FTS5 expression for notes that contain all words; a word that ends with `*` matches its beginning. Every word is
/// a quoted string, so that none is an operator, a column or a syntax error.
pub(super) fn expression(query: &str) -> Result<String, ToolError> {
    let words = query.split(|c: char| c.is_whitespace() || c.is_control());
    let terms: Vec<_> = words.filter_map(term).collect();
    if terms.is_empty() {
        return Err(
            ToolError::new("The query has no words").prompt("Use words that the notes contain")
        );
    }
    Ok(terms.join(" "))
}

fn term(word: &str) -> Option<String> {
    let (word, star) = word.strip_suffix('*').map_or((word, ""), |word| (word, "*"));
    let has_letters = word.contains(char::is_alphanumeric);
    has_letters.then(|| format!("\"{}\"{star}", word.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions() {
        for (query, expected) in [
            ("milk", Some(r#""milk""#)),
            ("  fresh\tmilk\n", Some(r#""fresh" "milk""#)),
            ("mil*", Some(r#""mil"*"#)),
            ("Straße 東京", Some(r#""Straße" "東京""#)),
            ("milk OR NOT (bread)", Some(r#""milk" "OR" "NOT" "(bread)""#)),
            ("title:milk -bread ^a", Some(r#""title:milk" "-bread" "^a""#)),
            (r#"5" nail"#, Some(r#""5""" "nail""#)),
            ("milk'; DROP TABLE notes; --", Some(r#""milk';" "DROP" "TABLE" "notes;""#)),
            ("a\0b", Some(r#""a" "b""#)),
            ("", None),
            (" * \" -- ", None),
        ] {
            assert_eq!(expression(query).ok().as_deref(), expected, "{query:?}");
        }
    }
}
