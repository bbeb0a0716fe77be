//! Which members of a request an error of a provider names.
//!
//! Errors may quote the request, so a text names a member only at its beginning, which the provider has written.

use serde_json::value::RawValue;

use crate::gateway::relay::optional_members::table::{BETAS, named, segments};
use crate::wire::fields::text;
use toolbooth::json::{self, Value};

/// What a provider says about an optional member of a request that it has rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// Where the member is: its names as in [`segments`].
    pub(super) path: Vec<String>,
    pub(super) scope: Scope,
}

/// To which requests for the model a complaint applies, the widest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// All that have the member.
    Member,
    /// Those with a value other than the only one that the model takes.
    NotDefault,
    /// Those with the same value.
    Value,
    /// This one: the member does not fit another.
    Request,
}

/// The codes and types of errors that a model does not have a member at all: of OpenAI, and of pydantic (Mistral, vLLM, SGLang).
const UNKNOWN: [&str; 4] =
    ["unsupported_parameter", "unknown_parameter", "extra_forbidden", "value_error.extra"];

/// Words of errors about members that do not fit each other.
const CONDITIONS: [&str; 5] = [" when ", " both ", " together", "tools with ", " with tools"];

/// Words of errors about members that have only one value.
const ONLY_VALUE: [&str; 2] = ["Only the default (", " is allowed for this model"];

/// What precedes the text of a provider: the words of others that pass it on. `*` is a word.
const WRAPPERS: &[&str] = &[
    // anomalyco/opencode#34694, musistudio/claude-code-router#187
    "Error from provider: ",
    "Error from provider * ",
    // Bedrock: elizaOS/eliza#16175
    "The model returned the following errors: ",
    // BerriAI/litellm#38842
    "litellm.BadRequestError: * - ",
];

/// Texts that are followed by the member that they are about. `*` is a word.
const LEADS: &[(&str, Scope)] = &[
    // OpenAI: microsoft/vscode#282170, router-for-me/CLIProxyAPI#1028
    ("Unsupported parameter: ", Scope::Member),
    ("Unknown parameter: ", Scope::Member),
    // OpenAI: davidmigloz/langchain_dart#712
    ("Unrecognized request argument supplied: ", Scope::Member),
    ("Unrecognized request arguments supplied: ", Scope::Member),
    // Gemini: MinLL/SkyrimNet-GamePlugin#77, simonw/llm-gemini#49
    ("Invalid JSON payload received. Unknown name ", Scope::Member),
    ("Invalid value at ", Scope::Value),
    ("The model does not support setting ", Scope::Value),
    // xAI: n8n-io/n8n#14581, miaoxworld/NativeTavern#83
    ("Argument not supported on this model: ", Scope::Member),
    ("Model * does not support parameter ", Scope::Member),
    // Fireworks, also behind others: NousResearch/hermes-agent#47868
    ("Extra inputs are not permitted, field: ", Scope::Member),
    // Anthropic: anthropics/claude-code#30010
    ("This model does not support the ", Scope::Member),
    // Ollama: Gitlawb/openclaude#1371
    ("* does not support ", Scope::Member),
    // Servers in Rust and Go, by serde and encoding/json
    ("Failed to deserialize the JSON body into the target type: unknown field ", Scope::Member),
    ("unknown field ", Scope::Member),
    ("json: unknown field ", Scope::Member),
    // Servers that check requests with jsonschema
    ("Additional properties are not allowed (", Scope::Member),
    // LiteLLM: BerriAI/litellm#38263
    ("litellm.UnsupportedParamsError: * does not support parameters: [", Scope::Member),
];

/// Texts that precede a member to which an error objects, and the widest scope that it can have.
const INTRODUCTIONS: &[(&str, Scope)] = &[
    // OpenAI: QwenLM/qwen-code#921, can1357/oh-my-pi#6451
    ("Unsupported value: ", Scope::Member),
    ("Unsupported ", Scope::Value),
    // OpenAI, and Kimi: opencyvis/opencyvis-phone#12
    ("Invalid ", Scope::Member),
    // DeepSeek: nextai-translator/nextai-translator#1879
    ("Failed to deserialize the JSON body into the target type: ", Scope::Value),
    // Groq: CherryHQ/cherry-studio#11435
    ("property ", Scope::Member),
    // Anthropic: elizaOS/eliza#16175
    ("adaptive ", Scope::Value),
    // Vertex: jenslys/opencode-gemini-auth#14, lobehub/lobehub#7985
    ("Unable to submit request because the ", Scope::Member),
    ("Unable to submit request because ", Scope::Member),
    // Gemini, with the place: iBUHub/AIStudioToAPI#154
    ("* GenerateContentRequest.", Scope::Member),
    // Qwen: QwenLM/Qwen3#1896, mnfst/modelparams.dev#235
    ("<400> InternalError.Algo.InvalidParameter: The ", Scope::Member),
    ("<400> InternalError.Algo.InvalidParameter: ", Scope::Member),
    ("The ", Scope::Member),
    ("", Scope::Member),
];

