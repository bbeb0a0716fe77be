//! What a call lacks of the things that its tool requires.

use crate::challenge::Challenge;

/// What a call lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingRequirements {
    /// Providers whose token is absent.
    pub authorization: Vec<&'static str>,
    /// Secrets that are absent.
    pub secrets: Vec<&'static str>,
    /// Whether the user id is absent.
    pub user_id: bool,
    /// Where the user can be asked for authorizations: for each of `authorization` or for fewer.
    pub challenges: Vec<Challenge>,
}

impl MissingRequirements {
    /// What is absent, for users and models.
    pub(super) fn message(&self) -> &'static str {
        match (self.authorization.is_empty(), self.user_id) {
            (false, _) => "Authorization required",
            (true, true) => "The call must name its user",
            (true, false) => "The call lacks a secret",
        }
    }

    /// The places in `context` that the call left empty, for protocols that have it.
    pub fn places(&self) -> String {
        self.told(["context.authorization with id", "context.secrets with id", "context.user_id"])
    }

    /// What is absent, for protocols that have no place for it.
    pub fn things(&self) -> String {
        self.told(["the token", "the secret", "a user id"])
    }

    fn told(&self, [token, secret, user_id]: [&str; 3]) -> String {
        let tokens = self.authorization.iter().map(|id| format!("{token} \"{id}\""));
        let secrets = self.secrets.iter().map(|id| format!("{secret} \"{id}\""));
        let user_id = self.user_id.then(|| user_id.to_owned());
        tokens.chain(secrets).chain(user_id).collect::<Vec<_>>().join(", ")
    }

    /// Where the user can grant what is absent, as the end of a sentence; empty when nowhere. For
    /// protocols that have only words for it.
    pub fn granting(&self) -> String {
        let link = |challenge: &Challenge| format!("; the user can grant it at {}", challenge.url);
        self.challenges.iter().map(link).collect()
    }
}
