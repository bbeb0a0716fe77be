//! `SIGN_IN_ALLOWED` and `SIGN_IN_DENIED`, and the rules of `TEAMS` about people: who may sign in, and what they can give to clients.

use super::enterprise::{EnterpriseIssuer, ISSUERS};
use crate::oauth::{ProviderSettings, prefix_of};
use toolbooth::budget::Budget;
use toolbooth::json::{self, Object, Value};
use toolbooth::principal::Scopes;
use toolbooth::settings::{KeyLimits, TeamSettings, VariableReader, list, parse_limits};

pub(crate) const ALLOWED: &str = "SIGN_IN_ALLOWED";
pub(crate) const DENIED: &str = "SIGN_IN_DENIED";
const TEAMS: &str = "TEAMS";

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

/// Where the people of rules sign in.
pub(crate) struct SignInPlaces<'a> {
    pub(crate) providers: &'a [ProviderSettings],
    /// Whether Cloudflare Access is one of them.
    pub(crate) access: bool,
}

impl SignInPlaces<'_> {
    fn provider(&self, id: &str) -> Option<&ProviderSettings> {
        self.providers.iter().find(|provider| provider.id == id)
    }
}

/// Reads `SIGN_IN_ALLOWED`: the rules, and the problems of entries that admit no one.
pub(crate) fn read_allowed(
    places: &SignInPlaces<'_>,
    reader: &mut VariableReader<'_>,
) -> (Vec<IdentityRule>, Vec<String>) {
    let (mut rules, mut rejected) = (Vec::new(), Vec::new());
    for (index, entry) in entries(ALLOWED, reader).into_iter().enumerate() {
        match entry.map_err(InvalidRule::from).and_then(|entry| entry.rule(places)) {
            Ok(rule) => rules.push(rule),
            Err(InvalidRule::Malformed(expected) | InvalidRule::NotConfigured(expected)) => {
                rejected.push(format!("{ALLOWED}[{index}]{expected}"));
            }
        }
    }
    (rules, rejected)
}

/// Reads `SIGN_IN_DENIED`. A malformed entry stops the server, because it would have no effect. One about a place that
/// is not configured names no one.
pub(crate) fn read_denied(
    places: &SignInPlaces<'_>,
    reader: &mut VariableReader<'_>,
) -> Vec<IdentityRule> {
    let mut rules = Vec::new();
    for (index, entry) in entries(DENIED, reader).into_iter().enumerate() {
        let rule = entry.map_err(InvalidRule::from).and_then(|entry| entry.rule(places));
        match rule.and_then(|rule| rule.denying(places)) {
            Ok(rule) => rules.push(rule),
            Err(InvalidRule::Malformed(expected)) => {
                reader.sentence(format!("{DENIED}[{index}]{expected}"));
            }
            Err(InvalidRule::NotConfigured(expected)) => {
                reader.reject(format!("{DENIED}[{index}]{expected}"));
            }
        }
    }
    rules
}

/// Reads the rules of `TEAMS` about people, those of the first team first. A malformed one stops the server: without it, the team's people
/// might have other limits. `issuers` has the identity providers of companies, each with the places where their people come from.
pub(crate) fn read_teams(
    teams: &[TeamSettings],
    places: &SignInPlaces<'_>,
    issuers: &[(&EnterpriseIssuer, Vec<String>)],
    reader: &mut VariableReader<'_>,
) -> Vec<IdentityRule> {
    let mut rules = Vec::new();
    for (index, team) in teams.iter().enumerate() {
        for (at, text) in &team.people {
            let found = match text.split_once(GROUP) {
                Some((place, group)) => group_rules(place, group, places, issuers),
                None => Entry::of(text).rule(places).map(|rule| vec![rule]),
            };
            let problem = match found {
                Ok(found) => {
                    rules.extend(found.into_iter().map(|rule| IdentityRule {
                        scopes: team.scopes.clone().unwrap_or(Scopes::NONE),
                        limits: team.limits.clone(),
                        team: Some(index),
                        ..rule
                    }));
                    continue;
                }
                Err(problem) => problem,
            };
            let place = format!("{TEAMS}[{index}].rules[{at}]");
            match problem {
                InvalidRule::Malformed(expected) => reader.sentence(format!("{place}{expected}")),
                InvalidRule::NotConfigured(expected) => reader.reject(format!("{place}{expected}")),
            }
        }
    }
    rules
}

/// What is between the place and the name of a group in a rule of `TEAMS`.
const GROUP: &str = ":group/";

