//! Reads the rules of `SIGN_IN_ALLOWED` and `SIGN_IN_DENIED`, and those of `TEAMS` about people.

use super::enterprise::{EnterpriseIssuer, ISSUERS};
use super::rules::{ACCESS, ALLOWED, DENIED, IdentityRule, People, TEAMS};
use crate::oauth::{ProviderSettings, prefix_of};
use toolbooth::json::{self, Object, Value};
use toolbooth::principal::Scopes;
use toolbooth::settings::{TeamSettings, VariableReader, list, parse_limits};

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

/// The problem of an entry that admits no one, in full sentences.
#[derive(Debug)]
pub(super) struct RejectedEntry {
    pub(super) problem: String,
    /// Whether the entry may have limits: without them, other rules might admit its people, so it stops the server.
    pub(super) may_limit: bool,
}

/// Reads `SIGN_IN_ALLOWED`: the rules, and the entries that admit no one.
pub(super) fn read_allowed(
    places: &SignInPlaces<'_>,
    reader: &mut VariableReader<'_>,
) -> (Vec<IdentityRule>, Vec<RejectedEntry>) {
    let (mut rules, mut rejected) = (Vec::new(), Vec::new());
    for (index, entry) in entries(ALLOWED, places, reader).into_iter().enumerate() {
        match entry {
            Ok(rule) => rules.push(rule),
            Err(problem) => rejected.push(RejectedEntry {
                may_limit: matches!(problem, InvalidRule::Limiting(_)),
                problem: format!("{ALLOWED}[{index}]{}", problem.expected()),
            }),
        }
    }
    (rules, rejected)
}

/// Reads `SIGN_IN_DENIED`. A malformed entry stops the server, because it would have no effect. One about a place that
/// is not configured names no one.
pub(super) fn read_denied(
    places: &SignInPlaces<'_>,
    reader: &mut VariableReader<'_>,
) -> Vec<IdentityRule> {
    let mut rules = Vec::new();
    for (index, entry) in entries(DENIED, places, reader).into_iter().enumerate() {
        match entry.and_then(|rule| rule.denying(places)) {
            Ok(rule) => rules.push(rule),
            Err(problem) => problem.report(&format!("{DENIED}[{index}]"), reader),
        }
    }
    rules
}

/// The identity provider of a company, for the rules of `TEAMS`.
pub(super) struct Company<'a> {
    pub(super) issuer: &'a EnterpriseIssuer,
    /// The providers of `OAUTH_PROVIDERS` with this issuer.
    pub(super) providers: Vec<String>,
}

impl Company<'_> {
    /// Where the people come from whose groups it tells.
    fn places(&self) -> impl Iterator<Item = &String> {
        let providers = self.providers.iter().filter(|_| self.issuer.sign_in);
        [&self.issuer.issuer].into_iter().chain(providers)
    }
}

