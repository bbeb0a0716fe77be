//! The session of a person who has signed in, in a cookie of the browser.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Identity, Login, Problem};
use crate::oauth::{cookie, random_text, store};
use crate::purpose;
use crate::sign_in::marks::Mark;
use toolbooth::host::Host;
use toolbooth::http::Headers;
use toolbooth::principal::Person;

/// How long a session lasts, in seconds: a working day.
pub(super) const SESSION_SECONDS: u64 = 12 * 3600;

const COOKIE: &str = "session";

/// A session was ended by signing out.
const SIGNED_OUT: Mark =
    Mark { prefix: "signed-out", life: Duration::from_secs(SESSION_SECONDS + 3600) };

#[derive(Serialize, Deserialize)]
struct Session {
    #[serde(rename = "p")]
    identity: Identity,
    #[serde(rename = "i")]
    id: String,
}

impl Login {
    fn read_session(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Session> {
        let token = cookie::read(headers, COOKIE)?;
        self.keys.open(purpose::SESSION, &token, host.now_ms()).ok()
    }

    /// Who has signed in with this browser, if they still may, and the store says that they have not signed out.
    pub(crate) async fn session(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Identity> {
        let Session { identity, id } = self.read_session(headers, host)?;
        self.permitted(&identity)?;
        let signed_out = self.marks.is_set(&SIGNED_OUT, &id, host).await;
        signed_out.is_ok_and(|signed_out| !signed_out).then_some(identity)
    }

    pub(crate) async fn signed_in(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Person> {
        let identity = self.session(headers, host).await?;
        let mut subjects = vec![(self.settings.issuer.clone(), identity.subject())];
        if let Identity::Provider(account) = &identity {
            let issuer = self.settings.issuer_of(&account.provider);
            subjects.extend(issuer.map(|issuer| (issuer, account.id.clone())));
        }
        let scopes = self.permitted(&identity)?;
        Some(Person { label: identity.label().to_owned(), subjects, scopes })
    }

    /// Ends the session of this browser, and returns the `Set-Cookie` header that removes it.
    pub(crate) async fn sign_out(
        &self,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> store::Result<String> {
        // A copy of the cookie is invalid from now on.
        if let Some(Session { id, .. }) = self.read_session(headers, host) {
            self.marks.set(&SIGNED_OUT, &id, "1", host).await?;
        }
        Ok(cookie::set_for(COOKIE, "", 0))
    }

    /// The `Set-Cookie` header that begins a session.
    pub(crate) fn begin_session(
        &self,
        identity: &Identity,
        host: &dyn Host,
    ) -> Result<String, Problem> {
        let session = Session { identity: identity.clone(), id: random_text(host)? };
        let expires_ms = host.now_ms().saturating_add(SESSION_SECONDS * 1000);
        let token = self.keys.seal(purpose::SESSION, &session, expires_ms);
        Ok(cookie::set_for(COOKIE, &token, SESSION_SECONDS))
    }
}
