//! JSON Web Tokens (RFC 7519): HS256 with a shared secret, which OXP demands, and the signatures of
//! an issuer whose keys are published.
//!
//! Which key verifies a token follows from its `alg`, and each key has one algorithm: the secret is
//! never used for a public-key signature nor a public key as a secret (RFC 8725, 3.1).

use base64ct::{Base64UrlUnpadded, Encoding};
use jwt_compact::alg::{Hs256, Hs256Key, Hs256Signature};
use jwt_compact::{Algorithm, AlgorithmSignature};
use sha2::{Digest, Sha256};

use super::jwks::Jwks;
use super::seen::TokenCache;
use super::{invalid, rejected};
use crate::address::is_secure;
use crate::call::Rejection;
use crate::host::{Host, SignatureAlgorithm, Variables};
use crate::json::{self, Object, Value};
use crate::principal::Principal;
use crate::principal::Scopes;

/// RFC 7518, 3.2: a key of HS256 has at least the size of its hash.
const MIN_SECRET: usize = 32;
const LEEWAY: u64 = 30;
/// More would make a mockery of short lifetimes.
const MAX_LEEWAY: u64 = 300;
/// The longest lifetime of a token, in seconds: 366 days. Issuers' tokens live for minutes or hours.
/// Those that an operator signs by hand may live as long as other credentials that are rotated yearly;
/// nothing withdraws a token before it expires but a new secret.
const MAX_LIFE: f64 = 366.0 * 86_400.0;
/// The media types of access tokens, as `typ` names them: those of RFC 7519, 5.1 and RFC 9068, 2.1.
/// Tokens for other purposes, such as `logout+jwt` and `dpop+jwt`, have types of their own
/// (RFC 8725, 3.11).
const TYPES: [&str; 2] = ["jwt", "at+jwt"];

/// How tokens are verified.
#[derive(Debug)]
pub(super) struct JwtVerifier {
    /// `JWT_SECRET`, and `JWT_SECRET_PREVIOUS` while signers change over.
    secrets: Vec<Hs256Key>,
    jwks: Option<Jwks>,
    rules: Rules,
    seen: TokenCache,
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

impl Signer {
    /// What stands for whoever says who the user is. A secret's holder can write any `iss`: that
    /// does not make them the issuer of that name.
    pub(super) fn issuer(self, iss: Option<&str>) -> String {
        let kind: &[u8] = match self {
            Self::Secret => b"secret",
            Self::Issuer => b"issuer",
        };
        let named: &[u8] = if iss.is_some() { b":" } else { b"" };
        let hash = Sha256::new_with_prefix(kind).chain_update(named);
        let hash = hash.chain_update(iss.unwrap_or_default()).finalize();
        Base64UrlUnpadded::encode_string(&hash)
    }
}

/// A token in its parts. They are read by the reader of all strangers' JSON, which is linked anyway
/// and refuses repeated members: two readers of one token could disagree on them.
pub(super) struct Parts<'a> {
    header: Object<'static>,
    claims: Object<'static>,
    /// What was signed.
    message: &'a str,
    signature: Vec<u8>,
}

impl<'a> Parts<'a> {
    /// Takes a token apart; `None` when it is none, or when it must not be read without knowing an
    /// extension (`crit`: RFC 7515, 4.1.11; no extension is known).
    pub(super) fn of(token: &'a str) -> Option<Self> {
        let (message, signature) = token.rsplit_once('.')?;
        let (header, claims) = message.split_once('.')?;
        let object = |part| match json::parse_bytes(&Base64UrlUnpadded::decode_vec(part).ok()?)? {
            Value::Object(members) => Some(members.into_owned()),
            _ => None,
        };
        let (header, claims) = (object(header)?, object(claims)?);
        let signature = Base64UrlUnpadded::decode_vec(signature).ok()?;
        (!header.contains("crit")).then_some(Self { header, claims, message, signature })
    }

    fn algorithm(&self) -> Option<&str> {
        self.header.get("alg")?.as_str()
    }

    /// Whether `secret` has signed it. The crate compares in constant time.
    pub(super) fn is_signed_by(&self, secret: &Hs256Key) -> bool {
        // A signature of another length is for the crate a mistake of its caller's.
        let fits =
            Hs256Signature::LENGTH.is_some_and(|length| length.get() == self.signature.len());
        self.algorithm() == Some("HS256")
            && fits
            && Hs256Signature::try_from_slice(&self.signature).is_ok_and(|signature| {
                Hs256.verify_signature(&signature, secret, self.message.as_bytes())
            })
    }

