//! Checks the definitions, first each on its own, then across the catalogue.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolbooth::catalog::{Definition, ToolRef, Version, versioned_name};
use toolbooth::json;
use toolbooth::principal::is_scope;

use crate::bindings;
use crate::entry::{Checked, Entry, is_latest};
use crate::http;
use crate::listed;
use crate::mcp;
use crate::names::{consists_of, snake_case, starts_with_letter};
use crate::problem::{Problem, Problems};
use crate::recursion;
use crate::references;
use crate::schema;
use crate::source::Source;
use crate::views;

/// The maximum length of a name in characters; if the tool has a later version, including the version suffix.
const MAX_NAME: usize = 64;

/// Words that are no names in Rust, not even as `r#…`.
const NOT_RAW: [&str; 4] = ["crate", "self", "super", "_"];

/// The number of definitions above which the build says how far it is, and after how many it does.
const LARGE: usize = 200;
const STEP: usize = 100;

/// Reads and checks each definition file. Returns the valid entries, sorted by toolkit, tool and version.
pub(crate) fn definitions(
    source: &Source,
    max_description: usize,
    progress: &dyn Fn(usize, usize),
    problems: &mut Vec<Problem>,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    // The other two have what definitions share, and what an import has written.
    let is_definition = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        !path.contains("/skills/")
            && name.ends_with(".json")
            && !matches!(name, "toolkit.json" | "import.json")
    };
    let files: Vec<_> = source.files.iter().filter(|(path, _)| is_definition(path)).collect();
    for (at, (path, text)) in files.iter().enumerate() {
        if files.len() > LARGE && at > 0 && at % STEP == 0 {
            progress(at, files.len());
        }
        match entry(source.display(path), path, text, max_description) {
            Ok(entry) => entries.push(entry),
            Err(found) => problems.extend(found),
        }
    }
    entries.sort_by(|a, b| {
        let versions = || a.definition.version.cmp(&b.definition.version);
        a.tool_id().cmp(&b.tool_id()).then_with(versions)
    });
    entries
}

fn entry(
    file: String,
    path: &str,
    text: &str,
    max_description: usize,
) -> Result<Entry, Vec<Problem>> {
    let (written, value) = read(&file, text).map_err(|problem| vec![problem])?;
    let Resolved { mut definition, mut listed, checked, names, warnings } =
        resolve(&file, &written)?;
    let wrong = check(&file, path, &definition, &checked, &names, max_description);
    for definition in [&mut definition, &mut listed] {
        bindings::add_service(definition);
    }
    let id = ToolRef::parse(&definition.id);
    let (Ok(id), true) = (id, wrong.is_empty()) else { return Err(wrong) };
    Ok(Entry {
        toolkit: id.toolkit.to_owned(),
        tool: id.tool.to_owned(),
        examples: value.get("examples").cloned().unwrap_or_else(|| json!([])),
        file,
        definition,
        listed,
        checked,
        warnings,
    })
}

/// A definition with its references resolved.
struct Resolved {
    /// For the server, and for all lists but MCP's.
    definition: Definition,
    /// For MCP's list.
    listed: Definition,
    /// For checks of values.
    checked: Checked,
    /// The names of all properties in recursive schemas. Where such a schema is cut, `required` still has them.
    names: Vec<String>,
    warnings: Vec<Problem>,
}

