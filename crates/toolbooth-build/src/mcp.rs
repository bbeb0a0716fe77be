//! Checks the parts of a definition for MCP: `x-mcp-header`, prompts, resources and content.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolbooth::catalog::{Definition, Prompt, Resource, TaskSupport};

use crate::completion;
use crate::entry::Entry;
use crate::names::{consists_of, starts_with_letter};
use crate::problem::{Problem, Problems};
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

/// Removes the keyword from a schema and from those in it.
pub(crate) fn remove_headers(schema: &mut Map<String, Value>) {
    schema.remove(KEYWORD);
    for (keyword, value) in schema {
        for (_, inner) in schema::inner_mut(keyword, value) {
            if let Value::Object(inner) = inner {
                remove_headers(inner);
            }
        }
    }
}

pub(crate) fn check(definition: &Definition, problems: &mut Problems<'_>) {
    let headers = headers(&definition.input_schema);
    for (at, header) in headers.iter().enumerate() {
        let path = header.path.join(".properties.");
        let place = format!("input_schema.properties.{path}.{KEYWORD}");
        if header.suffix.len() > MAX_SUFFIX || !consists_of(&header.suffix, b"-_") {
            let message = format!(
                "is not a valid header name; expected 1 to {MAX_SUFFIX} letters, digits, - or _"
            );
            problems.add(&place, message);
        }
        if !TYPES.iter().any(|name| header.r#type == *name) {
            let message = "is only allowed on a parameter of type string, integer or boolean";
            problems.add(&place, message);
        }
        let same = |other: &Header| other.suffix.eq_ignore_ascii_case(&header.suffix);
        if headers.iter().take(at).any(same) {
            let message = format!("is {:?}, which another parameter already uses", header.suffix);
            problems.add(&place, message);
        }
    }
    // Clients look for it only in properties, not in `items`, in branches or in an output schema. They leave out a tool
    // that has it elsewhere.
    let count = |schema: &Map<String, Value>| {
        let mut count = 0;
        schema::visit(schema, "", &mut |_, schema, _| {
            count += usize::from(schema.contains_key(KEYWORD));
        });
        count
    };
    if definition.output_schema.as_ref().is_some_and(|output| count(output) > 0) {
        problems.add("output_schema", format!("has {KEYWORD}, which is only for parameters"));
    }
    if count(&definition.input_schema) > headers.len() {
        let message = format!(
            "has {KEYWORD} in an unsupported place; it must be a string, on a parameter or on a nested property of one"
        );
        problems.add("input_schema", message);
    }
    for (index, prompt) in definition.prompts.iter().enumerate() {
        check_prompt(prompt, definition, problems.within(format!("prompts[{index}]")));
    }
    for (index, resource) in definition.resources.iter().enumerate() {
        check_resource(resource, definition, problems.within(format!("resources[{index}]")));
    }
    if definition.content && !accepts_only_content_blocks(definition) {
        let message = "must reject everything except a list of content blocks, because content is true: \
                       set \"type\": \"array\", and require type and the fields of each block in items";
        problems.add("output_schema", message);
    }
}

