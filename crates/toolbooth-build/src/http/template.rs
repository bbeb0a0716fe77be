//! Reads the template of a body of JSON: `{"title": "{title}", "draft": true}`.

use serde_json::{Map, Value};

/// The member with the text of an e-mail, whose other members are headers.
const TEXT: &str = "text";

/// The Rust code of the members of the body, with `toolbooth::tool::http::*` in scope, and the properties in it.
///
/// # Errors
/// The problem, and what was expected.
pub(super) fn compile(template: &Value) -> Result<(String, Vec<&str>), String> {
    let members = template.as_object().ok_or("must be an object")?;
    let mut properties = Vec::new();
    Ok((object(members, &mut properties)?, properties))
}

/// The code of the members of an object.
fn object<'t>(
    members: &'t Map<String, Value>,
    properties: &mut Vec<&'t str>,
) -> Result<String, String> {
    let mut code = String::new();
    for (name, value) in members {
        if name.starts_with('$') {
            return Err(format!(
                "has {name:?}; expected {{\"$base64\": …}} or {{\"$email\": {{…}}}} alone in an object"
            ));
        }
        code.push_str(&format!("({name:?}, {}), ", part(value, properties)?));
    }
    Ok(code)
}

/// The code of a part.
fn part<'t>(value: &'t Value, properties: &mut Vec<&'t str>) -> Result<String, String> {
    let before = properties.len();
    let code = match value {
        Value::String(text) => property(text).map(|name| {
            properties.push(name);
            format!("Template::Property({name:?})")
        }),
        Value::Array(parts) => {
            let parts: Result<Vec<_>, _> = parts.iter().map(|it| part(it, properties)).collect();
            Some(format!("Template::Array(&[{}])", parts?.join(", ")))
        }
        Value::Object(members) => Some(match members.iter().next() {
            Some((name, inner)) if name == "$base64" && members.len() == 1 => {
                format!("Template::Base64(&{})", part(inner, properties)?)
            }
            Some((name, Value::Object(email))) if name == "$email" && members.len() == 1 => {
                let is_header = |name: &str| {
                    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
                };
                if !email.contains_key(TEXT) || !email.keys().all(|name| is_header(name)) {
                    return Err(
                        "has an e-mail; expected headers, such as \"To\", and \"text\"".into()
                    );
                }
                format!("Template::Email(&[{}])", object(email, properties)?)
            }
            _ => format!("Template::Object(&[{}])", object(members, properties)?),
        }),
        _ => None,
    };
    match code {
        Some(code) if properties.len() > before => Ok(code),
        _ => Ok(format!("Template::Fixed({:?})", value.to_string())),
    }
}

/// The property in a text such as `{title}`.
fn property(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.strip_suffix('}')?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (!name.is_empty() && name.bytes().all(is_name)).then_some(name)
}
