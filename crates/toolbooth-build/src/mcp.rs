//! Checks the parts of a definition for MCP: `x-mcp-header`, prompts, resources and content.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolbooth::catalog::{Definition, Prompt, Resource};

use crate::check::Entry;
use crate::problem::Problem;
use crate::schema;

/// The keyword for a parameter that clients repeat in the header `Mcp-Param-…`.
const KEYWORD: &str = "x-mcp-header";
/// The types that fit in a header.
const TYPES: [&str; 3] = ["string", "integer", "boolean"];
/// The maximum length after `Mcp-Param-`: web pages may send header names of at most 64 bytes.
const MAX_SUFFIX: usize = 54;
/// The maximum length of the name of a prompt or argument.
const MAX_NAME: usize = 64;

/// A parameter that clients repeat in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// The part after `Mcp-Param-`, as written.
    pub(crate) suffix: String,
    /// The property names from the root to the parameter.
    pub(crate) path: Vec<String>,
    /// Its `type`.
    r#type: Value,
}

/// The parameters of an input schema that clients repeat in headers, nested ones included.
pub(crate) fn headers(schema: &Map<String, Value>) -> Vec<Header> {
    let mut found = Vec::new();
    collect(schema, &[], &mut found);
    found
}

fn collect(schema: &Map<String, Value>, path: &[String], found: &mut Vec<Header>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Value::Object(property) = property else { continue };
        let path: Vec<_> = path.iter().chain([name]).cloned().collect();
        if let Some(suffix) = property.get(KEYWORD).and_then(Value::as_str) {
            found.push(Header {
                suffix: suffix.to_owned(),
                path: path.clone(),
                r#type: property.get("type").cloned().unwrap_or_default(),
            });
        }
        collect(property, &path, found);
    }
}

/// Checks one definition.
pub(crate) fn check(file: &str, definition: &Definition) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut problem =
        |place: String, message: String| problems.push(Problem::new(file, place, message));

    let headers = headers(&definition.input_schema);
    for (at, header) in headers.iter().enumerate() {
        let place = format!("input_schema.properties.{}", header.path.join(".properties."));
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        let fits = (1..=MAX_SUFFIX).contains(&header.suffix.len());
        if !fits || !header.suffix.bytes().all(letter) {
            let message = format!(
                "is not a valid header name; expected 1 to {MAX_SUFFIX} letters, digits, - or _"
            );
            problem(format!("{place}.{KEYWORD}"), message);
        }
        if !TYPES.iter().any(|name| header.r#type == *name) {
            let message = "is only allowed on a parameter of type string, integer or boolean";
            problem(format!("{place}.{KEYWORD}"), message.to_owned());
        }
        let same = |other: &Header| other.suffix.eq_ignore_ascii_case(&header.suffix);
        if headers.iter().take(at).any(same) {
            let message = format!("is {:?}, which another parameter already uses", header.suffix);
            problem(format!("{place}.{KEYWORD}"), message);
        }
    }
    // Clients look for it only in properties, not in `items`, in branches or in an output schema.
    let mut count = 0;
    let input = Value::Object(definition.input_schema.clone());
    schema::visit(&input, "", &[], &mut |_, schema, _| {
        count += usize::from(schema.contains_key(KEYWORD));
    });
    if count > headers.len() {
        let message = format!(
            "has {KEYWORD} in an unsupported place; it must be a string, on a parameter or on a nested property of one"
        );
        problem("input_schema".to_owned(), message);
    }

    for (index, prompt) in definition.prompts.iter().enumerate() {
        check_prompt(prompt, definition, &mut |place, message| {
            problem(format!("prompts[{index}]{place}"), message);
        });
    }
    for (index, resource) in definition.resources.iter().enumerate() {
        check_resource(resource, definition, &mut |place, message| {
            problem(format!("resources[{index}]{place}"), message);
        });
    }
    if definition.content && !accepts_only_content_blocks(definition) {
        let message = "must reject everything except a list of content blocks, because content is true: \
                       set \"type\": \"array\", and require type and the fields of each block in items";
        problem("output_schema".to_owned(), message.to_owned());
    }
    problems
}

/// Checks that the tool can be called with only the string parameters `given`.
fn check_callable_with(definition: &Definition, given: &[&str], problem: &mut dyn FnMut(String)) {
    let input = &definition.input_schema;
    for name in given {
        match input.get("properties").and_then(|all| all.get(*name)) {
            None => problem(format!("contains {name:?}, which is not a parameter of the tool")),
            Some(parameter) if parameter.get("type").is_none_or(|kind| kind != "string") => {
                problem(format!(
                    "contains {name:?}, which is a string here but not in input_schema"
                ));
            }
            Some(_) => {}
        }
    }
    let required = input.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !given.contains(&name) {
            problem(format!("lacks {name:?}, which the tool requires"));
        }
    }
    if !definition.annotations.read_only {
        problem(
            "is answered by the tool, which must therefore be read_only: it runs without confirmation".to_owned(),
        );
    }
}

/// Whether the output schema rejects everything except content blocks. This tries only samples.
fn accepts_only_content_blocks(definition: &Definition) -> bool {
    let output = definition.output_schema.clone().map_or(Value::Null, Value::Object);
    if output.get("type").is_none_or(|kind| kind != "array") {
        return false;
    }
    let Ok(output) = schema::validator(&output) else { return true };
    [
        json!("text"),
        json!({"type": "text", "text": "t"}),
        json!(["text"]),
        json!([{}]),
        json!([{"type": "text"}]),
        json!([{"type": "image", "data": ""}]),
        json!([{"type": "audio", "data": ""}]),
        json!([{"type": "resource"}]),
        json!([{"type": "resource_link", "uri": "a:b"}]),
        json!([{"type": "other"}]),
    ]
    .iter()
    .all(|sample| !output.is_valid(sample))
}

