//! What a provider says about a person.

use base64ct::{Base64UrlUnpadded, Encoding};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::rules::{ACCESS, IdentityRule, People};

/// An account at a provider, as far as rules need it. ASCII letters of all texts but the id are in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Account {
    /// The id of the provider; empty if an issuer of `ENTERPRISE_ISSUERS` is that of no provider.
    #[serde(rename = "p")]
    pub(super) provider: String,
    /// The id, which never changes.
    #[serde(rename = "i")]
    pub(super) id: String,
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub(super) login: Option<String>,
    /// The e-mail address, if the provider has verified it.
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    pub(super) email: Option<String>,
    /// An e-mail address that the provider has not verified, or not lately. It can only deny.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    pub(super) unverified: Option<String>,
    /// The domain whose members the provider knows: that of the address, or at Google that of the organization.
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    pub(super) domain: Option<String>,
    /// The organizations of the rules that it is a member of.
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) organizations: Vec<String>,
    /// The issuer of `ENTERPRISE_ISSUERS` that has said all this in an assertion for one client, and no browser was involved:
    /// only its rules count.
    #[serde(rename = "s", default, skip_serializing_if = "Option::is_none")]
    pub(super) asserted: Option<String>,
    /// The id of that client, which works as long as the issuer may authorize it.
    #[serde(rename = "c", default, skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<String>,
    /// The values of the claim that the rules of an issuer of `ENTERPRISE_ISSUERS` are about, as far as there were rules.
    #[serde(rename = "g", default, skip_serializing_if = "Vec::is_empty")]
    pub(super) groups: Vec<String>,
    /// What the provider does not say although rules are about it, for the page and the log.
    #[serde(skip)]
    pub(super) unsaid: Option<Box<Unsaid>>,
}

/// Nearly every account has none, so it takes no space there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Unsaid(Vec<String>);

impl Account {
    /// The `sub` of its owner's tokens.
    pub(super) fn subject(&self) -> String {
        match &self.asserted {
            // No provider's id contains a point.
            Some(issuer) if self.provider.is_empty() => {
                let hash = Sha256::new_with_prefix(issuer).chain_update(" ").chain_update(&self.id);
                format!("enterprise.{}", Base64UrlUnpadded::encode_string(&hash.finalize()))
            }
            _ => format!("{}:{}", self.provider, self.id),
        }
    }

    /// That of a person behind Cloudflare Access, which has verified the address.
    pub(super) fn of_access(id: &str, email: Option<&str>) -> Self {
        let email = email.map(str::to_ascii_lowercase);
        Self {
            provider: ACCESS.to_owned(),
            id: id.to_owned(),
            domain: email.as_deref().and_then(domain),
            email,
            ..Self::default()
        }
    }

    /// Adds what the provider does not say, unless it is known.
    pub(super) fn add_unsaid(&mut self, problem: String) {
        let Unsaid(problems) = &mut **self.unsaid.get_or_insert_default();
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }

    /// What the provider does not say.
    pub(super) fn unsaid(&self) -> &[String] {
        self.unsaid.as_ref().map(|it| it.0.as_slice()).unwrap_or_default()
    }

    /// Whether an address is known, verified or not.
    pub(super) fn has_address(&self) -> bool {
        let address = self.email.as_ref().or(self.unverified.as_ref());
        address.and_then(|it| domain(it)).is_some_and(|it| !it.is_empty())
    }

    /// Whether a rule of `SIGN_IN_DENIED` may be about this account: an address that is not verified may be its owner's, and if none
    /// is known, it may be any.
    pub(super) fn may_be_of(&self, rule: &IdentityRule) -> bool {
        if !self.has_address() && rule.people.are_of_address() {
            return rule.provider == self.provider;
        }
        let domain = self.unverified.as_deref().and_then(domain);
        let known = Self { asserted: None, ..self.clone() };
        let claimed = Self { email: self.unverified.clone(), domain, ..known.clone() };
        known.is_of(rule) || claimed.is_of(rule)
    }

    /// Whether a rule is about this account.
    pub(super) fn is_of(&self, rule: &IdentityRule) -> bool {
        let place = self.asserted.as_ref().unwrap_or(&self.provider);
        let is_of_domain =
            || self.domain.as_ref().is_some_and(|domain| rule.domains.contains(domain));
        if rule.provider != *place || !(rule.domains.is_empty() || is_of_domain()) {
            return false;
        }
        match &rule.people {
            People::Staff => true,
            People::Group(name) => self.groups.contains(name),
            People::Everybody => true,
            People::Id(id) => self.id == *id,
            People::Login(login) => self.login.as_ref() == Some(login),
            People::Email(email) => self.email.as_ref() == Some(email),
            People::Domain(domain) => self.domain.as_ref() == Some(domain),
            People::Organization(name) => self.organizations.contains(name),
        }
    }
}

/// The domain of an e-mail address.
pub(super) fn domain(email: &str) -> Option<String> {
    email.rsplit_once('@').map(|(_, domain)| domain.to_owned())
}
