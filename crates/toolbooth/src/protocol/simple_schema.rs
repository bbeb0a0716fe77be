//! Reduces schemas to the few keywords that OpenTool's and Xaibo's clients understand.
//!
//! These clients read one string as `type`, and know `description`, `properties`, `required`, `items` and `enum`.
//! All other rules become sentences in the description, so that a model still reads them. Runs at build time only.

mod flatten;

use serde_json::{Map, Value};

use super::keywords::{describe, list, properties, types};
use flatten::{flatten, options, values};

/// The types, in the order of preference if a schema allows several.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// Reduces a schema to one `type` of [`TYPES`], `description`, `properties` (always present for an object),
/// `required`, `items` (always present for an array) and `enum` (of values of the type). The description contains
/// all other rules. No string in the result consists only of digits: some clients take such a string for a number.
pub(super) fn reduce(schema: &Value) -> Map<String, Value> {
    let (schema, mut rules) = flatten(schema);
    let kind = choose_type(&schema, &mut rules);
    let mut reduced = Map::new();
    reduced.insert("type".to_owned(), kind.into());
    match kind {
        "object" => object(&schema, &mut reduced, &mut rules),
        "array" => {
            let items = schema.get("items").cloned().unwrap_or_default();
            reduced.insert("items".to_owned(), reduce(&items).into());
        }
        _ => {}
    }
    choose_enum(&schema, kind, &mut reduced, &mut rules);
    for (keyword, value) in &schema {
        rules.extend(rule(keyword, value));
    }
    let text = |key| schema.get(key).and_then(Value::as_str);
    let description = text("description").or_else(|| text("title"));
    let description = description.filter(|text| !text.trim().is_empty());
    let description = match description {
        Some(text) if rules.is_empty() && !digits_only(text.trim()) => text.to_owned(),
        description => {
            let first = description.map(|text| sentence(text.trim()));
            let rules = rules.iter().map(|rule| sentence(rule));
            first.into_iter().chain(rules).collect::<Vec<_>>().join(" ")
        }
    };
    if !description.is_empty() {
        reduced.insert("description".to_owned(), description.into());
    }
    reduced
}

/// The rule of a schema that allows any type.
const ANY_TYPE: &str = "May be of any type";

/// A reduced schema as a noun, and the rest of its description; empty if it has none.
fn described(reduced: &Map<String, Value>) -> (String, String) {
    let description = reduced.get("description").and_then(Value::as_str).unwrap_or_default();
    let any = format!("{ANY_TYPE}.");
    match description.split_once(&any) {
        None => (noun(reduced), description.to_owned()),
        Some((before, after)) => {
            let rest = [before.trim(), after.trim()].join(" ");
            ("any value".to_owned(), rest.trim().to_owned())
        }
    }
}

/// A reduced schema as a noun, with its description in parentheses.
fn noun_with_description(reduced: &Map<String, Value>) -> String {
    match described(reduced) {
        (noun, description) if description.is_empty() => noun,
        (noun, description) => format!("{noun} ({description})"),
    }
}

/// Describes the properties or items of a reduced schema, such as `An object with street (string, required).`, for
/// formats without nested schemas; empty if the schema has none.
pub(super) fn describe_parts(reduced: &Map<String, Value>) -> String {
    let is_array = reduced.get("type").is_some_and(|kind| kind == "array");
    let has_parts = is_array || properties(reduced).next().is_some();
    if has_parts { format!("An {}.", noun(reduced)) } else { String::new() }
}

/// Describes a reduced schema as a noun: `string`, `array of string`, `object with a (number, required)`.
fn noun(reduced: &Map<String, Value>) -> String {
    let empty = Map::new();
    let kind = reduced.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut text = match kind {
        "array" => {
            let items = reduced.get("items").and_then(Value::as_object).unwrap_or(&empty);
            format!("array of {}", noun_with_description(items))
        }
        "object" => {
            let part = |(name, schema, is_required): (&str, &Value, bool)| {
                let schema = schema.as_object().unwrap_or(&empty);
                let required = if is_required { ", required" } else { "" };
                match described(schema) {
                    (noun, text) if text.is_empty() => format!("{name} ({noun}{required})"),
                    (noun, text) => format!("{name} ({noun}{required}: {text})"),
                }
            };
            let parts: Vec<String> = properties(reduced).map(part).collect();
            let with = if parts.is_empty() { "" } else { " with " };
            format!("object{with}{}", parts.join(", "))
        }
        other => other.to_owned(),
    };
    if let Some(options) = reduced.get("enum").and_then(Value::as_array) {
        text.push_str(&format!(", one of {}", list(options)));
    }
    text
}