/// The rules about a group at a place: the issuer of a company, or a provider where its people sign in. If the issuer is missing, or its
/// entry is rejected, that stops the server: other rules may admit its people, without the team.
fn group_rules(
    place: &str,
    group: &str,
    places: &SignInPlaces<'_>,
    issuers: &[(&EnterpriseIssuer, Vec<String>)],
) -> Result<Vec<IdentityRule>, InvalidRule> {
    let of_place = issuers.iter().find(|(_, places)| places.iter().any(|it| it == place));
    let Some((issuer, places)) = of_place.filter(|_| !group.is_empty()) else {
        let expected = format!(
            " names a group of {place}: {ISSUERS} must have its issuer, and sign_in if it is a provider of OAUTH_PROVIDERS"
        );
        let has_people = match place {
            ACCESS => places.access,
            place => places.provider(place).is_some() || place.contains("://"),
        };
        return Err(if has_people {
            InvalidRule::Malformed(expected)
        } else {
            InvalidRule::NotConfigured(expected)
        });
    };
    let rule = |place: &String| IdentityRule {
        domains: issuer.allowed.clone(),
        ..IdentityRule::of(place, People::Group(group.to_owned()))
    };
    Ok(places.iter().map(rule).collect())
}

/// Why an entry is not used: what was expected instead, after its place.
#[derive(Debug)]
enum InvalidRule {
    /// It is not a rule.
    Malformed(String),
    /// People cannot sign in at the place that it names.
    NotConfigured(String),
}

impl From<&str> for InvalidRule {
    fn from(expected: &str) -> Self {
        Self::Malformed(expected.to_owned())
    }
}

fn malformed<T>(expected: &str) -> Result<T, InvalidRule> {
    Err(expected.into())
}

impl Entry {
    /// The rule of an entry about people at one of these places.
    fn rule(self, places: &SignInPlaces<'_>) -> Result<IdentityRule, InvalidRule> {
        let Self { who, scopes, limits, budgets } = self;
        let Some(rule) = IdentityRule::parse(&who) else {
            return malformed(
                " must be a rule such as github:octocat, github:id/583231, github:org/acme, \
                 google:ada@acme.example, google:@acme.example or corp:*",
            );
        };
        let rule = IdentityRule { scopes, limits, budgets, ..rule };
        let id = &rule.provider;
        if !matches!(rule.people, People::Id(_)) && who.contains(',') {
            return malformed(
                " must not contain a comma: each rule of a JSON array is an entry of its own",
            );
        }
        if id == ACCESS {
            return match rule.people {
                People::Login(_) | People::Organization(_) => {
                    malformed(" may name ids (`id/…`), e-mail addresses and domains of Access only")
                }
                _ if places.access => Ok(rule),
                _ => Err(InvalidRule::NotConfigured(
                    " names access: ACCESS_TEAM_DOMAIN must be set".to_owned(),
                )),
            };
        }
        let prefix = prefix_of(id);
        let Some(provider) = places.provider(id) else {
            return Err(InvalidRule::NotConfigured(format!(
                " names {id}: OAUTH_PROVIDERS must include it, and its variables {prefix}… must be valid"
            )));
        };
        if !provider.can_identify() {
            return Err(InvalidRule::NotConfigured(format!(
                " names {id}, where people can only sign in if {prefix}USERINFO_URL or \
                 {prefix}ISSUER is set"
            )));
        }
        let is_number = |id: &str| id.bytes().all(|it| it.is_ascii_digit());
        match &rule.people {
            // Elsewhere people choose and change their names themselves (OpenID Connect Core, 5.7).
            People::Login(_) | People::Organization(_) if !provider.is_github() => malformed(
                " may name logins and organizations of GitHub only; elsewhere ids (`id/…`), e-mail \
                 addresses and domains",
            ),
            // GitHub's ids are numbers. Those of other providers may contain anything.
            People::Id(id) if provider.is_github() && !is_number(id) => {
                malformed(" must have a number after github:id/")
            }
            _ => Ok(rule),
        }
    }
}

impl IdentityRule {
    /// Whether a rule can deny: what it names must be known of everyone who signs in there.
    fn denying(self, places: &SignInPlaces<'_>) -> Result<Self, InvalidRule> {
        let is_github = places.provider(&self.provider).is_some_and(ProviderSettings::is_github);
        match self.people {
            _ if self.scopes != Scopes::NONE
                || self.limits.is_some()
                || !self.budgets.is_empty() =>
            {
                malformed(" must be a rule without scopes, gateway and budgets")
            }
            People::Email(_) | People::Domain(_) | People::Organization(_) if is_github => {
                malformed(" may name ids (`id/…`) and logins of GitHub only")
            }
            _ => Ok(self),
        }
    }

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

/// An entry of a variable.
#[derive(Debug, PartialEq)]
struct Entry {
    /// Who, as `provider:rule`.
    who: String,
    scopes: Scopes,
    limits: Option<KeyLimits>,
    budgets: Vec<Budget>,
}

impl Entry {
    /// That of a text, which gives the least.
    fn of(who: &str) -> Self {
        Self { who: who.to_owned(), scopes: Scopes::NONE, limits: None, budgets: Vec::new() }
    }

