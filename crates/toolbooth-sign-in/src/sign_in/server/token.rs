//! The token endpoint (RFC 6749, 3.2), which exchanges codes and refresh tokens for access tokens, and revocation
//! (RFC 7009).

use serde::Serialize;
use subtle::ConstantTimeEq;

use super::access_token::{Holder, RevokedClaims};
use super::assertion_grant::JWT_BEARER;
use super::client_credentials::CLIENT_CREDENTIALS;
use super::client_grant::{ClientGrant, CodeClaims, REFRESH_LIFE_MS, RefreshClaims};
use super::connection::day_start;
use super::error::{
    INVALID_GRANT, INVALID_REQUEST, INVALID_SCOPE, SERVER_ERROR, UNSUPPORTED_GRANT_TYPE,
};
use super::proof::{OfferedKey, with_nonce};
use super::token_exchange::{ACCESS_TOKEN_TYPE, TOKEN_EXCHANGE};
use super::{AuthorizationServer, Credentials, OAuthError, Parameters, hash};
use crate::oauth::{OFFLINE_ACCESS, ProviderError, code_challenge, random_text};
use crate::sign_in::event::{RevocationReason, SignInEvent};
use crate::sign_in::login::Identity;
use crate::{purpose, redirect_uri};
use toolbooth::auth::MAX_CREDENTIAL;
use toolbooth::call::Rejection;
use toolbooth::host::{Host, boxed};
use toolbooth::http::{Answer, Response};
use toolbooth::route::RouteRequest;

/// The grant types of RFC 6749.
pub(super) const CODE: &str = "authorization_code";
pub(super) const REFRESH: &str = "refresh_token";
/// All that the endpoint knows.
const GRANT_TYPES: [&str; 5] = [CODE, REFRESH, JWT_BEARER, CLIENT_CREDENTIALS, TOKEN_EXCHANGE];

/// The response (RFC 6749, 5.1).
#[derive(Serialize)]
struct TokenResponse<'a> {
    access_token: &'a str,
    token_type: &'static str,
    expires_in: u64,
    /// For an exchanged token (RFC 8693, 2.2.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    issued_token_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<&'a str>,
    scope: &'a str,
    /// The person's name, for the server's own pages. Other clients get neither this nor what follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    /// The scopes that the person can give to a client, as in `scope`.
    #[serde(skip_serializing_if = "Option::is_none")]
    available_scope: Option<String>,
}

/// What is issued to a client.
pub(super) struct Issue {
    pub(super) client_id: String,
    pub(super) grant: ClientGrant,
    pub(super) grant_type: &'static str,
    /// Its refresh token, if it gets one.
    pub(super) next: Option<NextToken>,
    /// The scopes that it asks for in a refresh, of those of the grant.
    pub(super) requested: Option<Vec<String>>,
    /// Whether it is a page of the server itself, which also learns about the person.
    pub(super) is_own_page: bool,
    /// The thumbprint of the key that the access token is bound to.
    pub(super) key: Option<String>,
    /// Who acts for the person, if it is not the client that they have connected.
    pub(super) delegation: Option<Delegation>,
}

impl Issue {
    /// An access token alone, bound to `key` if there is one.
    pub(super) fn new(
        grant_type: &'static str,
        client_id: String,
        grant: ClientGrant,
        key: Option<String>,
    ) -> Self {
        Self {
            client_id,
            grant,
            grant_type,
            next: None,
            requested: None,
            is_own_page: false,
            key,
            delegation: None,
        }
    }
}

/// A client that acts for a person.
pub(super) struct Delegation {
    pub(super) actor: Identity,
    /// The second at which its token ends at the latest.
    pub(super) last: u64,
}

/// A refresh token, as in [`RefreshClaims`].
pub(super) struct NextToken {
    generation: u32,
    destination: String,
    recorded_ms: u64,
    key: Option<String>,
}

/// `POST /oauth/token`.
pub(crate) async fn token<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let server = AuthorizationServer::of(request)?;
    let issued = boxed(server.exchange(request)).await.unwrap_or_else(|error| {
        let form = Parameters::parse(&request.body).ok();
        let credentials =
            form.as_ref().and_then(|form| Credentials::read(form, request.headers).ok());
        let client = credentials.map(|it| server.client_ref(&hash(&it.client_id)));
        let asked = form.as_ref().and_then(|form| form.get("grant_type"));
        let grant_type = GRANT_TYPES.into_iter().find(|known| asked == Some(known));
        let (code, reason) = (error.code.name, &*error.description);
        let event = SignInEvent::TokensRejected { grant_type, client, error: code, reason };
        server.login.log(event, request.host);
        error.response_to(request.headers)
    });
    Ok(with_nonce(issued, request).into())
}

