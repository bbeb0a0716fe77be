//! Writes the headers of a request, with its credentials.

use std::borrow::Cow;

use base64ct::{Base64, Encoding};

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
    for auth in call.auth {
        let (name, value) = match auth {
            HttpAuth::Secret { place: SecretPlace::Query(_), .. } => continue,
            HttpAuth::Provider { id, scheme } => {
                let token = context.token(id).map(Secret::expose).unwrap_or_default();
                ("authorization", [scheme, token].join(" "))
            }
            HttpAuth::Secret { secret, place: SecretPlace::Header(name), scheme } => {
                (*name, credential(*scheme, secret, context))
            }
            HttpAuth::Basic { user, password } => {
                ("authorization", ["Basic ", &pair(user, password, context)].concat())
            }
        };
        // The host would write an invalid header into the log.
        if !is_value(&value) {
            let problem = "a credential has characters that no header can have";
            context.warn("http", &[("tool", &context.tool.id()), ("problem", problem)]);
            return Err(ToolError::new("The credentials for the service are not valid"));
        }
        set(&mut headers, name, value.into());
    }
    Ok(headers)
}

/// A secret of the operator, after the word that says what it is.
pub(super) fn credential(scheme: Option<&str>, secret: &str, context: &Context<'_>) -> String {
    let secret = variable(secret, context);
    match scheme {
        Some(scheme) => [scheme, secret].join(" "),
        None => secret.to_owned(),
    }
}

/// A user and a password of the operator, as a header has them.
pub(super) fn pair(user: &str, password: &str, context: &Context<'_>) -> String {
    let pair = [variable(user, context), ":", variable(password, context)].concat();
    Base64::encode_string(pair.as_bytes())
}

/// The value of a variable or of a secret of the operator.
pub(super) fn variable<'a>(name: &str, context: &'a Context<'_>) -> &'a str {
    context.server_secret(name).map_or_else(|| context.variable(name), Secret::expose)
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
