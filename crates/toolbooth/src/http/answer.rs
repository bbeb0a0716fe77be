//! The answer to a request: a response that is complete, or one whose body is written while it is sent.

use std::time::Duration;

use super::Response;
use crate::host::{BoxFuture, ByteStream, HttpError, async_trait};

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
#[async_trait(?Send)]
pub trait BodySink {
    /// Sends bytes. Ready when the client can take more, so that a slow client slows the writer down.
    ///
    /// # Errors
    /// The client has gone; nothing more can be sent.
    async fn write(&self, bytes: &[u8]) -> Result<(), ClientGone>;

    /// Sends what `transform` makes of each chunk of `source`, until the source ends or `transform` returns `None`.
    /// A host whose chunks come from another language can implement it with one call per chunk. It should send
    /// `keep_alive` while the source is silent.
    ///
    /// # Errors
    /// The client has gone, or the source has failed.
    async fn pipe<'a>(
        &self,
        source: &mut dyn ByteStream,
        transform: &'a mut Transform<'a>,
        keep_alive: KeepAlive,
    ) -> Result<(), PipeError> {
        let _ = keep_alive;
        while let Some(chunk) = source.next().await.map_err(PipeError::Source)? {
            let Some(bytes) = transform(chunk) else { break };
            if !bytes.is_empty() {
                self.write(&bytes).await.map_err(|ClientGone| PipeError::ClientGone)?;
            }
        }
        Ok(())
    }
}

/// Turns a chunk of one body into bytes of another, perhaps none. Nothing more is read after `None`.
pub type Transform<'a> = dyn FnMut(Vec<u8>) -> Option<Vec<u8>> + 'a;

/// Bytes that tell a client that the stream goes on. Writing them is also how some hosts notice that the client has gone.
#[derive(Debug, Clone, Copy)]
pub struct KeepAlive {
    /// How long the source must have been silent.
    pub after: Duration,
    /// What is sent.
    pub bytes: &'static [u8],
}

/// Why [`BodySink::pipe`] ended early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PipeError {
    /// The client has closed the connection.
    ClientGone,
    /// The source broke off, or nothing arrived in time.
    Source(HttpError),
}

/// The client has closed the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientGone;

impl From<Response> for Answer<'_> {
    fn from(head: Response) -> Self {
        Self { head, rest: None }
    }
}
