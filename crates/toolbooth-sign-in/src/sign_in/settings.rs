//! How people sign in: the variables of `AUTH = "sign-in"`.
//!
//! - `clients`: the clients that the operator has registered; `rules`: the entries of `SIGN_IN_ALLOWED`.

mod clients;
mod rules;

pub(crate) use clients::ClientSettings;

use crate::oauth::{EndpointSettings, OAuthProviders, PROVIDER_DOCS, ProviderSettings};
use toolbooth::address::is_secure;
use toolbooth::auth::{issuer_of_tokens, own_issuer};
use toolbooth::principal::{GATEWAY_SCOPE, Scopes};
use toolbooth::settings::{
    ApiKeySettings, CapabilitySettings, PUBLIC_URL, Row, Settings, StateKeySettings, VariableDoc,
    VariableReader, count, documented, list,
};

/// How people sign in.
#[derive(Debug, Clone)]
pub(crate) struct SignInSettings {
    /// `PUBLIC_URL`: the issuer of tokens.
    pub public_url: String,
    /// The issuer of the principals of these tokens.
    pub issuer: String,
    /// `STATE_KEY` and `STATE_KEY_PREVIOUS`.
    pub state_keys: StateKeySettings,
    /// The providers of `OAUTH_PROVIDERS` where somebody may sign in.
    pub providers: Vec<ProviderSettings>,
    /// `SIGN_IN_ALLOWED`: who may sign in there.
    pub allowed: Vec<IdentityRule>,
    /// The API keys that people may type, if `AUTH` includes `api-key`.
    pub api_keys: Vec<ApiKeySettings>,
    /// Cloudflare Access, if it is in front of the server.
    pub access: Option<AccessSettings>,
    /// `SIGN_IN_CLIENTS`: the clients that the operator has registered.
    pub clients: Vec<ClientSettings>,
    /// The ids of its invalid entries. They must not mean any other client.
    pub rejected_clients: Vec<String>,
    /// `SIGN_IN_REDIRECT_SCHEMES`: schemes of native apps that may be redirected to.
    pub redirect_schemes: Vec<String>,
    /// `SIGN_IN_TOKEN_SECONDS`: how long access tokens are valid.
    pub token_seconds: u64,
    /// Whether users reach the server on their own machine only.
    pub is_local: bool,
    /// Whether a development user may sign in, on this machine only.
    pub development: bool,
}

impl SignInSettings {
    /// The issuer of a provider's own tokens, which `AUTH = "jwt"` may accept as well.
    pub(super) fn issuer_of(&self, provider: &str) -> Option<String> {
        let provider = self.providers.iter().find(|it| it.id == provider)?;
        match &provider.endpoints {
            EndpointSettings::Issuer(issuer) => Some(issuer_of_tokens(issuer)),
            EndpointSettings::Configured { .. } => None,
        }
    }

    /// The issuers of the principals who sign in here: this server first.
    fn issuers(&self) -> Vec<String> {
        let others = self.providers.iter().filter_map(|it| self.issuer_of(&it.id));
        [self.issuer.clone()].into_iter().chain(others).collect()
    }

    /// Whether there are people who can give a scope to clients.
    pub(super) fn gives(&self, scope: &str) -> bool {
        self.development
            || self.allowed.iter().any(|rule| rule.gives(scope))
            || self.api_keys.iter().any(|key| key.scopes.cover(&[scope]))
    }
}

/// People at a provider who may sign in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdentityRule {
    /// The provider's id.
    pub provider: String,
    /// Who.
    pub people: People,
    /// What they can give to clients; by default all scopes but that of the chat gateway.
    pub scopes: Option<Scopes>,
}

impl IdentityRule {
    /// Whether these people can give a scope to a client.
    pub(crate) fn gives(&self, scope: &str) -> bool {
        match &self.scopes {
            Some(scopes) => scopes.cover(&[scope]),
            None => scope != GATEWAY_SCOPE,
        }
    }
}

/// Who may sign in at a provider.
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
}

