//! Tokens that are bound to a key of the client (DPoP, RFC 9449): which proofs are accepted, at the token endpoint and with calls. Real
//! signatures and clients are in tests/dpop.test.mjs.

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::harness::{
    Browser, Harness, KEY, ORIGIN, Registered, changed, code_fields, encode, header,
    json as json_of, request, start, start_with,
};
use toolbooth::host::{LEDGER, SignatureAlgorithm};
use toolbooth::http::Response;
use toolbooth::testing::fake_signature;

fn encoded(value: &Value) -> String {
    Base64UrlUnpadded::encode_string(value.to_string().as_bytes())
}

fn sha256(text: &str) -> String {
    Base64UrlUnpadded::encode_string(&Sha256::digest(text))
}

/// The public key of a client, of which `id` is a part.
fn jwk(id: &str) -> Value {
    json!({"crv": "P-256", "kty": "EC", "x": id, "y": "y"})
}

/// What a proof is made of; null takes a member away.
struct Proof {
    key: &'static str,
    header: Value,
    claims: Value,
}

/// A good proof of the key `a`, with changes.
fn proof(harness: &Harness, method: &str, path: &str, nonce: &str) -> Proof {
    let now = harness.host.now_ms.get() / 1000;
    let id = harness.host.now_ms.get();
    Proof {
        key: "a",
        header: json!({"typ": "dpop+jwt", "alg": "ES256", "jwk": jwk("a")}),
        claims: json!({
            "jti": format!("p{id}"), "htm": method, "htu": format!("{ORIGIN}{path}"), "iat": now, "nonce": nonce,
        }),
    }
}

impl Proof {
    fn header(mut self, name: &str, value: Value) -> Self {
        self.header[name] = value;
        self
    }

    fn claim(mut self, name: &str, value: Value) -> Self {
        self.claims[name] = value;
        self
    }

    /// With the key of another client.
    fn of(self, key: &'static str) -> Self {
        let header = self.header;
        Self { key, header, ..self }.header("jwk", jwk(key))
    }

    fn signed(mut self) -> String {
        for part in [&mut self.header, &mut self.claims] {
            part.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        }
        let message = format!("{}.{}", encoded(&self.header), encoded(&self.claims));
        let jwk = jwk(self.key).to_string();
        let signature = fake_signature(SignatureAlgorithm::Es256, &jwk, message.as_bytes());
        format!("{message}.{}", Base64UrlUnpadded::encode_string(&signature))
    }
}

const TOKEN: (&str, &str) = ("POST", "/oauth/token");
const CALL: (&str, &str) = ("POST", "/tools/call");

/// A request to the token endpoint with a proof.
fn send(harness: &Harness, fields: &[(&str, &str)], proof: &str) -> Response {
    let form = ("content-type", "application/x-www-form-urlencoded");
    harness.send(TOKEN, &[form, ("dpop", proof)], &encode(fields))
}

/// A nonce of the server.
fn nonce(harness: &Harness) -> String {
    let sent = send(harness, &machine(), &proof(harness, TOKEN.0, TOKEN.1, "x").signed());
    assert_eq!((sent.status, json_of(&sent)["error"].as_str()), (400, Some("use_dpop_nonce")));
    header(&sent, "dpop-nonce").unwrap().to_owned()
}

/// The grant of a client that needs no person.
fn machine() -> [(&'static str, &'static str); 3] {
    [("grant_type", "client_credentials"), ("client_id", "Calendar"), ("client_secret", KEY)]
}

/// A token that is bound to the key `a`.
fn bound(harness: &Harness) -> String {
    let proof = proof(harness, TOKEN.0, TOKEN.1, &nonce(harness));
    let sent = json_of(&send(harness, &machine(), &proof.signed()));
    assert_eq!(sent["token_type"], "DPoP", "{sent}");
    sent["access_token"].as_str().unwrap().to_owned()
}