/// What follows a member that an error is about.
const OBJECTIONS: &[(&str, Scope)] = &[
    // Anthropic: anthropics/claude-code#14135; Cerebras: router-for-me/CLIProxyAPI#1143
    (": Extra inputs are not permitted", Scope::Member),
    (": property ", Scope::Member),
    // DeepSeek, Kimi (lsdefine/GenericAgent#30), and Anthropic for values
    (":", Scope::Value),
    // Anthropic: Metaculus/forecasting-tools#308
    ("is deprecated", Scope::Member),
    ("is unsupported", Scope::Member),
    ("is not supported", Scope::Member),
    // Gemini: RooCodeInc/Roo-Code#10700, google-gemini/cookbook#1290
    ("is not enabled", Scope::Member),
    ("is not available", Scope::Member),
    ("is not permitted", Scope::Member),
    ("is not allowed", Scope::Member),
    ("not supported", Scope::Member),
    ("may not be set", Scope::Member),
    // OpenAI: QwenLM/qwen-code#921
    ("does not support", Scope::Value),
    // OpenRouter: musistudio/claude-code-router#1215
    ("is mandatory", Scope::Value),
    ("is only", Scope::Request),
    ("is invalid", Scope::Value),
    ("may only", Scope::Value),
    ("must", Scope::Value),
    ("should", Scope::Value),
    ("cannot", Scope::Request),
    // Ollama: ollama/ollama#12561
    ("value", Scope::Value),
    // Anthropic, of an edit in `context_management` that needs `thinking`
    ("strategy requires", Scope::Request),
    // GLM: songquanpeng/one-api#1141
    ("参数非法", Scope::Value),
];

/// The same after a value of the member.
const OBJECTIONS_TO_VALUE: [&str; 2] = ["is not supported", "is invalid"];

/// What an error says about optional members. `value` is the body of the response, or the data of an event.
pub(in crate::gateway) fn complaints(value: &Value<'_>) -> Vec<Complaint> {
    // Some providers pass the error of another one on as a text, which may pass on a third.
    within(value, 3)
}

fn within(value: &Value<'_>, levels: usize) -> Vec<Complaint> {
    let Some(levels) = levels.checked_sub(1) else { return Vec::new() };
    let value = value.as_array().and_then(<[_]>::first).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let message = error.get("message");
    let listed: Vec<_> = validations(error).filter_map(of_validation).collect();
    if !listed.is_empty() {
        return listed;
    }
    let details = error.get("details").and_then(Value::as_array).unwrap_or_default();
    let violations = details.iter().filter_map(|it| it.get("fieldViolations")?.as_array());
    let violations: Vec<_> = violations.flatten().filter_map(of_violation).collect();
    if !violations.is_empty() {
        return violations;
    }
    let inner = error.get("metadata").and_then(|metadata| text(metadata.get("raw")));
    let message = error.as_str().or_else(|| text(message)).or_else(|| text(error.get("detail")));
    for text in [inner, message].into_iter().flatten() {
        let found = match json_within(text).and_then(|text| json::parse(text).ok()) {
            Some(value) => within(&value, levels),
            None => of_text(text).map_or_else(|| of_betas(text), |complaint| vec![complaint]),
        };
        let found = with_param(error, found);
        if !found.is_empty() {
            return found;
        }
    }
    with_param(error, Vec::new())
}

/// The member `param` of OpenAI's errors, if that is an optional one. What the text says about the same member tells more.
fn with_param(error: &Value<'_>, found: Vec<Complaint>) -> Vec<Complaint> {
    let Some(path) = text(error.get("param")).and_then(known) else { return found };
    let kind = ["code", "type"].iter().find_map(|name| text(error.get(name)));
    let same = found.into_iter().find(|complaint| complaint.path == path);
    let scope = match (kind.is_some_and(|kind| UNKNOWN.contains(&kind)), same) {
        (true, _) => Scope::Member,
        (false, Some(complaint)) => complaint.scope,
        (false, None) => scope_in(text(error.get("message")).unwrap_or_default(), Scope::Value),
    };
    vec![Complaint { path, scope }]
}

