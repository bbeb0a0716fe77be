//! Who has signed in, and what they may do.

use std::borrow::Cow;

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};

use super::description::is_true;
use super::enterprise::EnterpriseIssuer;
use super::groups::{self, TooManyGroups};
use super::provider_account::{Account, domain};
use super::rules::{ACCESS, IdentityRule};
use super::{Login, LoginSettings, Problem};
use sha2::{Digest, Sha256};
use toolbooth::budget::Budget;
use toolbooth::json::{Object, Value};
use toolbooth::principal::{KEY_SUBJECT, Scopes};
use toolbooth::settings::{ApiKeySettings, ClientKeys, add_budgets};

/// A person who has signed in, as in sessions and refresh tokens: it is checked again whether they still may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Identity {
    #[serde(rename = "p")]
    Provider(Account),
    #[serde(rename = "k")]
    ApiKey {
        #[serde(rename = "n")]
        name: String,
        /// The hash of the key that they typed: they may sign in as long as that is accepted.
        #[serde(rename = "h")]
        hash: String,
    },
    #[serde(rename = "a")]
    Access {
        #[serde(rename = "i")]
        id: String,
        #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
        email: Option<String>,
    },
    /// The development user, on this machine only.
    #[serde(rename = "d")]
    Development,
    /// No person, but a client of `API_KEYS` itself.
    #[serde(rename = "m")]
    Machine {
        #[serde(rename = "n")]
        name: String,
        /// The hash of the key with which it has authenticated, or of the public keys that the entry had then.
        #[serde(rename = "h")]
        hash: String,
    },
}

/// What precedes the name in the `sub` of a machine. No provider's id contains a point.
pub(super) const MACHINE_SUBJECT: &str = "client.";

/// The longest `sub` of a token, in bytes: that of a user who can have grants.
const MAX_SUBJECT: usize = 128;

impl Identity {
    /// The `sub` of the person's tokens: unique within the issuer, which is this server.
    pub(crate) fn subject(&self) -> String {
        match self {
            Self::Provider(account) => account.subject(),
            Self::ApiKey { name, .. } => format!("{KEY_SUBJECT}{name}"),
            Self::Access { id, .. } => format!("{ACCESS}:{id}"),
            Self::Development => "development:developer".to_owned(),
            Self::Machine { name, .. } => format!("{MACHINE_SUBJECT}{name}"),
        }
    }

    pub(crate) fn not_allowed(&self) -> Problem {
        let rule = match self {
            // No rule can name a longer id.
            Self::Provider(Account { provider, id, .. }) if self.subject().len() <= MAX_SUBJECT => {
                Some(format!("{provider}:id/{id}"))
            }
            _ => None,
        };
        match self {
            Self::Provider(account) if !account.unsaid().is_empty() => {
                Problem::not_allowed(rule).at(&account.provider, account.unsaid().join("; "))
            }
            _ => Problem::not_allowed(rule),
        }
    }

    /// The account that rules are about, if there are rules about such people.
    fn account(&self) -> Option<Cow<'_, Account>> {
        match self {
            Self::Provider(account) => Some(Cow::Borrowed(account)),
            Self::Access { id, email } => {
                Some(Cow::Owned(Account::of_access(id, email.as_deref())))
            }
            Self::ApiKey { .. } | Self::Development | Self::Machine { .. } => None,
        }
    }

    /// How they have signed in, for the log: the id of the provider, or a constant.
    pub(crate) fn method(&self) -> &str {
        match self {
            Self::Provider(account) => &account.provider,
            Self::ApiKey { .. } => "api-key",
            Self::Access { .. } => ACCESS,
            Self::Development => "development",
            Self::Machine { .. } => "client",
        }
    }

    /// The name that the person knows the account by.
    pub(crate) fn label(&self) -> &str {
        match self {
            Self::Provider(Account { id, login, email, .. }) => {
                login.as_ref().or(email.as_ref()).unwrap_or(id)
            }
            Self::ApiKey { name, .. } | Self::Machine { name, .. } => name,
            Self::Access { id, email } => email.as_ref().unwrap_or(id),
            Self::Development => "Dev User",
        }
    }
}

/// Whether an entry of `API_KEYS` still accepts the key with this hash.
fn accepts(key: &ApiKeySettings, hash: &str) -> bool {
    key.hashes().any(|known| Base64UrlUnpadded::encode_string(known) == hash)
}

