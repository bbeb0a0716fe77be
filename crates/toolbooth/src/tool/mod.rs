//! What tool authors use: the context of a run, errors, content blocks, and requests for user input.
//!
//! The function of a tool is asynchronous. It gets its input and a [`Context`], and returns a value or a [`ToolError`]:
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use toolbooth::host::HttpRequest;
//! use toolbooth::url::path_segment;
//! use toolbooth::{Context, ToolError};
//!
//! // The build generates these types from the definition's schemas.
//! #[derive(Deserialize)]
//! struct Input {
//!     order: String,
//! }
//! #[derive(Deserialize, Serialize)]
//! struct Output {
//!     state: String,
//! }
//!
//! async fn state(input: Input, context: &Context<'_>) -> Result<Output, ToolError> {
//!     let url = format!("{}/orders/{}", context.variable("ORDERS_URL"), path_segment(&input.order)?);
//!     let response = context.send(HttpRequest::get(url)).await?;
//!     match response.status {
//!         200 => response.json().ok_or_else(|| ToolError::new("The service returned an invalid response")),
//!         404 => Err(ToolError::new("There is no such order").prompt("Search for the order first.")),
//!         _ => Err(ToolError::new("The service is not available").retryable()),
//!     }
//! }
//! ```
//!
//! Its tests use [`testing`](crate::testing), which needs the feature of that name.

mod content;
mod context;
mod error;
mod external;
pub mod http;
mod input_request;
mod named;
mod notification;
mod store;
mod task;

pub use content::{ContentBlock, Document, DocumentBody};
pub use context::Context;
pub(crate) use context::ServerView;
pub use error::ToolError;
pub use input_request::{
    ClientCapabilities, ClientCapability, Dialogue, InputRequest, InputRequired, InputResponse,
    SamplingResponse,
};
pub use named::{Credentials, Named};
pub use notification::{LoggingLevel, Notification, Notifications};
pub use store::ToolStore;
pub use task::Task;
pub(crate) use task::{Stage, Step, Suspension};

pub use crate::secret::Secret;
pub use crate::settings::Variable;
