//! `ENTERPRISE_ISSUERS`: the identity providers of companies, which say who may call through which clients
//! (Enterprise-Managed Authorization).

use super::rule_entries::{RejectedEntry, SCOPES, read_scopes};
use super::rules::{IdentityRule, People};
use toolbooth::address::is_secure;
use toolbooth::json::{self, Value};
use toolbooth::principal::Scopes;
use toolbooth::settings::{VariableDoc, VariableReader, parse_limits};

pub(crate) use toolbooth::settings::ENTERPRISE_ISSUERS as ISSUERS;

pub(super) const DOC: VariableDoc = VariableDoc::new(
    ISSUERS,
    "the identity providers of companies whose people call without a consent page, or sign in by their groups: a JSON array of \
     `{\"issuer\", \"clients\", \"sign_in\", \"jwks_uri\", \"claim\", \"rules\", \"scopes\", \"allowed\"}`, of which `issuer`, and \
     `clients` or `sign_in`, are required. See [sign in with the company](SIGN-IN.md#sign-in-with-the-company) and [groups of the \
     company](SIGN-IN.md#groups-of-the-company) | none | assertions and groups of the invalid entry's issuer are rejected; the others \
     are accepted. An invalid entry whose `rules` have more than `scopes` rejects calls and sign-ins",
);

const MEMBERS: [&str; 8] =
    ["issuer", "clients", "sign_in", "jwks_uri", "claim", "rules", "scopes", "allowed"];
const RULE_MEMBERS: [&str; 4] = ["scopes", "gateway", "tenant_settings", "budgets"];

/// The identity provider of a company.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EnterpriseIssuer {
    /// The `iss` of its assertions.
    pub(crate) issuer: String,
    /// Where its keys are; otherwise its discovery document says so.
    pub(crate) jwks_uri: Option<String>,
    /// The ids of the clients that may use its assertions; empty: it issues none for this server.
    pub(crate) clients: Vec<String>,
    /// Whether its rules are also about people who sign in with a browser, at a provider of `OAUTH_PROVIDERS` with this issuer.
    pub(crate) sign_in: bool,
    /// The claim with the values that rules are about.
    pub(crate) claim: String,
    /// The domains of the addresses that people must have, in lower case; empty: any, or none.
    pub(crate) allowed: Vec<String>,
}

