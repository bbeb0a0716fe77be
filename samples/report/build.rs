//! Checks the tool definitions and compiles them into the crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolbooth_build::build()
}
