//! The responses of a token endpoint (RFC 6749, 5).

use serde::Deserialize;

use super::provider::split_scopes;
use toolbooth::host::HttpResponse;
use toolbooth::json::{self, Value};
use toolbooth::secret::Secret;
use toolbooth::time::lifetime_ms;

/// The longest refresh token that is accepted, in bytes. It is stored, and sent in a form.
const MAX_REFRESH_BYTES: usize = 16 * 1024;

/// Why a provider did not do what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProviderError {
    /// It rejects the request or its token: repeating it does not help.
    Rejected,
    /// It does not respond, or only with an error of its own: it may work later.
    Unreachable,
    /// It has responded, and the response is of no use, for this reason: waiting does not help.
    Unusable(&'static str),
}

/// Whether a response says that the server itself has failed, or gets too many requests: that passes.
pub(crate) fn is_temporary(status: u16) -> bool {
    status >= 500 || matches!(status, 408 | 425 | 429)
}

/// A successful response (RFC 6749, 5.1).
pub(crate) struct TokenResponse {
    pub(crate) access: Secret,
    pub(crate) refresh: Option<Secret>,
    pub(crate) expires_in_ms: Option<u64>,
    /// The scopes; absent if they are those that were requested.
    pub(crate) scopes: Option<Vec<String>>,
    /// What an OpenID provider says about the user (OpenID Connect Core 1.0, 3.1.3.3).
    pub(crate) id_token: Option<Secret>,
}

impl TokenResponse {
    /// Reads a response of a token endpoint. Tokens that could not be sent later are [`ProviderError::Unusable`].
    pub(super) fn read(response: &HttpResponse) -> Result<Self, ProviderError> {
        #[derive(Deserialize)]
        struct Body<'v> {
            access_token: Option<&'v str>,
            token_type: Option<&'v str>,
            refresh_token: Option<&'v str>,
            error: Option<&'v str>,
        }
        let value = json::parse_bytes(&response.body).unwrap_or(Value::Null);
        match json::read_value(&value) {
            _ if is_temporary(response.status) => Err(ProviderError::Unreachable),
            Some(Body { error: Some("temporarily_unavailable" | "server_error"), .. }) => {
                Err(ProviderError::Unreachable)
            }
            // GitHub reports errors with status 200.
            Some(Body { error: Some(_), .. }) => Err(ProviderError::Rejected),
            Some(Body { access_token: Some(access), token_type, refresh_token, error: None })
                if response.status == 200 =>
            {
                if !token_type.is_none_or(is_bearer) {
                    return Err(ProviderError::Unusable("the type of its tokens is not supported"));
                }
                let secret = |text: &str| Secret::new(text.to_owned());
                let access = secret(access);
                let refresh = refresh_token.filter(|it| !it.is_empty());
                let fits = refresh.is_none_or(|it| it.len() <= MAX_REFRESH_BYTES);
                if !access.is_bearer_token() || !fits {
                    return Err(ProviderError::Unusable("its tokens cannot be sent or stored"));
                }
                Ok(Self {
                    access,
                    refresh: refresh.map(secret),
                    expires_in_ms: value.get("expires_in").and_then(lifetime_ms),
                    scopes: value.get("scope").and_then(scopes),
                    id_token: value.get("id_token").and_then(Value::as_str).map(secret),
                })
            }
            _ if response.status >= 400 => Err(ProviderError::Rejected),
            _ => Err(ProviderError::Unusable("its response contains no tokens")),
        }
    }
}

/// The scopes that were granted: a list in a text, or an array, as Linear writes it. Anything else counts as absent, and so does a
/// list without a scope, which is none (RFC 6749, 3.3): a GitHub App has permissions instead.
fn scopes(scope: &Value<'_>) -> Option<Vec<String>> {
    let scopes = match scope {
        Value::String(text) => split_scopes(text),
        Value::Array(items) => {
            items.iter().filter_map(Value::as_str).flat_map(split_scopes).collect()
        }
        _ => Vec::new(),
    };
    Some(scopes).filter(|scopes| !scopes.is_empty())
}

