//! Integration tests of the build: files in, Rust code or error messages out.
//!
//! Each table changes one thing in a valid catalogue (`sample`) and lists the exact messages.
// clippy.toml allows panics in test functions only, not in their helpers.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod bindings;
mod content;
mod fields;
mod files;
mod folder;
mod handlers;
mod http;
mod mcp;
mod names;
mod query;
mod rendered;
mod sample;
mod schemas;
mod search;
mod server;
mod skills;
mod types;
mod views;
