//! Writes the compiled-in catalogue: Rust for the tables and schemas, bytes for the lists.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher};

use serde_json::{Map, Value, json};
use toolbooth::catalog::{
    AuthorizationRequirement, Definition, ListForm, Listed, Rendering, versioned_name,
};
use toolbooth::protocol;
use toolbooth_schema::Statics;

use crate::check::Entry;
use crate::mcp;
use crate::problem::Problem;
use crate::schema;

/// The files that a catalogue compiles to.
#[derive(Debug)]
pub struct Rendered {
    /// File names with their contents; `catalog.rs` is the one to include.
    pub files: Vec<(String, Vec<u8>)>,
    /// What its author should know: `cargo` shows it, and builds.
    pub warnings: Vec<Problem>,
}

/// Renders the catalogue of `entries`, which are in order; `handlers` belong to them one by one.
pub(crate) fn catalogue(entries: &[Entry], handlers: &[String]) -> Rendered {
    let mut schemas = Statics::default();
    let mut tools = String::new();
    for (entry, handler) in entries.iter().zip(handlers) {
        tools.push_str(&tool(entry, handler, &mut schemas));
    }
    let named = names(entries);
    let mut files = Vec::new();
    let mut lists = String::new();
    for form in protocol::list_forms() {
        let (body, rust) = list(form, entries);
        lists.push_str(&rust);
        files.push((format!("{}.json", form.name), body.into_bytes()));
    }
    let rust = format!(
        r#"// Written by toolbooth-build from the definition files.
#[allow(clippy::all, clippy::pedantic, clippy::restriction, missing_docs, unreachable_pub)]
mod catalog_schemas {{
    use toolbooth::schema::*;

{schemas}}}

static TOOLS: &[toolbooth::catalog::Tool] = &[
{tools}];

static LISTS: &[toolbooth::catalog::List] = &[
{lists}];

/// The tools of this crate, sorted, checked and rendered at build time.
pub static CATALOG: toolbooth::catalog::Catalog = toolbooth::catalog::Catalog {{
    tools: TOOLS,
    names: &{named:?},
    lists: LISTS,
    variables: VARIABLES,
}};

/// The examples of all definitions, as JSON: an array of `{{"id", "examples"}}`.
#[allow(dead_code)]
const EXAMPLES: &str = include_str!(concat!(env!("OUT_DIR"), "/examples.json"));
"#,
        schemas = schemas.rust
    );
    let examples: Value = entries
        .iter()
        .map(|entry| json!({"id": entry.definition.id, "examples": entry.examples}))
        .collect();
    files.push(("examples.json".to_owned(), examples.to_string().into_bytes()));
    files.insert(0, ("catalog.rs".to_owned(), rust.into_bytes()));
    let warnings = costly(entries).into_iter().chain(entries.iter().filter_map(unscoped)).collect();
    Rendered { files, warnings }
}

fn costly(entries: &[Entry]) -> Vec<Problem> {
    let schemas = entries.iter().flat_map(|entry| {
        let Definition { input_schema, output_schema, .. } = &entry.definition;
        let output = output_schema.as_ref().map(|schema| ("output_schema", schema));
        let all = [("input_schema", input_schema)].into_iter().chain(output);
        all.flat_map(|(place, schema)| schema::costly(&entry.file, place, schema))
    });
    schemas.collect()
}

/// Warns of a tool that acts with a person's authorization, though its callers need no scope for it:
/// every key and every token could then use the grants that its users have given.
fn unscoped(entry: &Entry) -> Option<Problem> {
    let Definition { requirements, scopes, .. } = &entry.definition;
    let personal = requirements.as_ref().is_some_and(|it| !it.authorization.is_empty());
    let message = "is missing, though the tool requires a person's authorization; name the scopes \
                   that a caller's key or token must have, such as \"mail:read\"";
    (personal && scopes.is_empty()).then(|| Problem::new(&entry.file, "scopes", message))
}

/// Whether the entry at `at` is the latest version of its tool.
fn is_latest(entries: &[Entry], at: usize) -> bool {
    let tool = |at: usize| entries.get(at).map(|entry| (&entry.toolkit, &entry.tool));
    tool(at) != tool(at + 1)
}

