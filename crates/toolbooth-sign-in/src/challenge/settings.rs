//! How users authorize tools: `OAUTH_PROVIDERS` and the variables that it requires.

use crate::oauth::{OAuthProviders, PROVIDER_DOCS, ProviderSettings};
use toolbooth::settings::{
    CapabilitySettings, GRANT_KEYS_DOC, GrantKeySettings, Row, Settings, StateKeySettings,
    VariableReader,
};

#[derive(Debug)]
pub(crate) struct ChallengeSettings {
    /// `PUBLIC_URL`: the origin where users reach the server.
    pub public_url: String,
    /// `OAUTH_PROVIDERS`: where users can authorize tools.
    pub providers: Vec<ProviderSettings>,
    pub state_keys: StateKeySettings,
    pub grant_keys: GrantKeySettings,
    /// `UNVERIFIED_USERS`: whether a challenge continues if it is not verified who has opened it.
    pub allows_unverified: bool,
}

static UNVERIFIED_USERS: Row<bool> = Row::new(
    "UNVERIFIED_USERS",
    "whether a challenge continues if the server cannot verify who has opened it: \
             `allow`, or `deny`. See [Who opens the \
             link](SIGN-IN.md#who-opens-the-link-of-a-challenge) | `deny`; `allow` if \
             `PUBLIC_URL` is an address of this machine | `deny`, and calls are rejected",
    false,
    |text| match text {
        "allow" => Ok(true),
        "" | "deny" => Ok(false),
        _ => Err("must be allow or deny".to_owned()),
    },
);

pub(crate) static SETTINGS: CapabilitySettings = CapabilitySettings {
    variables: &[PROVIDER_DOCS, &[UNVERIFIED_USERS.doc(), GRANT_KEYS_DOC]],
    auth_methods: &[],
    read: |settings, reader| {
        if let Some(own) = ChallengeSettings::read(settings, reader) {
            let may_name_users =
                settings.auth.anonymous.is_some() && !settings.per_tool_authorization;
            if !settings.is_local() && may_name_users {
                let expected = "must not contain none if OAUTH_PROVIDERS is set: anyone who guesses a user's id \
                                could use that user's grants. With MCP_PER_TOOL_AUTHORIZATION, callers without \
                                credentials name no user";
                reader.problem("AUTH", expected);
            }
            settings.extensions.insert(own);
        }
    },
};

impl ChallengeSettings {
    /// Reads what the providers require; `None` if something is missing. Without `GRANT_KEYS` people can only sign in at
    /// the providers, if they can.
    fn read(settings: &mut Settings, reader: &mut VariableReader<'_>) -> Option<Self> {
        let OAuthProviders { ids, providers } = OAuthProviders::read(settings, reader);
        if ids.is_empty() { None } else { Self::read_at(providers, settings, reader) }
    }

    // A function of its own, so that a Worker compiles it only if there are providers.
    #[inline(never)]
    fn read_at(
        providers: Vec<ProviderSettings>,
        settings: &Settings,
        reader: &mut VariableReader<'_>,
    ) -> Option<Self> {
        let state_keys = StateKeySettings::required(settings, reader);
        // Without keys, people only sign in there. With an invalid AUTH that is not known.
        let needs_keys = !settings.auth.sign_in && !reader.has_problem("AUTH");
        if !needs_keys && !GrantKeySettings::is_set(reader) {
            return None;
        }
        let grant_keys = GrantKeySettings::read(reader);
        let allows_unverified = match reader.text(UNVERIFIED_USERS.name) {
            None => settings.is_local(),
            Some(_) => reader.get(&UNVERIFIED_USERS),
        };
        Some(Self {
            public_url: settings.public_url.clone()?,
            providers,
            state_keys: state_keys?,
            grant_keys: grant_keys?,
            allows_unverified,
        })
    }
}
