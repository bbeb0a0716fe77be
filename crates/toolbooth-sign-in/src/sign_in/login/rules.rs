//! Rules about people: who may sign in, and what they can give to clients.

use super::enterprise::ISSUERS;
use toolbooth::budget::Budget;
use toolbooth::principal::Scopes;
use toolbooth::settings::KeyLimits;

pub(crate) const ALLOWED: &str = "SIGN_IN_ALLOWED";
pub(crate) const DENIED: &str = "SIGN_IN_DENIED";
pub(super) const TEAMS: &str = "TEAMS";

/// The provider of rules about people who sign in through Cloudflare Access.
pub(crate) const ACCESS: &str = "access";

/// People at a provider, or behind Cloudflare Access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdentityRule {
    pub provider: String,
    pub people: People,
    /// What they can give to clients: scopes, and beginnings of scopes such as `github:*`.
    pub scopes: Scopes,
    /// Their limits in the chat gateway, if the rule has some.
    pub limits: Option<KeyLimits>,
    /// How much each of them may use.
    pub budgets: Vec<Budget>,
    /// The domains of one of which their verified address must be; empty: any, or none.
    pub domains: Vec<String>,
    /// The team whose rule it is: its index in `Settings::teams`.
    pub team: Option<usize>,
}

impl IdentityRule {
    /// The variable that has the rule.
    pub(crate) fn variable(&self) -> &'static str {
        match self.people {
            _ if self.team.is_some() => TEAMS,
            People::Staff | People::Group(_) => ISSUERS,
            _ => ALLOWED,
        }
    }

    /// Whether the rule also takes something away: without it, these people might do more.
    pub(super) fn restricts(&self) -> bool {
        self.team.is_some() || self.limits.is_some() || !self.budgets.is_empty()
    }

    /// Whether these people can give a scope to a client.
    pub(crate) fn gives(&self, scope: &str) -> bool {
        match &self.scopes {
            Scopes::All => true,
            Scopes::Listed(entries) => entries.iter().any(|entry| matches(entry, scope)),
        }
    }
}

/// Whether an entry of a rule's `scopes` matches a scope: `github:*` matches `github:read`.
pub(crate) fn matches(entry: &str, scope: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(start) => scope.starts_with(start),
        None => entry == scope,
    }
}

/// Whom a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum People {
    /// `*`: everybody who has an account there.
    Everybody,
    /// `id/…`: the account with this id, which never changes.
    Id(String),
    /// The account with this login (GitHub).
    Login(String),
    /// The account with this verified e-mail address.
    Email(String),
    /// `@…`: accounts with a verified e-mail address of this domain.
    Domain(String),
    /// `org/…`: members of this organization (GitHub).
    Organization(String),
    /// Everybody of whom an issuer of `ENTERPRISE_ISSUERS` says something: the rule's provider.
    Staff,
    /// Those whose claim has this value, such as a group.
    Group(String),
}

impl IdentityRule {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (provider, people) = text.split_once(':')?;
        let people = people.trim();
        let lower = |text: &str| text.to_ascii_lowercase();
        let people = match people.split_once('/') {
            _ if people == "*" => People::Everybody,
            Some(("id", id)) if !id.is_empty() => People::Id(id.to_owned()),
            Some(("org", name)) if !name.is_empty() => People::Organization(lower(name)),
            Some(_) => return None,
            None => match people.split_once('@') {
                Some(("", domain)) if !domain.is_empty() => People::Domain(lower(domain)),
                Some((_, domain)) if !domain.is_empty() => People::Email(lower(people)),
                None if !people.is_empty() => People::Login(lower(people)),
                _ => return None,
            },
        };
        (!provider.is_empty()).then(|| Self::of(provider, people))
    }

    /// A rule about people at a provider, which gives the least.
    pub(super) fn of(provider: &str, people: People) -> Self {
        Self {
            provider: provider.to_owned(),
            people,
            scopes: Scopes::NONE,
            limits: None,
            budgets: Vec::new(),
            domains: Vec::new(),
            team: None,
        }
    }
}

impl People {
    /// Whether they are those with an address, or with one of a domain.
    pub(super) fn are_of_address(&self) -> bool {
        matches!(self, Self::Email(_) | Self::Domain(_))
    }

    /// Whether membership can change at the provider.
    pub(super) fn can_change(&self) -> bool {
        match self {
            Self::Login(_)
            | Self::Email(_)
            | Self::Domain(_)
            | Self::Organization(_)
            | Self::Group(_) => true,
            Self::Everybody | Self::Id(_) | Self::Staff => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_sign_in() {
        for (text, people) in [
            ("github:*", Some(People::Everybody)),
            ("github:Octocat", Some(People::Login("octocat".to_owned()))),
            ("github:id/583231", Some(People::Id("583231".to_owned()))),
            ("github:org/Acme", Some(People::Organization("acme".to_owned()))),
            ("google:Ada@Acme.example", Some(People::Email("ada@acme.example".to_owned()))),
            ("google:@acme.example", Some(People::Domain("acme.example".to_owned()))),
            ("google:@", None),
            ("google:ada@", None),
            ("google:", None),
            ("github:org/", None),
            ("github:id/", None),
            ("github:team/a", None),
            (":octocat", None),
            ("octocat", None),
            ("*", None),
        ] {
            assert_eq!(IdentityRule::parse(text).map(|rule| rule.people), people, "{text}");
        }
    }
}
