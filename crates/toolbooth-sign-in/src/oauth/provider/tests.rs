//! The presets of providers, and what the operator may change of them.

use super::*;
use toolbooth::testing::FakeHost;

#[test]
fn variables_of_a_provider() {
    const ID: (&str, &str) = ("OAUTH_GITHUB_CLIENT_ID", "x");
    const CORP: (&str, &str) = ("OAUTH_MY_CORP_CLIENT_ID", "x");
    for (id, variables, wrong) in [
        ("github", &[ID][..], &[][..]),
        ("google", &[("OAUTH_GOOGLE_CLIENT_ID", "x")], &[]),
        ("github", &[], &["OAUTH_GITHUB_CLIENT_ID"]),
        ("github", &[ID, ("OAUTH_GITHUB_TOKEN_URL", "http://127.0.0.1:9/token")], &[]),
        (
            "github",
            &[ID, ("OAUTH_GITHUB_TOKEN_URL", "http://a.example/token")],
            &["OAUTH_GITHUB_TOKEN_URL"],
        ),
        ("github", &[ID, ("OAUTH_GITHUB_CLIENT_AUTH", "Basic")], &["OAUTH_GITHUB_CLIENT_AUTH"]),
        (
            "github",
            &[ID, ("OAUTH_GITHUB_REVOKE_URL", "http://a.example/revoke")],
            &["OAUTH_GITHUB_REVOKE_URL"],
        ),
        ("github", &[ID, ("OAUTH_GITHUB_CLIENT_SECRET", "a ~")], &[]),
        (
            "github",
            &[ID, ("OAUTH_GITHUB_CLIENT_SECRET", "gehe\u{ed}m")],
            &["OAUTH_GITHUB_CLIENT_SECRET"],
        ),
        (
            "github",
            &[ID, ("OAUTH_GITHUB_CLIENT_SECRET", "secret\n")],
            &["OAUTH_GITHUB_CLIENT_SECRET"],
        ),
        ("my-corp", &[CORP], &["OAUTH_MY_CORP_ISSUER"]),
        ("my-corp", &[CORP, ("OAUTH_MY_CORP_ISSUER", "https://a.example")], &[]),
        (
            "my-corp",
            &[CORP, ("OAUTH_MY_CORP_AUTHORIZE_URL", "https://a.example/a")],
            &["OAUTH_MY_CORP_ISSUER"],
        ),
        ("my-corp", &[], &["OAUTH_MY_CORP_CLIENT_ID", "OAUTH_MY_CORP_ISSUER"]),
    ] {
        let host = FakeHost::with(variables);
        let mut reader = VariableReader::new(&host);
        let provider = ProviderSettings::read(id, &mut reader);
        let (problems, _) = reader.into_problems();
        let names: Vec<_> = problems.iter().filter_map(|it| it.split(' ').next()).collect();
        assert_eq!(names, wrong, "{id} {variables:?}");
        assert_eq!(provider.is_some(), wrong.is_empty(), "{id} {variables:?}");
    }
}

#[test]
fn parameters_of_the_authorization_request() {
    const NONE: [&str; 2] = ["", ""];
    const GITHUB: [&str; 2] = ["prompt=select_account", "prompt=select_account"];
    const GOOGLE: [&str; 2] =
        ["access_type=offline&prompt=consent", "access_type=offline&prompt=select_account consent"];
    for (id, variable, expected) in [
        ("github", "SCOPES", GITHUB),
        ("github", "TOKEN_URL", GITHUB),
        ("github", "AUTHORIZE_URL", NONE),
        ("github", "ISSUER", NONE),
        ("google", "SCOPES", GOOGLE),
        ("google", "ISSUER", NONE),
        ("slack", "SCOPES", NONE),
        ("notion", "SCOPES", ["owner=user", ""]),
        ("linear", "SCOPES", ["prompt=consent", ""]),
        ("atlassian", "SCOPES", ["audience=api.atlassian.com&prompt=consent", ""]),
        ("atlassian", "AUTHORIZE_URL", NONE),
        ("corp", "ISSUER", NONE),
    ] {
        let mut host = FakeHost::default();
        for name in ["CLIENT_ID", variable] {
            let name = format!("OAUTH_{}_{name}", id.to_uppercase());
            host.variables.insert(name, "https://corp.example".to_owned());
        }
        let provider = ProviderSettings::read(id, &mut VariableReader::new(&host)).unwrap();
        let parameters = [provider.parameters, provider.sign_in_parameters].map(|it| {
            let pairs: Vec<_> = it.iter().map(|(name, value)| format!("{name}={value}")).collect();
            pairs.join("&")
        });
        assert_eq!(parameters, expected, "{id} {variable}");
    }
}

