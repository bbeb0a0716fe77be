//! HTTP as plain data: requests, responses, and CORS.

mod answer;
mod cors;
mod origins;
mod request;
mod response;

pub use answer::{Answer, BodySink, BodyWriter, ClientGone, KeepAlive, PipeError, Transform};
pub use cors::{any_page, any_page_preflight, cross_origin, preflight};
pub use origins::Origins;
pub(crate) use origins::is_same_origin;
pub(crate) use request::is_form;
pub use request::{Body, BodyError, BodyStream, Headers, Method, Request, is_json, matches_etag};
pub use response::Response;

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

    /// The header of a response that a rejection requires.
    pub(crate) fn rejection_header(response: &Response) -> Option<(&'static str, String)> {
        const NAMES: [&str; 3] = ["allow", "www-authenticate", "retry-after"];
        let mut headers = response.headers.iter();
        let (name, value) = headers.find(|(name, _)| NAMES.contains(name))?;
        Some((name, value.to_string()))
    }

    /// A response as it goes over the wire: status, headers, body.
    pub(crate) fn wire(response: &Response) -> String {
        let headers: String =
            response.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        format!("{}\n{headers}{}", response.status, str::from_utf8(&response.body).unwrap())
    }
}
