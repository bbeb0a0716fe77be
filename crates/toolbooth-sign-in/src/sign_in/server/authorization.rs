//! Authorization requests (RFC 6749, 4.1.1), and where their responses go.

use serde::{Deserialize, Serialize};

use super::client::{Client, DocumentAuth};
use super::client_grant::{CODE_LIFE_MS, ClientGrant, CodeClaims};
use super::error::{
    ACCESS_DENIED, INVALID_REQUEST, INVALID_SCOPE, OAuthError, UNSUPPORTED_RESPONSE_TYPE,
};
use super::{AuthorizationServer, NAMED_SCOPES, Parameters};
use crate::oauth::{OFFLINE_ACCESS, random_text};
use crate::purpose;
use crate::sign_in::login::{Identity, Problem};
use toolbooth::host::Host;
use toolbooth::principal::Scopes;
use toolbooth::url::query_value;

/// Asks for no permissions. Omitting `scope` would ask for all of them.
const PROFILE: &str = "profile";
/// The longest `state`, in bytes: it travels in a cookie.
const MAX_STATE: usize = 1_024;

/// What a client asks for, once all of it has been checked. The names are short, because it travels in a cookie.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ApprovedRequest {
    /// The random id of the consent page that shows it.
    #[serde(rename = "i")]
    id: String,
    /// The hash of the client's id.
    #[serde(rename = "c")]
    pub(crate) client: String,
    #[serde(rename = "n")]
    client_name: String,
    #[serde(rename = "u")]
    pub(crate) redirect_uri: String,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(rename = "h")]
    code_challenge: String,
    #[serde(rename = "s")]
    pub(crate) scopes: Vec<String>,
    /// Whether it has requested `offline_access`.
    #[serde(rename = "o", default, skip_serializing_if = "std::ops::Not::not")]
    offline: bool,
    /// Whether the client gets a refresh token.
    #[serde(rename = "f")]
    pub(crate) refreshes: bool,
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    document: Option<DocumentAuth>,
    /// The thumbprint of the key that the code is bound to (RFC 9449, 10).
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

/// Whether a text is a `code_challenge` of the method `S256` (RFC 7636, 4.2): 43 characters of base64url.
fn is_code_challenge(text: &str) -> bool {
    let is_base64url = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
    text.len() == 43 && text.bytes().all(is_base64url)
}

impl AuthorizationServer {
    /// Checks everything about a request except its client and its redirect URI.
    pub(crate) fn approve(
        &self,
        form: &Parameters,
        client: &Client,
        redirect_uri: &str,
        host: &dyn Host,
    ) -> Result<ApprovedRequest, OAuthError> {
        let invalid = |description: &'static str| INVALID_REQUEST.error(description);
        let state = form.get("state");
        if state.is_some_and(|state| state.len() > MAX_STATE) {
            return Err(invalid("`state` is too long"));
        }
        if form.require("response_type")? != "code" {
            return Err(UNSUPPORTED_RESPONSE_TYPE.error("`response_type` must be code"));
        }
        if form.get("response_mode").is_some_and(|mode| mode != "query") {
            return Err(invalid("`response_mode` must be query"));
        }
        let code_challenge = form.require("code_challenge")?;
        if form.get("code_challenge_method") != Some("S256") {
            return Err(invalid("`code_challenge_method` must be S256"));
        }
        if !is_code_challenge(code_challenge) {
            return Err(invalid("`code_challenge` must be a SHA-256 hash in base64url"));
        }
        // It has the form of a thumbprint too.
        let key = form.get("dpop_jkt");
        if key.is_some_and(|key| !is_code_challenge(key)) {
            return Err(invalid("`dpop_jkt` must be a SHA-256 hash in base64url"));
        }
        self.check_resource(form)?;
        let requested: Option<Vec<&str>> =
            form.get("scope").map(|scope| scope.split(' ').collect());
        let is_requested = |scope: &str| match &requested {
            Some(requested) => requested.contains(&scope),
            None => !NAMED_SCOPES.contains(&scope),
        };
        self.check_known(requested.as_deref())?;
        let offline = requested.is_some() && is_requested(OFFLINE_ACCESS);
        let scopes = self.login.scopes.iter().filter(|scope| is_requested(scope));
        Ok(ApprovedRequest {
            id: random_text(host)?,
            client: client.hash.clone(),
            client_name: client.name.clone(),
            redirect_uri: redirect_uri.to_owned(),
            state: state.map(str::to_owned),
            code_challenge: code_challenge.to_owned(),
            scopes: scopes.map(|&scope| scope.to_owned()).collect(),
            offline,
            refreshes: client.refreshes || offline,
            document: client.document.clone(),
            key: key.map(str::to_owned),
        })
    }

