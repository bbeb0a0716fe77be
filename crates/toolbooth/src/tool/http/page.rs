//! Tells a model how to get the next page.

use serde_json::{Map, Value as Json};

use super::{HttpCall, Pagination};
use crate::catalog::QueryValue;
use crate::host::HttpResponse;
use crate::json::{Value, object};

/// The longest value of a parameter that is taken from a response.
const LONGEST: usize = 2_048;

/// The value with the parameters of the next page: `{"value": …, "next": {"page": 2}}`. `next` is `null` if the
/// service names no next page.
pub(super) fn with_next(
    call: &HttpCall,
    pagination: Pagination,
    value: Json,
    root: Option<&Value<'_>>,
    response: &HttpResponse,
) -> Json {
    let next = match pagination {
        Pagination::Link => response.link.as_deref().and_then(|link| linked(call, link)),
        Pagination::Cursor { path, property } => {
            let cursor = path.iter().try_fold(root, |at, name| Some(at?.get(name)));
            let cursor = cursor.flatten().filter(|cursor| match cursor {
                Value::String(text) => !text.is_empty() && text.len() <= LONGEST,
                Value::Number(_) => true,
                _ => false,
            });
            cursor.map(|cursor| object([(property, cursor.into())]))
        }
    };
    object([("value", value), ("next", next.unwrap_or_default())])
}

/// The parameters of the next page that differ in its address. Only parameters that the tool has are read: the rest of
/// the header does not reach the model.
fn linked(call: &HttpCall, link: &str) -> Option<Json> {
    let target = next_target(link)?;
    let (_, query) = target.split_once('?')?;
    let query = query.split('#').next().unwrap_or_default();
    let mut next = Map::new();
    for (name, text) in form_urlencoded::parse(query.as_bytes()) {
        let field = call.query.iter().find(|field| field.name == name);
        let field = field.filter(|_| text.len() <= LONGEST);
        let value = field.and_then(|field| typed(field.read?, &text));
        if let (Some(field), Some(value)) = (field, value) {
            next.insert(field.property.to_owned(), value);
        }
    }
    (!next.is_empty()).then_some(Json::Object(next))
}

/// A text as a value.
fn typed(read: QueryValue, text: &str) -> Option<Json> {
    match read {
        QueryValue::Text => Some(text.into()),
        QueryValue::Number => text.parse::<u64>().ok().map(|number| Json::Number(number.into())),
        QueryValue::Boolean => text.parse().ok().map(Json::Bool),
    }
}

/// The target of the link with the relation `next` (RFC 8288).
fn next_target(header: &str) -> Option<&str> {
    let mut rest = header;
    while let Some((_, from)) = rest.split_once('<') {
        let (target, after) = from.split_once('>')?;
        let parameters = after.split('<').next().unwrap_or_default();
        let is_next = |parameter: &str| {
            let (name, value) = parameter.split_once('=').unwrap_or_default();
            let value = value.trim().trim_end_matches(',').trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case("rel")
                && value.split(' ').any(|relation| relation.eq_ignore_ascii_case("next"))
        };
        if parameters.split(';').any(is_next) {
            return Some(target);
        }
        rest = after;
    }
    None
}
