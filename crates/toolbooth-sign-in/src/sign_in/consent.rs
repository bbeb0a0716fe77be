//! The consent page and the sign-in page, which connect [`AuthorizationServer`] and [`Login`]: what they ask, and where
//! people go from there.

use serde::{Deserialize, Serialize};

use super::event::{SignInEvent, SignInPurpose};
use super::login::{Identity, Login, Problem, SignInOption};
use super::page::{self, Form, FormPurpose};
use super::server::{ApprovedRequest, AuthorizationServer, Parameters};
use crate::oauth::FlowState;
use crate::oauth::page::{isolated, redirect};
use crate::paths::{ACCOUNT, SIGN_IN, START};
use crate::purpose;
use crate::redirect_uri::{RedirectKind, destination, kind};
use toolbooth::call::Rejection;
use toolbooth::host::{BoxFuture, Host};
use toolbooth::http::{Answer, Response};
use toolbooth::principal::{Person, Scopes};
use toolbooth::route::{RouteRequest, State};
use toolbooth::seal::InvalidToken;
use toolbooth::url::{query_parameter, query_value};

/// Names the accounts at providers that tools may already use for a person, if the person's scopes permit the tools. The
/// capability that keeps the grants adds it.
#[derive(Debug)]
pub(crate) struct ConnectedAccounts(
    pub(crate) for<'a> fn(&'a State, &'a Person, &'a dyn Host) -> BoxFuture<'a, Vec<String>>,
);

/// How long a page can be answered, in milliseconds.
const CONSENT_LIFE_MS: u64 = 15 * 60 * 1000;

#[derive(Debug, Clone, Serialize, Deserialize)]
enum AfterSignIn {
    /// Back to a client, with a code.
    #[serde(rename = "c")]
    Client(Box<ApprovedRequest>),
    #[serde(rename = "a")]
    Account,
    #[serde(rename = "h")]
    Challenge(String),
}

/// The content of the form.
#[derive(Serialize, Deserialize)]
struct ConsentRequest {
    #[serde(rename = "r")]
    next: AfterSignIn,
    /// The subjects of the people that the page offers to continue as.
    #[serde(rename = "o", default, skip_serializing_if = "Vec::is_empty")]
    offered: Vec<String>,
}

impl ConsentRequest {
    /// The person, unless a different one has signed in since the page was shown.
    fn expect(&self, identity: Option<Identity>) -> Result<Identity, Problem> {
        let offered = identity.filter(|identity| self.offered.contains(&identity.subject()));
        offered.ok_or(Problem::EXPIRED)
    }
}

/// A request for one of these pages, or of their forms.
struct Consent<'a, 'r> {
    server: &'a AuthorizationServer,
    login: &'a Login,
    request: &'r RouteRequest<'a>,
}

/// `GET /oauth/authorize`: asks for consent.
pub(super) async fn ask<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let consent = Consent::of(request)?;
    Ok(consent.finish(consent.consent_page().await).into())
}

/// `GET /oauth/authorize/sign-in`: people sign in to open a page of the server. It is below the authorization endpoint,
/// so that Cloudflare Access protects it too.
pub(super) async fn sign_in<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let consent = Consent::of(request)?;
    Ok(isolated(consent.finish(consent.sign_in_page().await)).into())
}

/// `POST /oauth/authorize`: the form of the consent page, or of the sign-in page.
pub(super) async fn answer<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let consent = Consent::of(request)?;
    Ok(consent.finish(consent.decide().await).into())
}

/// The callback of a sign-in, to which the provider redirects with a code or an error.
pub(super) async fn callback<'a>(
    request: &RouteRequest<'a>,
    state: Result<FlowState, InvalidToken>,
) -> Result<Answer<'a>, Rejection> {
    let consent = Consent::of(request)?;
    let response = match state {
        Ok(_) if !request.state.settings().problems.is_empty() => Err(Problem::NOT_CONFIGURED),
        Ok(state) => consent.complete(state).await,
        Err(_) => Err(Problem::INVALID),
    };
    Ok(consent.finish(response).into())
}

impl<'a, 'r> Consent<'a, 'r> {
    fn of(request: &'r RouteRequest<'a>) -> Result<Self, Rejection> {
        let server = AuthorizationServer::of(request)?;
        Ok(Self { server, login: &server.login, request })
    }

