//! Providers that are preconfigured.

use super::provider::{ClientAuth, Parameters};

/// A provider that needs a client id only.
pub(super) struct Preset {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// Its issuer, if it has one (OpenID Connect).
    pub(super) issuer: Option<&'static str>,
    pub(super) authorize: &'static str,
    pub(super) token: &'static str,
    /// Where it revokes grants, if it does as RFC 7009 says or is GitHub.
    pub(super) revoke: Option<&'static str>,
    /// Where it describes users, if people can sign in there.
    pub(super) userinfo: Option<&'static str>,
    /// Where the client's secret is sent, if not in the body.
    pub(super) client_auth: Option<ClientAuth>,
    /// Scopes without which it issues no refresh token.
    pub(super) scopes: &'static [&'static str],
    pub(super) parameters: Parameters,
    pub(super) sign_in_parameters: Parameters,
}

impl Preset {
    /// A provider where users authorize tools.
    const fn new(
        (id, title): (&'static str, &'static str),
        authorize: &'static str,
        token: &'static str,
    ) -> Self {
        Self {
            id,
            title,
            issuer: None,
            authorize,
            token,
            revoke: None,
            userinfo: None,
            client_auth: None,
            scopes: &[],
            parameters: &[],
            sign_in_parameters: &[],
        }
    }
}

pub(super) const PRESETS: &[Preset] = &[
    Preset {
        revoke: Some("https://api.github.com/applications/{client_id}/grant"),
        userinfo: Some("https://api.github.com/user"),
        // Otherwise GitHub uses the account that the browser is signed in to, without showing it.
        parameters: &[("prompt", "select_account")],
        sign_in_parameters: &[("prompt", "select_account")],
        ..Preset::new(
            ("github", "GitHub"),
            "https://github.com/login/oauth/authorize",
            "https://github.com/login/oauth/access_token",
        )
    },
    Preset {
        issuer: Some("https://accounts.google.com"),
        revoke: Some("https://oauth2.googleapis.com/revoke"),
        userinfo: Some("https://openidconnect.googleapis.com/v1/userinfo"),
        // Without these, Google returns no refresh token, or only the first time.
        parameters: &[("access_type", "offline"), ("prompt", "consent")],
        // People with several accounts choose one.
        sign_in_parameters: &[("access_type", "offline"), ("prompt", "select_account consent")],
        ..Preset::new(
            ("google", "Google"),
            "https://accounts.google.com/o/oauth2/v2/auth",
            "https://oauth2.googleapis.com/token",
        )
    },
    // Tokens of people, not of a bot. It revokes them by a method of its API, not as RFC 7009 says.
    Preset::new(
        ("slack", "Slack"),
        "https://slack.com/oauth/v2_user/authorize",
        "https://slack.com/api/oauth.v2.user.access",
    ),
    // It takes no secret in the body, and revokes tokens only in a body of JSON.
    Preset {
        client_auth: Some(ClientAuth::Basic),
        parameters: &[("owner", "user")],
        ..Preset::new(
            ("notion", "Notion"),
            "https://api.notion.com/v1/oauth/authorize",
            "https://api.notion.com/v1/oauth/token",
        )
    },
    Preset {
        revoke: Some("https://api.linear.app/oauth/revoke"),
        // Otherwise Linear uses the workspace of the last time, without showing it.
        parameters: &[("prompt", "consent")],
        ..Preset::new(
            ("linear", "Linear"),
            "https://linear.app/oauth/authorize",
            "https://api.linear.app/oauth/token",
        )
    },
    Preset {
        scopes: &["offline_access"],
        parameters: &[("audience", "api.atlassian.com"), ("prompt", "consent")],
        ..Preset::new(
            ("atlassian", "Atlassian"),
            "https://auth.atlassian.com/authorize",
            "https://auth.atlassian.com/oauth/token",
        )
    },
];
