//! Which models a request may go to, and in which order they are tried.

use std::borrow::Cow;
use std::time::Duration;

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::facts::{Effort, Facts};
use crate::gateway::format::adapter::Format;
use crate::gateway::format::front::Front;
use crate::gateway::limits::access::Models;
use crate::gateway::limits::cost::Price;
use crate::gateway::settings::{GatewaySettings, ModelAlias, ModelProvider, ModelTarget, preset};
use toolbooth::host::Random;
use toolbooth::schema::text::excerpt;
use toolbooth::secret::Secret;
use toolbooth::settings::TeamSettings;

/// The models that a request may go to.
pub(in crate::gateway) struct Plan<'s> {
    /// At least one, in the order in which they are tried.
    pub(in crate::gateway) targets: Vec<Target<'s>>,
    pub(in crate::gateway) attempts: usize,
    /// The status codes after which the next attempt or target is tried; `None`: the usual ones.
    retry_statuses: Option<&'s [u16]>,
    pub(in crate::gateway) timeout: Duration,
}

#[derive(Clone)]
pub(in crate::gateway) struct Target<'s> {
    pub(in crate::gateway) provider: &'s ModelProvider,
    /// The format in which it is asked: that of the client, if the provider has it and the model needs no other.
    pub(in crate::gateway) format: Format,
    /// The model, as the provider names it.
    pub(in crate::gateway) model: String,
    /// What the model accepts.
    pub(in crate::gateway) facts: Cow<'static, Facts>,
    pub(in crate::gateway) key: Option<Secret>,
    /// Whether that is a key of the caller.
    pub(in crate::gateway) is_paid_by_caller: bool,
    /// What its tokens cost, if `MODELS` says so.
    pub(in crate::gateway) price: Option<Price>,
    /// The most tokens of an answer, if `MODELS` says so.
    pub(in crate::gateway) max_output_tokens: Option<u64>,
}

/// The keys of providers that come before those of the server.
pub(in crate::gateway) struct ProviderKeys<'s> {
    /// The caller's own.
    pub(in crate::gateway) caller: Option<Secret>,
    /// The team of the caller, which may have some.
    pub(in crate::gateway) team: Option<&'s TeamSettings>,
}

/// The header with the caller's own key.
pub(in crate::gateway) const CALLER_KEY: &str = "x-provider-key";

impl<'s> Plan<'s> {
    /// Finds the models of `model`: `provider/model`, or an alias. The caller may use it, and `models`.
    pub(in crate::gateway) fn resolve(
        settings: &'s GatewaySettings,
        front: &dyn Front,
        models: &Models<'_>,
        model: &str,
        keys: &ProviderKeys<'_>,
        random: &dyn Random,
    ) -> Result<Self> {
        if settings.providers.is_empty() {
            return Err(GatewayError::new(
                ErrorKind::NotConfigured,
                "No model provider is configured: the operator must set OPENAI_API_KEY, \
                 ANTHROPIC_API_KEY or GEMINI_API_KEY, or PROVIDERS",
            ));
        }
        if let Some(alias) = settings.aliases.iter().find(|alias| alias.name == model) {
            return Self::of_alias(settings, front, alias, keys, random);
        }
        if settings.rejected_aliases.iter().any(|name| name == model) {
            let message = format!("The entry of '{}' in MODELS is invalid", excerpt(model));
            return Err(GatewayError::new(ErrorKind::NotConfigured, message).at("model"));
        }
        let Some((provider, name)) = settings.provider_of(model) else {
            return Err(unknown(settings, models, model));
        };
        let known = settings.target_of(&provider.id, name);
        let target = Target::new(provider, front, name, known, keys)?;
        let timeout = settings.timeout;
        Ok(Self { targets: vec![target], attempts: 1, retry_statuses: None, timeout })
    }

    /// Asks each model in the format that it needs for this request, if its provider has several.
    pub(in crate::gateway) fn route(&mut self, has_tools: bool, effort: Option<Effort>) {
        for target in &mut self.targets {
            let Target { provider, format, facts, .. } = target;
            *format = facts.format(provider.formats, *format, has_tools, effort);
        }
    }

    /// From now on, the model at this position is tried first. The others follow in their order.
    pub(in crate::gateway) fn prefer(&mut self, position: usize) {
        let count = self.targets.len();
        self.targets.rotate_left(position.min(count));
    }