/// The hash of the public keys of an entry of `API_KEYS`, or of their address.
pub(crate) fn public_keys_hash(keys: &ClientKeys) -> String {
    let (member, text) = match keys {
        ClientKeys::Url(url) => ("jwks_uri ", url),
        ClientKeys::Set(set) => ("jwks ", set),
    };
    let hash = Sha256::new_with_prefix(member).chain_update(text).finalize();
    Base64UrlUnpadded::encode_string(&hash)
}

impl Login {
    /// The scopes that a person can give to a client; `None` if they may not sign in (any more).
    pub(crate) fn permitted(&self, identity: &Identity) -> Option<Scopes> {
        let settings = &self.settings;
        let scopes = match identity {
            Identity::Provider(account) => {
                let rules = self.rules(account)?;
                if rules.is_empty() {
                    return None;
                }
                self.given_to(&rules)
            }
            Identity::ApiKey { name, hash } => {
                let key = settings.api_key(name)?;
                return accepts(key, hash).then(|| key.scopes.clone());
            }
            Identity::Machine { name, hash } => {
                let key = settings.api_key(name)?;
                let is_of_keys = |keys: &ClientKeys| public_keys_hash(keys) == *hash;
                let is_accepted = accepts(key, hash) || key.keys.as_ref().is_some_and(is_of_keys);
                return is_accepted.then(|| key.scopes.clone());
            }
            // Access decides who may sign in.
            Identity::Access { .. } if self.access.is_some() => {
                self.given_to(&self.rules(&*identity.account()?)?)
            }
            Identity::Development if settings.development => Scopes::All,
            Identity::Access { .. } | Identity::Development => return None,
        };
        (identity.subject().len() <= MAX_SUBJECT).then_some(scopes)
    }

    /// The first rule about a person that has limits, which then hold: its index.
    pub(crate) fn limiting_rule(&self, identity: &Identity) -> Option<usize> {
        let mut rules = self.rules_about(&*identity.account()?).into_iter();
        rules.find(|(_, rule)| rule.limits.is_some()).map(|(position, _)| position)
    }

    /// The team of a person: its index in `Settings::teams`. The entry of an API key has its own.
    pub(crate) fn team(&self, identity: &Identity) -> Option<usize> {
        self.rules_about(&*identity.account()?).into_iter().find_map(|(_, rule)| rule.team)
    }

    /// The name of a person's team; of the holder of an API key, that of the key.
    pub(crate) fn team_name(&self, identity: &Identity) -> Option<&str> {
        let team = match identity {
            Identity::ApiKey { name, .. } | Identity::Machine { name, .. } => {
                self.settings.api_key(name)?.team
            }
            _ => self.team(identity),
        };
        Some(&*self.settings.teams.get(team?)?.name)
    }

    /// The budgets of a person, by all rules about them. The entry of an API key has its own.
    pub(crate) fn budgets(&self, identity: &Identity) -> Vec<Budget> {
        let rules = identity.account().and_then(|account| self.rules(&account));
        let mut budgets = Vec::new();
        for rule in rules.iter().flatten() {
            add_budgets(&mut budgets, &rule.budgets);
        }
        budgets
    }

    /// The rules of `SIGN_IN_ALLOWED` about an account; `None` if one of `SIGN_IN_DENIED` is about it.
    fn rules(&self, account: &Account) -> Option<Vec<&IdentityRule>> {
        let LoginSettings { denied, .. } = &*self.settings;
        let is_denied = match &account.asserted {
            None => denied.iter().any(|rule| account.may_be_of(rule)),
            Some(issuer) => {
                !self.may_assert(issuer, account) || self.is_asserted_of_denied(issuer, account)
            }
        };
        let rules = || self.rules_about(account).into_iter().map(|(_, rule)| rule).collect();
        (!is_denied).then(rules)
    }

    /// The rules about an account, with their positions. If those of several teams are about it, only those of the first team count:
    /// a person is in one.
    fn rules_about(&self, account: &Account) -> Vec<(usize, &IdentityRule)> {
        let rules = self.settings.allowed.iter().enumerate();
        let mut rules: Vec<_> = rules.filter(|(_, rule)| account.is_of(rule)).collect();
        let team = rules.iter().find_map(|(_, rule)| rule.team);
        rules.retain(|(_, rule)| rule.team.is_none() || rule.team == team);
        rules
    }

