//! The root of the host: what every client finds first. It speaks OXP, tells the other protocols
//! apart by the shape of a call, and says where each is mounted.

use std::sync::LazyLock;

use super::{
    Exchange, Handler, ListRequest, MOUNTS, Page, PostRequest, Protocol, Route, envelope, marks,
    opentool, oxp,
};
use crate::call::Rejection;
use crate::http::Response;
use crate::json::Writer;

/// The protocol of paths that no other mount has.
pub(super) static ROOT: Protocol = Protocol {
    name: "root",
    title: "Every protocol, told apart by the shape of a call",
    endpoints: &[
        Route { path: "/", action: Handler::Public(index) },
        Route { path: "/health", action: Handler::Health },
        Route { path: "/tools", action: Handler::Read(oxp::list) },
        Route { path: "/tools/call", action: Handler::Call(call) },
        Route { path: "/call", action: Handler::Call(call) },
        Route { path: "/version", action: Handler::Read(opentool::version) },
        Route { path: "/load", action: Handler::Read(opentool::load) },
    ],
    check: oxp::check_version,
    reject: |rejection| oxp::reject(oxp::Form::Flat, rejection),
    decorate: oxp::decorate,
    web_clients: false,
};

/// Reads a call of any protocol that posts to the root, and answers in the form of the call. One that
/// could be a call of JSON-RPC and of another protocol is refused in the root's own form.
fn call(posted: PostRequest<'_>) -> Exchange<'_> {
    let ambiguous = posted.body.as_object().filter(|body| body.contains("jsonrpc"));
    if let Some(Err(reason)) = ambiguous.map(|body| marks::only("jsonrpc", body)) {
        let rejection = Rejection::Malformed(reason);
        return Exchange::answered(oxp::reject(oxp::Form::Flat, rejection));
    }
    match &posted.body {
        body if opentool::is_request(body) => opentool::call(posted),
        body if body.get("request").is_some() || body.get("$schema").is_some() => {
            envelope::call(posted.body, envelope::OXP_1_0)
        }
        _ => oxp::call(posted),
    }
}

/// `GET /`: the mounted protocols and their addresses.
fn index(_: &ListRequest<'_>) -> Result<Page, Response> {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::of(addresses()));
    Ok(PAGE.lend())
}

fn addresses() -> String {
    let mut index = Writer::new();
    index.json("{").member("name").string("Toolbooth");
    index.member("version").string(env!("CARGO_PKG_VERSION"));
    // What is well known need not be named, and may not be there.
    let protocols = MOUNTS.iter().filter(|(mount, _)| *mount != "/.well-known");
    index.member("protocols").array(protocols, |index, (mount, protocol)| {
        index.json("{").member("name").string(protocol.name);
        index.member("title").string(protocol.title);
        let method = |one: &'static Route| Some((one.action.method()?, one.path));
        let addresses = protocol.endpoints.iter().filter_map(method);
        index.member("endpoints").array(addresses, |index, (method, path)| {
            index.json("{").member("method").string(method);
            index.member("path").string(&format!("{mount}{path}")).json("}");
        });
        index.json("}");
    });
    index.json("}");
    index.end()
}
