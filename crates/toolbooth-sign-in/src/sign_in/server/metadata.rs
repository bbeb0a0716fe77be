//! Authorization server metadata (RFC 8414).

use serde::Serialize;

use super::assertion_grant::{ID_JAG_PROFILE, JWT_BEARER};
use super::client_credentials::CLIENT_CREDENTIALS;
use super::token::{CODE, REFRESH};
use super::token_exchange::TOKEN_EXCHANGE;
use super::{AuthorizationServer, RegistrationMode};
use crate::oauth::OFFLINE_ACCESS;
use crate::paths::{AUTHORIZE, REGISTER, REVOKE, TOKEN};
use toolbooth::auth::PROOF_ALGORITHMS;
use toolbooth::call::Rejection;
use toolbooth::http::{Answer, Response};
use toolbooth::json;
use toolbooth::route::RouteRequest;

/// The methods with which clients authenticate. Some clients use metadata documents only if `none` is among them.
const AUTH_METHODS: [&str; 4] =
    ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"];

/// The metadata document (RFC 8414, 2).
#[derive(Serialize)]
struct Metadata<'a> {
    issuer: &'a str,
    authorization_endpoint: String,
    token_endpoint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    registration_endpoint: Option<String>,
    revocation_endpoint: String,
    response_types_supported: [&'static str; 1],
    response_modes_supported: [&'static str; 1],
    grant_types_supported: Vec<&'static str>,
    /// The profiles of the grant types (draft-ietf-oauth-identity-assertion-authz-grant).
    #[serde(skip_serializing_if = "Option::is_none")]
    authorization_grant_profiles_supported: Option<[&'static str; 1]>,
    code_challenge_methods_supported: [&'static str; 1],
    token_endpoint_auth_methods_supported: [&'static str; 4],
    token_endpoint_auth_signing_alg_values_supported: [&'static str; 4],
    revocation_endpoint_auth_methods_supported: [&'static str; 4],
    /// The algorithms of proofs (RFC 9449, 5.1).
    dpop_signing_alg_values_supported: [&'static str; 4],
    scopes_supported: Vec<&'static str>,
    client_id_metadata_document_supported: bool,
    authorization_response_iss_parameter_supported: bool,
    protected_resources: [&'a str; 1],
}

/// Returns the metadata of the authorization server.
pub(crate) async fn metadata<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let server = AuthorizationServer::of(request)?;
    let issuer = &*server.login.settings.public_url;
    let mode = server.settings.registration;
    let at = |path: &str| format!("{issuer}{path}");
    let companies = Some(JWT_BEARER).filter(|_| !server.companies.is_empty());
    let actors = Some(TOKEN_EXCHANGE).filter(|_| server.has_actors());
    let machines = Some(CLIENT_CREDENTIALS).filter(|_| server.has_machines());
    let metadata = json::to_vec(&Metadata {
        issuer,
        authorization_endpoint: at(AUTHORIZE),
        token_endpoint: at(TOKEN),
        registration_endpoint: (mode == RegistrationMode::Open).then(|| at(REGISTER)),
        revocation_endpoint: at(REVOKE),
        response_types_supported: ["code"],
        response_modes_supported: ["query"],
        grant_types_supported: [CODE, REFRESH]
            .into_iter()
            .chain(companies)
            .chain(machines)
            .chain(actors)
            .collect(),
        authorization_grant_profiles_supported: companies.map(|_| [ID_JAG_PROFILE]),
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: AUTH_METHODS,
        token_endpoint_auth_signing_alg_values_supported: ["RS256", "ES256", "EdDSA", "Ed25519"],
        revocation_endpoint_auth_methods_supported: AUTH_METHODS,
        dpop_signing_alg_values_supported: PROOF_ALGORITHMS,
        scopes_supported: server.login.scopes.iter().copied().chain([OFFLINE_ACCESS]).collect(),
        client_id_metadata_document_supported: mode != RegistrationMode::None,
        authorization_response_iss_parameter_supported: true,
        protected_resources: [&server.resource],
    });
    Ok(Response::json(200, metadata).with("cache-control", "no-cache").into())
}