fn call(harness: &Harness, authorization: &str, proof: &str) -> Response {
    let headers =
        [("content-type", "application/json"), ("authorization", authorization), ("dpop", proof)];
    let sent: Vec<_> = headers.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    harness.send(CALL, &sent, r#"{"tool_id":"Echo.Say","input":{"text":"hi"}}"#)
}

/// The code of the challenge of a response, or its status.
fn outcome(response: &Response) -> String {
    let challenge = header(response, "www-authenticate").unwrap_or_default();
    match challenge.split_once("error=\"") {
        Some((scheme, rest)) => {
            let error = rest.split('"').next().unwrap();
            format!("{} {error}", scheme.split(' ').next().unwrap())
        }
        None => response.status.to_string(),
    }
}

#[test]
fn which_proofs_are_accepted() {
    const GOOD: &str = "";
    const BAD: &str = "invalid_dpop_proof";
    type Change = fn(Proof) -> Proof;
    let rows: &[(&str, &str, Change)] = &[
        ("a good one", GOOD, |it| it),
        ("RFC 9449, 4.3: no typ", BAD, |it| it.header("typ", Value::Null)),
        ("typ of an access token", BAD, |it| it.header("typ", json!("at+jwt"))),
        ("typ of any token", BAD, |it| it.header("typ", json!("JWT"))),
        ("a critical extension", BAD, |it| it.header("crit", json!(["x"]))),
        ("alg none", BAD, |it| it.header("alg", json!("none"))),
        ("HS256", BAD, |it| it.header("alg", json!("HS256"))),
        ("an algorithm of other keys", BAD, |it| it.header("alg", json!("RS256"))),
        ("no alg", BAD, |it| it.header("alg", Value::Null)),
        ("no key", BAD, |it| it.header("jwk", Value::Null)),
        ("a key that is a text", BAD, |it| it.header("jwk", json!("a"))),
        ("a symmetric key", BAD, |it| it.header("jwk", json!({"kty": "oct", "k": "a"}))),
        ("a private key", BAD, |it| {
            it.header("jwk", json!({"crv": "P-256", "kty": "EC", "x": "a", "y": "y", "d": "d"}))
        }),
        ("a key that is not its signer's", BAD, |it| it.header("jwk", jwk("b"))),
        ("the method of another request", BAD, |it| it.claim("htm", json!("GET"))),
        ("the method in small letters", BAD, |it| it.claim("htm", json!("post"))),
        ("no method", BAD, |it| it.claim("htm", Value::Null)),
        ("another path", BAD, |it| it.claim("htu", json!(format!("{ORIGIN}/other")))),
        ("a longer path", BAD, |it| {
            let url = it.claims["htu"].as_str().unwrap().to_owned();
            it.claim("htu", json!(format!("{url}/")))
        }),
        ("another host", BAD, |it| it.claim("htu", json!("https://evil.example/oauth/token"))),
        ("the host as the user", BAD, |it| {
            let url = it.claims["htu"].as_str().unwrap().replace("://", "://tools.example@");
            it.claim("htu", json!(url))
        }),
        ("another scheme", BAD, |it| {
            let url = it.claims["htu"].as_str().unwrap().replace("https", "http");
            it.claim("htu", json!(url))
        }),
        ("no address", BAD, |it| it.claim("htu", Value::Null)),
        ("an address in another form", GOOD, |it| {
            let url = it.claims["htu"].as_str().unwrap();
            let url = url.replace("https://tools.example", "HTTPS://Tools.Example:443");
            it.claim("htu", json!(format!("{url}?a=b#c")))
        }),
        ("no id", BAD, |it| it.claim("jti", Value::Null)),
        ("an empty id", BAD, |it| it.claim("jti", json!(""))),
        ("an id that is a number", BAD, |it| it.claim("jti", json!(7))),
        ("an id of 257 bytes", BAD, |it| it.claim("jti", json!("j".repeat(257)))),
        ("no time", BAD, |it| it.claim("iat", Value::Null)),
        ("a time that is a text", BAD, |it| it.claim("iat", json!("1741724000"))),
        ("a clock that is 4 minutes late", GOOD, |it| {
            let time = it.claims["iat"].as_u64().unwrap();
            it.claim("iat", json!(time - 240))
        }),
        ("one of 6 minutes ago", BAD, |it| {
            let time = it.claims["iat"].as_u64().unwrap();
            it.claim("iat", json!(time - 360))
        }),
        ("one in 6 minutes", BAD, |it| {
            let time = it.claims["iat"].as_u64().unwrap();
            it.claim("iat", json!(time + 360))
        }),
        ("more than 4 KB", BAD, |it| it.claim("x", json!("x".repeat(4000)))),
        ("no nonce", "use_dpop_nonce", |it| it.claim("nonce", Value::Null)),
        ("a nonce that is a number", "use_dpop_nonce", |it| it.claim("nonce", json!(1))),
        ("a nonce for a different time", "use_dpop_nonce", |it| {
            let nonce = it.claims["nonce"].as_str().unwrap().replacen('1', "2", 1);
            it.claim("nonce", json!(nonce))
        }),
        ("a nonce without its hash", "use_dpop_nonce", |it| {
            let nonce = it.claims["nonce"].as_str().unwrap().split('.').next().unwrap().to_owned();
            it.claim("nonce", json!(format!("{nonce}.")))
        }),
    ];
    for with_ledger in [false, true] {
        let mut harness = start();
        if with_ledger {
            harness.host.bindings.insert(LEDGER);
            harness.restart(&[]);
        }
        let token = bound(&harness);
        let scheme = format!("DPoP {token}");
        let nonce = nonce(&harness);
        for (what, expected, change) in rows {
            harness.wait(1);
            let sent = change(proof(&harness, TOKEN.0, TOKEN.1, &nonce)).signed();
            let issued = send(&harness, &machine(), &sent);
            let error = json_of(&issued)["error"].as_str().unwrap_or_default().to_owned();
            assert_eq!(error, *expected, "{what}: {}", json_of(&issued));
            assert!(header(&issued, "dpop-nonce").is_some(), "{what}");
            let with_hash =
                proof(&harness, CALL.0, CALL.1, &nonce).claim("ath", json!(sha256(&token)));
            let called = call(&harness, &scheme, &change(with_hash).signed());
            let wanted =
                if expected.is_empty() { "200".to_owned() } else { format!("DPoP {expected}") };
            assert_eq!(outcome(&called), wanted, "{what}");
            assert!(header(&called, "dpop-nonce").is_some(), "{what}");
        }
        // A proof is accepted once.
        harness.wait(1);
        let again = proof(&harness, TOKEN.0, TOKEN.1, &nonce).signed();
        assert_eq!(send(&harness, &machine(), &again).status, 200);
        assert_eq!(json_of(&send(&harness, &machine(), &again))["error"], BAD, "a second time");
        // At a second instance, only the ledger knows.
        let form = ("content-type", "application/x-www-form-urlencoded");
        let elsewhere = harness.ask(TOKEN, &[form, ("dpop", &again)], &encode(&machine()));
        assert_eq!(elsewhere.status, if with_ledger { 400 } else { 200 });
        let other = proof(&harness, TOKEN.0, TOKEN.1, &nonce).of("b");
        assert_eq!(
            send(&harness, &machine(), &other.signed()).status,
            200,
            "the id is the key's own"
        );
        // A nonce works for five minutes.
        harness.wait(301_000);
        let late = proof(&harness, TOKEN.0, TOKEN.1, &nonce).signed();
        assert_eq!(json_of(&send(&harness, &machine(), &late))["error"], "use_dpop_nonce");
        let two = format!("{late}, {late}");
        assert_eq!(json_of(&send(&harness, &machine(), &two))["error"], BAD, "two headers");
    }
}

#[test]
fn a_proof_is_used_only_if_its_client_has_more_than_a_proof() {
    let mut harness = start();
    harness.host.bindings.insert(LEDGER);
    harness.restart(&[]);
    let client = harness.client();
    let proof = proof(&harness, TOKEN.0, TOKEN.1, &nonce(&harness)).signed();
    let refresh = [("grant_type", "refresh_token"), ("client_id", &*client.id)];
    let with = |changed: &str| {
        machine().map(|(name, value)| (name, if name == changed { "x" } else { value })).to_vec()
    };
    for (fields, error) in [
        (with("client_secret"), "invalid_client"),
        (with("client_id"), "invalid_client"),
        (code_fields(&client.id, "x").to_vec(), "invalid_grant"),
        ([&refresh[..], &[("refresh_token", "x")]].concat(), "invalid_grant"),
        // The same proof, which was not used until now.
        (machine().to_vec(), ""),
        (machine().to_vec(), "invalid_dpop_proof"),
    ] {
        let sent = json_of(&send(&harness, &fields, &proof));
        assert_eq!(sent["error"].as_str().unwrap_or_default(), error, "{fields:?} {sent}");
    }
}

#[test]
fn a_ledger_that_fails_accepts_no_proof() {
    let mut harness = start();
    harness.host.bindings.insert(LEDGER);
    harness.restart(&[]);
    let (token, nonce) = (bound(&harness), nonce(&harness));
    harness.host.ledger.fails.set(true);
    let sent = proof(&harness, TOKEN.0, TOKEN.1, &nonce).signed();
    assert_eq!(send(&harness, &machine(), &sent).status, 503);
    let sent = proof(&harness, CALL.0, CALL.1, &nonce).claim("ath", json!(sha256(&token)));
    let called = json_of(&call(&harness, &format!("DPoP {token}"), &sent.signed()));
    let expected = "whether the proof was used before cannot be found out";
    assert_eq!(called["developer_message"], expected);
}

#[test]
fn a_token_works_with_its_own_key_and_scheme_only() {
    let harness = start();
    let (token, nonce) = (bound(&harness), nonce(&harness));
    let unbound = harness.token(&machine()).1;
    assert_eq!(unbound["token_type"], "Bearer", "clients without a proof are as before");
    let unbound = unbound["access_token"].as_str().unwrap();
    let other = bound(&harness);
    let count = std::cell::Cell::new(0);
    let proven = |token: &str, key: &'static str| {
        count.set(count.get() + 1);
        let proof = proof(&harness, CALL.0, CALL.1, &nonce).of(key);
        let id = json!(format!("own{}", count.get()));
        proof.claim("jti", id).claim("ath", json!(sha256(token))).signed()
    };
    let without_hash = proof(&harness, CALL.0, CALL.1, &nonce).signed();
    for (what, authorization, proof, expected) in [
        ("its key", format!("DPoP {token}"), proven(&token, "a"), "200"),
        ("the scheme in other letters", format!("dpop {token}"), proven(&token, "a"), "200"),
        ("no proof", format!("DPoP {token}"), String::new(), "DPoP invalid_dpop_proof"),
        ("no hash of the token", format!("DPoP {token}"), without_hash, "DPoP invalid_dpop_proof"),
        (
            "a proof for a different token",
            format!("DPoP {token}"),
            proven(&other, "a"),
            "DPoP invalid_dpop_proof",
        ),
        (
            "a different key",
            format!("DPoP {token}"),
            proven(&token, "b"),
            "DPoP invalid_dpop_proof",
        ),
        (
            "RFC 9449, 7.2: the scheme Bearer",
            format!("Bearer {token}"),
            proven(&token, "a"),
            "Bearer invalid_token",
        ),
        (
            "the scheme Bearer without a proof",
            format!("Bearer {token}"),
            String::new(),
            "Bearer invalid_token",
        ),
        (
            "a token that is not bound",
            format!("DPoP {unbound}"),
            proven(unbound, "a"),
            "DPoP invalid_token",
        ),
        ("the same as a bearer", format!("Bearer {unbound}"), String::new(), "200"),
        ("an API key", format!("DPoP {KEY}"), proven(KEY, "a"), "DPoP invalid_token"),
        ("nonsense", "DPoP x".to_owned(), proven("x", "a"), "DPoP invalid_token"),
    ] {
        // Twice: a token is verified once a minute, and a proof with each call.
        for _ in 0..2 {
            let called = call(&harness, &authorization, &proof);
            let wanted = if expected == "200" && header(&called, "www-authenticate").is_some() {
                "DPoP invalid_dpop_proof"
            } else {
                expected
            };
            assert_eq!(outcome(&called), wanted, "{what}");
        }
    }
    let challenge = call(&harness, &format!("DPoP {token}"), "");
    assert_eq!(
        header(&challenge, "www-authenticate"),
        Some(
            r#"DPoP realm="toolbooth", error="invalid_dpop_proof", error_description="the header DPoP is missing", algs="RS256 ES256 EdDSA Ed25519""#
        )
    );
    let lines = format!("{:?} {}", harness.host.lines.borrow(), harness.log());
    for secret in [&*token, "jti", "p17"] {
        assert!(!lines.contains(secret), "{secret}: {lines}");
    }
}

