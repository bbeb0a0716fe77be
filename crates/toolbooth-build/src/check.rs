//! Checks the definitions, first each on its own, then across the catalogue.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use toolbooth::catalog::{Definition, ToolRef, Version, versioned_name};
use toolbooth::json;
use toolbooth::principal::is_scope;

use crate::bindings;
use crate::handlers::snake_case;
use crate::mcp;
use crate::problem::Problem;
use crate::references;
use crate::schema;
use crate::source::Source;

/// The maximum length of a name in characters; if the tool has a later version, including the version suffix.
const MAX_NAME: usize = 64;

/// Words that are no names in Rust, not even as `r#…`.
const NOT_RAW: [&str; 4] = ["crate", "self", "super", "_"];

/// A valid definition, with its file.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The path for messages.
    pub(crate) file: String,
    /// The part of the id before the dot.
    pub(crate) toolkit: String,
    /// The part of the id after the dot.
    pub(crate) tool: String,
    /// The definition, with references resolved.
    pub(crate) definition: Definition,
    /// The definition with the references of its input schema, and those of its output schema if that is an object.
    /// Only an object is listed as it is: any other schema becomes a part of one, where references would not lead to
    /// the same place.
    pub(crate) written: Definition,
    /// Its examples, as written.
    pub(crate) examples: Value,
}

/// Reads and checks each definition file. Returns the valid entries, sorted by toolkit, tool and version.
pub(crate) fn definitions(source: &Source, max_description: usize) -> (Vec<Entry>, Vec<Problem>) {
    let mut entries = Vec::new();
    let mut problems = Vec::new();
    for (path, text) in source.files.iter().filter(|(path, _)| path.ends_with(".json")) {
        let file = source.display(path);
        match read(&file, text) {
            Err(problem) => problems.push(problem),
            Ok((written, value)) => {
                let (definition, unresolved) = resolve(&file, &written);
                let wrong = if unresolved.is_empty() {
                    check(&file, path, &definition, max_description)
                } else {
                    unresolved
                };
                match ToolRef::parse(&definition.id) {
                    Ok(id) if wrong.is_empty() => entries.push(Entry {
                        toolkit: id.toolkit.to_owned(),
                        tool: id.tool.to_owned(),
                        examples: value.get("examples").cloned().unwrap_or_default(),
                        file,
                        written: written_for(written, &definition),
                        definition,
                    }),
                    _ => problems.extend(wrong),
                }
            }
        }
    }
    entries.sort_by(|a, b| {
        let key = |entry: &Entry| (entry.toolkit.clone(), entry.tool.clone());
        key(a).cmp(&key(b)).then_with(|| a.definition.version.cmp(&b.definition.version))
    });
    (entries, problems)
}

/// Resolves the references in the schemas.
fn resolve(file: &str, written: &Definition) -> (Definition, Vec<Problem>) {
    let mut definition = written.clone();
    let mut problems = Vec::new();
    let output = definition.output_schema.as_mut().map(|schema| ("output_schema", schema));
    for (place, schema) in
        [("input_schema", &mut definition.input_schema)].into_iter().chain(output)
    {
        match references::resolve(schema) {
            Ok(resolved) => *schema = resolved,
            Err(found) => problems.extend(
                found
                    .into_iter()
                    .map(|(below, message)| Problem::new(file, format!("{place}{below}"), message)),
            ),
        }
    }
    (definition, problems)
}

/// The definition for [`Entry::written`].
fn written_for(mut written: Definition, resolved: &Definition) -> Definition {
    let is_object =
        |schema: &Map<String, Value>| schema.get("type").is_some_and(|it| it == "object");
    if !written.output_schema.as_ref().is_some_and(is_object) {
        written.output_schema.clone_from(&resolved.output_schema);
    }
    written
}

/// The output schema of tools with content blocks that have none of their own.
const CONTENT: &str = include_str!("content.json");

fn read(file: &str, text: &str) -> Result<(Definition, Value), Problem> {
    let value = json::parse(text)
        .map_err(|error| Problem::new(file, "", format!("is not JSON: {error}")))?;
    let mut value = Value::from(&value);
    if let Value::Object(members) = &mut value
        && members.get("content") == Some(&Value::Bool(true))
        && !members.contains_key("output_schema")
    {
        let blocks = serde_json::from_str(CONTENT).unwrap_or_default();
        members.insert("output_schema".to_owned(), blocks);
    }
    reject_arrays(&value)
        .map_err(|place| Problem::new(file, place, "is an array; expected an object"))?;
    let definition = serde_path_to_error::deserialize(&value).map_err(|error| {
        let place = error.path().to_string();
        let place = if place == "." { "" } else { &place };
        Problem::new(file, place, error.inner().to_string())
    })?;
    Ok((definition, value))
}