/// Checks that the tool can be called with only the string parameters `given`.
fn check_callable_with(definition: &Definition, given: &[&str], mut problems: Problems<'_>) {
    let input = &definition.input_schema;
    for name in given {
        let message = match input.get("properties").and_then(|all| all.get(*name)) {
            None => format!("contains {name:?}, which is not a parameter of the tool"),
            Some(parameter) if parameter.get("type").is_none_or(|kind| kind != "string") => {
                format!("contains {name:?}, which is a string here but not in input_schema")
            }
            Some(_) => continue,
        };
        problems.add("", message);
    }
    let required = input.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str).filter(|name| !given.contains(name)) {
        problems.add("", format!("lacks {name:?}, which the tool requires"));
    }
    if !definition.annotations.read_only {
        let message = "is answered by the tool, which must therefore be read_only: it runs without confirmation";
        problems.add("", message);
    }
    if definition.task == Some(TaskSupport::Required) {
        let message = "is answered by the tool, whose task must therefore be \"optional\": no client gets a task for it";
        problems.add("", message);
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

fn check_resource(resource: &Resource, definition: &Definition, mut problems: Problems<'_>) {
    let Resource { uri, name, description, mime_type, text, blob, .. } = resource;
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_plain = !uri.contains(|c: char| c.is_whitespace() || c.is_control());
    let is_scheme = starts_with_letter(scheme) && consists_of(scheme, b"+-.");
    if !is_plain || !is_scheme || scheme == "toolbooth" {
        let message =
            "is not a valid URI; expected scheme:rest, with a scheme other than toolbooth";
        problems.add(".uri", message);
    }
    if !has_balanced_braces(uri) {
        problems.add(".uri", "has an unbalanced brace; expected {name}");
    }
    let is_last = |rest: &str| rest.split_once('}').is_some_and(|(_, after)| after.is_empty());
    if uri.split_once("{+").is_some_and(|(_, rest)| !is_last(rest)) {
        problems.add(
            ".uri",
            "has {+name} before its end; expected it last, because it matches the rest",
        );
    }
    for (name, completion) in &resource.complete {
        let place = format!(".complete.{name}");
        if !resource.parameters().any(|parameter| parameter == name) {
            problems.add(&place, "is not a name in the URI");
        }
        completion::check(
            completion,
            &Vec::from_iter(resource.parameters()),
            problems.within(place),
        );
    }
    let fixed = [text, blob].into_iter().flatten().count();
    if fixed > 1 || fixed > 0 && resource.is_template() {
        let message = "must have at most one of text and blob, and neither if its URI has {name}";
        problems.add("", message);
    }
    if fixed == 0 {
        let given = Vec::from_iter(resource.parameters());
        check_callable_with(definition, &given, problems.within(".uri"));
    }
    let base64 = |blob: &String| {
        let digits = blob.trim_end_matches('=');
        let padding = blob.len() - digits.len();
        blob.len().is_multiple_of(4)
            && padding < 3
            && (blob.is_empty() || consists_of(digits, b"+/"))
    };
    if !blob.as_ref().is_none_or(base64) {
        problems.add(".blob", "is not base64");
    }
    for (place, text) in [(".name", name), (".description", description), (".mime_type", mime_type)]
    {
        if text.trim().is_empty() {
            problems.add(place, "is empty");
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

fn check_prompt(prompt: &Prompt, definition: &Definition, mut problems: Problems<'_>) {
    let plain = |text: &str| text.len() <= MAX_NAME && consists_of(text, b"_-");
    let expected = format!("expected 1 to {MAX_NAME} letters, digits, _ or -");
    if !plain(&prompt.name) {
        problems.add(".name", format!("is {:?}; {expected}", prompt.name));
    }
    if prompt.description.trim().is_empty() {
        problems.add(".description", "is empty; expected a description for people");
    }
    for (index, argument) in prompt.arguments.iter().enumerate() {
        let name = &argument.name;
        let place = format!(".arguments[{index}]");
        if !plain(name) {
            problems.add(format!("{place}.name"), format!("is {name:?}; {expected}"));
        } else if prompt.arguments.iter().take(index).any(|earlier| earlier.name == *name) {
            problems.add(format!("{place}.name"), format!("repeats {name:?}"));
        } else if prompt.text.as_ref().is_some_and(|text| !text.contains(&format!("{{{name}}}"))) {
            problems.add(".text", format!("does not use the argument {{{name}}}"));
        }
        if argument.description.trim().is_empty() {
            problems.add(format!("{place}.description"), "is empty; describe the argument");
        }
        if let Some(completion) = &argument.complete {
            let names: Vec<_> = prompt.arguments.iter().map(|it| it.name.as_str()).collect();
            completion::check(completion, &names, problems.within(format!("{place}.complete")));
        }
    }
    if prompt.text.is_none() {
        let given: Vec<_> = prompt.arguments.iter().map(|one| one.name.as_str()).collect();
        check_callable_with(definition, &given, problems.within(".arguments"));
    }
    for name in names(prompt.text.as_deref().unwrap_or_default()) {
        if !prompt.arguments.iter().any(|argument| argument.name == name) {
            problems.add(".text", format!("contains {{{name}}}, which is not an argument"));
        }
    }
}

/// Checks across definitions: prompt names and resource URIs must be unique among tools, and what completes them must be a tool.
pub(crate) fn catalogue(entries: &[Entry]) -> Vec<Problem> {
    let mut problems = repeated(entries, "resource", "uri", |definition| {
        definition.resources.iter().map(|it| it.uri.as_str()).collect()
    });
    problems.extend(repeated(entries, "prompt", "name", |definition| {
        definition.prompts.iter().map(|it| it.name.as_str()).collect()
    }));
    problems.extend(completion::catalogue(entries));
    problems
}

/// The names of a kind of thing that another tool uses too, or the same definition twice.
fn repeated<'a>(
    entries: &'a [Entry],
    kind: &str,
    member: &str,
    names: fn(&'a Definition) -> Vec<&'a str>,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut known: BTreeMap<&str, &Entry> = BTreeMap::new();
    for entry in entries {
        let names = names(&entry.definition);
        for (index, name) in names.iter().enumerate() {
            let first = *known.entry(name).or_insert(entry);
            let twice = names.iter().take(index).any(|earlier| earlier == name);
            if twice || first.tool_id() != entry.tool_id() {
                let message = format!("is {name:?}, which a {kind} of {} already uses", first.file);
                problems.push(entry.problem(format!("{kind}s[{index}].{member}"), message));
            }
        }
    }
    problems
}