impl AuthorizationServer {
    async fn exchange(&self, request: &RouteRequest<'_>) -> Result<Response, OAuthError> {
        let form = Parameters::parse(&request.body)?;
        self.check_resource(&form)?;
        // First: a client that learns the nonce sends the same request again.
        let key = boxed(OfferedKey::of(request)).await?;
        match form.require("grant_type")? {
            CODE => self.exchange_code(&form, key, request).await,
            REFRESH => self.refresh(&form, key, request).await,
            JWT_BEARER if !self.companies.is_empty() => {
                boxed(self.exchange_assertion(&form, key, request)).await
            }
            TOKEN_EXCHANGE if self.has_actors() => {
                boxed(self.exchange_token(&form, key, request)).await
            }
            CLIENT_CREDENTIALS if self.has_machines() => {
                boxed(self.client_credentials(&form, key, request)).await
            }
            _ => Err(UNSUPPORTED_GRANT_TYPE
                .error("`grant_type` must be one of the metadata's grant_types_supported")),
        }
    }

    /// Authenticates the client that sends a code or a refresh token in a parameter. `grant` is that of the token, if it is
    /// valid. Returns the client's id, and whether it has authenticated.
    async fn authenticate_holder(
        &self,
        (parameter, name): (&'static str, &str),
        grant: Option<&ClientGrant>,
        form: &Parameters,
        request: &RouteRequest<'_>,
    ) -> Result<(String, bool), OAuthError> {
        let credentials = Credentials::read(form, request.headers)?;
        form.require(parameter)?;
        let document = grant.and_then(|grant| grant.document.as_ref());
        let is_authenticated =
            self.authenticate_client(&credentials, document, request.host).await?;
        if grant.is_some_and(|grant| grant.client != hash(&credentials.client_id)) {
            return Err(INVALID_GRANT.error(format!("the {name} was issued to another client")));
        }
        Ok((credentials.client_id, is_authenticated))
    }

    async fn exchange_code(
        &self,
        form: &Parameters,
        key: OfferedKey<'_>,
        request: &RouteRequest<'_>,
    ) -> Result<Response, OAuthError> {
        let host = request.host;
        let code = form.get("code").unwrap_or_default();
        let code = self.login.keys.open(purpose::AUTHORIZATION_CODE, code, host.now_ms());
        let grant = code.as_ref().ok().map(|code: &CodeClaims| &code.grant);
        let (client_id, is_authenticated) =
            self.authenticate_holder(("code", "code"), grant, form, request).await?;
        let code = code.map_err(|_| INVALID_GRANT.error("the code is not valid or has expired"))?;
        // OAuth 2.1 has no such parameter here, because PKCE binds the code; OAuth 2.0 requires it.
        if form.get("redirect_uri").is_some_and(|uri| uri != code.redirect_uri) {
            return Err(
                INVALID_GRANT.error("`redirect_uri` is not that of the authorization request")
            );
        }
        let verifier = form.require("code_verifier")?;
        if !is_verifier(verifier) {
            let expected = "`code_verifier` must have 43 to 128 letters, digits or -._~";
            return Err(INVALID_REQUEST.error(expected));
        }
        let challenge = code_challenge(verifier);
        let is_same: bool = challenge.as_bytes().ct_eq(code.code_challenge.as_bytes()).into();
        if !is_same {
            return Err(INVALID_GRANT.error("`code_verifier` does not match"));
        }
        key.check(code.key.as_deref())?;
        let key = key.accept().await?;
        let mut grant = code.grant;
        // Asked before the code is spent: a second use of the code, which ends the grant, comes later, and must end this one.
        let was_ended = self.is_revoked(&grant.id, host).await?;
        // The second client, which even has the verifier, may be a thief or the victim of one.
        if !self.spend_code(&code.id, host).await? {
            self.end(&grant, RevocationReason::CodeReused, host).await;
            return Err(INVALID_GRANT.error("the code was used before"));
        }
        // The person has disconnected the client, and then answered the same page once more.
        if was_ended {
            grant.id = random_text(host)?;
        }
        let destination = redirect_uri::destination(&code.redirect_uri);
        self.record(&grant, (&destination, None), code.refreshes, host).await;
        let recorded_ms = day_start(host.now_ms());
        // The credentials of a client protect its refresh tokens, and its key may change (RFC 9449, 5).
        let next_key = key.clone().filter(|_| !is_authenticated);
        let next = NextToken { generation: 0, destination, recorded_ms, key: next_key };
        let next = code.refreshes.then_some(next);
        let is_own_page = self.is_own_page(&code.redirect_uri);
        let issue = Issue { next, is_own_page, ..Issue::new(CODE, client_id, grant, key) };
        self.issue(issue, host)
    }

    async fn refresh(
        &self,
        form: &Parameters,
        key: OfferedKey<'_>,
        request: &RouteRequest<'_>,
    ) -> Result<Response, OAuthError> {
        let host = request.host;
        let token = form.get("refresh_token").unwrap_or_default();
        let token = self.login.keys.open(purpose::REFRESH_TOKEN, token, host.now_ms());
        let grant = token.as_ref().ok().map(|token: &RefreshClaims| &token.grant);
        let names = ("refresh_token", "refresh token");
        let (client_id, is_authenticated) =
            self.authenticate_holder(names, grant, form, request).await?;
        let mut token = token
            .map_err(|_| INVALID_GRANT.error("the refresh token is not valid or has expired"))?;
        key.check(token.key.as_deref())?;
        let grant = &token.grant;
        if self.is_revoked(&grant.id, host).await? {
            return Err(INVALID_GRANT.error("the grant is revoked"));
        }
        let requested = self.refreshed_scopes(form.get("scope"), grant)?;
        let again = || INVALID_GRANT.error("the person must sign in again");
        if host.now_ms() >= self.ends_ms(grant) {
            return Err(again());
        }
        let confirmed = self.login.confirm(grant.identity.clone(), grant.granted_ms, host).await;
        token.grant.identity = confirmed.map_err(|error| match error {
            ProviderError::Rejected => again(),
            ProviderError::Unreachable => OAuthError::try_again(),
            // The connection continues once the provider, or the operator, has mended it.
            ProviderError::Unusable(_) => SERVER_ERROR.error(
                "what the person's identity provider says about them cannot be used; the server's log has the details",
            ),
        })?;
        let grant = &token.grant;
        if self.login.permitted(&grant.identity).is_none() {
            return Err(INVALID_GRANT.error("the person may no longer sign in"));
        }
        let key = key.accept().await?;
        if !self.use_refresh_token(&token, host).await? {
            self.end(grant, RevocationReason::RefreshTokenReused, host).await;
            return Err(INVALID_GRANT.error("the refresh token was replaced"));
        }
        let RefreshClaims { grant, generation, destination, recorded_ms, .. } = token;
        let now_ms = host.now_ms();
        let today_ms = day_start(now_ms);
        if day_start(recorded_ms) != today_ms {
            self.record(&grant, (&destination, Some(now_ms)), true, host).await;
        }
        let generation = generation.saturating_add(1);
        let next_key = key.clone().filter(|_| !is_authenticated);
        let next =
            Some(NextToken { generation, destination, recorded_ms: today_ms, key: next_key });
        let issue = Issue { next, requested, ..Issue::new(REFRESH, client_id, grant, key) };
        self.issue(issue, host)
    }

    /// The scopes of a grant that a refresh asks for; all of them if it names none. Others are left out, as in an authorization
    /// request: a client that repeats the list of that must not lose its connection (RFC 6749, 6, would allow an error).
    fn refreshed_scopes(
        &self,
        scope: Option<&str>,
        grant: &ClientGrant,
    ) -> Result<Option<Vec<String>>, OAuthError> {
        let Some(scope) = scope else { return Ok(None) };
        let requested: Vec<&str> = scope.split(' ').collect();
        let is_granted =
            |it: &&&str| **it == OFFLINE_ACCESS || grant.scopes.iter().any(|scope| scope == **it);
        let granted: Vec<String> =
            requested.iter().filter(is_granted).map(|it| (*it).to_owned()).collect();
        if granted.is_empty() {
            self.check_known(Some(&requested))?;
            if !grant.scopes.is_empty() {
                return Err(INVALID_SCOPE.error("`scope` names nothing that was granted"));
            }
        }
        Ok(Some(granted))
    }

    /// Ends a grant whose code or token was copied. If the store fails, the next use of a copy ends it.
    async fn end(&self, grant: &ClientGrant, reason: RevocationReason, host: &dyn Host) {
        let client = Some(&*grant.client);
        let _ = self.end_grant(&grant.identity.subject(), (&grant.id, client), reason, host).await;
    }

    /// Issues tokens.
    pub(super) fn issue(&self, issue: Issue, host: &dyn Host) -> Result<Response, OAuthError> {
        let Issue { client_id, grant, grant_type, next, requested, is_own_page, key, delegation } =
            issue;
        let (actor, last) = delegation.map_or((None, None), |it| (Some(it.actor), Some(it.last)));
        let denied = || INVALID_GRANT.error("the holder may no longer call");
        let permitted = self.login.permitted(&grant.identity).ok_or_else(denied)?;
        let available_scope = is_own_page.then(|| self.login.available(&permitted).join(" "));
        let asks_offline =
            |scopes: &Vec<String>| scopes.iter().any(|scope| scope == OFFLINE_ACCESS);
        let is_offline = grant.offline && requested.as_ref().is_none_or(asks_offline);
        let scopes = requested.as_deref().unwrap_or(&grant.scopes);
        let scopes = self.login.granted(scopes, &permitted);
        let now = host.now_ms() / 1000;
        let seconds = last.map_or(self.settings.token_seconds, |last: u64| {
            last.saturating_sub(now).min(self.settings.token_seconds)
        });
        let holder = Holder { identity: grant.identity.clone(), actor };
        let access_token = self.access_token(
            (&client_id, key.as_deref()),
            (&grant, &holder),
            (&scopes, seconds),
            host,
        )?;
        // No call could send it.
        if access_token.len() > MAX_CREDENTIAL {
            return Err(INVALID_GRANT.error(
                "the access token would be too long: the person is in too many groups, or it has too many scopes",
            ));
        }
        let actor = holder.actor.as_ref();
        let caller = self.login.caller(&grant.identity.subject());
        let team = self.login.team_name(&grant.identity);
        let client = self.client_ref(&grant.client);
        let refresh_token = match next {
            None => None,
            Some(NextToken { generation, destination, recorded_ms, key }) => {
                let ends_ms = self.ends_ms(&grant);
                let claims = RefreshClaims { grant, generation, destination, recorded_ms, key };
                // By days, so that a refresh that is repeated returns the same token.
                let expires_ms =
                    day_start(host.now_ms()).saturating_add(REFRESH_LIFE_MS).min(ends_ms);
                Some(self.login.keys.seal(purpose::REFRESH_TOKEN, &claims, expires_ms))
            }
        };
        let issued_token_type = actor.map(|_| ACCESS_TOKEN_TYPE);
        let actor = actor.map(|it| self.login.caller(&it.subject()));
        let scope = &*scopes.join(" ");
        let event = SignInEvent::TokensIssued { grant_type, caller, actor, client, team, scope };
        self.login.log(event, host);
        let offline = is_offline.then_some(OFFLINE_ACCESS);
        let scope: Vec<&str> = scopes.iter().map(String::as_str).chain(offline).collect();
        Ok(Response::json_of(
            200,
            &TokenResponse {
                access_token: &access_token,
                token_type: if key.is_some() { "DPoP" } else { "Bearer" },
                expires_in: seconds,
                issued_token_type,
                refresh_token: refresh_token.as_deref(),
                scope: &scope.join(" "),
                name: is_own_page.then(|| holder.identity.label()),
                available_scope,
            },
        ))
    }
}

/// Whether a text is a `code_verifier` (RFC 7636, 4.1).
fn is_verifier(text: &str) -> bool {
    let is_unreserved = |it: u8| it.is_ascii_alphanumeric() || b"-._~".contains(&it);
    (43..=128).contains(&text.len()) && text.bytes().all(is_unreserved)
}

/// `POST /oauth/revoke`: ends the grant of a refresh token or an access token.
pub(crate) async fn revoke<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let server = AuthorizationServer::of(request)?;
    let response = match server.revoke(request).await {
        Ok(()) => Response::empty(200).with("cache-control", "no-store"),
        Err(error) => {
            let (code, reason) = (error.code.name, &*error.description);
            let event = SignInEvent::RevocationRejected { error: code, reason };
            server.login.log(event, request.host);
            error.response_to(request.headers)
        }
    };
    Ok(response.into())
}