/// Every name by which a tool can be asked for, sorted, with the tool's place. The checks have made
/// sure that no two are the same.
fn names(entries: &[Entry]) -> Vec<(String, usize)> {
    let mut names = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        let Definition { name, version, .. } = &entry.definition;
        if is_latest(entries, at) {
            names.push((name.clone(), at));
        }
        names.push((versioned_name(name, version), at));
    }
    names.sort();
    names
}

/// Renders one list: its body, and the Rust that describes it.
fn list(form: &ListForm, entries: &[Entry]) -> (String, String) {
    let mut body = form.head.to_owned();
    let mut parts = String::new();
    for (at, entry) in entries.iter().enumerate() {
        let Entry { definition, .. } = entry;
        let latest = is_latest(entries, at);
        let versioned = versioned_name(&definition.name, &definition.version);
        let name = if latest { &definition.name } else { &versioned };
        let (json, unfit, warnings) = match (form.entry)(&Listed { definition, name, latest }) {
            Rendering::LeftOut => continue,
            Rendering::Fits { json, warnings } => (json, Vec::new(), warnings),
            Rendering::Unfit(features) => (String::new(), features, Vec::new()),
        };
        if !json.is_empty() && body.len() > form.head.len() {
            body.push(',');
        }
        let start = body.len();
        body.push_str(&json);
        let end = body.len();
        // Writing to a String does not fail.
        let _ = write!(
            parts,
            "
            toolbooth::catalog::Entry {{ tool: {at}, name: {name:?}, start: {start}, end: {end}, unfit: &{unfit:?}, warnings: &{warnings:?} }},"
        );
    }
    body.push_str(form.tail);
    let (name, head, etag) = (form.name, form.head.len(), etag(body.as_bytes()));
    let rust = format!(
        r#"    toolbooth::catalog::List {{
        name: {name:?},
        body: include_str!(concat!(env!("OUT_DIR"), "/{name}.json")),
        head: {head},
        entries: &[{parts}
        ],
        etag: {etag:?},
    }},
"#
    );
    (body, rust)
}

fn tool(entry: &Entry, handler: &str, schemas: &mut Statics) -> String {
    let definition = &entry.definition;
    let requirements = definition.requirements.clone().unwrap_or_default();
    let authorization: Vec<_> = requirements.authorization.iter().map(authorization).collect();
    let secrets: Vec<_> = requirements.secrets.iter().map(|one| &one.id).collect();
    let headers: Vec<_> = mcp::headers(&definition.input_schema).iter().map(header).collect();
    let add = |schemas: &mut Statics, schema: &Map<String, Value>| {
        schemas.add(&schema::essence(&Value::Object(schema.clone())))
    };
    let input = add(schemas, &definition.input_schema);
    let output = match &definition.output_schema {
        Some(schema) => add(schemas, schema),
        None => schemas.add(&json!({"type": "null"})),
    };
    let version = &definition.version;
    let scopes = &definition.scopes;
    format!(
        "    toolbooth::catalog::Tool {{
        toolkit: {:?},
        tool: {:?},
        version: toolbooth::catalog::Version::new({}, {}, {}),
        name: {:?},
        scopes: &{scopes:?},
        authorization: &[{}],
        secrets: &{secrets:?},
        user_id: {},
        headers: &[{}],
        content: {},
        input: &catalog_schemas::{input},
        output: &catalog_schemas::{output},
        run: |input, context| toolbooth::catalog::run(input, context, crate::{handler}),
    }},
",
        entry.toolkit,
        entry.tool,
        version.major,
        version.minor,
        version.patch,
        definition.name,
        authorization.join(", "),
        requirements.user_id,
        headers.join(", "),
        definition.content,
    )
}

fn authorization(required: &AuthorizationRequirement) -> String {
    let scopes = required.oauth2.as_ref().map_or(&[][..], |oauth2| &oauth2.scopes);
    format!("toolbooth::catalog::Authorization {{ id: {:?}, scopes: &{scopes:?} }}", required.id)
}

fn header(parameter: &mcp::Header) -> String {
    let mcp::Header { suffix, path, .. } = parameter;
    let name = format!("mcp-param-{}", suffix.to_ascii_lowercase());
    format!("toolbooth::catalog::HeaderParameter {{ header: {name:?}, path: &{path:?} }}")
}

/// A strong entity tag: the tag differs where the bytes do.
fn etag(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    format!("\"{:016x}\"", hasher.finish())
}