    fn of_alias(
        settings: &'s GatewaySettings,
        front: &dyn Front,
        alias: &'s ModelAlias,
        keys: &ProviderKeys<'_>,
        random: &dyn Random,
    ) -> Result<Self> {
        let first = alias.targets.first().map(|target| &target.provider);
        if keys.caller.is_some() && alias.targets.iter().any(|it| Some(&it.provider) != first) {
            let message = format!("{CALLER_KEY} cannot be used with a model of several providers");
            return Err(GatewayError::new(ErrorKind::CallerKey, message));
        }
        let (mut targets, mut weights, mut without_key) = (Vec::new(), Vec::new(), None);
        for target in &alias.targets {
            let provider = settings.providers.iter().find(|it| it.id == target.provider);
            let Some(provider) = provider else { continue };
            match Target::new(provider, front, &target.model, Some(target), keys) {
                Ok(usable) => {
                    targets.push(usable);
                    weights.push(target.weight);
                }
                // A different caller may have a key; the others serve this one.
                Err(error) => without_key = without_key.or(Some(error)),
            }
        }
        if let Some(error) = without_key.filter(|_| targets.is_empty()) {
            return Err(error);
        }
        let mut plan = Self {
            targets,
            attempts: alias.attempts,
            retry_statuses: alias.retry_statuses.as_deref(),
            timeout: alias.timeout,
        };
        if alias.is_weighted {
            plan.prefer(weighted(&weights, random).unwrap_or_default());
        }
        Ok(plan)
    }

    /// Whether another attempt makes sense after this error.
    pub(in crate::gateway) fn retries(&self, error: &GatewayError) -> bool {
        match (error.provider_status, self.retry_statuses) {
            (Some(status), Some(listed)) => listed.contains(&status),
            (Some(status), None) => {
                matches!(status, 408 | 409 | 429 | 500 | 502..=504 | 520..=524 | 529)
            }
            (None, _) => matches!(
                error.kind,
                ErrorKind::Timeout
                    | ErrorKind::Unreachable
                    | ErrorKind::BadResponse
                    | ErrorKind::Overloaded
                    | ErrorKind::Provider
                    | ErrorKind::RateLimited
            ),
        }
    }
}

impl<'s> Target<'s> {
    /// `provider/model`, as in errors and in the log.
    pub(in crate::gateway) fn name(&self) -> String {
        format!("{}/{}", self.provider.id, excerpt(&self.model))
    }

    /// Whether the model rejects a `tool_choice` that forces a call, so that the translation of the request has weakened it.
    pub(in crate::gateway) fn cannot_be_forced(&self, request: &ChatRequest) -> bool {
        !self.facts.can_be_forced() && !request.passes_to(self.format)
    }

    /// A model, with what `MODELS` says about it. The error: there is no key for it.
    fn new(
        provider: &'s ModelProvider,
        front: &dyn Front,
        model: &str,
        known: Option<&ModelTarget>,
        keys: &ProviderKeys<'_>,
    ) -> Result<Self> {
        // A server that needs no key may ignore that of the caller.
        let is_paid_by_caller = keys.caller.is_some() && provider.needs_key;
        let of_team = keys.team.and_then(|team| team.provider_key(&provider.id));
        let key = keys.caller.as_ref().or(of_team).or(provider.key.as_ref()).cloned();
        if key.is_none() && provider.needs_key {
            let message = format!(
                "{} needs a key: send yours in {CALLER_KEY}, or the operator must set {}",
                provider.id,
                provider.key_variable()
            );
            return Err(GatewayError::new(ErrorKind::NotConfigured, message));
        }
        let format = provider.format_for(|format| front.reads(format));
        Ok(Self {
            provider,
            format,
            model: model.to_owned(),
            facts: Facts::of(
                format,
                model,
                known.and_then(|it| it.facts.as_ref()),
                provider.dialect.facts(),
            ),
            key,
            is_paid_by_caller,
            price: known.and_then(|it| it.price),
            max_output_tokens: known.and_then(|it| it.max_output_tokens),
        })
    }
}

/// A random position, by weight.
fn weighted(weights: &[u64], random: &dyn Random) -> Option<usize> {
    let total: u64 = weights.iter().sum();
    let [a, b, c, d, e, f, g, ..] = random.random_16().ok()?;
    let mut at = u64::from_be_bytes([0, a, b, c, d, e, f, g]).checked_rem(total)?;
    weights.iter().position(|weight| {
        let found = at < *weight;
        at = at.saturating_sub(*weight);
        found
    })
}

fn unknown(settings: &GatewaySettings, models: &Models<'_>, model: &str) -> GatewayError {
    let id = model.split_once('/').map_or("", |(id, _)| if id == "gemini" { "google" } else { id });
    let is_missing = settings.providers.iter().all(|provider| provider.id != id);
    if let Some(prefix) = preset(id).filter(|_| is_missing) {
        let message = format!("{id} is not configured: the operator must set {prefix}_API_KEY");
        return GatewayError::new(ErrorKind::NotConfigured, message).at("model");
    }
    let providers = settings.providers.iter().map(|provider| format!("{}/…", provider.id));
    let aliases = settings.aliases.iter().map(|alias| alias.name.clone());
    let known: Vec<String> = match &models.names {
        None => aliases.chain(providers).collect(),
        // A limited caller learns no other names.
        Some(names) => names.iter().filter(|it| **it != model).map(|it| excerpt(it)).collect(),
    };
    let mut message = format!("There is no model '{}'", excerpt(model));
    if !known.is_empty() {
        message.push_str(&format!("; there are {}", known.join(", ")));
    }
    GatewayError::new(ErrorKind::UnknownModel, message).at("model")
}
