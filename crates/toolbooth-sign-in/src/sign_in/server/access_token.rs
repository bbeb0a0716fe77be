//! Access tokens: JSON Web Tokens (RFC 9068), and what calls ask about them.

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{AuthorizationServer, ClientGrant, DocumentAuth, LEEWAY_SECONDS};
use crate::oauth::random_text;
use crate::purpose;
use crate::sign_in::login::Identity;
use toolbooth::auth::{Permitted, TokenHolders};
use toolbooth::host::{BoxFuture, Host, NoRandomness, boxed};
use toolbooth::json;
use toolbooth::principal::Scopes;
use toolbooth::seal::MacKey;

/// `{"alg":"HS256","typ":"at+jwt"}`
const HEADER: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9";

/// The longest `client_id` in a token, in bytes: a token is sent with every call, and the id of a client that registers
/// itself contains all that it has registered.
const MAX_CLIENT_ID: usize = 1_000;

/// RFC 9068, 2.2.
#[derive(Serialize)]
struct AccessClaims<'a> {
    iss: &'a str,
    sub: &'a str,
    aud: &'a str,
    exp: u64,
    iat: u64,
    jti: &'a str,
    /// The client's id, or its hash if it is longer than [`MAX_CLIENT_ID`].
    client_id: &'a str,
    /// Its name, for the pages of challenges.
    client_name: &'a str,
    /// How the log names it ([`CLIENT_REF`](toolbooth::auth::CLIENT_REF)).
    client_ref: &'a str,
    scope: &'a str,
    /// The id of the grant, with which the token ends.
    gid: &'a str,
    /// The person, sealed: the client need not know what a provider has said about them.
    holder: &'a str,
    /// How the client must authenticate to revoke the token, if its document says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    auth: Option<&'a DocumentAuth>,
    /// The key that the token is bound to, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<Confirmation<'a>>,
    /// The client that acts for the person, if it is not the one that they have connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    act: Option<Actor>,
}

/// RFC 8693, 4.1.
#[derive(Serialize, Deserialize)]
pub(super) struct Actor {
    sub: String,
}

/// Who holds a token, sealed in its claim.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Holder {
    #[serde(rename = "i")]
    pub(super) identity: Identity,
    /// The client that acts for the person.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub(super) actor: Option<Identity>,
}

/// RFC 9449, 6.1.
#[derive(Serialize)]
struct Confirmation<'a> {
    /// The thumbprint of the key.
    jkt: &'a str,
}

/// The claims that a revocation needs.
#[derive(Deserialize)]
pub(super) struct RevokedClaims {
    pub(super) sub: String,
    /// The id of the client, or its hash.
    pub(super) client_id: String,
    pub(super) gid: String,
    /// When an access token expires, in seconds since the Unix epoch.
    pub(super) exp: Option<u64>,
    #[serde(default)]
    pub(super) auth: Option<DocumentAuth>,
    #[serde(default)]
    pub(super) act: Option<Actor>,
}

impl RevokedClaims {
    /// Whether the token is for a client that acts for the person.
    pub(super) fn is_delegated(&self) -> bool {
        self.act.is_some()
    }

    /// Whether no call accepts the token any more.
    pub(super) fn is_expired(&self, now_ms: u64) -> bool {
        self.exp.is_some_and(|exp| now_ms / 1000 >= exp.saturating_add(LEEWAY_SECONDS))
    }
}

impl TokenHolders for AuthorizationServer {
    fn permitted(&self, holder: &str) -> Option<Permitted> {
        let (holder, _) = self.login.keys.read::<Holder>(purpose::HOLDER, holder).ok()?;
        let Holder { identity, actor } = holder;
        let mut scopes = self.login.permitted(&identity)?;
        let actor = match actor {
            None => None,
            Some(actor) => {
                let (entry, may_act) = self.actor(&actor)?;
                scopes = Scopes::Listed(
                    self.common_scopes(&[Some(self.login.available(may_act))], &scopes),
                );
                Some(entry.name.clone())
            }
        };
        let (rule, budgets) = (self.login.limiting_rule(&identity), self.login.budgets(&identity));
        let key = match &identity {
            Identity::Machine { name, .. } => Some(name.clone()),
            _ => None,
        };
        Some(Permitted { scopes, rule, budgets, team: self.login.team(&identity), key, actor })
    }

    /// If the store fails, the token works: it is valid for a limited time, and calls must not depend on the store.
    fn has_ended<'a>(&'a self, grant: &'a str, host: &'a dyn Host) -> BoxFuture<'a, bool> {
        boxed(async move { self.is_revoked(grant, host).await.unwrap_or(false) })
    }
}

impl AuthorizationServer {
    /// An access token for a client with this id, which is bound to the key with this thumbprint, if there is one.
    pub(super) fn access_token(
        &self,
        (client_id, key): (&str, Option<&str>),
        (grant, holder): (&ClientGrant, &Holder),
        (scopes, seconds): (&[String], u64),
        host: &dyn Host,
    ) -> Result<String, NoRandomness> {
        let now = host.now_ms() / 1000;
        let expires = now.saturating_add(seconds);
        let last_ms = expires.saturating_add(LEEWAY_SECONDS).saturating_mul(1000);
        let claims = json::to_vec(&AccessClaims {
            iss: &self.login.settings.public_url,
            sub: &grant.identity.subject(),
            aud: &self.resource,
            exp: expires,
            iat: now,
            jti: &random_text(host)?,
            client_id: if client_id.len() > MAX_CLIENT_ID { &grant.client } else { client_id },
            client_name: &grant.client_name,
            client_ref: &self.client_ref(&grant.client),
            scope: &scopes.join(" "),
            gid: &grant.id,
            holder: &self.login.keys.seal(purpose::HOLDER, holder, last_ms),
            auth: grant.document.as_ref().filter(|document| !document.none),
            cnf: key.map(|jkt| Confirmation { jkt }),
            act: holder.actor.as_ref().map(|actor| Actor { sub: actor.subject() }),
        });
        let message = format!("{HEADER}.{}", Base64UrlUnpadded::encode_string(&claims));
        let key = MacKey::new(self.login.keys.hash(purpose::ACCESS_TOKEN, &[]).as_bytes());
        let signature = Base64UrlUnpadded::encode_string(&key.sign(message.as_bytes()));
        Ok(format!("{message}.{signature}"))
    }

    /// The claims of an access token of this server, valid or expired.
    pub(super) fn own_claims<C: DeserializeOwned>(&self, token: &str) -> Option<C> {
        let (message, signature) = token.rsplit_once('.')?;
        let signature = Base64UrlUnpadded::decode_vec(signature).ok()?;
        let keys = self.login.keys.hashes(purpose::ACCESS_TOKEN, &[]);
        let signs =
            |key: &str| MacKey::new(key.as_bytes()).verifies(message.as_bytes(), &signature);
        let is_own = keys.iter().any(signs);
        let claims = message.strip_prefix(HEADER)?.strip_prefix('.').filter(|_| is_own)?;
        json::read(&Base64UrlUnpadded::decode_vec(claims).ok()?)
    }
}
