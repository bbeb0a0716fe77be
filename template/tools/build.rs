//! Checks the tool definitions and compiles them into the crate.

fn main() -> std::process::ExitCode {
    toolbooth_build::build()
}
