//! The error type: one problem in one file of the catalogue.

use std::fmt;

/// A problem in a file. Displays as `file: place: message`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The path, as in [`crate::Source::name`] followed by the file: `tools/text/mod.rs`.
    pub file: String,
    /// The place in it, such as `input_schema.properties.b`; empty for the whole file.
    pub place: String,
    /// The problem and what was expected.
    pub message: String,
}

impl Problem {
    pub(crate) fn new(
        file: impl fmt::Display,
        place: impl fmt::Display,
        message: impl Into<String>,
    ) -> Self {
        Self { file: file.to_string(), place: place.to_string(), message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}
