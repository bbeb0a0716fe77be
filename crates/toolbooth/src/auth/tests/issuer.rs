//! Tokens of an issuer: its keys as they are published, kept, asked for again, and missing. The
//! signatures are the stand-in's; real ones are verified in tests/auth.test.mjs.

mod concurrency;

use std::cell::RefCell;

use serde_json::{Value, json};

use super::tokens::base64;
use super::*;
use crate::host::{HttpError, HttpRequest, HttpResponse, SignatureAlgorithm};
use crate::testing::{FakeHost, fake_signature};

const NOW_MS: u64 = 1_741_724_000_000;
const URL: &str = "https://issuer.example/keys";
const ISSUER: &str = "https://issuer.example";

thread_local! {
    /// What the issuer answers, and how often it was asked.
    static ANSWER: RefCell<(Result<HttpResponse, HttpError>, usize)> =
        const { RefCell::new((Err(HttpError::Timeout), 0)) };
}

fn upstream(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    assert_eq!((request.method, &*request.url), ("GET", URL));
    ANSWER.with_borrow_mut(|(answer, asked)| {
        *asked += 1;
        answer.clone()
    })
}

fn publish(status: u16, body: &str) {
    let body = body.as_bytes().to_vec();
    let answer = Ok(HttpResponse::new(status, body));
    ANSWER.with_borrow_mut(|issuer| issuer.0 = answer);
}

fn publish_keys(keys: &[Value]) {
    publish(200, &json!({ "keys": keys }).to_string());
}

fn asked() -> usize {
    ANSWER.with_borrow(|issuer| issuer.1)
}

/// A server that has just started, with the variables of an issuer and these.
struct StubIssuer {
    host: FakeHost,
    access: Authenticator,
}

impl StubIssuer {
    fn new(more: Set<'_>) -> Self {
        let issuer = [("JWKS_URL", URL), ("JWT_ISSUER", ISSUER), ("JWT_AUDIENCE", "us")];
        let variables: Vec<_> =
            [("AUTH", "jwt")].iter().chain(&issuer).chain(more).copied().collect();
        let host = FakeHost { upstream, ..FakeHost::with(&variables) };
        ANSWER.with_borrow_mut(|issuer| issuer.1 = 0);
        let access = authenticator(&host);
        Self { host, access }
    }

    /// What becomes of a token so many milliseconds after the start.
    fn sent(&self, after: u64, token: &str) -> Result<(), AuthError> {
        self.host.now_ms.set(NOW_MS + after);
        let header = format!("Bearer {token}");
        let headers = [("authorization", &*header)];
        ready(self.access.authenticate(Target::default(), &Pairs(&headers), &self.host)).map(drop)
    }
}

fn rsa(id: &str) -> Value {
    json!({"kty": "RSA", "kid": id, "n": "n".repeat(342), "e": "AQAB"})
}

fn ec(id: &str) -> Value {
    json!({"kty": "EC", "crv": "P-256", "kid": id, "x": "x", "y": "y"})
}

fn ed(id: &str) -> Value {
    json!({"kty": "OKP", "crv": "Ed25519", "kid": id, "x": "x"})
}

/// The members of a key that verify, as the server hands them to the host.
fn public(key: &Value) -> String {
    let mut key = key.clone();
    let members = key.as_object_mut().unwrap();
    members.retain(|name, _| ["kty", "crv", "n", "e", "x", "y"].contains(&&**name));
    key.to_string()
}

/// A token with this header, good for ten hours, that the holder of `key` has signed. In `more`, null
/// takes a claim away.
fn signed(key: &Value, header: &Value, more: &Value) -> String {
    let exp = NOW_MS / 1000 + 36_000;
    let mut claims = json!({"sub": "alice", "iss": ISSUER, "aud": "us", "exp": exp});
    let members = claims.as_object_mut().unwrap();
    members.extend(more.as_object().cloned().unwrap_or_default());
    members.retain(|_, value| !value.is_null());
    let parts = [header, &claims].map(|part| base64(part.to_string().as_bytes()));
    let message = parts.join(".");
    let algorithm = match key["kty"].as_str() {
        Some("RSA") => SignatureAlgorithm::Rs256,
        Some("EC") => SignatureAlgorithm::Es256,
        _ => SignatureAlgorithm::EdDsa,
    };
    let signature = fake_signature(algorithm, &public(key), message.as_bytes());
    format!("{message}.{}", base64(&signature))
}