/// Reads `ENTERPRISE_ISSUERS`: the issuers, the rules about their people, and the entries that have no effect.
/// `providers_of` returns the ids of the providers of `OAUTH_PROVIDERS` with an issuer: rules are about their people too, if the entry
/// says so.
pub(super) fn read(
    providers_of: &dyn Fn(&str) -> Vec<String>,
    reader: &mut VariableReader<'_>,
) -> (Vec<EnterpriseIssuer>, Vec<IdentityRule>, Vec<RejectedEntry>) {
    let (mut issuers, mut rules, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
    let text = reader.non_empty(ISSUERS).unwrap_or_default();
    if text.is_empty() {
        return (issuers, rules, rejected);
    }
    let Ok(Value::Array(entries)) = json::parse(&text) else {
        reader.problem(ISSUERS, "must be a JSON array of objects with issuer and clients");
        return (issuers, rules, rejected);
    };
    for (index, entry) in entries.iter().enumerate() {
        let mut reject = |expected: String| {
            let problem = format!("{ISSUERS}[{index}]{expected}");
            rejected.push(RejectedEntry { problem, may_limit: may_limit(entry) });
        };
        match parse(entry, &issuers) {
            Ok((issuer, its_rules)) => {
                let providers = issuer.sign_in.then(|| providers_of(&issuer.issuer));
                if providers.as_ref().is_some_and(Vec::is_empty) {
                    reject(format!(
                        ".sign_in needs a provider of OAUTH_PROVIDERS with OAUTH_<ID>_ISSUER = {}",
                        issuer.issuer
                    ));
                    continue;
                }
                for provider in providers.iter().flatten() {
                    rules.extend(
                        its_rules.iter().map(|rule| IdentityRule {
                            provider: provider.clone(),
                            ..rule.clone()
                        }),
                    );
                }
                rules.extend(its_rules);
                issuers.push(issuer);
            }
            Err(expected) => reject(expected),
        }
    }
    (issuers, rules, rejected)
}

/// Whether an entry may have rules with limits, or misspelt ones.
fn may_limit(entry: &Value<'_>) -> bool {
    let only_gives = |rule: &Value<'_>| rule.as_object().is_some_and(|it| it.has_only(&["scopes"]));
    let Some(members) = entry.as_object() else { return false };
    !members.has_only(&MEMBERS)
        || members.get("rules").is_some_and(|rules| {
            !rules.as_object().is_some_and(|rules| rules.iter().all(|(_, rule)| only_gives(rule)))
        })
}

/// Parses an entry; the error is what was expected, after its place.
fn parse(
    entry: &Value<'_>,
    others: &[EnterpriseIssuer],
) -> Result<(EnterpriseIssuer, Vec<IdentityRule>), String> {
    let members = entry.as_object().filter(|members| members.has_only(&MEMBERS)).ok_or(
        " must be an object with issuer, clients or sign_in, perhaps jwks_uri, claim, rules, scopes and allowed, and nothing else",
    )?;
    let address = |name: &str| match members.get(name) {
        None => Ok(None),
        Some(value) => match value.as_str().filter(|it| is_secure(it)) {
            Some(address) => Ok(Some(address.to_owned())),
            None => {
                Err(format!(".{name} must be an https URL; http is allowed for localhost only"))
            }
        },
    };
    let issuer = address("issuer")?.filter(|issuer| !issuer.contains('?'));
    let issuer = issuer.ok_or(".issuer must be an https URL without query")?;
    if others.iter().any(|other| other.issuer == issuer) {
        return Err(".issuer must be unique".to_owned());
    }
    let sign_in = match members.get("sign_in") {
        None => false,
        Some(Value::Bool(sign_in)) => *sign_in,
        Some(_) => return Err(".sign_in must be true or false".to_owned()),
    };
    let clients = match members.get("clients") {
        None if sign_in => Vec::new(),
        clients => {
            let clients = clients.and_then(texts).filter(|clients| !clients.is_empty());
            clients.ok_or(
                ".clients must be a non-empty array of the ids of clients; without it, sign_in must be true",
            )?
        }
    };
    let claim = match members.get("claim") {
        None => "groups",
        Some(claim) => claim
            .as_str()
            .filter(|claim| !claim.is_empty())
            .ok_or(".claim must be the name of a claim, such as groups")?,
    };
    let allowed = members.get("allowed").map_or(Some(Vec::new()), domains);
    let allowed = allowed.ok_or(".allowed must be an array of domains such as @acme.example")?;
    let mut rules = parse_rules(&issuer, members.get("rules"), members.get("scopes"))?;
    for rule in &mut rules {
        rule.domains.clone_from(&allowed);
    }
    let (jwks_uri, claim) = (address("jwks_uri")?, claim.to_owned());
    Ok((EnterpriseIssuer { issuer, jwks_uri, clients, sign_in, claim, allowed }, rules))
}

/// The rules of an entry: what its people may do by the values of the claim, and what all of them may.
fn parse_rules(
    issuer: &str,
    rules: Option<&Value<'_>>,
    scopes: Option<&Value<'_>>,
) -> Result<Vec<IdentityRule>, String> {
    let rule = |people, scopes| IdentityRule { scopes, ..IdentityRule::of(issuer, people) };
    let mut parsed = Vec::new();
    if let Some(rules) = rules {
        let rules =
            rules.as_object().ok_or(".rules must be an object of rules by the claim's values")?;
        for (value, entry) in rules.iter() {
            let at = |expected: &str| format!(".rules.{value:?}{expected}");
            let members = entry.as_object().filter(|all| all.has_only(&RULE_MEMBERS));
            let members = members.ok_or_else(|| {
                at(" must be an object with scopes, perhaps gateway (or tenant_settings) and budgets, and nothing else")
            })?;
            let scopes = members.get("scopes").and_then(read_scopes);
            let scopes = scopes.ok_or_else(|| at(SCOPES))?;
            let (limits, budgets) = parse_limits(entry).map_err(at)?;
            let people = People::Group(value.to_string());
            parsed.push(IdentityRule { limits, budgets, ..rule(people, scopes) });
        }
    }
    match scopes {
        // Without rules, the company alone decides who may call.
        None if rules.is_none() => parsed.push(rule(People::Staff, Scopes::NONE)),
        None => {}
        Some(scopes @ Value::Array(_)) => {
            parsed.push(rule(People::Staff, read_scopes(scopes).ok_or(SCOPES)?));
        }
        Some(Value::Object(by_value)) if rules.is_none() => {
            for (value, scopes) in by_value.iter() {
                let expected =
                    || format!(".scopes.{value:?}{}", SCOPES.trim_start_matches(".scopes"));
                let scopes = read_scopes(scopes).ok_or_else(expected)?;
                parsed.push(rule(People::Group(value.to_string()), scopes));
            }
        }
        Some(_) => {
            let expected = ".scopes must be an array of scopes or, without rules, an object of them by the claim's values";
            return Err(expected.to_owned());
        }
    }
    Ok(parsed)
}

/// An array of strings that are not empty.
fn texts(value: &Value<'_>) -> Option<Vec<String>> {
    value.texts().filter(|texts| texts.iter().all(|text| !text.is_empty()))
}

/// An array of `@` with a domain: the domains, in lower case.
fn domains(value: &Value<'_>) -> Option<Vec<String>> {
    let domain = |text: String| {
        let domain = text.strip_prefix('@').filter(|it| !it.is_empty() && !it.contains('@'));
        domain.map(str::to_ascii_lowercase)
    };
    texts(value)?.into_iter().map(domain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbooth::testing::FakeHost;

    fn parsed(text: &str) -> (Vec<EnterpriseIssuer>, Vec<IdentityRule>, Vec<String>) {
        let host = FakeHost::with(&[(ISSUERS, text)]);
        let mut reader = VariableReader::new(&host);
        let providers = |issuer: &str| match issuer {
            "https://acme.example" => vec!["corp".to_owned()],
            _ => Vec::new(),
        };
        let (issuers, rules, rejected) = read(&providers, &mut reader);
        let rejected = rejected.into_iter().map(|it| it.problem);
        (issuers, rules, rejected.chain(reader.into_problems().0).collect())
    }

    fn with(more: &str) -> String {
        format!(r#"[{{"issuer":"https://acme.example","clients":["a"]{more}}}]"#)
    }

    #[test]
    fn rules_of_entries() {
        let listed = |scope: &str| Scopes::Listed(vec![scope.to_owned()]);
        let group = |name: &str| People::Group(name.to_owned());
        for (more, expected) in [
            ("", vec![(People::Staff, Scopes::NONE)]),
            (r#","scopes":["a:*"]"#, vec![(People::Staff, listed("a:*"))]),
            (
                r#","scopes":{"eng":["*"],"ops":[]}"#,
                vec![(group("eng"), Scopes::All), (group("ops"), Scopes::NONE)],
            ),
            (
                r#","rules":{"eng":{"scopes":["a"],"budgets":[{"window":"1d","usd":5}]}}"#,
                vec![(group("eng"), listed("a"))],
            ),
            (
                r#","rules":{"eng":{"scopes":["a"]}},"scopes":["b"]"#,
                vec![(group("eng"), listed("a")), (People::Staff, listed("b"))],
            ),
            (r#","rules":{}"#, vec![]),
        ] {
            let (issuers, rules, rejected) = parsed(&with(more));
            assert_eq!((issuers.len(), rejected), (1, vec![]), "{more}");
            let rules: Vec<_> = rules.into_iter().map(|it| (it.people, it.scopes)).collect();
            assert_eq!(rules, expected, "{more}");
        }
        let (issuers, ..) = parsed(
            r#"[{"issuer":"http://127.0.0.1:9000","clients":["a","b"],"jwks_uri":"https://keys.example/k?v=1","claim":"roles","allowed":["@Acme.Example"]}]"#,
        );
        assert_eq!(
            issuers,
            [EnterpriseIssuer {
                issuer: "http://127.0.0.1:9000".to_owned(),
                jwks_uri: Some("https://keys.example/k?v=1".to_owned()),
                clients: vec!["a".to_owned(), "b".to_owned()],
                sign_in: false,
                claim: "roles".to_owned(),
                allowed: vec!["acme.example".to_owned()],
            }]
        );
    }

    #[test]
    fn rules_about_people_with_a_browser() {
        let text = |more: &str| {
            format!(
                r#"[{{"issuer":"https://acme.example","rules":{{"eng":{{"scopes":["a"]}}}},"allowed":["@acme.example"]{more}}}]"#
            )
        };
        for (more, providers) in [
            (r#","sign_in":true"#, &["corp", "https://acme.example"][..]),
            (r#","sign_in":true,"clients":["a"]"#, &["corp", "https://acme.example"]),
            (r#","sign_in":false,"clients":["a"]"#, &["https://acme.example"]),
        ] {
            let (issuers, rules, rejected) = parsed(&text(more));
            assert_eq!((issuers.len(), rejected), (1, vec![]), "{more}");
            let places: Vec<_> = rules.iter().map(|rule| &*rule.provider).collect();
            assert_eq!(places, providers, "{more}");
            for rule in &rules {
                assert_eq!(rule.people, People::Group("eng".to_owned()));
                assert_eq!(rule.domains, ["acme.example"]);
            }
        }
    }

    #[test]
    fn each_wrong_entry_is_named() {
        let twice = format!("{},{}", with("").trim_end_matches(']'), &with("")[1..]);
        for (text, expected) in [
            ("{}", " must be a JSON array"),
            ("https://acme.example", " must be a JSON array"),
            ("[1]", "[0] must be an object with issuer, clients or sign_in"),
            (r#"[{"clients":["a"]}]"#, "[0].issuer must be an https URL without query"),
            (r#"[{"issuer":"https://acme.example"}]"#, "[0].clients must be a non-empty array"),
            (r#"[{"issuer":"https://acme.example","clients":[]}]"#, "[0].clients must be"),
            (
                r#"[{"issuer":"https://acme.example","sign_in":false}]"#,
                "[0].clients must be a non-empty array",
            ),
            (r#"[{"issuer":"https://acme.example","sign_in":1}]"#, "[0].sign_in must be true or"),
            (
                r#"[{"issuer":"https://other.example","sign_in":true}]"#,
                "[0].sign_in needs a provider of OAUTH_PROVIDERS",
            ),
            (r#"[{"issuer":"https://acme.example","clients":"a"}]"#, "[0].clients must be"),
            (r#"[{"issuer":"https://acme.example","clients":[""]}]"#, "[0].clients must be"),
            (
                r#"[{"issuer":"http://acme.example","clients":["a"]}]"#,
                "[0].issuer must be an https URL; http is",
            ),
            (r#"[{"issuer":"https://acme.example?a","clients":["a"]}]"#, "[0].issuer must be"),
            (r#"[{"issuer":"acme.example","clients":["a"]}]"#, "[0].issuer must be"),
            (&with(r#","audience":"x""#), "[0] must be an object"),
            (
                &with(r#","jwks_uri":"http://acme.example/keys""#),
                "[0].jwks_uri must be an https URL",
            ),
            (&with(r#","jwks_uri":1"#), "[0].jwks_uri must be"),
            (&with(r#","claim":"""#), "[0].claim must be"),
            (&with(r#","claim":1"#), "[0].claim must be"),
            (&with(r#","allowed":["acme.example"]"#), "[0].allowed must be"),
            (&with(r#","allowed":["ada@acme.example"]"#), "[0].allowed must be"),
            (&with(r#","allowed":"@acme.example""#), "[0].allowed must be"),
            (&with(r#","rules":[]"#), "[0].rules must be an object"),
            (&with(r#","rules":{"eng":[]}"#), "[0].rules.\"eng\" must be an object"),
            (
                &with(r#","rules":{"eng":{"scopes":["a"],"models":[]}}"#),
                "[0].rules.\"eng\" must be",
            ),
            (&with(r#","rules":{"eng":{}}"#), "[0].rules.\"eng\".scopes must be"),
            (&with(r#","rules":{"eng":{"scopes":["a b"]}}"#), "[0].rules.\"eng\".scopes must be"),
            (&with(r#","rules":{"eng":{"scopes":["a*"]}}"#), "[0].rules.\"eng\".scopes must be"),
            (
                &with(r#","rules":{"eng":{"scopes":[],"gateway":1}}"#),
                "[0].rules.\"eng\".gateway must be",
            ),
            (
                &with(r#","rules":{"eng":{"scopes":[],"budgets":[]}}"#),
                "[0].rules.\"eng\".budgets must be",
            ),
            (&with(r#","scopes":"a""#), "[0].scopes must be an array"),
            (&with(r#","scopes":[1]"#), "[0].scopes must be words"),
            (&with(r#","scopes":{"eng":"a"}"#), "[0].scopes.\"eng\" must be words"),
            (&with(r#","scopes":{"eng":["a"]},"rules":{}"#), "[0].scopes must be an array"),
            (&twice, "[1].issuer must be unique"),
        ] {
            let (_, _, rejected) = parsed(text);
            assert_eq!(rejected.len(), 1, "{text}: {rejected:?}");
            let expected = format!("{ISSUERS}{expected}");
            assert!(rejected[0].starts_with(&expected), "{text}: {rejected:?}");
        }
    }
}