    /// Checks that a request for scopes names at least one of this server. Others are left out.
    pub(super) fn check_known(&self, requested: Option<&[&str]>) -> Result<(), OAuthError> {
        let is_known = |scope: &&str| {
            [OFFLINE_ACCESS, PROFILE].contains(scope) || self.login.scopes.contains(scope)
        };
        match requested.is_none_or(|requested| requested.iter().any(is_known)) {
            true => Ok(()),
            false => Err(INVALID_SCOPE.error("`scope` names no scope of this server")),
        }
    }

    /// Where the browser takes a code of this person to the client (RFC 6749, 4.1.2).
    pub(crate) fn approved(
        &self,
        request: &ApprovedRequest,
        (identity, permitted): (&Identity, &Scopes),
        host: &dyn Host,
    ) -> Result<String, Problem> {
        let now_ms = host.now_ms();
        let code = CodeClaims {
            id: random_text(host)?,
            grant: ClientGrant {
                id: self.consented_grant(&request.id, &identity.subject()),
                client: request.client.clone(),
                client_name: request.client_name.clone(),
                identity: identity.clone(),
                scopes: self.login.granted(&request.scopes, permitted),
                offline: request.offline,
                document: request.document.clone(),
                granted_ms: now_ms,
            },
            redirect_uri: request.redirect_uri.clone(),
            code_challenge: request.code_challenge.clone(),
            refreshes: request.refreshes,
            key: request.key.clone(),
        };
        let expires_ms = now_ms.saturating_add(CODE_LIFE_MS);
        let code = self.login.keys.seal(purpose::AUTHORIZATION_CODE, &code, expires_ms);
        let state = request.state.as_deref().unwrap_or_default();
        Ok(self.response_url(&request.redirect_uri, &[("code", &code), ("state", state)]))
    }

    /// Where the browser goes because the person declined.
    pub(crate) fn denied(&self, request: &ApprovedRequest) -> String {
        let state = request.state.as_deref().unwrap_or_default();
        let parameters = [("error", ACCESS_DENIED.name), ("state", state)];
        self.response_url(&request.redirect_uri, &parameters)
    }

    /// Where the client learns why its request is rejected.
    pub(crate) fn rejected(
        &self,
        redirect_uri: &str,
        state: Option<&str>,
        error: &OAuthError,
    ) -> String {
        let parameters = [
            ("error", error.code.name),
            ("error_description", &error.description),
            ("state", state.unwrap_or_default()),
        ];
        self.response_url(redirect_uri, &parameters)
    }

    /// A redirect URI with the parameters of a response, and `iss` (RFC 9207). Empty parameters are omitted.
    fn response_url(&self, redirect_uri: &str, parameters: &[(&str, &str)]) -> String {
        let mut url = redirect_uri.to_owned();
        let own = [("iss", &*self.login.settings.public_url)];
        for (name, value) in parameters.iter().chain(&own).filter(|(_, it)| !it.is_empty()) {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&format!("{name}={}", query_value(value)));
        }
        url
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_challenges() {
        let good = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
        for (text, expected) in [
            (good, true),
            (&good[1..], false),
            ("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM", false),
            ("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM=", false),
            ("", false),
        ] {
            assert_eq!(is_code_challenge(text), expected, "{text}");
        }
    }
}