#[test]
fn what_presets_add() {
    const ID: (&str, &str) = ("CLIENT_ID", "c1");
    const TOKEN: (&str, &str) = ("TOKEN_URL", "https://t.example");
    const AUTHORIZE: (&str, &str) = ("AUTHORIZE_URL", "https://a.example");
    for (id, variables, auth, scopes, identifies) in [
        ("github", &[ID][..], None, "", true),
        ("google", &[ID], None, "", true),
        ("slack", &[ID], None, "", false),
        ("notion", &[ID], Some(ClientAuth::Basic), "", false),
        ("notion", &[ID, ("CLIENT_AUTH", "post")], Some(ClientAuth::Post), "", false),
        ("notion", &[ID, TOKEN], None, "", false),
        ("linear", &[ID], None, "", false),
        ("atlassian", &[ID], None, "offline_access", false),
        ("atlassian", &[ID, ("SCOPES", "read:me")], None, "read:me offline_access", false),
        ("atlassian", &[ID, ("SCOPES", "offline_access")], None, "offline_access", false),
        ("atlassian", &[ID, AUTHORIZE], None, "", false),
    ] {
        let mut host = FakeHost::default();
        for (name, value) in variables {
            let name = format!("OAUTH_{}_{name}", id.to_uppercase());
            host.variables.insert(name, (*value).to_owned());
        }
        let provider = ProviderSettings::read(id, &mut VariableReader::new(&host)).unwrap();
        let got = (provider.client_auth, provider.scopes.join(" "), provider.can_identify());
        assert_eq!(got, (auth, scopes.to_owned(), identifies), "{id} {variables:?}");
    }
}

#[test]
fn where_grants_are_revoked() {
    const ID: (&str, &str) = ("CLIENT_ID", "c1");
    const SECRET: (&str, &str) = ("CLIENT_SECRET", "s");
    const REVOKE: (&str, &str) = ("REVOKE_URL", "https://r.example/{client_id}");
    const ISSUER: (&str, &str) = ("ISSUER", "https://i.example");
    const TOKEN: (&str, &str) = ("TOKEN_URL", "https://t.example");
    for (id, variables, expected) in [
        ("google", &[ID][..], "standard https://oauth2.googleapis.com/revoke"),
        ("google", &[ID, REVOKE], "standard https://r.example/c1"),
        ("google", &[ID, ISSUER], ""),
        ("google", &[ID, TOKEN], ""),
        ("google", &[ID, TOKEN, REVOKE], "standard https://r.example/c1"),
        ("github", &[ID, SECRET], "github https://api.github.com/applications/c1/grant"),
        ("github", &[ID, SECRET, REVOKE], "github https://r.example/c1"),
        ("github", &[ID, SECRET, TOKEN], ""),
        ("github", &[ID], ""),
        ("linear", &[ID, SECRET], "standard https://api.linear.app/oauth/revoke"),
        ("slack", &[ID, SECRET], ""),
        ("notion", &[ID, SECRET], ""),
        ("atlassian", &[ID, SECRET], ""),
        ("corp", &[ID, ISSUER, REVOKE], "standard https://r.example/c1"),
        ("corp", &[ID, ISSUER], ""),
    ] {
        let mut host = FakeHost::default();
        for (name, value) in variables {
            let name = format!("OAUTH_{}_{name}", id.to_uppercase());
            host.variables.insert(name, (*value).to_owned());
        }
        let provider = ProviderSettings::read(id, &mut VariableReader::new(&host)).unwrap();
        let got = match provider.revocation {
            None => String::new(),
            Some(RevocationEndpoint::Standard(url)) => format!("standard {url}"),
            Some(RevocationEndpoint::GitHub { url, .. }) => format!("github {url}"),
        };
        assert_eq!(got, expected, "{id} {variables:?}");
    }
}
