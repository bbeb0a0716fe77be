//! The authorization code flow through a provider, for every purpose: a browser leaves with `state` and a cookie, and
//! comes back with a code (RFC 6749, 4.1; RFC 7636; RFC 9207).

use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use form_urlencoded::Serializer;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::client::OAuthClient;
use super::cookie;
use super::discovery::ProviderEndpoints;
use super::page::redirect;
use super::provider::Parameters;
use super::token::{ProviderError, TokenResponse};
use crate::{paths::CALLBACK, purpose};
use toolbooth::host::{Host, NoRandomness, Random};
use toolbooth::http::{Headers, Response};
use toolbooth::seal::{InvalidToken, StateKeys};
use toolbooth::secret::Secret;
use toolbooth::url::query_parameter;

/// How long a person may stay at a provider, in milliseconds.
pub(crate) const FLOW_LIFE_MS: u64 = 15 * 60 * 1000;

/// The cookie of a browser whose flow is complete.
const DONE: &str = "done";

/// Sixteen random bytes in 22 characters.
pub(crate) fn random_text(random: &(impl Random + ?Sized)) -> Result<String, NoRandomness> {
    random.random_16().map(|bytes| Base64UrlUnpadded::encode_string(&bytes))
}

/// The `code_challenge` of a `code_verifier` by the method `S256` (RFC 7636, 4.2).
pub(crate) fn code_challenge(verifier: &str) -> String {
    Base64UrlUnpadded::encode_string(&Sha256::digest(verifier))
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FlowPurpose {
    /// A person answers a challenge. Only this kind of state had no purpose at first.
    #[default]
    #[serde(rename = "c")]
    Challenge,
    #[serde(rename = "s")]
    SignIn,
}

/// The claims of `state`. They reveal nothing about the person.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct FlowState {
    #[serde(rename = "p", default)]
    pub(crate) purpose: FlowPurpose,
    /// The id of the flow, which names its cookie.
    #[serde(rename = "i")]
    id: String,
    /// A hash of the browser's CSRF token.
    #[serde(rename = "b")]
    browser: String,
    /// Whether it has expired, in a callback. It has a purpose even then: its page says so.
    #[serde(skip)]
    is_expired: bool,
}

/// Why a flow does not continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlowError {
    /// Part of the address was not issued by this server, was changed, or comes from a different authorization server.
    Forged,
    Expired,
    /// This is not the browser that was sent to the provider.
    OtherBrowser,
    Denied,
    Rejected,
    CodeRejected,
    /// The provider does not respond.
    Unreachable,
    /// It has responded, and the response is of no use, for this reason.
    Unusable(&'static str),
    /// The random source failed, or the store.
    Internal,
}

pub(crate) struct NewFlow<'a> {
    pub(crate) purpose: FlowPurpose,
    /// A random id, which is used for one flow or for repetitions of it.
    pub(crate) id: &'a str,
    /// A sealed token that the callback gets back, from the browser's cookie.
    pub(crate) token: &'a str,
    pub(crate) scopes: &'a [String],
    /// What the provider is asked for besides.
    pub(crate) parameters: Parameters,
}

/// A flow whose browser has come back.
pub(crate) struct PendingFlow {
    pub(crate) id: String,
    /// The token that the flow began with.
    pub(crate) token: String,
    /// The browser's CSRF token, as the state has it: a hash.
    browser: String,
    /// The secret that the token endpoint gets with the code (RFC 7636, 4.1).
    verifier: Secret,
}

/// Sends browsers to providers, and receives them.
#[derive(Debug, Clone)]
pub(crate) struct AuthorizationFlow {
    keys: StateKeys,
    public_url: String,
}

impl AuthorizationFlow {
    pub(crate) fn new(keys: StateKeys, public_url: String) -> Self {
        Self { keys, public_url }
    }

    pub(crate) async fn begin(
        &self,
        client: &OAuthClient,
        NewFlow { purpose, id, token, scopes, parameters }: NewFlow<'_>,
        host: &dyn Host,
    ) -> Result<Response, FlowError> {
        let server = client.server(host).await?;
        // Binds the response to the browser (RFC 6749, 10.12), which keeps it in a cookie; `state` has its hash.
        let csrf_token = random_text(host)?;
        let parts = [id, &csrf_token];
        let browser = self.keys.hash(purpose::BROWSER, &parts);
        let claims = FlowState { purpose, id: id.to_owned(), browser, is_expired: false };
        let expires_ms = host.now_ms().saturating_add(FLOW_LIFE_MS);
        let verifier = self.keys.hash(purpose::VERIFIER, &parts);
        let scope = scopes.join(" ");
        // Some providers have no scopes.
        let scope = (!scope.is_empty()).then_some(("scope", &*scope));
        let own = [
            ("response_type", "code"),
            ("client_id", &client.provider.client_id),
            ("redirect_uri", &self.redirect_uri(client)),
            ("state", &self.keys.seal(purpose::STATE, &claims, expires_ms)),
            ("code_challenge", &code_challenge(&verifier)),
            ("code_challenge_method", "S256"),
        ];
        let mut query = Serializer::new(String::new());
        let query = query.extend_pairs(own).extend_pairs(scope).extend_pairs(parameters).finish();
        let separator = if server.authorize.contains('?') { '&' } else { '?' };
        let location = format!("{}{separator}{query}", server.authorize);
        let cookie = cookie::set(id, &format!("{csrf_token}.{token}"));
        Ok(redirect(location).with("set-cookie", cookie))
    }

