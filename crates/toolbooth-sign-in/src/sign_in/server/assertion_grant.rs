//! Tokens for the people of a company, whose identity provider has authorized the client: Enterprise-Managed Authorization
//! with ID-JAG assertions (draft-ietf-oauth-identity-assertion-authz-grant; RFC 7523).

use std::time::Duration;

use super::client_grant::ClientGrant;
use super::error::{INVALID_GRANT, INVALID_SCOPE, TEMPORARILY_UNAVAILABLE};
use super::proof::OfferedKey;
use super::token::Issue;
use super::{AuthorizationServer, Credentials, NAMED_SCOPES, OAuthError, Parameters, hash};
use crate::redirect_uri;
use crate::sign_in::login::Identity;
use crate::sign_in::login::enterprise::EnterpriseIssuer;
use crate::sign_in::marks::Mark;
use toolbooth::auth::{AssertionVerifier, AuthError, unverified_claim};
use toolbooth::http::Response;
use toolbooth::json::{Object, Value};
use toolbooth::principal::Scopes;
use toolbooth::route::RouteRequest;

/// The grant type (RFC 7523, 2.1).
pub(super) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// The profile of the grant that is supported.
pub(super) const ID_JAG_PROFILE: &str = "urn:ietf:params:oauth:grant-profile:id-jag";

/// The `typ` of the assertions, in lower case.
const ID_JAG_TYPE: &str = "oauth-id-jag+jwt";
/// The longest lifetime of an assertion, in seconds.
const LONGEST_SECONDS: f64 = 300.0;
/// The longest `jti`, in bytes.
const LONGEST_JTI: usize = 256;

/// An assertion was used. The mark outlives it, with the clock difference that is tolerated on both ends.
const USED: Mark = Mark { prefix: "id-jag", life: Duration::from_secs(600) };

/// An issuer of `ENTERPRISE_ISSUERS` with its keys.
#[derive(Debug)]
pub(super) struct Company {
    issuer: EnterpriseIssuer,
    verifier: AssertionVerifier,
}

impl Company {
    /// `audience` is the issuer identifier of this server.
    pub(super) fn new(issuer: EnterpriseIssuer, audience: &str) -> Self {
        let EnterpriseIssuer { issuer: name, jwks_uri, .. } = issuer.clone();
        let audiences = vec![audience.to_owned()];
        Self {
            verifier: AssertionVerifier::of_issuer(name, jwks_uri, audiences, ID_JAG_TYPE),
            issuer,
        }
    }
}

fn invalid(problem: &str) -> OAuthError {
    INVALID_GRANT.error(format!("the assertion was rejected: {problem}"))
}

impl AuthorizationServer {
    /// Whether a client may use the assertions of some company.
    pub(super) fn is_of_a_company(&self, client_id: &str) -> bool {
        self.companies.iter().any(|it| it.issuer.clients.iter().any(|id| id == client_id))
    }

    /// Exchanges the assertion of a company for an access token.
    pub(super) async fn exchange_assertion(
        &self,
        form: &Parameters,
        key: OfferedKey<'_>,
        request: &RouteRequest<'_>,
    ) -> Result<Response, OAuthError> {
        let RouteRequest { headers, host, .. } = *request;
        let credentials = Credentials::read(form, headers)?;
        let (client_name, document) = self.authenticate_confidential(&credentials, host).await?;
        let key = key.accept().await?;
        let client_id = credentials.client_id;
        let assertion = form.require("assertion")?;
        let company = self.company_of(assertion)?;
        let verified = company.verifier.verify(assertion, host).await;
        let claims = verified.map_err(|error| match error {
            AuthError::KeysUnavailable => TEMPORARILY_UNAVAILABLE.error(
                "the keys of the assertion's issuer cannot be fetched: try again in a few seconds",
            ),
            AuthError::Invalid { reason } | AuthError::Missing { expected: reason } => {
                invalid(reason)
            }
            _ => invalid("it is not valid"),
        })?;
        let jti = self.check_claims(&claims, company, &client_id)?;
        let account = self.login.asserted(&company.issuer, &claims, &client_id);
        let identity = Identity::Provider(account.map_err(invalid)?);
        let permitted = self.login.permitted(&identity);
        let permitted = permitted.ok_or_else(|| {
            INVALID_GRANT.error("ENTERPRISE_ISSUERS and SIGN_IN_DENIED do not admit this person; a rule about addresses needs `email`")
        })?;
        let scopes = self.asserted_scopes(form.get("scope"), claims.get("scope"), &permitted)?;
        // Last, so that a request with another mistake can be repeated.
        let id = format!("{} {jti}", hash(&company.issuer.issuer));
        if !self.marks.use_once(&USED, &id, host).await? {
            return Err(invalid("it was used before"));
        }
        let granted_ms = host.now_ms();
        let grant = ClientGrant {
            id: self.asserted_grant(&identity.subject(), &client_id, granted_ms),
            client: hash(&client_id),
            client_name,
            identity,
            scopes,
            offline: false,
            document,
            granted_ms,
        };
        let company = redirect_uri::destination(&company.issuer.issuer);
        self.record(&grant, (&company, None), false, host).await;
        self.issue(Issue::new(JWT_BEARER, client_id, grant, key), host)
    }