    /// Whether the issuer of an assertion may still authorize its client and say who its people are, and this one has an address
    /// of a domain that it may speak for.
    fn may_assert(&self, issuer: &str, account: &Account) -> bool {
        let mut issuers = self.settings.enterprise.iter();
        let issuer = issuers.find(|it| it.issuer == issuer);
        issuer.is_some_and(|EnterpriseIssuer { allowed, clients, .. }| {
            account.client.as_ref().is_some_and(|it| clients.contains(it))
                && (allowed.is_empty()
                    || account.domain.as_ref().is_some_and(|it| allowed.contains(it)))
        })
    }

    /// Whether a rule of `SIGN_IN_DENIED` may be about the person of an assertion: one about the issuer's providers as they are
    /// configured now.
    fn is_asserted_of_denied(&self, issuer: &str, account: &Account) -> bool {
        self.settings.providers_of(issuer).any(|provider| {
            let account = Account { provider: provider.to_owned(), ..account.clone() };
            self.settings.denied.iter().any(|rule| account.may_be_of(rule))
        })
    }

    /// The account of a person of a company, from the claims of an assertion for a client. The error is why it is rejected.
    pub(crate) fn asserted(
        &self,
        issuer: &EnterpriseIssuer,
        claims: &Object<'_>,
        client_id: &str,
    ) -> Result<Account, &'static str> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        let id = text("sub").filter(|sub| !sub.is_empty());
        let id = id.ok_or("its `sub` must be a string that is not empty")?.to_owned();
        let values = groups::values(claims, &issuer.claim).map_err(|TooManyGroups| {
            "it does not name the person's groups, because there are too many: use app roles instead"
        })?;
        // A client that has the claim left out must not escape what holds for a group.
        if values.is_none() && self.groups_restrict(&issuer.issuer) {
            return Err(
                "it has no claim with the person's groups, and rules with a team, limits or budgets depend on it",
            );
        }
        let is_unverified = is_true(claims.get("email_verified")) == Some(false);
        let address = text("email").map(str::to_ascii_lowercase);
        let email = address.clone().filter(|_| !is_unverified);
        let provider = self.settings.providers_of(&issuer.issuer).next();
        let account = Account {
            provider: provider.map(str::to_owned).unwrap_or_default(),
            id,
            unverified: address.filter(|_| is_unverified),
            domain: email.as_deref().and_then(domain),
            email,
            groups: self.known_groups(&issuer.issuer, &values.unwrap_or_default()),
            asserted: Some(issuer.issuer.clone()),
            client: Some(client_id.to_owned()),
            ..Account::default()
        };
        if !account.has_address() && self.address_restricts(&issuer.issuer) {
            return Err("it has no `email`, and rules with a team, limits or budgets depend on it");
        }
        Ok(account)
    }

    /// Whether what a person may do depends on what the provider says about the account, which may change. A
    /// rule that restricts or denies need not be about them yet.
    pub(super) fn depends_on_facts(&self, account: &Account) -> bool {
        let is_about = |rule: &&IdentityRule| {
            account.is_of(rule) || rule.restricts() && rule.provider == account.provider
        };
        let mut rules = self.settings.allowed.iter().filter(is_about);
        let mut denied = self.settings.denied.iter().filter(|it| it.provider == account.provider);
        rules.any(|rule| rule.people.can_change() || !rule.domains.is_empty())
            || denied.any(|rule| rule.people.are_of_address())
    }

    /// The scopes that the rules about a person give, within those of their team.
    fn given_to(&self, rules: &[&IdentityRule]) -> Scopes {
        let given = self.given(rules);
        let team = rules.iter().find_map(|rule| rule.team);
        match team.and_then(|team| self.settings.teams.get(team)?.scopes.as_ref()) {
            Some(scopes) => given.within(scopes),
            None => given,
        }
    }

    /// The scopes that rules give.
    pub(super) fn given(&self, rules: &[&IdentityRule]) -> Scopes {
        let given = self.scopes.iter().filter(|scope| rules.iter().any(|rule| rule.gives(scope)));
        Scopes::Listed(given.map(|&scope| scope.to_owned()).collect())
    }

    /// The scopes that the person can give to a client.
    pub(crate) fn available(&self, permitted: &Scopes) -> Vec<&'static str> {
        let scopes = self.scopes.iter().copied();
        scopes.filter(|scope| permitted.cover(&[*scope])).collect()
    }

    /// The scopes of a request that the person can give, in the order of the request.
    pub(crate) fn granted(&self, requested: &[String], permitted: &Scopes) -> Vec<String> {
        let available = self.available(permitted);
        let is_granted = |scope: &&String| available.contains(&scope.as_str());
        requested.iter().filter(is_granted).cloned().collect()
    }
}
