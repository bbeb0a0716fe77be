//! JSON that a person can review: what is short is in one line, and what matters most comes first.

use serde_json::Value;

/// The longest line that is not broken.
const WIDTH: usize = 140;
/// Members that come before the others, which are in the order of their names.
const FIRST: &[&str] = &[
    "about",
    "source",
    "ask",
    "from",
    "to",
    "answers",
    "then",
    "right",
    "status",
    "path",
    "model",
    "system",
    "type",
    "role",
    "id",
    "name",
    "description",
    "text",
];

pub(super) fn print(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text + "\n"
}

/// The items of a list, or the members of an object with their names.
fn items(value: &Value) -> Vec<(Option<&str>, &Value)> {
    match value {
        Value::Array(items) => items.iter().map(|item| (None, item)).collect(),
        Value::Object(members) => {
            let rank = |name: &str| FIRST.iter().position(|it| *it == name).unwrap_or(FIRST.len());
            let mut members: Vec<_> =
                members.iter().map(|(name, value)| (Some(name.as_str()), value)).collect();
            members.sort_by_key(|(name, _)| rank(name.unwrap_or_default()));
            members
        }
        _ => Vec::new(),
    }
}

fn line(value: &Value) -> String {
    let items: Vec<_> = items(value)
        .into_iter()
        .map(|(name, item)| name.map_or_else(String::new, label) + &line(item))
        .collect();
    match value {
        Value::Array(_) => format!("[{}]", items.join(", ")),
        Value::Object(_) if items.is_empty() => "{}".to_owned(),
        Value::Object(_) => format!("{{ {} }}", items.join(", ")),
        value => value.to_string(),
    }
}

fn label(name: &str) -> String {
    format!("{}: ", Value::from(name))
}

fn write(value: &Value, indent: usize, text: &mut String) {
    let line = line(value);
    let items = items(value);
    if items.is_empty() || (indent > 0 && line.len() + indent <= WIDTH) {
        return text.push_str(&line);
    }
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    text.push(open);
    for (at, (name, item)) in items.into_iter().enumerate() {
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        text.push_str(&" ".repeat(indent + 1));
        text.push_str(&name.map_or_else(String::new, label));
        write(item, indent + 1, text);
    }
    text.push('\n');
    text.push_str(&" ".repeat(indent));
    text.push(close);
}
