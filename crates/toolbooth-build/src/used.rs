//! The variables that functions in Rust name. `Context::variable` returns an empty text for a name that it does not know, so a misspelled
//! one is found here.

use crate::render::declares;
use crate::source::Source;

/// The methods of `Context` that take the name of a variable or a secret.
const METHODS: [&str; 2] = [".variable(\"", ".server_secret(\""];

/// Assertions that the catalogue declares each variable that a function of a toolkit names.
pub(crate) fn assertions(source: &Source) -> String {
    let mut rust = String::new();
    for (path, text) in source.files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        for (index, line) in text.lines().enumerate() {
            for name in names(line) {
                let place = format!("{}:{}", source.display(path), index + 1);
                rust.push_str(&declares(
                    name,
                    &format!("{place}: VARIABLES does not declare {name}"),
                ));
            }
        }
    }
    rust
}

/// The names in a line. A comment may show a wrong one.
fn names(line: &str) -> impl Iterator<Item = &str> {
    let code = if line.trim_start().starts_with("//") { "" } else { line };
    let literals = METHODS.into_iter().flat_map(move |method| code.split(method).skip(1));
    let names = literals.filter_map(|rest| rest.split_once("\")")).map(|(name, _)| name);
    let is_name = |name: &&str| {
        !name.is_empty() && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    names.filter(is_name)
}
