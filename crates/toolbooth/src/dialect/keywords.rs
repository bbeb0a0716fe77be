//! Keywords in words, for the description of a schema that may not have them.

use serde_json::Value;

/// What a keyword says, as a sentence; nothing if it says nothing.
pub(super) fn in_words(keyword: &str, value: &Value) -> Option<String> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let all = || {
        let values = value.as_array().into_iter().flatten();
        values.map(Value::to_string).collect::<Vec<_>>().join(", ")
    };
    let some = |noun| format!("{text} {noun}{}", if text == "1" { "" } else { "s" });
    Some(match keyword {
        "minLength" => format!("At least {}.", some("character")),
        "maxLength" => format!("At most {}.", some("character")),
        "minimum" => format!("At least {text}."),
        "maximum" => format!("At most {text}."),
        "exclusiveMinimum" => format!("More than {text}."),
        "exclusiveMaximum" => format!("Less than {text}."),
        "multipleOf" => format!("A multiple of {text}."),
        "minItems" => format!("At least {}.", some("item")),
        "maxItems" => format!("At most {}.", some("item")),
        "uniqueItems" if value == false => return None,
        "uniqueItems" => "No item twice.".to_owned(),
        "minProperties" => format!("At least {}.", some("member")),
        "maxProperties" => format!("At most {}.", some("member")),
        "pattern" => format!("Matches /{text}/."),
        "format" => format!("Format: {text}."),
        "contentEncoding" => format!("Encoded as {text}."),
        "contentMediaType" => format!("Media type: {text}."),
        "default" => format!("Default: {value}."),
        "const" => format!("Always {value}."),
        "enum" => format!("One of {}.", all()),
        "examples" => format!("Examples: {}.", all()),
        _ => format!("{keyword}: {value}."),
    })
}
