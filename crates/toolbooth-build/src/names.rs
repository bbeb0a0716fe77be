//! Which names are valid, and what they become in Rust.

/// Whether a name has at least one character, all of them letters, digits and `others`.
pub(crate) fn consists_of(name: &str, others: &[u8]) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || others.contains(&byte);
    !name.is_empty() && name.bytes().all(fits)
}

pub(crate) fn starts_with_letter(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// `CreateIssue` is `create_issue`, `GetURL` is `get_url`, `HTTPGet` is `http_get`.
pub(crate) fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (index, c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| chars.get(before));
        let after = chars.get(index + 1);
        let starts_word = c.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if starts_word {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// The name as an identifier, if there is one: raw if it is a keyword.
pub(crate) fn escaped(name: &str) -> String {
    if syn::parse_str::<syn::Ident>(name).is_ok() {
        return name.to_owned();
    }
    let raw = format!("r#{name}");
    if syn::parse_str::<syn::Ident>(&raw).is_ok() {
        return raw;
    }
    if name.is_empty() { "empty".to_owned() } else { format!("_{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snake_case_of_tool_names() {
        for (name, expected) in [
            ("Add", "add"),
            ("CreateIssue", "create_issue"),
            ("GetURL", "get_url"),
            ("HTTPGet", "http_get"),
            ("Sha256Sum", "sha256_sum"),
            ("already_snake", "already_snake"),
            ("A", "a"),
        ] {
            assert_eq!(snake_case(name), expected, "{name}");
        }
    }
}
