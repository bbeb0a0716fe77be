//! Writes an e-mail: RFC 5322, with RFC 2047 in its headers and UTF-8 in its text.

use std::borrow::Cow;

use base64ct::{Base64, Base64UrlUnpadded, Encoding};

use super::fields::text;
use crate::json::{Object, Value};
use crate::tool::ToolError;

/// The member with the text; the others are headers.
const TEXT: &str = "text";
/// The most bytes of which the base64 fits in an encoded word (RFC 2047, 2).
const WORD: usize = 45;
/// The characters of a line of base64 (RFC 2045, 6.8).
const LINE: usize = 76;

/// The headers that have addresses (RFC 5322, 3.6.2 and 3.6.3), in lower case.
const ADDRESSES: &[&str] = &["from", "sender", "reply-to", "to", "cc", "bcc"];

/// The e-mail with these headers and this text, in base64 for URLs.
///
/// # Errors
/// A header has a line break or another control character, which could add headers; or an address has other characters
/// than ASCII, which headers cannot have.
pub(super) fn write(members: &Object<'_>) -> Result<String, ToolError> {
    let mut message = String::new();
    for (name, value) in members.iter().filter(|(name, _)| name != TEXT) {
        let values: Vec<_> = match value {
            Value::Null => Vec::new(),
            Value::Array(items) => items.iter().map(text).collect(),
            value => vec![text(value)],
        };
        let invalid = |expected: &str| {
            ToolError::new("The e-mail is not valid").prompt(format!("{name} must {expected}."))
        };
        if values.iter().any(|value| value.contains(char::is_control)) {
            return Err(invalid("not have line breaks or other control characters"));
        }
        let has_addresses = ADDRESSES.iter().any(|it| it.eq_ignore_ascii_case(name));
        let values: Option<Vec<_>> = match has_addresses {
            true => values.iter().flat_map(|value| addresses(value)).map(address).collect(),
            false => Some(values.iter().map(|value| encoded(value)).collect()),
        };
        let values = values.ok_or_else(|| {
            invalid("have addresses of ASCII characters, such as Zoë <zoe@example.com>")
        })?;
        if !values.is_empty() {
            message.extend([name, ": ", &values.join(",\r\n "), "\r\n"]);
        }
    }
    message.push_str("MIME-Version: 1.0\r\nContent-Type: text/plain; charset=UTF-8\r\n");
    message.push_str("Content-Transfer-Encoding: base64\r\n\r\n");
    let text = members.get(TEXT).and_then(Value::as_str).unwrap_or_default();
    let text = Base64::encode_string(text.as_bytes());
    let mut rest = &*text;
    while !rest.is_empty() {
        let (line, after) = rest.split_at_checked(LINE).unwrap_or((rest, ""));
        message.extend([line, "\r\n"]);
        rest = after;
    }
    Ok(Base64UrlUnpadded::encode_string(message.as_bytes()))
}

/// The value of a header as ASCII.
fn encoded(value: &str) -> Cow<'_, str> {
    if value.is_ascii() { Cow::Borrowed(value) } else { words(value).into() }
}

/// The addresses of a list. A comma in quotes is part of a name.
fn addresses(list: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let parts = list.split(move |character| {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = is_quoted,
            '"' => is_quoted = !is_quoted,
            _ => {}
        }
        character == ',' && !is_quoted
    });
    parts.map(str::trim).filter(|address| !address.is_empty())
}

/// An address as ASCII: of `Zoë <zoe@example.com>`, the name is encoded. `None` if the rest is not ASCII.
fn address(text: &str) -> Option<Cow<'_, str>> {
    if text.is_ascii() {
        return Some(Cow::Borrowed(text));
    }
    let (name, address) = text.rsplit_once('<')?;
    let name = words(name.trim().trim_matches('"'));
    address.is_ascii().then(|| [&*name, " <", address].concat().into())
}

/// Encoded words, each on a line.
fn words(mut text: &str) -> String {
    let mut words = Vec::new();
    while !text.is_empty() {
        let end = (1..=WORD).rev().find(|end| text.is_char_boundary(*end));
        let (word, rest) = text.split_at_checked(end.unwrap_or_default()).unwrap_or((text, ""));
        words.push(["=?UTF-8?B?", &Base64::encode_string(word.as_bytes()), "?="].concat());
        text = rest;
    }
    words.join("\r\n ")
}
