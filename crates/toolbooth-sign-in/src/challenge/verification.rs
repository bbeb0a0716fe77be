//! How the server finds out whether the person who opens a challenge is its user.

use super::owner::Owner;
use toolbooth::principal::Person;
use toolbooth::settings::{ApiKeySettings, ApplicationUsers};

/// What the server knows about callers whose users open challenges.
#[derive(Debug, Clone, Default)]
pub(crate) struct Verifiers {
    /// The issuers whose users can sign in to the server, as in `Principal::User`.
    pub(crate) issuers: Vec<String>,
    /// The applications that call with an API key.
    pub(crate) api_keys: Vec<ApiKeySettings>,
    /// Whether a challenge continues if the person who opens it cannot be verified.
    pub(crate) allows_unverified: bool,
}

/// How the server finds out whether the person who opens a challenge is its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verification<'a> {
    SignIn,
    /// Their application redirects them back from this URL.
    Application {
        url: &'a str,
        host: Option<&'a str>,
    },
    /// Not at all: they have the link. The host is that of the application, if it is known.
    Link {
        host: Option<&'a str>,
    },
    /// Not at all, and the operator does not allow that.
    Denied,
}

impl Verifiers {
    pub(super) fn verification(&self, owner: &Owner) -> Verification<'_> {
        if let Some(issuer) = owner.issuer() {
            return match self.issuers.iter().any(|known| known == issuer) {
                true => Verification::SignIn,
                false => self.link(None),
            };
        }
        let users = self.api_keys.iter().find(|key| key.name == owner.application);
        match users.map(|key| &key.users) {
            Some(users @ ApplicationUsers::Verified(url)) => {
                Verification::Application { url, host: users.host() }
            }
            Some(users @ (ApplicationUsers::Unknown | ApplicationUsers::At(_))) => {
                self.link(users.host())
            }
            // Its key has been removed, or its entry is invalid: whether it verifies its users is not known.
            None if !owner.application.is_empty() => Verification::Denied,
            None => self.link(None),
        }
    }

    fn link<'a>(&self, host: Option<&'a str>) -> Verification<'a> {
        if self.allows_unverified { Verification::Link { host } } else { Verification::Denied }
    }
}

/// Whether a challenge is for this person.
pub(super) fn is_user(owner: &Owner, person: &Person) -> bool {
    person
        .subjects
        .iter()
        .any(|(issuer, subject)| owner.issuer() == Some(issuer) && owner.user == *subject)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbooth::principal::{Principal, Scopes};

    fn owner(principal: &Principal) -> Owner {
        Owner::of(principal, Some("ada").filter(|_| !matches!(principal, Principal::User { .. })))
            .unwrap()
    }

    fn user(issuer: &str) -> Principal {
        Principal::user_of(issuer, "ada", Scopes::NONE)
    }

    fn key(name: &str) -> Principal {
        Principal::key(name, Scopes::NONE)
    }

    fn verifiers(allows_unverified: bool) -> Verifiers {
        let key = |name: &str, users| ApiKeySettings {
            name: name.to_owned(),
            scopes: Scopes::NONE,
            tools: None,
            hash: Some([0; 32]),
            previous_hash: None,
            keys: None,
            may_act: None,
            users,
            limits: toolbooth::settings::KeyLimits::default(),
            budgets: Vec::new(),
            team: None,
        };
        let url = "https://calendar.example/verify?a=b".to_owned();
        Verifiers {
            issuers: vec!["here".to_owned()],
            api_keys: vec![
                key("Calendar", ApplicationUsers::Verified(url)),
                key("Notes", ApplicationUsers::At("notes.example".to_owned())),
                key("Other", ApplicationUsers::Unknown),
            ],
            allows_unverified,
        }
    }

    #[test]
    fn who_verifies_a_user() {
        let calendar = Verification::Application {
            url: "https://calendar.example/verify?a=b",
            host: Some("calendar.example"),
        };
        let notes = Verification::Link { host: Some("notes.example") };
        let link = Verification::Link { host: None };
        for (principal, allowed, denied) in [
            (user("here"), Verification::SignIn, Verification::SignIn),
            (user("elsewhere"), link, Verification::Denied),
            (key("Calendar"), calendar, calendar),
            (key("Notes"), notes, Verification::Denied),
            (key("Other"), link, Verification::Denied),
            (key("Gone"), Verification::Denied, Verification::Denied),
            (Principal::ANONYMOUS, link, Verification::Denied),
        ] {
            let owner = owner(&principal);
            assert_eq!(verifiers(true).verification(&owner), allowed, "{principal:?}");
            assert_eq!(verifiers(false).verification(&owner), denied, "{principal:?}");
        }
    }

    #[test]
    fn who_is_the_user() {
        let person = |subjects: &[(&str, &str)]| Person {
            label: String::new(),
            subjects: subjects.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
            scopes: Scopes::NONE,
        };
        for (subjects, principal, expected) in [
            (&[("here", "ada")][..], user("here"), true),
            (&[("x", "y"), ("here", "ada")], user("here"), true),
            (&[("here", "bob")], user("here"), false),
            (&[("there", "ada")], user("here"), false),
            (&[("here", "ada")], key("Calendar"), false),
            (&[("here", "ada")], Principal::ANONYMOUS, false),
            (&[], user("here"), false),
        ] {
            assert_eq!(is_user(&owner(&principal), &person(subjects)), expected, "{subjects:?}");
        }
    }
}
