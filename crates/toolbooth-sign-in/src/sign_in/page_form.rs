//! The forms on the server's own pages: only the page itself, in the same browser and for the same person, may send
//! them.

use crate::purpose;
use serde::{Deserialize, Serialize};

use super::SignIn;
use super::session::SESSION_SECONDS;
use crate::oauth::page::{isolated, with_tls};
use toolbooth::host::{Host, NoRandomness};
use toolbooth::http::{Headers, Response, is_same_origin};
use toolbooth::principal::Person;

/// The content of a form's token.
#[derive(Serialize, Deserialize)]
struct AccountForm {
    /// The hash of the browser's token.
    #[serde(rename = "b")]
    browser: String,
    /// The person whose page it is.
    #[serde(rename = "s")]
    subject: String,
}

fn subject(person: &Person) -> &str {
    person.subjects.first().map(|(_, subject)| subject.as_str()).unwrap_or_default()
}

impl SignIn {
    /// Adds the headers of the server's own pages.
    pub(crate) fn own_page(&self, page: Response) -> Response {
        isolated(with_tls(page, &self.settings.public_url))
    }

    /// Whether a form was sent by a page of the server.
    pub(crate) fn is_own_form(&self, headers: &dyn Headers) -> bool {
        is_same_origin(headers, &self.settings.public_url)
    }

    /// The token of the forms on the page of an account, and the `Set-Cookie` header of their browser.
    pub(crate) fn account_form(
        &self,
        person: &Person,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<(String, String), NoRandomness> {
        let expires_ms = host.now_ms().saturating_add(SESSION_SECONDS * 1000);
        let form = |browser| AccountForm { browser, subject: subject(person).to_owned() };
        self.bound_form((purpose::ACCOUNT_FORM, expires_ms), form, headers, host)
    }

    /// Whether a form was made for this browser and this person.
    pub(crate) fn is_account_form(
        &self,
        token: &str,
        person: &Person,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> bool {
        let form = self.keys.open(purpose::ACCOUNT_FORM, token, host.now_ms());
        form.is_ok_and(|form: AccountForm| {
            form.subject == subject(person) && self.is_same_browser(headers, &form.browser)
        })
    }
}
