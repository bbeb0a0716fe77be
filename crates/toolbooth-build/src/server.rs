//! The name, title and version of the server, which clients see.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use crate::problem::Problem;

const FILE: &str = "Cargo.toml";
/// The table of the project's package with what it says about the server.
const TITLE: &str = "package.metadata.toolbooth.title";

/// How the server names itself: as the package next to `wrangler.toml`, or else as the catalogue's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// The name of the package.
    pub name: String,
    /// `package.metadata.toolbooth.title`, or else the name.
    pub title: String,
    /// The version of the package.
    pub version: String,
    /// The `Cargo.toml` with the package.
    pub manifest: Option<PathBuf>,
}

impl Default for Server {
    /// As the catalogue's package: Cargo tells the build script its name and version.
    fn default() -> Self {
        let variable = |name, other: &str| env::var(name).unwrap_or_else(|_| other.to_owned());
        let name = variable("CARGO_PKG_NAME", "toolbooth");
        let version = variable("CARGO_PKG_VERSION", "0.0.0");
        Self { title: name.clone(), name, version, manifest: None }
    }
}

impl Server {
    /// Reads the `Cargo.toml` of the project in `folder`.
    pub(crate) fn read(folder: &Path) -> Self {
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path).unwrap_or_default();
        Self { manifest: Some(path), ..Self::of(&text) }
    }

    /// The server of a project with this `Cargo.toml`.
    pub fn of(manifest: &str) -> Self {
        let other = Self::default();
        // Cargo reports a file that is not TOML.
        let manifest: Table = manifest.parse().unwrap_or_default();
        let text = |path: &str| {
            let mut keys = path.split('.');
            let first = manifest.get(keys.next().unwrap_or_default());
            let found = keys.fold(first, |value, key| value.and_then(|value| value.get(key)));
            found.and_then(Value::as_str).map(str::to_owned)
        };
        let name = text("package.name").unwrap_or(other.name);
        // Inherited, it is that of the workspace.
        let version = text("package.version").or_else(|| text("workspace.package.version"));
        Self {
            title: text(TITLE).unwrap_or_else(|| name.clone()),
            name,
            version: version.unwrap_or(other.version),
            manifest: None,
        }
    }

    /// What is wrong with the title. It is part of JSON and Markdown.
    pub(crate) fn problem(&self) -> Option<Problem> {
        let bad = |c: char| c.is_control() || c == '"' || c == '\\';
        let wrong = self.title.trim().is_empty() || self.title.contains(bad);
        let message = format!(
            "is {:?}; expected a line of text without quotation marks and backslashes",
            self.title
        );
        wrong.then(|| Problem::new(FILE, TITLE, message))
    }

    pub(crate) fn rust(&self) -> String {
        let Self { name, title, version, .. } = self;
        format!(
            "toolbooth::catalog::ServerInfo {{ name: {name:?}, title: {title:?}, version: {version:?} }}"
        )
    }
}
