//! `MODELS`: names for one model or several, with what to do if one fails.

use std::time::Duration;

use super::models::{self, ModelProvider};
use toolbooth::json::{self, Object, Value};
use toolbooth::settings::{VariableDoc, VariableReader, documented};

/// A name for one model or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelAlias {
    /// The name, as clients send it in `model`.
    pub name: String,
    /// The models; at least one.
    pub targets: Vec<ModelTarget>,
    /// Which of them is asked first.
    pub balance: Balance,
    /// How often each is tried.
    pub attempts: usize,
    /// The status codes after which the next attempt or the next target is tried, if not the usual ones.
    pub retry_statuses: Option<Vec<u16>>,
    /// How long a provider may be silent.
    pub timeout: Duration,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelTarget {
    /// The id of the provider.
    pub provider: String,
    /// The model, as the provider names it.
    pub model: String,
    /// Its share of the requests, with [`Balance::Weighted`].
    pub weight: u32,
}

/// Which target is asked first. The others follow if it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Balance {
    /// The first (`fallback`).
    InOrder,
    /// A random one, by weight (`loadbalance`).
    Weighted,
}

const MODELS: &str = "MODELS";
const MAX_ATTEMPTS: u64 = 5;
const MAX_WEIGHT: u64 = 1_000_000;
const MAX_TIMEOUT: u64 = 600_000;

pub(super) static DOCS: &[VariableDoc] = &[VariableDoc {
    name: MODELS,
    doc: documented(
        "names for models, as JSON: see below | none | requests for the name of the \
             invalid entry are rejected; other names work. A target whose provider has no key \
             is left out while others remain",
    ),
}];

/// Reads `MODELS`: the aliases, and the names of invalid entries, which are reported.
pub(super) fn read(
    reader: &mut VariableReader<'_>,
    providers: &[ModelProvider],
    timeout: Duration,
) -> (Vec<ModelAlias>, Vec<String>) {
    let (mut aliases, mut rejected) = (Vec::new(), Vec::new());
    let Some(text) = reader.non_empty(MODELS) else { return (aliases, rejected) };
    let Ok(Value::Object(entries)) = json::parse(&text) else {
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

/// An alias, and why some of its targets cannot be used.
///
/// # Errors
/// It is invalid, or none of its targets can be used.
fn alias(
    name: &str,
    entry: &Value<'_>,
    providers: &[ModelProvider],
    timeout: Duration,
) -> Result<(ModelAlias, Vec<String>), String> {
    let members = members(entry, "", &["targets", "mode", "retry", "timeout_ms"])?;
    let targets = members.get("targets").and_then(Value::as_array).unwrap_or_default();
    if targets.is_empty() {
        return Err(".targets must be an array of objects with provider and model".to_owned());
    }
    let (mut usable, mut unusable) = (Vec::new(), Vec::new());
    for (index, entry) in targets.iter().enumerate() {
        match target(index, entry, providers) {
            Ok(target) => usable.push(target),
            Err(TargetError::NoProvider(problem)) => unusable.push(problem),
            Err(TargetError::Invalid(problem)) => return Err(problem),
        }
    }
    if usable.is_empty() {
        return Err(unusable.join(", "));
    }
    let balance = match members.get("mode").map(Value::as_str) {
        None | Some(Some("fallback")) => Balance::InOrder,
        Some(Some("loadbalance")) => Balance::Weighted,
        Some(_) => return Err(".mode must be fallback or loadbalance".to_owned()),
    };
    let (mut attempts, mut retry_statuses) = (1, None);
    if let Some(retry) = members.get("retry") {
        let retry = self::members(retry, ".retry", &["attempts", "status_codes"])?;
        attempts = number(retry, "attempts", MAX_ATTEMPTS, ".retry")?.unwrap_or(1);
        retry_statuses = retry.get("status_codes").map(status_codes).transpose()?;
    }
    let own_timeout = number(members, "timeout_ms", MAX_TIMEOUT, "")?;
    let alias = ModelAlias {
        name: name.to_owned(),
        targets: usable,
        balance,
        attempts: usize::try_from(attempts).unwrap_or(1),
        retry_statuses,
        timeout: own_timeout.map_or(timeout, Duration::from_millis),
    };
    Ok((alias, unusable))
}

/// Why a target cannot be used.
enum TargetError {
    /// Its provider has no key, or is unknown.
    NoProvider(String),
    /// It is not written as a target.
    Invalid(String),
}

fn target(
    index: usize,
    entry: &Value<'_>,
    providers: &[ModelProvider],
) -> Result<ModelTarget, TargetError> {
    let place = format!(".targets[{index}]");
    let members =
        members(entry, &place, &["provider", "model", "weight"]).map_err(TargetError::Invalid)?;
    let text = |name: &str| members.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    let (Some(provider), Some(model)) = (text("provider"), text("model")) else {
        return Err(TargetError::Invalid(format!("{place} must have provider and model")));
    };
    if !providers.iter().any(|known| known.id == provider) {
        let lacks = models::lacks(provider);
        return Err(TargetError::NoProvider(format!(
            "{place}.provider is {provider}, which {lacks}"
        )));
    }
    let weight = number(members, "weight", MAX_WEIGHT, &place).map_err(TargetError::Invalid)?;
    let weight = weight.unwrap_or(1);
    Ok(ModelTarget {
        provider: provider.to_owned(),
        model: model.to_owned(),
        weight: u32::try_from(weight).unwrap_or(1),
    })
}

/// The members of an object that has no others than `known`.
fn members<'v, 't>(
    value: &'v Value<'t>,
    place: &str,
    known: &[&str],
) -> Result<&'v Object<'t>, String> {
    let is_known = |(name, _): &(std::borrow::Cow<'_, str>, Value<'_>)| known.contains(&&**name);
    value
        .as_object()
        .filter(|members| members.iter().all(is_known))
        .ok_or_else(|| format!("{place} must be an object with {}", known.join(", ")))
}

/// A whole number from 1 to `most`, if it is there.
fn number(members: &Object<'_>, name: &str, most: u64, place: &str) -> Result<Option<u64>, String> {
    let Some(value) = members.get(name) else { return Ok(None) };
    let number = value.as_number().and_then(|number| number.as_u64());
    match number.filter(|number| (1..=most).contains(number)) {
        Some(number) => Ok(Some(number)),
        None => Err(format!("{place}.{name} must be a whole number from 1 to {most}")),
    }
}

fn status_codes(value: &Value<'_>) -> Result<Vec<u16>, String> {
    let code = |value: &Value<'_>| {
        let code = u16::try_from(value.as_number()?.as_u64()?).ok()?;
        (400..600).contains(&code).then_some(code)
    };
    let codes = value.as_array().and_then(|codes| codes.iter().map(code).collect());
    codes.ok_or_else(|| ".retry.status_codes must be an array of codes from 400 to 599".to_owned())
}
