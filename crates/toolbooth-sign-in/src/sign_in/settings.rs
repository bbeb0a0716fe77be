//! The variables of `AUTH = "sign-in"`.

use std::sync::Arc;

use super::login::{self, LoginSettings};
use super::server::{self, ServerSettings};
use crate::oauth::{OAuthProviders, PROVIDER_DOCS, ProviderSettings};
use toolbooth::settings::{
    CapabilitySettings, ENTERPRISE_EXTENSION, MACHINES_EXTENSION, PUBLIC_URL, Settings,
    VariableReader,
};

/// How people sign in, and how clients get tokens.
#[derive(Debug, Clone)]
pub(crate) struct SignInSettings {
    pub(crate) login: Arc<LoginSettings>,
    pub(crate) server: Arc<ServerSettings>,
}

pub(super) static SETTINGS: CapabilitySettings = CapabilitySettings {
    variables: &[PROVIDER_DOCS, login::DOCS, server::DOCS],
    auth_methods: &["sign-in"],
    read: |settings, reader| {
        let providers = OAuthProviders::read(settings, reader).providers;
        if settings.auth.sign_in {
            add(settings, &providers, reader);
        }
    },
};

/// Adds the settings of a server to which people sign in.
// The first request waits for the code that it runs to be compiled, so what is not configured stays out of it.
#[inline(never)]
fn add(settings: &mut Settings, providers: &[ProviderSettings], reader: &mut VariableReader<'_>) {
    if let Some(sign_in) = SignInSettings::read(settings, providers, reader) {
        settings.own_issuer = Some(sign_in.login.issuer.clone());
        settings.sign_in_issuers = sign_in.login.issuers();
        let limits = sign_in.login.allowed.iter().map(|rule| rule.limits.clone());
        settings.rule_limits = limits.map(Option::unwrap_or_default).collect();
        for variable in [login::rules::ALLOWED, login::enterprise::ISSUERS] {
            let mut own = sign_in.login.allowed.iter().filter(|it| it.variable() == variable);
            if own.any(|rule| !rule.budgets.is_empty()) {
                settings.budgeted.push(variable.to_owned());
            }
        }
        let extensions = [
            (ENTERPRISE_EXTENSION, sign_in.login.enterprise.is_empty()),
            (MACHINES_EXTENSION, sign_in.login.api_keys.is_empty()),
        ];
        let used = extensions.into_iter().filter(|(_, is_unused)| !is_unused);
        settings.mcp_extensions.extend(used.map(|(id, _)| id));
        settings.redirect_schemes = Some(sign_in.server.redirect_schemes.clone());
        settings.extensions.insert(sign_in);
    }
}

impl SignInSettings {
    /// Reads the variables, if `AUTH` contains sign-in. `None` if something is missing without which no token can be issued.
    fn read(
        settings: &Settings,
        providers: &[ProviderSettings],
        reader: &mut VariableReader<'_>,
    ) -> Option<Self> {
        if settings.public_url.is_none() && reader.non_empty(PUBLIC_URL.name).is_none() {
            reader.problem(PUBLIC_URL.name, "must be set if AUTH contains sign-in");
        }
        let login = LoginSettings::read(settings, providers, reader);
        let machines = settings.auth.api_keys.iter().flatten().map(|key| &*key.name).collect();
        let server = ServerSettings::read(machines, reader);
        Some(Self { login: Arc::new(login?), server: Arc::new(server) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::login::rules::IdentityRule;
    use super::*;
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
    fn an_entry_that_may_have_limits_is_not_left_out() {
        const HOST: &[(&str, &str)] = &[
            ("AUTH", "sign-in"),
            ("PUBLIC_URL", "https://tools.example"),
            ("STATE_KEY", "0123456789abcdef0123456789abcdef"),
            ("OAUTH_PROVIDERS", "corp"),
            ("OAUTH_CORP_CLIENT_ID", "c1"),
            ("OAUTH_CORP_ISSUER", "https://corp.example"),
        ];
        let rule = |more: &str| format!(r#"{{"who": "corp:id/1", "scopes": []{more}}}"#);
        let issuer =
            |more: &str| format!(r#"{{"issuer": "https://corp.example", "sign_in": true{more}}}"#);
        const ALLOWED: &str = "SIGN_IN_ALLOWED";
        const ISSUERS: &str = "ENTERPRISE_ISSUERS";
        for (variable, entry, stops) in [
            (ALLOWED, rule("").replace("id/1", "org/acme"), false),
            (ALLOWED, rule(r#", "budgets": []"#), true),
            (ALLOWED, rule(r#", "gateway": {"model": ["fast"]}"#), true),
            (ALLOWED, rule(r#", "tenant_settings": 1"#), true),
            (ALLOWED, rule(r#", "gateway": {"models": ["a"]}"#).replace("id/1", "a"), true),
            // It may be misspelt.
            (ALLOWED, rule(r#", "gatway": {"models": ["fast"]}"#), true),
            // Nobody can sign in there.
            (ALLOWED, rule(r#", "gateway": {"models": ["a"]}"#).replace("corp", "other"), false),
            (ALLOWED, "1".to_owned(), false),
            (ISSUERS, issuer(r#", "claim": 1"#), false),
            (ISSUERS, issuer(r#", "claim": 1, "rules": {"eng": {"scopes": []}}"#), false),
            (ISSUERS, issuer(r#", "rules": {"eng": {"scopes": [], "budgets": []}}"#), true),
            (ISSUERS, issuer(r#", "claim": 1, "rules": {"eng": {"gateway": {}}}"#), true),
            (ISSUERS, issuer(r#", "rules": [{"eng": {"gateway": {}}}]"#), true),
            (ISSUERS, issuer(r#", "rule": {"eng": {"scopes": []}}"#), true),
            (
                ISSUERS,
                issuer(r#", "rules": {"eng": {"scopes": [], "gateway": {"models": ["a"]}}}"#)
                    .replace("corp.example", "other.example"),
                true,
            ),
        ] {
            let value = match variable {
                ALLOWED => format!(r#"[{entry}, "corp:*"]"#),
                _ => format!("[{entry}]"),
            };
            let everyone = (ALLOWED, "corp:*");
            let host = FakeHost::with(&[HOST, &[everyone, (variable, &*value)]].concat());
            let settings = toolbooth::testing::settings(crate::tests::CAPABILITIES, &host);
            let (found, none) = match stops {
                true => (&settings.problems, &settings.rejected),
                false => (&settings.rejected, &settings.problems),
            };
            assert_eq!((found.len(), none.len()), (1, 0), "{entry}: {found:?} {none:?}");
            assert!(found[0].starts_with(&format!("{variable}[0]")), "{found:?}");
        }
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
