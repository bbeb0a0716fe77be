//! Reads the response of a service: the value of the tool, or its error.

use base64ct::{Base64UrlUnpadded, Encoding};
use serde_json::Value as Json;

use super::auth::Auth;
use super::fields::encoded;
use super::{Failure, HttpCall, Kept, is_read, page};
use crate::host::HttpResponse;
use crate::json::{JsonError, Value, parse, to_string};
use crate::text::cut;
use crate::tool::{Context, ToolError};

/// The characters of a service's error that are passed on.
const ERROR_LENGTH: usize = 4_096;

/// The value of a response.
///
/// # Errors
/// The service reports a failure, redirects, or responds with more than the tool can return.
pub(super) fn value(
    call: &HttpCall,
    response: &HttpResponse,
    auth: &Auth,
    context: &Context<'_>,
) -> Result<Json, ToolError> {
    if !(200..300).contains(&response.status) {
        return Err(failed(call, response, auth, context));
    }
    let ignores_body = call.returns_nothing && call.failure.is_none();
    if ignores_body || response.body.is_empty() || call.method == "HEAD" {
        return Ok(Json::Null);
    }
    let text = text(response);
    if response.is_cut {
        if reads_json(call) || call.pagination.is_some() {
            return Err(too_large());
        }
        let text = format!("{text}\n\n[The response was cut after {} bytes.]", call.max_bytes);
        return large(Json::String(text), context);
    }
    let parsed = parse(&text);
    let flaw = flaw(response, parsed.as_ref());
    let root = parsed.ok().filter(|_| flaw.is_none());
    if let (Some(failure), Some(root)) = (call.failure, &root) {
        reported(failure, root, auth, context)?;
    }
    if call.returns_nothing {
        return Ok(Json::Null);
    }
    let value = match (&root, &call.select) {
        (Some(root), Some(select)) => match select.of(root) {
            Some(value) => shown(call, value),
            None => return Err(too_large()),
        },
        (Some(root), None) => shown(call, root.clone()),
        // What the tool does not return could not be removed from it.
        (None, _) if reads_json(call) => return Err(no_json(flaw.as_deref())),
        (None, _) => match flaw {
            None => Json::String(text.clone()),
            Some(flaw) => {
                let text = Json::String(format!("{text}\n\n[The response {flaw}.]"));
                if !context.tool.output.is_valid(&(&text).into()) {
                    return Err(no_json(Some(&flaw)));
                }
                text
            }
        },
    };
    Ok(match call.pagination {
        Some(pagination) => page::with_next(call, pagination, value, root.as_ref(), response),
        None => value,
    })
}

/// Why a response of success is not read as the JSON that it seems to be.
// Few are: the others need not wait until it is compiled.
#[inline(never)]
fn flaw(response: &HttpResponse, parsed: Result<&Value<'_>, &JsonError>) -> Option<String> {
    // Some services answer with a part of a list, which is whole in itself. A part of a text is not.
    if response.status == 206 && !matches!(parsed, Ok(Value::Object(_) | Value::Array(_))) {
        return Some("is a part of a longer one: its status is 206".to_owned());
    }
    let error = parsed.err()?;
    let reason = error.to_string();
    // The names are those of the service, which the tool may not return.
    let reason = match &*reason {
        it if it.contains("is repeated") => "an object has two members of the same name",
        it if it.contains("hex escape") => "a text has half of a surrogate pair",
        it if it.starts_with("number out of range") => "a number is too large",
        it if it.starts_with("nested deeper") => "it is nested too deeply",
        it if it.starts_with("more than") => "it has too many values",
        // It is some other text.
        _ => return None,
    };
    let (line, column) = (error.line(), error.column());
    Some(format!("cannot be read as JSON: {reason}, at line {line}, column {column}"))
}

/// Whether a call reads the response as JSON. The beginning of a response is none.
fn reads_json(call: &HttpCall) -> bool {
    call.select.is_some()
        || !call.fields.is_empty()
        || !call.decode.is_empty()
        || call.failure.is_some()
}

/// What is kept of a value, with its texts decoded.
fn shown(call: &HttpCall, mut value: Value<'_>) -> Json {
    keep(&mut value, call.fields);
    if !call.decode.is_empty() {
        decode(&mut value, call.decode);
    }
    Json::from(&value)
}

