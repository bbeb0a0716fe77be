//! Addresses in the ID token or in the description of an account, which may be signed.

use super::*;

/// A provider may return claims at its userinfo endpoint or in the ID token (OpenID Connect Core 1.0, 5.4).
#[test]
fn an_address_may_be_in_the_id_token() {
    let address =
        |email: &str, verified: Value| json!({"email": email, "email_verified": verified});
    let ada = |verified: Value| address("Ada@Acme.example", verified);
    let mallory = |verified: Value| address("mallory@evil.example", verified);
    let (none, verified) = (json!({}), json!({"email_verified": true}));
    let (only_email, both) = (json!({"email": "ada@acme.example"}), ada(json!(true)));
    let with =
        |claims: &Value, name: &str, value: Value| merged(claims.clone(), &json!({name: value}));
    const ADMITTED: u16 = 303;
    for (claims, description, expected) in [
        (&both, &none, ADMITTED),
        (&none, &both, ADMITTED),
        (&both, &both, ADMITTED),
        (&ada(json!("true")), &none, ADMITTED),
        // One says it of the other's address.
        (&verified, &only_email, ADMITTED),
        (&only_email, &verified, ADMITTED),
        (&both, &only_email, ADMITTED),
        (&only_email, &both, ADMITTED),
        (&both, &mallory(json!(false)), ADMITTED),
        (&both, &mallory(json!(true)), 403),
        // What neither verifies is not verified, nor what one of them denies.
        (&none, &none, 403),
        (&only_email, &only_email, 403),
        (&json!(null), &only_email, 403),
        (&ada(json!("True")), &none, 403),
        (&ada(json!(1)), &none, 403),
        (&ada(json!(false)), &both, 403),
        (&both, &ada(json!(false)), 403),
        (&json!({"email_verified": false}), &both, 403),
        (&mallory(json!(true)), &only_email, 403),
        (&only_email, &mallory(json!(true)), 403),
        // An ID token that is not for us, or is about someone else.
        (&with(&both, "aud", json!("other")), &none, 403),
        (&with(&both, "iss", json!("https://other.example")), &none, 403),
        (&with(&both, "exp", json!(1)), &none, 403),
        (&with(&both, "sub", json!("bob")), &none, 502),
        // It matters only if the description does not suffice.
        (&with(&both, "aud", json!("other")), &both, ADMITTED),
    ] {
        let rules = [("SIGN_IN_ALLOWED", "corp:@acme.example")];
        let harness = start(&json!({"allowed": ["@acme.example"]}), &rules);
        CLAIMS.set(claims.clone());
        DESCRIPTION.set(description.clone());
        let back = come_back(&harness, &harness.client());
        assert_eq!(back.status, expected, "{claims} {description} {}", harness.log());
    }
}

#[test]
fn an_address_that_either_names_can_deny() {
    let of = |email: &str| json!({"email": email, "email_verified": true});
    let (acme, evil) = (of("ada@acme.example"), of("ada@evil.example"));
    for (claims, description, status) in [
        (&acme, &acme, 303),
        (&evil, &acme, 403),
        (&acme, &evil, 403),
        (&evil, &json!({}), 403),
        (&json!({"email": "ada@evil.example"}), &acme, 403),
    ] {
        let harness = start(&json!({}), &[("SIGN_IN_DENIED", "corp:@evil.example")]);
        CLAIMS.set(claims.clone());
        DESCRIPTION.set(description.clone());
        let back = come_back(&harness, &harness.client());
        assert_eq!(back.status, status, "{claims} {description}");
    }
}

/// A day later, the access token still works, and the userinfo endpoint does not have the address.
#[test]
fn an_address_in_the_id_token_is_asked_for_again() {
    let address = |email: &str| json!({"email": email, "email_verified": true});
    let of_domain = ("SIGN_IN_ALLOWED", "corp:@acme.example");
    let of_id = ("SIGN_IN_ALLOWED", "corp:@acme.example, corp:id/ada");
    let entry = json!({"allowed": ["@acme.example"]});
    for (rules, claims, expected) in [
        (of_domain, address("ada@acme.example"), None),
        (of_domain, address("ada@other.example"), Some("invalid_grant")),
        (of_domain, json!(null), Some("invalid_grant")),
        (of_id, json!(null), None),
        (of_id, address("ada@other.example"), None),
    ] {
        let harness = start(&entry, &[rules]);
        let client = harness.client();
        CLAIMS.set(address("ada@acme.example"));
        DESCRIPTION.set(json!({}));
        let tokens = tokens(&harness, &client);
        harness.wait(DAY_MS + STALE_MS);
        NOW.set(harness.host.now_ms.get());
        CLAIMS.set(claims.clone());
        let (_, body) = harness.refresh(&client, tokens["refresh_token"].as_str().unwrap());
        assert_eq!(body["error"].as_str(), expected, "{rules:?} {claims} {body}");
    }
}

/// OpenID Connect Core 1.0, 5.3.2: the description may be a signed token.
#[test]
fn a_description_that_is_signed() {
    let good =
        json!({"email": "ada@acme.example", "email_verified": true, "iss": ISSUER, "aud": "c1"});
    let with = |name: &str, value: Value| merged(good.clone(), &json!({name: value}));
    let without = |name: &str| {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(name);
        claims
    };
    let key = "m".repeat(342);
    for (description, key, status) in [
        (good.clone(), &*key, 303),
        (with("aud", json!(["other", "c1"])), &key, 303),
        (without("iss"), &key, 303),
        (without("aud"), &key, 303),
        (with("exp", json!(9_999_999_999_u64)), &key, 303),
        (good.clone(), "another key", 502),
        (with("iss", json!("https://other.example")), &key, 502),
        (with("aud", json!("other")), &key, 502),
        (with("aud", json!(null)), &key, 502),
        (with("exp", json!(1)), &key, 502),
        (with("sub", json!("")), &key, 502),
        (with("email_verified", json!(false)), &key, 403),
    ] {
        let harness = start(
            &json!({"allowed": ["@acme.example"]}),
            &[("SIGN_IN_ALLOWED", "corp:@acme.example")],
        );
        CLAIMS.set(json!({}));
        DESCRIPTION.set(description.clone());
        SIGNED.set(Some(key.to_owned()));
        let back = come_back(&harness, &harness.client());
        SIGNED.set(None);
        assert_eq!(back.status, status, "{description} {}", harness.log());
        if status == 502 {
            let page = text(&back);
            assert!(page.contains("waiting does not help") && page.contains("corp"), "{page}");
            assert!(harness.host.printed().contains("provider_unusable"));
        }
    }
}
