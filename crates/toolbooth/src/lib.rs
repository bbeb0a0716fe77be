//! The library: everything about serving tools that is true without Cloudflare.
//!
//! A request passes through the rooms in this order:
//!
//! 1. [`http`]: an [`Request`](http::Inbound) request arrives as plain data;
//! 2. [`auth`]: its credentials say who calls;
//! 3. [`protocol`]: its path picks a protocol, which makes of the body an
//!    [`Exchange`](protocol::Exchange): one [`call::ToolRequest`] or several;
//! 4. [`call`]: the one pipeline finds each call's tool in the [`catalog`], checks permission,
//!    requirements and input, runs the handler and checks its output, which gives a
//!    [`call::Outcome`];
//! 5. [`protocol`]: the same exchange tells the outcomes in an [`Response`](http::Outbound) response.
//!
//! [`Server`] walks a request through them. Nothing here does I/O, reads a clock or names a JS type:
//! what a tool needs from outside comes through [`host`]; what it takes and gives is a [`schema`].
#![forbid(unsafe_code)]

pub mod address;
pub mod auth;
pub mod call;
pub mod catalog;
pub mod challenge;
pub mod host;
pub mod http;
pub mod json;
pub mod names;
pub mod oauth;
pub mod principal;
pub mod protocol;
pub mod schema;
pub mod secret;
pub mod server;
pub mod settings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub(crate) mod text;
pub mod tool;
pub mod url;

pub use server::Server;
pub use tool::{Context, ToolError};
