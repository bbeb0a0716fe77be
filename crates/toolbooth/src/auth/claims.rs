//! The rules for the claims of tokens (RFC 7519, 4.1), and the principal that they identify.

use base64ct::{Base64UrlUnpadded, Encoding};
use sha2::{Digest, Sha256};

use super::AuthError;
use super::jws::DecodedToken;
use super::own_tokens::CLIENT_REF;
use crate::json::{Object, Value};
use crate::principal::{Principal, Scopes};

/// The longest lifetime of a token, in seconds: 366 days. Issuers' tokens live for minutes or hours.
/// Tokens that an operator signs by hand may live as long as other credentials that are rotated
/// yearly; only a new secret revokes them earlier.
const MAX_LIFETIME: f64 = 366.0 * 86_400.0;

/// What a valid token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verified {
    pub(super) principal: Principal,
    /// The thumbprint of the key that it is bound to, whose possession its sender must prove.
    pub(super) thumbprint: Option<String>,
}

/// The thumbprint of the key that a token is bound to (RFC 9449, 6.1), if it is.
fn thumbprint(claims: &Object<'_>) -> Result<Option<String>, AuthError> {
    let Some(confirmation) = claims.get("cnf") else { return Ok(None) };
    let members = confirmation.as_object().filter(|members| members.len() == 1);
    let thumbprint = members.and_then(|members| members.get("jkt")?.as_str());
    // Its sender would have to prove something else (RFC 7800, 3).
    let other = AuthError::invalid("the token is bound to a key in a way that is not supported");
    thumbprint.map(|it| Some(it.to_owned())).ok_or(other)
}

#[derive(Debug, Clone)]
pub(super) struct ClaimRules {
    /// `JWT_AUDIENCE`: the names of this server in a token's `aud`.
    pub(super) audiences: Vec<String>,
    /// `JWT_ISSUER`: the required `iss`, if any.
    pub(super) issuer: Option<String>,
    /// `JWT_LEEWAY`: how many seconds clocks may differ.
    pub(super) leeway: u64,
    /// The claim that names the tenant, if there are tenants.
    pub(super) tenant_claim: Option<String>,
    /// The names of `TENANTS`.
    pub(super) tenants: Vec<String>,
}

/// Who signed a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signer {
    /// A holder of the shared secret, who signs for this server only.
    Secret,
    /// An issuer, who signs for other servers too.
    Issuer,
    /// The server itself, after a person has signed in.
    SignIn,
}

impl Signer {
    /// The issuer of a principal: a hash of the kind of signer and `iss`. A holder of the secret can
    /// write any `iss`, which does not make them that issuer.
    pub(super) fn issuer(self, iss: Option<&str>) -> String {
        let kind: &[u8] = match self {
            Self::Secret => b"secret",
            Self::Issuer => b"issuer",
            Self::SignIn => b"sign-in",
        };
        let separator: &[u8] = if iss.is_some() { b":" } else { b"" };
        let hash = Sha256::new_with_prefix(kind).chain_update(separator);
        let hash = hash.chain_update(iss.unwrap_or_default()).finalize();
        Base64UrlUnpadded::encode_string(&hash)
    }
}

impl ClaimRules {
    /// The principal that a token identifies, if it is valid at `now` (in seconds).
    ///
    /// # Errors
    /// The reason is for clients whose signature has been verified only.
    pub(super) fn principal(
        &self,
        token: &DecodedToken<'_>,
        signer: Signer,
        now: u64,
    ) -> Result<Verified, AuthError> {
        if !token.is_access_token() {
            return Err(AuthError::invalid("the token's `typ` must be that of an access token"));
        }
        self.check(token, signer, now)?;
        let claims = &token.claims;
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let is_other_type = |name: &str| text(name).is_none() && claims.contains(name);
        let mut scopes = Vec::new();
        for claim in [claims.get("scope"), claims.get("scp")].into_iter().flatten() {
            let reason = "the token's `scope` and `scp` must be strings or arrays of strings";
            let words = scope_words(claim).ok_or(AuthError::invalid(reason))?;
            scopes.extend(words.into_iter().map(str::to_owned));
        }
        let subject = text("sub").map(str::to_owned);
        if text("sub").is_some_and(str::is_empty) {
            return Err(AuthError::invalid("the token's `sub` must not be empty"));
        }
        if is_other_type("sub") || is_other_type("iss") {
            return Err(AuthError::invalid("the token's `sub` and `iss` must be strings"));
        }
        let issuer = signer.issuer(text("iss"));
        // Another issuer may let its clients write what they like.
        let own = |name: &str| text(name).filter(|_| signer == Signer::SignIn).map(str::to_owned);
        let (client, client_ref) = (own("client_name"), own(CLIENT_REF));
        let scopes = Scopes::Listed(scopes);
        let tenant = self.tenant(claims)?;
        let (rule, budgets, team, actor) = (None, Vec::new(), None, None);
        let principal = Principal::User {
            issuer,
            subject,
            scopes,
            client,
            client_ref,
            rule,
            budgets,
            tenant,
            team,
            actor,
            grant: None,
        };
        Ok(Verified { principal, thumbprint: thumbprint(claims)? })
    }

