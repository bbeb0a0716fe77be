//! Lists of tools: rendered at build time, filtered for each request.

use crate::names::is_same;

use super::{Definition, ListBody, SearchIndex};

/// How a protocol lists tools: the JSON of the definitions, separated by commas, between a head and a tail.
#[derive(Debug, Clone, Copy)]
pub struct ListForm {
    /// The name under which [`Catalog::list`](super::Catalog::list) finds the result.
    pub name: &'static str,
    /// The text before the first tool. `{server.title}` and `{server.version}` stand for those of the server.
    pub head: &'static str,
    /// The JSON after the last tool.
    pub tail: &'static str,
    /// Renders one definition. Runs at build time only.
    pub entry: fn(&Listed<'_>) -> Rendering,
}

impl ListForm {
    /// The text before the first tool, for a server with this title and version.
    pub fn head(&self, title: &str, version: &str) -> String {
        self.head.replace("{server.title}", title).replace("{server.version}", version)
    }
}

/// A definition with what depends on the rest of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Listed<'a> {
    /// The definition.
    pub definition: &'a Definition,
    /// The name of exactly this version: the plain name for the latest, otherwise the
    /// [`versioned_name`](super::versioned_name).
    pub name: &'a str,
    /// Whether it is the tool's latest version.
    pub latest: bool,
}

/// How a list renders a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rendering {
    /// It is not in the list.
    Omitted,
    /// It is in the list.
    Supported {
        /// The JSON text.
        json: String,
        /// Warnings for readers of the list.
        warnings: Vec<String>,
    },
    /// It is in the list without these features, which the format does not support: more inputs are valid.
    Widened {
        /// The JSON text.
        json: String,
        /// Warnings for readers of the list.
        warnings: Vec<String>,
        /// The features.
        unsupported: Vec<String>,
    },
    /// The format does not support these features of the definition.
    Unsupported(Vec<String>),
}

impl Rendering {
    /// It is in the list, without warnings.
    pub fn of(json: &impl serde::Serialize) -> Self {
        let json = serde_json::to_string(json).unwrap_or_default();
        Self::Supported { json, warnings: Vec::new() }
    }
}

/// A list that was rendered at build time.
#[derive(Debug, Clone, Copy)]
pub struct List {
    /// The name of its [`ListForm`].
    pub name: &'static str,
    /// The head, all supported entries, and the tail.
    pub body: ListBody,
    /// Where the first entry begins in `body`.
    pub head: usize,
    /// The entries, in the order of the tools.
    pub entries: &'static [Entry],
    /// A strong entity tag of `body`, with quotes.
    pub etag: &'static str,
}

/// The lists that the protocols of a capability serve.
#[derive(Debug, Clone, Copy)]
pub struct Lists {
    /// The name of the capability.
    pub capability: &'static str,
    /// Its lists.
    pub lists: &'static [List],
    /// The index of the search, if that is the capability.
    pub search: Option<SearchIndex>,
}

impl Lists {
    /// The lists of every capability, for tests.
    #[cfg(any(test, feature = "testing"))]
    pub const fn all(lists: &'static [List]) -> Self {
        Self { capability: "all", lists, search: None }
    }

    /// Those of one capability, while the Worker is compiled: it contains only what this returns.
    pub const fn of(mut all: &[Self], capability: &str) -> Self {
        while let [first, rest @ ..] = all {
            if is_same(first.capability, capability) {
                return *first;
            }
            all = rest;
        }
        Self { capability: "", lists: &[], search: None }
    }
}

/// A tool, a skill or a view in a list.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The index of the tool in [`Catalog::tools`](super::Catalog::tools); of a skill or a view, that of a tool of its toolkit.
    pub tool: usize,
    /// Which tools the caller must be allowed to run to see it.
    pub needs: Needs,
    /// The name of the tool in the list ([`Listed::name`]); of a skill, the address of its folder; of a view, its address.
    pub name: &'static str,
    /// Where its JSON begins in the list's body.
    pub start: usize,
    /// Where its JSON ends; the same as `start` if the format does not support it.
    pub end: usize,
    /// The features that the format does not support. If it is in the list, then without them.
    pub unsupported: &'static [&'static str],
    /// Warnings for readers of the list.
    pub warnings: &'static [&'static str],
}

impl Entry {
    /// Whether the list has it.
    pub fn is_listed(&self) -> bool {
        self.start < self.end
    }
}

/// Which tools a caller must be allowed to run to see an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// [`Entry::tool`].
    Tool,
    /// A tool of the same toolkit as [`Entry::tool`].
    Toolkit,
    /// All of these.
    Tools(&'static [usize]),
    /// One of these.
    AnyOf(&'static [usize]),
}

impl List {
    /// The text of one of its entries.
    pub fn json(&self, entry: &Entry) -> &'static str {
        self.body.text().get(entry.start..entry.end).unwrap_or_default()
    }

    /// The list with only these entries.
    pub fn select<'a>(&self, entries: impl IntoIterator<Item = &'a Entry>) -> String {
        self.compose(entries, ",")
    }

    /// The list with only these entries and another separator, for lists that are not JSON.
    pub fn compose<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a Entry>,
        separator: &str,
    ) -> String {
        let end = self.entries.iter().map(|entry| entry.end).max().unwrap_or(self.head);
        let text = self.body.text();
        let part = |start, end| text.get(start..end).unwrap_or_default();
        let entries = self.join(entries, separator);
        [part(0, self.head), &entries, part(end.max(self.head), text.len())].concat()
    }

    /// These entries with a separator.
    pub fn join<'a>(
        &self,
        entries: impl IntoIterator<Item = &'a Entry>,
        separator: &str,
    ) -> String {
        // To collect and join the texts would add 1.3 KB to the Worker, compressed.
        let (body, mut text) = (self.body.text(), String::new());
        let entries = entries.into_iter().filter(|entry| entry.is_listed());
        for (index, entry) in entries.enumerate() {
            if index > 0 {
                text.push_str(separator);
            }
            text.push_str(body.get(entry.start..entry.end).unwrap_or_default());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn entry(
        tool: usize,
        start: usize,
        end: usize,
        unsupported: &'static [&'static str],
    ) -> Entry {
        Entry { tool, needs: Needs::Tool, name: "", start, end, unsupported, warnings: &[] }
    }

    #[test]
    fn selections_keep_head_and_tail() {
        const ENTRIES: &[Entry] =
            &[entry(0, 6, 8, &[]), entry(1, 0, 0, &["$ref"]), entry(2, 9, 11, &[])];
        let list = List {
            name: "x",
            body: ListBody::Plain("{\"a\":[11,22]}"),
            head: 6,
            entries: ENTRIES,
            etag: "",
        };
        for (selected, expected) in [
            (&[0, 1, 2][..], "{\"a\":[11,22]}"),
            (&[0], "{\"a\":[11]}"),
            (&[2], "{\"a\":[22]}"),
            (&[1], "{\"a\":[]}"),
            (&[], "{\"a\":[]}"),
        ] {
            let chosen = ENTRIES.iter().filter(|entry| selected.contains(&entry.tool));
            assert_eq!(list.select(chosen), expected, "{selected:?}");
        }
        let empty =
            List { name: "x", body: ListBody::Plain("[]"), head: 1, entries: &[], etag: "" };
        assert_eq!(empty.select(&[]), "[]");
    }
}
