//! HTTP as plain data: requests, responses, and CORS.

mod answer;
mod cors;
mod origins;
mod request;
mod response;

pub use answer::{Answer, BodySink, BodyWriter, ClientGone, KeepAlive, PipeError, Transform};
pub use cors::{any_page, any_page_preflight, cross_origin, preflight};
pub use origins::Origins;
pub use origins::is_same_origin;
pub(crate) use request::is_form;
pub use request::{Body, BodyError, BodyStream, Headers, Method, Request, is_json, matches_etag};
pub use response::Response;
