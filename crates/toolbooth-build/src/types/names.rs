//! Rust names for properties, types and variants.

use crate::names::{escaped, snake_case};

/// A field or module name: `max_length` for `maxLength`, `r#type` for `type`.
pub(crate) fn field(name: &str) -> String {
    escaped(&words(name).join("_").to_ascii_lowercase())
}

/// A type name: `MaxLength` for `max_length`.
pub(super) fn type_name(name: &str) -> String {
    let capital = |word: String| {
        let mut letters = word.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters.map(|letter| letter.to_ascii_lowercase())).collect()
    };
    let name: String = words(name).into_iter().map(capital).collect::<Vec<String>>().concat();
    match name.chars().next() {
        None => "Item".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("N{name}"),
        Some(_) if name == "Self" => "Self_".to_owned(),
        Some(_) => name,
    }
}

/// The variants of an enum of these strings; `None` if two of them would have the same name, or one of them
/// none.
pub(super) fn variants(values: &[String]) -> Option<Vec<String>> {
    let mut variants: Vec<String> = Vec::new();
    for value in values {
        let variant = type_name(value);
        if words(value).is_empty() || variants.contains(&variant) || value.starts_with('-') {
            return None;
        }
        variants.push(variant);
    }
    Some(variants)
}

/// A name for the items of a list: `day` for `days`, `entry` for `entries`.
pub(super) fn singular(name: &str) -> String {
    if let Some(stem) = name.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return format!("{stem}y");
    }
    for ending in ["sses", "shes", "ches", "xes"] {
        if name.ends_with(ending) {
            return name.strip_suffix("es").unwrap_or(name).to_owned();
        }
    }
    match name.strip_suffix('s') {
        Some(stem) if stem.len() > 1 && !name.ends_with("ss") && !name.ends_with("us") => {
            stem.to_owned()
        }
        _ => format!("{name}_item"),
    }
}

/// The words of a name: runs of letters and digits, split before a capital letter that starts a word.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()) {
        words.extend(snake_case(part).split('_').map(str::to_owned));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, of_field, of_type) in [
            ("text", "text", "Text"),
            ("max_length", "max_length", "MaxLength"),
            ("maxLength", "max_length", "MaxLength"),
            ("max-length", "max_length", "MaxLength"),
            ("userID", "user_id", "UserId"),
            ("type", "r#type", "Type"),
            ("self", "_self", "Self_"),
            ("$ref", "r#ref", "Ref"),
            ("2d", "_2d", "N2d"),
            ("", "empty", "Item"),
            ("größe", "gr_e", "GrE"),
        ] {
            assert_eq!((field(name).as_str(), type_name(name).as_str()), (of_field, of_type));
        }
    }

    #[test]
    fn items() {
        for (name, expected) in [
            ("days", "day"),
            ("entries", "entry"),
            ("boxes", "box"),
            ("classes", "class"),
            ("address", "address_item"),
            ("status", "status_item"),
            ("data", "data_item"),
            ("s", "s_item"),
        ] {
            assert_eq!(singular(name), expected);
        }
    }

    #[test]
    fn enums_need_names_for_all_values() {
        let of = |values: &[&str]| {
            variants(&values.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["open", "in-progress"]), Some(vec!["Open".into(), "InProgress".into()]));
        assert_eq!(of(&["-", "_", "."]), None);
        assert_eq!(of(&["a-b", "a_b"]), None);
        assert_eq!(of(&["created", "-created"]), None);
    }
}
