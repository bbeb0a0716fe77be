//! What a client may ask for in the query.

use super::super::parameters::{each, either};

/// The options of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// `validate_tool_arguments=true`: refuse the request when any call's arguments are invalid
    /// (2api.ai, 7.3).
    pub(super) validate: bool,
    /// `unknown=leave`: give no result to calls of tools that are not here.
    pub(super) leave_unknown: bool,
}

impl Options {
    /// Reads a query.
    ///
    /// # Errors
    /// A parameter that there is not, that stands there twice, or that has another value.
    pub(super) fn read(query: &str) -> Result<Self, String> {
        let mut options = Self::default();
        each(query, &["validate_tool_arguments", "unknown"], |name, value| {
            if name == "unknown" {
                options.leave_unknown = either(name, value, ["leave", "answer"])?;
            } else {
                options.validate = either(name, value, ["true", "false"])?;
            }
            Ok(())
        })?;
        Ok(options)
    }
}