    /// The tenant that a token names. One that is unknown could have limits that are missing here.
    fn tenant(&self, claims: &Object<'_>) -> Result<Option<String>, AuthError> {
        let claim = self.tenant_claim.as_ref().and_then(|name| claims.get(name));
        let Some(claim) = claim else { return Ok(None) };
        let tenant = self.tenants.iter().find(|name| claim.as_str() == Some(name));
        let unknown = AuthError::invalid("the token names a tenant that the server does not know");
        tenant.map(|name| Some(name.clone())).ok_or(unknown)
    }

    /// Checks the claims that every token has, at `now` (in seconds).
    pub(super) fn check(
        &self,
        token: &DecodedToken<'_>,
        signer: Signer,
        now: u64,
    ) -> Result<(), AuthError> {
        let claims = &token.claims;
        self.check_times(token, now)?;
        let issuer = claims.get("iss").and_then(Value::as_str);
        if self.issuer.is_some() && issuer != self.issuer.as_deref() {
            return Err(AuthError::invalid("the token is from another issuer"));
        }
        if !self.is_audience(claims.get("aud"), signer) {
            return Err(AuthError::invalid("the token is for another audience"));
        }
        Ok(())
    }

    /// Checks `exp`, `nbf` and `iat` at `now`, in seconds.
    fn check_times(&self, token: &DecodedToken<'_>, now: u64) -> Result<(), AuthError> {
        // Times may have fractions (RFC 7519, 2). A double is exact for long enough.
        #[allow(clippy::cast_precision_loss)]
        let (now, leeway) = (now as f64, self.leeway as f64);
        let time = |name: &str| match token.claims.get(name).map(Value::as_f64) {
            None => Ok(None),
            Some(Some(time)) if time.is_finite() && time >= 0.0 => Ok(Some(time)),
            Some(_) => {
                Err(AuthError::invalid("`exp`, `nbf` and `iat` must be non-negative numbers"))
            }
        };
        let expires = time("exp")?.ok_or(AuthError::invalid("the token has no `exp`"))?;
        if now >= expires + leeway {
            return Err(AuthError::invalid("the token has expired"));
        }
        let (not_before, issued) = (time("nbf")?, time("iat")?);
        if [not_before, issued].iter().flatten().any(|start| *start > now + leeway) {
            return Err(AuthError::invalid("the token is not valid yet"));
        }
        // Measured from `iat` if it is present: a token for ten years must not become valid after nine.
        if expires - issued.unwrap_or(now).min(now) > MAX_LIFETIME + leeway {
            return Err(AuthError::invalid("the token's lifetime must be at most 366 days"));
        }
        Ok(())
    }

    /// The second at which a token has expired, or the one before.
    pub(super) fn end(&self, token: &DecodedToken<'_>) -> u64 {
        let expires = token.claims.get("exp").and_then(Value::as_f64).unwrap_or_default();
        // The cast saturates.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        return (expires as u64).saturating_add(self.leeway);
    }

    /// Whether `aud` names this server (X43). It may be absent from tokens signed with the secret, but
    /// not from those of an issuer, who issues tokens for other servers too.
    fn is_audience(&self, aud: Option<&Value<'_>>, signer: Signer) -> bool {
        let names_us = |value: &Value<'_>| {
            value.as_str().is_some_and(|name| self.audiences.iter().any(|own| own == name))
        };
        match aud {
            None => signer == Signer::Secret,
            Some(Value::Array(several)) => several.iter().any(names_us),
            Some(single) => names_us(single),
        }
    }
}

/// The scopes in a claim: a string separated by spaces (RFC 8693, 4.2), or an array of strings.
fn scope_words<'v>(claim: &'v Value<'_>) -> Option<Vec<&'v str>> {
    match claim {
        Value::String(text) => Some(text.split_ascii_whitespace().collect()),
        Value::Array(words) => words.iter().map(Value::as_str).collect(),
        _ => None,
    }
}