/// Cloudflare Access in front of the server.
#[derive(Debug, Clone)]
pub(crate) struct AccessSettings {
    /// `ACCESS_TEAM_DOMAIN`: the issuer of Access's tokens.
    pub team: String,
    /// `ACCESS_AUDIENCE`: the application's audience tags.
    pub audiences: Vec<String>,
}

const ALLOWED: &str = "SIGN_IN_ALLOWED";
/// The longest lifetime of an access token, in seconds: 365 days.
const MAX_TOKEN_SECONDS: usize = 365 * 86_400;

static TOKEN_SECONDS: Row<usize> = Row {
    name: "SIGN_IN_TOKEN_SECONDS",
    doc: documented(
        "how long access tokens are valid, in seconds from 60 to 31536000. They end \
             earlier only if they rest on an API key that is removed | `3600` | the default \
             applies",
    ),
    default: 3600,
    parse: |text| match count(text, MAX_TOKEN_SECONDS, " of seconds") {
        Ok(seconds) if seconds >= 60 => Ok(seconds),
        _ => Err("must be a whole number of seconds from 60 to 31536000".to_owned()),
    },
};
static ACCESS_TEAM: Row<Option<String>> = Row {
    name: "ACCESS_TEAM_DOMAIN",
    doc: documented(
        "the address of your Cloudflare Access team, such as \
             `https://acme.cloudflareaccess.com`, if Access protects `/oauth/authorize` | not \
             set | Access is not used",
    ),
    default: None,
    parse: |text| {
        let team = text.trim_end_matches('/');
        match team {
            "" => Ok(None),
            team if is_secure(team) && !team.contains('?') => Ok(Some(team.to_owned())),
            _ => Err("must be an https URL such as https://acme.cloudflareaccess.com".to_owned()),
        }
    },
};
static ACCESS_AUDIENCE: Row<Vec<String>> = Row {
    name: "ACCESS_AUDIENCE",
    doc: documented(
        "the audience tags of the Access application, separated by commas. Required with \
             `ACCESS_TEAM_DOMAIN` | not set | Access is not used",
    ),
    default: Vec::new(),
    parse: |text| Ok(list(text).map(str::to_owned).collect()),
};

/// The settings of the capability.
pub(super) static SETTINGS: CapabilitySettings = CapabilitySettings {
    variables: &[PROVIDER_DOCS, DOCS],
    auth_methods: &["sign-in"],
    read: |settings, reader| {
        let providers = OAuthProviders::read(settings, reader).providers;
        if let Some(sign_in) = SignInSettings::read(settings, &providers, reader) {
            settings.own_issuer = Some(sign_in.issuer.clone());
            settings.sign_in_issuers = sign_in.issuers();
            settings.redirect_schemes = Some(sign_in.redirect_schemes.clone());
            settings.extensions.insert(sign_in);
        }
    },
};

static DOCS: &[VariableDoc] = &[
    VariableDoc {
        name: ALLOWED,
        doc: documented(
            "who may sign in at the providers of `OAUTH_PROVIDERS`: `github:octocat`, \
             `github:id/583231`, `github:org/acme`, `google:ada@acme.example`, \
             `google:@acme.example` or `corp:*`, separated by commas; or a JSON array of \
             these and of objects `{\"who\": \"github:org/acme\", \"scopes\": [\"gateway\"]}` \
             ([what people can give to a \
             client](SIGN-IN.md#what-people-can-give-to-a-client)) | nobody | nobody may sign \
             in by the invalid rule; the others remain",
        ),
    },
    TOKEN_SECONDS.doc(),
    clients::DOC,
    clients::SCHEMES.doc(),
    ACCESS_TEAM.doc(),
    ACCESS_AUDIENCE.doc(),
];