    /// Reads an entry of an array; the error is what was expected, after its place.
    fn read(entry: &Value<'_>) -> Result<Self, &'static str> {
        if let Some(who) = entry.as_str() {
            return Ok(Self::of(who));
        }
        let who = entry.get("who").and_then(Value::as_str);
        let scopes = entry.get("scopes").and_then(Value::as_array);
        let optional = ["gateway", "tenant_settings", "budgets"];
        let members = entry.as_object().map(Object::len);
        let known = 2 + optional.iter().filter(|name| entry.get(name).is_some()).count();
        let (Some(who), Some(scopes)) = (who, scopes.filter(|_| members == Some(known))) else {
            return Err(
                " must be a rule, or an object with who, scopes, perhaps gateway (or tenant_settings) and budgets, and nothing else",
            );
        };
        let (limits, budgets) = parse_limits(entry)?;
        let scopes = read_scopes(scopes).ok_or(SCOPES)?;
        Ok(Self { who: who.to_owned(), scopes, limits, budgets })
    }
}

/// What the `scopes` of a rule must be, after their place.
pub(super) const SCOPES: &str =
    ".scopes must be words without spaces, perhaps with `:*` at the end, or [\"*\"] for all";

/// The scopes of a rule: words, and beginnings such as `github:*`.
pub(super) fn read_scopes(scopes: &[Value<'_>]) -> Option<Scopes> {
    // An entry that is not a string is not a scope either.
    let words: Vec<_> = scopes.iter().map(|it| it.as_str().unwrap_or_default()).collect();
    let is_wrong = |word: &&str| {
        word.find('*')
            .is_some_and(|at| *word != "*" && !(word.ends_with(":*") && at + 1 == word.len()))
    };
    Scopes::read(words.iter().copied()).filter(|_| !words.iter().any(is_wrong))
}

/// The entries of a variable.
fn entries(variable: &str, reader: &mut VariableReader<'_>) -> Vec<Result<Entry, &'static str>> {
    parse_entries(&reader.text(variable).unwrap_or_default()).unwrap_or_else(|| {
        reader.problem(variable, "must be rules separated by commas, or a JSON array of rules");
        Vec::new()
    })
}

/// Parses texts separated by commas, or a JSON array of texts and objects. `None` if it is no such array.
fn parse_entries(text: &str) -> Option<Vec<Result<Entry, &'static str>>> {
    if !text.trim_start().starts_with('[') {
        return Some(list(text).map(|who| Ok(Entry::of(who))).collect());
    }
    match json::parse(text) {
        Ok(Value::Array(entries)) => Some(entries.iter().map(Entry::read).collect()),
        _ => None,
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

    #[test]
    fn texts_and_objects() {
        let with = |who: &str, scopes| Ok(Entry { scopes, ..Entry::of(who) });
        let who = |who: &str| with(who, Scopes::NONE);
        let models = KeyLimits { models: Some(vec!["fast".to_owned()]), ..KeyLimits::NONE };
        let limited = Entry { limits: Some(models), ..Entry::of("c:d") };
        let listed = |scope: &str| Scopes::Listed(vec![scope.to_owned()]);
        for (text, expected) in [
            ("", vec![]),
            ("a:b, ,c:d", vec![who("a:b"), who("c:d")]),
            (r#" ["a:b"]"#, vec![who("a:b")]),
            (
                r#"["a:b", {"who": "c:d", "scopes": ["gateway"]}]"#,
                vec![who("a:b"), with("c:d", listed("gateway"))],
            ),
            (r#"[{"who": "c:d", "scopes": ["*"]}]"#, vec![with("c:d", Scopes::All)]),
            (r#"[{"who": "c:d", "scopes": []}]"#, vec![with("c:d", Scopes::NONE)]),
            (r#"[{"who": "c:d", "scopes": ["github:*"]}]"#, vec![with("c:d", listed("github:*"))]),
            (
                r#"[{"who": "c:d", "scopes": [], "tenant_settings": {"models": ["fast"]}}]"#,
                vec![Ok(limited)],
            ),
            ("[]", vec![]),
        ] {
            assert_eq!(parse_entries(text), Some(expected), "{text}");
        }
        for text in [
            "1",
            "null",
            "{}",
            r#"{"who": "c:d"}"#,
            r#"{"scopes": ["gateway"]}"#,
            r#"{"who": "c:d", "scopes": "gateway"}"#,
            r#"{"who": "c:d", "scopes": ["a b"]}"#,
            r#"{"who": "c:d", "scopes": [1]}"#,
            r#"{"who": "c:d", "scopes": ["calculator*"]}"#,
            r#"{"who": "c:d", "scopes": ["*:read"]}"#,
            r#"{"who": "c:d", "scopes": ["a:*:*"]}"#,
            r#"{"who": "c:d", "scopes": [], "name": "x"}"#,
            r#"{"who": "c:d", "gateway": {}}"#,
            r#"{"who": "c:d", "scopes": [], "gateway": []}"#,
            r#"{"who": "c:d", "scopes": [], "gateway": {"model": ["fast"]}}"#,
        ] {
            let [Err(_)] = parse_entries(&format!("[{text}]")).unwrap()[..] else {
                panic!("{text}")
            };
        }
        for text in ["[", "[1", r#"["a:b",]"#] {
            assert_eq!(parse_entries(text), None, "{text}");
        }
    }
}
