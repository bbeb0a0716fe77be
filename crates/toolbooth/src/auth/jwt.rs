//! JSON Web Tokens (RFC 7519): HS256 with a shared secret, which OXP demands, and the signatures of
//! an issuer whose keys are published.
//!
//! Which key verifies a token follows from its `alg`, and each key has one algorithm: the secret is
//! never used for a public-key signature nor a public key as a secret (RFC 8725, 3.1).

use jwt_compact::alg::{Hs256, Hs256Key};
use jwt_compact::{AlgorithmExt, Claims, UntrustedToken};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::Value;

use super::jwks::Jwks;
use super::scopes::Scopes;
use super::{invalid, refused};
use crate::call::{Caller, Refusal};
use crate::host::{Host, SignatureAlgorithm, Variables};

/// RFC 7518, 3.2: a key of HS256 has at least the size of its hash.
const MIN_SECRET: usize = 32;
const LEEWAY: u64 = 30;
/// More would make a mockery of short lifetimes.
const MAX_LEEWAY: u64 = 300;

/// How tokens are verified.
#[derive(Debug)]
pub(super) struct Tokens {
    secret: Option<Hs256Key>,
    jwks: Option<Jwks>,
    rules: Rules,
}

/// What the claims of a token must be.
#[derive(Debug)]
pub(super) struct Rules {
    /// `JWT_AUDIENCE`: who this server is in a token's `aud`.
    pub(super) audiences: Vec<String>,
    /// `JWT_ISSUER`: what a token's `iss` must be, if anything.
    pub(super) issuer: Option<String>,
    /// `JWT_LEEWAY`: by how many seconds clocks may disagree.
    pub(super) leeway: u64,
}

/// Who signed a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signer {
    /// Somebody who shares the secret, and so signs for this server alone.
    Secret,
    /// An issuer, who signs for others too.
    Issuer,
}

/// The header parameters that matter here, besides those that the crate reads.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Parameters {
    /// Whether there are extensions that must be understood. None is (RFC 7515, 4.1.11).
    #[serde(default, deserialize_with = "present")]
    crit: bool,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

/// The claims that matter here, besides the times. A repeated one is refused by `Deserialize`.
#[derive(Debug, Deserialize)]
pub(super) struct Identity {
    iss: Option<String>,
    sub: Option<String>,
    aud: Option<Value>,
    scope: Option<Value>,
    scp: Option<Value>,
}

impl Tokens {
    /// Reads `JWT_SECRET`, `JWKS_URL`, `JWT_AUDIENCE`, `JWT_ISSUER` and `JWT_LEEWAY`.
    pub(super) fn read(source: &dyn Variables, problems: &mut Vec<String>) -> Self {
        let mut problem = |name: &str, wanted: &str| problems.push(format!("{name} {wanted}"));
        let secret = source.variable("JWT_SECRET");
        let url = source.variable("JWKS_URL");
        if secret.is_none() && url.is_none() {
            problem("JWT_SECRET", "or JWKS_URL must be set, for AUTH has jwt");
        }
        let long = |secret: &String| secret.len() >= MIN_SECRET;
        if secret.as_ref().is_some_and(|secret| !long(secret)) {
            problem("JWT_SECRET", "must have at least 32 bytes");
        }
        if url.as_deref().is_some_and(|url| !is_safe(url)) {
            problem("JWKS_URL", "must be an https address; http is for this machine only");
        }
        let leeway = source.variable("JWT_LEEWAY").map(|text| text.parse());
        let leeway = match leeway {
            None => LEEWAY,
            Some(Ok(seconds)) if seconds <= MAX_LEEWAY => seconds,
            Some(_) => {
                problem("JWT_LEEWAY", "must be a whole number of seconds from 0 to 300");
                LEEWAY
            }
        };
        let audiences = source.variable("JWT_AUDIENCE").unwrap_or_default();
        let audiences = audiences.split(',').map(str::trim).filter(|one| !one.is_empty());
        Self {
            secret: secret.filter(long).map(Hs256Key::new),
            jwks: url.filter(|url| is_safe(url)).map(Jwks::new),
            rules: Rules {
                audiences: audiences.map(str::to_owned).collect(),
                issuer: source.variable("JWT_ISSUER").filter(|issuer| !issuer.is_empty()),
                leeway,
            },
        }
    }

