//! The token endpoint (RFC 6749, 3.2): exchanges codes and refresh tokens for access tokens.

use std::borrow::Cow;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::Serialize;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::client::hash;
use super::client_auth::Credentials;
use super::connection::is_same_day;
use super::error::{OAuthError, OAuthErrorCode};
use super::event::{RevocationReason, SignInEvent};
use super::form::Parameters;
use super::grant::{ClientGrant, RefreshClaims};
use super::token_status::TokenUse;
use super::{OFFLINE, OWN_PAGE, SignIn};
use crate::oauth::random_text;
use crate::redirect_uri;
use toolbooth::host::Host;
use toolbooth::http::{Headers, Response};
use toolbooth::seal::InvalidToken;

/// The response (RFC 6749, 5.1).
#[derive(Serialize)]
struct TokenResponse<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<&'a str>,
    scope: &'a str,
    /// For the server's own pages. Other clients do not get it.
    #[serde(flatten)]
    person: Option<PersonInfo>,
}

/// What the server's own pages know about a person.
#[derive(Serialize)]
struct PersonInfo {
    /// What the person is called.
    name: String,
    /// The scopes that the person can give to a client, as in `scope`.
    available_scope: String,
}

fn invalid_grant(description: impl Into<Cow<'static, str>>) -> OAuthError {
    OAuthError::new(OAuthErrorCode::InvalidGrant, description)
}