impl IdentityRule {
    /// Reads a rule by which people at one of `providers` can sign in.
    ///
    /// # Errors
    /// What was expected instead.
    fn read(entry: rules::Entry, providers: &[ProviderSettings]) -> Result<Self, String> {
        let (who, scopes) = entry?;
        let rule = Self::parse(&who).ok_or(
            "must be a rule such as github:octocat, github:id/583231, github:org/acme, \
             google:ada@acme.example, google:@acme.example or corp:*",
        )?;
        let rule = Self { scopes, ..rule };
        let id = &rule.provider;
        let Some(provider) = providers.iter().find(|provider| provider.id == *id) else {
            let prefix = id.to_ascii_uppercase().replace('-', "_");
            return Err(format!(
                "names {id}: OAUTH_PROVIDERS must include it, and its variables OAUTH_{prefix}_… must be valid"
            ));
        };
        if !provider.can_identify() {
            let prefix = id.to_ascii_uppercase().replace('-', "_");
            return Err(format!(
                "names {id}, where people can only sign in if OAUTH_{prefix}_USERINFO_URL or \
                 OAUTH_{prefix}_ISSUER is set"
            ));
        }
        // Elsewhere people choose and change their names themselves (OpenID Connect Core, 5.7).
        if matches!(rule.people, People::Login(_) | People::Organization(_))
            && !provider.is_github()
        {
            let expected = "may name logins and organizations of GitHub only; elsewhere ids \
                            (`id/…`), e-mail addresses and domains";
            return Err(expected.to_owned());
        }
        // GitHub's ids are numbers. Those of other providers may contain anything.
        let is_number = |id: &str| id.bytes().all(|it| it.is_ascii_digit());
        if let People::Id(id) = &rule.people
            && provider.is_github()
            && !is_number(id)
        {
            return Err("must have a number after github:id/".to_owned());
        }
        if !matches!(rule.people, People::Id(_)) && who.contains(',') {
            let expected =
                "must not contain a comma: each rule of a JSON array is an entry of its own";
            return Err(expected.to_owned());
        }
        Ok(rule)
    }

    fn parse(text: &str) -> Option<Self> {
        let (provider, people) = text.split_once(':')?;
        let people = people.trim();
        let people = match people.split_once('/') {
            _ if people == "*" => People::Everybody,
            Some(("id", id)) if !id.is_empty() => People::Id(id.to_owned()),
            Some(("org", name)) if !name.is_empty() => {
                People::Organization(name.to_ascii_lowercase())
            }
            Some(_) => return None,
            None => match people.split_once('@') {
                Some(("", domain)) if !domain.is_empty() => {
                    People::Domain(domain.to_ascii_lowercase())
                }
                Some((_, domain)) if !domain.is_empty() => {
                    People::Email(people.to_ascii_lowercase())
                }
                None if !people.is_empty() => People::Login(people.to_ascii_lowercase()),
                _ => return None,
            },
        };
        (!provider.is_empty()).then(|| Self { provider: provider.to_owned(), people, scopes: None })
    }
}

