//! The answer to a request: a response that is complete, or one whose body is written while it is sent.

use std::fmt;

use super::Response;
use crate::host::BoxFuture;

/// The answer to a request.
pub struct Answer<'a> {
    /// The status, the headers, and the first bytes of the body: all of them without `rest`.
    pub head: Response,
    /// Writes the rest of the body, if the answer is a stream.
    pub rest: Option<BodyWriter<'a>>,
}

/// Writes the body of a stream. The body ends when the future is ready.
pub type BodyWriter<'a> = Box<dyn FnOnce(Box<dyn BodySink>) -> BoxFuture<'a, ()> + 'a>;

/// The body of a response that is being sent.
pub trait BodySink {
    /// Sends bytes. Ready when the client can take more, so that a slow client slows the writer down.
    ///
    /// # Errors
    /// The client has gone; nothing more can be sent.
    fn write<'a>(&'a self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ClientGone>>;
}

/// The client has closed the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientGone;

impl From<Response> for Answer<'_> {
    fn from(head: Response) -> Self {
        Self { head, rest: None }
    }
}

impl fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("head", &self.head).finish_non_exhaustive()
    }
}
