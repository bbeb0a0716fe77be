//! The routes of authorization challenges and grants. They belong to no protocol of calls: a user's
//! browser and the client that waits for the user come here.

use super::route::{Cors, Handler, Protocol, Route, delete, get, post};
use super::{oxp, version_free};

/// A step of an authorization, or what follows one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentHandler {
    /// Shows the user who asks for what.
    Page,
    /// Sends a user who agrees to the provider.
    Begin,
    /// Where the provider sends the user back. Each provider has its own address, so that no other
    /// server's answer is taken for its answer (RFC 9700, 4.4.2.2).
    Callback,
    /// Reports the status of a challenge.
    Check,
    /// Deletes the user's grant.
    DeleteGrant,
}

/// The user's way. The form of the page must come from the page itself.
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
        Route {
            path: "/grants/{provider}",
            methods: &[delete(Handler::Consent(ConsentHandler::DeleteGrant))],
        },
    ],
    check_version: version_free,
    encode_rejection: oxp::encode_rejection,
    response_headers: &[],
    cors: Cors::SameOrigin,
};

/// The status of a challenge, which the page of any client may read.
pub(super) static CHECK: Protocol = Protocol {
    name: "challenge-check",
    title: "Status of an authorization challenge",
    listed: false,
    routes: &[Route { path: "", methods: &[get(Handler::Consent(ConsentHandler::Check))] }],
    check_version: version_free,
    encode_rejection: oxp::encode_rejection,
    response_headers: &[],
    cors: Cors::AnyPage,
};