/// Rejects arrays where objects belong, with the place of the first one: serde also deserializes a
/// struct from an array, field by field, which no author intends.
fn reject_arrays(definition: &Value) -> Result<(), String> {
    let reject = |value: &Value, place: String| if value.is_array() { Err(place) } else { Ok(()) };
    reject(definition, String::new())?;
    let member = |value: &Value, name: &str| value.get(name).cloned().unwrap_or_default();
    for name in ["annotations", "deprecated", "requirements"] {
        reject(&member(definition, name), name.to_owned())?;
    }
    let requirements = member(definition, "requirements");
    for (name, list) in [
        ("examples", member(definition, "examples")),
        ("prompts", member(definition, "prompts")),
        ("resources", member(definition, "resources")),
        ("requirements.authorization", member(&requirements, "authorization")),
        ("requirements.secrets", member(&requirements, "secrets")),
    ] {
        for (index, item) in list.as_array().into_iter().flatten().enumerate() {
            reject(item, format!("{name}[{index}]"))?;
            for part in ["error", "oauth2"] {
                reject(&member(item, part), format!("{name}[{index}].{part}"))?;
            }
        }
    }
    Ok(())
}

/// The path of the definition of a tool's version.
fn path_of(id: &ToolRef<'_>, version: &Version) -> String {
    format!("{}/{}@{version}.json", id.toolkit.to_ascii_lowercase(), id.tool)
}

/// Checks one definition.
fn check(file: &str, path: &str, definition: &Definition, max_description: usize) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut problem =
        |place: &str, message: String| problems.push(Problem::new(file, place, message));

    let version = &definition.version;
    if !version.pre.is_empty() || !version.build.is_empty() {
        problem("version", format!("is {version}; expected x.y.z with whole numbers"));
    }
    match ToolRef::parse(&definition.id) {
        Err(expected) => problem("id", format!("is {:?}; {expected}", definition.id)),
        Ok(id) => {
            let expected = format!("{}.{}@{version}", id.toolkit, id.tool);
            if definition.id != expected {
                problem("id", format!("is {:?}; expected {expected:?}", definition.id));
            }
            let expected = path_of(&id, version);
            if path != expected {
                problem(
                    "id",
                    format!("does not match the file name; expected the file {expected}"),
                );
            }
            let names = [id.toolkit.to_ascii_lowercase(), snake_case(id.tool)];
            if let Some(name) = names.iter().find(|name| NOT_RAW.contains(&name.as_str())) {
                let message =
                    format!("would name a module or function `{name}`, which Rust does not allow");
                problem("id", message);
            }
            if id.toolkit.eq_ignore_ascii_case("types") {
                problem(
                    "id",
                    "may not have the toolkit `Types`: the module `types` is generated".to_owned(),
                );
            }
            if ![id.toolkit, id.tool]
                .iter()
                .all(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
            {
                let message = "must have names that begin with a letter, because they name a Rust module and a function";
                problem("id", message.to_owned());
            }
        }
    }
    let name = &definition.name;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let start = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !name.starts_with(start) || name.len() > MAX_NAME || !name.bytes().all(plain) {
        let message = format!(
            "is {name:?}; expected 1 to {MAX_NAME} letters, digits, _ or -, the first a letter or _"
        );
        problem("name", message);
    }
    let length = definition.description.chars().count();
    if definition.description.trim().is_empty() {
        problem("description", "is empty; expected a description for people and models".to_owned());
    } else if length > max_description {
        problem(
            "description",
            format!(
                "has {length} characters; the limit is {max_description} (max_description in build.rs)"
            ),
        );
    }
    if definition.input_schema.get("type").and_then(Value::as_str) != Some("object") {
        problem("input_schema", "must have \"type\": \"object\" at its root".to_owned());
    }
    let scopes = &definition.scopes;
    for (index, scope) in scopes.iter().enumerate() {
        if !is_scope(scope) || scope == "*" {
            let message = "is not a scope; expected printable ASCII without spaces, \" or \\";
            problem(&format!("scopes[{index}]"), message.to_owned());
        } else if scopes.iter().take(index).any(|earlier| earlier == scope) {
            problem(&format!("scopes[{index}]"), format!("repeats {scope:?}"));
        }
    }
    for (index, name) in definition.variables.iter().enumerate() {
        let place = format!("variables[{index}]");
        let letter = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if name.is_empty() || !name.bytes().all(letter) {
            problem(&place, format!("is {name:?}; expected capital letters, digits and _"));
        } else if definition.variables.iter().take(index).any(|earlier| earlier == name) {
            problem(&place, format!("repeats {name:?}"));
        }
    }
    if let Some(requirements) = &definition.requirements {
        let ids = requirements.authorization.iter().map(|one| &one.id);
        for id in ids.chain(requirements.secrets.iter().map(|one| &one.id)) {
            if id.trim().is_empty() {
                problem("requirements", "has an empty id".to_owned());
            }
        }
    }
    if let Some(deprecated) = &definition.deprecated {
        if deprecated.message.trim().is_empty() {
            problem(
                "deprecated.message",
                "is empty; give the reason and what to use instead".to_owned(),
            );
        }
        if deprecated.sunset.as_deref().is_some_and(|day| !is_date(day)) {
            problem("deprecated.sunset", "is not a date; expected YYYY-MM-DD".to_owned());
        }
    }
    problems.extend(schema::check(file, "input_schema", &definition.input_schema));
    problems.extend(bindings::check(file, definition));
    problems.extend(mcp::check(file, definition));
    if let Some(output) = &definition.output_schema {
        problems.extend(schema::check(file, "output_schema", output));
    }
    if problems.is_empty() { examples(file, definition) } else { problems }
}

