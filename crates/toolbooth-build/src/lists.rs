//! Renders the lists of protocols: their texts, and the Rust code that describes them.

use std::fmt::Write;
use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use lz4_flex::block::compress_with_dict;
use toolbooth::capabilities::{MCP, SEARCH};
use toolbooth::capability::CapabilityLists;
use toolbooth::catalog::{Block, ListForm, Listed, Rendering, versioned_name};
use toolbooth::protocol::{self, oxp};
use toolbooth_gateway::providers;

use crate::entry::{Entry, is_latest};
use crate::search;
use crate::server::Server;
use crate::skills::CheckedSkill;
use crate::views::BuiltView;

/// The longest list, in bytes, that is not compressed. The bundle as a whole is compressed too, and short lists that resemble
/// each other take less space that way.
const LONGEST_PLAIN: usize = 32 * 1024;
/// The same with a dictionary.
const LONGEST_PLAIN_WITH_DICTIONARY: usize = 1024;
/// The longest part of the dictionary for one block, in bytes. LZ4 looks back 64 KB: a part this short stays in reach throughout
/// its block.
const LONGEST_PART: usize = 24 * 1024;

/// The code of the lists.
pub(crate) struct Lists {
    /// The list with whose text others are compressed, if it is long.
    pub(crate) dictionary: String,
    /// The lists of each capability.
    pub(crate) lists: String,
}

/// Renders the lists of all capabilities. Their texts are added to `files`.
pub(crate) fn render(
    server: &Server,
    entries: &[Entry],
    (skills, views): (&[CheckedSkill], &[BuiltView]),
    files: &mut Vec<(String, Vec<u8>)>,
) -> Lists {
    let listing = Listing { server, entries, skills, views, for_mcp: false };
    let common = listing.render(&oxp::LIST);
    let dictionary = Dictionary::new(&common);
    let mut lists = Lists { dictionary: String::new(), lists: String::new() };
    if dictionary.is_some() {
        let body = common.stored(None, files);
        lists.dictionary =
            format!("static COMMON_LIST: toolbooth::catalog::ListBody = {body};\n\n");
    }
    for CapabilityLists { capability, forms } in protocol::LISTS.iter().chain([&providers::LISTS]) {
        let is_search = *capability == SEARCH.name;
        // The search reads MCP's list.
        let for_mcp = is_search || *capability == MCP.name;
        let listing = Listing { for_mcp, ..listing };
        let rendered = forms.iter().copied().flatten().map(|form| {
            let list = listing.render(form);
            let body = match &dictionary {
                Some(_) if form.name == oxp::LIST.name => "COMMON_LIST".to_owned(),
                dictionary => list.stored(dictionary.as_ref(), files),
            };
            list.rust(&body)
        });
        let rendered: Vec<_> = rendered.collect();
        let search =
            if is_search { format!("Some({})", search::rust(entries)) } else { "None".to_owned() };
        lists.lists.push_str(&format!(
            "    toolbooth::catalog::Lists {{ capability: {capability:?}, lists: &[{}], search: {search} }},\n",
            rendered.join(", ")
        ));
    }
    lists
}

/// What lists are rendered from.
#[derive(Clone, Copy)]
struct Listing<'a> {
    server: &'a Server,
    entries: &'a [Entry],
    skills: &'a [CheckedSkill],
    views: &'a [BuiltView],
    /// Whether the lists are for MCP's clients, many of which show views and take fewer schemas: those of MCP, and of the search.
    for_mcp: bool,
}

/// A list.
struct List<'a> {
    form: &'a ListForm,
    body: String,
    /// Where the first entry begins.
    head: usize,
    /// The tools in it, in their order, and where they are.
    tools: Vec<(usize, Range<usize>)>,
    /// The code of its entries.
    entries: String,
}

