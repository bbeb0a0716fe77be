//! What a client may ask for in the query.

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
    /// Reads a query. Parameters of other names are ignored; of one that is repeated the last
    /// counts.
    ///
    /// # Errors
    /// Which parameter has no such value, and what it may be.
    pub(super) fn read(query: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let flag = |yes, no| match &*value {
                value if value == yes => Ok(true),
                value if value == no => Ok(false),
                _ => Err(format!("The parameter {name} must be {yes} or {no}")),
            };
            match &*name {
                "validate_tool_arguments" => options.validate = flag("true", "false")?,
                "unknown" => options.leave_unknown = flag("leave", "answer")?,
                _ => {}
            }
        }
        Ok(options)
    }
}
