//! HTTP as plain data: what arrives, what leaves, and the two mechanisms that belong to no protocol
//! (cross-origin access and entity tags).

use std::borrow::Cow;

use crate::config::Origins;
use crate::host::BoxFuture;
use crate::json::Writer;
use crate::names::same;

/// A request method that the booth tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    /// Every other method, none of which any endpoint takes.
    Other,
}

impl From<&str> for Method {
    fn from(name: &str) -> Self {
        match name {
            "GET" => Self::Get,
            "HEAD" => Self::Head,
            "POST" => Self::Post,
            "DELETE" => Self::Delete,
            "OPTIONS" => Self::Options,
            _ => Self::Other,
        }
    }
}

/// Request headers, read one by one because on Workers each read crosses into JS.
pub trait Headers {
    /// The value of the header `name` (lower case), or `None` when it is absent.
    fn get(&self, name: &str) -> Option<String>;
}

/// The body of a request.
pub enum Body<'a> {
    /// All of its bytes; none when the request has no body.
    Read(Vec<u8>),
    /// A body that is read when an endpoint needs it, and not before the caller is known.
    Unread(&'a dyn BodyStream),
}

/// Reads a body that is still on its way.
pub trait BodyStream {
    /// Reads the whole body if it has at most `limit` bytes, and stops reading once it has more.
    ///
    /// # Errors
    /// See [`BodyError`].
    fn read(&self, limit: usize) -> BoxFuture<'_, Result<Vec<u8>, BodyError>>;
}

/// Why a body could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
pub struct Inbound<'a> {
    /// The method.
    pub method: Method,
    /// The path, beginning with `/`, without the query.
    pub path: &'a str,
    /// The query, without `?`.
    pub query: &'a str,
    /// The headers.
    pub headers: &'a dyn Headers,
    /// The body.
    pub body: Body<'a>,
}

/// A response as it leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outbound {
    /// The status code.
    pub status: u16,
    /// Header names (lower case) and values.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body; empty means none.
    pub body: Cow<'static, [u8]>,
}

impl Outbound {
    /// A response with a JSON body.
    pub fn json(status: u16, body: impl Into<Cow<'static, [u8]>>) -> Self {
        Self {
            status,
            headers: vec![("content-type", Cow::Borrowed("application/json"))],
            body: body.into(),
        }
    }

    /// A response with JSON that was written for this request, and is for no cache.
    pub(crate) fn written(status: u16, body: Writer) -> Self {
        Self::json(status, body.end().into_bytes()).with("cache-control", "no-store")
    }

    /// A response without a body.
    pub fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Cow::Borrowed(&[]) }
    }

    /// The response with one more header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Whether a request's `If-None-Match` names `etag` (RFC 9110, 13.1.2: weak comparison).
pub fn matches_etag(headers: &dyn Headers, etag: &str) -> bool {
    headers.get("if-none-match").is_some_and(|sent| {
        sent.split(',')
            .map(str::trim)
            .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
    })
}

/// Whether the request's body is declared to be JSON: `application/json` or a `+json` type.
///
/// Anything else is refused, also a missing type. A page of a stranger can then not make a browser
/// post a call without asking first (a preflight).
pub fn is_json(headers: &dyn Headers) -> bool {
    let Some(sent) = headers.get("content-type") else { return false };
    // What nearly everybody sends.
    if same(&sent, "application/json") {
        return true;
    }
    let essence = sent.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json")
        || essence
            .get(essence.len().saturating_sub(5)..)
            .is_some_and(|end| end.eq_ignore_ascii_case("+json"))
}

/// Request headers that a browser's page may send.
const ALLOW_HEADERS: &str = "accept, authorization, content-type, if-none-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, otc-api-key, oxp-api-key, oxp-version";
/// Response headers that a browser's page may read.
const EXPOSE_HEADERS: &str = "etag, oxp-version, retry-after, retry-after-ms, toolbooth-warning, www-authenticate, x-should-retry";

/// Answers a preflight from an origin that is allowed, or gives `None` when the `OPTIONS` request is
/// not one (Fetch standard, "CORS-preflight request").
pub fn preflight(headers: &dyn Headers, origin: &str, origins: &Origins) -> Option<Outbound> {
    headers.get("access-control-request-method")?;
    let asked = headers.get("access-control-request-headers").unwrap_or_default();
    let answer = Outbound::empty(204)
        .with("access-control-allow-methods", "GET, HEAD, POST, OPTIONS")
        .with("access-control-allow-headers", allow_headers(&asked))
        .with("access-control-max-age", "86400");
    Some(allow_origin(answer, origin.to_owned(), origins))
}