    /// The company that an assertion names, which is not verified yet.
    fn company_of(&self, assertion: &str) -> Result<&Company, OAuthError> {
        let issuer = unverified_claim(assertion, "iss");
        let issuer = issuer.ok_or_else(|| invalid("it is not a JSON Web Token with `iss`"))?;
        let company = self.companies.iter().find(|company| company.issuer.issuer == issuer);
        company.ok_or_else(|| invalid("its `iss` is not in ENTERPRISE_ISSUERS"))
    }

    /// Checks the claims that only these assertions have, and returns the `jti`.
    fn check_claims<'c>(
        &self,
        claims: &'c Object<'_>,
        company: &Company,
        client_id: &str,
    ) -> Result<&'c str, OAuthError> {
        let text = |name: &str| claims.get(name).and_then(Value::as_str);
        if text("client_id") != Some(client_id) {
            return Err(invalid("its `client_id` is not the client that has authenticated"));
        }
        if !company.issuer.clients.iter().any(|id| id == client_id) {
            return Err(invalid("its issuer may not authorize this client, by ENTERPRISE_ISSUERS"));
        }
        // The verifier has found this server in it.
        if claims.get("aud").and_then(Value::as_array).is_some_and(|all| all.len() != 1) {
            return Err(invalid("its `aud` must be this server alone"));
        }
        let is_own = |value: &Value<'_>| value.as_str().is_some_and(|it| self.is_own_resource(it));
        let is_for_us = match claims.get("resource") {
            None => true,
            Some(Value::Array(all)) => !all.is_empty() && all.iter().all(is_own),
            Some(one) => is_own(one),
        };
        if !is_for_us {
            return Err(invalid("its `resource` is not this server"));
        }
        let time = |name: &str| claims.get(name).and_then(Value::as_f64);
        let lifetime = time("exp").zip(time("iat")).map(|(end, start)| end - start);
        if !lifetime.is_some_and(|it| (0.0..=LONGEST_SECONDS).contains(&it)) {
            return Err(invalid("it must have `iat`, and `exp` at most 300 seconds later"));
        }
        let jti = text("jti").filter(|jti| (1..=LONGEST_JTI).contains(&jti.len()));
        jti.ok_or_else(|| invalid("its `jti` must be a string of 1 to 256 bytes"))
    }

    /// The scopes that the client asks for, the company asserts and the rules give; what is absent does not restrict the others.
    fn asserted_scopes(
        &self,
        requested: Option<&str>,
        asserted: Option<&Value<'_>>,
        permitted: &Scopes,
    ) -> Result<Vec<String>, OAuthError> {
        let asserted = match asserted {
            None => None,
            Some(Value::String(scope)) => Some(&**scope),
            Some(_) => return Err(invalid("its `scope` must be a string")),
        };
        let lists = [requested, asserted].map(|scope| scope.map(|it| it.split(' ').collect()));
        let scopes = self.common_scopes(&lists, permitted);
        match scopes.is_empty() && lists.iter().any(Option::is_some) {
            true => Err(INVALID_SCOPE.error("none of the scopes is asserted, and given by a rule")),
            false => Ok(scopes),
        }
    }

    /// The scopes of all these lists that `permitted` covers; a list that is absent does not restrict the others.
    pub(super) fn common_scopes(
        &self,
        lists: &[Option<Vec<&str>>],
        permitted: &Scopes,
    ) -> Vec<String> {
        let is_named = lists.iter().any(Option::is_some);
        let is_usual = |scope: &&str| is_named || !NAMED_SCOPES.contains(scope);
        let is_listed = |scope: &&str| lists.iter().flatten().all(|listed| listed.contains(scope));
        let scopes = self.login.available(permitted).into_iter();
        scopes.filter(is_usual).filter(is_listed).map(str::to_owned).collect()
    }
}