impl SignInSettings {
    /// Reads the variables. `None` if something is missing without which no token can be issued.
    fn read(
        settings: &Settings,
        providers: &[ProviderSettings],
        reader: &mut VariableReader<'_>,
    ) -> Option<Self> {
        if !settings.auth.sign_in {
            return None;
        }
        let state_keys = StateKeySettings::required(settings, reader);
        let api_keys = settings.auth.api_keys.as_deref().unwrap_or_default();
        let (mut allowed, mut rejected) = (Vec::new(), Vec::new());
        let text = reader.text(ALLOWED).unwrap_or_default();
        let entries = rules::entries(&text).unwrap_or_else(|| {
            reader.problem(ALLOWED, "must be rules separated by commas, or a JSON array of rules");
            Vec::new()
        });
        for (index, entry) in entries.into_iter().enumerate() {
            match IdentityRule::read(entry, providers) {
                Ok(rule) => allowed.push(rule),
                Err(expected) => rejected.push(format!("{ALLOWED}[{index}] {expected}")),
            }
        }
        let may_sign_in = |id: &String| allowed.iter().any(|rule| rule.provider == *id);
        let providers = providers.iter().filter(|it| may_sign_in(&it.id)).cloned().collect();
        let team = reader.get(&ACCESS_TEAM);
        let audiences = reader.get(&ACCESS_AUDIENCE);
        if team.is_some() == audiences.is_empty() {
            let expected = "and ACCESS_TEAM_DOMAIN must be set together";
            reader.problem(ACCESS_AUDIENCE.name, expected);
        }
        let access = team.filter(|_| !audiences.is_empty());
        let access = access.map(|team| AccessSettings { team, audiences });
        let redirect_schemes = reader.get(&clients::SCHEMES);
        let (clients, rejected_clients) = clients::read(reader, &redirect_schemes);
        let token_seconds = reader.get(&TOKEN_SECONDS) as u64;
        if settings.public_url.is_none() && reader.non_empty(PUBLIC_URL.name).is_none() {
            reader.problem(PUBLIC_URL.name, "must be set if AUTH contains sign-in");
        }
        let is_local = settings.is_local();
        let development = settings.development && is_local;
        let nobody = allowed.is_empty() && api_keys.is_empty() && access.is_none() && !development;
        if nobody && rejected.is_empty() {
            let expected = "must name who may sign in, unless AUTH contains api-key and API_KEYS has a \
                            valid key, or ACCESS_TEAM_DOMAIN is set";
            reader.problem(ALLOWED, expected);
        }
        for problem in rejected {
            if nobody {
                reader.sentence(problem);
            } else {
                reader.reject(problem);
            }
        }
        let public_url = settings.public_url.clone()?;
        Some(Self {
            issuer: own_issuer(&public_url),
            public_url,
            state_keys: state_keys?,
            providers,
            allowed,
            api_keys: api_keys.to_vec(),
            access,
            clients,
            rejected_clients,
            redirect_schemes,
            token_seconds,
            is_local,
            development,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbooth::testing::FakeHost;

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
    fn rules_that_are_not_valid_admit_nobody() {
        let host = FakeHost::with(&[
            ("AUTH", "sign-in"),
            ("PUBLIC_URL", "https://tools.example"),
            ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
            ("OAUTH_PROVIDERS", "corp, plain"),
            ("OAUTH_CORP_CLIENT_ID", "c1"),
            ("OAUTH_CORP_ISSUER", "https://corp.example"),
            ("OAUTH_PLAIN_CLIENT_ID", "c2"),
            ("OAUTH_PLAIN_AUTHORIZE_URL", "https://plain.example/authorize"),
            ("OAUTH_PLAIN_TOKEN_URL", "https://plain.example/token"),
            ("SIGN_IN_ALLOWED", "corp:admin, corp:org/acme, other:*, plain:*, corp:id/1"),
        ]);
        let settings = toolbooth::testing::settings(crate::tests::CAPABILITIES, &host);
        assert_eq!(settings.problems, [""; 0], "the others can sign in");
        let names = |text: &String| text.split(' ').next().map(str::to_owned);
        let names: Vec<_> = settings.rejected.iter().filter_map(names).collect();
        assert_eq!(names, [0, 1, 2, 3].map(|at| format!("SIGN_IN_ALLOWED[{at}]")));
        let valid = IdentityRule::parse("corp:id/1").unwrap();
        assert_eq!(settings.extensions.get::<SignInSettings>().unwrap().allowed, [valid]);
    }

    #[test]
    fn several_people_in_one_rule_are_nobody() {
        const HOST: &[(&str, &str)] = &[
            ("AUTH", "sign-in"),
            ("PUBLIC_URL", "https://tools.example"),
            ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
            ("OAUTH_PROVIDERS", "github, corp"),
            ("OAUTH_GITHUB_CLIENT_ID", "c1"),
            ("OAUTH_CORP_CLIENT_ID", "c2"),
            ("OAUTH_CORP_ISSUER", "https://corp.example"),
        ];
        const COMMA: &str = "must not contain a comma";
        for (rule, expected) in [
            ("github:octocat,hubot", Some(COMMA)),
            ("github:octocat, github:hubot", Some(COMMA)),
            ("github:org/acme,other", Some(COMMA)),
            ("github:ada@a.example,bob@a.example", Some(COMMA)),
            ("github:id/1,2", Some("must have a number after github:id/")),
            ("github:id/octocat", Some("must have a number after github:id/")),
            ("github:id/12", None),
            ("corp:id/uid=ada,dc=corp", None),
        ] {
            let allowed = format!(r#"["corp:id/1", {{"who": "{rule}", "scopes": []}}, "{rule}"]"#);
            let host = FakeHost::with(&[HOST, &[("SIGN_IN_ALLOWED", &*allowed)]].concat());
            let settings = toolbooth::testing::settings(crate::tests::CAPABILITIES, &host);
            assert_eq!(settings.problems, [""; 0], "{rule}");
            let expected =
                expected.map(|text| [1, 2].map(|at| format!("SIGN_IN_ALLOWED[{at}] {text}")));
            let expected: Vec<_> = expected.into_iter().flatten().collect();
            let starts = settings.rejected.iter().zip(&expected);
            assert_eq!(settings.rejected.len(), expected.len(), "{rule}: {:?}", settings.rejected);
            for (rejected, start) in starts {
                assert!(rejected.starts_with(start), "{rejected}");
            }
        }
    }

    #[test]
    fn nobody_signs_in_unless_somebody_is_allowed() {
        const BASE: &[(&str, &str)] = &[
            ("AUTH", "sign-in"),
            ("PUBLIC_URL", "https://tools.example"),
            ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
        ];
        const TEAM: &str = "https://acme.cloudflareaccess.com";
        const CORP: [(&str, &str); 3] = [
            ("OAUTH_PROVIDERS", "corp"),
            ("OAUTH_CORP_CLIENT_ID", "c1"),
            ("OAUTH_CORP_ISSUER", "https://corp.example"),
        ];
        for (variables, wrong) in [
            (&[][..], Some("SIGN_IN_ALLOWED")),
            (&[("SIGN_IN_ALLOWED", "github:octocat")], Some("SIGN_IN_ALLOWED")),
            (&[("SIGN_IN_ALLOWED", "octocat")], Some("SIGN_IN_ALLOWED[0]")),
            (
                &[
                    CORP[0],
                    CORP[1],
                    CORP[2],
                    ("SIGN_IN_ALLOWED", "corp:id/1, corp:ada@corp.example"),
                ],
                None,
            ),
            (
                &[CORP[0], CORP[1], CORP[2], ("SIGN_IN_ALLOWED", "corp:admin")],
                Some("SIGN_IN_ALLOWED"),
            ),
            (
                &[CORP[0], CORP[1], CORP[2], ("SIGN_IN_ALLOWED", "corp:org/acme")],
                Some("SIGN_IN_ALLOWED"),
            ),
            (&[("OAUTH_PROVIDERS", "api-key")], Some("OAUTH_PROVIDERS")),
            (&[("ACCESS_TEAM_DOMAIN", TEAM), ("ACCESS_AUDIENCE", "tag")], None),
            (&[("ACCESS_TEAM_DOMAIN", TEAM)], Some("ACCESS_AUDIENCE")),
            (&[("ACCESS_AUDIENCE", "tag")], Some("ACCESS_AUDIENCE")),
            (&[("PUBLIC_URL", "")], Some("PUBLIC_URL")),
            (&[("STATE_KEY", "")], Some("STATE_KEY")),
        ] {
            let all: Vec<_> = BASE.iter().chain(variables).copied().collect();
            let problems =
                toolbooth::testing::settings(crate::tests::CAPABILITIES, &FakeHost::with(&all))
                    .problems;
            match wrong {
                None => assert!(problems.is_empty(), "{variables:?} {problems:?}"),
                Some(name) => {
                    assert!(
                        problems.iter().any(|it| it.starts_with(name)),
                        "{variables:?} {problems:?}"
                    );
                }
            }
        }
    }
}
