//! Demo tools that ring doorbells.

use toolbooth::{Context, ToolError};

use crate::types::doorbell::ring;

const DOORBELLS: [&str; 2] = ["doorbell42", "doorbell84"];

/// Rings a doorbell. The error for an unknown id lists the valid ones.
pub(crate) async fn ring(input: ring::Input, _: &Context<'_>) -> Result<ring::Output, ToolError> {
    let ring::Input { doorbell_id } = input;
    if DOORBELLS.contains(&doorbell_id.as_str()) {
        return Ok(ring::Output { doorbell_id, rung: true });
    }
    Err(ToolError::new("Doorbell ID not found")
        .developer_message(format!("The doorbell with ID '{doorbell_id}' does not exist."))
        .prompt(format!("ids: {}", DOORBELLS.join(",")))
        .retry_after_ms(500))
}
