//! The root of the host: what every client finds first. It speaks OXP, tells the other protocols
//! apart by the shape of a call, and says where each is mounted.

use std::sync::LazyLock;

use serde::Serialize;

use super::{
    Action, Dialect, Endpoint, Exchange, MOUNTS, Page, Posted, Reading, envelope, opentool, oxp,
};
use crate::http::Outbound;

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
    guarded: false,
};

/// Reads a call of any protocol that posts to the root, and answers in the form of the call.
fn call(posted: Posted<'_>) -> Exchange<'_> {
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
    #[derive(Serialize)]
    struct Index {
        name: &'static str,
        version: &'static str,
        protocols: Vec<Protocol>,
    }
    #[derive(Serialize)]
    struct Protocol {
        name: &'static str,
        title: &'static str,
        endpoints: Vec<Address>,
    }
    #[derive(Serialize)]
    struct Address {
        method: &'static str,
        path: String,
    }
    let address = |mount: &str, endpoint: &Endpoint| {
        let path = format!("{mount}{}", endpoint.path);
        Some(Address { method: endpoint.action.method()?, path })
    };
    // What is well known need not be named, and may not be there.
    let is_protocol = |(mount, _): &&(&str, &Dialect)| *mount != "/.well-known";
    let protocol = |(mount, dialect): &(&str, &Dialect)| Protocol {
        name: dialect.name,
        title: dialect.title,
        endpoints: dialect
            .endpoints
            .iter()
            .filter_map(|endpoint| address(mount, endpoint))
            .collect(),
    };
    let index = Index {
        name: "Toolbooth",
        version: env!("CARGO_PKG_VERSION"),
        protocols: MOUNTS.iter().filter(is_protocol).map(protocol).collect(),
    };
    serde_json::to_string(&index).unwrap_or_default()
}
