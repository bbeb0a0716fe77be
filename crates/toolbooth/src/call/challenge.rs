//! Challenges, as the pipeline and protocols see them.

/// A challenge for a user (OXP `ToolAuthorizationChallenge`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Challenge {
    /// A random id.
    pub id: String,
    /// The page where the user grants the authorization.
    pub url: String,
    /// Returns `{"status": "pending" | "completed" | "failed"}`.
    pub check_url: String,
    /// The id of the provider.
    pub provider: String,
    /// The provider's name for people.
    pub title: String,
}