/// A token as that key's holder makes them.
fn by(key: &Value) -> String {
    let algorithm = match key["kty"].as_str() {
        Some("RSA") => "RS256",
        Some("EC") => "ES256",
        _ => "EdDSA",
    };
    signed(key, &json!({"alg": algorithm, "kid": key["kid"]}), &json!({}))
}

/// A key that is too short, with zeros in front to look longer.
fn padded() -> Value {
    with(&rsa("k"), "n", json!(format!("AA{}", "n".repeat(340))))
}

fn with(key: &Value, name: &str, value: Value) -> Value {
    let mut key = key.clone();
    key[name] = value;
    key
}

#[test]
fn each_algorithm_has_its_own_keys() {
    let keys = [rsa("r"), ec("c"), ed("d")];
    publish_keys(&keys);
    let server = StubIssuer::new(&[("JWT_SECRET", super::tokens::SECRET)]);
    for key in &keys {
        assert_eq!(server.sent(0, &by(key)), Ok(()), "{key}");
        let (alg, kid) = (json!("HS256"), &key["kid"]);
        let confused = signed(key, &json!({"alg": alg, "kid": kid}), &json!({}));
        assert_eq!(server.sent(0, &confused), Err(invalid()), "a public key as a secret: {key}");
        for other in &keys {
            let header = json!({"alg": by_name(key), "kid": other["kid"]});
            let token = signed(key, &header, &json!({}));
            let expected = if key == other { Ok(()) } else { Err(invalid()) };
            assert_eq!(server.sent(0, &token), expected, "{key} by the id of {other}");
        }
        for alg in ["none", "RS384", "PS256", "ES384", "ES256K", "rs256", ""] {
            let token = signed(key, &json!({"alg": alg, "kid": key["kid"]}), &json!({}));
            assert_eq!(server.sent(0, &token), Err(invalid()), "{alg} with {key}");
        }
    }
    let secret = super::tokens::good_of(ISSUER);
    assert_eq!(server.sent(0, &secret), Ok(()), "the secret beside them");
    assert_eq!(asked(), 1, "once for all");
}

fn by_name(key: &Value) -> &'static str {
    match key["kty"].as_str() {
        Some("RSA") => "RS256",
        Some("EC") => "ES256",
        _ => "EdDSA",
    }
}

#[test]
fn keys_that_are_not_used() {
    for (what, published, token) in [
        ("for encryption", with(&rsa("k"), "use", json!("enc")), by(&rsa("k"))),
        ("for another algorithm", with(&rsa("k"), "alg", json!("PS256")), by(&rsa("k"))),
        ("alg is no text", with(&rsa("k"), "alg", json!(256)), by(&rsa("k"))),
        ("for signing alone", with(&ec("k"), "key_ops", json!(["sign"])), by(&ec("k"))),
        ("on another curve", with(&ec("k"), "crv", json!("P-384")), by(&ec("k"))),
        ("for key agreement", with(&ed("k"), "crv", json!("X25519")), by(&ed("k"))),
        ("too short", with(&rsa("k"), "n", json!("n".repeat(341))), by(&rsa("k"))),
        ("its private part published too", with(&ec("k"), "d", json!("d")), by(&ec("k"))),
        ("the same of RSA", with(&rsa("k"), "d", json!("d")), by(&rsa("k"))),
        ("too short, with zeros in front", padded(), by(&padded())),
        ("without modulus", with(&rsa("k"), "n", json!(null)), by(&rsa("k"))),
        ("with half a point", with(&ec("k"), "y", json!(null)), by(&ec("k"))),
        ("a shared secret", json!({"kty": "oct", "kid": "k", "k": "eA"}), by(&ed("k"))),
        ("id in capitals", ed("K"), by(&ed("k"))),
        ("without id", with(&ed("k"), "kid", json!(null)), by(&ed("k"))),
        ("id is a number", with(&ed("k"), "kid", json!(7)), by(&ed("k"))),
        ("no object", json!("k"), by(&ed("k"))),
    ] {
        publish_keys(&[json!(null), published]);
        assert_eq!(StubIssuer::new(&[]).sent(0, &token), Err(invalid()), "{what}");
    }
    for (what, published) in [
        ("its algorithm named", with(&rsa("k"), "alg", json!("RS256"))),
        ("its use named", with(&rsa("k"), "use", json!("sig"))),
        ("its operation named", with(&rsa("k"), "key_ops", json!(["verify"]))),
        ("with more members", with(&rsa("k"), "x5c", json!(["…"]))),
    ] {
        publish_keys(&[json!({"kty": "XYZ"}), published]);
        assert_eq!(StubIssuer::new(&[]).sent(0, &by(&rsa("k"))), Ok(()), "{what}");
    }
}

