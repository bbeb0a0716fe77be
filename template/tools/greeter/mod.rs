//! Greeter.

use serde::Deserialize;
use toolbooth::{Context, ToolError};

#[derive(Deserialize)]
pub(crate) struct Hello {
    name: String,
}

/// Greets a person by name.
pub(crate) async fn hello(input: Hello, _: &Context<'_>) -> Result<String, ToolError> {
    Ok(format!("Hello, {}!", input.name))
}