/// Reads the rules of `TEAMS` about people, those of the first team first. A malformed one stops the server: without it, the team's people
/// might have other limits.
pub(super) fn read_teams(
    teams: &[TeamSettings],
    places: &SignInPlaces<'_>,
    companies: &[Company<'_>],
    reader: &mut VariableReader<'_>,
) -> Vec<IdentityRule> {
    let mut rules = Vec::new();
    for (index, team) in teams.iter().enumerate() {
        for (at, text) in &team.people {
            let found = match text.split_once(GROUP) {
                Some((place, group)) => group_rules(place, group, places, companies),
                None => places.rule(text).map(|rule| people_rules(rule, companies)),
            };
            match found {
                Ok(found) => rules.extend(found.into_iter().map(|rule| IdentityRule {
                    scopes: team.scopes.clone().unwrap_or(Scopes::NONE),
                    limits: team.limits.clone(),
                    team: Some(index),
                    ..rule
                })),
                Err(problem) => problem.report(&format!("{TEAMS}[{index}].rules[{at}]"), reader),
            }
        }
    }
    rules
}

/// What is between the place and the name of a group in a rule of `TEAMS`.
const GROUP: &str = ":group/";

/// A rule about people at a provider, and the same about those of whom its company sends assertions: they are the same people.
fn people_rules(rule: IdentityRule, companies: &[Company<'_>]) -> Vec<IdentityRule> {
    let companies = companies.iter().filter(|it| it.providers.contains(&rule.provider));
    let asserted = companies
        .map(|it| IdentityRule { provider: it.issuer.issuer.clone(), ..rule.clone() })
        .collect::<Vec<_>>();
    [rule].into_iter().chain(asserted).collect()
}

/// The rules about a group at a place: the issuer of a company, or a provider where its people sign in. If the issuer is missing, or its
/// entry is rejected, that stops the server: other rules may admit its people, without the team.
fn group_rules(
    place: &str,
    group: &str,
    places: &SignInPlaces<'_>,
    companies: &[Company<'_>],
) -> Result<Vec<IdentityRule>, InvalidRule> {
    let of_place = companies.iter().find(|company| company.places().any(|it| it == place));
    let Some(company) = of_place.filter(|_| !group.is_empty()) else {
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
        domains: company.issuer.allowed.clone(),
        ..IdentityRule::of(place, People::Group(group.to_owned()))
    };
    Ok(company.places().map(rule).collect())
}

/// Why an entry is not used: what was expected instead, after its place.
#[derive(Debug, PartialEq)]
enum InvalidRule {
    /// It is not a rule.
    Malformed(String),
    /// Nor is it, and it may have limits.
    Limiting(String),
    /// People cannot sign in at the place that it names.
    NotConfigured(String),
}

impl InvalidRule {
    /// Reports an entry at a place. A malformed one stops the server.
    fn report(self, place: &str, reader: &mut VariableReader<'_>) {
        match self {
            Self::Malformed(expected) | Self::Limiting(expected) => {
                reader.sentence(format!("{place}{expected}"));
            }
            Self::NotConfigured(expected) => reader.reject(format!("{place}{expected}")),
        }
    }

    fn expected(&self) -> &str {
        let (Self::Malformed(text) | Self::Limiting(text) | Self::NotConfigured(text)) = self;
        text
    }
}

impl From<&str> for InvalidRule {
    fn from(expected: &str) -> Self {
        Self::Malformed(expected.to_owned())
    }
}

fn malformed<T>(expected: &str) -> Result<T, InvalidRule> {
    Err(expected.into())
}

impl SignInPlaces<'_> {
    /// The rule of a text about people at one of these places. It gives the least.
    fn rule(&self, who: &str) -> Result<IdentityRule, InvalidRule> {
        let Some(rule) = IdentityRule::parse(who) else {
            return malformed(
                " must be a rule such as github:octocat, github:id/583231, github:org/acme, \
                 google:ada@acme.example, google:@acme.example or corp:*",
            );
        };
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
                _ if self.access => Ok(rule),
                _ => Err(InvalidRule::NotConfigured(
                    " names access: ACCESS_TEAM_DOMAIN must be set".to_owned(),
                )),
            };
        }
        let prefix = prefix_of(id);
        let Some(provider) = self.provider(id) else {
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

    /// The rule of an entry of an array.
    fn read(&self, entry: &Value<'_>) -> Result<IdentityRule, InvalidRule> {
        // A member that is not known may be a misspelt limit.
        let may_limit = entry.as_object().is_some_and(|it| !it.has_only(&["who", "scopes"]));
        self.read_entry(entry).map_err(|problem| match problem {
            InvalidRule::Malformed(expected) if may_limit => InvalidRule::Limiting(expected),
            problem => problem,
        })
    }

    fn read_entry(&self, entry: &Value<'_>) -> Result<IdentityRule, InvalidRule> {
        if let Some(who) = entry.as_str() {
            return self.rule(who);
        }
        let who = entry.get("who").and_then(Value::as_str);
        let scopes = entry.get("scopes").filter(|scopes| scopes.as_array().is_some());
        let optional = ["gateway", "tenant_settings", "budgets"];
        let members = entry.as_object().map(Object::len);
        let known = 2 + optional.iter().filter(|name| entry.get(name).is_some()).count();
        let (Some(who), Some(scopes)) = (who, scopes.filter(|_| members == Some(known))) else {
            return malformed(
                " must be a rule, or an object with who, scopes, perhaps gateway (or tenant_settings) and budgets, and nothing else",
            );
        };
        let (limits, budgets) = parse_limits(entry)?;
        let scopes = read_scopes(scopes).ok_or(SCOPES)?;
        Ok(IdentityRule { scopes, limits, budgets, ..self.rule(who)? })
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
}

/// What the `scopes` of a rule must be, after their place.
pub(super) const SCOPES: &str =
    ".scopes must be words without spaces, perhaps with `:*` at the end, or [\"*\"] for all";

/// The scopes of a rule: words, and beginnings such as `github:*`.
pub(super) fn read_scopes(scopes: &Value<'_>) -> Option<Scopes> {
    let is_wrong = |word: &String| {
        word.find('*')
            .is_some_and(|at| word != "*" && !(word.ends_with(":*") && at + 1 == word.len()))
    };
    Scopes::read(scopes.texts().filter(|words| !words.iter().any(is_wrong))?)
}

/// The rules of a variable, or why its entries are none.
fn entries(
    variable: &str,
    places: &SignInPlaces<'_>,
    reader: &mut VariableReader<'_>,
) -> Vec<Result<IdentityRule, InvalidRule>> {
    parse_entries(&reader.text(variable).unwrap_or_default(), places).unwrap_or_else(|| {
        reader.problem(variable, "must be rules separated by commas, or a JSON array of rules");
        Vec::new()
    })
}

/// Parses texts separated by commas, or a JSON array of texts and objects. `None` if it is no such array.
fn parse_entries(
    text: &str,
    places: &SignInPlaces<'_>,
) -> Option<Vec<Result<IdentityRule, InvalidRule>>> {
    if !text.trim_start().starts_with('[') {
        return Some(list(text).map(|who| places.rule(who)).collect());
    }
    match json::parse(text) {
        Ok(Value::Array(entries)) => Some(entries.iter().map(|it| places.read(it)).collect()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbooth::settings::KeyLimits;

    #[test]
    fn texts_and_objects() {
        let places = SignInPlaces { providers: &[], access: true };
        let rule = |who: &str| IdentityRule::parse(who).unwrap();
        let with = |who: &str, scopes| Ok(IdentityRule { scopes, ..rule(who) });
        let who = |who: &str| with(who, Scopes::NONE);
        let models = KeyLimits { models: Some(vec!["fast".to_owned()]), ..KeyLimits::NONE };
        let limited = IdentityRule { limits: Some(models), ..rule("access:id/d") };
        let listed = |scope: &str| Scopes::Listed(vec![scope.to_owned()]);
        for (text, expected) in [
            ("", vec![]),
            ("access:id/b, ,access:id/d", vec![who("access:id/b"), who("access:id/d")]),
            (r#" ["access:id/b"]"#, vec![who("access:id/b")]),
            (
                r#"["access:id/b", {"who": "access:id/d", "scopes": ["gateway"]}]"#,
                vec![who("access:id/b"), with("access:id/d", listed("gateway"))],
            ),
            (
                r#"[{"who": "access:id/d", "scopes": ["*"]}]"#,
                vec![with("access:id/d", Scopes::All)],
            ),
            (r#"[{"who": "access:id/d", "scopes": []}]"#, vec![with("access:id/d", Scopes::NONE)]),
            (
                r#"[{"who": "access:id/d", "scopes": ["github:*"]}]"#,
                vec![with("access:id/d", listed("github:*"))],
            ),
            (
                r#"[{"who": "access:id/d", "scopes": [], "tenant_settings": {"models": ["fast"]}}]"#,
                vec![Ok(limited)],
            ),
            ("[]", vec![]),
        ] {
            assert_eq!(parse_entries(text, &places), Some(expected), "{text}");
        }
        for text in [
            "1",
            "null",
            "{}",
            r#"{"who": "access:id/d"}"#,
            r#"{"scopes": ["gateway"]}"#,
            r#"{"who": "access:id/d", "scopes": "gateway"}"#,
            r#"{"who": "access:id/d", "scopes": ["a b"]}"#,
            r#"{"who": "access:id/d", "scopes": [1]}"#,
            r#"{"who": "access:id/d", "scopes": ["calculator*"]}"#,
            r#"{"who": "access:id/d", "scopes": ["*:read"]}"#,
            r#"{"who": "access:id/d", "scopes": ["a:*:*"]}"#,
            r#"{"who": "access:id/d", "scopes": [], "name": "x"}"#,
            r#"{"who": "access:id/d", "gateway": {}}"#,
            r#"{"who": "access:id/d", "scopes": [], "gateway": []}"#,
            r#"{"who": "access:id/d", "scopes": [], "gateway": {"model": ["fast"]}}"#,
        ] {
            let [Err(_)] = parse_entries(&format!("[{text}]"), &places).unwrap()[..] else {
                panic!("{text}")
            };
        }
        for text in ["[", "[1", r#"["access:id/b",]"#] {
            assert_eq!(parse_entries(text, &places), None, "{text}");
        }
    }
}
