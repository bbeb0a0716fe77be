//! How people sign in.

use super::enterprise::{self, EnterpriseIssuer};
use super::rule_entries::{self, Company, RejectedEntry, SignInPlaces};
use super::rules::{self, IdentityRule};
use crate::oauth::{EndpointSettings, ProviderSettings};
use toolbooth::address::is_secure;
use toolbooth::auth::{issuer_of_tokens, own_issuer};
use toolbooth::settings::{
    ApiKeySettings, Row, Settings, StateKeySettings, TeamSettings, VariableDoc, VariableReader,
    list,
};

pub(crate) static DOCS: &[VariableDoc] = &[
    VariableDoc::new(
        rules::ALLOWED,
        "who may sign in at the providers of `OAUTH_PROVIDERS`: `github:octocat`, \
             `github:id/583231`, `github:org/acme`, `google:ada@acme.example`, \
             `google:@acme.example` or `corp:*`, separated by commas; or a JSON array of \
             these and of objects `{\"who\": \"github:org/acme\", \"scopes\": [\"github:*\"]}`, \
             perhaps with [`gateway`](#chat-gateway) and [`budgets`](#budgets), as in `API_KEYS`. A rule without scopes gives none: see [what people can give to a \
             client](SIGN-IN.md#what-people-can-give-to-a-client) | no one | no one may sign \
             in by the invalid rule; the others remain. An invalid object with more than `who` and `scopes` rejects calls and \
             sign-ins: others might admit its people without limits",
    ),
    VariableDoc::new(
        rules::DENIED,
        "who may not sign in, and not call with the tokens that they have: rules like those of \
             `SIGN_IN_ALLOWED`, without scopes. At GitHub, ids and logins only | no one | calls and \
             sign-ins are rejected; an entry for a provider that is not configured has no effect",
    ),
    ACCESS_TEAM.doc(),
    ACCESS_AUDIENCE.doc(),
    enterprise::DOC,
];

#[derive(Debug)]
pub(crate) struct LoginSettings {
    pub(crate) public_url: String,
    /// The issuer of the principals of the tokens that clients get for them.
    pub(crate) issuer: String,
    pub(crate) state_keys: StateKeySettings,
    /// The providers of `OAUTH_PROVIDERS` where people may sign in.
    pub(crate) providers: Vec<ProviderSettings>,
    /// The providers of `OAUTH_PROVIDERS` with an issuer, whether anybody may sign in there or not: their issuers and ids.
    provider_issuers: Vec<(String, String)>,
    /// Who may sign in there, and what they and the people behind Access can give to clients: the rules of `TEAMS`, of
    /// `SIGN_IN_ALLOWED` and of `ENTERPRISE_ISSUERS`.
    pub(crate) allowed: Vec<IdentityRule>,
    /// `ENTERPRISE_ISSUERS`: the identity providers of companies.
    pub(crate) enterprise: Vec<EnterpriseIssuer>,
    /// `SIGN_IN_DENIED`: who may not, whatever else admits them.
    pub(crate) denied: Vec<IdentityRule>,
    /// `TEAMS`.
    pub(crate) teams: Vec<TeamSettings>,
    /// The API keys that people may type, if `AUTH` includes `api-key`.
    pub(crate) api_keys: Vec<ApiKeySettings>,
    /// Cloudflare Access, if it is in front of the server.
    pub(crate) access: Option<AccessSettings>,
    /// Whether users reach the server on their own machine only.
    pub(crate) is_local: bool,
    /// Whether a development user may sign in, on this machine only.
    pub(crate) development: bool,
}

impl LoginSettings {
    /// Reads the variables. `None` if something is missing without which people cannot sign in.
    pub(crate) fn read(
        settings: &Settings,
        providers: &[ProviderSettings],
        reader: &mut VariableReader<'_>,
    ) -> Option<Self> {
        let state_keys = StateKeySettings::required(settings, reader);
        let api_keys = settings.auth.api_keys.clone().unwrap_or_default();
        let access = AccessSettings::read(reader);
        let places = SignInPlaces { providers, access: access.is_some() };
        let (mut allowed, mut rejected) = rule_entries::read_allowed(&places, reader);
        let issuer_and_id = |it: &ProviderSettings| Some((it.issuer()?.to_owned(), it.id.clone()));
        let provider_issuers: Vec<_> = providers.iter().filter_map(issuer_and_id).collect();
        let providers_of = |issuer: &str| {
            let ids = providers_with(&provider_issuers, issuer).map(str::to_owned);
            ids.collect::<Vec<_>>()
        };
        let (enterprise, its_rules, problems) = enterprise::read(&providers_of, reader);
        allowed.extend(its_rules);
        rejected.extend(problems);
        let companies: Vec<_> = enterprise
            .iter()
            .map(|issuer| Company { issuer, providers: providers_of(&issuer.issuer) })
            .collect();
        // The first rule with limits holds: that of the team.
        let of_teams = rule_entries::read_teams(&settings.teams, &places, &companies, reader);
        allowed.splice(0..0, of_teams);
        let denied = rule_entries::read_denied(&places, reader);
        let is_local = settings.is_local();
        let development = settings.development && is_local;
        let is_closed =
            allowed.is_empty() && api_keys.is_empty() && access.is_none() && !development;
        if is_closed && rejected.is_empty() {
            let expected = "must name who may sign in, unless AUTH contains api-key and API_KEYS has a \
                            valid key, or ACCESS_TEAM_DOMAIN or ENTERPRISE_ISSUERS is set";
            reader.problem(rules::ALLOWED, expected);
        }
        for RejectedEntry { problem, may_limit } in rejected {
            if is_closed || may_limit { reader.sentence(problem) } else { reader.reject(problem) }
        }
        let may_sign_in =
            |it: &&ProviderSettings| allowed.iter().any(|rule| rule.provider == it.id);
        let public_url = settings.public_url.clone()?;
        Some(Self {
            issuer: own_issuer(&public_url),
            public_url,
            state_keys: state_keys?,
            providers: providers.iter().filter(may_sign_in).cloned().collect(),
            provider_issuers,
            allowed,
            enterprise,
            denied,
            teams: settings.teams.clone(),
            api_keys,
            access,
            is_local,
            development,
        })
    }