/// The errors of pydantic in that of a provider.
fn validations<'v>(error: &'v Value<'_>) -> impl Iterator<Item = &'v Value<'v>> {
    let message = error.get("message");
    let places = [error.get("detail"), message, message.and_then(|it| it.get("detail"))];
    places.into_iter().flatten().filter_map(Value::as_array).flatten()
}

/// What the errors of pydantic say that a provider has in place of a message. They also quote the request, which is left out.
pub(in crate::gateway) fn described(error: &Value<'_>) -> Option<String> {
    let described = validations(error).filter_map(|item| {
        let names = item.get("loc")?.as_array()?.iter().map(|name| match name.as_str() {
            Some(name) => name.to_owned(),
            None => name.text(),
        });
        Some(format!("{}: {}", names.collect::<Vec<_>>().join("."), text(item.get("msg"))?))
    });
    let described = described.collect::<Vec<_>>().join("; ");
    (!described.is_empty()).then_some(described)
}

/// An error of pydantic, of which a response may have several: partITech/php-mistral#76, Gitlawb/openclaude#739.
fn of_validation(item: &Value<'_>) -> Option<Complaint> {
    let names = item.get("loc")?.as_array()?.iter().filter_map(Value::as_str);
    let path = known(&names.collect::<Vec<_>>().join("."))?;
    let kind = text(item.get("type")).unwrap_or_default();
    Some(Complaint { path, scope: scope_of(kind) })
}

fn scope_of(kind: &str) -> Scope {
    if UNKNOWN.contains(&kind) { Scope::Member } else { Scope::Value }
}

/// A violation in an error of Google's.
fn of_violation(violation: &Value<'_>) -> Option<Complaint> {
    let description = text(violation.get("description")).unwrap_or_default();
    of_text(description).or_else(|| {
        let path = known(text(violation.get("field"))?)?;
        Some(Complaint { path, scope: scope_in(description, Scope::Value) })
    })
}

/// The JSON with which a text begins, after the words of those who pass it on.
fn json_within(text: &str) -> Option<&str> {
    let text = unwrapped(text);
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    let json = values.next()?.ok()?.get();
    json.starts_with(['{', '[']).then_some(json)
}

fn unwrapped(mut text: &str) -> &str {
    while let Some(rest) = WRAPPERS.iter().find_map(|wrapper| after(text, wrapper)) {
        text = rest;
    }
    text.trim_start()
}

/// The member that a text names at its beginning.
fn of_text(text: &str) -> Option<Complaint> {
    let text = unwrapped(text);
    of_python(text).or_else(|| of_lead(text)).or_else(|| {
        INTRODUCTIONS.iter().find_map(|(introduction, widest)| {
            let Complaint { path, scope } = of_objection(after(text, introduction)?)?;
            Some(Complaint { path, scope: scope.max(*widest) })
        })
    })
}

/// The member after a text that is about it.
fn of_lead(text: &str) -> Option<Complaint> {
    let leads = LEADS.iter().filter_map(|(lead, scope)| Some((after(text, lead)?, *scope)));
    let found = leads.flat_map(|(rest, scope)| names(rest).map(move |found| (found, scope)));
    found.into_iter().find_map(|((name, rest), scope)| {
        // Google says where the member is that it does not know.
        let parent =
            rest.trim_start().strip_prefix("at '").and_then(|rest| rest.split('\'').next());
        let path = match parent {
            Some(parent) => format!("{parent}.{name}"),
            None => name,
        };
        Some(Complaint { path: known(&path)?, scope: scope_in(rest, scope) })
    })
}

/// The member with which a text begins that objects to it.
fn of_objection(text: &str) -> Option<Complaint> {
    names(text).find_map(|(name, rest)| {
        let path = known(&name)?;
        let rest = rest.trim_start();
        // Of two that do not fit each other, the second.
        if let Some(complaint) = after(rest, "and ").and_then(of_objection) {
            return Some(Complaint { scope: Scope::Request, ..complaint });
        }
        let rest = after(rest, "parameter ").unwrap_or(rest);
        let objection = OBJECTIONS.iter().find(|(objection, _)| after(rest, objection).is_some());
        let of_value = || {
            let (value, rest) = rest.split_once(' ')?;
            let is_value = value.starts_with(|it: char| !it.is_ascii_lowercase());
            let is_rejected = OBJECTIONS_TO_VALUE.iter().any(|it| rest.starts_with(it));
            (is_value && is_rejected).then_some(Scope::Value)
        };
        let scope = objection.map(|(_, scope)| *scope).or_else(of_value)?;
        Some(Complaint { path, scope: scope_in(rest, scope) })
    })
}

