//! The providers of models: `OPENAI_…`, `ANTHROPIC_…`, `GEMINI_…`, and those that `PROVIDERS` lists.

use crate::gateway::dialect::Dialect;
use crate::gateway::format::adapter::Format;
use toolbooth::address::secure_base_address;
use toolbooth::secret::Secret;
use toolbooth::settings::{TeamSettings, VariableDoc, VariableReader, documented, list};

#[derive(Debug, Clone)]
pub(crate) struct ModelProvider {
    /// Its name in `provider/model`.
    pub id: String,
    /// The formats of its API; at least one. The first one is for clients with a format that it does not have.
    pub formats: &'static [Format],
    /// The base URL of its API, as its own SDK expects it.
    pub base_url: String,
    /// What it accepts of Chat Completions.
    pub dialect: &'static Dialect,
    /// The server's key. Without one, requests carry the caller's key, or none.
    pub key: Option<Secret>,
    /// Whether requests must carry a key: the provider is none of the operator's own.
    pub needs_key: bool,
    /// The binding that answers instead of a server on the network.
    pub binding: Option<&'static str>,
}

/// The providers that need no entry in `PROVIDERS`: id, start of the variables, formats, and base URL.
const PRESETS: [(&str, &str, &[Format], &str); 3] = [
    ("openai", "OPENAI", &[Format::OpenAi, Format::Responses], "https://api.openai.com/v1"),
    ("anthropic", "ANTHROPIC", &[Format::Anthropic], "https://api.anthropic.com"),
    ("google", "GEMINI", &[Format::Gemini], "https://generativelanguage.googleapis.com"),
];

/// The values of `<ID>_API`.
const APIS: [(&str, &[Format]); 3] = [
    ("chat", &[Format::OpenAiCompatible]),
    ("responses", &[Format::Responses]),
    ("messages", &[Format::Anthropic]),
];

/// The id of Workers AI, and the name of its binding.
const WORKERS_AI: &str = "workers-ai";
pub(super) const AI: &str = "AI";

const PROVIDERS: &str = "PROVIDERS";

pub(super) static DOCS: &[VariableDoc] = &[
    doc(
        "OPENAI_API_KEY",
        "the key of OpenAI's API | not set | OpenAI is not available; other providers are",
    ),
    doc(
        "OPENAI_BASE_URL",
        "where OpenAI's API is, including `/v1`: `https`, or `http` on this machine. With a \
         URL of your own, the key is optional | `https://api.openai.com/v1` | likewise",
    ),
    doc("ANTHROPIC_API_KEY", "the key of Anthropic's API | not set | likewise"),
    doc(
        "ANTHROPIC_BASE_URL",
        "where Anthropic's API is, without `/v1` | `https://api.anthropic.com` | likewise",
    ),
    doc("GEMINI_API_KEY", "the key of the Gemini API | not set | likewise"),
    doc(
        "GEMINI_BASE_URL",
        "where the Gemini API is, without `/v1beta` | \
         `https://generativelanguage.googleapis.com` | likewise",
    ),
    doc(
        PROVIDERS,
        "further providers with OpenAI's API (OpenRouter, Groq, vLLM, Ollama), separated by commas: ids of lower-case letters, digits and hyphens | none | the invalid id is ignored; the other providers are available",
    ),
    doc(
        "<ID>_BASE_URL",
        "where the API of such a provider is. `<ID>` is the id in upper case, with `_` for \
         `-` | required | the provider is not available; the others are",
    ),
    doc(
        "<ID>_API",
        "the format of that API: `chat` (Chat Completions), `responses`, or `messages` (Anthropic's; the address is then \
         without `/v1`) | `chat` | likewise",
    ),
    doc("<ID>_API_KEY", "its key | not set: requests carry none | likewise"),
    doc(
        "<ID>_DIALECT",
        "what it accepts of Chat Completions: `default` (what all such providers do), `openai` (all of it), or what \
         `deepseek`, `openrouter`, `google`, `mistral`, `groq`, `moonshot`, `zai`, `qwen`, `fireworks` or `ollama` accept | chosen by the \
         address | likewise",
    ),
];

pub(super) const fn doc(name: &'static str, text: &'static str) -> VariableDoc {
    VariableDoc { name, doc: documented(text) }
}

impl ModelProvider {
    pub(super) fn workers_ai() -> Self {
        Self {
            id: WORKERS_AI.to_owned(),
            formats: &[Format::WorkersAi],
            base_url: String::new(),
            dialect: Dialect::usual(),
            key: None,
            needs_key: false,
            binding: Some(AI),
        }
    }

    /// The format in which it is asked: one that the client reads, if it has one.
    pub(crate) fn format_for(&self, reads: impl Fn(Format) -> bool) -> Format {
        let own = self.formats.iter().copied().find(|format| reads(*format));
        own.or(self.formats.first().copied()).unwrap_or(Format::OpenAiCompatible)
    }

    pub(crate) fn key_variable(&self) -> String {
        format!("{}_API_KEY", prefix(&self.id))
    }

    /// A warning if the base URL has the version that the paths of its API begin with.
    pub(in crate::gateway) fn repeats_version(&self) -> Option<String> {
        let version = match self.formats.first()? {
            Format::Anthropic => "/v1",
            Format::Gemini => "/v1beta",
            _ => return None,
        };
        self.base_url.ends_with(version).then(|| {
            let prefix = prefix(&self.id);
            format!("{prefix}_BASE_URL ends with {version}, which is added to it: leave it out")
        })
    }
}