    fn finish(&self, result: Result<Response, Problem>) -> Response {
        self.login.finish(result, self.request.host)
    }

    async fn consent_page(&self) -> Result<Response, Problem> {
        let Self { server, login, request } = *self;
        let form = Parameters::parse(request.query.as_bytes()).map_err(|_| Problem::INVALID)?;
        let client_id = form.get("client_id").ok_or(Problem::INVALID)?;
        let client = server.client(client_id, request.host).await?;
        let redirect_uri = match (form.get("redirect_uri"), client.redirect_uris.as_slice()) {
            (Some(uri), _) => uri,
            (None, [only]) => only,
            (None, _) => return Err(Problem::INVALID_REDIRECT),
        };
        if !server.may_redirect(&client, redirect_uri) {
            return Err(Problem::INVALID_REDIRECT);
        }
        let asked = match server.approve(&form, &client, redirect_uri, request.host) {
            Ok(asked) => asked,
            Err(error) => {
                let url = server.rejected(redirect_uri, form.get("state"), &error);
                // The person has not agreed to anything yet, so a page shows where the browser would go: anyone can register
                // a client, and this server must not redirect to any address (RFC 9700, 4.11.2). A program on this
                // machine gets the response at once.
                return Ok(match kind(redirect_uri) {
                    RedirectKind::Loopback => redirect(url),
                    RedirectKind::Web | RedirectKind::PrivateScheme | RedirectKind::Forbidden => {
                        page::rejected(&error.description, &url, &destination(redirect_uri))
                    }
                });
            }
        };
        let mut options = login.options(request).await;
        // The button of a session of the development user says the same.
        if options.contains(&SignInOption::Session(Identity::Development)) {
            options.retain(|option| *option != SignInOption::Development);
        }
        let accounts = self.connected_accounts(&options, &asked).await;
        let (token, cookie) =
            self.form_token(AfterSignIn::Client(Box::new(asked.clone())), &options)?;
        let page = page::consent(&page::ConsentPage {
            form: Form { token: &token, options: &options, purpose: FormPurpose::Allow },
            client: &client,
            request: &asked,
            known: &login.candidates(options.iter().filter(|option| option.known().is_some())),
            everyone: &login.candidates(&options),
            accounts: &accounts,
            tools: request.state.tools(),
        });
        Ok(page.with("set-cookie", cookie))
    }

    /// The accounts that the client could use through tools, if it is known who uses the browser.
    async fn connected_accounts(
        &self,
        options: &[SignInOption],
        asked: &ApprovedRequest,
    ) -> Vec<String> {
        let Some(connected) = self.request.state.extensions.get::<ConnectedAccounts>() else {
            return Vec::new();
        };
        let mut accounts: Vec<String> = Vec::new();
        for known in options.iter().filter_map(SignInOption::known) {
            let Some(person) = self.login.person_of(known) else { continue };
            let scopes = self.login.granted(&asked.scopes, &person.scopes);
            let caller = Person { scopes: Scopes::Listed(scopes), ..person };
            for account in (connected.0)(self.request.state, &caller, self.request.host).await {
                if !accounts.contains(&account) {
                    accounts.push(account);
                }
            }
        }
        accounts
    }

    async fn sign_in_page(&self) -> Result<Response, Problem> {
        let next = match query_parameter(self.request.query, "c") {
            None => AfterSignIn::Account,
            Some(token) if token.len() <= purpose::CHALLENGE.longest() => {
                AfterSignIn::Challenge(token)
            }
            Some(_) => return Err(Problem::INVALID),
        };
        let mut options = self.login.options(self.request).await;
        // People with a session come here to use a different account.
        options.retain(|option| !matches!(option, SignInOption::Session(_)));
        let (token, cookie) = self.form_token(next, &options)?;
        let form = Form { token: &token, options: &options, purpose: FormPurpose::SignIn };
        Ok(page::sign_in(&form).with("set-cookie", cookie))
    }