    /// Whether the issuer has signed it, and when the key was fetched that says so. A token that
    /// `may_fetch` is verified by keys that are fetched if need be, any other by those at hand.
    async fn is_signed_by_one_of(
        &self,
        jwks: &Jwks,
        may_fetch: bool,
        host: &dyn Host,
    ) -> Result<(bool, Option<u64>), Rejection> {
        let algorithm = self.algorithm().and_then(SignatureAlgorithm::named);
        let algorithm = algorithm.ok_or_else(invalid)?;
        let id = match self.header.get("kid") {
            None => None,
            Some(Value::String(id)) => Some(&**id),
            Some(_) => return Err(invalid()),
        };
        let (key, fetched) = if may_fetch {
            jwks.key(id, algorithm, host).await?
        } else {
            jwks.key_at_hand(id, algorithm, host.now_ms()).ok_or_else(invalid)?
        };
        let message = self.message.as_bytes();
        Ok((host.verify(algorithm, &key.jwk, message, &self.signature).await, fetched))
    }

    /// Whether `typ` says that it is an access token, or nothing (RFC 7515, 4.1.9: in any case, and
    /// `application/` may be left out).
    fn is_of_known_type(&self) -> bool {
        let Some(sent) = self.header.get("typ") else { return true };
        sent.as_str().is_some_and(|sent| {
            let sent = sent.to_ascii_lowercase();
            TYPES.contains(&sent.strip_prefix("application/").unwrap_or(&sent))
        })
    }
}

