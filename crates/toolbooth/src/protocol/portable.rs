//! Schemas for readers that understand little of JSON Schema.
//!
//! OpenTool's and Xaibo's clients read one string as `type`, and know `description`, `properties`,
//! `required`, `items` and `enum`. What else a schema says is put into words, so that a model still
//! reads it. Runs at build time only.

use serde_json::{Map, Value, json};

use super::keywords::{in_words, names, types};

/// The types, in the order in which one is chosen where a schema allows several.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// Reduces a schema to one `type` of the six, `description`, `properties` (always there on an
/// object), `required`, `items` (always there on an array) and `enum` (values of the type itself).
/// Everything else that decides which values are valid is said in the description.
///
/// No text of the result consists of digits alone: some readers take such a text for a number.
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
    let text = |key| schema.get(key).and_then(Value::as_str).map(str::trim);
    let described = text("description").or_else(|| text("title")).filter(|text| !text.is_empty());
    let mut sentences: Vec<String> = described.map(sentence).into_iter().collect();
    sentences.extend(rules.into_iter().map(|rule| sentence(&rule)));
    if !sentences.is_empty() {
        reduced.insert("description".to_owned(), sentences.join(" ").into());
    }
    reduced
}

/// The parts of a reduced schema in words, such as `An object with street (string, required).`, for
/// a form that holds no nested schema; empty when the schema has no parts.
pub(super) fn parts_in_words(reduced: &Map<String, Value>) -> String {
    match (reduced.get("type").and_then(Value::as_str), reduced.get("properties")) {
        (Some("array"), _) => format!("An {}.", shape(reduced)),
        (Some("object"), Some(Value::Object(parts))) if !parts.is_empty() => {
            format!("An {}.", shape(reduced))
        }
        _ => String::new(),
    }
}

/// A reduced schema as a noun: `string`, `array of string`, `object with a (number, required)`.
fn shape(reduced: &Map<String, Value>) -> String {
    let empty = Map::new();
    let kind = reduced.get("type").and_then(Value::as_str).unwrap_or_default();
    let mut noun = match kind {
        "array" => {
            let items = reduced.get("items").and_then(Value::as_object).unwrap_or(&empty);
            let description = items.get("description").and_then(Value::as_str);
            let description = description.map(|text| format!(" ({text})")).unwrap_or_default();
            format!("array of {}{description}", shape(items))
        }
        "object" => {
            let required = reduced.get("required").and_then(Value::as_array);
            let is_required =
                |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
            let part = |(name, schema): (&String, &Value)| {
                let schema = schema.as_object().unwrap_or(&empty);
                let required = if is_required(name) { ", required" } else { "" };
                let description = schema.get("description").and_then(Value::as_str);
                let description = description.map(|text| format!(": {text}")).unwrap_or_default();
                format!("{name} ({}{required}{description})", shape(schema))
            };
            let parts = reduced.get("properties").and_then(Value::as_object).unwrap_or(&empty);
            let parts: Vec<String> = parts.iter().map(part).collect();
            let with = if parts.is_empty() { "" } else { " with " };
            format!("object{with}{}", parts.join(", "))
        }
        other => other.to_owned(),
    };
    if let Some(options) = reduced.get("enum").and_then(Value::as_array) {
        noun.push_str(&format!(", one of {}", list(options)));
    }
    noun
}