/// Chooses one type, and adds rules about the other allowed types.
fn choose_type(schema: &Map<String, Value>, rules: &mut Vec<String>) -> &'static str {
    let named = types(schema);
    let allows_null =
        named.contains(&"null") || named.is_empty() && values(schema).contains(&Value::Null);
    let allowed: Vec<&'static str> =
        TYPES.into_iter().filter(|kind| named.contains(kind)).collect();
    let nothing_else =
        if named.is_empty() { options(schema).is_empty() } else { allowed.is_empty() };
    if allows_null && nothing_else {
        rules.push("Must be null".to_owned());
        return "string";
    }
    if allows_null {
        rules.push("May be null".to_owned());
    }
    match allowed.as_slice() {
        [only] => only,
        [] => infer_type(schema, rules),
        ["number", "integer"] => "number",
        [first, ..] => {
            rules.push(format!("May be of type {}", allowed.join(", ")));
            first
        }
    }
}

/// The type of a schema without `type`, from its other keywords; otherwise `string`, with the rule that any is allowed.
fn infer_type(schema: &Map<String, Value>, rules: &mut Vec<String>) -> &'static str {
    let options = options(schema);
    if let Some(kind) = options.first().map(type_name)
        && options.iter().all(|option| type_name(option) == kind)
    {
        return kind;
    }
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
    if has(&["properties", "required", "additionalProperties", "patternProperties"]) {
        "object"
    } else if has(&["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]) {
        "array"
    } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        "number"
    } else {
        if options.is_empty() && !has(&["minLength", "maxLength", "pattern", "format"]) {
            rules.push(ANY_TYPE.to_owned());
        }
        "string"
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::String(_) | Value::Null => "string",
    }
}

/// Keeps `enum` if its values are of the type; otherwise adds a rule.
fn choose_enum(
    schema: &Map<String, Value>,
    kind: &str,
    reduced: &mut Map<String, Value>,
    rules: &mut Vec<String>,
) {
    let options = options(schema);
    if options.is_empty() {
        return;
    }
    let fits = |option: &Value| match option {
        Value::String(text) => kind == "string" && !digits_only(text),
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "number" || kind == "integer" && !number.is_f64(),
        _ => false,
    };
    if options.iter().all(fits) {
        reduced.insert("enum".to_owned(), options.into());
    } else {
        rules.push(format!("Must be one of: {}", list(&options)));
    }
}

fn object(schema: &Map<String, Value>, reduced: &mut Map<String, Value>, rules: &mut Vec<String>) {
    let reduce_one =
        |(name, schema, _): (&str, &Value, bool)| (name.to_owned(), reduce(schema).into());
    let reduced_properties: Map<String, Value> = properties(schema).map(reduce_one).collect();
    reduced.insert("properties".to_owned(), reduced_properties.into());
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let (numeric, required): (Vec<Value>, Vec<Value>) = required
        .filter(|name| name.is_string())
        .cloned()
        .partition(|name| name.as_str().is_some_and(digits_only));
    if !required.is_empty() {
        reduced.insert("required".to_owned(), required.into());
    }
    if !numeric.is_empty() {
        rules.push(format!("Required: {}", list(&numeric)));
    }
}

/// Describes the rule of a keyword; `None` for keywords that are kept, or that restrict nothing.
fn rule(keyword: &str, value: &Value) -> Option<String> {
    match keyword {
        "type" | "properties" | "required" | "items" | "enum" | "const" | "description"
        | "title" | "$schema" | "$comment" | "readOnly" | "writeOnly" | "examples"
        | "x-mcp-header" => None,
        "deprecated" => (value == true).then(|| "Deprecated".to_owned()),
        "additionalProperties" if value == true => None,
        "additionalProperties" if value == false => Some("No other properties".to_owned()),
        other => describe(other, value),
    }
}

/// The text with a full stop. This also ensures that it does not consist only of digits.
fn sentence(text: &str) -> String {
    let ended = text.ends_with(['.', '!', '?', '。']);
    format!("{text}{}", if ended { "" } else { "." })
}

/// Whether some clients take a text for an integer (OT34).
pub(super) fn digits_only(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