#[test]
fn tokens_without_key_id() {
    let bare = |key: &Value| signed(key, &json!({"alg": by_name(key)}), &json!({}));
    for (what, keys, expected) in [
        ("the only key", vec![ec("a")], Ok(())),
        ("the only key of its kind", vec![rsa("a"), ec("b")], Ok(())),
        ("one of two", vec![ec("a"), ec("b")], Err(invalid())),
        ("none", vec![], Err(invalid())),
    ] {
        publish_keys(&keys);
        assert_eq!(StubIssuer::new(&[]).sent(0, &bare(&ec("a"))), expected, "{what}");
    }
}

#[test]
fn audiences_of_issuers() {
    publish_keys(&[ec("k")]);
    let header = json!({"alg": "ES256", "kid": "k"});
    let other = Err(rejected("the token is for another audience"));
    for (configured, aud, expected) in [
        ("us", json!({"aud": "us"}), Ok(())),
        ("us", json!({"aud": ["x", "us"]}), Ok(())),
        ("us", json!({"aud": "them"}), other),
        ("us", json!({"aud": null}), other),
        ("them, us", json!({"aud": "us"}), Ok(())),
        ("them", json!({}), other),
        // Without a name nothing of the issuer is let in.
        ("", json!({}), Err(invalid())),
        ("", json!({"aud": null}), Err(invalid())),
    ] {
        let server = StubIssuer::new(&[("JWT_AUDIENCE", configured)]);
        // The keys are there.
        let _ = server.sent(0, &signed(&ec("k"), &header, &json!({"aud": ["us", "them"]})));
        assert_eq!(
            server.sent(0, &signed(&ec("k"), &header, &aud)),
            expected,
            "{configured} {aud}"
        );
    }
    let server = StubIssuer::new(&[]);
    let forged = by(&ec("k")).replace('.', ".e30");
    assert_eq!(server.sent(0, &forged), Err(invalid()), "claims that were not signed");
    let crit = json!({"alg": "ES256", "kid": "k", "crit": ["b64"], "b64": false});
    assert_eq!(server.sent(0, &signed(&ec("k"), &crit, &json!({}))), Err(invalid()), "crit");
}

#[test]
fn keys_are_kept_and_asked_for_again() {
    const MINUTE: u64 = 60_000;
    let (old, new) = (by(&ec("old")), by(&ec("new")));
    publish_keys(&[ec("old")]);
    let server = StubIssuer::new(&[]);
    // Milliseconds since the start, the token, what becomes of it, how often the issuer was asked.
    let go = |steps: &[(u64, &str, Result<(), AuthError>, usize)]| {
        for (after, token, expected, times) in steps {
            assert_eq!(server.sent(*after, token), *expected, "after {after} ms");
            assert_eq!(asked(), *times, "after {after} ms");
        }
    };
    go(&[
        (0, &old, Ok(()), 1),
        (1, &old, Ok(()), 1),
        (MINUTE - 10, &new, Err(invalid()), 1),
        (MINUTE + 10, &new, Err(invalid()), 2),
        (MINUTE + 20, &new, Err(invalid()), 2),
    ]);
    publish_keys(&[ec("old"), ec("new")]);
    go(&[
        (MINUTE + 30, &new, Err(invalid()), 2),
        (2 * MINUTE + 20, &new, Ok(()), 3),
        (2 * MINUTE + 30, &old, Ok(()), 3),
    ]);
    publish_keys(&[ec("new")]);
    go(&[
        (12 * MINUTE, &old, Ok(()), 3),
        (13 * MINUTE, &old, Err(invalid()), 4),
        (13 * MINUTE, &new, Ok(()), 4),
    ]);
    // The issuer is down: its keys count for an hour from when it was last heard, no longer.
    publish(503, "");
    go(&[
        (22 * MINUTE, &new, Ok(()), 4),
        (24 * MINUTE, &new, Ok(()), 5),
        (24 * MINUTE + 4_000, &new, Ok(()), 5),
        (24 * MINUTE + 6_000, &new, Ok(()), 6),
        (24 * MINUTE + 6_000, &old, Err(invalid()), 6),
        (73 * MINUTE - 10, &new, Ok(()), 7),
        (73 * MINUTE + 10, &new, Err(AuthError::KeysUnavailable), 7),
        (74 * MINUTE, &new, Err(AuthError::KeysUnavailable), 8),
    ]);
    publish_keys(&[ec("new")]);
    go(&[
        (74 * MINUTE + 4_000, &new, Err(AuthError::KeysUnavailable), 8),
        (74 * MINUTE + 6_000, &new, Ok(()), 9),
    ]);
}

