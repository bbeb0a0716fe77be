//! How users authorize tools: `OAUTH_PROVIDERS` and the variables that it requires.

use super::PUBLIC_URL;
use super::auth::AuthSettings;
use super::keys::{GrantKeySettings, StateKeySettings};
use super::provider::ProviderSettings;
use super::reader::{Row, VariableDoc, VariableReader, documented, list};
use crate::address::is_localhost;

/// How users authorize tools.
#[derive(Debug, Clone)]
pub struct ConsentSettings {
    /// `PUBLIC_URL`: the origin where users reach the server.
    pub public_url: String,
    /// `OAUTH_PROVIDERS`: where users can authorize tools.
    pub providers: Vec<ProviderSettings>,
    /// `STATE_KEY` and `STATE_KEY_PREVIOUS`.
    pub state_keys: StateKeySettings,
    /// `GRANT_KEYS`.
    pub grant_keys: GrantKeySettings,
    /// `UNVERIFIED_USERS`: whether a challenge continues if nobody verifies who has opened it.
    pub allows_unverified: bool,
}

const OAUTH_PROVIDERS: &str = "OAUTH_PROVIDERS";

static UNVERIFIED_USERS: Row<bool> = Row {
    name: "UNVERIFIED_USERS",
    doc: documented(
        "Whether a user can grant access if the server cannot verify who opened the link: allow or \
          deny. Default: allow.",
    ),
    // An invalid value must not allow more than a valid one.
    default: false,
    parse: |text| match text {
        "" | "allow" => Ok(true),
        "deny" => Ok(false),
        _ => Err("must be allow or deny".to_owned()),
    },
};

pub(super) static DOCS: &[VariableDoc] = &[
    VariableDoc {
        name: OAUTH_PROVIDERS,
        doc: documented(
            "Where users can authorize tools: a comma-separated list of github, google or ids of your \
              own. Default: none.",
        ),
    },
    UNVERIFIED_USERS.doc(),
];

/// Ids that no provider may have: the other ways to sign in.
const RESERVED_IDS: &[&str] = &["access", "api-key", "development"];

/// The ids in `OAUTH_PROVIDERS`; empty if it is not set or invalid.
pub(super) fn provider_ids(
    reader: &mut VariableReader<'_>,
    public_url: Option<&str>,
) -> Vec<String> {
    let ids: Vec<String> =
        list(&reader.text(OAUTH_PROVIDERS).unwrap_or_default()).map(str::to_owned).collect();
    let is_plain =
        |id: &String| id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !ids.iter().all(is_plain) {
        let expected = "must be a comma-separated list of ids such as github, each of lower-case \
                        letters, digits and hyphens";
        reader.problem(OAUTH_PROVIDERS, expected);
        return Vec::new();
    }
    // The subjects of people begin with the provider's id, or with one of these.
    if let Some(id) = ids.iter().find(|id| RESERVED_IDS.contains(&id.as_str())) {
        reader.problem(OAUTH_PROVIDERS, &format!("must not contain {id}: choose another id"));
        return Vec::new();
    }
    if !ids.is_empty() && public_url.is_none() && reader.non_empty(PUBLIC_URL.name).is_none() {
        reader.problem(PUBLIC_URL.name, "must be set if OAUTH_PROVIDERS is");
    }
    ids
}

/// Reports settings with which anybody could use the grants of others.
pub(super) fn check_callers(
    consent: Option<&ConsentSettings>,
    auth: &AuthSettings,
    reader: &mut VariableReader<'_>,
) {
    let is_public = consent.is_some_and(|consent| !consent.is_local());
    if is_public && auth.anonymous.is_some() {
        reader.problem(
            "AUTH",
            "must not contain none if OAUTH_PROVIDERS is set: anyone who guesses a user's id \
             could use that user's grants",
        );
    }
}

impl ConsentSettings {
    /// Reads what `providers` require; `None` if something is missing. Without `GRANT_KEYS` people can only sign in at
    /// the providers, if they can.
    pub(super) fn read(
        reader: &mut VariableReader<'_>,
        providers: &[ProviderSettings],
        public_url: Option<String>,
        state_keys: Option<StateKeySettings>,
        uses_sign_in: bool,
    ) -> Option<Self> {
        if uses_sign_in && !GrantKeySettings::is_set(reader) {
            return None;
        }
        let grant_keys = GrantKeySettings::read(reader);
        let allows_unverified = match reader.text(UNVERIFIED_USERS.name) {
            None => true,
            Some(_) => reader.get(&UNVERIFIED_USERS),
        };
        Some(Self {
            public_url: public_url?,
            providers: providers.to_vec(),
            state_keys: state_keys?,
            grant_keys: grant_keys?,
            allows_unverified,
        })
    }

    /// Whether users reach the server on their own machine only.
    pub fn is_local(&self) -> bool {
        self.public_url.split_once("://").is_some_and(|(_, host)| is_localhost(host))
    }
}
