//! Tokens for clients that act for a person whose token they have (RFC 8693): entries of `API_KEYS` with `may_act`.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::access_token::{Actor, Holder};
use super::client_grant::ClientGrant;
use super::error::{INVALID_REQUEST, INVALID_SCOPE, INVALID_TARGET, UNAUTHORIZED_CLIENT};
use super::proof::OfferedKey;
use super::token::{Delegation, Issue};
use super::{AuthorizationServer, Credentials, OAuthError, Parameters, hash};
use crate::purpose;
use crate::sign_in::login::Identity;
use toolbooth::http::Response;
use toolbooth::principal::Scopes;
use toolbooth::route::RouteRequest;
use toolbooth::settings::ApiKeySettings;

/// The grant type (RFC 8693, 2.1).
pub(super) const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
/// The type of the tokens that are exchanged and issued (RFC 8693, 3).
pub(super) const ACCESS_TOKEN_TYPE: &str = "urn:ietf:params:oauth:token-type:access_token";

/// The claims of a token that is exchanged.
#[derive(Deserialize)]
struct SubjectClaims {
    exp: u64,
    scope: String,
    gid: String,
    holder: String,
    /// There if the token is bound to a key.
    #[serde(default)]
    cnf: Option<IgnoredAny>,
    #[serde(default)]
    act: Option<Actor>,
}

/// The token, or the policy, does not permit the exchange (RFC 8693, 2.2.2).
fn unacceptable(problem: &'static str) -> OAuthError {
    INVALID_REQUEST.error(problem)
}

impl AuthorizationServer {
    /// Whether some client may act for people.
    pub(super) fn has_actors(&self) -> bool {
        self.login.settings.api_keys.iter().any(|key| key.may_act.is_some())
    }

    /// The entry of a client that may act for people now, and the scopes that it may use then.
    pub(super) fn actor(&self, identity: &Identity) -> Option<(&ApiKeySettings, &Scopes)> {
        let Identity::Machine { name, .. } = identity else { return None };
        self.login.permitted(identity)?;
        let entry = self.machine(name)?;
        Some((entry, entry.may_act.as_ref()?))
    }

    /// Exchanges the token of a person for one with which the client acts for them: with fewer scopes, and no longer valid.
    pub(super) async fn exchange_token(
        &self,
        form: &Parameters,
        key: OfferedKey<'_>,
        request: &RouteRequest<'_>,
    ) -> Result<Response, OAuthError> {
        let RouteRequest { headers, host, .. } = *request;
        let credentials = Credentials::read(form, headers)?;
        let actor = self.authenticate_machine(&credentials, host).await?;
        let key = key.accept().await?;
        let (entry, may_act) = self
            .actor(&actor)
            .ok_or(UNAUTHORIZED_CLIENT.error("the client's entry of API_KEYS has no `may_act`"))?;
        if form.get("actor_token").or(form.get("actor_token_type")).is_some() {
            return Err(unacceptable(
                "the client itself is the actor: `actor_token` is not supported",
            ));
        }
        let is_other = |name| form.get(name).is_some_and(|it| it != ACCESS_TOKEN_TYPE);
        form.require("subject_token_type")?;
        if is_other("subject_token_type") || is_other("requested_token_type") {
            return Err(unacceptable(
                "`subject_token_type` and `requested_token_type` must be that of access tokens",
            ));
        }
        if !form.all("audience").all(|audience| self.is_own_resource(audience)) {
            return Err(INVALID_TARGET.error("`audience` is not this server"));
        }
        let now = host.now_ms() / 1000;
        let subject: Option<SubjectClaims> = self.own_claims(form.require("subject_token")?);
        let subject = subject.filter(|claims| now < claims.exp);
        let subject = subject.ok_or(unacceptable(
            "the `subject_token` is not a valid access token of this server",
        ))?;
        // Otherwise its copy, which is worth nothing without a proof, would become a token that is.
        if subject.cnf.is_some() && key.is_none() {
            return Err(unacceptable("the `subject_token` is bound to a key: send a proof"));
        }
        let holder = self.login.keys.open(purpose::HOLDER, &subject.holder, host.now_ms());
        let Ok(Holder { identity, actor: None }) = holder else {
            return Err(unacceptable("the `subject_token` is that of an actor, or cannot be read"));
        };
        if subject.act.is_some() || matches!(identity, Identity::Machine { .. }) {
            return Err(unacceptable("the `subject_token` must be that of a person"));
        }
        let permitted = self.login.permitted(&identity);
        let permitted = permitted.ok_or(unacceptable("the person may no longer call"))?;
        if self.is_revoked(&subject.gid, host).await? {
            return Err(unacceptable("the client of the `subject_token` was disconnected"));
        }
        let requested: Option<Vec<&str>> = form.get("scope").map(|it| it.split(' ').collect());
        let lists = [
            requested,
            Some(subject.scope.split(' ').collect()),
            Some(self.login.available(may_act)),
        ];
        let scopes = self.common_scopes(&lists, &permitted);
        if scopes.is_empty() && form.get("scope").is_some() {
            return Err(
                INVALID_SCOPE.error("the token has none of the scopes, or `may_act` gives none")
            );
        }
        let client_id = credentials.client_id.clone();
        let grant = ClientGrant {
            id: subject.gid,
            client: hash(&client_id),
            client_name: entry.name.clone(),
            identity,
            scopes,
            offline: false,
            document: None,
            granted_ms: host.now_ms(),
        };
        let delegation = Some(Delegation { actor, last: subject.exp });
        let issue = Issue { delegation, ..Issue::new(TOKEN_EXCHANGE, client_id, grant, key) };
        self.issue(issue, host)
    }
}