/// The fields of a refresh.
fn refresh_fields<'a>(client: &'a Registered, token: &'a str) -> Vec<(&'static str, &'a str)> {
    let secret = client.secret.as_deref().unwrap_or_default();
    let fields = [
        ("grant_type", "refresh_token"),
        ("client_id", &*client.id),
        ("client_secret", secret),
        ("refresh_token", token),
    ];
    fields.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

#[test]
fn refresh_tokens_of_public_clients_are_bound_too() {
    for (method, is_bound) in [("none", true), ("client_secret_post", false)] {
        let harness = start();
        let client = harness.client_of(method);
        let nonce = nonce(&harness);
        let secret = client.secret.clone().unwrap_or_default();
        let proof = |key: &'static str| {
            harness.wait(1);
            proof(&harness, TOKEN.0, TOKEN.1, &nonce).of(key).signed()
        };
        let code = Browser::default().code(&harness, &request(&client.id));
        let mut fields = code_fields(&client.id, &code).to_vec();
        if !secret.is_empty() {
            fields.push(("client_secret", &secret));
        }
        // A code is not spent by a request that must be repeated with a nonce.
        let stale = super::dpop::proof(&harness, TOKEN.0, TOKEN.1, "x").signed();
        assert_eq!(json_of(&send(&harness, &fields, &stale))["error"], "use_dpop_nonce");
        let tokens = json_of(&send(&harness, &fields, &proof("a")));
        assert_eq!(tokens["token_type"], "DPoP", "{tokens}");
        let refresh = tokens["refresh_token"].as_str().unwrap();
        let error = |sent: &Value| sent["error"].as_str().unwrap_or_default().to_owned();
        let expected = if is_bound { "invalid_dpop_proof" } else { "" };
        let sent = json_of(&send(&harness, &refresh_fields(&client, refresh), &proof("b")));
        assert_eq!(error(&sent), expected, "{method}: a different key");
        let sent = harness.token(&refresh_fields(&client, refresh)).1;
        assert_eq!(error(&sent), expected, "{method}: no proof");
        let sent = json_of(&send(&harness, &refresh_fields(&client, refresh), &proof("a")));
        assert_eq!((error(&sent), &sent["token_type"]), (String::new(), &json!("DPoP")));
        let next = sent["refresh_token"].as_str().unwrap();
        // The store accepts one write a second for each key.
        harness.wait(2_000);
        let sent = harness.token(&refresh_fields(&client, next)).1;
        assert_eq!(error(&sent), expected, "{method}: its successor is bound like it");
    }
}

