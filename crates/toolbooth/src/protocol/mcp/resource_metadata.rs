//! OAuth 2.0 Protected Resource Metadata (RFC 9728): tells MCP clients where to get a token.

use serde::Serialize;

use crate::auth::PROOF_ALGORITHMS;
use crate::catalog::Catalog;
use crate::json;
use crate::settings::McpResource;

/// The metadata document (RFC 9728, 2).
#[derive(Serialize)]
struct Metadata<'a> {
    resource: &'a str,
    resource_name: &'static str,
    authorization_servers: &'a [String],
    bearer_methods_supported: [&'static str; 1],
    /// The algorithms of proofs, if tokens can be bound to keys (RFC 9449, 5.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    dpop_signing_alg_values_supported: Option<[&'static str; 4]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes_supported: Vec<&'static str>,
}

/// The document of a resource. `has_keys` says whether there is a key for the nonces of proofs.
pub(super) fn document(resource: &McpResource, has_keys: bool, catalog: &Catalog) -> String {
    json::to_string(&Metadata {
        resource: &resource.identifier,
        resource_name: catalog.server.title,
        authorization_servers: &resource.issuers,
        bearer_methods_supported: ["header"],
        dpop_signing_alg_values_supported: has_keys.then_some(PROOF_ALGORITHMS),
        scopes_supported: catalog.scopes(),
    })
}

/// The parameters of `WWW-Authenticate` that lead to the metadata (RFC 9728, 5.1), with the scopes to request, if any.
pub(super) fn challenge_parameters(resource: &McpResource, scopes: &[&str]) -> String {
    let scope = match scopes {
        [] => String::new(),
        scopes => format!(", scope=\"{}\"", scopes.join(" ")),
    };
    format!("{scope}, resource_metadata=\"{}\"", resource.metadata_url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeHost;
    use crate::testing::echo::CATALOG;

    #[test]
    fn metadata_and_the_header_that_leads_to_it() {
        let host = FakeHost::with(&[
            ("AUTH", "jwt"),
            ("PUBLIC_URL", "https://tools.example"),
            ("JWT_ISSUER", "https://login.example"),
        ]);
        let resource =
            crate::testing::settings(crate::testing::CAPABILITIES, &host).mcp_resource.unwrap();
        assert_eq!(
            document(&resource, false, CATALOG),
            r#"{"resource":"https://tools.example/mcp","resource_name":"Echo tools","authorization_servers":["https://login.example"],"bearer_methods_supported":["header"],"scopes_supported":["echo:a","echo:b"]}"#
        );
        let metadata = r#", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp""#;
        assert_eq!(challenge_parameters(&resource, &[]), metadata);
        assert_eq!(
            challenge_parameters(&resource, &["a", "b"]),
            format!(r#", scope="a b"{metadata}"#)
        );
    }
}
