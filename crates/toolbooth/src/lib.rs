//! Toolbooth's library: everything about serving tools that does not depend on Cloudflare.
//!
//! A request passes through these modules:
//!
//! 1. [`http`]: a [`Request`](http::Request) arrives as plain data;
//! 2. [`server`]: the router finds its [`route`], and the policy of the route is enforced;
//! 3. [`auth`]: its credentials identify the caller;
//! 4. [`protocol`]: the protocol decodes the body into one [`call::ToolRequest`] or several;
//! 5. [`call`]: the pipeline finds each tool in the [`catalog`], authorizes and validates the call, runs
//!    the tool and validates its output, which gives a [`call::Outcome`];
//! 6. [`protocol`]: the protocol encodes the outcomes as a [`Response`](http::Response).
//!
//! The library does no I/O, reads no clock and names no JS type: the host supplies those through the
//! traits in [`host`]. Tool authors use [`tool`], [`host`] for requests, and [`testing`].
//!
//! # Versions
//!
//! Versions follow SemVer. Enums and structs that will grow are `#[non_exhaustive]`. A new method of a trait in [`host`], and a
//! new field of [`catalog::Tool`] or another struct that only generated code creates, is a minor change: hosts and
//! `toolbooth-build` are released together with this crate.
#![forbid(unsafe_code)]

pub mod address;
pub mod auth;
pub mod budget;
pub mod call;
pub mod capabilities;
pub mod capability;
pub mod catalog;
pub mod expiring_map;
pub mod extensions;
pub mod host;
pub mod http;
pub mod json;
pub mod log;
pub mod names;
pub mod principal;
#[doc(hidden)]
pub mod private;
pub mod protocol;
pub mod route;
pub mod seal;
pub mod secret;
pub mod server;
pub mod settings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod time;
pub mod tool;
pub mod trace;
pub mod url;

pub use capability::Capability;
pub use server::Server;
pub use tool::{Context, ToolError};
pub use toolbooth_schema as schema;
pub(crate) use toolbooth_schema::text;
