//! How a server names itself.

use serde::Serialize;

/// The name, title and version of a server, as clients see them. The build takes them from the project's `Cargo.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ServerInfo {
    /// The name, for programs.
    pub name: &'static str,
    /// The title, for people: without control characters, `"` and `\`.
    pub title: &'static str,
    /// The version of the project.
    pub version: &'static str,
}