/// Whether tokens of this type are sent as bearer tokens (RFC 6750). Slack calls those of people `user`.
fn is_bearer(token_type: &str) -> bool {
    token_type.eq_ignore_ascii_case("bearer") || token_type == "user"
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ProviderError, TokenResponse};
    use toolbooth::host::HttpResponse;

    fn read(body: &Value) -> Result<TokenResponse, ProviderError> {
        let body = body.to_string().into_bytes();
        TokenResponse::read(&HttpResponse::new(200, body))
    }

    #[test]
    fn lifetimes() {
        for (expires_in, expected) in [
            (json!(3600), Some(3_600_000)),
            (json!("3600"), Some(3_600_000)),
            (json!(" 3600 "), Some(3_600_000)),
            (json!(3599.5), Some(3_599_500)),
            (json!("3599.5"), Some(3_599_500)),
            (json!(3.6e3), Some(3_600_000)),
            (json!(0), Some(0)),
            (json!("0"), Some(0)),
            (json!(-1), Some(0)),
            (json!("-1"), Some(0)),
            (json!(u64::MAX), Some(u64::MAX)),
            (json!(1e300), Some(u64::MAX)),
            (json!(null), None),
            (json!(""), None),
            (json!("soon"), None),
            (json!("NaN"), None),
            (json!("inf"), None),
            (json!("1e400"), None),
            (json!(true), None),
            (json!([3600]), None),
            (json!({"seconds": 3600}), None),
        ] {
            let tokens = read(&json!({"access_token": "a", "expires_in": expires_in})).ok();
            let got = tokens.map(|tokens| tokens.expires_in_ms);
            assert_eq!(got, Some(expected), "{expires_in}");
        }
        let tokens = read(&json!({"access_token": "a"})).ok();
        assert_eq!(tokens.and_then(|tokens| tokens.expires_in_ms), None, "absent");
    }

    #[test]
    fn scopes_that_were_granted() {
        for (scope, expected) in [
            (json!(null), None),
            (json!("read write"), Some(vec!["read", "write"])),
            (json!("read,write"), Some(vec!["read", "write"])),
            (json!(["read", "write"]), Some(vec!["read", "write"])),
            (json!(""), None),
            (json!(" "), None),
            (json!(","), None),
            (json!([]), None),
            (json!([""]), None),
            (json!([1]), None),
            (json!(false), None),
            (json!({"read": true}), None),
        ] {
            let tokens = read(&json!({"access_token": "a", "scope": scope})).ok();
            let got = tokens.map(|tokens| tokens.scopes);
            let expected = expected.map(|it| it.into_iter().map(str::to_owned).collect());
            assert_eq!(got, Some(expected), "{scope}");
        }
    }

    #[test]
    fn types_of_tokens() {
        for (token_type, good) in [
            (json!(null), true),
            (json!("bearer"), true),
            (json!("Bearer"), true),
            (json!("user"), true),
            (json!("bot"), false),
            (json!("DPoP"), false),
            (json!("mac"), false),
            (json!(""), false),
        ] {
            let tokens = read(&json!({"access_token": "a", "token_type": token_type}));
            assert_eq!(tokens.is_ok(), good, "{token_type}");
        }
    }

    #[test]
    fn tokens_that_can_be_used() {
        let long = |length| "a".repeat(length);
        for (access, refresh, good) in [
            ("abc-._~+/123==".to_owned(), json!("r"), true),
            ("opaque:{x}!".to_owned(), json!(null), true),
            (long(16 * 1024), json!(""), true),
            ("a".to_owned(), json!(long(16 * 1024)), true),
            (String::new(), json!("r"), false),
            (long(16 * 1024 + 1), json!("r"), false),
            ("a b".to_owned(), json!("r"), false),
            ("a\n".to_owned(), json!("r"), false),
            ("a\r\nx-injected: 1".to_owned(), json!("r"), false),
            ("a\0".to_owned(), json!("r"), false),
            ("a\u{7f}".to_owned(), json!("r"), false),
            ("ä".to_owned(), json!("r"), false),
            ("a".to_owned(), json!(long(16 * 1024 + 1)), false),
        ] {
            let tokens = read(&json!({"access_token": access, "refresh_token": refresh}));
            assert_eq!(tokens.is_ok(), good, "{:?} {}", access.get(..9), access.len());
        }
    }
}
