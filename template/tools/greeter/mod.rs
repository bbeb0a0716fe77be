//! Greeter.

use toolbooth::{Context, ToolError};

use crate::types::greeter::hello;

/// Greets a person by name.
pub(crate) async fn hello(
    input: hello::Input,
    _: &Context<'_>,
) -> Result<hello::Output, ToolError> {
    Ok(format!("Hello, {}!", input.name))
}
