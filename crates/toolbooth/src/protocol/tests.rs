//! The table of protocols is complete and consistent.

use std::collections::BTreeSet;

use super::*;
use crate::built_in::{BUILT_IN, list_forms, samples};
use crate::call::tests::CATALOG;
use crate::catalog::{Catalog, List};
use crate::http::tests::{Pairs, wire};
use crate::http::{Body, Method, Request};
use crate::route::{Credentials, Protocol};
use crate::server::Server;
use crate::testing::{FakeHost, ready};

/// The protocols of all capabilities, with their mounts.
fn protocols() -> impl Iterator<Item = (&'static str, &'static Protocol)> {
    BUILT_IN.iter().flat_map(|it| it.protocols).copied()
}

#[test]
fn no_two_protocols_have_the_same_mount() {
    let mounts: Vec<&str> = protocols().map(|(mount, _)| mount).collect();
    assert_eq!(mounts.iter().collect::<BTreeSet<_>>().len(), mounts.len(), "{mounts:?}");
    assert!(mounts.contains(&""), "the root matches every path");
}

#[test]
fn names_of_protocols_paths_and_lists_are_unique() {
    let unique = |mut names: Vec<String>| {
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    };
    unique(protocols().map(|(_, protocol)| protocol.name.to_owned()).collect());
    unique(BUILT_IN.iter().map(|capability| capability.name.to_owned()).collect());
    unique(list_forms().map(|(_, form)| form.name.to_owned()).collect());
    for (_, protocol) in protocols() {
        let routes = protocol.routes.iter();
        unique(routes.map(|it| format!("{} {}", it.method.name(), it.path)).collect());
    }
}

#[test]
fn every_list_that_a_route_serves_is_in_the_table() {
    // The entity tags tell which lists were served.
    let lists = list_forms().map(|(_, form)| List {
        name: form.name,
        body: "[]",
        head: 1,
        entries: &[],
        etag: form.name,
    });
    let lists: &'static [&'static [List]] = vec![&*lists.collect::<Vec<_>>().leak()].leak();
    let catalog: &'static Catalog =
        Box::leak(Box::new(Catalog { tools: &[], names: &[], lists, ..*CATALOG }));
    for (mount, protocol) in protocols() {
        for route in protocol.routes {
            let policy = route.policy;
            let is_list = route.method == Method::Get
                && policy.credentials == Credentials::Needed
                && !policy.records_calls
                && route.handler.is_listed();
            if !is_list {
                continue;
            }
            let host = FakeHost::default();
            let path = &format!("{mount}{}", route.path);
            let (query, headers) = ("", &Pairs(&[]));
            let request = Request {
                own_origin: None,
                method: Method::Get,
                path,
                query,
                headers,
                body: Body::from(""),
            };
            let response = ready(Server::new(catalog, &host).answer(request, &host)).head;
            assert_eq!(response.status, 200, "{path} lacks a list: {}", wire(&response));
        }
    }
    let load = opentool::LIST.name;
    assert!(catalog.list(load).is_some(), "/load responds with {{}} if its list is missing");
}

#[test]
fn every_route_for_calls_has_a_sample() {
    for row in samples() {
        let routes = row.protocol.routes.iter();
        let calls = routes
            .filter(|route| route.method == Method::Post && route.policy.records_calls)
            .map(|route| format!("{}{}", row.mount, route.path));
        let sampled = row.paths().map(|(path, _)| path);
        assert_eq!(
            sampled.collect::<BTreeSet<_>>(),
            calls.collect::<BTreeSet<_>>(),
            "the samples of {} in the table of protocols",
            row.protocol.name
        );
    }
}
