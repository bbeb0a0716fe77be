//! People who sign in through Cloudflare Access.

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::{Value, json};

use super::harness::{Browser, encode, location, query, request, start_with, text};
use toolbooth::host::{HttpError, HttpRequest, HttpResponse, SignatureAlgorithm};
use toolbooth::testing::fake_signature;

const TEAM: &str = "https://acme.cloudflareaccess.com";

fn access_keys(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    assert_eq!(request.url, format!("{TEAM}/cdn-cgi/access/certs"));
    let keys = json!({"keys": [{"kty": "RSA", "n": "m".repeat(342), "e": "AQAB", "kid": "1"}]});
    Ok(HttpResponse::new(200, keys.to_string()))
}

#[test]
fn cloudflare_access() {
    let access = [("ACCESS_TEAM_DOMAIN", TEAM), ("ACCESS_AUDIENCE", "tag")];
    let harness = start_with(&access, access_keys);
    let client = harness.client();
    let now = harness.host.now_ms.get() / 1000;
    let token = |changes: &[(&str, Value)]| {
        let mut claims = json!({"iss": TEAM, "aud": ["tag"], "sub": "u1", "email": "ada@a.example", "exp": now + 600});
        for (name, value) in changes {
            claims[*name] = value.clone();
        }
        let encode = |value: &Value| Base64UrlUnpadded::encode_string(value.to_string().as_bytes());
        let message =
            format!("{}.{}", encode(&json!({"alg": "RS256", "kid": "1"})), encode(&claims));
        let jwk = json!({"kty": "RSA", "n": "m".repeat(342), "e": "AQAB"}).to_string();
        let signature = fake_signature(SignatureAlgorithm::Rs256, &jwk, message.as_bytes());
        format!("{message}.{}", Base64UrlUnpadded::encode_string(&signature))
    };
    let url = format!("/oauth/authorize?{}", encode(&request(&client.id)));
    for (token, works) in [
        (token(&[]), true),
        (token(&[("aud", json!(["other"]))]), false),
        (token(&[("iss", json!("https://evil.cloudflareaccess.com"))]), false),
        (token(&[("exp", json!(now - 600))]), false),
        (token(&[("sub", json!(""))]), false),
        (format!("{}A", token(&[])), false),
        ("x".to_owned(), false),
    ] {
        let browser = Browser::default();
        let header = ("cf-access-jwt-assertion", token.as_str());
        let page = browser.send(&harness, ("GET", &url), &[header], "");
        assert_eq!(text(&page).contains("Allow as <bdi>ada@a.example</bdi>"), works, "{token}");
        let html = text(&page);
        let request = html.split_once("name=\"request\" value=\"").unwrap().1;
        let request = request.split('"').next().unwrap();
        let body = encode(&[("request", request), ("with", "access")]);
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [form, ("sec-fetch-site", "same-origin"), header];
        let response = browser.send(&harness, ("POST", "/oauth/authorize"), &headers, &body);
        assert_eq!(response.status, if works { 303 } else { 400 }, "{token}");
    }
    // Access decides who may sign in, and rules decide what they can give.
    let scoped = |who: &str| json!([{"who": who, "scopes": ["echo:*"]}]).to_string();
    for (allowed, denied, status, scopes) in [
        (scoped("access:*"), "", 303, "echo:a echo:b"),
        (scoped("access:@a.example"), "", 303, "echo:a echo:b"),
        (scoped("access:id/u1"), "", 303, "echo:a echo:b"),
        (scoped("access:bob@a.example"), "", 303, ""),
        (String::new(), "", 303, ""),
        (scoped("access:*"), "access:Ada@a.example", 403, ""),
        (scoped("access:*"), "access:@b.example", 303, "echo:a echo:b"),
    ] {
        let rules = [("SIGN_IN_ALLOWED", &*allowed), ("SIGN_IN_DENIED", denied)];
        let harness = start_with(&[&access[..], &rules].concat(), access_keys);
        let client = harness.client();
        let url = format!("/oauth/authorize?{}", encode(&request(&client.id)));
        let (browser, token) = (Browser::default(), token(&[]));
        let header = ("cf-access-jwt-assertion", token.as_str());
        let page = browser.send(&harness, ("GET", &url), &[header], "");
        let html = text(&page);
        let sealed = html.split_once("name=\"request\" value=\"").unwrap().1;
        let body = encode(&[("request", sealed.split('"').next().unwrap()), ("with", "access")]);
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [form, ("sec-fetch-site", "same-origin"), header];
        let response = browser.send(&harness, ("POST", "/oauth/authorize"), &headers, &body);
        assert_eq!(response.status, status, "{allowed} {denied}");
        if status == 303 {
            let code = query(location(&response), "code").unwrap();
            let (_, tokens) = harness.exchange(&client, &code);
            assert_eq!(tokens["scope"], scopes, "{allowed} {denied}");
        }
    }
}
