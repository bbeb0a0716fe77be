//! The HTTP client: requests to other servers, and their responses.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::de::DeserializeOwned;

use super::async_trait;
use crate::json;

/// Sends HTTP requests to other servers.
#[async_trait(?Send)]
pub trait HttpClient {
    /// Sends one request and reads the whole response. Any status is a success. Redirects are not followed, because
    /// that would send tokens and secrets to another address.
    ///
    /// # Errors
    /// No response within the request's limits; see [`HttpError`].
    async fn send(&self, request: HttpRequest<'_>) -> Result<HttpResponse, HttpError>;

    /// Sends one request and returns as soon as the headers of the response have arrived. Otherwise like
    /// [`send`](Self::send); the request's `timeout` is how long to wait for the headers, and then for each chunk.
    ///
    /// # Errors
    /// No headers in time, or no connection.
    async fn open(&self, request: HttpRequest<'_>) -> Result<StreamedResponse, HttpError>;
}

/// Another server's response, of which the body is still arriving.
#[non_exhaustive]
pub struct StreamedResponse {
    /// The status code.
    pub status: u16,
    /// `Retry-After` in milliseconds, if the server sent it as seconds.
    pub retry_after_ms: Option<u64>,
    /// The body.
    pub body: Box<dyn ByteStream>,
}

impl StreamedResponse {
    /// A response without `Retry-After`.
    pub fn new(status: u16, body: Box<dyn ByteStream>) -> Self {
        Self { status, retry_after_ms: None, body }
    }
}

/// A body that is read in chunks. Nothing is read ahead, so a slow reader slows the sender down. Dropping it cancels
/// the request. It is [`Any`], so that the host can recognize its own streams.
#[async_trait(?Send)]
pub trait ByteStream: Any {
    /// The next bytes, at least one; `None` at the end of the body.
    ///
    /// # Errors
    /// The connection broke off, or no bytes arrived in time.
    async fn next(&mut self) -> Result<Option<Vec<u8>>, HttpError>;
}

/// A request to another server.
///
/// Versions of this crate may add fields, so take the other fields from [`get`](HttpRequest::get):
///
/// ```
/// use toolbooth::host::HttpRequest;
///
/// let url = "https://orders.example/7/cancel";
/// let request = HttpRequest { method: "POST", body: Some(b"{}".to_vec()), ..HttpRequest::get(url) };
/// assert_eq!(request.max_bytes, 1 << 20);
/// ```
#[derive(Debug, Clone)]
pub struct HttpRequest<'a> {
    /// The method, in upper case.
    pub method: &'static str,
    /// An absolute `http` or `https` URL. A binding ignores it.
    pub url: Cow<'a, str>,
    /// The service of the host that answers instead of a server on the network: Workers AI.
    pub binding: Option<&'static str>,
    /// Header names and values.
    pub headers: Vec<(&'static str, Cow<'a, str>)>,
    /// The body, if the method has one.
    pub body: Option<Vec<u8>>,
    /// How long to wait for the whole response.
    pub timeout: Duration,
    /// The largest response body that is read, in bytes.
    pub max_bytes: usize,
    /// Whether a longer body is cut there. Otherwise, the request fails.
    pub cut: bool,
    /// Whether a body of text in another charset becomes UTF-8. Bytes that are no text stay as they are.
    pub text: bool,
}

impl<'a> HttpRequest<'a> {
    /// A `GET` that waits at most ten seconds for at most 1 MiB.
    pub fn get(url: impl Into<Cow<'a, str>>) -> Self {
        Self {
            method: "GET",
            url: url.into(),
            binding: None,
            headers: Vec::new(),
            body: None,
            timeout: Duration::from_secs(10),
            max_bytes: 1 << 20,
            cut: false,
            text: false,
        }
    }
}

/// Another server's response.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpResponse {
    /// The status code.
    pub status: u16,
    /// `Retry-After` in milliseconds, if the server sent it as seconds.
    pub retry_after_ms: Option<u64>,
    /// For how many milliseconds it may be kept, if the server says so in `Cache-Control`.
    pub max_age_ms: Option<u64>,
    /// `Link`, which may name the next page.
    pub link: Option<String>,
    /// The body.
    pub body: Vec<u8>,
    /// Whether the body was cut: see [`HttpRequest::cut`].
    pub is_cut: bool,
}

impl HttpResponse {
    /// A response without these headers, for hosts and for fakes of services in tests.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            retry_after_ms: None,
            max_age_ms: None,
            link: None,
            body: body.into(),
            is_cut: false,
        }
    }

    /// With `Retry-After`, in milliseconds.
    #[must_use]
    pub fn retry_after_ms(mut self, ms: u64) -> Self {
        self.retry_after_ms = Some(ms);
        self
    }

    /// With a header `Link`.
    #[must_use]
    pub fn link(mut self, link: impl Into<String>) -> Self {
        self.link = Some(link.into());
        self
    }

    /// The body decoded from JSON; `None` if it is not JSON of the type `T`.
    pub fn json<T: DeserializeOwned>(&self) -> Option<T> {
        json::read(self.unmarked())
    }

    /// The body without the mark U+FEFF at its beginning, which some servers write, and which is no part of the text
    /// (RFC 8259, 8.1).
    pub(crate) fn unmarked(&self) -> &[u8] {
        self.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.body)
    }
}

/// Why a request to another server failed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpError {
    /// The response did not arrive in time.
    Timeout,
    /// The body is larger than the request allows.
    TooLarge,
    /// No connection, no such host, or a broken response. The text is for the log.
    Unreachable(String),
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("no response in time"),
            Self::TooLarge => f.write_str("the response is too large"),
            Self::Unreachable(reason) => write!(f, "unreachable: {reason}"),
        }
    }
}
