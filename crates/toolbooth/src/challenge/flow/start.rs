//! Where the user is asked, and from where those who agree go on to the provider.

use form_urlencoded::Serializer;

use super::cookie::{self, State};
use super::stop::FlowError;
use super::{again, parameter};
use crate::catalog::Tool;
use crate::challenge::page::{self, ConsentPage};
use crate::challenge::provider::Addresses;
use crate::challenge::token::{TokenPurpose, random_text, sha256_base64url};
use crate::challenge::{ChallengeClaims, Challenges, LIFE_MS, oauth};
use crate::host::Host;
use crate::http::{Headers, Response};

impl Challenges {
    /// `GET /auth/start`: says who asks for what. `tools` are those that may be called.
    pub(crate) fn ask(
        this: Option<&Self>,
        query: &str,
        tools: impl Iterator<Item = &'static Tool>,
        host: &dyn Host,
    ) -> Response {
        let question = this.ok_or(FlowError::NoProvider).and_then(|this| {
            let token = parameter(query, "c").unwrap_or_default();
            let (claims, provider) = this.pending(&token, host)?;
            let (Addresses::Known { authorize: at, .. } | Addresses::Issuer(at)) =
                &provider.addresses;
            Ok(page::question(&ConsentPage {
                token: &token,
                provider: &provider.title,
                provider_address: at,
                application: &claims.o.application,
                user: &claims.o.user,
                tool: &claims.t,
                others: &others(&claims, tools),
                scopes: &claims.scopes(),
            }))
        });
        let page = question.unwrap_or_else(|stop| page::notice(stop.notice(), None));
        Self::secured(this, page)
    }

    /// `POST /auth/start`: marks the browser and sends it to the provider.
    pub(crate) async fn go(
        this: Option<&Self>,
        (query, headers): (&str, &dyn Headers),
        host: &dyn Host,
    ) -> Response {
        let token = parameter(query, "c").unwrap_or_default();
        let way = match this {
            Some(this) => this.way(&token, headers, host).await,
            None => Err(FlowError::NoProvider),
        };
        let page =
            way.unwrap_or_else(|stop| page::notice(stop.notice(), again(stop, &token).as_deref()));
        Self::secured(this, page)
    }

    async fn way(
        &self,
        token: &str,
        headers: &dyn Headers,
        host: &dyn Host,
    ) -> Result<Response, FlowError> {
        let (claims, provider) = self.pending(token, host)?;
        // Only our own page may send this form, for only that has told the user what it is about.
        let own = match headers.get("sec-fetch-site") {
            Some(site) => site == "same-origin",
            None => headers.get("origin").is_some_and(|origin| origin == self.origin),
        };
        if !own {
            return Err(FlowError::Foreign);
        }
        let server = oauth::server(provider, host).await?;
        let mark = random_text(host).map_err(|_| FlowError::Broken)?;
        let key = &self.vault.state;
        let state =
            State { i: claims.i.clone(), b: key.hash(TokenPurpose::Browser, &[&claims.i, &mark]) };
        let state = key.seal(TokenPurpose::State, &state, host.now_ms().saturating_add(LIFE_MS));
        let challenge = sha256_base64url(&key.hash(TokenPurpose::Verifier, &[&claims.i, &mark]));
        let (separator, callback) =
            (if server.authorize.contains('?') { '&' } else { '?' }, self.callback(provider));
        let mut query = Serializer::new(String::new());
        query.extend_pairs([
            ("response_type", "code"),
            ("client_id", &provider.client_id),
            ("redirect_uri", &callback),
            ("scope", &claims.scopes().join(" ")),
            ("state", &state),
            ("code_challenge", &challenge),
            ("code_challenge_method", "S256"),
        ]);
        query.extend_pairs(provider.extra);
        let location = format!("{}{separator}{}", server.authorize, query.finish());
        Ok(page::redirect(location)
            .with("set-cookie", cookie::set(&claims.i, &format!("{mark}.{token}"))))
    }
}

/// The tools that the grant would serve beside the one that asks: a grant belongs to the application
/// and not to one tool. Versions of a tool count as one.
fn others(claims: &ChallengeClaims, tools: impl Iterator<Item = &'static Tool>) -> Vec<String> {
    let scopes = claims.scopes();
    let granted = |scope: &&str| scopes.iter().any(|one| one == scope);
    let serves = |tool: &Tool| {
        let mut required = tool.authorization.iter();
        required.any(|it| it.id == claims.p && it.scopes.iter().all(granted))
    };
    let (asking, _) = claims.t.split_once('@').unwrap_or((&claims.t, ""));
    let mut others: Vec<String> = Vec::new();
    for tool in tools.filter(|tool| serves(tool)) {
        let name = format!("{}.{}", tool.toolkit, tool.tool);
        // The catalogue is sorted, so versions follow each other.
        if name != asking && others.last() != Some(&name) {
            others.push(name);
        }
    }
    others
}
