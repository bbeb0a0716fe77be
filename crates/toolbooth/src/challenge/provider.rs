//! Authorization providers: who they are, as variables and secrets say.

use super::oauth::Discovered;
use crate::address::is_secure;
use crate::host::Variables;
use crate::tool::Secret;

/// An OAuth 2 provider that users can authorize the server at.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The id that definitions name.
    pub id: String,
    /// Its name for people.
    pub(super) title: String,
    pub(super) client_id: String,
    /// Absent for a public client, which has PKCE alone.
    pub(super) client_secret: Option<Secret>,
    pub(super) addresses: Addresses,
    /// What discovery has told of an [`Addresses::Issuer`].
    pub(super) discovered: Discovered,
    /// Where the secret goes; unset, discovery decides, else the body.
    pub(super) client_auth: Option<ClientAuth>,
    /// How it revokes grants; unset, discovery decides.
    pub(super) revocation: Option<Revocation>,
    /// Scopes that are asked for whatever the tool requires, such as `offline_access`.
    pub(super) scopes: Vec<String>,
    /// What else it wants to be told when a user is sent there.
    pub(super) extra: &'static [(&'static str, &'static str)],
}

/// Where a provider is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Addresses {
    /// At these.
    Known { authorize: String, token: String },
    /// Where its discovery document says (OpenID Connect Discovery 1.0).
    Issuer(String),
}

/// How a provider revokes a grant, and where.
#[derive(Debug, Clone)]
pub(super) enum Revocation {
    /// By its revocation endpoint (RFC 7009).
    Standard(String),
    /// GitHub's "delete an app authorization", which needs the client's secret.
    GitHub { url: String, client_secret: Secret },
}

/// How a client shows its secret (RFC 6749, 2.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientAuth {
    /// In the `Authorization` header.
    Basic,
    /// In the body.
    Post,
}

/// What is known of a provider beforehand.
struct Preset {
    id: &'static str,
    title: &'static str,
    authorize: &'static str,
    token: &'static str,
    revoke: &'static str,
    extra: &'static [(&'static str, &'static str)],
}

const PRESETS: &[Preset] = &[
    Preset {
        id: "github",
        title: "GitHub",
        authorize: "https://github.com/login/oauth/authorize",
        token: "https://github.com/login/oauth/access_token",
        revoke: "https://api.github.com/applications/{client_id}/grant",
        extra: &[],
    },
    Preset {
        id: "google",
        title: "Google",
        authorize: "https://accounts.google.com/o/oauth2/v2/auth",
        token: "https://oauth2.googleapis.com/token",
        revoke: "https://oauth2.googleapis.com/revoke",
        // Without these there is no refresh token, or only the first time.
        extra: &[("access_type", "offline"), ("prompt", "consent")],
    },
];

