//! The root of the host: the index of all endpoints, and calls of the protocols that a body identifies.

use serde::Serialize;

use super::envelope::OXP_1_0;
use super::health::HEALTH;
use super::other_protocol::check_discriminators;
use super::oxp::{Format, VERSION_HEADER};
use super::sample::{CALLS, FLAT, OPENTOOL, OTC, OXP_ENVELOPE};
use super::{envelope, opentool, oxp};
use crate::call::Rejection;
use crate::catalog::ServerInfo;
use crate::http::Answer;
use crate::json;
use crate::route::{
    CallResponse, Calls, Document, Endpoint, Page, Policy, PostRequest, Protocol, Route,
    RouteRequest, State, for_tests,
};

/// The protocol of paths that no other mount matches.
pub(crate) static ROOT: Protocol = Protocol {
    routes: &[
        Route::get("/", Policy::PUBLIC, &index),
        HEALTH,
        oxp::LIST_TOOLS,
        Route::post("/tools/call", Policy::CALLS, &Calls(call)),
        Route::post("/call", Policy::CALLS, &Calls(call)),
        Route::get("/version", Policy::CALLER, &Document(opentool::version)),
        Route::get("/load", Policy::CALLER, &Document(opentool::load)),
    ],
    check_version: oxp::check_version,
    response_headers: VERSION_HEADER,
    samples: for_tests(&[
        (CALLS, &FLAT),
        (CALLS, &OXP_ENVELOPE),
        (CALLS, &OTC),
        (CALLS, &OPENTOOL),
    ]),
    ..Protocol::new(
        "root",
        "Flat OXP, envelopes and OpenTool, recognized by the body",
        oxp::FLAT_ERRORS,
    )
};

/// Serves a call of flat OXP, of an envelope or of OpenTool, in its own format. A body that could be a
/// call of JSON-RPC and of another protocol is rejected.
fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    let body = &request.body;
    if let Some(members) = body.as_object()
        && members.contains("jsonrpc")
        && let Err(reason) = check_discriminators("jsonrpc", members)
    {
        let rejection = Rejection::Malformed(reason);
        return Box::pin(async move { Ok(oxp::reject(Format::Flat, &rejection)) });
    }
    if opentool::is_request(body) {
        opentool::call(request)
    } else if body.get("request").is_some() || body.get("$schema").is_some() {
        envelope::call(request, OXP_1_0)
    } else {
        oxp::call(request)
    }
}

/// `GET /`: the protocols with their endpoints.
async fn index<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    #[derive(Serialize)]
    struct Index {
        name: &'static str,
        version: &'static str,
        protocols: Vec<IndexedProtocol>,
    }
    #[derive(Serialize)]
    struct IndexedProtocol {
        name: &'static str,
        title: &'static str,
        endpoints: Vec<Endpoint>,
    }
    (request.protocol.check_version)(request.headers)?;
    let State { pipeline, capabilities, .. } = request.state;
    let listed = capabilities.protocols().filter(|(_, protocol, _)| protocol.listed);
    let protocols = listed.map(|(mount, protocol, _)| IndexedProtocol {
        name: protocol.name,
        title: protocol.title,
        endpoints: protocol.endpoints(mount).collect(),
    });
    let ServerInfo { title: name, version, .. } = pipeline.catalog.server;
    let index = Index { name, version, protocols: protocols.collect() };
    Ok(Page::new(json::to_string(&index)).shared(request.headers).into())
}