impl SignIn {
    /// `POST /oauth/token`.
    pub(crate) async fn token(
        &self,
        body: &[u8],
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Response {
        self.try_token(body, headers, host).await.unwrap_or_else(|error| {
            let (code, reason) = (error.code.name(), &*error.description);
            self.log(SignInEvent::TokensRejected { error: code, reason }, host);
            error.response_to(headers)
        })
    }

    async fn try_token(
        &self,
        body: &[u8],
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Response, OAuthError> {
        let form = Parameters::parse(body)?;
        if form.all("resource").any(|resource| !self.is_resource(resource)) {
            let description = "`resource` is not this server";
            return Err(OAuthError::new(OAuthErrorCode::InvalidTarget, description));
        }
        match form.require("grant_type")? {
            "authorization_code" => self.exchange_code(&form, headers, host).await,
            "refresh_token" => self.refresh(&form, headers, host).await,
            _ => Err(OAuthError::new(
                OAuthErrorCode::UnsupportedGrantType,
                "`grant_type` must be authorization_code or refresh_token",
            )),
        }
    }

    /// The claims of a code or a refresh token that was issued to this client.
    ///
    /// # Errors
    /// The client has not authenticated, the code or token is not valid, or it was issued to another client.
    async fn issued_to<C>(
        &self,
        credentials: &Credentials,
        (name, claims): (&'static str, Result<C, InvalidToken>),
        grant_of: fn(&C) -> &ClientGrant,
        host: &dyn Host,
    ) -> Result<C, OAuthError> {
        let document = claims.as_ref().ok().and_then(|claims| grant_of(claims).document.as_ref());
        self.authenticate_client(credentials, document, host).await?;
        let claims =
            claims.map_err(|_| invalid_grant(format!("the {name} is not valid or has expired")))?;
        if grant_of(&claims).client != hash(&credentials.client_id) {
            return Err(invalid_grant(format!("the {name} was issued to another client")));
        }
        Ok(claims)
    }

    async fn exchange_code(
        &self,
        form: &Parameters,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Response, OAuthError> {
        let credentials = Credentials::read(form, headers)?;
        let code = self.open_code(form.require("code")?, host.now_ms());
        let code = self.issued_to(&credentials, ("code", code), |it| &it.grant, host).await?;
        // OAuth 2.1 has no such parameter here, because PKCE binds the code; OAuth 2.0 requires it.
        if form.get("redirect_uri").is_some_and(|uri| uri != code.redirect_uri) {
            return Err(invalid_grant("`redirect_uri` is not that of the authorization request"));
        }
        let verifier = form.require("code_verifier")?;
        let challenge = Base64UrlUnpadded::encode_string(&Sha256::digest(verifier));
        let is_same: bool = challenge.as_bytes().ct_eq(code.code_challenge.as_bytes()).into();
        if !is_same {
            return Err(invalid_grant("`code_verifier` does not match"));
        }
        let grant = code.grant;
        // The second client, which even has the verifier, may be a thief or the victim of one.
        if !self
            .token_status
            .spend_code(&grant.id, host)
            .await
            .map_err(|_| OAuthError::try_again())?
        {
            self.end(&grant, RevocationReason::CodeReused, host).await;
            return Err(invalid_grant("the code was used before"));
        }
        let destination = redirect_uri::destination(&code.redirect_uri);
        self.record(&grant, (&destination, None), code.refreshes, host).await;
        let refresh = code.refreshes.then(|| (0, destination, host.now_ms()));
        let is_own_page =
            code.redirect_uri.strip_prefix(&*self.settings.public_url) == Some(OWN_PAGE);
        self.issue(grant, refresh, None, is_own_page, host)
    }

    async fn refresh(
        &self,
        form: &Parameters,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Response, OAuthError> {
        let credentials = Credentials::read(form, headers)?;
        let token = self.open_refresh_token(form.require("refresh_token")?, host.now_ms());
        let token = ("refresh token", token);
        let token = self.issued_to(&credentials, token, |it| &it.grant, host).await?;
        let grant = &token.grant;
        let revoked = self.token_status.is_revoked(&grant.id, host).await;
        if revoked.map_err(|_| OAuthError::try_again())? {
            return Err(invalid_grant("the grant is revoked"));
        }
        let requested = match form.get("scope") {
            None => None,
            Some(scope) => {
                let scopes: Vec<String> =
                    scope.split(' ').filter(|it| !it.is_empty()).map(str::to_owned).collect();
                // RFC 6749, 6: it must not include any scope that was not granted. Such an `offline_access` is ignored:
                // the response has a refresh token anyway.
                if scopes.iter().any(|it| it != OFFLINE && !grant.scopes.contains(it)) {
                    let description = "`scope` exceeds what was granted";
                    return Err(OAuthError::new(OAuthErrorCode::InvalidScope, description));
                }
                Some(scopes)
            }
        };
        if self.permitted(&grant.identity).is_none() {
            return Err(invalid_grant("the person may no longer sign in"));
        }
        match self.token_status.use_refresh_token(&token, host).await {
            Err(_) => Err(OAuthError::try_again()),
            Ok(TokenUse::Reused) => {
                self.end(grant, RevocationReason::RefreshTokenReused, host).await;
                Err(invalid_grant("the refresh token was replaced"))
            }
            Ok(TokenUse::Allowed) => {
                let RefreshClaims { grant, generation, destination, recorded_ms, .. } = token;
                let now_ms = host.now_ms();
                let is_recorded = is_same_day(recorded_ms, now_ms);
                if !is_recorded {
                    self.record(&grant, (&destination, Some(now_ms)), true, host).await;
                }
                let recorded_ms = if is_recorded { recorded_ms } else { now_ms };
                let next = (generation.saturating_add(1), destination, recorded_ms);
                self.issue(grant, Some(next), requested, false, host)
            }
        }
    }

    /// Ends a grant whose code or token was copied. If the store fails, the next use of a copy ends it.
    async fn end(&self, grant: &ClientGrant, reason: RevocationReason, host: &dyn Host) {
        if self.token_status.revoke(&grant.id, host).await.is_ok() {
            let subject = grant.identity.subject();
            self.forget_connection(&subject, &grant.id, host).await;
            let caller = self.caller(&subject);
            self.log(SignInEvent::ClientRevoked { reason, caller }, host);
        }
    }

    /// Issues tokens: a refresh token, if any, of this generation, destination and time of the record; and an access
    /// token with the `requested` scopes of the grant. A page of the server itself also learns about the person.
    fn issue(
        &self,
        grant: ClientGrant,
        refresh: Option<(u32, String, u64)>,
        requested: Option<Vec<String>>,
        is_own_page: bool,
        host: &dyn Host,
    ) -> Result<Response, OAuthError> {
        let denied = || invalid_grant("the person may no longer sign in");
        let permitted = self.permitted(&grant.identity).ok_or_else(denied)?;
        let person = is_own_page.then(|| PersonInfo {
            name: grant.identity.label().to_owned(),
            available_scope: self.available(&permitted).join(" "),
        });
        let asks_offline = |scopes: &Vec<String>| scopes.iter().any(|scope| scope == OFFLINE);
        let is_offline = grant.offline && requested.as_ref().is_none_or(asks_offline);
        let scopes = requested.as_deref().unwrap_or(&grant.scopes);
        let scopes = self.granted(scopes, &permitted);
        let no_randomness = |_| OAuthError::try_again();
        let access_token = self.access_token(&grant, &scopes, host).map_err(no_randomness)?;
        let grant_type = match refresh {
            None | Some((0, ..)) => "authorization_code",
            Some(_) => "refresh_token",
        };
        let caller = self.caller(&grant.identity.subject());
        let refresh_token = match refresh {
            None => None,
            Some((generation, destination, recorded_ms)) => {
                let id = random_text(host).map_err(no_randomness)?;
                let claims = RefreshClaims { grant, generation, id, destination, recorded_ms };
                Some(self.refresh_token(&claims, host.now_ms()))
            }
        };
        self.log(SignInEvent::TokensIssued { grant_type, caller }, host);
        let offline = is_offline.then_some(OFFLINE);
        let scope: Vec<&str> = scopes.iter().map(String::as_str).chain(offline).collect();
        Ok(Response::json_of(
            200,
            &TokenResponse {
                access_token: &access_token,
                token_type: "Bearer",
                expires_in: self.settings.token_seconds,
                refresh_token: refresh_token.as_deref(),
                scope: &scope.join(" "),
                person,
            },
        ))
    }
}
