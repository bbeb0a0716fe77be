//! The parameters of a form or a query. One that is repeated makes the request invalid (RFC 6749, 3.1 and 3.2).

use super::error::{INVALID_REQUEST, OAuthError};

/// Those that may be repeated (RFC 8707, 2; RFC 8693, 2.1).
const REPEATABLE: [&str; 2] = ["resource", "audience"];

/// The most parameters that are read. Requests have about a dozen.
const MAX_PARAMETERS: usize = 64;

#[derive(Debug)]
pub(crate) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Parses a form or a query. `resource` and `audience` may be repeated: then every value must be valid.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, OAuthError> {
        let mut parameters: Vec<(String, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(bytes) {
            if parameters.len() == MAX_PARAMETERS {
                return Err(INVALID_REQUEST.error("there are too many parameters"));
            }
            let is_repeated = parameters.iter().any(|(known, _)| *known == *name);
            if is_repeated && !REPEATABLE.contains(&&*name) {
                return Err(INVALID_REQUEST.error("a parameter is repeated"));
            }
            parameters.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(parameters))
    }

    /// The value of a parameter; an empty value counts as absent (RFC 6749, 3.1).
    pub(crate) fn get<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        self.all(name).next()
    }

    /// All values of a parameter that may be repeated.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(known, value)| known == name && !value.is_empty());
        named.map(|(_, value)| value.as_str())
    }

    pub(crate) fn require(&self, name: &'static str) -> Result<&str, OAuthError> {
        self.get(name).ok_or_else(|| INVALID_REQUEST.error(format!("`{name}` is missing")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters() {
        let distinct = |count: usize| (0..count).map(|it| format!("p{it}=&")).collect::<String>();
        for (text, expected) in [
            ("a=1&b=2", None),
            ("resource=1&resource=2", None),
            ("audience=1&audience=2", None),
            ("a=1&a=1", Some("a parameter is repeated")),
            (&distinct(64), None),
            (&distinct(65), Some("there are too many parameters")),
        ] {
            let error = Parameters::parse(text.as_bytes()).err().map(|error| error.description);
            assert_eq!(error.as_deref(), expected, "{text}");
        }
    }
}