    /// The entry of `API_KEYS` with a name.
    pub(crate) fn api_key(&self, name: &str) -> Option<&ApiKeySettings> {
        self.api_keys.iter().find(|key| key.name == name)
    }

    /// The issuer of a provider's own tokens, which `AUTH = "jwt"` may accept as well.
    pub(super) fn issuer_of(&self, provider: &str) -> Option<String> {
        let provider = self.providers.iter().find(|it| it.id == provider)?;
        match &provider.endpoints {
            EndpointSettings::Issuer(issuer) => Some(issuer_of_tokens(issuer)),
            EndpointSettings::Configured { .. } => None,
        }
    }

    /// The ids of the providers whose people an issuer speaks for. It does not matter whether anybody may sign in there, or
    /// which of the two addresses ends in a slash.
    pub(super) fn providers_of(&self, issuer: &str) -> impl Iterator<Item = &str> {
        providers_with(&self.provider_issuers, issuer)
    }

    /// The company whose rules are about people who sign in at a provider.
    pub(super) fn company_of(&self, provider: &str) -> Option<&EnterpriseIssuer> {
        let mut companies = self.enterprise.iter().filter(|it| it.sign_in);
        companies.find(|it| self.providers_of(&it.issuer).any(|id| id == provider))
    }

    /// The issuers of the principals who sign in here: this server first.
    pub(crate) fn issuers(&self) -> Vec<String> {
        let others = self.providers.iter().filter_map(|it| self.issuer_of(&it.id));
        [self.issuer.clone()].into_iter().chain(others).collect()
    }

    /// Whether there are people who can give a scope to clients.
    pub(crate) fn gives(&self, scope: &str) -> bool {
        self.development
            || self.allowed.iter().any(|rule| rule.gives(scope))
            || self.api_keys.iter().any(|key| key.scopes.cover(&[scope]))
    }
}

/// The ids of the providers with an issuer, of pairs of both.
fn providers_with<'p>(
    providers: &'p [(String, String)],
    issuer: &str,
) -> impl Iterator<Item = &'p str> {
    let issuer = without_slash(issuer);
    providers.iter().filter(move |(own, _)| without_slash(own) == issuer).map(|(_, id)| id.as_str())
}

/// An address without one final slash.
fn without_slash(address: &str) -> &str {
    address.strip_suffix('/').unwrap_or(address)
}

/// Cloudflare Access in front of the server.
#[derive(Debug, Clone)]
pub(crate) struct AccessSettings {
    /// `ACCESS_TEAM_DOMAIN`: the issuer of Access's tokens.
    pub(crate) team: String,
    /// `ACCESS_AUDIENCE`: the application's audience tags.
    pub(crate) audiences: Vec<String>,
}

impl AccessSettings {
    fn read(reader: &mut VariableReader<'_>) -> Option<Self> {
        let team = reader.get(&ACCESS_TEAM);
        let audiences = reader.get(&ACCESS_AUDIENCE);
        if team.is_some() == audiences.is_empty() {
            reader.problem(ACCESS_AUDIENCE.name, "and ACCESS_TEAM_DOMAIN must be set together");
        }
        Some(Self { team: team.filter(|_| !audiences.is_empty())?, audiences })
    }
}

static ACCESS_TEAM: Row<Option<String>> = Row::new(
    "ACCESS_TEAM_DOMAIN",
    "the address of your Cloudflare Access team, such as `https://acme.cloudflareaccess.com`, if \
     Access protects `/oauth/authorize` | not set | Access is not used",
    None,
    |text| {
        let team = text.trim_end_matches('/');
        match team {
            "" => Ok(None),
            team if is_secure(team) && !team.contains('?') => Ok(Some(team.to_owned())),
            _ => Err("must be an https URL such as https://acme.cloudflareaccess.com".to_owned()),
        }
    },
);
static ACCESS_AUDIENCE: Row<Vec<String>> = Row::new(
    "ACCESS_AUDIENCE",
    "the audience tags of the Access application, separated by commas. Required with \
     `ACCESS_TEAM_DOMAIN` | not set | Access is not used",
    Vec::new(),
    |text| Ok(list(text).map(str::to_owned).collect()),
);
