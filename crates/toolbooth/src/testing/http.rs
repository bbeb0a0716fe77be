//! A fake of the services that tools call: scripted responses, and a record of the requests.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;

use serde_json::Value;

use crate::catalog::ExampleResponse;
use crate::host::{
    ByteStream, HttpError, HttpRequest, HttpResponse, StreamedResponse, async_trait,
};

/// Responds to the HTTP requests of a test.
pub type Upstream = fn(&HttpRequest<'_>) -> Result<HttpResponse, HttpError>;

/// A response with this status and body, for [`ToolTest::respond`](super::ToolTest::respond) and for [`Upstream`]
/// functions, which is why it is a `Result`.
///
/// # Errors
/// None.
pub fn respond(status: u16, body: impl AsRef<[u8]>) -> Result<HttpResponse, HttpError> {
    Ok(HttpResponse::new(status, body.as_ref()))
}

/// An HTTP request that was sent. `Display` shows the method and the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRequest {
    /// The method, in upper case.
    pub method: String,
    /// The URL.
    pub url: String,
    /// Header names and values.
    pub headers: Vec<(String, String)>,
    /// The body; empty if there is none.
    pub body: Vec<u8>,
}

impl SentRequest {
    fn new(request: &HttpRequest<'_>) -> Self {
        let header = |(name, value): &(&'static str, _)| ((*name).to_owned(), format!("{value}"));
        Self {
            method: request.method.to_owned(),
            url: request.url.to_string(),
            headers: request.headers.iter().map(header).collect(),
            body: request.body.clone().unwrap_or_default(),
        }
    }

    /// The value of a header; its name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let (_, value) = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// The body decoded from JSON; `null` if it is not JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl fmt::Display for SentRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.url)
    }
}

/// Scripted responses, and the requests that were sent.
#[derive(Default)]
pub struct FakeHttp {
    /// The requests that were sent.
    pub requests: RefCell<Vec<SentRequest>>,
    /// Responses by method and URL, as in `GET https://orders.example/orders/7`.
    responses: RefCell<Vec<(String, Responses)>>,
    /// The response of an example to all other requests.
    recorded: Option<HttpResponse>,
}

/// The responses to equal requests, in order; the last one repeats.
type Responses = VecDeque<Result<HttpResponse, HttpError>>;

impl FakeHttp {
    pub(crate) fn add(&mut self, request: &str, response: Result<HttpResponse, HttpError>) {
        let responses = self.responses.get_mut();
        match responses.iter_mut().find(|(known, _)| known == request) {
            Some((_, queue)) => queue.push_back(response),
            None => responses.push((request.to_owned(), VecDeque::from([response]))),
        }
    }

    /// Responds as an example says from now on, and forgets the requests so far.
    pub(super) fn record(&mut self, response: Option<&ExampleResponse>) {
        self.requests.get_mut().clear();
        self.recorded = response.map(|ExampleResponse { status, body, link }| {
            let body = match body {
                Value::Null => String::new(),
                Value::String(text) => text.clone(),
                json => json.to_string(),
            };
            HttpResponse { link: link.clone(), ..HttpResponse::new(*status, body) }
        });
    }

    /// The scripted or recorded response to a request, otherwise that of `upstream`.
    pub(super) fn respond(
        &self,
        request: &HttpRequest<'_>,
        upstream: Upstream,
    ) -> Result<HttpResponse, HttpError> {
        let sent = SentRequest::new(request);
        let line = sent.to_string();
        self.requests.borrow_mut().push(sent);
        let mut responses = self.responses.borrow_mut();
        let queue = responses.iter_mut().find(|(known, _)| *known == line).map(|(_, queue)| queue);
        let scripted = queue.and_then(|queue| {
            if queue.len() > 1 { queue.pop_front() } else { queue.front().cloned() }
        });
        let recorded = || self.recorded.clone().map(Ok);
        scripted.or_else(recorded).unwrap_or_else(|| upstream(request))
    }
}

/// Ends a chunk of a streamed response of [`FakeHost`](super::FakeHost).
pub const CHUNK_END: u8 = 0x1e;
/// A chunk of a streamed response of [`FakeHost`](super::FakeHost) at which the connection breaks off.
pub const BREAKS_OFF: &[u8] = b"\x18";

/// Splits the body of a response at each [`CHUNK_END`].
pub(super) fn streamed(response: HttpResponse) -> StreamedResponse {
    let HttpResponse { status, retry_after_ms, body, .. } = response;
    let chunks = body.split(|byte| *byte == CHUNK_END).filter(|chunk| !chunk.is_empty());
    let body = Box::new(FakeByteStream(chunks.map(<[u8]>::to_vec).collect()));
    StreamedResponse { status, retry_after_ms, body }
}

/// The chunks that have not been read.
struct FakeByteStream(VecDeque<Vec<u8>>);

#[async_trait(?Send)]
impl ByteStream for FakeByteStream {
    async fn next(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        match self.0.pop_front() {
            Some(chunk) if chunk == BREAKS_OFF => {
                Err(HttpError::Unreachable("the connection was reset".to_owned()))
            }
            next => Ok(next),
        }
    }
}