fn resolve(file: &str, written: &Definition) -> Result<Resolved, Vec<Problem>> {
    let (mut problems, mut names, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    let mut all = |place: &str, schema: &Map<String, Value>| match references::resolve(schema) {
        Ok(mut resolved) => {
            if !resolved.is_exact {
                schema::declared_names(schema, &mut names);
            }
            schema::remove_null_defaults(&mut resolved.schema, place, &mut |place| {
                let message =
                    "is null, which the schema does not allow: the default counts as absent";
                warnings.push(Problem::new(file, place, message));
            });
            let anchored = resolved.anchored.values_mut().filter_map(Value::as_object_mut);
            anchored.for_each(|it| schema::remove_null_defaults(it, place, &mut |_| {}));
            warnings.extend(schema::unchecked_formats(file, place, &resolved.schema));
            let checked = (!resolved.is_exact).then(|| recursion::closed(schema)).flatten();
            let checked = checked.unwrap_or_else(|| Value::Object(resolved.schema.clone()));
            (listed::schema(&resolved), (resolved.schema, checked))
        }
        Err(found) => {
            let found = found.into_iter();
            problems
                .extend(found.map(|(below, it)| Problem::new(file, format!("{place}{below}"), it)));
            Default::default()
        }
    };
    let (mut definition, mut listed) = (written.clone(), written.clone());
    let (listed_input, (resolved_input, input)) = all("input_schema", &written.input_schema);
    (listed.input_schema, definition.input_schema) = (listed_input, resolved_input);
    let output = written.output_schema.as_ref().map(|schema| all("output_schema", schema));
    let (listed_output, output) = output.unzip();
    let (resolved_output, output) = output.unzip();
    (listed.output_schema, definition.output_schema) = (listed_output, resolved_output);
    // Without a schema, the tool returns nothing.
    let output = output.unwrap_or_else(|| json!({"type": "null"}));
    if problems.is_empty() {
        Ok(Resolved { definition, listed, checked: Checked { input, output }, names, warnings })
    } else {
        Err(problems)
    }
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
    let reject = |value: Option<&Value>, place: String| match value {
        Some(Value::Array(_)) => Err(place),
        _ => Ok(()),
    };
    reject(Some(definition), String::new())?;
    for name in ["annotations", "deprecated", "http", "requirements", "ui", "ui.csp"] {
        let member = definition.pointer(&format!("/{}", name.replace('.', "/")));
        reject(member, name.to_owned())?;
    }
    let requirements = ["requirements.authorization", "requirements.secrets"];
    for list in ["examples", "prompts", "resources"].into_iter().chain(requirements) {
        let items = definition.pointer(&format!("/{}", list.replace('.', "/")));
        let items = items.and_then(Value::as_array).into_iter().flatten();
        for (index, item) in items.enumerate() {
            reject(Some(item), format!("{list}[{index}]"))?;
            for part in ["error", "oauth2"] {
                reject(item.get(part), format!("{list}[{index}].{part}"))?;
            }
        }
    }
    Ok(())
}

/// The path of the definition of a tool's version.
fn path_of(id: &ToolRef<'_>, version: &Version) -> String {
    format!("{}/{}@{version}.json", id.toolkit.to_ascii_lowercase(), id.tool)
}

fn check(
    file: &str,
    path: &str,
    definition: &Definition,
    checked: &Checked,
    names: &[String],
    max_description: usize,
) -> Vec<Problem> {
    let mut found = Vec::new();
    let problems = &mut Problems { file, place: String::new(), found: &mut found };
    check_id(path, definition, problems);
    let name = &definition.name;
    let start = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !name.starts_with(start) || name.len() > MAX_NAME || !consists_of(name, b"_-") {
        let message = format!(
            "is {name:?}; expected 1 to {MAX_NAME} letters, digits, _ or -, the first a letter or _"
        );
        problems.add("name", message);
    }
    let length = definition.description.chars().count();
    if definition.description.trim().is_empty() {
        problems.add("description", "is empty; expected a description for people and models");
    } else if length > max_description {
        let message = format!(
            "has {length} characters; the limit is {max_description} (max_description in build.rs)"
        );
        problems.add("description", message);
    }
    if definition.input_schema.get("type").is_none_or(|kind| kind != "object") {
        problems.add("input_schema", "must have \"type\": \"object\" at its root");
    }
    for (index, scope) in definition.scopes.iter().enumerate() {
        let place = format!("scopes[{index}]");
        if !is_scope(scope) || scope == "*" {
            let message = "is not a scope; expected printable ASCII without spaces, \" or \\";
            problems.add(place, message);
        } else if definition.scopes.iter().take(index).any(|earlier| earlier == scope) {
            problems.add(place, format!("repeats {scope:?}"));
        }
    }
    for (index, name) in definition.variables.iter().enumerate() {
        let place = format!("variables[{index}]");
        if name.contains(|c: char| c.is_ascii_lowercase()) || !consists_of(name, b"_") {
            problems.add(place, format!("is {name:?}; expected capital letters, digits and _"));
        } else if definition.variables.iter().take(index).any(|earlier| earlier == name) {
            problems.add(place, format!("repeats {name:?}"));
        }
    }
    if let Some(requirements) = &definition.requirements {
        let ids = requirements.authorization.iter().map(|one| &one.id);
        let ids = ids.chain(requirements.secrets.iter().map(|one| &one.id));
        for _ in ids.filter(|id| id.trim().is_empty()) {
            problems.add("requirements", "has an empty id");
        }
    }
    if let Some(deprecated) = &definition.deprecated {
        if deprecated.message.trim().is_empty() {
            let message = "is empty; give the reason and what to use instead";
            problems.add("deprecated.message", message);
        }
        if deprecated.sunset.as_deref().is_some_and(|day| !is_date(day)) {
            problems.add("deprecated.sunset", "is not a date; expected YYYY-MM-DD");
        }
    }
    problems.found.extend(schema::check(file, "input_schema", &definition.input_schema, names));
    bindings::check(definition, problems);
    http::check(definition, problems);
    mcp::check(definition, problems);
    views::check(definition, problems);
    if let Some(output) = &definition.output_schema {
        problems.found.extend(schema::check(file, "output_schema", output, names));
    }
    if problems.found.is_empty() {
        examples(definition, checked, problems);
    }
    found
}

fn check_id(path: &str, definition: &Definition, problems: &mut Problems<'_>) {
    let version = &definition.version;
    if !version.pre.is_empty() || !version.build.is_empty() {
        problems.add("version", format!("is {version}; expected x.y.z with whole numbers"));
    }
    let id = match ToolRef::parse(&definition.id) {
        Ok(id) => id,
        Err(expected) => {
            return problems.add("id", format!("is {:?}; {expected}", definition.id));
        }
    };
    let expected = format!("{}.{}@{version}", id.toolkit, id.tool);
    if definition.id != expected {
        problems.add("id", format!("is {:?}; expected {expected:?}", definition.id));
    }
    let expected = path_of(&id, version);
    if path != expected {
        let message = format!("does not match the file name; expected the file {expected}");
        problems.add("id", message);
    }
    let names = [id.toolkit.to_ascii_lowercase(), snake_case(id.tool)];
    if let Some(name) = names.iter().find(|name| NOT_RAW.contains(&name.as_str())) {
        let message =
            format!("would name a module or function `{name}`, which Rust does not allow");
        problems.add("id", message);
    }
    if id.toolkit.eq_ignore_ascii_case("types") {
        let message = "may not have the toolkit `Types`: the module `types` is generated";
        problems.add("id", message);
    }
    if [id.toolkit, id.tool].iter().any(|name| !starts_with_letter(name)) {
        let message = "must have names that begin with a letter, because they name a Rust module and a function";
        problems.add("id", message);
    }
}

fn is_date(text: &str) -> bool {
    schema::validator(&json!({"format": "date"})).is_ok_and(|date| date.is_valid(&json!(text)))
}

/// Checks the examples against the schemas, which must be valid.
fn examples(definition: &Definition, checked: &Checked, problems: &mut Problems<'_>) {
    let validators = (schema::validator(&checked.input), schema::validator(&checked.output));
    let (Ok(input), Ok(output)) = validators else { return };
    if definition.examples.is_empty() && definition.http.is_none() {
        let message = "is empty; expected at least one example, which the tests run";
        problems.add("examples", message);
    }
    for (index, example) in definition.examples.iter().enumerate() {
        let mut problems = problems.within(format!("examples[{index}]"));
        for error in input.iter_errors(&example.input) {
            let place = format!(".input{}", error.instance_path());
            problems.add(place, format!("does not match input_schema: {error}"));
        }
        let is_recorded = example.request.is_some()
            || example.request_body.is_some()
            || example.response.is_some();
        if is_recorded && definition.http.is_none() {
            problems.add("", "has a request or a response, which are for tools with http");
        }
        match (&example.value, &example.error, &example.asks) {
            (Some(value), None, None) => {
                for error in output.iter_errors(value) {
                    let place = format!(".value{}", error.instance_path());
                    problems.add(place, format!("does not match output_schema: {error}"));
                }
                for pointer in example.varies.iter().filter(|it| value.pointer(it).is_none()) {
                    let expected = "expected the JSON pointer of a part of value, such as /id";
                    problems.add(".varies", format!("has {pointer:?}; {expected}"));
                }
            }
            (None, Some(_), None) | (None, None, Some(_)) => {}
            _ => problems.add("", "must have exactly one of value, error and asks"),
        }
    }
}

/// Checks across definitions.
pub(crate) fn catalogue(source: &Source, entries: &[Entry]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut names: BTreeMap<&str, &Entry> = BTreeMap::new();
    let mut tools: BTreeMap<(&str, &str), &Entry> = BTreeMap::new();
    for entry in entries {
        let name = &entry.definition.name;
        let first = *names.entry(name).or_insert(entry);
        if first.tool_id() != entry.tool_id() {
            let message =
                format!("is {name:?}, which is already the name of the tool in {}", first.file);
            problems.push(entry.problem("name", message));
        }
        let first = *tools.entry(entry.tool_id()).or_insert(entry);
        if first.definition.name != *name {
            let message = format!(
                "is {name:?}, but {} names the tool {:?}; all versions of a tool must have the same name",
                first.file, first.definition.name
            );
            problems.push(entry.problem("name", message));
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
            problems.push(entry.problem("name", message));
        }
        if let Some(other) = names.get(versioned.as_str()) {
            let message = format!(
                "is {:?}, which also names version {version} of the tool in {}",
                other.definition.name, entry.file
            );
            problems.push(other.problem("name", message));
        }
    }
    problems.extend(mcp::catalogue(entries));
    // The id determines the path: ids are unique, and an id exists if its file does.
    let defined = |id: &str| {
        let id = ToolRef::parse(id).ok()?;
        source.files.get(&path_of(&id, id.version.as_ref()?))
    };
    for entry in entries {
        let replacement =
            entry.definition.deprecated.as_ref().and_then(|it| it.replacement.as_ref());
        if let Some(id) = replacement.filter(|id| defined(id).is_none()) {
            let message = format!("is {id:?}, but there is no such definition");
            problems.push(entry.problem("deprecated.replacement", message));
        }
    }
    problems
}
