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

/// Collects the problems of a file, or of a part of it.
pub(crate) struct Problems<'a> {
    pub(crate) file: &'a str,
    /// The part.
    pub(crate) place: String,
    pub(crate) found: &'a mut Vec<Problem>,
}

impl Problems<'_> {
    /// Adds a problem; `place` is appended to that of the part.
    pub(crate) fn add(&mut self, place: impl fmt::Display, message: impl Into<String>) {
        let place = format!("{}{place}", self.place);
        self.found.push(Problem::new(self.file, place, message));
    }

    /// Collects those of a smaller part.
    pub(crate) fn within(&mut self, place: impl fmt::Display) -> Problems<'_> {
        let place = format!("{}{place}", self.place);
        Problems { file: self.file, place, found: self.found }
    }
}
