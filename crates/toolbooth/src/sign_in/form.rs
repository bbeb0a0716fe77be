//! The parameters of a form or a query. One that is repeated makes the request invalid (RFC 6749, 3.1 and 3.2).

use super::error::{OAuthError, OAuthErrorCode};

/// Parameters, in their order.
#[derive(Debug)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Parses a form or a query.
    ///
    /// # Errors
    /// A parameter is repeated. `resource` may be (RFC 8707, 2): then every value must be valid.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, OAuthError> {
        let mut parameters: Vec<(String, String)> = Vec::new();
        for (name, value) in form_urlencoded::parse(bytes) {
            let is_repeated = parameters.iter().any(|(known, _)| *known == *name);
            if is_repeated && name != "resource" {
                let description = "a parameter is repeated";
                return Err(OAuthError::new(OAuthErrorCode::InvalidRequest, description));
            }
            parameters.push((name.into_owned(), value.into_owned()));
        }
        Ok(Self(parameters))
    }

    /// The value of a parameter; an empty value counts as absent (RFC 6749, 3.1).
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let named = self.0.iter().find(|(known, value)| known == name && !value.is_empty());
        named.map(|(_, value)| value.as_str())
    }

    /// All values of a parameter that may be repeated.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = self.0.iter().filter(move |(known, value)| known == name && !value.is_empty());
        named.map(|(_, value)| value.as_str())
    }

    /// The value of a parameter that is required.
    pub(super) fn require(&self, name: &'static str) -> Result<&str, OAuthError> {
        let missing =
            || OAuthError::new(OAuthErrorCode::InvalidRequest, format!("`{name}` is missing"));
        self.get(name).ok_or_else(missing)
    }
}
