//! A valid definition, as the build reads it.

use std::fmt::Display;

use serde_json::{Map, Value};
use toolbooth::catalog::Definition;

use crate::problem::Problem;

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
    /// The definition with its schemas as MCP clients take them.
    pub(crate) listed: Definition,
    /// The schemas by which values are checked.
    pub(crate) checked: Checked,
    /// What the author should know. It does not fail the build.
    pub(crate) warnings: Vec<Problem>,
    /// Its examples, as written.
    pub(crate) examples: Value,
}

/// The schemas of a definition as the Worker checks values by them: recursive ones have references.
#[derive(Debug)]
pub(crate) struct Checked {
    pub(crate) input: Value,
    pub(crate) output: Value,
}

impl Entry {
    pub(crate) fn tool_id(&self) -> (&str, &str) {
        (&self.toolkit, &self.tool)
    }

    pub(crate) fn problem(&self, place: impl Display, message: impl Into<String>) -> Problem {
        Problem::new(&self.file, place, message)
    }

    /// The schemas, each with its place.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = (&'static str, &Map<String, Value>)> {
        let Definition { input_schema, output_schema, .. } = &self.definition;
        let output = output_schema.as_ref().map(|schema| ("output_schema", schema));
        [("input_schema", input_schema)].into_iter().chain(output)
    }
}

/// Whether the entry at `at` is the latest version of its tool.
pub(crate) fn is_latest(entries: &[Entry], at: usize) -> bool {
    let tool = |at: usize| entries.get(at).map(Entry::tool_id);
    tool(at) != tool(at + 1)
}
