//! The encoding and the signatures of tokens (RFC 7515).

use base64ct::{Base64UrlUnpadded, Encoding};

use super::AuthError;
use super::jwks::{FetchPolicy, Jwks, VerificationKey, parse_key};
use crate::host::{Host, SignatureAlgorithm, boxed};
use crate::json::{self, Object, Value};
use crate::seal::MacKey;

/// The media types of access tokens, as in `typ`: those of RFC 7519, 5.1 and RFC 9068, 2.1. Tokens for
/// other purposes, such as `logout+jwt` and `dpop+jwt`, have other types (RFC 8725, 3.11).
const TYPES: [&str; 2] = ["jwt", "at+jwt"];

/// A decoded token, whose signature is not verified yet. It is parsed by the same parser as all
/// input, which rejects repeated members: two parsers of one token could disagree on them.
pub(super) struct DecodedToken<'a> {
    header: Object<'static>,
    pub(super) claims: Object<'static>,
    /// The text that was signed.
    message: &'a str,
    signature: Vec<u8>,
}

impl<'a> DecodedToken<'a> {
    /// Decodes a token; `None` if it is not a token, or requires an extension (`crit`: RFC 7515,
    /// 4.1.11; no extension is supported).
    pub(super) fn decode(token: &'a str) -> Option<Self> {
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

    pub(super) fn algorithm(&self) -> Option<&str> {
        self.header.get("alg")?.as_str()
    }

    /// Whether it is signed with `secret`.
    pub(super) fn is_signed_with(&self, secret: &MacKey) -> bool {
        self.algorithm() == Some("HS256")
            && secret.verifies(self.message.as_bytes(), &self.signature)
    }

    /// Whether it is signed with one of the issuer's keys, and when that key was fetched.
    pub(super) async fn is_signed_by_issuer(
        &self,
        jwks: &Jwks,
        policy: FetchPolicy,
        host: &dyn Host,
    ) -> Result<(bool, Option<u64>), AuthError> {
        let algorithm = self.algorithm().and_then(SignatureAlgorithm::named);
        let algorithm = algorithm.ok_or(AuthError::INVALID)?;
        let id = match self.header.get("kid") {
            None => None,
            Some(Value::String(id)) => Some(&**id),
            Some(_) => return Err(AuthError::INVALID),
        };
        let (key, fetched_ms) = boxed(jwks.key(id, algorithm, policy, host)).await?;
        Ok((self.is_signed_by(&key, host).await, fetched_ms))
    }

    /// The public key in its header, if it is one for its algorithm.
    pub(super) fn own_key(&self) -> Option<VerificationKey> {
        let key = parse_key(self.header.get("jwk")?)?;
        let algorithm = self.algorithm().and_then(SignatureAlgorithm::named);
        (algorithm == Some(key.algorithm)).then_some(key)
    }

    /// Whether it is signed with a key for its algorithm.
    pub(super) async fn is_signed_by(&self, key: &VerificationKey, host: &dyn Host) -> bool {
        let VerificationKey { algorithm, jwk, .. } = key;
        host.verify(*algorithm, jwk, self.message.as_bytes(), &self.signature).await
    }

    /// Whether `typ` is that of an access token or absent (RFC 7515, 4.1.9: case does not matter, and
    /// `application/` may be omitted).
    pub(super) fn is_access_token(&self) -> bool {
        !self.header.contains("typ") || self.is_one_of(&TYPES)
    }

    /// Whether it has a `typ` that is one of these, in lower case.
    pub(super) fn is_one_of(&self, types: &[&str]) -> bool {
        self.header.get("typ").and_then(Value::as_str).is_some_and(|sent| {
            let sent = sent.to_ascii_lowercase();
            types.contains(&sent.strip_prefix("application/").unwrap_or(&sent))
        })
    }
}
