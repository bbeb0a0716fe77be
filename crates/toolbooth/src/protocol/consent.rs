//! The routes of authorization challenges and grants, which users open in a browser and clients poll.

use super::route::{Cors, EncodeRejection, Handler, Protocol, Route, delete, get, post};
use super::{oxp, version_free};

/// A step of an authorization, or the deletion of its grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentHandler {
    /// Shows the user what they are asked to allow.
    Page,
    /// Redirects the user to the provider after they agreed.
    Begin,
    /// Receives the provider's redirect. Each provider has its own address, so that the response of another
    /// server is not taken for its response (RFC 9700, 4.4.2.2).
    Callback,
    /// Reports the status of a challenge.
    Check,
    /// Receives an application's confirmation of its user.
    Confirm,
    /// Deletes the user's grant.
    DeleteGrant,
}

/// The user's routes. The form must be sent from the page itself.
pub(super) static CONSENT: Protocol = Protocol {
    name: "consent",
    title: "Authorization challenges",
    listed: false,
    routes: &[
        Route {
            path: "/start",
            methods: &[
                get(Handler::Consent(ConsentHandler::Page)),
                post(Handler::Consent(ConsentHandler::Begin)),
            ],
        },
        Route {
            path: "/callback/{provider}",
            methods: &[get(Handler::Consent(ConsentHandler::Callback))],
        },
        Route { path: "/confirm", methods: &[post(Handler::Consent(ConsentHandler::Confirm))] },
        Route {
            path: "/grants/{provider}",
            methods: &[delete(Handler::Consent(ConsentHandler::DeleteGrant))],
        },
        Route { path: "/help/{provider}", methods: &[get(Handler::AuthorizationHelp)] },
    ],
    check_version: version_free,
    encode_rejection: EncodeRejection::Plain(oxp::encode_rejection),
    response_headers: &[],
    cors: Cors::SameOrigin,
};

/// The status of a challenge. Web pages of every origin may read it.
pub(super) static CHECK: Protocol = Protocol {
    name: "challenge-check",
    title: "Status of an authorization challenge",
    listed: false,
    routes: &[Route { path: "", methods: &[get(Handler::Consent(ConsentHandler::Check))] }],
    check_version: version_free,
    encode_rejection: EncodeRejection::Plain(oxp::encode_rejection),
    response_headers: &[],
    cors: Cors::AnyPage,
};
