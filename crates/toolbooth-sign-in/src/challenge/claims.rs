//! What the token of a challenge contains.

use serde::{Deserialize, Serialize};

use super::owner::Owner;
use crate::oauth::ProviderSettings;
use toolbooth::json;

/// How long the further scopes may be in total, in bytes. A provider can grant more than was
/// requested, and the challenge must fit into a cookie.
const MAX_FURTHER_BYTES: usize = 1_000;

/// The claims of a challenge's token. Their names in it are short: it travels in URLs and a cookie.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct ChallengeClaims {
    #[serde(rename = "i")]
    pub(super) id: String,
    /// Whose grant it asks for.
    #[serde(rename = "o")]
    pub(super) owner: Owner,
    /// The name of the client that called for a user, if the server knows it.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<String>,
    #[serde(rename = "p")]
    pub(super) provider: String,
    #[serde(rename = "s")]
    pub(super) required_scopes: Vec<String>,
    /// Further scopes to request. Not every server lists all of these in its response.
    #[serde(rename = "x")]
    pub(super) further_scopes: Vec<String>,
    #[serde(rename = "t")]
    pub(super) tool: String,
    /// When the grant that does not suffice was issued or deleted. A later one suffices.
    #[serde(rename = "g")]
    pub(super) seen_ms: Option<u64>,
}

impl ChallengeClaims {
    /// Further scopes to request: those of the provider, and `granted`, which the new grant should keep.
    pub(super) fn further_scopes(
        provider: &ProviderSettings,
        granted: &[String],
        required: &[String],
    ) -> Vec<String> {
        let mut further: Vec<String> = Vec::new();
        // The length as JSON, with the comma.
        let size = |scope: &String| json::to_string(scope).len() + 1;
        for scope in provider.scopes.iter().chain(granted) {
            let total = further.iter().map(size).sum::<usize>() + size(scope);
            let is_new = !required.contains(scope) && !further.contains(scope);
            if total <= MAX_FURTHER_BYTES && is_new {
                further.push(scope.clone());
            }
        }
        further
    }

    pub(super) fn scopes(&self) -> Vec<String> {
        self.required_scopes.iter().chain(&self.further_scopes).cloned().collect()
    }
}
