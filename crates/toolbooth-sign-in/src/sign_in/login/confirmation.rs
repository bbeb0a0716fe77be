//! Asks a provider again about a person, once what it last said is a day old.
//!
//! Organizations, addresses and logins change. The store keeps what is necessary to ask: the tokens of the sign-in.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::answer::AccountError;
use super::browser::SESSION_SECONDS;
use super::provider_account::Account;
use super::{Identity, Login};
use crate::oauth::{OAuthClient, ProviderError, STALE_MS, TokenResponse, store};
use crate::purpose;
use crate::sign_in::marks::Mark;
use toolbooth::host::Host;
use toolbooth::secret::Secret;

/// How old a provider's statement about a person may be when a token is refreshed, in milliseconds: a day.
const FRESH_MS: u64 = 86_400_000;
/// How long the one in a new grant counts: it may be as old as a session.
const NEW_MS: u64 = FRESH_MS - SESSION_SECONDS * 1000;
/// Longer than an unused connection lasts.
const LIFE_MS: u64 = 92 * 86_400_000;

/// When a provider first rejected the refresh token of a sign-in, in milliseconds since the Unix epoch.
const REJECTED: Mark = Mark { prefix: "rejected", life: Duration::from_secs(3600) };

/// A sign-in at a provider, in the store.
#[derive(Serialize, Deserialize)]
struct StoredSignIn {
    #[serde(rename = "p")]
    account: Account,
    #[serde(rename = "a")]
    access: String,
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    refresh: Option<String>,
    /// When the provider described the account, in milliseconds since the Unix epoch.
    #[serde(rename = "t")]
    confirmed_ms: u64,
}

impl Login {
    /// A person as the provider describes them, at most a day ago if rules depend on that. `granted_ms` is when they
    /// connected the client, in milliseconds since the Unix epoch.
    ///
    /// [`ProviderError::Rejected`]: the person must sign in again, because the provider no longer accepts the tokens of the
    /// sign-in, or the store does not have them. [`ProviderError::Unreachable`]: the provider or the store does not respond.
    /// [`ProviderError::Unusable`]: its answer is of no use.
    pub(crate) async fn confirm(
        &self,
        identity: Identity,
        granted_ms: u64,
        host: &dyn Host,
    ) -> Result<Identity, ProviderError> {
        let Identity::Provider(account) = &identity else { return Ok(identity) };
        // The store may not have a new sign-in yet.
        let is_new = host.now_ms().saturating_sub(granted_ms) < NEW_MS;
        if is_new || !self.depends_on_facts(account) {
            return Ok(identity);
        }
        let found = self.stored_sign_in(&account.subject(), host).await;
        let found = found.map_err(|_| ProviderError::Unreachable)?;
        let stored = found.ok_or(ProviderError::Rejected)?;
        if host.now_ms().saturating_sub(stored.confirmed_ms) < FRESH_MS {
            return Ok(Identity::Provider(stored.account));
        }
        let client = self.provider(&account.provider).map_err(|_| ProviderError::Rejected)?;
        let confirmed = self.ask_again(client, stored, host).await?;
        let account = confirmed.account.clone();
        self.store_sign_in(&confirmed, host).await;
        Ok(Identity::Provider(account))
    }

    /// Gets new tokens of a sign-in. Returns the new ID token, if the provider has issued one.
    async fn refresh_sign_in(
        &self,
        client: &OAuthClient,
        stored: &mut StoredSignIn,
        host: &dyn Host,
    ) -> Result<Option<Secret>, ProviderError> {
        let refresh = stored.refresh.clone().ok_or(ProviderError::Rejected)?;
        let tokens = match client.refresh(&Secret::new(refresh), host).await {
            Err(ProviderError::Rejected) => {
                return Err(self.rejected(&stored.account.subject(), host).await);
            }
            tokens => tokens?,
        };
        tokens.access.expose().clone_into(&mut stored.access);
        if let Some(refresh) = tokens.refresh {
            stored.refresh = Some(refresh.expose().to_owned());
        }
        Ok(tokens.id_token)
    }

    /// A provider has rejected the refresh token of a sign-in. A different client of this person may have used it at the same
    /// moment: then the store has the new one in a minute.
    async fn rejected(&self, subject: &str, host: &dyn Host) -> ProviderError {
        let now_ms = host.now_ms();
        let Ok(values) = self.marks.values(&REJECTED, subject, host).await else {
            return ProviderError::Unreachable;
        };
        match values.iter().filter_map(|value| value.parse::<u64>().ok()).min() {
            Some(first_ms) if now_ms.saturating_sub(first_ms) >= STALE_MS => {
                return ProviderError::Rejected;
            }
            Some(_) => {}
            // If the store fails, the next attempt is the first one again.
            None => {
                let _ = self.marks.set(&REJECTED, subject, &now_ms.to_string(), host).await;
            }
        }
        ProviderError::Unreachable
    }

