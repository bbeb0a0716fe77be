//! Writes the compiled-in catalogue: Rust for the tables and validators, bytes for the lists.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher};

use serde_json::{Value, json};
use toolbooth::dialect::oxp;

use crate::check::Entry;
use crate::schema;

/// The files that a catalogue compiles to.
#[derive(Debug)]
pub struct Rendered {
    /// File names with their contents; `catalog.rs` is the one to include.
    pub files: Vec<(&'static str, Vec<u8>)>,
}

/// Renders the catalogue of `entries`, which are in order; `handlers` belong to them one by one.
pub(crate) fn catalogue(entries: &[Entry], handlers: &[String]) -> Rendered {
    let definitions: Vec<_> = entries.iter().map(|entry| entry.definition.clone()).collect();
    let oxp = oxp::render_list(&definitions);
    let mut validators = Validators::default();
    let mut tools = String::new();
    for (entry, handler) in entries.iter().zip(handlers) {
        tools.push_str(&tool(entry, handler, &mut validators));
    }
    let etag = etag(&oxp);
    let rust = format!(
        r#"// Written by toolbooth-build from the definition files.
#[allow(clippy::all, clippy::pedantic, clippy::restriction, missing_docs, unreachable_pub)]
mod catalog_validators {{
{validators}}}

static TOOLS: &[toolbooth::catalog::Tool] = &[
{tools}];

/// The tools of this crate, sorted, checked and rendered at build time.
pub static CATALOG: toolbooth::catalog::Catalog = toolbooth::catalog::Catalog {{
    tools: TOOLS,
    lists: toolbooth::catalog::Lists {{
        oxp: toolbooth::catalog::List {{
            body: include_bytes!(concat!(env!("OUT_DIR"), "/oxp.json")),
            etag: {etag:?},
        }},
    }},
    variables: VARIABLES,
}};

/// The examples of all definitions, as JSON: an array of `{{"id", "examples"}}`.
#[cfg(test)]
#[allow(dead_code)]
const EXAMPLES: &str = include_str!(concat!(env!("OUT_DIR"), "/examples.json"));
"#,
        validators = validators.rust,
    );
    let examples: Value = entries
        .iter()
        .map(|entry| json!({"id": entry.definition.id, "examples": entry.examples}))
        .collect();
    Rendered {
        files: vec![
            ("catalog.rs", rust.into_bytes()),
            ("oxp.json", oxp),
            ("examples.json", examples.to_string().into_bytes()),
        ],
    }
}

fn tool(entry: &Entry, handler: &str, validators: &mut Validators) -> String {
    let definition = &entry.definition;
    let requirements = definition.requirements.clone().unwrap_or_default();
    let authorization: Vec<_> = requirements.authorization.iter().map(|one| &one.id).collect();
    let secrets: Vec<_> = requirements.secrets.iter().map(|one| &one.id).collect();
    let input = validators.of(&Value::Object(definition.input_schema.clone()));
    let output = match &definition.output_schema {
        Some(schema) => validators.of(&Value::Object(schema.clone())),
        None => validators.of(&json!({"type": "null"})),
    };
    let version = &definition.version;
    format!(
        "    toolbooth::catalog::Tool {{
        toolkit: {:?},
        tool: {:?},
        version: toolbooth::catalog::Version::new({}, {}, {}),
        name: {:?},
        authorization: &{authorization:?},
        secrets: &{secrets:?},
        user_id: {},
        input: catalog_validators::{input},
        output: catalog_validators::{output},
        run: |input, context| toolbooth::catalog::run(input, context, crate::{handler}),
    }},
",
        entry.toolkit,
        entry.tool,
        version.major,
        version.minor,
        version.patch,
        definition.name,
        requirements.user_id,
    )
}

/// The generated validators, one for each essentially different schema.
#[derive(Default)]
struct Validators {
    names: BTreeMap<String, String>,
    rust: String,
}

impl Validators {
    /// The name of the validator for `schema`.
    fn of(&mut self, schema: &Value) -> String {
        let essence = schema::essence(schema).to_string();
        if let Some(name) = self.names.get(&essence) {
            return name.clone();
        }
        let number = self.names.len();
        let name = format!("SCHEMA_{number}");
        let hashes = "#".repeat(longest_hashes(&essence) + 1);
        // Writing to a String does not fail.
        let _ = write!(
            self.rust,
            "    #[jsonschema::validator(
        schema = r{hashes}\"{essence}\"{hashes},
        draft = jsonschema::Draft::Draft202012,
        validate_formats = true,
        ignore_unknown_formats = false,
        pattern_options = {{ engine = regex }},
        methods = {{ validate = false }}
    )]
    struct Schema{number};
    pub(super) const {name}: toolbooth::catalog::Validator = toolbooth::catalog::Validator {{
        is_valid: Schema{number}::is_valid,
        errors: |value| Schema{number}::iter_errors(value),
    }};
"
        );
        self.names.insert(essence, name.clone());
        name
    }
}

/// How many `#` stand in a row after a quote, at most: a raw string needs one more around it.
fn longest_hashes(text: &str) -> usize {
    text.split('"')
        .skip(1)
        .map(|after| after.chars().take_while(|c| *c == '#').count())
        .max()
        .unwrap_or(0)
}

/// A strong entity tag: the tag differs where the bytes do.
fn etag(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    format!("\"{:016x}\"", hasher.finish())
}
