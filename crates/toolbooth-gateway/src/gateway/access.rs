//! Which models a caller may use.

use super::{ErrorKind, GatewayError, GatewaySettings, Result};
use toolbooth::principal::Principal;
use toolbooth::schema::text::excerpt;
use toolbooth::settings::Settings;

#[derive(Debug, Clone, Copy)]
pub(super) enum Models<'s> {
    /// Every model of every provider.
    All,
    /// The names in `MODELS`.
    OfSettings(&'s GatewaySettings),
    /// Those that the caller's API key names.
    OfKey(&'s [String]),
}

impl<'s> Models<'s> {
    pub(super) fn of(
        principal: &Principal,
        settings: &'s Settings,
        gateway: &'s GatewaySettings,
    ) -> Self {
        match settings.key_of(principal).and_then(|key| key.limits.models.as_deref()) {
            Some(names) => Self::OfKey(names),
            None if gateway.only_aliases => Self::OfSettings(gateway),
            None => Self::All,
        }
    }

    /// Their names, if not all may be used.
    pub(super) fn names(self) -> Option<Vec<&'s str>> {
        match self {
            Self::All => None,
            Self::OfSettings(gateway) => {
                Some(gateway.aliases.iter().map(|alias| alias.name.as_str()).collect())
            }
            Self::OfKey(names) => Some(names.iter().map(String::as_str).collect()),
        }
    }

    /// Checks that the caller may use a model, as requests name it.
    pub(super) fn check(self, model: &str) -> Result<()> {
        let Some(names) = self.names() else { return Ok(()) };
        // An invalid entry of MODELS is an error of its own.
        let is_invalid = match self {
            Self::OfSettings(gateway) => gateway.rejected_aliases.iter().any(|it| it == model),
            Self::All | Self::OfKey(_) => false,
        };
        if is_invalid || names.contains(&model) {
            return Ok(());
        }
        let message = format!(
            "The caller may not use the model \"{}\"; it may use {}",
            excerpt(model),
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        );
        Err(GatewayError::new(ErrorKind::ModelNotAllowed, message).at("model"))
    }
}
