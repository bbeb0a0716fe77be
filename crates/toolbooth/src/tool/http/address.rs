//! Writes the address of a request: the base, which only the operator chooses, a path and a query.

use super::auth::{Auth, credential};
use super::fields::{Fields, encoded, simple};
use super::{HttpAuth, HttpCall, PathPart, SecretPlace, given};
use crate::address::is_secure;
use crate::json::Value;
use crate::tool::{Context, ToolError};

/// The longest address in bytes. Few servers accept longer ones.
const LONGEST: usize = 16_384;

/// The address of a call.
///
/// # Errors
/// A part of the path is missing, or would lead to a different path; or the address is too long.
pub(super) fn write(
    call: &HttpCall,
    input: &Value<'_>,
    auth: &Auth,
    context: &Context<'_>,
) -> Result<String, ToolError> {
    if let Some(property) = call.url {
        return allowed(property, input, context.variable(call.base));
    }
    let mut address = context.variable(call.base).to_owned();
    for segment in call.path {
        address.push('/');
        add_segment(&mut address, segment, input)?;
    }
    let mut query = Fields::default();
    for (name, value) in call.fixed_query {
        query.field(name, value);
    }
    for field in call.query {
        if let Some(value) = given(input, field.property) {
            query.add(field.name, value, field.style, field.explode);
        }
    }
    for auth in auth.sent {
        if let HttpAuth::Secret { secret, place: SecretPlace::Query(name), scheme } = auth {
            query.field(name, &credential(*scheme, secret, context));
        }
    }
    if !query.0.is_empty() {
        address.extend(["?", &query.0]);
    }
    if address.len() > LONGEST {
        return Err(ToolError::new("The input is too long for the address of a request").prompt(
            format!("Use fewer or shorter values: the address may have {LONGEST} bytes."),
        ));
    }
    Ok(address)
}

/// The address in a property, if its host is one of `hosts`. The characters that it may have leave parsers no choice of
/// where the host ends.
fn allowed(property: &str, input: &Value<'_>, hosts: &str) -> Result<String, ToolError> {
    let url = given(input, property).and_then(Value::as_str).unwrap_or_default();
    let address = url.split('#').next().unwrap_or_default();
    if address.len() > LONGEST {
        return Err(invalid(property, "is too long"));
    }
    if !is_secure(address) || !address.bytes().all(|byte| matches!(byte, b'!'..=b'~')) {
        return Err(invalid(property, "must be an https address in ASCII, without a user"));
    }
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.strip_suffix(":443").unwrap_or(host).to_ascii_lowercase();
    let is_it = |entry: &str| match entry.trim().strip_prefix('*') {
        Some(parent) => host.strip_suffix(parent).is_some_and(|name| !name.is_empty()),
        None => host == entry.trim(),
    };
    if hosts.split(',').any(is_it) {
        return Ok(address.to_owned());
    }
    Err(ToolError::new("The server does not allow requests to this host")
        .prompt(format!("{property} may name these hosts: {hosts}")))
}

/// Adds a segment. Parsers of addresses resolve the segments `.` and `..`, and some servers skip empty ones, so neither
/// may come from the input. A slash in the input is encoded, but some proxies decode it before they resolve segments.
fn add_segment(
    address: &mut String,
    segment: &[PathPart],
    input: &Value<'_>,
) -> Result<(), ToolError> {
    let start = address.len();
    let mut last = "";
    for part in segment {
        match part {
            PathPart::Text(text) => address.push_str(text),
            PathPart::Parameter { property, explode } => {
                let value = given(input, property);
                let value = value.map(|value| simple(value, *explode, encoded)).unwrap_or_default();
                if value.is_empty() {
                    return Err(invalid(property, "must not be empty"));
                }
                address.push_str(&value);
                last = property;
            }
        }
    }
    let segment = address.get(start..).unwrap_or_default().replace("%5C", "%2F");
    if segment.split("%2F").any(|part| matches!(part, "." | "..")) {
        return Err(invalid(last, "must not have a part that is \".\" or \"..\""));
    }
    Ok(())
}

fn invalid(property: &str, expected: &str) -> ToolError {
    ToolError::new("A part of the address is not valid").prompt(format!("{property} {expected}."))
}