impl AuthorizationServer {
    async fn revoke(&self, request: &RouteRequest<'_>) -> Result<(), OAuthError> {
        let RouteRequest { ref body, headers, host, .. } = *request;
        let form = Parameters::parse(body)?;
        let credentials = Credentials::read(&form, headers)?;
        let token = form.require("token")?;
        let claims = match self.login.keys.open(purpose::REFRESH_TOKEN, token, host.now_ms()) {
            Ok(RefreshClaims { grant, .. }) => Some(RevokedClaims {
                sub: grant.identity.subject(),
                client_id: grant.client,
                gid: grant.id,
                exp: None,
                auth: grant.document,
                act: None,
            }),
            Err(_) => self.own_claims(token),
        };
        let document = claims.as_ref().and_then(|claims| claims.auth.as_ref());
        self.authenticate_client(&credentials, document, host).await?;
        // An invalid token, or one of another client, is no error (RFC 7009, 2.2), and nothing is revoked.
        let is_own = |client: &String| {
            *client == credentials.client_id || *client == hash(&credentials.client_id)
        };
        let own = claims.filter(|claims| is_own(&claims.client_id));
        // The grant of an exchanged token is that of a different client. It ends with the token that it was exchanged for. An expired
        // token is worth nothing: whoever finds it must not end the connection.
        let own = own.filter(|it| !it.is_delegated() && !it.is_expired(host.now_ms()));
        if let Some(RevokedClaims { sub, gid, .. }) = own {
            let grant = (&*gid, Some(&*hash(&credentials.client_id)));
            self.end_grant(&sub, grant, RevocationReason::Requested, host).await?;
        }
        Ok(())
    }
}
