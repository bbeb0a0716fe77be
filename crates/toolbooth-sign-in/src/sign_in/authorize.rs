//! The authorization endpoint (RFC 6749, 3.1): shows the consent page, and continues after its form.

use crate::purpose;
use serde::{Deserialize, Serialize};

use super::after_sign_in::AfterSignIn;
use super::client::{Client, DocumentAuth};
use super::error::{OAuthError, OAuthErrorCode};
use super::event::SignInEvent;
use super::form::Parameters;
use super::grant::{ClientGrant, CodeClaims};
use super::identity::Identity;
use super::page::{self, SignInOption};
use super::problem::Problem;
use super::{AUTHORIZE, CONSENT_LIFE_MS, OFFLINE, SignIn};
use crate::oauth::page::redirect;
use crate::oauth::random_text;
use crate::redirect_uri::{self, RedirectKind};
use toolbooth::call::VisibleTools;
use toolbooth::host::Host;
use toolbooth::http::{Headers, Response};
use toolbooth::principal::GATEWAY_SCOPE;
use toolbooth::url::query_value;

/// The longest `state`, in bytes: it travels in a cookie.
const MAX_STATE: usize = 1_024;

/// What a client asks for, once everything about it has been checked. The names are short, because it travels in a
/// cookie.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ApprovedRequest {
    /// The hash of the client's id.
    #[serde(rename = "c")]
    client: String,
    #[serde(rename = "n")]
    client_name: String,
    #[serde(rename = "u")]
    redirect_uri: String,
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(rename = "h")]
    code_challenge: String,
    #[serde(rename = "s")]
    scopes: Vec<String>,
    /// Whether it has requested `offline_access`.
    #[serde(rename = "o", default, skip_serializing_if = "std::ops::Not::not")]
    offline: bool,
    /// Whether the client gets a refresh token.
    #[serde(rename = "f")]
    refreshes: bool,
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    document: Option<DocumentAuth>,
}

/// The content of the consent page's form.
#[derive(Serialize, Deserialize)]
struct ConsentRequest {
    #[serde(rename = "r")]
    next: AfterSignIn,
    /// The hash of the browser's token.
    #[serde(rename = "b")]
    browser: String,
    /// The subjects of the people that the page offers to continue as.
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    offered: Vec<String>,
}

impl ConsentRequest {
    /// The request of a page that shows these options.
    fn new(next: AfterSignIn, browser: String, options: &[SignInOption]) -> Self {
        let offered = options.iter().filter_map(|option| match option {
            SignInOption::Access(user) | SignInOption::Session(user) => Some(user.subject()),
            SignInOption::Provider { .. } | SignInOption::Development | SignInOption::ApiKey => {
                None
            }
        });
        Self { next, browser, offered: offered.collect() }
    }

    /// The person, unless a different one has signed in since the page was shown.
    fn expect(&self, identity: Option<Identity>) -> Result<Identity, Problem> {
        let offered = identity.filter(|identity| self.offered.contains(&identity.subject()));
        offered.ok_or(Problem::Expired)
    }
}

/// Whether a text is a `code_challenge` of the method `S256` (RFC 7636, 4.2): 43 characters of base64url.
fn is_challenge(text: &str) -> bool {
    let is_base64url = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
    text.len() == 43 && text.bytes().all(is_base64url)
}

impl SignIn {
    /// `GET /oauth/authorize`: asks for consent.
    pub(crate) async fn authorize(
        &self,
        (query, headers): (&str, &dyn Headers),
        tools: VisibleTools<'_>,
        host: &dyn Host,
    ) -> Response {
        let page = self.consent_page((query, headers), tools, host).await;
        self.finish(page, host)
    }

