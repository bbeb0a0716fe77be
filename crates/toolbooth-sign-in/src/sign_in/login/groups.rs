//! The groups of a person: the values of a claim of an assertion, of an ID token, or of a provider's description.

use super::Login;
use super::answer::AccountError;
use super::description::IdTokenClaims;
use super::rules::People;
use crate::oauth::OAuthClient;
use toolbooth::json::{Object, Value};

/// The issuer has left the groups out, because there are too many of them for a token (Microsoft Entra ID does so).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyGroups;

/// The values of a claim: a string, or an array of strings. Others, and a claim that is absent, have none.
pub(super) fn values<'c>(
    claims: &'c Object<'_>,
    name: &str,
) -> Result<Option<Vec<&'c str>>, TooManyGroups> {
    match claim(claims, name) {
        Some(Value::String(value)) => Ok(Some(vec![value])),
        Some(Value::Array(values)) => Ok(Some(values.iter().filter_map(Value::as_str).collect())),
        Some(_) => Ok(Some(Vec::new())),
        None if is_elsewhere(claims, name) => Err(TooManyGroups),
        None => Ok(None),
    }
}

/// The claim with this name, which may be an address with points, as with Auth0, or a path, as Keycloak's `realm_access.roles`.
fn claim<'c, 't>(claims: &'c Object<'t>, name: &str) -> Option<&'c Value<'t>> {
    claims.get(name).or_else(|| {
        let (first, rest) = name.split_once('.')?;
        claim(claims.get(first)?.as_object()?, rest)
    })
}

/// Whether the claim has to be fetched elsewhere (OpenID Connect Core 1.0, 5.6.2), or is one of groups that are left out.
fn is_elsewhere(claims: &Object<'_>, name: &str) -> bool {
    let is_distributed = claims.get("_claim_names").is_some_and(|names| names.get(name).is_some());
    let has_groups = || claims.get("hasgroups").is_some_and(|it| *it != Value::Bool(false));
    is_distributed || name == "groups" && has_groups()
}

impl Login {
    /// Those of the values that rules about people at a place name: others would make tokens longer.
    pub(super) fn known_groups(&self, place: &str, values: &[&str]) -> Vec<String> {
        let is_known = |value: &&&str| {
            let mut rules = self.settings.allowed.iter().filter(|it| it.provider == place);
            rules.any(|rule| matches!(&rule.people, People::Group(name) if name == **value))
        };
        values.iter().filter(is_known).map(|value| (*value).to_owned()).collect()
    }

    /// Whether a rule about a group at a place restricts its people.
    pub(super) fn groups_restrict(&self, place: &str) -> bool {
        let mut rules = self.settings.allowed.iter().filter(|it| it.provider == place);
        rules.any(|rule| rule.restricts() && matches!(rule.people, People::Group(_)))
    }

    /// The groups of a person at a provider, as far as rules name them: those in the ID token or else those in the provider's
    /// description. [`AccountError::Rejected`]: only a new ID token would say. [`AccountError::ClaimMissing`]: neither has the
    /// claim, and rules with a team, limits or budgets depend on it.
    pub(super) fn groups(
        &self,
        client: &OAuthClient,
        description: &Object<'_>,
        said: &IdTokenClaims,
    ) -> Result<Vec<String>, AccountError> {
        let provider = &client.provider;
        let needs_groups =
            self.rules_of(client).any(|rule| matches!(rule.people, People::Group(_)));
        let (Some(company), true) = (self.settings.company_of(&provider.id), needs_groups) else {
            return Ok(Vec::new());
        };
        let said = said.as_ref().map_err(|reason| {
            AccountError::Unusable(format!("its ID token cannot be used: {reason}"))
        })?;
        for claims in said.iter().chain([description]) {
            match values(claims, &company.claim) {
                Ok(Some(values)) => return Ok(self.known_groups(&provider.id, &values)),
                Ok(None) => {}
                Err(TooManyGroups) => return Err(AccountError::TooManyGroups),
            }
        }
        let lacking = || format!("the claim {} with the groups is missing", company.claim);
        match said {
            // Someone who asks for fewer scopes in their own browser must not escape what holds for their group.
            Some(_) if self.groups_restrict(&provider.id) => {
                Err(AccountError::ClaimMissing(lacking()))
            }
            Some(_) => Ok(Vec::new()),
            None => Err(AccountError::Rejected(lacking())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbooth::json;

    #[test]
    fn where_the_groups_are() {
        for (claims, name, expected) in [
            (r#"{"groups":["a","b"]}"#, "groups", Ok(Some(vec!["a", "b"]))),
            (r#"{"groups":"a"}"#, "groups", Ok(Some(vec!["a"]))),
            (r#"{"groups":["a",1,null]}"#, "groups", Ok(Some(vec!["a"]))),
            (r#"{"groups":[]}"#, "groups", Ok(Some(vec![]))),
            (r#"{"groups":{"a":1}}"#, "groups", Ok(Some(vec![]))),
            (r#"{"roles":["a"]}"#, "groups", Ok(None)),
            (r#"{"realm_access":{"roles":["a"]}}"#, "realm_access.roles", Ok(Some(vec!["a"]))),
            (r#"{"realm_access":["a"]}"#, "realm_access.roles", Ok(None)),
            (
                r#"{"resource_access":{"a.b":{"roles":["a"]}}}"#,
                "resource_access.a.b.roles",
                Ok(None),
            ),
            (
                r#"{"https://acme.example/groups":["a"]}"#,
                "https://acme.example/groups",
                Ok(Some(vec!["a"])),
            ),
            (
                r#"{"_claim_names":{"groups":"src1"},"_claim_sources":{"src1":{"endpoint":"https://graph.example/me"}}}"#,
                "groups",
                Err(TooManyGroups),
            ),
            (r#"{"hasgroups":true}"#, "groups", Err(TooManyGroups)),
            (r#"{"hasgroups":"True"}"#, "groups", Err(TooManyGroups)),
            (r#"{"hasgroups":false}"#, "groups", Ok(None)),
            (r#"{"hasgroups":true}"#, "roles", Ok(None)),
            (r#"{"_claim_names":{"groups":"src1"},"roles":["a"]}"#, "roles", Ok(Some(vec!["a"]))),
        ] {
            let Ok(Value::Object(claims)) = json::parse(claims) else { panic!("{claims}") };
            assert_eq!(values(&claims, name), expected, "{name}");
        }
    }
}
