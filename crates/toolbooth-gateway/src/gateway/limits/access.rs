//! Which models a caller may use.

use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::relay::plan::Plan;
use crate::gateway::settings::{GatewaySettings, ModelAlias};
use toolbooth::principal::Principal;
use toolbooth::schema::text::excerpt;
use toolbooth::settings::Settings;

#[derive(Debug)]
pub(in crate::gateway) struct Models<'s> {
    /// Their names, as requests write them; `None`: every model of every provider.
    pub(in crate::gateway) names: Option<Vec<&'s str>>,
    /// Names that are an error of their own: the invalid entries of `MODELS`.
    invalid: &'s [String],
    aliases: &'s [ModelAlias],
}

impl<'s> Models<'s> {
    /// Those that the caller's API key or rule names, or else those in `MODELS`.
    pub(in crate::gateway) fn of(
        principal: &Principal,
        settings: &'s Settings,
        gateway: &'s GatewaySettings,
    ) -> Self {
        let listed = settings.limits_of(principal).and_then(|own| own.models.as_deref());
        let names = match listed {
            Some(names) => Some(names.iter().map(String::as_str).collect()),
            None => gateway
                .is_limited_to_aliases
                .then(|| gateway.aliases.iter().map(|alias| alias.name.as_str()).collect()),
        };
        let invalid = if listed.is_some() { &[] } else { gateway.rejected_aliases.as_slice() };
        Self { names, invalid, aliases: &gateway.aliases }
    }

    /// Checks that the caller may use a model, as requests name it.
    pub(in crate::gateway) fn check(&self, model: &str) -> Result<()> {
        let Some(names) = &self.names else { return Ok(()) };
        if names.contains(&model) || self.invalid.iter().any(|it| it == model) {
            return Ok(());
        }
        Err(Self::refusal(names, model).at("model"))
    }

    /// Checks that the caller may use a model that a provider is asked to use beside that of the request, as the provider names it.
    pub(in crate::gateway) fn check_further(
        &self,
        model: &str,
        plan: &Plan<'_>,
        path: &str,
    ) -> Result<()> {
        let Some(names) = &self.names else { return Ok(()) };
        let may_use = |provider: &str| {
            names.iter().any(|name| match self.aliases.iter().find(|alias| alias.name == *name) {
                Some(alias) => {
                    alias.targets.iter().any(|it| it.provider == provider && it.model == model)
                }
                None => name.split_once('/') == Some((provider, model)),
            })
        };
        if plan.targets.iter().all(|target| may_use(&target.provider.id)) {
            return Ok(());
        }
        Err(Self::refusal(names, model).at(path))
    }

    fn refusal(names: &[&str], model: &str) -> GatewayError {
        let rest = match names.is_empty() {
            true => "no model is available to it".to_owned(),
            false => format!("it may use {}", names.join(", ")),
        };
        let message = format!("The caller may not use the model \"{}\"; {rest}", excerpt(model));
        GatewayError::new(ErrorKind::ModelNotAllowed, message)
    }
}
