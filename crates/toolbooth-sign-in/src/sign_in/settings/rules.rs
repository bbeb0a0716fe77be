//! The entries of `SIGN_IN_ALLOWED`.

use toolbooth::json::{self, Object, Value};
use toolbooth::principal::Scopes;

/// Who, as `provider:rule`, and which scopes they can give to clients; or what was expected of an entry.
pub(super) type Entry = Result<(String, Option<Scopes>), String>;

/// Reads texts separated by commas, or a JSON array of texts and objects. `None` if it is no such array.
pub(super) fn entries(text: &str) -> Option<Vec<Entry>> {
    if !text.trim_start().starts_with('[') {
        let texts = text.split(',').map(str::trim).filter(|text| !text.is_empty());
        return Some(texts.map(|text| Ok((text.to_owned(), None))).collect());
    }
    match json::parse(text) {
        Ok(Value::Array(entries)) => Some(entries.iter().map(entry).collect()),
        _ => None,
    }
}

fn entry(entry: &Value<'_>) -> Entry {
    if let Some(who) = entry.as_str() {
        return Ok((who.to_owned(), None));
    }
    let who = entry.get("who").and_then(Value::as_str);
    let scopes = entry.get("scopes").and_then(Value::as_array);
    let members = entry.as_object().map(Object::len);
    let (Some(who), Some(scopes), Some(2)) = (who, scopes, members) else {
        return Err("must be a rule, or an object with who and scopes and nothing else".to_owned());
    };
    // An entry that is not a string is not a scope either.
    let words: Vec<_> = scopes.iter().map(|it| it.as_str().unwrap_or_default()).collect();
    let is_pattern = |word: &&str| word.contains('*') && *word != "*";
    let scopes = Scopes::read(words.iter().copied()).filter(|_| !words.iter().any(is_pattern));
    let expected = "must have scopes that are words without spaces, or [\"*\"] for all";
    Ok((who.to_owned(), Some(scopes.ok_or(expected)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_objects() {
        let who = |who: &str| Ok((who.to_owned(), None));
        let with = |who: &str, scopes| Ok((who.to_owned(), Some(scopes)));
        let listed = |scope: &str| Scopes::Listed(vec![scope.to_owned()]);
        for (text, expected) in [
            ("", vec![]),
            ("a:b, ,c:d", vec![who("a:b"), who("c:d")]),
            (r#" ["a:b"]"#, vec![who("a:b")]),
            (
                r#"["a:b", {"who": "c:d", "scopes": ["gateway"]}]"#,
                vec![who("a:b"), with("c:d", listed("gateway"))],
            ),
            (r#"[{"who": "c:d", "scopes": ["*"]}]"#, vec![with("c:d", Scopes::All)]),
            (r#"[{"who": "c:d", "scopes": []}]"#, vec![with("c:d", Scopes::NONE)]),
            ("[]", vec![]),
        ] {
            assert_eq!(entries(text), Some(expected), "{text}");
        }
        for text in [
            "1",
            "null",
            "{}",
            r#"{"who": "c:d"}"#,
            r#"{"scopes": ["gateway"]}"#,
            r#"{"who": "c:d", "scopes": "gateway"}"#,
            r#"{"who": "c:d", "scopes": ["a b"]}"#,
            r#"{"who": "c:d", "scopes": [1]}"#,
            r#"{"who": "c:d", "scopes": ["calculator:*"]}"#,
            r#"{"who": "c:d", "scopes": [], "name": "x"}"#,
        ] {
            let [Err(_)] = entries(&format!("[{text}]")).unwrap()[..] else { panic!("{text}") };
        }
        for text in ["[", "[1", r#"["a:b",]"#] {
            assert_eq!(entries(text), None, "{text}");
        }
    }
}
