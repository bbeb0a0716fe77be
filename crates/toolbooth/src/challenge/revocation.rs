//! Tells the provider that a user has deleted a grant.

use base64ct::{Base64, Encoding};
use serde_json::json;

use super::grant::Grant;
use super::oauth::{self, note, send};
use super::provider::{Provider, Revocation};
use crate::host::{Host, HttpRequest};
use crate::json;

/// Has the provider revoke a grant, if it can. A failure goes to the log: the server itself no longer
/// uses the grant anyway.
pub(super) async fn revoke(provider: &Provider, grant: &Grant, host: &dyn Host) {
    let Ok(server) = oauth::server(provider, host).await else { return };
    let request = match &server.revocation {
        None => return,
        Some(Revocation::Standard(url)) => {
            // Without the refresh token the access tokens that came of it should end too.
            let (token, hint) = match &grant.refresh {
                Some(refresh) => (refresh, "refresh_token"),
                None => (&grant.access, "access_token"),
            };
            server.form(provider, url, &[("token", token), ("token_type_hint", hint)])
        }
        Some(Revocation::GitHub { url, client_secret }) => {
            let client = format!("{}:{}", provider.client_id, client_secret.expose());
            let client = Base64::encode_string(client.as_bytes());
            HttpRequest {
                method: "DELETE",
                headers: vec![
                    ("accept", "application/vnd.github+json".into()),
                    ("authorization", format!("Basic {client}").into()),
                    ("content-type", "application/json".into()),
                    // GitHub refuses requests without.
                    ("user-agent", "toolbooth".into()),
                    ("x-github-api-version", "2022-11-28".into()),
                ],
                body: Some(json::to_string(&json!({"access_token": grant.access})).into_bytes()),
                ..HttpRequest::get(url.as_str())
            }
        }
    };
    match send(provider, request, host).await {
        Ok(answer) if !(200..300).contains(&answer.status) => {
            note(provider, "it did not revoke a grant", host);
        }
        _ => {}
    }
}
