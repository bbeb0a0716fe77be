//! The authorization server of `mail`, a provider of tools.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::harness::{Variables, field};
use crate::oauth::code_challenge;
use toolbooth::host::{HttpError, HttpRequest, HttpResponse};

/// Where the provider sends users back.
pub(crate) const CALLBACK: &str = "https://tools.example/auth/callback/mail";
pub(crate) const AUTHORIZE: &str = "https://mail.example/authorize?v=1";
const TOKEN: &str = "https://mail.example/token";

/// The provider and its client.
pub(crate) const MAIL: &Variables<'_> = &[
    ("OAUTH_PROVIDERS", "mail"),
    ("GRANT_KEYS", "a:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="),
    ("OAUTH_MAIL_CLIENT_ID", "booth"),
    ("OAUTH_MAIL_CLIENT_SECRET", "s&cret"),
    ("OAUTH_MAIL_TITLE", "<Mail>"),
    ("OAUTH_MAIL_AUTHORIZE_URL", AUTHORIZE),
    ("OAUTH_MAIL_TOKEN_URL", TOKEN),
    ("OAUTH_MAIL_SCOPES", "offline"),
];

/// The state of the authorization server.
#[derive(Default)]
pub(crate) struct FakeAuthorizationServer {
    pub(crate) down: bool,
    /// Answers with this status and body instead.
    pub(crate) instead: Option<(u16, &'static str)>,
    /// Scopes that the user grants; all if absent.
    pub(crate) scope: Option<&'static str>,
    /// Seconds; none if absent.
    pub(crate) expires_in: Option<u64>,
    pub(crate) keeps_refresh_token: bool,
    /// `iss` of the discovery document.
    pub(crate) issuer: &'static str,
    /// Whether that document promises `iss` in callbacks.
    pub(crate) tells_issuer: bool,
    /// Codes and refresh tokens that were used, with the challenge that codes were given for.
    used: BTreeSet<String>,
    codes: BTreeMap<String, String>,
    issued: u32,
    /// How often it was asked, in vain or not.
    pub(crate) tried: usize,
    /// The bodies that came.
    pub(crate) asked: Vec<String>,
    /// What came to be revoked: method, address, `Authorization` and body.
    pub(crate) revoked: Vec<(String, String, String, String)>,
    /// Answers these with this status instead.
    pub(crate) revocation_status: Option<u16>,
    /// Where its discovery document says that grants are revoked.
    pub(crate) revocation_endpoint: Option<&'static str>,
}

thread_local! {
    pub(crate) static SERVER: RefCell<FakeAuthorizationServer> = RefCell::default();
}

pub(crate) fn upstream<T>(with: impl FnOnce(&mut FakeAuthorizationServer) -> T) -> T {
    SERVER.with_borrow_mut(with)
}

impl FakeAuthorizationServer {
    fn answer(&mut self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
        let reply = |status, body: &str| Ok(HttpResponse::new(status, body));
        self.tried += 1;
        if self.down {
            return Err(HttpError::Timeout);
        }
        if request.url.contains("/revoke") {
            let body = String::from_utf8(request.body.clone().unwrap()).unwrap();
            let mut headers = request.headers.iter();
            let authorization = headers.find(|(name, _)| *name == "authorization");
            let authorization = authorization.map_or("", |(_, value)| value).to_owned();
            self.used.extend(field(&body, "token"));
            self.revoked.push((
                request.method.into(),
                request.url.to_string(),
                authorization,
                body,
            ));
            return reply(self.revocation_status.unwrap_or(200), "");
        }
        if let Some((status, body)) = self.instead {
            return reply(status, body);
        }
        if request.url.ends_with("/.well-known/openid-configuration") {
            let document = json!({"issuer": self.issuer, "authorization_endpoint": AUTHORIZE,
                "token_endpoint": TOKEN, "revocation_endpoint": self.revocation_endpoint,
                "authorization_response_iss_parameter_supported": self.tells_issuer});
            return reply(200, &document.to_string());
        }
        assert_eq!((request.method, request.url.as_ref()), ("POST", TOKEN));
        let body = String::from_utf8(request.body.clone().unwrap()).unwrap();
        let basic = request
            .headers
            .iter()
            .any(|(name, value)| *name == "authorization" && value == "Basic Ym9vdGg6cyUyNmNyZXQ=");
        assert!(basic || body.contains("client_id=booth&client_secret=s%26cret"), "{body}");
        self.asked.push(body.clone());
        let field = |name: &str| field(&body, name).unwrap_or_default();
        let once = match field("grant_type").as_str() {
            "authorization_code" => {
                assert_eq!(field("redirect_uri"), CALLBACK);
                let challenge = code_challenge(&field("code_verifier"));
                (self.codes.get(&field("code")) == Some(&challenge)).then(|| field("code"))
            }
            "refresh_token" => Some(field("refresh_token")),
            other => panic!("{other}"),
        };
        let is_new = |once: &String| self.keeps_refresh_token || self.used.insert(once.clone());
        if !once.as_ref().is_some_and(is_new) {
            return reply(400, r#"{"error":"invalid_grant"}"#);
        }
        self.issued += 1;
        let mut tokens = json!({"access_token": format!("access-{}", self.issued),
            "token_type": "bearer", "expires_in": self.expires_in, "scope": self.scope});
        if !(self.keeps_refresh_token && self.issued > 1) {
            tokens["refresh_token"] = json!(format!("refresh-{}", self.issued));
        }
        reply(200, &tokens.to_string())
    }
}

/// What the provider sends the user back to, when the user agrees.
pub(crate) fn agree(location: &str) -> String {
    let query = location.split_once('?').unwrap().1;
    let get = |name: &str| field(query, name).unwrap();
    let fixed = ["response_type", "client_id", "scope", "code_challenge_method"].map(get);
    assert_eq!(fixed, ["code", "booth", "send offline", "S256"]);
    let code = upstream(|server| {
        let code = format!("code-{}", server.codes.len());
        server.codes.insert(code.clone(), get("code_challenge"));
        code
    });
    format!("{}?code={code}&state={}", get("redirect_uri"), get("state"))
}

/// What the provider sends the user back to, with an error instead of a code.
pub(crate) fn disagree(location: &str, error: &str) -> String {
    let state = field(location.split_once('?').unwrap().1, "state").unwrap();
    format!("{CALLBACK}?error={error}&state={state}")
}

/// Answers a request to the provider.
pub(crate) fn answer(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    upstream(|server| server.answer(request))
}