    /// Whose token it is.
    ///
    /// # Errors
    /// [`Refusal::Unauthenticated`]: it is not a good one; [`Refusal::Unavailable`]: that cannot be
    /// found out.
    pub(super) async fn caller(&self, token: &str, host: &dyn Host) -> Result<Caller, Refusal> {
        let read = UntrustedToken::<Parameters>::try_from(token).map_err(|_| invalid())?;
        if read.header().other_fields.crit {
            return Err(invalid());
        }
        let (claims, signer) = if read.algorithm() == "HS256" {
            let secret = self.secret.as_ref().ok_or_else(invalid)?;
            (by_secret(&read, secret)?, Signer::Secret)
        } else {
            (self.by_issuer(&read, token, host).await?, Signer::Issuer)
        };
        self.rules.caller(claims, signer, host.now_ms() / 1000)
    }

    /// The claims of a token that one of the issuer's keys has signed.
    async fn by_issuer(
        &self,
        read: &UntrustedToken<'_, Parameters>,
        token: &str,
        host: &dyn Host,
    ) -> Result<Claims<Identity>, Refusal> {
        let jwks = self.jwks.as_ref().ok_or_else(invalid)?;
        let algorithm = SignatureAlgorithm::named(read.algorithm()).ok_or_else(invalid)?;
        let claims = read.deserialize_claims_unchecked().map_err(|_| invalid())?;
        let (message, _) = token.rsplit_once('.').ok_or_else(invalid)?;
        let key = jwks.key(read.header().key_id.as_deref(), algorithm, host).await?;
        let signature = read.signature_bytes();
        let good = host.verify(algorithm, &key.jwk, message.as_bytes(), signature).await;
        if good { Ok(claims) } else { Err(invalid()) }
    }
}

/// The claims of a token that `secret` has signed. The crate compares the algorithm and then, in
/// constant time, the signature.
pub(super) fn by_secret(
    read: &UntrustedToken<'_, Parameters>,
    secret: &Hs256Key,
) -> Result<Claims<Identity>, Refusal> {
    let token = Hs256.validator::<Identity>(secret).validate(read).map_err(|_| invalid())?;
    Ok(token.into_parts().1)
}

impl Rules {
    /// Who the claims say the caller is, if the token is good now (in seconds) and here. Its
    /// signature is: from now on the reason may be told.
    pub(super) fn caller(
        &self,
        claims: Claims<Identity>,
        signer: Signer,
        now: u64,
    ) -> Result<Caller, Refusal> {
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        let leeway = i64::try_from(self.leeway).unwrap_or(0);
        let Some(expires) = claims.expiration else {
            return Err(refused("the token has no exp"));
        };
        if now >= expires.timestamp().saturating_add(leeway) {
            return Err(refused("the token has expired"));
        }
        let begins = [claims.not_before, claims.issued_at];
        if begins.iter().flatten().any(|begin| begin.timestamp() > now.saturating_add(leeway)) {
            return Err(refused("the token is not valid yet"));
        }
        let identity = claims.custom;
        if self.issuer.is_some() && identity.iss != self.issuer {
            return Err(refused("the token is of another issuer"));
        }
        if !self.is_meant(identity.aud.as_ref(), signer) {
            return Err(refused("the token is for another audience"));
        }
        let mut scopes = Vec::new();
        for claim in [&identity.scope, &identity.scp].into_iter().flatten() {
            let words = words(claim).ok_or_else(|| refused("the token's scopes are no words"))?;
            scopes.extend(words.into_iter().map(str::to_owned));
        }
        Ok(Caller::User { subject: identity.sub, scopes: Scopes::Listed(scopes) })
    }

    /// Whether `aud` names this server (X43). A token of the secret may have none; a token of an
    /// issuer must have one wherever an audience is configured, for others get such tokens too.
    fn is_meant(&self, aud: Option<&Value>, signer: Signer) -> bool {
        let names = |value: &Value| {
            value.as_str().is_some_and(|name| self.audiences.iter().any(|one| one == name))
        };
        match aud {
            None => signer == Signer::Secret || self.audiences.is_empty(),
            Some(Value::Array(several)) => several.iter().any(names),
            Some(one) => names(one),
        }
    }
}

/// The words of a claim: a text with spaces between (RFC 8693, 4.2), or an array of texts.
fn words(claim: &Value) -> Option<Vec<&str>> {
    match claim {
        Value::String(text) => Some(text.split_ascii_whitespace().collect()),
        Value::Array(words) => words.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// Whether keys that come from there can be trusted: only TLS proves the sender, except on the
/// machine itself.
fn is_safe(url: &str) -> bool {
    let plain = !url.contains(|c: char| c.is_whitespace() || c.is_control() || c == '@');
    let host = |scheme: &str| {
        let rest = url.strip_prefix(scheme)?;
        rest.split(['/', ':', '?', '#']).next().filter(|host| !host.is_empty())
    };
    let local = |host| matches!(host, "localhost" | "127.0.0.1");
    plain && (host("https://").is_some() || host("http://").is_some_and(local))
}
