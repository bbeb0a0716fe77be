//! Tokens of the shared secret: the vectors of OXP, and what attackers try.

mod parts;

use jwt_compact::{Algorithm, AlgorithmExt, AlgorithmSignature, Token, UntrustedToken};

use super::super::claims::{ClaimRules, Signer};
use super::super::jws::DecodedToken;
use super::*;
use crate::seal::MacKey;
use jwt_compact::alg::{Hs256, Hs256Key};

pub(super) const SECRET: &str = "a secret of thirty-two bytes or m";
/// What the clock of the tests says, in seconds.
const NOW: u64 = 1_741_724_000;
const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

/// Base64url without padding (RFC 7515, 2).
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - group.len()));
        for digit in 0..=group.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]));
        }
    }
    text
}

/// A token of these very texts, signed with `secret`.
fn signed(secret: &str, header: &str, claims: &str) -> String {
    let message = format!("{}.{}", base64(header.as_bytes()), base64(claims.as_bytes()));
    let signature = Hs256.sign(&Hs256Key::new(secret), message.as_bytes());
    format!("{message}.{}", base64(&signature.as_bytes()))
}

/// A token that is let in: alice's, with the scope `a`.
pub(super) fn good() -> String {
    signed(SECRET, HEADER, &format!(r#"{{"sub":"alice","scope":"a","exp":{}}}"#, NOW + 60))
}

/// The same, as that issuer.
pub(super) fn good_of(iss: &str) -> String {
    signed(SECRET, HEADER, &format!(r#"{{"sub":"alice","iss":"{iss}","exp":{}}}"#, NOW + 60))
}

/// What becomes of a token where the secret is the one above and these variables are set too.
fn sent(token: &str, more: Set<'_>) -> Result<Principal, AuthError> {
    let variables: Vec<_> =
        [("AUTH", "jwt"), ("JWT_SECRET", SECRET)].iter().chain(more).copied().collect();
    principal(&variables, &[("authorization", &format!("Bearer {token}"))])
}

/// The user of a token signed with the secret, without `iss`.
pub(super) fn user(subject: Option<&str>, scopes: &[&str]) -> Result<Principal, AuthError> {
    by(None, subject, scopes)
}

/// The user of a token signed with the secret, with this `iss`.
fn by(iss: Option<&str>, subject: Option<&str>, scopes: &[&str]) -> Result<Principal, AuthError> {
    let issuer = Signer::Secret.issuer(iss);
    Ok(Principal::User {
        issuer,
        subject: subject.map(str::to_owned),
        scopes: listed(scopes),
        client: None,
        rule: None,
        budgets: Vec::new(),
        tenant: None,
        client_ref: None,
        team: None,
        actor: None,
        grant: None,
    })
}

#[test]
fn vectors_of_oxp() {
    const HEAD: &str = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9";
    let no_audience = || ClaimRules {
        audiences: Vec::new(),
        issuer: None,
        leeway: 0,
        tenant_claim: None,
        tenants: Vec::new(),
    };
    let rules = ClaimRules { audiences: vec!["otcserver".to_owned()], ..no_audience() };
    let verified = |token: &str, rules: &ClaimRules, now| {
        let parts = DecodedToken::decode(token).ok_or_else(invalid)?;
        let good = parts.is_signed_with(&MacKey::new(b"secret"));
        if !good {
            return Err(invalid());
        }
        rules.principal(&parts, Signer::Secret, now).map(|it| it.principal)
    };
    let v1 = format!(
        "{HEAD}.eyJhdWQiOiJvdGNzZXJ2ZXIiLCJleHAiOjE3NDE3MjQyMTl9.FPIFSSUmngbyePKghI54zUJ-dUxCrh4ZnP9TId5zk34"
    );
    for (what, token, expected) in [
        ("V1 the example of the specification", &*v1, user(None, &[])),
        (
            "V2 without aud",
            &format!("{HEAD}.eyJleHAiOjE3NDE3MjQyMTl9.cKqaZGMNG4KY1Aqo0CcqhmyAgZzsVem-cbmS8SLu31M"),
            user(None, &[]),
        ),
        (
            "V3 another aud",
            &format!(
                "{HEAD}.eyJhdWQiOiJvdGhlciIsImV4cCI6MTc0MTcyNDIxOX0.oxA--DTQEcEv35lOlDY1HHkLppuEh7HIwFG3tG1p3bg"
            ),
            Err(rejected("the token is for another audience")),
        ),
        (
            "V4 several aud",
            &format!(
                "{HEAD}.eyJhdWQiOlsieCIsIm90Y3NlcnZlciJdLCJleHAiOjE3NDE3MjQyMTl9.O590rXpqu7VyX10RDMh4olaNjgKYEtkW39MHN9FfThA"
            ),
            user(None, &[]),
        ),
        (
            "V5 without exp",
            &format!(
                "{HEAD}.eyJhdWQiOiJvdGNzZXJ2ZXIifQ.equ2BTLKGtSqP-ShaUWim3ZdJTxW-fPwMYZm5iMKaJU"
            ),
            Err(rejected("the token has no `exp`")),
        ),
        (
            "V6 alg none",
            "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.eyJhdWQiOiJvdGNzZXJ2ZXIiLCJleHAiOjE3NDE3MjQyMTl9.",
            Err(invalid()),
        ),
        (
            "V7 another secret",
            &format!(
                "{HEAD}.eyJhdWQiOiJvdGNzZXJ2ZXIiLCJleHAiOjE3NDE3MjQyMTl9.M5ta2haie6nw6ExorJAZYEKo3v2Ad3a8O7ko7EGY0RA"
            ),
            Err(invalid()),
        ),
    ] {
        assert_eq!(verified(token, &rules, NOW), expected, "{what}");
    }
    let other = Err(rejected("the token is for another audience"));
    assert_eq!(verified(&v1, &no_audience(), NOW), other, "V1 where no audience is allowed");
    assert_eq!(verified(&v1, &rules, NOW + 218), user(None, &[]), "V1 in its last second");
    let expired = Err(rejected("the token has expired"));
    assert_eq!(verified(&v1, &rules, NOW + 219), expired, "V1 at its exp");
    assert_eq!(verified(&v1, &rules, NOW + 220), expired, "V1 after it");
}

#[test]
fn types_of_tokens() {
    let claims = format!(r#"{{"exp":{}}}"#, NOW + 60);
    let other = Err(rejected("the token's `typ` must be that of an access token"));
    for (typ, known) in [
        (r#""JWT""#, true),
        (r#""jwt""#, true),
        (r#""at+jwt""#, true),
        (r#""AT+JWT""#, true),
        (r#""application/at+jwt""#, true),
        (r#""Application/JWT""#, true),
        (r#""logout+jwt""#, false),
        (r#""application/logout+jwt""#, false),
        (r#""dpop+jwt""#, false),
        (r#""secevent+jwt""#, false),
        (r#""JWE""#, false),
        (r#""application/application/jwt""#, false),
        (r#""text/jwt""#, false),
        (r#""""#, false),
        ("null", false),
        (r#"["JWT"]"#, false),
    ] {
        let token = signed(SECRET, &format!(r#"{{"alg":"HS256","typ":{typ}}}"#), &claims);
        let expected = if known { user(None, &[]) } else { other.clone() };
        assert_eq!(sent(&token, &[]), expected, "{typ}");
    }
    assert_eq!(sent(&signed(SECRET, r#"{"alg":"HS256"}"#, &claims), &[]), user(None, &[]), "none");
}

#[test]
fn a_secret_can_be_changed_while_older_tokens_are_valid() {
    const NEXT: &str = "another secret, of thirty-two bytes";
    let by = |secret| signed(secret, HEADER, &format!(r#"{{"sub":"a","exp":{}}}"#, NOW + 60));
    let (both, alone) =
        ([("JWT_SECRET", NEXT), ("JWT_SECRET_PREVIOUS", SECRET)], [("JWT_SECRET", NEXT)]);
    assert_eq!(sent(&by(NEXT), &both), user(Some("a"), &[]));
    assert_eq!(sent(&by(SECRET), &both), user(Some("a"), &[]), "the same user");
    assert_eq!(sent(&by("a third secret, of thirty-two bytes"), &both), Err(invalid()));
    assert_eq!(sent(&by(SECRET), &alone), Err(invalid()), "when the change is over");
    let short = "JWT_SECRET_PREVIOUS must have at least 32 bytes";
    let equal = "JWT_SECRET_PREVIOUS must differ from JWT_SECRET or not be set";
    let useless = "JWT_SECRET_PREVIOUS must not be set without JWT_SECRET";
    let neither = "JWT_SECRET or JWKS_URL must be set if AUTH contains jwt";
    for (variables, expected) in [
        (&both[..], &[][..]),
        (&[("JWT_SECRET", NEXT), ("JWT_SECRET_PREVIOUS", &SECRET[..31])], &[short]),
        (&[("JWT_SECRET", NEXT), ("JWT_SECRET_PREVIOUS", "")], &[]),
        (&[("JWT_SECRET", NEXT), ("JWT_SECRET_PREVIOUS", NEXT)], &[equal]),
        (&[("JWT_SECRET_PREVIOUS", SECRET)], &[neither, useless]),
    ] {
        let variables: Vec<_> = [("AUTH", "jwt")].iter().chain(variables).copied().collect();
        assert_eq!(problems(&variables), expected);
    }
    // What is wrong verifies nothing.
    let token = ("authorization", &*format!("Bearer {}", by(&SECRET[..31])));
    let variables = [("AUTH", "jwt"), ("JWT_SECRET", NEXT), ("JWT_SECRET_PREVIOUS", &SECRET[..31])];
    assert_eq!(principal(&variables, &[token]), Err(invalid()));
    let token = ("authorization", &*format!("Bearer {}", by(SECRET)));
    let variables = [("AUTH", "jwt"), ("JWT_SECRET_PREVIOUS", SECRET)];
    assert_eq!(principal(&variables, &[token]), Err(invalid()));
}

#[test]
fn variables() {
    let secret = "JWT_SECRET must have at least 32 bytes";
    let url = "JWKS_URL must be an https URL; http is allowed for localhost only";
    let leeway = "JWT_LEEWAY must be a whole number of seconds from 0 to 300";
    let neither = "JWT_SECRET or JWKS_URL must be set if AUTH contains jwt";
    for (variable, expected) in [
        (None, Some(neither)),
        (Some(("JWT_SECRET", "")), Some(secret)),
        (Some(("JWT_SECRET", &SECRET[..31])), Some(secret)),
        (Some(("JWT_SECRET", &SECRET[..32])), None),
        (Some(("JWKS_URL", "https://issuer.example/keys?v=1")), None),
        (Some(("JWKS_URL", "http://127.0.0.1:9000/jwks")), None),
        (Some(("JWKS_URL", "http://localhost/jwks")), None),
        (Some(("JWKS_URL", "http://issuer.example/keys")), Some(url)),
        (Some(("JWKS_URL", "http://localhost.evil.example/")), Some(url)),
        (Some(("JWKS_URL", "http://localhost:x@evil.example/")), Some(url)),
        (Some(("JWKS_URL", "https://")), Some(url)),
        (Some(("JWKS_URL", "https://a b")), Some(url)),
        (Some(("JWKS_URL", "file:///etc/passwd")), Some(url)),
        (Some(("JWKS_URL", "")), Some(url)),
    ] {
        let whose =
            [("AUTH", "jwt"), ("JWT_ISSUER", "https://issuer.example"), ("JWT_AUDIENCE", "us")];
        let variables: Vec<_> = whose.into_iter().chain(variable).collect();
        assert_eq!(problems(&variables), Vec::from_iter(expected), "{variable:?}");
    }
    let (issuer, audience) = (
        "JWT_ISSUER must be set if JWKS_URL is",
        "JWT_AUDIENCE or PUBLIC_URL must be set if JWKS_URL is",
    );
    let (url, iss) =
        (("JWKS_URL", "https://issuer.example/"), ("JWT_ISSUER", "https://issuer.example"));
    for (variables, expected) in [
        (&[url, iss, ("JWT_AUDIENCE", "us")][..], &[][..]),
        (&[url, iss, ("PUBLIC_URL", "https://us.example")], &[]),
        (&[url, iss], &[audience]),
        (&[url, iss, ("JWT_AUDIENCE", " , "), ("PUBLIC_URL", "")], &[audience]),
        (&[url, ("JWT_AUDIENCE", "us")], &[issuer]),
        (&[url, ("JWT_ISSUER", ""), ("JWT_AUDIENCE", "us")], &[issuer]),
        (&[url], &[audience, issuer]),
        // The secret signs for this server alone.
        (&[("JWT_SECRET", SECRET)], &[]),
    ] {
        let set: Vec<_> = [("AUTH", "jwt")].iter().chain(variables).copied().collect();
        assert_eq!(problems(&set), expected, "{variables:?}");
    }
    for (value, expected) in [
        ("0", None),
        ("300", None),
        ("301", Some(leeway)),
        ("-1", Some(leeway)),
        ("1m", Some(leeway)),
        ("", Some(leeway)),
    ] {
        let variables = [("AUTH", "jwt"), ("JWT_SECRET", SECRET), ("JWT_LEEWAY", value)];
        assert_eq!(problems(&variables), Vec::from_iter(expected), "{value}");
    }
    // A secret that is too short verifies nothing.
    let short = &SECRET[..31];
    let token = signed(short, HEADER, &format!(r#"{{"exp":{}}}"#, NOW + 60));
    let variables = [("AUTH", "jwt"), ("JWT_SECRET", short)];
    let header = ("authorization", &*format!("Bearer {token}"));
    assert_eq!(principal(&variables, &[header]), Err(invalid()));
}

/// Why tokens have a reader of their own: of a claim that comes twice, a usual reader takes the last, another may take the first.
#[test]
fn a_claim_that_two_readers_read_differently() {
    let token =
        signed(SECRET, HEADER, &format!(r#"{{"sub":"alice","sub":"mallory","exp":{}}}"#, NOW + 60));
    let read = UntrustedToken::new(&token).unwrap();
    let read: Token<serde_json::Map<String, serde_json::Value>> =
        Hs256.validator(&Hs256Key::new(SECRET)).validate(&read).unwrap();
    assert_eq!(read.claims().custom["sub"], "mallory");
    assert_eq!(sent(&token, &[]), Err(invalid()));
}
