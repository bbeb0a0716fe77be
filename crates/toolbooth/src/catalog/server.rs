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

/// In the head of a list: the title of the server.
macro_rules! server_title {
    () => {
        "{server.title}"
    };
}
pub(crate) use server_title;

/// In the head of a list: the version of the server.
macro_rules! server_version {
    () => {
        "{server.version}"
    };
}
pub(crate) use server_version;