fn is_date(text: &str) -> bool {
    schema::validator(&serde_json::json!({"format": "date"}))
        .is_ok_and(|date| date.is_valid(&Value::String(text.to_owned())))
}

/// Checks the examples against the schemas, which must be valid.
fn examples(file: &str, definition: &Definition) -> Vec<Problem> {
    let mut problems = Vec::new();
    let output = definition.output_schema.clone();
    let output = output.map_or_else(|| serde_json::json!({"type": "null"}), Value::Object);
    let validators = (
        schema::validator(&Value::Object(definition.input_schema.clone())),
        schema::validator(&output),
    );
    let (Ok(input), Ok(output)) = validators else { return problems };
    if definition.examples.is_empty() {
        problems.push(Problem::new(
            file,
            "examples",
            "is empty; expected at least one example, which the tests run",
        ));
    }
    for (index, example) in definition.examples.iter().enumerate() {
        let mut problem = |part: &str, message: String| {
            problems.push(Problem::new(file, format!("examples[{index}]{part}"), message));
        };
        for error in input.iter_errors(&example.input) {
            problem(
                &format!(".input{}", error.instance_path()),
                format!("does not match input_schema: {error}"),
            );
        }
        match (&example.value, &example.error, &example.asks) {
            (Some(value), None, None) => {
                for error in output.iter_errors(value) {
                    problem(
                        &format!(".value{}", error.instance_path()),
                        format!("does not match output_schema: {error}"),
                    );
                }
                for pointer in example.varies.iter().filter(|it| value.pointer(it).is_none()) {
                    let expected = "expected the JSON pointer of a part of value, such as /id";
                    problem(".varies", format!("has {pointer:?}; {expected}"));
                }
            }
            (None, Some(_), None) | (None, None, Some(_)) => {}
            _ => problem("", "must have exactly one of value, error and asks".to_owned()),
        }
    }
    problems
}

/// Whether the entry at `at` is the latest version of its tool.
pub(crate) fn is_latest(entries: &[Entry], at: usize) -> bool {
    let tool = |at: usize| entries.get(at).map(|entry| (&entry.toolkit, &entry.tool));
    tool(at) != tool(at + 1)
}

/// Checks across definitions.
pub(crate) fn catalogue(source: &Source, entries: &[Entry]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut names: BTreeMap<&str, &Entry> = BTreeMap::new();
    let mut tools: BTreeMap<(&str, &str), &Entry> = BTreeMap::new();
    for entry in entries {
        let definition = &entry.definition;
        let tool = (entry.toolkit.as_str(), entry.tool.as_str());
        let first = *names.entry(&definition.name).or_insert(entry);
        if (first.toolkit.as_str(), first.tool.as_str()) != tool {
            let message = format!(
                "is {:?}, which is already the name of the tool in {}",
                definition.name, first.file
            );
            problems.push(Problem::new(&entry.file, "name", message));
        }
        let first = *tools.entry(tool).or_insert(entry);
        if first.definition.name != definition.name {
            let message = format!(
                "is {:?}, but {} names the tool {:?}; all versions of a tool must have the same name",
                definition.name, first.file, first.definition.name
            );
            problems.push(Problem::new(&entry.file, "name", message));
        }
    }
    for (at, entry) in entries.iter().enumerate() {
        let Definition { name, version, .. } = &entry.definition;
        let versioned = versioned_name(name, version);
        if versioned.len() > MAX_NAME && !is_latest(entries, at) {
            let message = format!(
                "is too long: next to the later version, this one becomes {versioned:?}; model providers accept at \
                 most {MAX_NAME} characters"
            );
            problems.push(Problem::new(&entry.file, "name", message));
        }
        if let Some(other) = names.get(versioned.as_str()) {
            let message = format!(
                "is {:?}, which also names version {version} of the tool in {}",
                other.definition.name, entry.file
            );
            problems.push(Problem::new(&other.file, "name", message));
        }
    }
    problems.extend(mcp::catalogue(entries));
    // The id determines the path: ids are unique, and an id exists if its file does.
    let defined = |id: &&str| {
        let id = ToolRef::parse(id).ok();
        id.and_then(|id| Some(path_of(&id, id.version.as_ref()?)))
            .is_some_and(|path| source.files.contains_key(&path))
    };
    for entry in entries {
        let replacement =
            entry.definition.deprecated.as_ref().and_then(|it| it.replacement.as_deref());
        if let Some(id) = replacement.filter(|id| !defined(id)) {
            let message = format!("is {id:?}, but there is no such definition");
            problems.push(Problem::new(&entry.file, "deprecated.replacement", message));
        }
    }
    problems
}
