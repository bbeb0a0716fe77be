//! The people who sign in, and their browsers. It knows nothing of clients and tokens.
//!
//! - `settings`, `rule_entries`, `enterprise`: the variables with the `rules` about who may sign in; `identity`: who has, and
//!   what they may do; `groups`: those of a company;
//! - `option`: the ways to sign in; `provider`: one of them; `answer`, `description`: what it says about a person, as a
//!   `provider_account`; `confirmation`: what it says later;
//! - `browser`: sessions, and forms that only one browser may send; `problem`: what goes wrong.

mod answer;
mod browser;
mod confirmation;
mod description;
pub(crate) mod enterprise;
mod groups;
mod identity;
mod option;
mod problem;
mod provider;
mod provider_account;
mod rule_entries;
pub(crate) mod rules;
mod settings;

pub(crate) use browser::SESSION_SECONDS;
pub(crate) use identity::{Identity, public_keys_hash};
pub(crate) use option::SignInOption;
pub(crate) use problem::Problem;
pub(crate) use settings::{DOCS, LoginSettings};

use std::sync::Arc;

use self::identity::MACHINE_SUBJECT;
use super::event::SignInEvent;
use super::marks::Marks;
use crate::oauth::{AuthorizationFlow, OAuthClient};
use toolbooth::auth::{ApiKeys, AssertionVerifier};
use toolbooth::capability::People;
use toolbooth::host::{Host, async_trait};
use toolbooth::http::Headers;
use toolbooth::log::EventLog;
use toolbooth::principal::Person;
use toolbooth::seal::StateKeys;
use toolbooth::settings::ClientKeys;

/// Signs people in.
#[derive(Debug)]
pub(crate) struct Login {
    pub(crate) settings: Arc<LoginSettings>,
    /// The scopes that people can give, if a rule or a key gives them.
    pub(crate) scopes: Vec<&'static str>,
    /// The way to the providers and back.
    pub(crate) flow: AuthorizationFlow,
    pub(crate) keys: StateKeys,
    /// This server's clients at the providers where people sign in.
    providers: Vec<OAuthClient>,
    api_keys: ApiKeys,
    access: Option<AssertionVerifier>,
    marks: Marks,
    events: EventLog,
}

impl Login {
    pub(crate) fn new(
        settings: Arc<LoginSettings>,
        scopes: Vec<&'static str>,
        events: EventLog,
    ) -> Self {
        let access = settings.access.as_ref().map(|access| {
            let keys = format!("{}/cdn-cgi/access/certs", access.team);
            let keys = ClientKeys::Url(keys);
            AssertionVerifier::new(keys, access.team.clone(), access.audiences.clone())
        });
        let keys = StateKeys::new(&settings.state_keys);
        Self {
            providers: settings.providers.iter().cloned().map(OAuthClient::new).collect(),
            api_keys: ApiKeys::new(&settings.api_keys),
            access,
            marks: Marks::new(keys.clone()),
            flow: AuthorizationFlow::new(keys.clone(), settings.public_url.clone()),
            keys,
            events,
            scopes,
            settings,
        }
    }

    pub(crate) fn log(&self, event: SignInEvent<'_>, host: &dyn Host) {
        self.events.write(&event, host);
    }

    /// The name in the log of the person, or the machine, whose tokens have this `sub`, as in the lines of their calls.
    pub(crate) fn caller(&self, subject: &str) -> String {
        match subject.strip_prefix(MACHINE_SUBJECT) {
            Some(name) => self.events.key(name),
            None => self.events.user(&self.settings.issuer, subject),
        }
    }
}

#[async_trait(?Send)]
impl People for Login {
    async fn person(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Person> {
        self.signed_in(headers, host).await
    }
}
