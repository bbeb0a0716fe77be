//! The routes of the chat gateway, which has the format of OpenAI Chat Completions, and its errors.

use serde::Serialize;

use super::providers::ErrorType;
use super::{
    Cors, EncodeRejection, Handler, Protocol, Route, get, post, rejection_response, version_free,
};
use crate::call::{Pipeline, Rejection};
use crate::http::Response;

/// The chat gateway.
pub(super) static GATEWAY: Protocol =
    protocol("gateway", "Chat gateway, with the format of OpenAI Chat Completions");
/// The same at the path of 2api.ai.
pub(super) static TWO_API: Protocol = protocol("2api", "Chat gateway, at the path of 2api.ai");

const ROUTES: &[Route] = &[
    Route { path: "/chat/completions", methods: &[post(Handler::Gateway(GatewayHandler::Chat))] },
    Route { path: "/models", methods: &[get(Handler::Gateway(GatewayHandler::Models))] },
];

const fn protocol(name: &'static str, title: &'static str) -> Protocol {
    Protocol {
        name,
        title,
        listed: true,
        routes: ROUTES,
        check_version: version_free,
        encode_rejection: EncodeRejection::Plain(encode_rejection),
        response_headers: &[],
        cors: Cors::Configured,
    }
}

/// What a route of the gateway does.
#[derive(Debug, Clone, Copy)]
pub enum GatewayHandler {
    /// Passes a conversation on to a model, and answers with a stream if the client asks for one.
    Chat,
    /// Lists the aliases and the providers.
    Models,
}

/// The body of an error.
#[derive(Serialize)]
pub(crate) struct ErrorBody<'a> {
    pub(crate) error: ErrorObject<'a>,
}

/// An error as OpenAI writes it.
#[derive(Serialize)]
pub(crate) struct ErrorObject<'a> {
    /// What went wrong, where, and what was expected.
    pub(crate) message: &'a str,
    pub(crate) r#type: ErrorType,
    /// The member of the request with the fault.
    pub(crate) param: Option<&'a str>,
    /// A stable word for programs.
    pub(crate) code: &'a str,
    /// What the provider does not support (2api.ai, 5.4).
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(crate) incompatible_features: &'a [String],
}

/// The response to a rejected request.
fn encode_rejection(rejection: &Rejection, _: &Pipeline) -> Response {
    let description = rejection.describe();
    let error = ErrorObject {
        message: &description.to_string(),
        r#type: ErrorType::of(description.kind),
        param: None,
        code: description.kind.code(),
        incompatible_features: &[],
    };
    rejection_response(description.kind.status(), rejection, &ErrorBody { error })
}