/// Removes the members that are not kept.
fn keep(value: &mut Value<'_>, fields: &[Kept]) {
    match value {
        Value::Object(members) if !fields.is_empty() => members.retain(|name, member| {
            let field = fields.iter().find(|field| field.name == name);
            field.inspect(|field| keep(member, field.fields)).is_some()
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| keep(item, fields)),
        _ => {}
    }
}

/// Decodes the texts of members with these names. Texts that are not base64 of UTF-8, in either alphabet, stay.
fn decode(value: &mut Value<'_>, names: &[&str]) {
    match value {
        Value::Object(members) => members.retain(|name, member| {
            let text = member.as_str().filter(|_| names.contains(&name)).and_then(decoded);
            match text {
                Some(text) => *member = Value::String(text.into()),
                None => decode(member, names),
            }
            true
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| decode(item, names)),
        _ => {}
    }
}

fn decoded(text: &str) -> Option<String> {
    let plain: String = text.chars().filter(|c| !matches!(c, '\r' | '\n' | '=')).collect();
    let plain = plain.replace('+', "-").replace('/', "_");
    String::from_utf8(Base64UrlUnpadded::decode_vec(&plain).ok()?).ok()
}

/// The error that a response with a status of success reports.
fn reported(
    failure: Failure,
    root: &Value<'_>,
    auth: &Auth,
    context: &Context<'_>,
) -> Result<(), ToolError> {
    let found = failure.path.iter().try_fold(root, |at, name| at.get(name));
    let text = match found {
        None | Some(Value::Null | Value::Bool(false)) => return Ok(()),
        Some(Value::Array(items)) if items.is_empty() => return Ok(()),
        Some(Value::String(text)) => text.to_string(),
        Some(value) => to_string(value),
    };
    context.warn(
        "http",
        &[("tool", &context.tool.id()), ("problem", "the service reports a failure")],
    );
    match auth.provider() {
        Some(id) if failure.unauthorized.contains(&&*text) => Err(context.token_refused(id)),
        _ => {
            Err(ToolError::new("The service reports a failure").prompt(told(&text, auth, context)))
        }
    }
}

/// What is passed on of a service's error: its beginning, without the credentials, which some services repeat.
fn told(text: &str, auth: &Auth, context: &Context<'_>) -> String {
    let mut text = text.to_owned();
    auth.each_text(context, |credential| {
        for form in [credential.to_owned(), encoded(credential)] {
            if !form.is_empty() {
                text = text.replace(&form, "[secret]");
            }
        }
    });
    cut(&text, ERROR_LENGTH)
}

/// The text of a body, or a note about one that is no text. A character at the end may be cut.
fn text(response: &HttpResponse) -> String {
    let body = response.unmarked();
    match str::from_utf8(body) {
        Ok(text) => text.to_owned(),
        Err(error) if response.is_cut && error.error_len().is_none() => {
            let text = body.get(..error.valid_up_to()).unwrap_or_default();
            String::from_utf8_lossy(text).into_owned()
        }
        Err(_) => format!("[The response is no text: {} bytes.]", response.body.len()),
    }
}

/// The beginning of a response, if the tool may return text.
fn large(text: Json, context: &Context<'_>) -> Result<Json, ToolError> {
    if context.tool.output.is_valid(&(&text).into()) { Ok(text) } else { Err(too_large()) }
}

fn no_json(flaw: Option<&str>) -> ToolError {
    let error = ToolError::new("The service's response is not valid");
    match flaw {
        Some(flaw) => error.developer_message(format!("It {flaw}.")),
        None => error.developer_message("It must be JSON."),
    }
}

fn too_large() -> ToolError {
    ToolError::new("The service's response is too large")
        .prompt("Ask for less, such as fewer items per page.")
}

/// The error for a response that is no success.
fn failed(
    call: &HttpCall,
    response: &HttpResponse,
    auth: &Auth,
    context: &Context<'_>,
) -> ToolError {
    let status = response.status;
    context.warn("http", &[("tool", &context.tool.id()), ("status", &status.to_string())]);
    let detail = format!("The service responded with status {status}.");
    let text = told(text(response).trim(), auth, context);
    let error = match (status, auth.provider()) {
        (401, Some(id)) => return context.token_refused(id),
        // The text may repeat the credentials.
        (401, None) if !auth.sent.is_empty() => {
            let message = "The service rejected the credentials of the server";
            return ToolError::new(message).developer_message(detail);
        }
        // The input can have a condition, such as a header If-None-Match.
        (304, _) => {
            let detail = format!("{detail} It has nothing newer than what the request names.");
            return ToolError::new("Nothing has changed at the service").developer_message(detail);
        }
        (301 | 302 | 303 | 307 | 308, _) => {
            let detail = format!("{detail} Redirects are not followed.");
            return ToolError::new("The service redirects the request").developer_message(detail);
        }
        _ => ToolError::new(format!("The service responded with status {status}")),
    };
    let mut error = match status {
        // The model can correct its input.
        400 | 404 | 409 | 410 | 413 | 422 if !text.is_empty() => {
            error.developer_message(detail).prompt(text)
        }
        _ => error.developer_message([&*detail, &text].join(" ").trim()),
    };
    if matches!(status, 429 | 503) || (status >= 500 && is_read(call)) {
        error.can_retry = true;
        error.retry_after_ms = response.retry_after_ms;
    }
    error
}
