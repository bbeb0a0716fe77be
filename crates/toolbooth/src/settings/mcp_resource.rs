//! The OAuth resource that MCP clients get tokens for (RFC 9728), as `PUBLIC_URL` and `JWT_ISSUER`
//! define it.

use super::auth::AuthSettings;

const PATH: &str = "/mcp";

/// An OAuth resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpResource {
    /// The identifier, which tokens have in `aud` (RFC 8707).
    pub identifier: String,
    /// The URL of its metadata (RFC 9728, 3.1).
    pub metadata_url: String,
    /// The authorization servers that issue its tokens: the server itself first, if people sign in to it.
    pub issuers: Vec<String>,
}

impl McpResource {
    /// The identifier of the resource of a server at `origin`.
    pub(super) fn identifier_at(origin: &str) -> String {
        format!("{origin}{PATH}")
    }

    /// The resource, if the server's origin and an issuer's URL are known: without either, a client cannot find out
    /// where to get a token.
    pub(super) fn new(origin: Option<&str>, auth: &AuthSettings) -> Option<Self> {
        let origin = origin?;
        let own = auth.sign_in.then(|| origin.to_owned());
        let other = auth.jwt.as_ref().and_then(|jwt| jwt.issuer.clone());
        let is_url =
            |issuer: &String| issuer.starts_with("https://") || issuer.starts_with("http://");
        let issuers: Vec<String> = own.into_iter().chain(other.filter(is_url)).collect();
        (!issuers.is_empty()).then(|| Self {
            identifier: Self::identifier_at(origin),
            metadata_url: format!("{origin}/.well-known/oauth-protected-resource{PATH}"),
            issuers,
        })
    }
}
