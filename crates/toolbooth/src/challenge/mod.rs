//! For whom: the tokens that users grant the server, and the challenges that ask them to.
//!
//! A call that needs a user's authorization is answered with a challenge (OXP call-tool, "Tool
//! Authorization Challenges"): an address where the user may grant it, and one that says whether
//! that has happened. A pending challenge is a sealed token and is kept nowhere; the store holds
//! grants, sealed, and challenges that have failed. docs/STORAGE.md says what that means where the
//! store is a minute behind.
//!
//! - `token`: sealed, expiring tokens, and hashes; `state`: their keys; `seal`: encryption of these and
//!   of what is stored;
//! - `provider`: OAuth 2 providers, as configured; `oauth`: what is said to them; `tokens`: what they
//!   answer;
//! - `owner`, `grant`: whose, and what; `vault`: grants in the store; `refresh`, `revocation`: how they
//!   last and end; `recent`: what the store may not know yet; `proof`: what helps over that elsewhere;
//! - `flow`: the user's way; `page`: what the user sees.

mod flow;
mod grant;
mod oauth;
mod owner;
mod page;
mod pause;
mod proof;
mod provider;
mod recent;
mod refresh;
mod revocation;
mod seal;
mod state;
mod token;
mod tokens;
mod vault;

pub use flow::Address;
pub(crate) use owner::{NoOwner, Owner};
pub(crate) use pause::{ContinuationToken, FORGED, RequestStateCodec, Waited};
pub use provider::Provider;

use serde::{Deserialize, Serialize};

use crate::address::is_origin;
use crate::host::{Host, NoRandomness, Variables};
use crate::json;
use crate::tool::Secret;
use recent::RecentWrites;
use refresh::NoGrant;
use seal::SealKeys;
use state::StateKeys;
use token::{TokenPurpose, random_text};
use vault::GrantStore;

/// How long the client may ask how a challenge stands.
const LIFE_MS: u64 = 15 * 60 * 1000;
/// How long before that end the user must be done, so that the client still hears of it from a
/// store that is a minute behind.
const LAG_MS: u64 = 2 * 60 * 1000;

/// How far the store may be behind.
const STALE_MS: u64 = 60_000;

/// How long the scopes may be, together, that are asked for beside the required ones. A provider can
/// grant more than was asked for, and the challenge has to fit into a cookie.
const MOST_FURTHER: usize = 1_000;

/// What a user is to be shown (OXP `ToolAuthorizationChallenge`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// A random id.
    pub id: String,
    /// The page where the user grants the authorization.
    pub url: String,
    /// Says `{"status": "pending" | "completed" | "failed"}`.
    pub check_url: String,
    /// The id of the provider.
    pub provider: String,
    /// The provider's name for people.
    pub title: String,
}

/// What a challenge's token says.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct ChallengeClaims {
    /// The challenge's id.
    i: String,
    /// Whose grant it asks for.
    o: Owner,
    /// The provider.
    p: String,
    /// The scopes that the tool requires.
    s: Vec<String>,
    /// Scopes to ask for beside them. Not every server tells all of these when it grants them.
    x: Vec<String>,
    /// The tool that needs them.
    t: String,
    /// When the grant came that did not serve, or was deleted. One that came later does.
    g: Option<u64>,
}

impl ChallengeClaims {
    /// All scopes to ask for.
    fn scopes(&self) -> Vec<String> {
        self.s.iter().chain(&self.x).cloned().collect()
    }
}

/// What a tool needs of a user.
pub(crate) struct Need<'a> {
    pub(crate) owner: &'a Owner,
    pub(crate) provider: &'a Provider,
    pub(crate) scopes: &'a [&'static str],
    /// The id of the tool.
    pub(crate) tool: &'a str,
    /// What the client sends to show that the user has granted it.
    pub(crate) proof: Option<&'a Secret>,
}

/// A token of a grant.
pub(crate) struct Granted {
    pub(crate) token: Secret,
    /// When it came.
    pub(crate) updated_ms: u64,
    /// The scopes of the grant.
    pub(crate) scopes: Vec<String>,
}