/// The start of the variables of a provider that needs no entry in `PROVIDERS`.
pub(in crate::gateway) fn preset(id: &str) -> Option<&'static str> {
    PRESETS.iter().find(|(known, ..)| *known == id).map(|(_, prefix, ..)| *prefix)
}

/// The start of a provider's variables.
fn prefix(id: &str) -> String {
    preset(id).map_or_else(|| id.to_ascii_uppercase().replace('-', "_"), str::to_owned)
}

/// Reads the providers that have a key or a base URL, or that callers can have a key of: all of them, or those of their teams.
pub(super) fn read(
    reader: &mut VariableReader<'_>,
    caller_keys: bool,
    teams: &[TeamSettings],
) -> Vec<ModelProvider> {
    let mut providers = Vec::new();
    for (id, prefix, formats, base_url) in PRESETS {
        let Some((key, url)) = key_and_url(reader, prefix) else { continue };
        let of_team = teams.iter().any(|team| team.provider_key(id).is_some());
        if key.is_some() || url.is_some() || caller_keys || of_team {
            let needs_key = url.is_none();
            let base_url = url.unwrap_or_else(|| base_url.to_owned());
            let (id, binding, dialect) = (id.to_owned(), None, Dialect::at(&base_url));
            providers.push(ModelProvider {
                id,
                formats,
                base_url,
                dialect,
                key,
                needs_key,
                binding,
            });
        }
    }
    if let Some(ids) = reader.non_empty(PROVIDERS) {
        read_listed(&ids, reader, &mut providers);
    }
    providers
}

/// Adds the providers that `PROVIDERS` lists.
// Out of the code that each start compiles.
#[inline(never)]
fn read_listed(ids: &str, reader: &mut VariableReader<'_>, providers: &mut Vec<ModelProvider>) {
    for (index, id) in list(ids).enumerate() {
        let is_plain =
            id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
        let prefix = prefix(id);
        let is_preset =
            id == WORKERS_AI || PRESETS.iter().any(|(known, of, ..)| *known == id || *of == prefix);
        let is_known = is_preset || providers.iter().any(|it| it.id == id);
        if !is_plain || is_known {
            reader.reject(format!(
                "{PROVIDERS}[{index}] must be an id such as groq, of lower-case letters, digits and \
                 hyphens, and different from the others; openai, anthropic, google, gemini and workers-ai are \
                 built in"
            ));
            continue;
        }
        let Some(formats) = formats(reader, &prefix) else { continue };
        match key_and_url(reader, &prefix) {
            Some((key, Some(base_url))) => {
                let Some(dialect) = dialect(reader, &prefix, &base_url) else { continue };
                let id = id.to_owned();
                providers.push(ModelProvider {
                    id,
                    formats,
                    base_url,
                    dialect,
                    key,
                    needs_key: false,
                    binding: None,
                });
            }
            Some((_, None)) => reader.reject(format!(
                "{prefix}_BASE_URL is not set: it must be the address of the API of {id}, which {PROVIDERS} lists, \
                 such as https://{id}.example/v1"
            )),
            None => {}
        }
    }
}

/// The formats of a provider in `PROVIDERS`. `None` if the variable is invalid, which is reported.
fn formats(reader: &mut VariableReader<'_>, prefix: &str) -> Option<&'static [Format]> {
    let name = format!("{prefix}_API");
    let word = reader.non_empty(&name).unwrap_or_else(|| "chat".to_owned());
    let api = APIS.iter().find(|(known, _)| *known == word);
    if api.is_none() {
        reader.reject(format!("{name} must be chat, responses or messages"));
    }
    api.map(|(_, formats)| *formats)
}

/// The dialect of a provider in `PROVIDERS`. `None` if the variable is invalid, which is reported.
fn dialect(
    reader: &mut VariableReader<'_>,
    prefix: &str,
    base_url: &str,
) -> Option<&'static Dialect> {
    let name = format!("{prefix}_DIALECT");
    let Some(word) = reader.non_empty(&name) else { return Some(Dialect::at(base_url)) };
    let dialect = Dialect::named(&word);
    if dialect.is_none() {
        let names: Vec<_> = Dialect::names().collect();
        reader.reject(format!("{name} must be one of {}", names.join(", ")));
    }
    dialect
}

/// Why a provider cannot be reached, after its id.
pub(super) fn lacks(id: &str) -> String {
    match preset(id) {
        Some(prefix) => format!("needs the secret {prefix}_API_KEY"),
        None => {
            format!("is none of openai, anthropic, google and the valid entries of {PROVIDERS}")
        }
    }
}

/// The key and the base URL of a provider, if they are set. `None` if one of them is invalid, which is reported: nothing
/// may go elsewhere, or without the key.
fn key_and_url(
    reader: &mut VariableReader<'_>,
    prefix: &str,
) -> Option<(Option<Secret>, Option<String>)> {
    let names = (format!("{prefix}_API_KEY"), format!("{prefix}_BASE_URL"));
    let key = reader.non_empty(&names.0).map(Secret::new);
    let url = reader.non_empty(&names.1);
    let is_valid_key = key.as_ref().is_none_or(Secret::is_bearer_token);
    if !is_valid_key {
        reader.reject(format!("{} must be visible ASCII characters without spaces", names.0));
    }
    let valid_url = url.as_deref().map_or(Ok(()), secure_base_address);
    if let Err(expected) = valid_url {
        reader.reject(format!("{} {expected}", names.1));
    }
    (is_valid_key && valid_url.is_ok()).then_some((key, url))
}