#[test]
fn a_code_can_be_bound_to_a_key() {
    let key = sha256(&jwk("a").to_string());
    let harness = start();
    let client = harness.client();
    let nonce = nonce(&harness);
    for (proven, expected) in
        [(None, "invalid_dpop_proof"), (Some("b"), "invalid_dpop_proof"), (Some("a"), "")]
    {
        harness.wait(1);
        let parameters = changed(request(&client.id), &[("dpop_jkt", &key)]);
        let code = Browser::default().code(&harness, &parameters);
        let fields = code_fields(&client.id, &code);
        let sent = match proven {
            None => harness.token(&fields).1,
            Some(key) => {
                let proof = proof(&harness, TOKEN.0, TOKEN.1, &nonce).of(key).signed();
                json_of(&send(&harness, &fields, &proof))
            }
        };
        assert_eq!(sent["error"].as_str().unwrap_or_default(), expected, "{proven:?} {sent}");
    }
}

#[test]
fn a_bound_token_is_exchanged_for_a_bound_one_only() {
    let hash: String = Sha256::digest(KEY).iter().map(|byte| format!("{byte:02x}")).collect();
    let keys = json!([{"name": "Calendar", "scopes": ["*"], "hash": hash, "may_act": ["*"]}]);
    let harness = start_with(&[("API_KEYS", &keys.to_string())], |it| panic!("{}", it.url));
    let client = harness.client();
    let nonce = nonce(&harness);
    let tokens = |fields: &[(&str, &str)], key: &str| {
        harness.wait(1);
        let proof = proof(&harness, TOKEN.0, TOKEN.1, &nonce);
        match key {
            "" => harness.token(fields).1,
            "a" => json_of(&send(&harness, fields, &proof.signed())),
            _ => json_of(&send(&harness, fields, &proof.of("b").signed())),
        }
    };
    // The agent has a key of its own.
    for (person, agent, expected) in [
        ("", "", "Bearer"),
        ("", "b", "DPoP"),
        ("a", "", "invalid_request"),
        ("a", "a", "DPoP"),
        ("a", "b", "DPoP"),
    ] {
        let code = Browser::default().code(&harness, &request(&client.id));
        let token = tokens(&code_fields(&client.id, &code), person);
        let fields = [
            ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            ("client_id", "Calendar"),
            ("client_secret", KEY),
            ("subject_token", token["access_token"].as_str().unwrap()),
            ("subject_token_type", "urn:ietf:params:oauth:token-type:access_token"),
        ];
        let sent = tokens(&fields, agent);
        let result = sent["error"].as_str().or(sent["token_type"].as_str());
        assert_eq!(result, Some(expected), "{person} {agent} {sent}");
    }
}