/// A schema whose alternatives are resolved as far as they have one meaning, and in words what
/// could not be kept of them.
fn flatten(schema: &Value) -> (Map<String, Value>, Vec<String>) {
    let mut schema = match schema {
        Value::Object(schema) => schema.clone(),
        Value::Bool(false) => {
            let schema = Map::from_iter([("type".to_owned(), "string".into())]);
            return (schema, vec!["No value is allowed".to_owned()]);
        }
        _ => return (Map::new(), Vec::new()),
    };
    let mut rules = Vec::new();
    if let Some(Value::Array(all)) = schema.remove("allOf") {
        for part in &all {
            let (part, more) = flatten(part);
            rules.extend(more);
            merge(&mut schema, part, &mut rules);
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = schema.remove(keyword) else { continue };
        let is_null = |branch: &&Value| branch.get("type").is_some_and(|kind| kind == "null");
        let nullable = branches.iter().any(|branch| is_null(&branch));
        let others: Vec<&Value> = branches.iter().filter(|branch| !is_null(branch)).collect();
        match others.as_slice() {
            [] if nullable => {
                let null = Map::from_iter([("type".to_owned(), "null".into())]);
                merge(&mut schema, null, &mut rules);
                continue;
            }
            [] => {}
            [only] => {
                let (only, more) = flatten(only);
                rules.extend(more);
                merge(&mut schema, only, &mut rules);
            }
            several => {
                rules.push(format!("Must fit one of: {}", alternatives(several)));
                // What one of the types or enums must be is known only if all agree on it.
                let types: Vec<Value> = several.iter().flat_map(|one| types_of(one)).collect();
                if !schema.contains_key("type") && !types.is_empty() {
                    schema.insert("type".to_owned(), types.into());
                }
            }
        }
        if nullable {
            rules.push("May be null".to_owned());
        }
    }
    (schema, rules)
}

/// Adds the keywords of `part`. Where both have one, what both demand is kept, or the other's is
/// put into words.
fn merge(schema: &mut Map<String, Value>, part: Map<String, Value>, rules: &mut Vec<String>) {
    for (keyword, value) in part {
        match (keyword.as_str(), schema.get_mut(&keyword), value) {
            (_, None, value) => {
                schema.insert(keyword, value);
            }
            (_, Some(known), value) if *known == value => {}
            ("properties", Some(Value::Object(known)), Value::Object(more)) => {
                for (name, property) in more {
                    match known.get_mut(&name) {
                        Some(known) => *known = both(known.take(), property),
                        None => {
                            known.insert(name, property);
                        }
                    }
                }
            }
            ("items", Some(known), more) => *known = both(known.take(), more),
            ("type", Some(known), more) => match common_types(known, &more) {
                Some(common) => *known = common,
                None => rules.push(format!("Must be of type {more} too")),
            },
            ("enum", Some(Value::Array(known)), Value::Array(more)) => {
                if known.iter().any(|option| more.contains(option)) {
                    known.retain(|option| more.contains(option));
                } else {
                    rules.push(format!("Must be one of: {}", list(&more)));
                }
            }
            ("const", Some(_), other) => rules.push(format!("Must be {other}")),
            ("description", Some(_), Value::String(other)) => rules.push(other),
            ("required", Some(Value::Array(known)), Value::Array(more)) => {
                more.into_iter().for_each(|name| {
                    if !known.contains(&name) {
                        known.push(name);
                    }
                });
            }
            ("title", Some(_), _) => {}
            (keyword, Some(_), value) => rules.extend(rule(keyword, &value)),
        }
    }
}

/// A schema for what fits two.
fn both(one: Value, other: Value) -> Value {
    json!({ "allOf": [one, other] })
}

/// The types that two values of `type` have in common; an integer is a number as well.
fn common_types(one: &Value, other: &Value) -> Option<Value> {
    let (one, other) = (names(one), names(other));
    let allows = |names: &[&str], kind: &str| {
        names.contains(&kind) || kind == "integer" && names.contains(&"number")
    };
    let common = one.iter().filter(|kind| allows(&other, kind));
    let narrower = other.iter().filter(|kind| !one.contains(kind) && allows(&one, kind));
    let common: Vec<&str> = common.chain(narrower).copied().collect();
    match common.as_slice() {
        [] => None,
        [only] => Some((*only).into()),
        several => Some(several.into()),
    }
}

/// The types that a schema names, in itself or in all its alternatives.
fn types_of(schema: &Value) -> Vec<Value> {
    let (schema, _) = flatten(schema);
    match schema.get("type") {
        Some(Value::Array(types)) => types.clone(),
        Some(kind) => vec![kind.clone()],
        None => Vec::new(),
    }
}

/// Alternatives as nouns with their descriptions.
fn alternatives(branches: &[&Value]) -> String {
    let noun = |branch: &&Value| {
        // A branch that names no type only adds to what stands around it: its own text says it best.
        if types_of(branch).is_empty() && options(&flatten(branch).0).is_empty() {
            return branch.to_string();
        }
        let reduced = reduce(branch);
        let description = reduced.get("description").and_then(Value::as_str);
        let description = description.map(|text| format!(" ({text})")).unwrap_or_default();
        format!("{}{description}", shape(&reduced))
    };
    branches.iter().map(noun).collect::<Vec<_>>().join("; ")
}

/// The one type, and in words what other types are allowed.
fn choose_type(schema: &Map<String, Value>, rules: &mut Vec<String>) -> &'static str {
    let named = types(schema);
    let null = named.contains(&"null") || named.is_empty() && allows_null(schema);
    let allowed: Vec<&'static str> =
        TYPES.into_iter().filter(|kind| named.contains(kind)).collect();
    let nothing_else =
        if named.is_empty() { options(schema).is_empty() } else { allowed.is_empty() };
    match (null, nothing_else) {
        (true, true) => {
            rules.push("Must be null".to_owned());
            return "string";
        }
        (true, false) => rules.push("May be null".to_owned()),
        (false, _) => {}
    }
    match allowed.as_slice() {
        [only] => only,
        [] => inferred(schema, rules),
        ["number", "integer"] => "number",
        [first, ..] => {
            rules.push(format!("May be of type {}", allowed.join(", ")));
            first
        }
    }
}