impl Provider {
    /// Reads the provider `id` from the variables `OAUTH_<ID>_…`. What is wrong goes to `problem`
    /// with the name of the variable.
    pub(super) fn read(
        id: &str,
        source: &dyn Variables,
        problem: &mut dyn FnMut(&str, &str),
    ) -> Option<Self> {
        let name =
            |rest: &str| format!("OAUTH_{}_{rest}", id.to_ascii_uppercase().replace('-', "_"));
        let set = |rest: &str| source.variable(&name(rest)).filter(|value| !value.is_empty());
        let preset = PRESETS.iter().find(|preset| preset.id == id);
        let mut good = true;
        let mut wrong = |rest: &str, wanted: &str| {
            good = false;
            problem(&name(rest), wanted);
        };
        let client_id = set("CLIENT_ID");
        if client_id.is_none() {
            wrong("CLIENT_ID", "must be set");
        }
        let mut address = |rest: &str| {
            let value = set(rest)?;
            if !is_secure(&value) {
                wrong(rest, "must be an https address, or an http one of this machine");
            }
            Some(value)
        };
        let issuer = address("ISSUER");
        let authorize =
            address("AUTHORIZE_URL").or_else(|| preset.map(|it| it.authorize.to_owned()));
        let own_token = address("TOKEN_URL");
        // The tokens of another server are none of the preset's business.
        let known = preset.filter(|_| issuer.is_none() && own_token.is_none());
        let revoke = address("REVOKE_URL").or_else(|| known.map(|it| it.revoke.to_owned()));
        let token = own_token.or_else(|| preset.map(|it| it.token.to_owned()));
        let addresses = match (issuer, authorize, token) {
            (Some(issuer), _, _) => Some(Addresses::Issuer(issuer)),
            (None, Some(authorize), Some(token)) => Some(Addresses::Known { authorize, token }),
            _ => {
                wrong("ISSUER", "must be set, or both AUTHORIZE_URL and TOKEN_URL of the provider");
                None
            }
        };
        let client_auth = match set("CLIENT_AUTH").as_deref() {
            None => None,
            Some("basic") => Some(ClientAuth::Basic),
            Some("post") => Some(ClientAuth::Post),
            Some(_) => {
                wrong("CLIENT_AUTH", "must be basic or post");
                None
            }
        };
        if !good {
            return None;
        }
        let client_id = client_id?;
        let client_secret = set("CLIENT_SECRET").map(Secret::new);
        let revoke = revoke.map(|url| url.replace("{client_id}", &client_id));
        let revocation = match (id, revoke, &client_secret) {
            ("github", Some(url), Some(secret)) => {
                Some(Revocation::GitHub { url, client_secret: secret.clone() })
            }
            ("github", ..) => None,
            (_, url, _) => url.map(Revocation::Standard),
        };
        let title = set("TITLE").or_else(|| preset.map(|preset| preset.title.to_owned()));
        Some(Self {
            id: id.to_owned(),
            title: title.unwrap_or_else(|| id.to_owned()),
            client_id,
            client_secret,
            addresses: addresses?,
            discovered: Discovered::default(),
            client_auth,
            revocation,
            scopes: words(&set("SCOPES").unwrap_or_default()),
            extra: preset.map_or(&[], |preset| preset.extra),
        })
    }
}

/// The words of a list of scopes. RFC 6749 separates them by spaces, GitHub by commas.
pub(super) fn words(text: &str) -> Vec<String> {
    text.split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::FakeHost;

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
            ("my-corp", &[CORP], &["OAUTH_MY_CORP_ISSUER"]),
            ("my-corp", &[CORP, ("OAUTH_MY_CORP_ISSUER", "https://a.example")], &[]),
            (
                "my-corp",
                &[CORP, ("OAUTH_MY_CORP_AUTHORIZE_URL", "https://a.example/a")],
                &["OAUTH_MY_CORP_ISSUER"],
            ),
            ("my-corp", &[], &["OAUTH_MY_CORP_CLIENT_ID", "OAUTH_MY_CORP_ISSUER"]),
        ] {
            let mut problems = Vec::new();
            let mut problem = |name: &str, _: &str| problems.push(name.to_owned());
            let provider = Provider::read(id, &FakeHost::with(variables), &mut problem);
            assert_eq!(problems, wrong, "{id} {variables:?}");
            assert_eq!(provider.is_some(), wrong.is_empty(), "{id} {variables:?}");
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
            ("corp", &[ID, ISSUER, REVOKE], "standard https://r.example/c1"),
            ("corp", &[ID, ISSUER], ""),
        ] {
            let mut host = FakeHost::default();
            for (name, value) in variables {
                let name = format!("OAUTH_{}_{name}", id.to_uppercase());
                host.variables.insert(name, (*value).to_owned());
            }
            let provider = Provider::read(id, &host, &mut |name, _| panic!("{name}")).unwrap();
            let got = match provider.revocation {
                None => String::new(),
                Some(Revocation::Standard(url)) => format!("standard {url}"),
                Some(Revocation::GitHub { url, .. }) => format!("github {url}"),
            };
            assert_eq!(got, expected, "{id} {variables:?}");
        }
    }
}
