//! An application confirms that its user, who is the challenge's, uses the browser that opened it.

use crate::purpose;
use serde::{Deserialize, Serialize};

use super::visitor::{OTHER_USER, UserVerification};
use crate::challenge::challenges::Challenges;
use crate::challenge::constants::START;
use crate::challenge::owner::Owner;
use toolbooth::host::Host;
use toolbooth::http::Response;
use toolbooth::json;
use toolbooth::principal::Principal;

/// How long the browser has to come back with the value, in milliseconds.
const VALUE_LIFE_MS: u64 = 2 * 60 * 1000;

/// What an application sends.
#[derive(Deserialize)]
struct ConfirmationRequest {
    /// The parameter with which the browser came.
    state: String,
    /// The user who is signed in to the application with that browser.
    user_id: String,
}

/// Where the application redirects the browser.
#[derive(Serialize)]
struct ConfirmationResponse<'a> {
    status: &'a str,
    url: String,
}

/// Why nothing is confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConfirmationError {
    /// The body is not that of a confirmation.
    Malformed,
    /// `state` was not issued for this application, or has expired.
    InvalidState,
}

impl ConfirmationError {
    /// The message for the application.
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::Malformed => "the body must be an object with state and user_id",
            Self::InvalidState => "state was not issued for this application, or has expired",
        }
    }
}

impl Challenges {
    /// `POST /auth/confirm`: returns where to redirect a browser whose user the application knows.
    ///
    /// # Errors
    /// See [`ConfirmationError`].
    pub(crate) fn confirm(
        &self,
        body: &[u8],
        principal: &Principal,
        host: &dyn Host,
    ) -> Result<Response, ConfirmationError> {
        let ConfirmationRequest { state, user_id } =
            json::read(body).ok_or(ConfirmationError::Malformed)?;
        let (token, browser) = state.split_once('.').ok_or(ConfirmationError::InvalidState)?;
        let pending = self.pending(token, host);
        let (claims, _) = pending.map_err(|_| ConfirmationError::InvalidState)?;
        let owner = Owner::of(principal, Some(&claims.owner.user));
        if !owner.is_ok_and(|owner| owner == claims.owner) {
            return Err(ConfirmationError::InvalidState);
        }
        let is_user = user_id == claims.owner.user;
        let value = match is_user {
            false => OTHER_USER.to_owned(),
            true => {
                let (challenge, browser) = (claims.id, browser.to_owned());
                let verification = UserVerification { challenge, browser };
                let expires_ms = host.now_ms().saturating_add(VALUE_LIFE_MS);
                self.state_keys.seal(purpose::USER_VERIFICATION, &verification, expires_ms)
            }
        };
        let url = format!("{}{START}?c={token}&v={value}", self.settings.public_url);
        let status = if is_user { "verified" } else { "other_user" };
        Ok(Response::json_of(200, &ConfirmationResponse { status, url }))
    }
}
