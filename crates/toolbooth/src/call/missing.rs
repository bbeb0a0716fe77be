//! The requirements of a tool that a call does not meet.

/// The tokens, secrets and user id that a call lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingRequirements {
    /// Providers whose token is missing.
    pub authorization: Vec<&'static str>,
    /// Secrets that are missing.
    pub secrets: Vec<&'static str>,
    /// Whether the user id is missing.
    pub user_id: bool,
    /// Challenges with which the user can grant the tokens: at most one for each of `authorization`.
    pub challenges: Vec<Challenge>,
    /// Where to read what to send for each other of `authorization`, except for a token that a service rejected.
    pub help: Vec<AuthorizationHelp>,
}

/// The page that explains how to authorize calls of tools that need a token for a provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorizationHelp {
    /// The id of the provider.
    pub provider: &'static str,
    /// The URL of the page. It is relative to the server if the server does not know its own address.
    pub url: String,
}

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

impl MissingRequirements {
    /// A message for users and models.
    pub(super) fn message(&self) -> &'static str {
        match (self.authorization.is_empty(), self.user_id) {
            (false, _) => "Authorization required",
            (true, true) => "A user id is required",
            (true, false) => "A required secret is missing",
        }
    }

    /// The missing members of `context`, for protocols that have `context`.
    pub fn places(&self) -> String {
        let names = ["context.authorization with id", "context.secrets with id", "context.user_id"];
        self.list(names).join(", ")
    }

    /// The missing tokens, secrets and user id, for protocols without `context`.
    pub fn things(&self) -> String {
        match self.list(["the token", "the secret", "a user id"]).as_slice() {
            [first, last] => format!("{first} and {last}"),
            all => all.join(", "),
        }
    }

    fn list(&self, [token, secret, user_id]: [&str; 3]) -> Vec<String> {
        let tokens = self.authorization.iter().map(|id| format!("{token} \"{id}\""));
        let secrets = self.secrets.iter().map(|id| format!("{secret} \"{id}\""));
        let user_id = self.user_id.then(|| user_id.to_owned());
        tokens.chain(secrets).chain(user_id).collect()
    }

    /// The URLs of the challenges, as the end of a sentence; empty without challenges. For protocols that can
    /// only return text.
    pub fn granting(&self) -> String {
        let link = |challenge: &Challenge| format!("; the user can grant it at {}", challenge.url);
        self.challenges.iter().map(link).collect()
    }
}