#[test]
fn a_token_is_verified_once_while_its_keys_are_fresh() {
    const MINUTE: u64 = 60_000;
    publish_keys(&[ec("k")]);
    let server = StubIssuer::new(&[("JWT_SECRET", super::tokens::SECRET)]);
    let of_issuer =
        |exp: u64| signed(&ec("k"), &json!({"alg": "ES256", "kid": "k"}), &json!({"exp": exp}));
    let (long, short) = (of_issuer(NOW_MS / 1000 + 7200), of_issuer(NOW_MS / 1000 + 60));
    let expired = Err(rejected("the token has expired"));
    let (head, tail) = long.split_at(long.len() - 9);
    let other = if tail.starts_with('A') { 'B' } else { 'A' };
    let changed = format!("{head}{other}{}", &tail[1..]);
    let secret = super::tokens::good_of(ISSUER);
    // Milliseconds since the start, the token, what becomes of it, how often one was verified.
    for (what, after, token, expected, verified) in [
        ("new", 0, &long, Ok(()), 1),
        ("known", 10, &long, Ok(()), 1),
        ("changed in its signature", 20, &changed, Err(invalid()), 2),
        ("another", 30, &short, Ok(()), 3),
        ("and the first again", 40, &long, Ok(()), 3),
        ("within the leeway", 89_000, &short, Ok(()), 3),
        ("expired meanwhile", 90_000, &short, expired, 4),
        ("the secret's, beside them", 10, &secret, Ok(()), 4),
        ("the secret's, expired", 90_000, &secret, expired, 4),
        ("keys still fresh", 10 * MINUTE - 10, &long, Ok(()), 4),
        ("keys fetched again", 10 * MINUTE + 10, &long, Ok(()), 5),
        ("known again", 10 * MINUTE + 20, &long, Ok(()), 5),
    ] {
        assert_eq!(server.sent(after, token), expected, "{what}");
        assert_eq!(server.host.verified.get(), verified, "{what}");
    }
    // The key is withdrawn: what it has verified counts as long as the keys that it was among.
    publish_keys(&[ec("other")]);
    assert_eq!(server.sent(20 * MINUTE, &long), Ok(()));
    assert_eq!(server.sent(20 * MINUTE + 20, &long), Err(invalid()));
}

/// A caller without a valid token causes no request to the issuer, and learns nothing.
#[test]
fn claims_are_checked_before_keys_are_fetched() {
    publish_keys(&[ec("k")]);
    let server = StubIssuer::new(&[]);
    let header = json!({"alg": "ES256", "kid": "k"});
    let typed = json!({"alg": "ES256", "kid": "k", "typ": "logout+jwt"});
    let far = NOW_MS / 1000 + 400 * 86_400;
    let bad = [
        (&header, json!({"exp": NOW_MS / 1000 - 31}), "the token has expired"),
        (&header, json!({"exp": null}), "the token has no `exp`"),
        (&header, json!({"exp": far}), "the token's lifetime must be at most 366 days"),
        (&header, json!({"iss": "https://evil.example"}), "the token is from another issuer"),
        (&header, json!({"iss": null}), "the token is from another issuer"),
        (&header, json!({"aud": "them"}), "the token is for another audience"),
        (
            &header,
            json!({"cnf": {"x5t#S256": "x"}}),
            "the token is bound to a key in a way that is not supported",
        ),
        (&typed, json!({}), "the token's `typ` must be that of an access token"),
    ]
    .map(|(header, claims, reason)| (signed(&ec("k"), header, &claims), reason));
    for (token, reason) in &bad {
        assert_eq!(server.sent(0, token), Err(invalid()), "{reason}");
    }
    for token in ["a.b.c", "eyJhbGciOiJFUzI1NiJ9.e30.", "eyJhbGciOiJFUzI1NiJ9.e30.AAAA"] {
        assert_eq!(server.sent(0, token), Err(invalid()), "{token}");
    }
    assert_eq!(asked(), 0, "the issuer is not asked");
    assert_eq!(server.sent(0, &by(&ec("k"))), Ok(()));
    for (token, reason) in &bad {
        assert_eq!(server.sent(10, token), Err(rejected(reason)), "with the keys at hand");
        let (message, _) = token.rsplit_once('.').unwrap();
        let forged = format!("{message}.AAAA");
        assert_eq!(server.sent(10, &forged), Err(invalid()), "{reason}, without a signature");
    }
    assert_eq!(asked(), 1);
}