/// Why there is no token.
pub(crate) enum NoToken {
    /// The user must be asked.
    Ask(Challenge),
    /// It cannot be known now. Holds what is at fault.
    Unavailable(&'static str),
}

impl From<NoRandomness> for NoToken {
    fn from(_: NoRandomness) -> Self {
        Self::Unavailable("it has no random bytes")
    }
}

/// The providers and keys of a server that asks users for authorization.
#[derive(Debug, Clone)]
pub struct Challenges {
    /// `PUBLIC_URL`: the origin under which users reach the server.
    origin: String,
    vault: GrantStore,
    /// `OAUTH_PROVIDERS`.
    providers: Vec<Provider>,
}

impl Challenges {
    /// Reads `OAUTH_PROVIDERS`, and if it is set all that providers need: `PUBLIC_URL`, the secrets
    /// `STATE_KEY` (and `STATE_KEY_PREVIOUS`) and `GRANT_KEYS`, and the variables of each provider. What is wrong goes to
    /// `problem` with the name of the variable.
    pub(crate) fn read(
        source: &dyn Variables,
        problem: &mut dyn FnMut(&str, &str),
    ) -> Option<Self> {
        let listed = source.variable("OAUTH_PROVIDERS").unwrap_or_default();
        let ids: Vec<&str> = listed.split(',').map(str::trim).filter(|id| !id.is_empty()).collect();
        if ids.is_empty() {
            return None;
        }
        let plain = |id: &&str| {
            id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        if !ids.iter().all(plain) {
            let wanted =
                "must be a list of ids such as github, of small letters, digits and dashes";
            problem("OAUTH_PROVIDERS", wanted);
            return None;
        }
        let mut part = |name: &'static str, check: &dyn Fn(&str) -> Result<(), &'static str>| {
            let value = source.variable(name).unwrap_or_default();
            check(&value).map(|()| value).inspect_err(|wanted| problem(name, wanted)).ok()
        };
        let origin = part("PUBLIC_URL", &is_origin);
        let seal = part("GRANT_KEYS", &|text| SealKeys::parse(text).map(drop));
        let state = StateKeys::read(source, problem);
        let providers: Vec<_> =
            ids.iter().filter_map(|id| Provider::read(id, source, problem)).collect();
        Some(Self {
            origin: origin?,
            vault: GrantStore {
                state: state?,
                seal: SealKeys::parse(&seal?).ok()?,
                recent: RecentWrites::default(),
            },
            providers,
        })
    }

    /// Whether the server is reached on the machine of whoever tries it out, and nowhere else.
    pub fn is_local(&self) -> bool {
        let host = self.origin.split_once("://").map_or("", |(_, host)| host);
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        ["localhost", "127.0.0.1", "[::1]"].contains(&name)
    }

    /// The provider `id`, if it is configured.
    pub fn provider(&self, id: &str) -> Option<&Provider> {
        self.providers.iter().find(|provider| provider.id == id)
    }

    /// A token of the user's grant, or the challenge to ask for one.
    pub(crate) async fn token(&self, need: &Need<'_>, host: &dyn Host) -> Result<Granted, NoToken> {
        let proof = need.proof.map(Secret::expose);
        let wanted = (need.scopes, proof);
        match self.vault.token((need.owner, need.provider), wanted, host).await {
            Ok(granted) => Ok(granted),
            Err(NoGrant::Ask { seen_ms, scopes }) => {
                Err(NoToken::Ask(self.challenge(need, seen_ms, &scopes, host)?))
            }
            Err(NoGrant::Store) => Err(NoToken::Unavailable("its KV namespace does not answer")),
            Err(NoGrant::AuthorizationServer) => {
                Err(NoToken::Unavailable("the authorization server does not answer"))
            }
        }
    }

    /// Whether what a client sends as a token of its own is a proof, good or not.
    pub(crate) fn is_proof(token: &Secret) -> bool {
        proof::is_proof(token.expose())
    }

    /// A new challenge. `seen_ms` is when the grant came that did not serve, or was deleted, if there
    /// was one, and `had` are scopes that are not to be lost.
    ///
    /// # Errors
    /// There are no random bytes.
    pub(crate) fn challenge(
        &self,
        need: &Need<'_>,
        seen_ms: Option<u64>,
        had: &[String],
        host: &dyn Host,
    ) -> Result<Challenge, NoRandomness> {
        let id = random_text(host)?;
        let required: Vec<String> = need.scopes.iter().map(|&scope| scope.to_owned()).collect();
        let mut further: Vec<String> = Vec::new();
        for scope in need.provider.scopes.iter().chain(had) {
            // As JSON, with the comma: so many bytes it takes up in the token.
            let size = |scope: &String| json::write(scope).len() + 1;
            let fits = further.iter().map(size).sum::<usize>() + size(scope) <= MOST_FURTHER;
            if fits && !required.contains(scope) && !further.contains(scope) {
                further.push(scope.clone());
            }
        }
        let claims = ChallengeClaims {
            i: id.clone(),
            o: need.owner.clone(),
            p: need.provider.id.clone(),
            s: required,
            x: further,
            t: need.tool.to_owned(),
            g: seen_ms,
        };
        let expires = host.now_ms().saturating_add(LIFE_MS);
        let token = self.vault.state.seal(TokenPurpose::Challenge, &claims, expires);
        let address = |path: &str| format!("{}{path}?c={token}", self.origin);
        Ok(Challenge {
            id,
            url: address(flow::START),
            check_url: address(flow::CHECK),
            provider: need.provider.id.clone(),
            title: need.provider.title.clone(),
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
