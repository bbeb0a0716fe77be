//! Files of the repository that tests compare with its crates. The published packages are tested without them.
#![allow(clippy::expect_used, reason = "only tests use it")]

use std::fs;
use std::path::{Path, PathBuf};

/// A path in the repository; `None` in the published package, where Cargo adds `Cargo.toml.orig`.
pub fn path(relative: &str) -> Option<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let published = package.join("Cargo.toml.orig").exists();
    (!published).then(|| package.join("../..").join(relative))
}

/// The text of a file in the repository; `None` in the published package.
pub fn text(relative: &str) -> Option<String> {
    path(relative).map(|path| fs::read_to_string(path).expect(relative))
}