    async fn consent_page(
        &self,
        (query, headers): (&str, &dyn Headers),
        tools: VisibleTools<'_>,
        host: &dyn Host,
    ) -> Result<Response, Problem> {
        let form = Parameters::parse(query.as_bytes()).map_err(|_| Problem::Invalid)?;
        let client = self.client(form.get("client_id").ok_or(Problem::Invalid)?, host).await?;
        let redirect_uri = match (form.get("redirect_uri"), client.redirect_uris.as_slice()) {
            (Some(uri), _) => uri,
            (None, [only]) => only,
            (None, _) => return Err(Problem::InvalidRedirect),
        };
        if !self.may_redirect(&client, redirect_uri) {
            return Err(Problem::InvalidRedirect);
        }
        let request = match self.approve(&form, &client, redirect_uri) {
            Ok(request) => request,
            Err(error) => return Ok(self.reject(redirect_uri, form.get("state"), &error)),
        };
        let mut options = self.sign_in_options(headers, host).await;
        // The button of a session of the development user says the same.
        if options.contains(&SignInOption::Session(Identity::Development)) {
            options.retain(|option| *option != SignInOption::Development);
        }
        let (scopes, offline) = (request.scopes.clone(), request.refreshes);
        let next = AfterSignIn::Client(request);
        let (token, cookie) = self.consent_form(next, &options, headers, host)?;
        let page = page::consent(&page::ConsentPage {
            form: page::Form {
                action: AUTHORIZE,
                token: &token,
                purpose: page::FormPurpose::Allow,
            },
            client: &client,
            redirect_uri,
            scopes: &scopes,
            offline,
            options: &options,
            known: &self.candidates(options.iter().filter(|option| option.is_known())),
            everyone: &self.candidates(&options),
            tools,
            is_local: self.settings.is_local,
        });
        Ok(page.with("set-cookie", cookie))
    }

    /// The token of the forms on a page that shows these options, and the `Set-Cookie` header of their browser.
    pub(super) fn consent_form(
        &self,
        next: AfterSignIn,
        options: &[SignInOption],
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<(String, String), Problem> {
        let expires_ms = host.now_ms().saturating_add(CONSENT_LIFE_MS);
        let consent = |browser| ConsentRequest::new(next, browser, options);
        self.bound_form((purpose::CONSENT_REQUEST, expires_ms), consent, headers, host)
            .map_err(|_| Problem::Internal)
    }

    /// Checks everything about a request except its client and its redirect URI.
    fn approve(
        &self,
        form: &Parameters,
        client: &Client,
        redirect_uri: &str,
    ) -> Result<ApprovedRequest, OAuthError> {
        let invalid = |description: &'static str| {
            OAuthError::new(OAuthErrorCode::InvalidRequest, description)
        };
        let state = form.get("state");
        if state.is_some_and(|state| state.len() > MAX_STATE) {
            return Err(invalid("`state` is too long"));
        }
        if form.require("response_type")? != "code" {
            let description = "`response_type` must be code";
            return Err(OAuthError::new(OAuthErrorCode::UnsupportedResponseType, description));
        }
        if form.get("response_mode").is_some_and(|mode| mode != "query") {
            return Err(invalid("`response_mode` must be query"));
        }
        let code_challenge = form.require("code_challenge")?;
        if form.get("code_challenge_method") != Some("S256") {
            return Err(invalid("`code_challenge_method` must be S256"));
        }
        if !is_challenge(code_challenge) {
            return Err(invalid("`code_challenge` must be a SHA-256 hash in base64url"));
        }
        if form.all("resource").any(|resource| !self.is_resource(resource)) {
            let description = "`resource` is not this server";
            return Err(OAuthError::new(OAuthErrorCode::InvalidTarget, description));
        }
        let requested: Option<Vec<&str>> =
            form.get("scope").map(|scope| scope.split(' ').collect());
        let is_requested = |scope: &str| match &requested {
            Some(requested) => requested.contains(&scope),
            // What costs money must be asked for.
            None => scope != GATEWAY_SCOPE,
        };
        let offline = requested.is_some() && is_requested(OFFLINE);
        let scopes = self.scopes.iter().filter(|scope| is_requested(scope));
        Ok(ApprovedRequest {
            client: client.hash.clone(),
            client_name: client.name.clone(),
            redirect_uri: redirect_uri.to_owned(),
            state: state.map(str::to_owned),
            code_challenge: code_challenge.to_owned(),
            scopes: scopes.map(|&scope| scope.to_owned()).collect(),
            offline,
            refreshes: client.refreshes || offline,
            document: client.document.clone(),
        })
    }

