//! Writes the headers of a request, with its credentials.

use std::borrow::Cow;

use super::auth::{Auth, credential, pair};
use super::fields::simple;
use super::{HttpAuth, HttpCall, SecretPlace, given};
use crate::json::Value;
use crate::secret::Secret;
use crate::tool::{Context, ToolError};

/// Names and values.
type Headers<'a> = Vec<(&'static str, Cow<'a, str>)>;

/// The headers of a call. `content_type` is that of its body.
///
/// # Errors
/// A value has a character that no header can have.
pub(super) fn write<'a>(
    call: &'static HttpCall,
    input: &Value<'_>,
    content_type: Option<Cow<'static, str>>,
    auth: &Auth,
    context: &Context<'_>,
) -> Result<Headers<'a>, ToolError> {
    // Some services, such as GitHub, reject requests without it.
    let mut headers: Headers<'a> = vec![("user-agent", "toolbooth".into())];
    let has_body = content_type.is_some();
    headers.extend(content_type.map(|value| ("content-type", value)));
    for (name, value) in call.fixed_headers {
        if has_body || *name != "content-type" {
            set(&mut headers, name, Cow::Borrowed(value));
        }
    }
    for field in call.headers {
        let value = given(input, field.property);
        let value = value.map(|value| simple(value, field.explode, str::to_owned));
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            if !is_value(&value) {
                return Err(ToolError::new("A parameter is not valid in a header").prompt(
                    format!(
                        "{} must have visible ASCII characters and single spaces only.",
                        field.property
                    ),
                ));
            }
            set(&mut headers, field.name, value.into());
        }
    }
    let mut cookies = String::new();
    for one in auth.sent {
        let (name, value) = match one {
            HttpAuth::Secret { place: SecretPlace::Query(_), .. } => continue,
            HttpAuth::Provider { id, scheme } => {
                let token = context.token(id).map(Secret::expose).unwrap_or_default();
                ("authorization", [scheme, token].join(" "))
            }
            HttpAuth::Grant(..) => {
                let token = auth.token.as_ref().map(Secret::expose).unwrap_or_default();
                ("authorization", ["Bearer ", token].concat())
            }
            HttpAuth::Secret { secret, place: SecretPlace::Header(name), scheme } => {
                (*name, credential(*scheme, secret, context))
            }
            HttpAuth::Secret { secret, place: SecretPlace::Cookie(name), scheme } => {
                let separator = if cookies.is_empty() { "" } else { "; " };
                let value = credential(*scheme, secret, context);
                // It would begin another cookie.
                if value.contains(';') {
                    return Err(invalid(context));
                }
                cookies.extend([separator, name, "=", &value]);
                ("cookie", cookies.clone())
            }
            HttpAuth::Basic { user, password } => {
                ("authorization", ["Basic ", &pair(user, password, context)].concat())
            }
        };
        // The host would write an invalid header into the log.
        if !is_value(&value) {
            return Err(invalid(context));
        }
        set(&mut headers, name, value.into());
    }
    Ok(headers)
}

fn invalid(context: &Context<'_>) -> ToolError {
    let problem = "a credential has characters that no header can have";
    context.warn("http", &[("tool", &context.tool.id()), ("problem", problem)]);
    ToolError::new("The credentials for the service are not valid")
}

fn set<'a>(headers: &mut Headers<'a>, name: &'static str, value: Cow<'a, str>) {
    headers.retain(|(known, _)| *known != name);
    headers.push((name, value));
}

/// Whether a header can have the value. Line breaks would add headers, and `Headers` of JavaScript takes no character
/// beyond Latin-1.
fn is_value(value: &str) -> bool {
    value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}
