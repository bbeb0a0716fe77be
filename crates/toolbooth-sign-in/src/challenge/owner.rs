//! The owner of a grant.

use serde::{Deserialize, Serialize};

use toolbooth::log::EventLog;
use toolbooth::principal::{Person, Principal, Scopes, UserMismatch};
use toolbooth::settings::Settings;

/// The longest user id of a grant, in bytes: it travels in URLs and a cookie.
const LONGEST_USER: usize = 128;

/// What precedes the issuer in the `method` of users with a token.
const USER: &str = "user ";

/// The owner of a grant: a user of a caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    /// How the caller was authenticated: the same id by another method is another user.
    #[serde(rename = "w")]
    pub(super) method: String,
    /// The calling application, whose users have ids of their own; empty if the method has no names.
    #[serde(rename = "a")]
    pub(super) application: String,
    #[serde(rename = "u")]
    pub(super) user: String,
}

impl Owner {
    /// The error of a request that names no user.
    pub(super) const MISSING_USER: &str = "user_id is missing";

    pub(crate) fn user_of(issuer: &str, user: &str) -> Self {
        let method = format!("{USER}{issuer}");
        Self { method, application: String::new(), user: user.to_owned() }
    }

    /// The issuer of the user's tokens, if tokens name the user.
    pub(super) fn issuer(&self) -> Option<&str> {
        self.method.strip_prefix(USER)
    }

    /// The name in the log of the user of an application; `None` if the owner is a user with a token.
    pub(super) fn user_ref(&self, events: &EventLog) -> Option<String> {
        match (self.issuer(), &*self.application) {
            (Some(_), _) => None,
            (None, application) => Some(events.user_of_key(application, &self.user)),
        }
    }

    /// The caller, as the log of its calls names it.
    pub(super) fn caller(&self, events: &EventLog) -> String {
        match (self.issuer(), &*self.application) {
            (Some(issuer), _) => events.user(issuer, &self.user),
            (None, "") => events.anonymous(),
            (None, application) => events.key(application),
        }
    }

    /// The owner as a caller, with all scopes that calls for it can have as far as the server knows: it does not know
    /// the tokens of other issuers. `person` is the owner, if a person has signed in.
    pub(crate) fn caller_with(&self, person: Option<&Person>, settings: &Settings) -> Principal {
        match (self.issuer(), &*self.application) {
            (Some(issuer), _) => {
                let scopes = person.and_then(|person| person.scopes_of(issuer));
                Principal::user_of(issuer, &self.user, scopes.cloned().unwrap_or(Scopes::All))
            }
            (None, "") => {
                let scopes = settings.auth.anonymous.clone().unwrap_or(Scopes::NONE);
                Principal::Anonymous { scopes }
            }
            (None, name) => {
                let mut keys = settings.auth.api_keys.iter().flatten();
                let key = keys.find(|key| key.name == name);
                let scopes = key.map_or(Scopes::NONE, |key| key.scopes.clone());
                Principal::key(name, scopes)
            }
        }
    }

    /// The user of a request; the error is a message for the client. A token without `sub` is rejected: its holder could
    /// name any user, and use the grants of all users.
    pub(crate) fn of(principal: &Principal, user_id: Option<&str>) -> Result<Self, &'static str> {
        let (method, application) = match principal {
            Principal::Anonymous { .. } => ("none".to_owned(), ""),
            Principal::Key { name, .. } => ("key".to_owned(), name.as_str()),
            Principal::User { issuer, subject: Some(_), .. } => (format!("{USER}{issuer}"), ""),
            Principal::User { subject: None, .. } => return Err("the token must have a `sub`"),
        };
        match principal.user(user_id).map_err(|UserMismatch| UserMismatch::MESSAGE)? {
            None => Err(Self::MISSING_USER),
            Some(user) if user.len() > LONGEST_USER => Err("user_id must have at most 128 bytes"),
            Some(user) => {
                Ok(Self { method, application: application.to_owned(), user: user.to_owned() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbooth::testing::FakeHost;

    #[test]
    fn an_owner_as_a_caller() {
        const KEYS: &str = r#"[{"name":"Calendar","scopes":["a"],"hash":"e8b18fbe02fad6aa9ce82b235322e7c10196478f011f9f8617b1b75d6db57961"}]"#;
        let host = FakeHost::with(&[
            ("AUTH", "none, api-key"),
            ("ANONYMOUS_SCOPES", "b"),
            ("API_KEYS", KEYS),
        ]);
        let settings = toolbooth::testing::settings(crate::tests::CAPABILITIES, &host);
        let listed = |scope: &str| Scopes::Listed(vec![scope.to_owned()]);
        let key = |name: &str, scopes| Principal::key(name, scopes);
        let user = |issuer: &str, scopes| Principal::user_of(issuer, "ada", scopes);
        let person = Person {
            label: String::new(),
            subjects: ["here", "elsewhere"].map(|it| (it.to_owned(), "ada".to_owned())).to_vec(),
            scopes: listed("c"),
        };
        for (caller, person, expected) in [
            (Principal::ANONYMOUS, None, Principal::Anonymous { scopes: listed("b") }),
            (key("Calendar", Scopes::NONE), None, key("Calendar", listed("a"))),
            (key("Gone", Scopes::All), None, key("Gone", Scopes::NONE)),
            (user("here", Scopes::NONE), Some(&person), user("here", listed("c"))),
            (user("elsewhere", Scopes::NONE), Some(&person), user("elsewhere", Scopes::All)),
            (user("here", Scopes::NONE), None, user("here", Scopes::All)),
        ] {
            let named = Some("ada").filter(|_| !matches!(caller, Principal::User { .. }));
            let owner = Owner::of(&caller, named).unwrap();
            assert_eq!(owner.caller_with(person, &settings), expected, "{caller:?}");
        }
    }
}
