//! Files of the repository that tests compare with this crate. The published package is tested without them.

use std::fs;
use std::path::{Path, PathBuf};

/// A path in the repository; `None` in the published package, where Cargo adds `Cargo.toml.orig`.
pub(crate) fn path(relative: &str) -> Option<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let published = package.join("Cargo.toml.orig").exists();
    (!published).then(|| package.join("../..").join(relative))
}

/// The text of a file in the repository; `None` in the published package.
pub(crate) fn text(relative: &str) -> Option<String> {
    path(relative).map(|path| fs::read_to_string(path).expect(relative))
}