impl JwtVerifier {
    /// Reads `JWT_SECRET`, `JWT_SECRET_PREVIOUS`, `JWKS_URL`, `JWT_AUDIENCE`, `JWT_ISSUER` and
    /// `JWT_LEEWAY`.
    pub(super) fn read(source: &dyn Variables, problems: &mut Vec<String>) -> Self {
        let mut problem = |name: &str, wanted: &str| problems.push(format!("{name} {wanted}"));
        let secret = source.variable("JWT_SECRET");
        let url = source.variable("JWKS_URL");
        if secret.is_none() && url.is_none() {
            problem("JWT_SECRET", "or JWKS_URL must be set, for AUTH has jwt");
        }
        let previous = source.variable("JWT_SECRET_PREVIOUS").filter(|it| !it.is_empty());
        if previous.is_some() && previous == secret {
            problem("JWT_SECRET_PREVIOUS", "must be another than JWT_SECRET, or not be set");
        }
        if secret.is_none() && previous.is_some() {
            problem("JWT_SECRET_PREVIOUS", "must not be set without JWT_SECRET");
        }
        let previous = previous.filter(|_| secret.is_some());
        let mut secrets = Vec::new();
        for (name, value) in [("JWT_SECRET", secret), ("JWT_SECRET_PREVIOUS", previous)] {
            match value {
                Some(value) if value.len() >= MIN_SECRET => secrets.push(Hs256Key::new(value)),
                Some(_) => problem(name, "must have at least 32 bytes"),
                None => {}
            }
        }
        if url.as_deref().is_some_and(|url| !is_secure(url)) {
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
        let mcp = super::resource::identifier(source);
        let audiences: Vec<_> = audiences.map(str::to_owned).chain(mcp).collect();
        let issuer = source.variable("JWT_ISSUER").filter(|issuer| !issuer.is_empty());
        // The issuer signs for others too, and its keys may be those of several issuers.
        if url.is_some() && audiences.is_empty() {
            problem("JWT_AUDIENCE", "or PUBLIC_URL must be set, for JWKS_URL is");
        }
        if url.is_some() && issuer.is_none() {
            problem("JWT_ISSUER", "must be set, for JWKS_URL is");
        }
        let complete = !audiences.is_empty() && issuer.is_some();
        Self {
            secrets,
            jwks: url.filter(|url| complete && is_secure(url)).map(Jwks::new),
            rules: Rules { audiences, issuer, leeway },
            seen: TokenCache::new(),
        }
    }

    /// Whose token it is, if it has been verified before and is still good.
    pub(super) fn known(&self, token: &str, host: &dyn Host) -> Option<Principal> {
        let now_ms = host.now_ms();
        let keys = self.jwks.as_ref().and_then(|jwks| jwks.fresh(now_ms));
        self.seen.principal(token, now_ms / 1000, keys)
    }

    /// Verifies a token: whose it is.
    ///
    /// # Errors
    /// [`Rejection::Unauthenticated`]: it is not a good one; [`Rejection::Unavailable`]: that cannot be
    /// found out.
    pub(super) async fn verify(
        &self,
        token: &str,
        host: &dyn Host,
    ) -> Result<Principal, Rejection> {
        let parts = Parts::of(token).ok_or_else(invalid)?;
        let (signer, (good, keys)) = match (parts.algorithm(), &self.jwks) {
            (Some("HS256"), _) => {
                let good = self.secrets.iter().any(|secret| parts.is_signed_by(secret));
                (Signer::Secret, (good, None))
            }
            (_, None) => return Err(invalid()),
            (_, Some(jwks)) => {
                // Checking claims is cheap: only a token that would be good is worth a fetch. What
                // is wrong with them is told below, once the signature has proved to be good.
                let now = host.now_ms() / 1000;
                let may_fetch = self.rules.principal(&parts, Signer::Issuer, now).is_ok();
                (Signer::Issuer, parts.is_signed_by_one_of(jwks, may_fetch, host).await?)
            }
        };
        if !good {
            return Err(invalid());
        }
        // Time may have passed meanwhile.
        let principal = self.rules.principal(&parts, signer, host.now_ms() / 1000)?;
        self.seen.keep(token, &principal, self.rules.end(&parts), keys);
        Ok(principal)
    }
}

impl Rules {
    /// Who the claims say the caller is, if the token is good now (in seconds) and here. The reason
    /// why not is for those alone whose signature is good.
    pub(super) fn principal(
        &self,
        parts: &Parts<'_>,
        signer: Signer,
        now: u64,
    ) -> Result<Principal, Rejection> {
        let claims = &parts.claims;
        if !parts.is_of_known_type() {
            return Err(rejected("the token's typ is not that of an access token"));
        }
        // Whoever sends it would have to prove that they have the key that it names (RFC 7800, 3;
        // RFC 9449, 7.2), and nothing here checks a proof.
        if claims.contains("cnf") {
            return Err(rejected("the token is bound to a key, which is not supported"));
        }
        // Times may have fractions (RFC 7519, 2); these are exact in a double for long enough.
        #[allow(clippy::cast_precision_loss)]
        let (now, leeway) = (now as f64, self.leeway as f64);
        let time = |name: &str| match claims.get(name).map(Value::as_f64) {
            None => Ok(None),
            Some(Some(time)) if time.is_finite() && time >= 0.0 => Ok(Some(time)),
            Some(_) => Err(rejected("the token's exp, nbf or iat is not a time")),
        };
        let Some(expires) = time("exp")? else {
            return Err(rejected("the token has no exp"));
        };
        if now >= expires + leeway {
            return Err(rejected("the token has expired"));
        }
        let (begins, issued) = (time("nbf")?, time("iat")?);
        if [begins, issued].iter().flatten().any(|begin| *begin > now + leeway) {
            return Err(rejected("the token is not valid yet"));
        }
        // By `iat` if it is there: a token of ten years is not to become good after nine of them.
        if expires - issued.unwrap_or(now).min(now) > MAX_LIFE + leeway {
            return Err(rejected("the token's exp is too late: it may live for 366 days at most"));
        }
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let is_no_text = |name: &str| text(name).is_none() && claims.contains(name);
        if self.issuer.is_some() && text("iss") != self.issuer.as_deref() {
            return Err(rejected("the token is of another issuer"));
        }
        if !self.is_meant(claims.get("aud"), signer) {
            return Err(rejected("the token is for another audience"));
        }
        let mut scopes = Vec::new();
        for claim in [claims.get("scope"), claims.get("scp")].into_iter().flatten() {
            let words = words(claim).ok_or_else(|| rejected("the token's scopes are no words"))?;
            scopes.extend(words.into_iter().map(str::to_owned));
        }
        let subject = text("sub").map(str::to_owned);
        // Whose it is must be told or left open: nobody's name is no name.
        if text("sub").is_some_and(str::is_empty) {
            return Err(rejected("the token's sub is empty"));
        }
        if is_no_text("sub") || is_no_text("iss") {
            return Err(rejected("the token's sub or iss is no text"));
        }
        let issuer = signer.issuer(text("iss"));
        Ok(Principal::User { issuer, subject, scopes: Scopes::Listed(scopes) })
    }

    /// The second at which a token has expired, or one before it.
    fn end(&self, parts: &Parts<'_>) -> u64 {
        let expires = parts.claims.get("exp").and_then(Value::as_f64).unwrap_or_default();
        // What is no second of any clock becomes the first or the last.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        return (expires as u64).saturating_add(self.leeway);
    }

    /// Whether `aud` names this server (X43). A token of the secret may have none; a token of an
    /// issuer must have one, for others get such tokens too.
    fn is_meant(&self, aud: Option<&Value<'_>>, signer: Signer) -> bool {
        let names = |value: &Value<'_>| {
            value.as_str().is_some_and(|name| self.audiences.iter().any(|one| one == name))
        };
        match aud {
            None => signer == Signer::Secret,
            Some(Value::Array(several)) => several.iter().any(names),
            Some(one) => names(one),
        }
    }
}

/// The words of a claim: a text with spaces between (RFC 8693, 4.2), or an array of texts.
fn words<'v>(claim: &'v Value<'_>) -> Option<Vec<&'v str>> {
    match claim {
        Value::String(text) => Some(text.split_ascii_whitespace().collect()),
        Value::Array(words) => words.iter().map(Value::as_str).collect(),
        _ => None,
    }
}
