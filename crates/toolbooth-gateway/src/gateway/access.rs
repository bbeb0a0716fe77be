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
    Aliases(&'s GatewaySettings),
    /// Those that the caller's API key or rule names.
    Listed(&'s [String]),
}

impl<'s> Models<'s> {
    pub(super) fn of(
        principal: &Principal,
        settings: &'s Settings,
        gateway: &'s GatewaySettings,
    ) -> Self {
        match settings.limits_of(principal).and_then(|own| own.models.as_deref()) {
            Some(names) => Self::Listed(names),
            None if gateway.is_limited_to_aliases => Self::Aliases(gateway),
            None => Self::All,
        }
    }

    /// Their names, if not all may be used.
    pub(super) fn names(self) -> Option<Vec<&'s str>> {
        match self {
            Self::All => None,
            Self::Aliases(gateway) => {
                Some(gateway.aliases.iter().map(|alias| alias.name.as_str()).collect())
            }
            Self::Listed(names) => Some(names.iter().map(String::as_str).collect()),
        }
    }

    /// Checks that the caller may use a model, as requests name it.
    pub(super) fn check(self, model: &str) -> Result<()> {
        let Some(names) = self.names() else { return Ok(()) };
        // An invalid entry of MODELS is an error of its own.
        let is_invalid = match self {
            Self::Aliases(gateway) => gateway.rejected_aliases.iter().any(|it| it == model),
            Self::All | Self::Listed(_) => false,
        };
        if is_invalid || names.contains(&model) {
            return Ok(());
        }
        let model = excerpt(model);
        let message = match names.is_empty() {
            true => {
                format!("The caller may not use the model \"{model}\"; no model is available to it")
            }
            false => format!(
                "The caller may not use the model \"{model}\"; it may use {}",
                names.join(", ")
            ),
        };
        Err(GatewayError::new(ErrorKind::ModelNotAllowed, message).at("model"))
    }
}
