//! A response as plain data, which the host converts to its own type.

use std::borrow::Cow;

use serde::Serialize;

use crate::json;

/// A response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// Header names (lower case) and values.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body; empty if the response has no body.
    pub body: Cow<'static, [u8]>,
}

impl Response {
    /// A response with a JSON body.
    pub fn json(status: u16, body: impl Into<Cow<'static, [u8]>>) -> Self {
        Self {
            status,
            headers: vec![("content-type", Cow::Borrowed("application/json"))],
            body: body.into(),
        }
    }

    /// A response with a JSON body that caches must not keep.
    pub fn json_of(status: u16, body: &(impl Serialize + ?Sized)) -> Self {
        Self::json(status, json::to_vec(body)).with("cache-control", "no-store")
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
