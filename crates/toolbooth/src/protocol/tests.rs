//! The table of protocols is complete and consistent.

use std::collections::BTreeSet;

use super::*;
use crate::built_in::{BUILT_IN, LISTS, samples};
use crate::call::tests::CATALOG;
use crate::catalog::{Catalog, List, ListForm, Lists};
use crate::http::tests::{Pairs, wire};
use crate::http::{Body, Method, Request};
use crate::route::{Credentials, Protocol};
use crate::server::Server;
use crate::testing::{FakeHost, ready};

/// Every list that a protocol serves.
fn list_forms() -> impl Iterator<Item = &'static ListForm> {
    LISTS.iter().flat_map(|it| it.forms).copied().flatten()
}

/// The protocols of all capabilities, with their mounts. Two capabilities can have the same protocol.
fn protocols() -> impl Iterator<Item = (&'static str, &'static Protocol)> {
    let mut found: Vec<(&str, &Protocol)> = Vec::new();
    for &(mount, protocol) in BUILT_IN.iter().flat_map(|it| it.protocols) {
        if !found.iter().any(|(known, it)| *known == mount && std::ptr::eq(*it, protocol)) {
            found.push((mount, protocol));
        }
    }
    found.into_iter()
}

#[test]
fn no_two_routes_have_the_same_address() {
    let mut known = BTreeSet::new();
    let routes = protocols().flat_map(|(mount, protocol)| {
        let routes = protocol.routes.iter();
        routes.map(move |it| (it.method.name(), format!("{mount}{}", it.path)))
    });
    for (method, path) in routes {
        assert!(known.insert((method, path.clone())), "{method} {path}");
    }
    assert!(protocols().any(|(mount, _)| mount.is_empty()), "the root matches every path");
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
    unique(list_forms().map(|form| form.name.to_owned()).collect());
    for (_, protocol) in protocols() {
        let routes = protocol.routes.iter();
        unique(routes.map(|it| format!("{} {}", it.method.name(), it.path)).collect());
    }
}

#[test]
fn every_list_that_a_route_serves_is_in_the_table() {
    // The entity tags tell which lists were served.
    let lists = list_forms().map(|form| List {
        name: form.name,
        body: "[]",
        head: 1,
        entries: &[],
        etag: form.name,
    });
    let lists = vec![Lists::all(lists.collect::<Vec<_>>().leak())].leak();
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
