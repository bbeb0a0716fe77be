//! Finds the function that runs each tool. A missing one gets a better message here than from rustc.

use std::collections::BTreeMap;

use syn::{Item, UseTree, Visibility};

use crate::check::Entry;
use crate::problem::Problem;
use crate::source::Source;

/// Returns the path of each entry's handler, such as `calculator::add`, in the order of the entries.
///
/// The function has the tool's name in snake case. A version may have its own: version 1.1.0 runs
/// the first that exists of `slugify_1_1_0`, `slugify_1_1`, `slugify_1` and `slugify`.
///
/// # Errors
/// Rust files that do not parse, toolkits that `lib.rs` does not declare, tools without a function.
pub(crate) fn find(source: &Source, entries: &[Entry]) -> Result<Vec<String>, Vec<Problem>> {
    let mut problems = Vec::new();
    let library = Names::of(source, "lib.rs", &mut problems);
    let mut toolkits = BTreeMap::new();
    let mut handlers = Vec::new();
    for entry in entries {
        let folder = entry.toolkit.to_ascii_lowercase();
        let code = format!("{folder}/mod.rs");
        let (module, names) = toolkits.entry(folder.clone()).or_insert_with(|| {
            let module = find_name(&library.modules, &folder).unwrap_or_else(|| {
                let message = format!("does not declare the toolkit; expected `mod {folder};`");
                problems.push(Problem::new(source.display("lib.rs"), "", message));
                String::new()
            });
            (module, Names::of(source, &code, &mut problems))
        });
        let candidates = candidates(entry);
        match candidates.iter().find_map(|name| find_name(&names.functions, name)) {
            Some(name) => handlers.push(format!("{module}::{name}")),
            None => problems.push(Problem::new(
                &entry.file,
                "",
                format!(
                    "has no handler; expected `pub async fn {}` in {}",
                    candidates.last().map_or("", String::as_str),
                    source.display(&code),
                ),
            )),
        }
    }
    if problems.is_empty() { Ok(handlers) } else { Err(problems) }
}

/// The name as written in the file: `r#match` for `match`.
fn find_name(names: &[String], wanted: &str) -> Option<String> {
    names.iter().find(|name| name.strip_prefix("r#").unwrap_or(name) == wanted).cloned()
}

/// Function names from the most specific to the plain one.
fn candidates(entry: &Entry) -> Vec<String> {
    let plain = snake_case(&entry.tool);
    let version = &entry.definition.version;
    vec![
        format!("{plain}_{}_{}_{}", version.major, version.minor, version.patch),
        format!("{plain}_{}_{}", version.major, version.minor),
        format!("{plain}_{}", version.major),
        plain,
    ]
}

/// `CreateIssue` is `create_issue`, `GetURL` is `get_url`, `HTTPGet` is `http_get`.
pub(crate) fn snake_case(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut snake = String::new();
    for (index, c) in chars.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| chars.get(before));
        let after = chars.get(index + 1);
        let starts_word = c.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if starts_word {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// The names that a Rust file makes visible to its crate.
#[derive(Default)]
struct Names {
    modules: Vec<String>,
    /// Functions, and re-exports that may be functions.
    functions: Vec<String>,
}

impl Names {
    fn of(source: &Source, path: &str, problems: &mut Vec<Problem>) -> Self {
        let text = source.files.get(path).map(String::as_str).unwrap_or_default();
        let mut names = Self::default();
        let file = match syn::parse_file(text) {
            Ok(file) => file,
            Err(error) => {
                let message = format!("is not valid Rust: {error}");
                problems.push(Problem::new(source.display(path), "", message));
                return names;
            }
        };
        for item in &file.items {
            match item {
                Item::Fn(function) if !matches!(function.vis, Visibility::Inherited) => {
                    names.functions.push(function.sig.ident.to_string());
                }
                Item::Mod(module) => names.modules.push(module.ident.to_string()),
                Item::Use(import) if !matches!(import.vis, Visibility::Inherited) => {
                    imported(&import.tree, &mut names.functions);
                }
                _ => {}
            }
        }
        names
    }
}

fn imported(tree: &UseTree, names: &mut Vec<String>) {
    match tree {
        UseTree::Path(path) => imported(&path.tree, names),
        UseTree::Name(name) => names.push(name.ident.to_string()),
        UseTree::Rename(rename) => names.push(rename.rename.to_string()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| imported(tree, names)),
        UseTree::Glob(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snake_case_of_tool_names() {
        for (name, expected) in [
            ("Add", "add"),
            ("CreateIssue", "create_issue"),
            ("GetURL", "get_url"),
            ("HTTPGet", "http_get"),
            ("Sha256Sum", "sha256_sum"),
            ("already_snake", "already_snake"),
            ("A", "a"),
        ] {
            assert_eq!(snake_case(name), expected, "{name}");
        }
    }
}
