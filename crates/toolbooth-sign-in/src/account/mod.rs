//! The account page: what a person has allowed, and how they take it back.
//!
//! - `page`: the HTML; `date`: days in it; `visit`: where its visitors come from.

mod date;
mod page;
pub(crate) mod routes;
mod visit;

use crate::challenge::{Challenges, GrantSummary, Owner};
use crate::oauth::page::{Link, Notice, TRY_AGAIN, notice, redirect};
use crate::sign_in::{ACCOUNT, Connection, SIGN_IN, SignIn};
use toolbooth::call::VisibleTools;
use toolbooth::host::{Host, StoreError};
use toolbooth::http::{Headers, Response};
use toolbooth::principal::Person;
use visit::{Change, Visit};

/// The account of the person who has signed in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account<'a> {
    sign_in: &'a SignIn,
    /// The grants of users, if tools can get any.
    challenges: Option<&'a Challenges>,
}

impl<'a> Account<'a> {
    pub(crate) fn new(sign_in: &'a SignIn, challenges: Option<&'a Challenges>) -> Self {
        Self { sign_in, challenges }
    }
}

/// Why nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AccountError {
    /// Another site sent the form, or it is not that of this browser and this person.
    CrossSite,
    /// The form is not valid.
    Invalid,
    /// It has been taken back already, or never existed.
    NotFound,
    /// The store does not respond.
    StoreUnavailable,
}

impl AccountError {
    fn page(self) -> Response {
        let back = "Back to your account";
        let (status, title, text, label) = match self {
            Self::CrossSite => (
                403,
                "This did not start here",
                "Nothing was changed. Another site sent you here, or you have signed in with a different \
                 account since you opened the page.",
                back,
            ),
            Self::Invalid => (400, "This form is not valid", "Nothing was changed.", back),
            Self::NotFound => {
                (410, "There is no such permission", "It may have been revoked already.", back)
            }
            Self::StoreUnavailable => (
                503,
                "Your account cannot be read or changed now",
                "The server's storage does not respond. Try again in a moment.",
                TRY_AGAIN,
            ),
        };
        notice(Notice { status, title, text }, Some(Link { label, url: ACCOUNT }))
    }
}

impl From<StoreError> for AccountError {
    fn from(_: StoreError) -> Self {
        Self::StoreUnavailable
    }
}

/// What a person has allowed.
struct Permissions {
    grants: Vec<GrantSummary>,
    connections: Vec<Connection>,
}

impl Account<'_> {
    /// `GET /account`.
    pub(crate) async fn page(
        self,
        (query, headers): (&str, &dyn Headers),
        tools: VisibleTools<'_>,
        host: &dyn Host,
    ) -> Response {
        let page = match self.sign_in.signed_in(headers, host).await {
            None => redirect(SIGN_IN.to_owned()),
            Some(person) => self
                .permissions_page(&person, (query, headers), tools, host)
                .await
                .unwrap_or_else(AccountError::page),
        };
        self.sign_in.own_page(page)
    }

    async fn permissions_page(
        self,
        person: &Person,
        (query, headers): (&str, &dyn Headers),
        tools: VisibleTools<'_>,
        host: &dyn Host,
    ) -> Result<Response, AccountError> {
        let mut grants = Vec::new();
        if let Some(challenges) = self.challenges {
            for owner in owners(person) {
                let caller = [owner.caller_with(Some(person), tools.settings)];
                grants.extend(challenges.grants_of(&owner, tools.to(&caller), host).await?);
            }
        }
        let connections = match person.subjects.first() {
            Some((_, subject)) => self.sign_in.connections(subject, host).await?,
            None => Vec::new(),
        };
        let form = self.sign_in.account_form(person, headers, host);
        let (token, cookie) = form.map_err(|_| AccountError::StoreUnavailable)?;
        let visit = Visit::read(query.as_bytes());
        let permissions = Permissions { grants, connections };
        let page = page::account(&person.label, &token, &permissions, &visit);
        Ok(page.with("set-cookie", cookie))
    }

    /// `POST /account`: takes something back, or ends the session.
    pub(crate) async fn change(
        self,
        body: &[u8],
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Response {
        let response = self.try_change(body, headers, host).await;
        self.sign_in.own_page(response.unwrap_or_else(AccountError::page))
    }

    async fn try_change(
        self,
        body: &[u8],
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Response, AccountError> {
        let field = |name: &str| {
            let mut fields = form_urlencoded::parse(body);
            fields.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
        };
        let form = field("form").ok_or(AccountError::Invalid)?;
        if !self.sign_in.is_own_form(headers) {
            return Err(AccountError::CrossSite);
        }
        // The person may have signed out in another tab, or their session may be over.
        let Some(person) = self.sign_in.signed_in(headers, host).await else {
            return Ok(redirect(SIGN_IN.to_owned()));
        };
        if !self.sign_in.is_account_form(&form, &person, headers, host) {
            return Err(AccountError::CrossSite);
        }
        let done = match field("do").as_deref() {
            Some("sign-out") => {
                let cookie = self.sign_in.sign_out(headers, host).await?;
                let visit = Visit::read(body);
                return Ok(
                    page::signed_out(SIGN_IN, visit.from.as_ref()).with("set-cookie", cookie)
                );
            }
            Some("disconnect") => {
                let id = field("client").unwrap_or_default();
                let (_, subject) = person.subjects.first().ok_or(AccountError::NotFound)?;
                if !self.sign_in.disconnect(subject, &id, host).await? {
                    return Err(AccountError::NotFound);
                }
                Change::Disconnected
            }
            Some("revoke") => {
                let provider = field("provider").unwrap_or_default();
                let challenges = self.challenges.ok_or(AccountError::NotFound)?;
                let client = challenges.provider(&provider).ok_or(AccountError::NotFound)?;
                for owner in owners(&person) {
                    challenges.delete_grant_of(&owner, client, host).await?;
                }
                Change::Revoked
            }
            _ => return Err(AccountError::Invalid),
        };
        Ok(redirect(Visit { done: Some(done), ..Visit::read(body) }.address()))
    }
}

/// The owners of a person's grants.
fn owners(person: &Person) -> impl Iterator<Item = Owner> {
    person.subjects.iter().map(|(issuer, subject)| Owner::user_of(issuer, subject))
}
