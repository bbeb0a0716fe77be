//! Reads the members of a response that are kept: `["id", "user.name"]`.

use std::collections::BTreeMap;

/// Members by name, each with those that are kept of it; all, if there are none.
#[derive(Default)]
struct Tree<'a>(BTreeMap<&'a str, Tree<'a>>);

/// The Rust code of the `Kept` members, with `toolbooth::tool::http::*` in scope.
///
/// # Errors
/// The problem, and what was expected.
pub(super) fn compile(fields: &[String]) -> Result<String, String> {
    let mut root = Tree::default();
    for (index, field) in fields.iter().enumerate() {
        if field.split('.').any(str::is_empty) {
            return Err(format!("has {field:?}; expected names, such as user.name"));
        }
        let overlaps = |other: &&String| {
            let (longer, shorter) =
                if field.len() > other.len() { (field, *other) } else { (*other, field) };
            longer
                .strip_prefix(&**shorter)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if let Some(other) = fields.iter().take(index).find(overlaps) {
            return Err(format!("has {other:?} and {field:?}, of which one contains the other"));
        }
        field.split('.').fold(&mut root, |at, name| at.0.entry(name).or_default());
    }
    Ok(root.rust())
}

impl Tree<'_> {
    fn rust(&self) -> String {
        let member = |(name, fields): (&&str, &Self)| {
            format!("Kept {{ name: {name:?}, fields: &[{}] }}, ", fields.rust())
        };
        self.0.iter().map(member).collect()
    }
}