    pub(crate) fn state(&self, query: &str, host: &dyn Host) -> Result<FlowState, InvalidToken> {
        let state = query_parameter(query, "state").unwrap_or_default();
        let (claims, expires_ms) = self.keys.read(purpose::STATE, &state)?;
        Ok(FlowState { is_expired: host.now_ms() >= expires_ms, ..claims })
    }

    /// Verifies that a browser is the one that was sent to the provider. `None` if its flow is complete already.
    pub(crate) fn resume(
        &self,
        state: FlowState,
        expected: FlowPurpose,
        headers: &dyn Headers,
    ) -> Result<Option<PendingFlow>, FlowError> {
        let FlowState { purpose, id, browser, is_expired } = state;
        if purpose != expected {
            return Err(FlowError::Forged);
        }
        if is_expired {
            return Err(FlowError::Expired);
        }
        let cookie = cookie::read(headers, &id).ok_or(FlowError::OtherBrowser)?;
        if cookie == DONE {
            return Ok(None);
        }
        let (csrf_token, token) = cookie.split_once('.').ok_or(FlowError::OtherBrowser)?;
        let parts = [&*id, csrf_token];
        // The verifier is derived from the key that was current when the provider got its challenge.
        let key = self.keys.verify_hash(purpose::BROWSER, &parts, &browser);
        let key = key.ok_or(FlowError::OtherBrowser)?;
        let verifier = Secret::new(key.hash(purpose::VERIFIER, &parts));
        Ok(Some(PendingFlow { token: token.to_owned(), browser, verifier, id }))
    }

    pub(crate) async fn exchange(
        &self,
        client: &OAuthClient,
        flow: &PendingFlow,
        query: &str,
        host: &dyn Host,
    ) -> Result<(ProviderEndpoints, TokenResponse), FlowError> {
        let server = client.server(host).await?;
        // The issuer is checked first: a different server must not end the flow either (RFC 9207, 2.4).
        if !server.is_issuer(query_parameter(query, "iss").as_deref()) {
            return Err(FlowError::Forged);
        }
        match query_parameter(query, "error").as_deref() {
            None => {}
            Some("access_denied") => return Err(FlowError::Denied),
            Some("server_error" | "temporarily_unavailable") => return Err(FlowError::Unreachable),
            Some(_) => return Err(FlowError::Rejected),
        }
        let code = query_parameter(query, "code").ok_or(FlowError::Forged)?;
        // If a callback comes twice at the same time, a provider that sees its code twice may revoke what it has issued (RFC
        // 6749, 4.1.2). A flow has one code: a browser could make up any number. Without the ledger, the provider decides.
        let key = self.keys.hash(purpose::PROVIDER_CODE, &[&flow.id, &flow.browser]);
        let life = Duration::from_millis(FLOW_LIFE_MS);
        if host.claim(&format!("callback:{key}"), life).await == Ok(false) {
            return Err(FlowError::CodeRejected);
        }
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", &*code),
            ("redirect_uri", &self.redirect_uri(client)),
            ("code_verifier", flow.verifier.expose()),
        ];
        let tokens = client.request_tokens(&server, &fields, host).await?;
        Ok((server, tokens))
    }

    fn redirect_uri(&self, client: &OAuthClient) -> String {
        format!("{}{CALLBACK}/{}", self.public_url, client.provider.id)
    }
}

impl PendingFlow {
    /// The response at the end of the flow, after which its callback may come again.
    pub(crate) fn done(&self, response: Response) -> Response {
        response.with("set-cookie", cookie::set(&self.id, DONE))
    }

    /// The response at the end of the flow, after which the cookie is not needed any more.
    pub(crate) fn end(&self, response: Response) -> Response {
        response.with("set-cookie", cookie::set_for(&self.id, "", 0))
    }
}

impl From<InvalidToken> for FlowError {
    fn from(error: InvalidToken) -> Self {
        match error {
            InvalidToken::Forged => Self::Forged,
            InvalidToken::Expired => Self::Expired,
        }
    }
}

impl From<ProviderError> for FlowError {
    fn from(error: ProviderError) -> Self {
        match error {
            ProviderError::Rejected => Self::CodeRejected,
            ProviderError::Unreachable => Self::Unreachable,
            ProviderError::Unusable(reason) => Self::Unusable(reason),
        }
    }
}

impl From<NoRandomness> for FlowError {
    fn from(_: NoRandomness) -> Self {
        Self::Internal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_7636_appendix_b() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(code_challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
