//! Demo tools that ring doorbells.

use serde::{Deserialize, Serialize};
use toolbooth::{Context, ToolError};

const DOORBELLS: [&str; 2] = ["doorbell42", "doorbell84"];

#[derive(Deserialize)]
pub(crate) struct Ring {
    doorbell_id: String,
}

#[derive(Serialize)]
pub(crate) struct Rung {
    doorbell_id: String,
    rung: bool,
}

/// Rings a doorbell. The error for an unknown id lists the valid ones.
pub(crate) async fn ring(input: Ring, _: &Context<'_>) -> Result<Rung, ToolError> {
    let Ring { doorbell_id } = input;
    if DOORBELLS.contains(&doorbell_id.as_str()) {
        return Ok(Rung { doorbell_id, rung: true });
    }
    Err(ToolError::new("Doorbell ID not found")
        .developer_message(format!("The doorbell with ID '{doorbell_id}' does not exist."))
        .prompt(format!("ids: {}", DOORBELLS.join(",")))
        .retry_after_ms(500))
}