/// Whether `enum` or `const` has null among its values.
fn allows_null(schema: &Map<String, Value>) -> bool {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => only.is_null(),
        (None, Some(Value::Array(listed))) => listed.contains(&Value::Null),
        _ => false,
    }
}

/// The type of a schema that names none: what its other keywords speak of. When they speak of no
/// type, a string stands for any, in words.
fn inferred(schema: &Map<String, Value>, rules: &mut Vec<String>) -> &'static str {
    let options = options(schema);
    let of_options = options.first().map(type_name);
    if let Some(kind) = of_options.filter(|kind| options.iter().all(|one| type_name(one) == *kind))
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
            rules.push("May be of any type".to_owned());
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

/// The values that `enum` and `const` allow, without null.
fn options(schema: &Map<String, Value>) -> Vec<Value> {
    let listed = schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    let only = schema.get("const").cloned();
    only.map_or(listed, |only| vec![only]).into_iter().filter(|one| !one.is_null()).collect()
}

/// Keeps `enum` where its values are of the type; else puts them into words.
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
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    let properties: Map<String, Value> =
        properties.map(|(name, schema)| (name.clone(), reduce(schema).into())).collect();
    reduced.insert("properties".to_owned(), properties.into());
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let (unsayable, required): (Vec<Value>, Vec<Value>) = required
        .filter(|name| name.is_string())
        .cloned()
        .partition(|name| name.as_str().is_some_and(digits_only));
    if !required.is_empty() {
        reduced.insert("required".to_owned(), required.into());
    }
    if !unsayable.is_empty() {
        rules.push(format!("Required: {}", list(&unsayable)));
    }
}

/// What a keyword demands, in words; nothing for those that are kept or demand nothing.
fn rule(keyword: &str, value: &Value) -> Option<String> {
    match keyword {
        "type" | "properties" | "required" | "items" | "enum" | "const" | "description"
        | "title" | "$schema" | "$comment" | "readOnly" | "writeOnly" | "examples"
        | "x-mcp-header" => None,
        "deprecated" => (value == true).then(|| "Deprecated".to_owned()),
        "additionalProperties" if value == true => None,
        "additionalProperties" if value == false => Some("No other properties".to_owned()),
        other => in_words(other, value),
    }
}

fn list(options: &[Value]) -> String {
    options.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// The text with an end: also a text of digits alone is then none.
fn sentence(text: &str) -> String {
    let ended = text.ends_with(['.', '!', '?', '。']);
    format!("{text}{}", if ended { "" } else { "." })
}

/// Whether some readers take a text for an integer (OT34).
pub(super) fn digits_only(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests;
