//! The routes of sign-in: the authorization endpoint and the account, which people open in a browser, and the endpoints
//! for clients.

use super::route::{Cors, EncodeRejection, Handler, Protocol, Route, get, post};
use super::{oxp, version_free};
use crate::call::{Pipeline, Rejection, RejectionKind};
use crate::http::Response;
use crate::sign_in::{OAuthError, OAuthErrorCode};

/// A step of a sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInHandler {
    /// Asks for consent.
    Authorize,
    /// Receives the form of the consent page, or of the page for signing in.
    Consent,
    /// People sign in to open a page of the server.
    SignIn,
    /// Issues tokens.
    Token,
    /// Registers a client.
    Register,
    /// Revokes a grant.
    Revoke,
    /// Returns the metadata of the authorization server.
    Metadata,
    /// Shows somebody what they have allowed.
    Account,
    /// Receives a form of that page.
    ChangeAccount,
}

/// The authorization endpoint. The form must be sent from its page.
pub(super) static AUTHORIZATION: Protocol = Protocol {
    name: "authorize",
    title: "OAuth 2.1 authorization endpoint",
    listed: false,
    routes: &[
        Route {
            path: "",
            methods: &[
                get(Handler::SignIn(SignInHandler::Authorize)),
                post(Handler::SignIn(SignInHandler::Consent)),
            ],
        },
        Route { path: "/sign-in", methods: &[get(Handler::SignIn(SignInHandler::SignIn))] },
    ],
    check_version: version_free,
    encode_rejection: EncodeRejection::Plain(encode_rejection),
    response_headers: &[],
    cors: Cors::SameOrigin,
};

/// The page of somebody's account. Its forms must be sent from it.
pub(super) static ACCOUNT: Protocol = Protocol {
    name: "account",
    title: "Account page",
    listed: false,
    routes: &[Route {
        path: "",
        methods: &[
            get(Handler::SignIn(SignInHandler::Account)),
            post(Handler::SignIn(SignInHandler::ChangeAccount)),
        ],
    }],
    check_version: version_free,
    encode_rejection: EncodeRejection::Plain(oxp::encode_rejection),
    response_headers: &[],
    cors: Cors::SameOrigin,
};

/// The endpoints for clients. The pages that may call at `/mcp` may use them.
pub(super) static CLIENTS: Protocol = Protocol {
    name: "oauth",
    title: "OAuth 2.1 token endpoint",
    listed: false,
    routes: &[
        Route { path: "/token", methods: &[post(Handler::SignIn(SignInHandler::Token))] },
        Route { path: "/register", methods: &[post(Handler::SignIn(SignInHandler::Register))] },
        Route { path: "/revoke", methods: &[post(Handler::SignIn(SignInHandler::Revoke))] },
    ],
    check_version: version_free,
    encode_rejection: EncodeRejection::Plain(encode_rejection),
    response_headers: &[],
    cors: Cors::WebClients,
};

/// Encodes a rejection as an error of OAuth.
fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    let description = rejection.describe();
    let code = match description.kind {
        RejectionKind::TooManyRequests | RejectionKind::Unavailable => {
            OAuthErrorCode::TemporarilyUnavailable
        }
        RejectionKind::Internal => OAuthErrorCode::ServerError,
        RejectionKind::NotFound
        | RejectionKind::NotServed
        | RejectionKind::MethodNotAllowed
        | RejectionKind::ForbiddenOrigin
        | RejectionKind::PayloadTooLarge
        | RejectionKind::UnsupportedMediaType
        | RejectionKind::InvalidJson
        | RejectionKind::Malformed
        | RejectionKind::UnsupportedVersion
        | RejectionKind::InvalidToolId
        | RejectionKind::UnknownTool
        | RejectionKind::UnknownVersion
        | RejectionKind::ToolNotAllowed
        | RejectionKind::Unauthenticated
        | RejectionKind::MissingScope
        | RejectionKind::MissingRequirements
        | RejectionKind::CannotAsk => OAuthErrorCode::InvalidRequest,
    };
    let status = description.kind.status();
    let mut response = OAuthError::new(code, description.to_string()).with_status(status);
    if let Some((name, value)) = rejection.header() {
        response.headers.retain(|(known, _)| *known != name);
        response.headers.push((name, value.into()));
    }
    response
}
