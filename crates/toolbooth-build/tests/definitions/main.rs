//! What the build takes and what it refuses, through its public door: files in, Rust or problems out.
//!
//! Each table changes one thing in a catalogue that is in order (`sample`), and names all that the
//! author is then told, word for word.
// Helpers of tests may fail like tests; clippy.toml allows it inside test functions alone.
#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used)]

mod content;
mod fields;
mod files;
mod folder;
mod handlers;
mod mcp;
mod rendered;
mod sample;
mod schemas;
