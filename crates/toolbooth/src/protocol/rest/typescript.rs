//! `GET /client.ts`: a client in TypeScript with the types of the tools, in one file without dependencies.

use serde_json::{Map, Value};

use super::document::Document;
use crate::catalog::{ListForm, Listed, Rendering};
use crate::protocol::definition::{description, latest, output_schema, text};
use crate::protocol::keywords::{properties, type_names};

/// The list of the file: the members of the interface `Tools`.
pub(super) const LIST: ListForm = ListForm {
    name: "client",
    head: concat!(
        "/** The address of the server. */\nexport const SERVER = \"https://toolbooth.invalid\";\n",
        include_str!("client.ts"),
        "\n/** The tools, by name. */\nexport interface Tools {\n"
    ),
    tail: "}\n",
    entry: |it| latest(it, render),
};

pub(super) static DOCUMENT: Document = Document::text(LIST.name);

fn render(listed: &Listed<'_>) -> Rendering {
    let Listed { definition, name, .. } = listed;
    let about = comment(&description(definition), "  ");
    let name = Value::from(*name);
    let input = type_of(&Value::Object(definition.input_schema.clone()), "    ");
    let output = type_of(&output_schema(definition), "    ");
    text(format!("{about}  {name}: {{\n    input: {input};\n    output: {output};\n  }};\n"))
}

/// The type in TypeScript of the values that `schema` accepts, or of a few more where TypeScript cannot express it.
pub fn type_in_typescript(schema: &Value) -> String {
    type_of(schema, "")
}

/// The type of the values that `schema` accepts, or of a few more where TypeScript cannot express it. Its lines after the
/// first one are indented by `indent`.
pub(super) fn type_of(schema: &Value, indent: &str) -> String {
    let Value::Object(schema) = schema else {
        return if *schema == Value::Bool(false) { "never" } else { "unknown" }.to_owned();
    };
    if let Some(constant) = schema.get("const") {
        return literal(constant);
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        return union(values.iter().map(literal));
    }
    let base = match schema.get("type") {
        Some(types) => union(type_names(types).into_iter().map(|it| of_type(it, schema, indent))),
        None if schema.contains_key("properties") => of_type("object", schema, indent),
        None => UNKNOWN.to_owned(),
    };
    let branches = |keyword: &str| {
        let branches = schema.get(keyword).and_then(Value::as_array);
        branches.map(|all| all.iter().map(|one| type_of(one, indent)).collect::<Vec<_>>())
    };
    let mut parts = vec![base];
    parts.extend(["anyOf", "oneOf"].into_iter().filter_map(branches).map(union));
    parts.extend(branches("allOf").into_iter().flatten());
    intersection(parts)
}

const UNKNOWN: &str = "unknown";

/// The values of one of the types of JSON.
fn of_type(name: &str, schema: &Map<String, Value>, indent: &str) -> String {
    match name {
        "string" | "boolean" | "null" => name.to_owned(),
        "number" | "integer" => "number".to_owned(),
        "array" => array(schema, indent),
        "object" => object(schema, indent),
        _ => UNKNOWN.to_owned(),
    }
}

fn array(schema: &Map<String, Value>, indent: &str) -> String {
    let items = schema.get("items");
    let rest = format!("Array<{}>", items.map_or(UNKNOWN.to_owned(), |it| type_of(it, indent)));
    let Some(Value::Array(first)) = schema.get("prefixItems") else { return rest };
    let mut parts: Vec<_> =
        first.iter().map(|item| format!("({})?", type_of(item, indent))).collect();
    if items != Some(&Value::Bool(false)) {
        parts.push(format!("...{rest}"));
    }
    format!("[{}]", parts.join(", "))
}

fn object(schema: &Map<String, Value>, indent: &str) -> String {
    let inner = format!("{indent}  ");
    let mut members = String::new();
    for (name, property, is_required) in properties(schema) {
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let mark = if is_required { "" } else { "?" };
        let (about, key) = (comment(about, &inner), Value::from(name));
        let written = type_of(property, &inner);
        members.push_str(&format!("{about}{inner}{key}{mark}: {written};\n"));
    }
    let additional = schema.get("additionalProperties");
    // A type cannot express which names match a pattern, so any other member may have any value.
    let has_patterns = schema.contains_key("patternProperties");
    if !members.is_empty() {
        if has_patterns || matches!(additional, Some(Value::Bool(true) | Value::Object(_))) {
            members.push_str(&format!("{inner}[key: string]: {UNKNOWN};\n"));
        }
        return format!("{{\n{members}{indent}}}");
    }
    match additional {
        _ if has_patterns => format!("Record<string, {UNKNOWN}>"),
        Some(Value::Bool(false)) => "Record<string, never>".to_owned(),
        Some(values @ Value::Object(_)) => format!("Record<string, {}>", type_of(values, indent)),
        _ => format!("Record<string, {UNKNOWN}>"),
    }
}

/// The type of one value. JSON is the syntax of such types too.
fn literal(value: &Value) -> String {
    match value {
        Value::Number(_) | Value::String(_) | Value::Bool(_) | Value::Null => value.to_string(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(literal).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| {
                format!("{}: {}", Value::from(name.as_str()), literal(value))
            };
            format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join("; "))
        }
    }
}

/// Any of these types, each named once.
fn union(types: impl IntoIterator<Item = String>) -> String {
    let mut different: Vec<String> = Vec::new();
    for one in types {
        if !different.contains(&one) {
            different.push(one);
        }
    }
    match different.as_slice() {
        [] => "never".to_owned(),
        all if all.iter().any(|one| one == UNKNOWN) => UNKNOWN.to_owned(),
        [one] => one.clone(),
        all => all.join(" | "),
    }
}

/// All of these types at once.
fn intersection(types: Vec<String>) -> String {
    let is_known = |one: &String| one != UNKNOWN;
    let known: Vec<_> = types.into_iter().filter(is_known).collect();
    match known.as_slice() {
        [] => UNKNOWN.to_owned(),
        [one] => one.clone(),
        all => all.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" & "),
    }
}

/// A comment in the lines above a member; empty without a text.
fn comment(text: &str, indent: &str) -> String {
    let text = text.trim().replace("*/", "*\\/");
    if text.is_empty() {
        return String::new();
    }
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    match lines.as_slice() {
        [line] => format!("{indent}/** {line} */\n"),
        lines => format!(
            "{indent}/**\n{indent} * {}\n{indent} */\n",
            lines.join(&format!("\n{indent} * "))
        ),
    }
}
