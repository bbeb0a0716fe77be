//! Validates the definitions and compiles them in.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolbooth_build::build()
}
