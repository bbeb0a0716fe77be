//! Modules import only modules of their own layer and of those below it. docs/ARCHITECTURE.md describes the layers.

use std::fs;
use std::path::{Path, PathBuf};

use toolbooth::testing::repository;

/// The layers of a crate, from the bottom up. A file belongs to the longest path that it begins with.
type Layers = &'static [&'static [&'static str]];

/// The crates that the layers of docs/ARCHITECTURE.md are about.
const CRATES: &[(&str, Layers)] = &[
    (
        "toolbooth",
        &[
            &[
                "address",
                "budget",
                "extensions",
                "json",
                "expiring_map",
                "names",
                "principal",
                "secret",
                "text",
                "time",
                "trace",
            ],
            &["host", "http"],
            &["auth", "catalog", "seal", "settings", "tool", "url"],
            &["log"],
            &["call"],
            &["capability", "route"],
            &["protocol"],
            &["capabilities"],
            &["server"],
        ],
    ),
    ("toolbooth-gateway", &[&["wire"], &["providers"], &["gateway"]]),
    (
        "toolbooth-sign-in",
        &[
            &["paths", "purpose", "redirect_uri"],
            &["oauth"],
            &["callback", "sign_in/event", "sign_in/marks"],
            &["sign_in/login"],
            &["sign_in/server"],
            &["challenge", "sign_in"],
            &["account"],
        ],
    ),
];

/// Files without a layer: the crate itself, and what only tests use.
const WITHOUT: &[&str] = &["lib", "private", "testing"];

fn layer(layers: Layers, module: &str) -> Option<usize> {
    let names =
        layers.iter().enumerate().flat_map(|(at, names)| names.iter().map(move |it| (it, at)));
    let matches = names.filter(|(name, _)| {
        let rest = module.strip_prefix(**name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    matches.max_by_key(|(name, _)| name.len()).map(|(_, at)| at)
}

/// The files of a folder and those below it, without files of tests.
fn files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let own = paths.filter(|path| path.file_stem().is_none_or(|name| name != "tests"));
    own.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The modules that a line of code imports.
fn imports(line: &str) -> impl Iterator<Item = String> {
    let is_path = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    line.split("crate::").skip(1).map(move |rest| {
        rest.split(|it| !is_path(it)).next().unwrap_or_default().replace("::", "/")
    })
}

#[test]
fn imports_point_downward() {
    let Some(crates) = repository::path("crates") else { return };
    let mut upward = Vec::new();
    for (name, layers) in CRATES {
        let source = crates.join(name).join("src");
        for file in files(&source) {
            let module = file.strip_prefix(&source).unwrap().with_extension("");
            let module = module.to_str().unwrap().trim_end_matches("/mod").to_owned();
            if module.split('/').next().is_some_and(|name| WITHOUT.contains(&name)) {
                continue;
            }
            let own = layer(layers, &module).unwrap_or_else(|| panic!("{module} is in no layer"));
            for (line, import) in imports_of(&fs::read_to_string(&file).unwrap()) {
                if layer(layers, &import).is_some_and(|imported| imported > own) {
                    upward.push(format!("{}, line {line}: {import}", file.display()));
                }
            }
        }
    }
    assert!(upward.is_empty(), "imports that point upward:\n{}", upward.join("\n"));
}

/// The modules that a file imports, with the numbers of the lines. The tests are at the end of a file.
fn imports_of(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_for_tests = false;
    for (at, line) in text.lines().enumerate() {
        if is_for_tests && line.contains("mod ") && line.ends_with('{') {
            break;
        }
        let line = line.trim_start();
        if !line.starts_with("//") && !is_for_tests {
            found.extend(imports(line).map(|import| (at + 1, import)));
        }
        is_for_tests = line == "#[cfg(test)]";
    }
    found
}
