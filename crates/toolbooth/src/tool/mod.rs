//! What tool authors use: the context of a run, errors, content blocks, and requests for user input.

mod content;
mod context;
mod credentials;
mod error;
mod input_request;
mod named;
mod notification;
mod store;

pub use content::{ContentBlock, Document, DocumentBody};
pub use context::Context;
pub use credentials::Credentials;
pub use error::ToolError;
pub use input_request::{
    Capabilities, Capability, Dialogue, InputRequest, InputRequired, InputResponse,
    SamplingResponse,
};
pub use named::Named;
pub use notification::{LoggingLevel, Notification};
pub use store::ToolStore;

pub use crate::secret::Secret;
pub use crate::settings::Variable;