    /// Keeps what is necessary to ask the provider again. A failure is logged: the person must sign in again tomorrow.
    pub(super) async fn remember(&self, account: &Account, tokens: TokenResponse, host: &dyn Host) {
        if !self.depends_on_facts(account) {
            return;
        }
        let refresh = match tokens.refresh {
            Some(refresh) => Some(refresh.expose().to_owned()),
            // Some providers return it only once.
            None => {
                let earlier = self.stored_sign_in(&account.subject(), host).await;
                earlier.ok().flatten().and_then(|stored| stored.refresh)
            }
        };
        let stored = StoredSignIn {
            account: account.clone(),
            access: tokens.access.expose().to_owned(),
            refresh,
            confirmed_ms: host.now_ms(),
        };
        self.store_sign_in(&stored, host).await;
    }

    async fn ask_again(
        &self,
        client: &OAuthClient,
        mut stored: StoredSignIn,
        host: &dyn Host,
    ) -> Result<StoredSignIn, ProviderError> {
        let server = client.server(host).await?;
        let url = server.userinfo.as_deref().ok_or(ProviderError::Rejected)?;
        let access = Secret::new(stored.access.clone());
        let mut account = self.account(client, url, (&access, None), host).await;
        if is_incomplete(client, &stored.account, &account) {
            match self.refresh_sign_in(client, &mut stored, host).await {
                Ok(id_token) => {
                    let access = Secret::new(stored.access.clone());
                    account = self.account(client, url, (&access, id_token.as_ref()), host).await;
                    if account.is_err() {
                        // The provider may accept the old refresh token only once.
                        self.store_sign_in(&stored, host).await;
                    }
                }
                // Another rule may admit the person without what only an ID token says.
                Err(error) => {
                    let is_admitted = |account: &Account| {
                        self.permitted(&Identity::Provider(account.clone())).is_some()
                    };
                    if !account.as_ref().is_ok_and(is_admitted) {
                        return Err(error);
                    }
                }
            }
        }
        let account = account.map_err(|error| match error {
            AccountError::Unreachable(_) => ProviderError::Unreachable,
            AccountError::Unusable(_) => {
                ProviderError::Unusable("what it says about the account cannot be used")
            }
            // The page of a new sign-in says so.
            AccountError::Rejected(_)
            | AccountError::TooManyGroups
            | AccountError::ClaimMissing(_) => ProviderError::Rejected,
        })?;
        // A provider must not make one person another.
        if account.id != stored.account.id {
            return Err(ProviderError::Rejected);
        }
        Ok(StoredSignIn { account, confirmed_ms: host.now_ms(), ..stored })
    }

    async fn stored_sign_in(
        &self,
        subject: &str,
        host: &dyn Host,
    ) -> store::Result<Option<StoredSignIn>> {
        for hash in self.keys.hashes(purpose::STORED_SIGN_IN, &[subject]).iter() {
            let text = store::get(&key(hash), host).await?;
            let opened =
                text.map(|text| self.keys.open(purpose::STORED_SIGN_IN, &text, host.now_ms()));
            if let Some(Ok(stored)) = opened {
                return Ok(Some(stored));
            }
        }
        Ok(None)
    }

    async fn store_sign_in(&self, stored: &StoredSignIn, host: &dyn Host) {
        let expires_ms = host.now_ms().saturating_add(LIFE_MS);
        let text = self.keys.seal(purpose::STORED_SIGN_IN, stored, expires_ms);
        let hash = self.keys.hash(purpose::STORED_SIGN_IN, &[&stored.account.subject()]);
        let _ = store::put(&key(&hash), &text, Duration::from_millis(LIFE_MS), host).await;
    }
}

/// Whether only new tokens of the provider say more about a person, who had this account: the access token has expired, or the
/// address was in the ID token.
fn is_incomplete(
    client: &OAuthClient,
    known: &Account,
    account: &Result<Account, AccountError>,
) -> bool {
    match account {
        Ok(account) => {
            !client.provider.is_github() && known.email.is_some() && account.email.is_none()
        }
        Err(AccountError::Rejected(_)) => true,
        Err(AccountError::ClaimMissing(_)) => !client.provider.is_github(),
        Err(_) => false,
    }
}

fn key(hash: &str) -> String {
    format!("sign-in:{hash}")
}
