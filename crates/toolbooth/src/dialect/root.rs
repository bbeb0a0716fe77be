//! The root of the host: what every client finds first. It speaks OXP, tells the other protocols
//! apart by the shape of a call, and says where each is mounted.

use std::sync::LazyLock;

use super::{
    Action, Dialect, Endpoint, Exchange, MOUNTS, Page, Posted, Reading, envelope, marks, opentool,
    oxp,
};
use crate::call::Refusal;
use crate::http::Outbound;
use crate::json::Writer;

/// The dialect of paths that no other mount has.
pub(super) static ROOT: Dialect = Dialect {
    name: "root",
    title: "Every protocol, told apart by the shape of a call",
    endpoints: &[
        Endpoint { path: "/", action: Action::Public(index) },
        Endpoint { path: "/health", action: Action::Health },
        Endpoint { path: "/tools", action: Action::Read(oxp::list) },
        Endpoint { path: "/tools/call", action: Action::Call(call) },
        Endpoint { path: "/call", action: Action::Call(call) },
        Endpoint { path: "/version", action: Action::Read(opentool::version) },
        Endpoint { path: "/load", action: Action::Read(opentool::load) },
    ],
    check: oxp::check_version,
    refuse: |refusal| oxp::refuse(oxp::Form::Flat, refusal),
    sign: oxp::sign,
    web_clients: false,
};

/// Reads a call of any protocol that posts to the root, and answers in the form of the call. One that
/// could be a call of JSON-RPC and of another protocol is refused in the root's own form.
fn call(posted: Posted<'_>) -> Exchange<'_> {
    let ambiguous = posted.body.as_object().filter(|body| body.contains("jsonrpc"));
    if let Some(Err(reason)) = ambiguous.map(|body| marks::only("jsonrpc", body)) {
        let refusal = Refusal::Malformed(reason);
        return Exchange::answered(oxp::refuse(oxp::Form::Flat, refusal));
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
fn index(_: &Reading<'_>) -> Result<Page, Outbound> {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::of(addresses()));
    Ok(PAGE.lend())
}

fn addresses() -> String {
    let mut index = Writer::new();
    index.json("{").member("name").string("Toolbooth");
    index.member("version").string(env!("CARGO_PKG_VERSION"));
    // What is well known need not be named, and may not be there.
    let protocols = MOUNTS.iter().filter(|(mount, _)| *mount != "/.well-known");
    index.member("protocols").array(protocols, |index, (mount, dialect)| {
        index.json("{").member("name").string(dialect.name);
        index.member("title").string(dialect.title);
        let method = |one: &'static Endpoint| Some((one.action.method()?, one.path));
        let addresses = dialect.endpoints.iter().filter_map(method);
        index.member("endpoints").array(addresses, |index, (method, path)| {
            index.json("{").member("method").string(method);
            index.member("path").string(&format!("{mount}{path}")).json("}");
        });
        index.json("}");
    });
    index.json("}");
    index.end()
}