    /// The ways in which a person can continue, the most convenient first.
    pub(super) async fn sign_in_options(
        &self,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Vec<SignInOption> {
        let mut options = Vec::new();
        if let Some(user) = self.access_user(headers, host).await {
            options.push(SignInOption::Access(user));
        }
        if let Some(user) = self.session(headers, host).await {
            options.push(SignInOption::Session(user));
        }
        options.extend(self.providers.iter().map(|client| SignInOption::Provider {
            id: client.provider.id.clone(),
            title: client.provider.title.clone(),
        }));
        if self.developer(headers).is_some() {
            options.push(SignInOption::Development);
        }
        if !self.settings.api_keys.is_empty() {
            options.push(SignInOption::ApiKey);
        }
        options
    }

    /// `POST /oauth/authorize`: the form of the consent page.
    pub(crate) async fn consent(
        &self,
        body: &[u8],
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Response {
        let response = self.decide(body, headers, host).await;
        self.finish(response, host)
    }

    async fn decide(
        &self,
        body: &[u8],
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Response, Problem> {
        // Only our own page may send this form, because only that has shown what it grants.
        if !self.is_own_form(headers) {
            return Err(Problem::CrossSite);
        }
        let form = Parameters::parse(body).map_err(|_| Problem::Invalid)?;
        let token = form.get("request").unwrap_or_default();
        let consent: ConsentRequest =
            self.keys.open(purpose::CONSENT_REQUEST, token, host.now_ms())?;
        if !self.is_same_browser(headers, &consent.browser) {
            return Err(Problem::OtherBrowser);
        }
        let identity = match form.get("with") {
            Some("denial") => return Ok(self.cancel(&consent.next)),
            Some("access") => consent.expect(self.access_user(headers, host).await)?,
            Some("session") => consent.expect(self.session(headers, host).await)?,
            Some("developer") => self.developer(headers).ok_or(Problem::Invalid)?,
            Some("key") => {
                let key = form.get("api_key").unwrap_or_default();
                self.key_holder(key.trim()).ok_or(Problem::WrongKey)?
            }
            Some("provider") => {
                let provider = form.get("provider").unwrap_or_default();
                return self.begin(provider, consent.next, host).await;
            }
            _ => return Err(Problem::Invalid),
        };
        self.finish_sign_in(&consent.next, &identity, host)
    }

    /// Sends the browser back to the client with a code (RFC 6749, 4.1.2).
    pub(super) fn approved(
        &self,
        request: &ApprovedRequest,
        identity: &Identity,
        host: &dyn Host,
    ) -> Result<Response, Problem> {
        let permitted = self.permitted(identity).ok_or_else(|| identity.not_allowed())?;
        let now_ms = host.now_ms();
        let code = CodeClaims {
            grant: ClientGrant {
                id: random_text(host).map_err(|_| Problem::Internal)?,
                client: request.client.clone(),
                client_name: request.client_name.clone(),
                identity: identity.clone(),
                scopes: self.granted(&request.scopes, &permitted),
                offline: request.offline,
                document: request.document.clone(),
                granted_ms: now_ms,
            },
            redirect_uri: request.redirect_uri.clone(),
            code_challenge: request.code_challenge.clone(),
            refreshes: request.refreshes,
        };
        let code = self.code(&code, now_ms);
        let caller = self.caller(&identity.subject());
        self.log(SignInEvent::SignedIn { method: identity.method(), caller }, host);
        let response = self.response_url(
            &request.redirect_uri,
            &[("code", &code), ("state", request.state.as_deref().unwrap_or_default())],
        );
        Ok(redirect(response).with("set-cookie", self.session_cookie(identity, host)?))
    }

    /// Sends the browser back to the client because the person declined.
    pub(super) fn denied(&self, request: &ApprovedRequest) -> Response {
        let state = request.state.as_deref().unwrap_or_default();
        let code = OAuthErrorCode::AccessDenied.name();
        redirect(self.response_url(&request.redirect_uri, &[("error", code), ("state", state)]))
    }

    /// Reports to the client why its request is rejected. No person has agreed to anything yet, so a page shows where the
    /// browser would go: anyone can register a client, and this server must not redirect to any address
    /// (RFC 9700, 4.11.2). A program on this machine gets the response at once.
    fn reject(&self, redirect_uri: &str, state: Option<&str>, error: &OAuthError) -> Response {
        let url = self.response_url(
            redirect_uri,
            &[
                ("error", error.code.name()),
                ("error_description", &error.description),
                ("state", state.unwrap_or_default()),
            ],
        );
        match redirect_uri::kind(redirect_uri) {
            RedirectKind::Loopback => redirect(url),
            RedirectKind::Web | RedirectKind::PrivateScheme | RedirectKind::Forbidden => {
                page::rejected(&error.description, &url, &redirect_uri::destination(redirect_uri))
            }
        }
    }

    /// A redirect URI with the parameters of a response, and `iss` (RFC 9207). Empty parameters are omitted.
    fn response_url(&self, redirect_uri: &str, parameters: &[(&str, &str)]) -> String {
        let mut url = redirect_uri.to_owned();
        let own = [("iss", &*self.settings.public_url)];
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
            assert_eq!(is_challenge(text), expected, "{text}");
        }
    }
}