#[test]
fn users_of_the_secret_are_not_those_of_the_issuer() {
    use super::super::claims::Signer::{Issuer, Secret};
    let issuers = [
        Secret.issuer(None),
        Secret.issuer(Some("")),
        Secret.issuer(Some(ISSUER)),
        Issuer.issuer(None),
        Issuer.issuer(Some("")),
        Issuer.issuer(Some(ISSUER)),
        Issuer.issuer(Some("https://issuer.example/")),
    ];
    for (at, issuer) in issuers.iter().enumerate() {
        assert!(issuers[..at].iter().all(|other| other != issuer), "{at}");
    }
    publish_keys(&[ec("k")]);
    let server = StubIssuer::new(&[("JWT_SECRET", super::tokens::SECRET)]);
    for (token, signer) in [(super::tokens::good_of(ISSUER), Secret), (by(&ec("k")), Issuer)] {
        let token = format!("Bearer {token}");
        let headers = [("authorization", &*token)];
        let headers = Pairs(&headers);
        let sent = server.access.authenticate(Target::default(), &headers, &server.host);
        let Ok(Principal::User { issuer, subject, .. }) = ready(sent).map(|it| it.principal) else {
            panic!("{signer:?}");
        };
        assert_eq!((issuer, subject.as_deref()), (signer.issuer(Some(ISSUER)), Some("alice")));
    }
}

#[test]
fn an_issuer_that_does_not_answer_lets_nobody_in() {
    let token = by(&ec("k"));
    let form = "JWKS_URL did not return a JSON object with keys";
    for (what, answer, problem) in [
        (
            "down",
            Err(HttpError::Unreachable("refused".to_owned())),
            "JWKS_URL: unreachable: refused",
        ),
        ("slow", Err(HttpError::Timeout), "JWKS_URL: no response in time"),
        ("huge", Err(HttpError::TooLarge), "JWKS_URL: the response is too large"),
        ("500", Ok((500, "")), "JWKS_URL responded with status 500"),
        ("404", Ok((404, r#"{"keys":[]}"#)), "JWKS_URL responded with status 404"),
        ("a redirect", Ok((302, r#"{"keys":[]}"#)), "JWKS_URL responded with status 302"),
        ("HTML", Ok((200, "<html>")), form),
        ("nothing", Ok((200, "")), form),
        ("a list", Ok((200, "[]")), form),
        ("other keys", Ok((200, r#"{"keys":{}}"#)), form),
        ("keys twice", Ok((200, r#"{"keys":[],"keys":[]}"#)), form),
    ] {
        match answer {
            Ok((status, body)) => publish(status, body),
            Err(error) => ANSWER.with_borrow_mut(|issuer| issuer.0 = Err(error)),
        }
        let server = StubIssuer::new(&[]);
        assert_eq!(server.sent(0, &token), Err(AuthError::KeysUnavailable), "{what}");
        assert_eq!(server.sent(10, &token), Err(AuthError::KeysUnavailable), "{what}, again");
        assert_eq!(asked(), 1, "{what}: it is left in peace for a while");
        let told = format!("Error jwks [(\"problem\", \"{problem}\")]");
        assert_eq!(*server.host.log.borrow(), [told], "{what}");
    }
}