/// The headers that a page may send, given those that it wants to: tools of MCP clients have headers
/// of their own, one a parameter.
fn allow_headers(asked: &str) -> Cow<'static, str> {
    const MOST: usize = 32;
    let token = |name: &&str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let parameters: Vec<String> = asked
        .split(',')
        .map(str::trim)
        .filter(token)
        .map(str::to_ascii_lowercase)
        .filter(|name| name.starts_with("mcp-param-") && name.len() <= 64)
        .take(MOST)
        .collect();
    if parameters.is_empty() {
        return ALLOW_HEADERS.into();
    }
    format!("{ALLOW_HEADERS}, {}", parameters.join(", ")).into()
}

/// Adds the cross-origin headers that an ordinary response needs, given the request's `Origin`.
pub fn cross_origin(response: Outbound, origin: Option<String>, origins: &Origins) -> Outbound {
    if origins.none() {
        return response;
    }
    match origin {
        Some(origin) if origins.allow(&origin) => {
            let response = response.with("access-control-expose-headers", EXPOSE_HEADERS);
            allow_origin(response, origin, origins)
        }
        _ => varying_by_origin(response),
    }
}

fn allow_origin(response: Outbound, origin: String, origins: &Origins) -> Outbound {
    let allowed = if origins.any() { Cow::Borrowed("*") } else { Cow::Owned(origin) };
    varying_by_origin(response.with("access-control-allow-origin", allowed))
}

/// Names the request's `Origin` among what the answer depends on.
fn varying_by_origin(mut response: Outbound) -> Outbound {
    match response.headers.iter_mut().find(|(name, _)| *name == "vary") {
        Some((_, vary)) => *vary = format!("Origin, {vary}").into(),
        None => return response.with("vary", "Origin"),
    }
    response
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Headers for tests: pairs of lower-case name and value.
    pub(crate) struct Pairs<'a>(pub(crate) &'a [(&'a str, &'a str)]);

    impl Headers for Pairs<'_> {
        fn get(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        }
    }

    /// A response as it goes over the wire: status, headers, body.
    pub(crate) fn wire(response: &Outbound) -> String {
        let headers: String =
            response.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        format!("{}\n{headers}{}", response.status, str::from_utf8(&response.body).unwrap())
    }

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

    fn header<'a>(response: &'a Outbound, name: &str) -> Option<&'a str> {
        response.headers.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_ref())
    }

    #[test]
    fn headers_of_parameters_may_be_sent() {
        for (asked, expected) in [
            ("", ""),
            ("content-type, x-other", ""),
            ("Mcp-Param-Region, mcp-param-a_b", ", mcp-param-region, mcp-param-a_b"),
            ("mcp-param-a\r\nb, mcp-param-é, mcp-param-a b", ""),
            (&format!("mcp-param-{}", "a".repeat(99)), ""),
            (&"mcp-param-a,".repeat(99), &", mcp-param-a".repeat(32)),
        ] {
            assert_eq!(allow_headers(asked), format!("{ALLOW_HEADERS}{expected}"), "{asked}");
        }
    }

    #[test]
    fn cross_origin_access() {
        const A: &str = "https://a.example";
        // configured origins, the request's Origin, expected Allow-Origin, expected Vary
        for (origins, origin, allowed, vary) in [
            ("", Some(A), None, None),
            ("*", Some(A), Some("*"), Some("Origin")),
            (A, Some(A), Some(A), Some("Origin")),
            (A, Some("https://b.example"), None, Some("Origin")),
            (A, Some("https://a.example.evil"), None, Some("Origin")),
            (A, Some("null"), None, Some("Origin")),
            ("https://b.example,https://a.example", Some(A), Some(A), Some("Origin")),
            (A, None, None, Some("Origin")),
        ] {
            let allow = Origins::parse(origins).unwrap();
            let sent = origin.map(str::to_owned);
            let answer = cross_origin(Outbound::empty(200), sent, &allow);
            assert_eq!(
                header(&answer, "access-control-allow-origin"),
                allowed,
                "{origins} {origin:?}"
            );
            assert_eq!(header(&answer, "vary"), vary, "{origins} {origin:?}");
            let (Some(origin), Some(allowed)) = (origin, allowed) else { continue };
            let asks = Pairs(&[("access-control-request-method", "POST")]);
            let answer = preflight(&asks, origin, &allow).unwrap();
            assert_eq!(header(&answer, "access-control-allow-origin"), Some(allowed), "{origins}");
            assert_eq!(preflight(&Pairs(&[]), origin, &allow), None, "no method is asked for");
        }
    }
}