impl Listing<'_> {
    /// Renders one list, of tools and then of skills and views.
    fn render<'f>(&self, form: &'f ListForm) -> List<'f> {
        let Self { server, entries, for_mcp, .. } = *self;
        let body = form.head(&server.title, &server.version);
        let head = body.len();
        let mut list = List { form, body, head, tools: Vec::new(), entries: String::new() };
        for (at, entry) in entries.iter().enumerate() {
            let definition = if for_mcp { &entry.listed } else { &entry.definition };
            // Hosts of views hide a tool for views from models. Other clients do not know that they should.
            let is_seen = if for_mcp { definition.is_listed() } else { definition.is_for_models() };
            if !is_seen {
                continue;
            }
            let latest = is_latest(entries, at);
            let versioned = versioned_name(&definition.name, &definition.version);
            let name = if latest { &definition.name } else { &versioned };
            let (json, unsupported, warnings) =
                match (form.entry)(&Listed { definition, name, latest }) {
                    Rendering::Omitted => continue,
                    Rendering::Supported { json, warnings } => (json, Vec::new(), warnings),
                    Rendering::Widened { json, warnings, unsupported } => {
                        (json, unsupported, warnings)
                    }
                    Rendering::Unsupported(features) => (String::new(), features, Vec::new()),
                };
            let place = list.add(&json);
            list.describe(at, "Tool", name, &place, (&unsupported, &warnings));
            list.tools.push((at, place));
        }
        for Extra { tool, needs, name, json } in self.extras(form) {
            let place = list.add(&json);
            list.describe(tool, &needs, &name, &place, (&[], &[]));
        }
        list.body.push_str(form.tail);
        list
    }

    /// What a list has after the tools.
    fn extras(&self, form: &ListForm) -> Vec<Extra> {
        let form_of_skills =
            protocol::SKILL_FORMS.iter().copied().flatten().find(|it| it.list == form.name);
        let skills = form_of_skills.into_iter().flat_map(|form| {
            self.skills.iter().map(|it| Extra {
                tool: it.tool,
                needs: it.needs(),
                name: it.skill.folder(),
                json: (form.entry)(&it.skill),
            })
        });
        let has_views = protocol::VIEW_FORM.list == form.name;
        let views = self.views.iter().filter(|_| has_views).map(|view| Extra {
            tool: view.tools.first().copied().unwrap_or_default(),
            needs: format!("AnyOf(&{:?})", view.tools),
            name: view.uri.clone(),
            json: view.entry(self.entries),
        });
        skills.chain(views).collect()
    }
}

/// An entry that is not a tool.
struct Extra {
    tool: usize,
    /// The code of `Needs`.
    needs: String,
    name: String,
    json: String,
}

