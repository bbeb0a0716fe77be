//! Verifies tokens of others that are no access tokens: Cloudflare Access's, and those with which clients authenticate.

use super::AuthError;
use super::claims::{ClaimRules, Signer};
use super::jwks::{FetchPolicy, Jwks, KeySource};
use super::jws::DecodedToken;
use crate::host::Host;
use crate::json::{Object, Value};
use crate::settings::ClientKeys;

/// The longest assertion that is read, in bytes.
const MAX_ASSERTION: usize = 8 * 1024;
/// How many seconds clocks may differ.
const LEEWAY_SECONDS: u64 = 30;

/// Verifies the tokens of one issuer.
#[derive(Debug)]
pub struct AssertionVerifier {
    jwks: Jwks,
    rules: ClaimRules,
    /// The `typ` that they must have, in lower case.
    required_type: Option<&'static str>,
}

impl AssertionVerifier {
    /// A verifier of tokens of `issuer` for one of `audiences`, signed with one of these keys.
    pub fn new(keys: ClientKeys, issuer: String, audiences: Vec<String>) -> Self {
        let source = match keys {
            ClientKeys::Url(url) => KeySource::Url(url),
            ClientKeys::Set(set) => KeySource::Set(set),
        };
        let jwks = Jwks::new(source, "the key set".to_owned());
        Self { jwks, rules: rules(issuer, audiences), required_type: None }
    }

    /// A verifier of tokens of `issuer` for one of `audiences`, whose `typ` is `required_type`, in lower case. The keys are at
    /// `jwks_url`, or where the issuer's discovery document says.
    pub fn of_issuer(
        issuer: String,
        jwks_url: Option<String>,
        audiences: Vec<String>,
        required_type: &'static str,
    ) -> Self {
        let name = format!("the key set of {issuer}");
        let source = jwks_url.map_or_else(|| KeySource::Issuer(issuer.clone()), KeySource::Url);
        let (jwks, rules) = (Jwks::new(source, name), rules(issuer, audiences));
        Self { jwks, rules, required_type: Some(required_type) }
    }

    /// The claims of a token that is valid now.
    ///
    /// # Errors
    /// [`AuthError::Invalid`], or [`AuthError::KeysUnavailable`] if the keys cannot be fetched.
    pub async fn verify(&self, token: &str, host: &dyn Host) -> Result<Object<'static>, AuthError> {
        let decoded = decode(token).ok_or(AuthError::INVALID)?;
        if self.required_type.is_some_and(|required| !decoded.is_one_of(&[required])) {
            return Err(AuthError::invalid("its `typ` is that of another kind of token"));
        }
        // Its sender would have to prove possession of the key (RFC 7800, 3), and no proof is sent here.
        if decoded.claims.contains("cnf") {
            return Err(AuthError::invalid("it is bound to a key, which is not supported"));
        }
        // Checking claims is cheap: only a token with valid ones is worth a fetch.
        self.rules.check(&decoded, Signer::Issuer, host.now_ms() / 1000)?;
        let policy = FetchPolicy::IfNeeded;
        match decoded.is_signed_by_issuer(&self.jwks, policy, host).await? {
            (true, _) => Ok(decoded.claims),
            (false, _) => Err(AuthError::INVALID),
        }
    }
}

fn rules(issuer: String, audiences: Vec<String>) -> ClaimRules {
    let (tenant_claim, tenants) = (None, Vec::new());
    ClaimRules { audiences, issuer: Some(issuer), leeway: LEEWAY_SECONDS, tenant_claim, tenants }
}

/// The longest ID token that is read, in bytes: it may name hundreds of groups.
const MAX_ID_TOKEN: usize = 64 * 1024;

/// The claims of an ID token for the client `audience`, valid at `now_ms`, that the issuer itself has sent over TLS: its signature
/// need not be checked (OpenID Connect Core 1.0, 3.1.3.7, 6).
///
/// # Errors
/// [`AuthError::Invalid`]: it is not one of this issuer for this client, or has expired.
pub fn received_claims(
    token: &str,
    (issuer, audience): (&str, &str),
    now_ms: u64,
) -> Result<Object<'static>, AuthError> {
    let token = Some(token).filter(|it| it.len() <= MAX_ID_TOKEN).and_then(DecodedToken::decode);
    let token = token.ok_or(AuthError::INVALID)?;
    let rules = rules(issuer.to_owned(), vec![audience.to_owned()]);
    rules.check(&token, Signer::Issuer, now_ms / 1000)?;
    // One of several audiences may have got it for another client (3.1.3.7, 5).
    match token.claims.get("azp") {
        Some(party) if party.as_str() != Some(audience) => {
            Err(AuthError::invalid("the token was issued to another client"))
        }
        _ => Ok(token.claims),
    }
}

/// Verifies the signed descriptions of accounts that an OpenID provider sends to one of its clients (OpenID Connect Core 1.0, 5.3.2).
#[derive(Debug)]
pub struct DescriptionVerifier {
    jwks: Jwks,
    issuer: String,
    audience: String,
}

impl DescriptionVerifier {
    /// A verifier of the descriptions of `issuer` for its client `audience`. The issuer's discovery document says where the keys are.
    pub fn new(issuer: String, audience: String) -> Self {
        let name = format!("the key set of {issuer}");
        let jwks = Jwks::new(KeySource::Issuer(issuer.clone()), name);
        Self { jwks, issuer, audience }
    }

    /// The claims of a description that the issuer has signed. `iss`, `aud` and `exp` may be absent: the issuer itself has sent it.
    ///
    /// # Errors
    /// [`AuthError::Invalid`], or [`AuthError::KeysUnavailable`] if the keys cannot be fetched.
    pub async fn verify(&self, token: &str, host: &dyn Host) -> Result<Object<'static>, AuthError> {
        let decoded =
            Some(token).filter(|it| it.len() <= MAX_ID_TOKEN).and_then(DecodedToken::decode);
        let decoded = decoded.ok_or(AuthError::INVALID)?;
        let is_ours = |audience: &Value<'_>| audience.as_str() == Some(&*self.audience);
        #[allow(clippy::cast_precision_loss)]
        let now = (host.now_ms() / 1000).saturating_sub(LEEWAY_SECONDS) as f64;
        let is_valid = |(name, value): (&str, &Value<'_>)| match name {
            "iss" => value.as_str() == Some(&*self.issuer),
            "aud" => value.as_array().map_or_else(|| is_ours(value), |all| all.iter().any(is_ours)),
            _ => value.as_f64().is_some_and(|end| now < end),
        };
        let claims = ["iss", "aud", "exp"].into_iter();
        let mut claims = claims.filter_map(|name| Some((name, decoded.claims.get(name)?)));
        if !claims.all(is_valid) {
            return Err(AuthError::invalid("its `iss`, `aud` or `exp` is not valid"));
        }
        match decoded.is_signed_by_issuer(&self.jwks, FetchPolicy::IfNeeded, host).await? {
            (true, _) => Ok(decoded.claims),
            (false, _) => Err(AuthError::INVALID),
        }
    }
}

/// A claim of a token that is not verified yet, such as `sub`, if it is a string.
pub fn unverified_claim(token: &str, name: &str) -> Option<String> {
    decode(token)?.claims.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn decode(token: &str) -> Option<DecodedToken<'_>> {
    Some(token).filter(|it| it.len() <= MAX_ASSERTION).and_then(DecodedToken::decode)
}
