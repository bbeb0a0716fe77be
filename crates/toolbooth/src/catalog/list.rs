//! Lists of tools, rendered at build time and selected from when they are asked for.

use super::Definition;

/// How a protocol lists tools: one text a definition, with commas between and a frame around.
#[derive(Debug, Clone, Copy)]
pub struct ListForm {
    /// The name under which [`Catalog::list`](super::Catalog::list) finds the result.
    pub name: &'static str,
    /// What stands before the first tool.
    pub head: &'static str,
    /// What stands after the last tool.
    pub tail: &'static str,
    /// Renders one definition. Runs at build time only.
    pub entry: fn(&Listed<'_>) -> Rendering,
}

/// A definition with what the whole catalogue says of it.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// The definition.
    pub definition: &'a Definition,
    /// The name that means this version and no other: the plain name for the latest, else with the
    /// version behind it ([`versioned_name`](super::versioned_name)).
    pub name: &'a str,
    /// Whether it is the tool's latest version.
    pub latest: bool,
}

/// What a list says of a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rendering {
    /// The list does not have it.
    LeftOut,
    /// The list has it.
    Fits {
        /// The JSON text.
        json: String,
        /// What a reader should know although it fits.
        warnings: Vec<String>,
    },
    /// The form cannot hold it, for these features of its definition.
    Unfit(Vec<String>),
}

impl Rendering {
    /// Fits, and there is nothing more to say.
    pub fn of(json: &impl serde::Serialize) -> Self {
        let json = serde_json::to_string(json).unwrap_or_default();
        Self::Fits { json, warnings: Vec::new() }
    }
}

/// A list that was rendered at build time.
#[derive(Debug, Clone, Copy)]
pub struct List {
    /// The name of its [`ListForm`].
    pub name: &'static str,
    /// All entries that fit, in their frame.
    pub body: &'static str,
    /// Where the first entry begins in `body`.
    pub head: usize,
    /// The entries, in the order of the tools.
    pub entries: &'static [Entry],
    /// A strong entity tag of `body`, with its quotes.
    pub etag: &'static str,
}

/// A tool in a list.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// Its place in [`Catalog::tools`](super::Catalog::tools).
    pub tool: usize,
    /// The name by which the list has it ([`Listed::name`]).
    pub name: &'static str,
    /// Where its text begins in the list's body.
    pub start: usize,
    /// Where its text ends; the same as `start` when the form cannot hold it.
    pub end: usize,
    /// The features that the form cannot hold.
    pub unfit: &'static [&'static str],
    /// What a reader should know although it fits.
    pub warnings: &'static [&'static str],
}

impl List {
    /// The list with those entries only that are wanted.
    pub fn select<'a>(&self, wanted: impl IntoIterator<Item = &'a Entry>) -> String {
        let end = self.entries.iter().map(|entry| entry.end).max().unwrap_or(self.head);
        let part = |start, end| self.body.get(start..end).unwrap_or_default();
        let mut text = part(0, self.head).to_owned();
        let wanted = wanted.into_iter().filter(|entry| entry.unfit.is_empty());
        for (place, entry) in wanted.enumerate() {
            if place > 0 {
                text.push(',');
            }
            text.push_str(part(entry.start, entry.end));
        }
        text.push_str(part(end.max(self.head), self.body.len()));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn entry(tool: usize, start: usize, end: usize, unfit: &'static [&'static str]) -> Entry {
        Entry { tool, name: "", start, end, unfit, warnings: &[] }
    }

    #[test]
    fn selections_keep_the_frame() {
        const ENTRIES: &[Entry] =
            &[entry(0, 6, 8, &[]), entry(1, 0, 0, &["$ref"]), entry(2, 9, 11, &[])];
        let list = List { name: "x", body: "{\"a\":[11,22]}", head: 6, entries: ENTRIES, etag: "" };
        for (wanted, expected) in [
            (&[0, 1, 2][..], "{\"a\":[11,22]}"),
            (&[0], "{\"a\":[11]}"),
            (&[2], "{\"a\":[22]}"),
            (&[1], "{\"a\":[]}"),
            (&[], "{\"a\":[]}"),
        ] {
            let chosen = ENTRIES.iter().filter(|entry| wanted.contains(&entry.tool));
            assert_eq!(list.select(chosen), expected, "{wanted:?}");
        }
        let empty = List { name: "x", body: "[]", head: 1, entries: &[], etag: "" };
        assert_eq!(empty.select(&[]), "[]");
    }
}