fn check_resource(
    resource: &Resource,
    definition: &Definition,
    problem: &mut dyn FnMut(&str, String),
) {
    let scheme = resource.uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let good = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(letter)
        && resource.uri.chars().all(|one| !one.is_whitespace() && !one.is_control());
    if !good || scheme == "toolbooth" {
        problem(
            ".uri",
            "is not a valid URI; expected scheme:rest, with a scheme other than toolbooth"
                .to_owned(),
        );
    }
    if !has_balanced_braces(&resource.uri) {
        problem(".uri", "has an unbalanced brace; expected {name}".to_owned());
    }
    let fixed = [&resource.text, &resource.blob].into_iter().flatten().count();
    if fixed > 1 || fixed > 0 && resource.is_template() {
        problem(
            "",
            "must have at most one of text and blob, and neither if its URI has {name}".to_owned(),
        );
    }
    if fixed == 0 {
        let given: Vec<_> = names(&resource.uri).collect();
        check_callable_with(definition, &given, &mut |message| problem(".uri", message));
    }
    let base64 = |blob: &String| {
        let digits = blob.trim_end_matches('=');
        let digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
        blob.len().is_multiple_of(4) && blob.len() - digits.len() < 3 && digits.bytes().all(digit)
    };
    if !resource.blob.as_ref().is_none_or(base64) {
        problem(".blob", "is not base64".to_owned());
    }
    for (place, text) in [
        (".name", &resource.name),
        (".description", &resource.description),
        (".mime_type", &resource.mime_type),
    ] {
        if text.trim().is_empty() {
            problem(place, "is empty".to_owned());
        }
    }
}

/// The names between braces.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).map(|rest| rest.split_once('}').map_or(rest, |(name, _)| name))
}

/// Whether every brace is closed and contains a name.
fn has_balanced_braces(text: &str) -> bool {
    let mut parts = text.split('{');
    let first = parts.next().unwrap_or_default();
    !first.contains('}')
        && parts.all(|part| {
            part.split_once('}').is_some_and(|(name, rest)| !name.is_empty() && !rest.contains('}'))
        })
}

fn check_prompt(prompt: &Prompt, definition: &Definition, problem: &mut dyn FnMut(&str, String)) {
    let plain = |text: &str| {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        !text.is_empty() && text.len() <= MAX_NAME && text.bytes().all(letter)
    };
    let expected = format!("expected 1 to {MAX_NAME} letters, digits, _ or -");
    if !plain(&prompt.name) {
        problem(".name", format!("is {:?}; {expected}", prompt.name));
    }
    if prompt.description.trim().is_empty() {
        problem(".description", "is empty; expected a description for people".to_owned());
    }
    for (index, argument) in prompt.arguments.iter().enumerate() {
        let name = &argument.name;
        let place = format!(".arguments[{index}]");
        if !plain(name) {
            problem(&format!("{place}.name"), format!("is {name:?}; {expected}"));
        } else if prompt.arguments.iter().take(index).any(|earlier| earlier.name == *name) {
            problem(&format!("{place}.name"), format!("repeats {name:?}"));
        } else if prompt.text.as_ref().is_some_and(|text| !text.contains(&format!("{{{name}}}"))) {
            problem(".text", format!("does not use the argument {{{name}}}"));
        }
        if argument.description.trim().is_empty() {
            problem(&format!("{place}.description"), "is empty; describe the argument".to_owned());
        }
    }
    if prompt.text.is_none() {
        let given: Vec<_> = prompt.arguments.iter().map(|one| one.name.as_str()).collect();
        check_callable_with(definition, &given, &mut |message| problem(".arguments", message));
    }
    for name in names(prompt.text.as_deref().unwrap_or_default()) {
        if !prompt.arguments.iter().any(|argument| argument.name == name) {
            problem(".text", format!("contains {{{name}}}, which is not an argument"));
        }
    }
}

/// Checks across definitions: prompt names and resource URIs must be unique among tools.
pub(crate) fn catalogue(entries: &[Entry]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut addresses: BTreeMap<&str, &Entry> = BTreeMap::new();
    for entry in entries {
        for (index, resource) in entry.definition.resources.iter().enumerate() {
            let first = *addresses.entry(&resource.uri).or_insert(entry);
            let same_tool = (&first.toolkit, &first.tool) == (&entry.toolkit, &entry.tool);
            let mut earlier = entry.definition.resources.iter().take(index);
            if !same_tool || earlier.any(|one| one.uri == resource.uri) {
                let message = format!(
                    "is {:?}, which a resource of {} already uses",
                    resource.uri, first.file
                );
                problems.push(Problem::new(
                    &entry.file,
                    format!("resources[{index}].uri"),
                    message,
                ));
            }
        }
    }
    let mut known: BTreeMap<&str, &Entry> = BTreeMap::new();
    for entry in entries {
        for (index, prompt) in entry.definition.prompts.iter().enumerate() {
            let first = *known.entry(&prompt.name).or_insert(entry);
            let same_tool = (&first.toolkit, &first.tool) == (&entry.toolkit, &entry.tool);
            let same_file = first.file == entry.file;
            let earlier = entry.definition.prompts.iter().take(index);
            let twice = same_file && earlier.into_iter().any(|one| one.name == prompt.name);
            if !same_tool || twice {
                let message =
                    format!("is {:?}, which a prompt of {} already uses", prompt.name, first.file);
                let place = format!("prompts[{index}].name");
                problems.push(Problem::new(&entry.file, place, message));
            }
        }
    }
    problems
}
