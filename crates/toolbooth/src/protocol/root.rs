//! The root of the host: what every client finds first. It speaks OXP, tells the other protocols
//! apart by the shape of a call, and says where each is mounted.

use std::sync::LazyLock;

use super::oxp::{Format, VERSION_HEADER};
use super::{
    CallResponse, Cors, Handler, PROTOCOLS, Page, PageError, PostRequest, Protocol, Route,
    envelope, get, marks, opentool, oxp, post,
};
use crate::call::{Rejection, RequestContext};
use crate::json::Writer;

/// The protocol of paths that no other mount matches.
pub(crate) static ROOT: Protocol = Protocol {
    name: "root",
    title: "Every protocol, told apart by the shape of a call",
    listed: true,
    routes: &[
        Route { path: "/", methods: &[get(Handler::Public(index))] },
        Route { path: "/health", methods: &[get(Handler::Health)] },
        Route { path: "/tools", methods: &[get(oxp::LIST_TOOLS)] },
        Route { path: "/tools/call", methods: &[post(Handler::Call(call))] },
        Route { path: "/call", methods: &[post(Handler::Call(call))] },
        Route { path: "/version", methods: &[get(Handler::List(opentool::version))] },
        Route { path: "/load", methods: &[get(Handler::List(opentool::load))] },
    ],
    check_version: oxp::check_version,
    encode_rejection: oxp::encode_rejection,
    response_headers: VERSION_HEADER,
    cors: Cors::Configured,
};

/// Reads a call of any protocol that posts to the root, and answers in the form of the call. One that
/// could be a call of JSON-RPC and of another protocol is refused in the root's own form.
fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    let body = &request.body;
    let ambiguous = body.as_object().filter(|body| body.contains("jsonrpc"));
    if let Some(Err(reason)) = ambiguous.map(|body| marks::only("jsonrpc", body)) {
        let rejection = Rejection::Malformed(reason);
        return Box::pin(async move { Ok(oxp::reject(Format::Flat, &rejection)) });
    }
    if opentool::is_request(body) {
        opentool::call(request)
    } else if body.get("request").is_some() || body.get("$schema").is_some() {
        envelope::call_oxp(request)
    } else {
        oxp::call(request)
    }
}

/// `GET /`: the protocols with their addresses.
fn index(_: &RequestContext<'_>) -> Result<Page, PageError> {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::new(addresses()));
    Ok(PAGE.borrowed())
}

fn addresses() -> String {
    let mut index = Writer::new();
    index.json("{").member("name").string("Toolbooth");
    index.member("version").string(env!("CARGO_PKG_VERSION"));
    let protocols = PROTOCOLS.iter().filter(|(_, protocol)| protocol.listed);
    index.member("protocols").array(protocols, |index, (mount, protocol)| {
        index.json("{").member("name").string(protocol.name);
        index.member("title").string(protocol.title);
        let endpoints = protocol.routes.iter().flat_map(|route| {
            let listed = route.methods.iter().filter(|one| one.handler.is_listed());
            listed.map(|one| (one.method.name(), route.path))
        });
        index.member("endpoints").array(endpoints, |index, (method, path)| {
            index.json("{").member("method").string(method);
            index.member("path").string(&format!("{mount}{path}")).json("}");
        });
        index.json("}");
    });
    index.json("}");
    index.end()
}
