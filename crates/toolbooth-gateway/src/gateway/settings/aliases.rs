//! `MODELS`: names for one model or several, with what to do if one fails.

use std::time::Duration;

use crate::gateway::facts::Facts;
use crate::gateway::format::adapter::Format;
use crate::gateway::limits::cost::Price;
use crate::gateway::settings::models::{self, ModelProvider};
use crate::wire::fields::{count, text};
use toolbooth::json::{self, Object, Value};
use toolbooth::settings::{VariableDoc, VariableReader, nano_dollars};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelAlias {
    /// The name, as clients send it in `model`.
    pub name: String,
    /// The models; at least one.
    pub targets: Vec<ModelTarget>,
    /// Whether a random one is asked first, by weight (`loadbalance`), and not the first (`fallback`). The others follow
    /// if it fails.
    pub is_weighted: bool,
    /// How often each is tried.
    pub attempts: usize,
    /// The status codes after which the next attempt or the next target is tried, if not the usual ones.
    pub retry_statuses: Option<Vec<u16>>,
    /// How long a provider may be silent.
    pub timeout: Duration,
    /// The compiled-in tools that its chats get: ids, names or `Toolkit.*`.
    pub added_tools: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelTarget {
    pub provider: String,
    /// The model, as the provider names it.
    pub model: String,
    /// Its share of the requests of a weighted alias.
    pub weight: u64,
    /// What its tokens cost: its own price, or that of the alias.
    pub price: Option<Price>,
    /// The most tokens of an answer, unless the request says so.
    pub max_output_tokens: Option<u64>,
    /// The most tokens of a request, for lists of models.
    pub max_input_tokens: Option<u64>,
    /// What the operator knows of the model.
    pub facts: Option<Facts>,
}

/// What a target, or an alias for all its targets, says about the model.
struct Terms {
    price: Option<ListedPrice>,
    max_output_tokens: Option<u64>,
    max_input_tokens: Option<u64>,
    facts: Option<Facts>,
}

/// A price as it is written. What it costs to write into a cache depends on the provider.
#[derive(Clone, Copy)]
struct ListedPrice {
    input: u64,
    output: u64,
    cached: u64,
    cache_write: Option<u64>,
    includes_extras: bool,
}

impl ListedPrice {
    /// The price at a provider. If it does not say what it costs to write into the cache, that is what Anthropic charges at its own API: a
    /// quarter more than for other input, and twice as much if the cache keeps it for an hour. A lower price that is named holds for minutes
    /// only, unless writing is free.
    fn at(self, provider: Option<&ModelProvider>) -> Price {
        let Self { input, output, cached, includes_extras, .. } = self;
        let is_anthropic = provider.is_some_and(|it| it.formats.contains(&Format::Anthropic));
        let [cache_write, long_cache_write] = match self.cache_write {
            Some(named) if is_anthropic && named > 0 => [named, named.max(2 * input)],
            Some(named) => [named; 2],
            None if is_anthropic => [input + input.div_ceil(4), 2 * input],
            None => [input; 2],
        };
        Price { input, output, cached, cache_write, long_cache_write, includes_extras }
    }
}

impl Terms {
    fn read(members: &Object<'_>, place: &str) -> Result<Self, String> {
        let price = members.get("price").map(|value| price(value, place)).transpose()?;
        let max_output_tokens = number(members, "max_output_tokens", MAX_TOKENS, place)?;
        let max_input_tokens = number(members, "max_input_tokens", MAX_TOKENS, place)?;
        let facts = members.get("facts").map(|value| Facts::read(value, place)).transpose()?;
        Ok(Self { price, max_output_tokens, max_input_tokens, facts })
    }
}

pub(super) const MODELS: &str = "MODELS";
const MAX_ATTEMPTS: u64 = 5;
const MAX_WEIGHT: u64 = 1_000_000;
const MAX_TIMEOUT: u64 = 600_000;
const MAX_TOKENS: u64 = 10_000_000;
/// The highest price of a million tokens, in dollars.
const MAX_PRICE: u32 = 10_000;

pub(super) static DOCS: &[VariableDoc] = &[models::doc(
    MODELS,
    "names for models, as JSON: see below. If it is set, callers may use no other models, except those \
     that their key names | none, and callers may use every model | requests for the name of the invalid entry are \
     rejected; other names work. A target whose provider has no key is left out while others remain",
)];

/// Reads `MODELS`: the aliases, and the names of invalid entries, which are reported.
pub(super) fn read(
    reader: &mut VariableReader<'_>,
    providers: &[ModelProvider],
    timeout: Duration,
) -> (Vec<ModelAlias>, Vec<String>) {
    match reader.non_empty(MODELS) {
        Some(text) => read_text(&text, reader, providers, timeout),
        None => Default::default(),
    }
}

// The first request waits for the code that it runs to be compiled, so what is not configured stays out of it.
#[inline(never)]
fn read_text(
    text: &str,
    reader: &mut VariableReader<'_>,
    providers: &[ModelProvider],
    timeout: Duration,
) -> (Vec<ModelAlias>, Vec<String>) {
    let (mut aliases, mut rejected) = (Vec::new(), Vec::new());
    let Ok(Value::Object(entries)) = json::parse(text) else {
        reader.problem(MODELS, "must be a JSON object of aliases, each with targets");
        return (aliases, rejected);
    };
    for (name, entry) in entries.iter() {
        match alias(name, entry, providers, timeout) {
            Ok((alias, unusable)) => {
                aliases.push(alias);
                for problem in unusable {
                    reader.reject(format!("{MODELS}.{name}{problem}; its other targets serve it"));
                }
            }
            Err(expected) => {
                reader.reject(format!("{MODELS}.{name}{expected}"));
                rejected.push(name.to_string());
            }
        }
    }
    (aliases, rejected)
}

/// An alias, and why some of its targets cannot be used. The error: it is invalid, or none of them can.
fn alias(
    name: &str,
    entry: &Value<'_>,
    providers: &[ModelProvider],
    timeout: Duration,
) -> Result<(ModelAlias, Vec<String>), String> {
    let known = [
        "targets",
        "mode",
        "retry",
        "timeout_ms",
        "price",
        "max_output_tokens",
        "max_input_tokens",
        "facts",
        "tools",
    ];
    let members = members(entry, "", &known)?;
    let terms = Terms::read(members, "")?;
    let targets = members.get("targets").and_then(Value::as_array).unwrap_or_default();
    if targets.is_empty() {
        return Err(".targets must be an array of objects with provider and model".to_owned());
    }
    let (mut usable, mut unusable) = (Vec::new(), Vec::new());
    for (index, entry) in targets.iter().enumerate() {
        let place = format!(".targets[{index}]");
        let target = target(entry, &place, &terms, providers)?;
        if providers.iter().any(|known| known.id == target.provider) {
            usable.push(target);
        } else {
            let (id, lacks) = (&target.provider, models::lacks(&target.provider));
            unusable.push(format!("{place}.provider is {id}, which {lacks}"));
        }
    }
    if usable.is_empty() {
        return Err(unusable.join(", "));
    }
    let is_weighted = match members.get("mode").map(Value::as_str) {
        None | Some(Some("fallback")) => false,
        Some(Some("loadbalance")) => true,
        Some(_) => return Err(".mode must be fallback or loadbalance".to_owned()),
    };
    let (mut attempts, mut retry_statuses) = (1, None);
    if let Some(retry) = members.get("retry") {
        let retry = crate::gateway::settings::aliases::members(
            retry,
            ".retry",
            &["attempts", "status_codes"],
        )?;
        attempts = number(retry, "attempts", MAX_ATTEMPTS, ".retry")?.unwrap_or(1);
        retry_statuses = retry.get("status_codes").map(status_codes).transpose()?;
    }
    let own_timeout = number(members, "timeout_ms", MAX_TIMEOUT, "")?;
    let added_tools = members.get("tools").map_or(Some(Vec::new()), Value::texts);
    let added_tools = added_tools
        .ok_or(".tools must be an array of ids, names or Toolkit.* of this server's tools")?;
    let alias = ModelAlias {
        name: name.to_owned(),
        targets: usable,
        is_weighted,
        attempts: usize::try_from(attempts).unwrap_or(1),
        retry_statuses,
        timeout: own_timeout.map_or(timeout, Duration::from_millis),
        added_tools,
    };
    Ok((alias, unusable))
}

fn target(
    entry: &Value<'_>,
    place: &str,
    of_alias: &Terms,
    providers: &[ModelProvider],
) -> Result<ModelTarget, String> {
    let known =
        ["provider", "model", "weight", "price", "max_output_tokens", "max_input_tokens", "facts"];
    let members = members(entry, place, &known)?;
    let own = Terms::read(members, place)?;
    let text = |name| text(members.get(name)).map(str::to_owned);
    let (Some(provider), Some(model)) = (text("provider"), text("model")) else {
        return Err(format!("{place} must have provider and model"));
    };
    let weight = number(members, "weight", MAX_WEIGHT, place)?.unwrap_or(1);
    let known = providers.iter().find(|known| known.id == provider);
    Ok(ModelTarget {
        provider,
        model,
        weight,
        price: own.price.or(of_alias.price).map(|price| price.at(known)),
        max_output_tokens: own.max_output_tokens.or(of_alias.max_output_tokens),
        max_input_tokens: own.max_input_tokens.or(of_alias.max_input_tokens),
        facts: match (own.facts, &of_alias.facts) {
            (Some(own), Some(of_alias)) => Some(own.or(of_alias)),
            (own, of_alias) => own.or_else(|| of_alias.clone()),
        },
    })
}

/// The price of a million tokens, in dollars.
fn price(value: &Value<'_>, place: &str) -> Result<ListedPrice, String> {
    let expected = || {
        format!(
            "{place}.price must be an object with input, output and perhaps cached and cache_write: the dollars for a million tokens, \
             from 0 to {MAX_PRICE}; includes_extras may be true or false"
        )
    };
    let known = ["input", "output", "cached", "cache_write", "includes_extras"];
    let members = members(value, "", &known).map_err(|_| expected())?;
    let dollars = |name| nano_dollars(members.get(name)?, MAX_PRICE);
    let (input, output) = dollars("input").zip(dollars("output")).ok_or_else(expected)?;
    let of_cache = |name| match members.get(name) {
        None => Ok(None),
        Some(_) => dollars(name).map(Some).ok_or_else(expected),
    };
    let cached = of_cache("cached")?.unwrap_or(input);
    let cache_write = of_cache("cache_write")?;
    let includes_extras = match members.get("includes_extras") {
        None => false,
        Some(Value::Bool(includes)) => *includes,
        Some(_) => return Err(expected()),
    };
    Ok(ListedPrice { input, output, cached, cache_write, includes_extras })
}

/// The members of an object that has no others than `known`.
fn members<'v, 't>(
    value: &'v Value<'t>,
    place: &str,
    known: &[&str],
) -> Result<&'v Object<'t>, String> {
    value
        .as_object()
        .filter(|members| members.has_only(known))
        .ok_or_else(|| format!("{place} must be an object with {}", known.join(", ")))
}

/// A whole number from 1 to `most`, if it is there.
fn number(members: &Object<'_>, name: &str, most: u64, place: &str) -> Result<Option<u64>, String> {
    let Some(value) = members.get(name) else { return Ok(None) };
    match count(Some(value)).filter(|number| (1..=most).contains(number)) {
        Some(number) => Ok(Some(number)),
        None => Err(format!("{place}.{name} must be a whole number from 1 to {most}")),
    }
}

fn status_codes(value: &Value<'_>) -> Result<Vec<u16>, String> {
    let code = |value: &Value<'_>| {
        let code = u16::try_from(count(Some(value))?).ok()?;
        (400..600).contains(&code).then_some(code)
    };
    let codes = value.as_array().and_then(|codes| codes.iter().map(code).collect());
    codes.ok_or_else(|| ".retry.status_codes must be an array of codes from 400 to 599".to_owned())
}
