//! Requests and responses of tests.

use crate::http::{Headers, Response};

/// Headers for tests: pairs of lower-case name and value.
pub struct Pairs<'a>(pub &'a [(&'a str, &'a str)]);

impl Headers for Pairs<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }
}

/// The header of a response that a rejection requires.
pub fn rejection_header(response: &Response) -> Option<(&'static str, String)> {
    const NAMES: [&str; 3] = ["allow", "www-authenticate", "retry-after"];
    let mut headers = response.headers.iter();
    let (name, value) = headers.find(|(name, _)| NAMES.contains(name))?;
    Some((name, value.to_string()))
}

/// A response as it goes over the wire: status, headers, body.
pub fn wire(response: &Response) -> String {
    let headers: String =
        response.headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    format!("{}\n{headers}{}", response.status, String::from_utf8_lossy(&response.body))
}
