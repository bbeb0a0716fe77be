//! The variables of `AUTH = "sign-in"`.

use super::login::rules::SignInPlaces;
use super::login::{self, AccessSettings, LoginSettings, rules};
use super::server::{self, ServerSettings};
use crate::oauth::{OAuthProviders, PROVIDER_DOCS, ProviderSettings};
use toolbooth::auth::own_issuer;
use toolbooth::settings::{
    CapabilitySettings, PUBLIC_URL, Settings, StateKeySettings, VariableDoc, VariableReader,
};

const DAY_MS: u64 = 86_400_000;

/// How people sign in, and how clients get tokens.
#[derive(Debug, Clone)]
pub(crate) struct SignInSettings {
    pub(crate) login: LoginSettings,
    pub(crate) server: ServerSettings,
}

pub(super) static SETTINGS: CapabilitySettings = CapabilitySettings {
    variables: &[PROVIDER_DOCS, DOCS],
    auth_methods: &["sign-in"],
    read: |settings, reader| {
        let providers = OAuthProviders::read(settings, reader).providers;
        if let Some(sign_in) = SignInSettings::read(settings, &providers, reader) {
            settings.own_issuer = Some(sign_in.login.issuer.clone());
            settings.sign_in_issuers = sign_in.login.issuers();
            settings.redirect_schemes = Some(sign_in.server.redirect_schemes.clone());
            settings.extensions.insert(sign_in);
        }
    },
};

static DOCS: &[VariableDoc] = &[
    VariableDoc::new(
        rules::ALLOWED,
        "who may sign in at the providers of `OAUTH_PROVIDERS`: `github:octocat`, \
             `github:id/583231`, `github:org/acme`, `google:ada@acme.example`, \
             `google:@acme.example` or `corp:*`, separated by commas; or a JSON array of \
             these and of objects `{\"who\": \"github:org/acme\", \"scopes\": [\"github:*\"]}`. A \
             rule without scopes gives none: see [what people can give to a \
             client](SIGN-IN.md#what-people-can-give-to-a-client) | nobody | nobody may sign \
             in by the invalid rule; the others remain",
    ),
    VariableDoc::new(
        rules::DENIED,
        "who may not sign in, and not call with the tokens that they have: rules like those of \
             `SIGN_IN_ALLOWED`, without scopes. At GitHub, ids and logins only | nobody | calls and \
             sign-ins are rejected; an entry for a provider that is not configured has no effect",
    ),
    server::TOKEN_SECONDS.doc(),
    server::CONNECTION_DAYS.doc(),
    server::REGISTRATION.doc(),
    server::CLIENT_DOMAINS.doc(),
    server::CLIENTS_DOC,
    server::SCHEMES.doc(),
    login::ACCESS_TEAM.doc(),
    login::ACCESS_AUDIENCE.doc(),
];

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
        let api_keys = settings.auth.api_keys.clone().unwrap_or_default();
        let access = AccessSettings::read(reader);
        let places = SignInPlaces { providers, access: access.is_some() };
        let (allowed, rejected) = rules::read_allowed(&places, reader);
        let denied = rules::read_denied(&places, reader);
        let may_sign_in = |id: &String| allowed.iter().any(|rule| rule.provider == *id);
        let providers = providers.iter().filter(|it| may_sign_in(&it.id)).cloned().collect();
        let redirect_schemes = reader.get(&server::SCHEMES);
        let (clients, rejected_clients) = server::read_clients(reader, &redirect_schemes);
        if settings.public_url.is_none() && reader.non_empty(PUBLIC_URL.name).is_none() {
            reader.problem(PUBLIC_URL.name, "must be set if AUTH contains sign-in");
        }
        let is_local = settings.is_local();
        let development = settings.development && is_local;
        let nobody = allowed.is_empty() && api_keys.is_empty() && access.is_none() && !development;
        if nobody && rejected.is_empty() {
            let expected = "must name who may sign in, unless AUTH contains api-key and API_KEYS has a \
                            valid key, or ACCESS_TEAM_DOMAIN is set";
            reader.problem(rules::ALLOWED, expected);
        }
        for problem in rejected {
            if nobody {
                reader.sentence(problem);
            } else {
                reader.reject(problem);
            }
        }
        let public_url = settings.public_url.clone()?;
        let login = LoginSettings {
            issuer: own_issuer(&public_url),
            public_url,
            state_keys: state_keys?,
            providers,
            allowed,
            denied,
            api_keys,
            access,
            is_local,
            development,
        };
        let server = ServerSettings {
            clients,
            rejected_clients,
            redirect_schemes,
            registration: reader.get(&server::REGISTRATION),
            client_domains: reader.get(&server::CLIENT_DOMAINS),
            token_seconds: reader.get(&server::TOKEN_SECONDS) as u64,
            connection_ms: (reader.get(&server::CONNECTION_DAYS) as u64).saturating_mul(DAY_MS),
        };
        Some(Self { login, server })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::IdentityRule;
    use toolbooth::testing::FakeHost;

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
        assert_eq!(settings.extensions.get::<SignInSettings>().unwrap().login.allowed, [valid]);
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
            ("access:*", Some("names access: ACCESS_TEAM_DOMAIN must be set")),
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
