//! Revokes tokens at their provider (RFC 7009), or a grant at GitHub.

use base64ct::{Base64, Encoding};
use serde::Serialize;

use super::client::OAuthClient;
use super::provider::RevocationEndpoint;
use toolbooth::host::{Host, HttpRequest};
use toolbooth::json;

/// The body of GitHub's "delete an app authorization".
#[derive(Serialize)]
struct GitHubAuthorization<'a> {
    access_token: &'a str,
}

/// Revokes the tokens of a grant, if the provider can; returns whether it did. A failure is logged: the
/// server itself no longer uses the grant anyway.
pub(crate) async fn revoke(
    client: &OAuthClient,
    (access_token, refresh_token): (&str, Option<&str>),
    host: &dyn Host,
) -> bool {
    let Ok(server) = client.server(host).await else { return false };
    let request = match &server.revocation {
        None => return false,
        Some(RevocationEndpoint::Standard(url)) => {
            // Revoking the refresh token should also end the access tokens issued for it.
            let (token, hint) = match refresh_token {
                Some(refresh_token) => (refresh_token, "refresh_token"),
                None => (access_token, "access_token"),
            };
            client.form(&server, url, &[("token", token), ("token_type_hint", hint)])
        }
        Some(RevocationEndpoint::GitHub { url, client_secret }) => {
            let credentials = format!("{}:{}", client.provider.client_id, client_secret.expose());
            let credentials = Base64::encode_string(credentials.as_bytes());
            HttpRequest {
                method: "DELETE",
                headers: vec![
                    ("accept", "application/vnd.github+json".into()),
                    ("authorization", format!("Basic {credentials}").into()),
                    ("content-type", "application/json".into()),
                    // GitHub rejects requests without it.
                    ("user-agent", "toolbooth".into()),
                    ("x-github-api-version", "2022-11-28".into()),
                ],
                body: Some(json::to_vec(&GitHubAuthorization { access_token })),
                ..HttpRequest::get(url.as_str())
            }
        }
    };
    let Ok(response) = client.send(request, host).await else { return false };
    let is_revoked = (200..300).contains(&response.status);
    if !is_revoked {
        client.log("it did not revoke a grant", host);
    }
    is_revoked
}