/// Errors of pydantic as Python prints them: router-for-me/CLIProxyAPI#1572 (SGLang), vllm-project/vllm#10463, #12864.
fn of_python(text: &str) -> Option<Complaint> {
    let listed = match text.split_once('\n') {
        Some((count, rest)) if count.contains("validation error") => rest.trim_start(),
        _ => text,
    };
    if let Some(error) = listed.trim_start_matches('[').strip_prefix("{'type': '") {
        let (kind, rest) = error.split_once("', 'loc': (")?;
        let path = known(&rest.split(')').next()?.replace(", ", "."))?;
        return Some(Complaint { path, scope: scope_of(kind) });
    }
    let (path, reason) = (listed.len() < text.len()).then(|| listed.split_once('\n'))??;
    let is_unknown = reason.trim_start().starts_with("Extra inputs are not permitted");
    let scope = if is_unknown { Scope::Member } else { Scope::Value };
    Some(Complaint { path: known(path)?, scope })
}

/// Betas that Anthropic does not have, or not for this account: anthropics/claude-code#53855.
fn of_betas(text: &str) -> Vec<Complaint> {
    let listed = after(unwrapped(text), "Unexpected value(s) ");
    let listed = listed.and_then(|rest| rest.split_once(" for the `anthropic-beta` header"));
    let betas = listed.map(|(betas, _)| betas.split(", ")).into_iter().flatten();
    let of_beta = |beta: &str| Complaint {
        path: segments(BETAS).chain([beta.trim_matches('`').to_owned()]).collect(),
        scope: Scope::Value,
    };
    betas.map(of_beta).collect()
}

/// What follows in a text after its beginning, in which `*` is a word.
fn after<'t>(text: &'t str, beginning: &str) -> Option<&'t str> {
    let strip = |text: &'t str, beginning: &str| {
        let (found, rest) = text.split_at_checked(beginning.len())?;
        found.eq_ignore_ascii_case(beginning).then_some(rest)
    };
    match beginning.split_once('*') {
        None => strip(text, beginning),
        Some((head, tail)) => {
            let rest = strip(text, head)?;
            strip(rest.trim_start_matches(|it: char| !it.is_whitespace()), tail)
        }
    }
}

/// The names with which a text can begin, with what follows each: in quotes, or two words or one.
fn names(text: &str) -> impl Iterator<Item = (String, &str)> {
    let quoted = ['\'', '"', '`'].iter().find_map(|quote| {
        let (name, rest) = text.strip_prefix(*quote)?.split_once(*quote)?;
        (!name.contains(char::is_whitespace)).then(|| (name.to_owned(), rest))
    });
    let word =
        |text: &str| text.find(|it: char| !(it.is_ascii_alphanumeric() || "_.[]".contains(it)));
    let split = |length: Option<usize>| text.split_at_checked(length.unwrap_or(text.len()));
    let end = word(text);
    let second = end.filter(|end| text.get(*end..).is_some_and(|rest| rest.starts_with(' ')));
    let both = second.and_then(|end| {
        let rest = text.get(end + 1..)?;
        split(Some(end + 1 + word(rest).unwrap_or(rest.len())))
    });
    let plain = [both, split(end)].into_iter().flatten();
    quoted.into_iter().chain(plain.map(|(name, rest)| (name.to_owned(), rest)))
}

/// The path of a member, if it is an optional one.
fn known(path: &str) -> Option<Vec<String>> {
    let path: Vec<_> = segments(path).skip_while(|name| name == "body").collect();
    (!named(&path).is_empty()).then_some(path)
}

/// The scope that an error has by its words.
fn scope_in(text: &str, scope: Scope) -> Scope {
    let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match scope {
        _ if has(&CONDITIONS) => Scope::Request,
        Scope::Value if has(&ONLY_VALUE) => Scope::NotDefault,
        scope => scope,
    }
}

#[cfg(test)]
mod tests;
