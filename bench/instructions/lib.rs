//! Requests whose instructions are counted, to a server with the tools of the benchmark.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, reason = "a test")]

mod calculator;
mod order;
mod scenario;
mod session;
mod sign_in;
mod stream;

use dlmalloc::GlobalDlmalloc;
use toolbooth::tool::Variable;

pub use scenario::{Scenario, all};

/// The allocator of Rust on wasm32. That of the machine's C library would count differently on each system.
#[global_allocator]
static ALLOCATOR: GlobalDlmalloc = GlobalDlmalloc;

const VARIABLES: &[Variable] = &[];

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));