impl List<'_> {
    /// Adds the text of an entry, which may be empty, and returns its place.
    fn add(&mut self, json: &str) -> Range<usize> {
        if !json.is_empty() && self.body.len() > self.head {
            self.body.push(',');
        }
        let start = self.body.len();
        self.body.push_str(json);
        start..self.body.len()
    }

    /// Adds the code of an entry.
    fn describe(
        &mut self,
        tool: usize,
        needs: &str,
        name: &str,
        Range { start, end }: &Range<usize>,
        (unsupported, warnings): (&[String], &[String]),
    ) {
        // Writing to a string does not fail.
        let _ = write!(
            self.entries,
            "
            toolbooth::catalog::Entry {{ tool: {tool}, needs: toolbooth::catalog::Needs::{needs}, name: {name:?}, start: {start}, end: {end}, unsupported: &{unsupported:?}, warnings: &{warnings:?} }},"
        );
    }

    /// The code of the list, whose text is `body`.
    fn rust(&self, body: &str) -> String {
        let Self { form, head, entries, .. } = self;
        format!(
            r#"toolbooth::catalog::List {{
        name: {name:?},
        body: {body},
        head: {head},
        entries: &[{entries}
        ],
        etag: {etag:?},
    }}"#,
            name = form.name,
            etag = etag(self.body.as_bytes()),
        )
    }

    /// Adds the file with the text of the list, and returns the code that reads it.
    fn stored(
        &self,
        dictionary: Option<&Dictionary>,
        files: &mut Vec<(String, Vec<u8>)>,
    ) -> String {
        let Self { form: ListForm { name, .. }, body, .. } = self;
        let longest = dictionary.map_or(LONGEST_PLAIN, |_| LONGEST_PLAIN_WITH_DICTIONARY);
        if body.len() <= longest {
            files.push((format!("{name}.json"), body.clone().into_bytes()));
            return format!(
                "toolbooth::catalog::ListBody::Plain(include_str!(concat!(env!(\"OUT_DIR\"), \"/{name}.json\")))"
            );
        }
        let (bytes, blocks) = self.compressed(dictionary);
        files.push((format!("{name}.lz4"), bytes));
        let blocks: String = blocks
            .iter()
            .map(|Block { end, length, like }| {
                format!(
                    "toolbooth::catalog::Block {{ end: {end}, length: {length}, like: {like:?} }}, "
                )
            })
            .collect();
        let like = dictionary.map_or("None", |_| "Some(&COMMON_LIST)");
        format!(
            "toolbooth::catalog::ListBody::Compressed {{ \
             text: toolbooth::catalog::CompressedText {{ bytes: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{name}.lz4\")), \
             blocks: &[{blocks}], like: {like} }}, decompress: toolbooth::catalog::decompress }}"
        )
    }

    /// The text in blocks: one for each part of the dictionary, with the same tools.
    fn compressed(&self, dictionary: Option<&Dictionary>) -> (Vec<u8>, Vec<Block>) {
        let whole = [Part { tools: 0, place: 0..0 }];
        let (text, parts) =
            dictionary.map_or(("", whole.as_slice()), |it| (it.text.as_str(), it.parts.as_slice()));
        let (mut bytes, mut blocks, mut start) = (Vec::new(), Vec::new(), 0);
        for (index, Part { tools, place: like }) in parts.iter().enumerate() {
            let of_part = self.tools.iter().take_while(|(tool, _)| tool < tools);
            let end = of_part.last().map_or(start, |(_, place)| place.end);
            let end = if index + 1 == parts.len() { self.body.len() } else { end };
            let part = self.body.get(start..end).unwrap_or_default().as_bytes();
            let known = text.get(like.clone()).unwrap_or_default().as_bytes();
            if !part.is_empty() {
                bytes.extend(compress_with_dict(part, known));
                let (length, like) = (part.len(), like.clone());
                blocks.push(Block { end: bytes.len(), length, like });
            }
            start = end;
        }
        (bytes, blocks)
    }
}

/// The text with which lists are compressed: that of a list which every Worker has.
struct Dictionary {
    text: String,
    parts: Vec<Part>,
}

/// A part of the dictionary.
struct Part {
    /// It ends before this tool.
    tools: usize,
    place: Range<usize>,
}

impl Dictionary {
    /// `None` if the list is short, or has no tools by which blocks could be divided.
    fn new(list: &List<'_>) -> Option<Self> {
        if list.body.len() <= LONGEST_PLAIN || list.tools.is_empty() {
            return None;
        }
        let mut parts: Vec<Part> = Vec::new();
        for (tool, Range { start, end }) in list.tools.iter().cloned() {
            match parts.last_mut() {
                Some(Part { tools, place }) if end - place.start <= LONGEST_PART => {
                    (*tools, place.end) = (tool + 1, end);
                }
                _ => parts.push(Part { tools: tool + 1, place: start..end }),
            }
        }
        Some(Self { text: list.body.clone(), parts })
    }
}

/// A strong entity tag: a hash of the bytes.
fn etag(body: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(body);
    format!("\"{:016x}\"", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_a_dictionary_if_it_is_long_and_has_tools() {
        for (length, tools, expected) in [
            (LONGEST_PLAIN + 1, vec![(0, 0..LONGEST_PLAIN)], true),
            (LONGEST_PLAIN, vec![(0, 0..LONGEST_PLAIN)], false),
            (LONGEST_PLAIN + 1, Vec::new(), false),
        ] {
            let (body, entries) = ("a".repeat(length), String::new());
            let list = List { form: &oxp::LIST, body, head: 0, tools, entries };
            assert_eq!(Dictionary::new(&list).is_some(), expected, "{length} {}", list.tools.len());
        }
    }
}