    /// The token of the forms on a page that shows these options, and the `Set-Cookie` header of their browser.
    fn form_token(
        &self,
        next: AfterSignIn,
        options: &[SignInOption],
    ) -> Result<(String, String), Problem> {
        let known = options.iter().filter_map(SignInOption::known);
        let consent = ConsentRequest { next, offered: known.map(Identity::subject).collect() };
        let purpose = (purpose::CONSENT_REQUEST, CONSENT_LIFE_MS);
        Ok(self.login.bound_form(purpose, consent, self.request)?)
    }

    async fn decide(&self) -> Result<Response, Problem> {
        let Self { login, request, .. } = *self;
        let RouteRequest { ref body, headers, host, .. } = *request;
        let form = Parameters::parse(body).map_err(|_| Problem::INVALID)?;
        let token = form.get("request").unwrap_or_default();
        let consent: ConsentRequest = login.open_form(purpose::CONSENT_REQUEST, token, request)?;
        let identity = match form.get("with") {
            Some("denial") => return Ok(self.declined(&consent.next)),
            Some("access") => consent.expect(login.access_user(request).await)?,
            Some("session") => {
                let identity = consent.expect(login.session(headers, host).await)?;
                // The session goes on, and ends when it would have ended.
                return self.signed_in(&consent.next, &identity);
            }
            Some("developer") => login.developer(headers).ok_or(Problem::INVALID)?,
            Some("key") => {
                let key = form.get("api_key").unwrap_or_default();
                login.key_holder(key.trim()).ok_or(Problem::WRONG_KEY)?
            }
            Some("provider") => {
                let provider = form.get("provider").unwrap_or_default();
                return login.begin(provider, consent.next, host).await;
            }
            _ => return Err(Problem::INVALID),
        };
        self.finish_sign_in(&consent.next, &identity)
    }

    async fn complete(&self, state: FlowState) -> Result<Response, Problem> {
        let (flow, next) = self.login.resume(state, self.request)?;
        let response = match self.login.identify(&flow, self.request).await? {
            None => self.declined(&next),
            Some(identity) => {
                let finished = self.finish_sign_in(&next, &identity);
                finished.unwrap_or_else(|problem| self.login.report(problem, self.request.host))
            }
        };
        // The flow is over, whatever its result.
        Ok(flow.end(response))
    }

    /// Begins a session of a person, and sends them on.
    fn finish_sign_in(&self, next: &AfterSignIn, identity: &Identity) -> Result<Response, Problem> {
        let session = self.login.begin_session(identity, self.request.host)?;
        Ok(self.signed_in(next, identity)?.with("set-cookie", session))
    }

    /// Sends a person on who has signed in.
    fn signed_in(&self, next: &AfterSignIn, identity: &Identity) -> Result<Response, Problem> {
        let (login, host) = (self.login, self.request.host);
        let permitted = login.permitted(identity).ok_or_else(|| identity.not_allowed())?;
        let url = match next {
            AfterSignIn::Client(asked) => {
                self.server.approved(asked, (identity, &permitted), host)?
            }
            AfterSignIn::Account => ACCOUNT.to_owned(),
            AfterSignIn::Challenge(token) => format!("{START}?c={}", query_value(token)),
        };
        let (purpose, client) = self.purpose(next);
        let event = SignInEvent::SignedIn {
            method: identity.method(),
            caller: login.caller(&identity.subject()),
            purpose,
            client,
            team: login.team_name(identity),
        };
        login.log(event, host);
        Ok(redirect(url))
    }

    /// What people sign in for, and the client, as the log names it.
    fn purpose(&self, next: &AfterSignIn) -> (SignInPurpose, Option<String>) {
        match next {
            AfterSignIn::Client(asked) => {
                (SignInPurpose::Client, Some(self.server.client_ref(&asked.client)))
            }
            AfterSignIn::Account => (SignInPurpose::Account, None),
            AfterSignIn::Challenge(_) => (SignInPurpose::Challenge, None),
        }
    }

    /// Where a person goes who has declined to sign in.
    fn declined(&self, next: &AfterSignIn) -> Response {
        let (purpose, client) = self.purpose(next);
        self.login.log(SignInEvent::SignInDeclined { purpose, client }, self.request.host);
        redirect(match next {
            AfterSignIn::Client(asked) => self.server.denied(asked),
            AfterSignIn::Account => SIGN_IN.to_owned(),
            AfterSignIn::Challenge(token) => format!("{SIGN_IN}?c={}", query_value(token)),
        })
    }
}
