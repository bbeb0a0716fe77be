//! A request as the host passes it, and checks of its headers.

use crate::host::async_trait;
use crate::names::is_equal;

/// A request method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// `GET`
    Get,
    /// `HEAD`
    Head,
    /// `POST`
    Post,
    /// `DELETE`
    Delete,
    /// `OPTIONS`
    Options,
    /// Every other method; no endpoint accepts it.
    Other,
}

impl Method {
    /// Its name, as in a request line; empty for [`Other`](Self::Other).
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Delete => "DELETE",
            Self::Options => "OPTIONS",
            Self::Other => "",
        }
    }
}

impl From<&str> for Method {
    fn from(name: &str) -> Self {
        let known = [Self::Get, Self::Head, Self::Post, Self::Delete, Self::Options];
        known.into_iter().find(|method| method.name() == name).unwrap_or(Self::Other)
    }
}

/// Request headers, read one at a time because on Workers every read is a call into JS.
pub trait Headers {
    /// The value of the header `name` (lower case), or `None` if it is absent.
    fn get(&self, name: &str) -> Option<String>;
}

/// The body of a request.
pub enum Body<'a> {
    /// All bytes; empty if the request has no body.
    Read(Vec<u8>),
    /// A body that is read only if an endpoint needs it, and only after authentication.
    Unread(&'a dyn BodyStream),
}

/// Reads a body that has not arrived completely.
#[async_trait(?Send)]
pub trait BodyStream {
    /// Reads the whole body if it has at most `limit` bytes, and stops reading once it has more.
    ///
    /// # Errors
    /// See [`BodyError`].
    async fn read(&self, limit: usize) -> Result<Vec<u8>, BodyError>;

    /// The first bytes, at most `limit`, of a body that was not read completely: those that have arrived, or that
    /// arrive within a second. Afterwards, the body cannot be read any more.
    async fn start(&self, limit: usize) -> Vec<u8>;
}

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BodyError {
    /// It has more bytes than the limit.
    TooLarge,
    /// The connection ended first.
    Incomplete,
}

impl From<Vec<u8>> for Body<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Read(bytes)
    }
}

impl From<&str> for Body<'_> {
    fn from(text: &str) -> Self {
        Self::Read(text.into())
    }
}

/// A request as it arrives.
pub struct Request<'a> {
    /// The method.
    pub method: Method,
    /// The path, beginning with `/`, without the query.
    pub path: &'a str,
    /// The query, without `?`.
    pub query: &'a str,
    /// The origin that the request was sent to, if it was sent over TLS: then its name is not the result of DNS
    /// rebinding, and pages of this origin are the server's own.
    pub own_origin: Option<&'a str>,
    /// The headers.
    pub headers: &'a dyn Headers,
    /// The body.
    pub body: Body<'a>,
}

/// Whether a request's `If-None-Match` names `etag` (RFC 9110, 13.1.2: weak comparison).
pub fn matches_etag(headers: &dyn Headers, etag: &str) -> bool {
    headers.get("if-none-match").is_some_and(|sent| {
        sent.split(',')
            .map(str::trim)
            .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
    })
}

/// Whether the request's body is declared to be the fields of a form.
pub(crate) fn is_form(headers: &dyn Headers) -> bool {
    let sent = headers.get("content-type").unwrap_or_default();
    let essence = sent.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/x-www-form-urlencoded")
}

/// Whether the request's body is declared to be JSON: `application/json` or a `+json` type.
///
/// A missing type does not count: browsers send such a request of a foreign page without a preflight.
pub fn is_json(headers: &dyn Headers) -> bool {
    let Some(sent) = headers.get("content-type") else { return false };
    // Nearly every client sends exactly this.
    if is_equal(&sent, "application/json") {
        return true;
    }
    let essence = sent.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
        || essence
            .get(essence.len().saturating_sub(5)..)
            .is_some_and(|end| end.eq_ignore_ascii_case("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pairs;

    #[test]
    fn content_types() {
        for (sent, expected) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/problem+json", true),
            ("text/plain", false),
            ("application/jsonx", false),
            ("application/x-www-form-urlencoded", false),
            ("é", false),
            ("", false),
        ] {
            assert_eq!(is_json(&Pairs(&[("content-type", sent)])), expected, "{sent}");
        }
        assert!(!is_json(&Pairs(&[])), "no content type");
    }

    #[test]
    fn entity_tags() {
        for (sent, expected) in [
            ("\"a\"", true),
            ("W/\"a\"", true),
            ("\"b\", \"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("a", false),
            ("", false),
        ] {
            assert_eq!(
                matches_etag(&Pairs(&[("if-none-match", sent)]), "\"a\""),
                expected,
                "{sent}"
            );
        }
        assert!(!matches_etag(&Pairs(&[]), "\"a\""), "no header");
    }
}
