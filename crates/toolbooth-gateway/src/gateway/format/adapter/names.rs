//! Functions in a provider's answers: those that it knows by other names, custom tools, and one whose call is the answer itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::conversation::tool::{Tool, ToolChoice};
use crate::gateway::conversation::{HistoryItem, Message, MessageBody};

/// Whether a provider accepts the name of a function.
pub(in crate::gateway::format) type Accepts = fn(&str) -> bool;

/// A function that a model is forced to call, so that its answer is a JSON object.
pub(in crate::gateway::format) const ANSWER: &str = "json_object";

/// The most characters of a name that every provider accepts. OpenAI says so of its functions, and providers with its format reject
/// longer ones (reports of 2025 and 2026 on DeepSeek, Qwen and others). Gemini's types of 2026 say 128, but its API has answered
/// that 64 are the most. Anthropic takes 128, as this server does.
pub(in crate::gateway) const MAX_SENT_NAME: usize = 64;

/// The functions of a request that a provider knows by other names, the custom tools that it knows as functions, and whether
/// [`ANSWER`] is a function of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    pub(in crate::gateway::format) has_answer: bool,
    /// The names of the request that the provider does not accept, each with the one that it gets.
    sent: BTreeMap<String, String>,
    /// The custom tools that the provider knows as functions.
    custom: Vec<String>,
    /// The names of the request's tools, as the provider knows them.
    tools: Vec<String>,
}

impl Names {
    /// Those of the tools and calls of a request. A call can be one of a function that the request no longer has.
    pub(in crate::gateway::format) fn of(
        request: &ChatRequest,
        accepts: Accepts,
        has_answer: bool,
        custom: Vec<String>,
    ) -> Self {
        let mut names = Self { has_answer, custom, ..Self::default() };
        names.rename(request, accepts);
        let tools = request.tools.iter().filter_map(Tool::name);
        names.tools = tools.map(|name| names.sent(name).unwrap_or(name).to_owned()).collect();
        names
    }

    fn rename(&mut self, request: &ChatRequest, accepts: Accepts) {
        let mut unaccepted = Vec::new();
        each_name(request, &mut |name| {
            if !name.is_empty() && !accepts(name) {
                unaccepted.push(name.to_owned());
            }
        });
        if unaccepted.is_empty() {
            return;
        }
        let mut taken = BTreeSet::new();
        each_name(request, &mut |name| {
            taken.insert(name.to_owned());
        });
        for name in unaccepted {
            self.sent.entry(name).or_insert_with_key(|name| {
                let sent = accepted(name, accepts, &taken);
                taken.insert(sent.clone());
                sent
            });
        }
    }

    /// Whether the provider knows all functions by the names of the request.
    pub(in crate::gateway::format) fn are_same(&self) -> bool {
        self.sent.is_empty()
    }

    /// The name that the provider gets in place of this one.
    pub(in crate::gateway::format) fn sent(&self, name: &str) -> Option<&str> {
        self.sent.get(name).map(String::as_str)
    }

    /// Whether a text has a name that the provider does not get.
    pub(in crate::gateway::format) fn are_in(&self, json: &str) -> bool {
        self.sent.keys().any(|name| json.contains(name.as_str()))
    }

    /// Whether a call of this function is the answer itself.
    pub(in crate::gateway::format) fn is_answer(&self, name: &str) -> bool {
        self.has_answer && name == ANSWER
    }

    /// Whether a tool of the request is a custom one that the provider knows as a function.
    pub(in crate::gateway) fn is_custom(&self, name: &str) -> bool {
        self.custom.iter().any(|known| known == name)
    }

    /// Whether this is only the beginning of the name of a tool, of which more must follow.
    pub(in crate::gateway) fn is_piece(&self, sent: &str) -> bool {
        let mut tools = self.tools.iter();
        !self.tools.iter().any(|tool| tool == sent) && tools.any(|tool| tool.starts_with(sent))
    }

    /// The name of the request.
    pub(in crate::gateway) fn original<'n>(&'n self, sent: &'n str) -> &'n str {
        self.sent.iter().find(|(_, it)| *it == sent).map_or(sent, |(name, _)| name)
    }

    /// An answer as the provider wrote it, or an event of one, with the names of the request. Every other byte stays: a name within
    /// the JSON of arguments has escaped quotes.
    pub(in crate::gateway) fn restored(&self, json: Vec<u8>) -> Vec<u8> {
        self.sent.iter().fold(json, |json, (name, sent)| {
            let [name, sent] = [name, sent].map(|name| format!("\"{name}\""));
            replaced(json, sent.as_bytes(), name.as_bytes())
        })
    }
}

/// Visits the name of each function of a request.
fn each_name(request: &ChatRequest, visit: &mut impl FnMut(&str)) {
    request.tools.iter().filter_map(Tool::name).for_each(&mut *visit);
    match &request.tool_choice {
        Some(ToolChoice::Function(name)) => visit(name),
        Some(ToolChoice::Allowed { names, .. }) => names.iter().for_each(|name| visit(name)),
        _ => {}
    }
    for item in &request.history {
        match item {
            HistoryItem::Turn(turn) => turn.results.iter().for_each(|result| visit(&result.name)),
            HistoryItem::Message(Message { body, .. }) => match body {
                MessageBody::Assistant(said) => {
                    said.calls.iter().for_each(|call| visit(&call.name))
                }
                MessageBody::Result(result) => visit(&result.name),
                MessageBody::System(_) | MessageBody::Developer(_) | MessageBody::User(_) => {}
            },
        }
    }
}

/// A name that the provider accepts: with an underscore before it, or shortened. More underscores make it unlike those that are taken.
fn accepted(name: &str, accepts: Accepts, taken: &BTreeSet<String>) -> String {
    let mut full = name.to_owned();
    loop {
        full.insert(0, '_');
        // The beginning of a long name says what it is.
        let short = [name, &full].map(|start| shortened(start, &full));
        let mut all = [full.clone()].into_iter().chain(short);
        if let Some(sent) = all.find(|sent| accepts(sent))
            && !taken.contains(&sent)
        {
            return sent;
        }
    }
}

/// The beginning of `name` in characters that every provider accepts, and a digest of `full`.
fn shortened(name: &str, full: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let mut short: String = name.chars().map(plain).take(MAX_SENT_NAME - 9).collect();
    short.push('_');
    for byte in Sha256::digest(full).iter().take(4) {
        let _ = write!(short, "{byte:02x}");
    }
    short
}

/// Whether a name has at most `most` characters, and only those that every provider accepts. Models call functions by other names, too,
/// such as `functions.read`, and a conversation with one would be rejected for ever.
pub(in crate::gateway::format) fn is_plain(name: &str, most: usize) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.len() <= most && name.chars().all(is_plain)
}

/// A name in characters and of a length that every provider accepts.
pub(in crate::gateway) fn portable_name(name: &str) -> String {
    match is_plain(name, MAX_SENT_NAME) {
        true => name.to_owned(),
        false => shortened(name, name),
    }
}

/// Bytes with `new` in each place of `old`, which is not empty.
fn replaced(bytes: Vec<u8>, old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut changed = Vec::new();
    let mut rest = bytes.as_slice();
    while let Some(at) = rest.windows(old.len()).position(|window| window == old) {
        let (before, after) = rest.split_at(at);
        changed.extend_from_slice(before);
        changed.extend_from_slice(new);
        rest = after.get(old.len()..).unwrap_or_default();
    }
    if changed.is_empty() {
        return bytes;
    }
    changed.extend_from_slice(rest);
    changed
}
