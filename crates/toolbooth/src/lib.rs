//! The library: everything about serving tools that is true without Cloudflare.
//!
//! A request passes through the rooms in this order:
//!
//! 1. [`http`]: an [`Inbound`](http::Inbound) request arrives as plain data;
//! 2. [`auth`]: its credentials say who calls;
//! 3. [`dialect`]: its path picks a protocol, which makes of the body an
//!    [`Exchange`](dialect::Exchange): one [`call::Call`] or several;
//! 4. [`call`]: the one pipeline finds each call's tool in the [`catalog`], checks permission,
//!    requirements and input, runs the handler and checks its output, which gives a
//!    [`call::Outcome`];
//! 5. [`dialect`]: the same exchange tells the outcomes in an [`Outbound`](http::Outbound) response.
//!
//! [`Booth`] walks a request through them. Nothing here does I/O, reads a clock or names a JS type:
//! what a tool needs from outside comes through [`host`]; what it takes and gives is a [`schema`].
#![forbid(unsafe_code)]

pub mod auth;
pub mod booth;
pub mod call;
pub mod catalog;
pub mod challenge;
pub mod config;
pub mod dialect;
pub mod host;
pub mod http;
pub mod json;
pub mod names;
pub mod schema;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod url;

pub use booth::Booth;
pub use call::{Context, ToolError};
