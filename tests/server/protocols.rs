//! The table of protocols is complete and consistent.

use std::collections::BTreeSet;

use crate::{CAPABILITIES, call_samples};
use toolbooth::catalog::{Catalog, List, ListBody, ListForm, Lists};
use toolbooth::http::{Body, Method, Request};
use toolbooth::protocol;
use toolbooth::route::{Credentials, Protocol};
use toolbooth::server::Server;
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::{FakeHost, ready};
use toolbooth::testing::{Pairs, wire};
use toolbooth_gateway::providers;

/// Every list that a protocol serves.
fn list_forms() -> impl Iterator<Item = &'static ListForm> {
    let lists = protocol::LISTS.iter().chain([&providers::LISTS]);
    lists.flat_map(|it| it.forms).copied().flatten()
}

/// The protocols of all capabilities, with their mounts. Two capabilities can have the same protocol.
fn protocols() -> impl Iterator<Item = (&'static str, &'static Protocol)> {
    let mut found: Vec<(&str, &Protocol)> = Vec::new();
    for &(mount, protocol) in CAPABILITIES.iter().flat_map(|it| it.protocols) {
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
    unique(CAPABILITIES.iter().map(|capability| capability.name.to_owned()).collect());
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
        body: ListBody::Plain("[]"),
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
                && !route.path.contains('{')
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
            let response =
                ready(Server::new(catalog, CAPABILITIES, &host).answer(request, &host)).head;
            assert_eq!(response.status, 200, "{path} lacks a list: {}", wire(&response));
        }
    }
    let load = "opentool";
    assert!(catalog.list(load).is_some(), "/load responds with {{}} if its list is missing");
}

#[test]
fn every_route_for_calls_has_a_sample() {
    let calls = protocols().flat_map(|(mount, protocol)| {
        let routes = protocol.routes.iter();
        let calls = routes.filter(|it| it.method == Method::Post && it.policy.records_calls);
        calls.map(move |route| format!("{mount}{}", route.path))
    });
    let sampled = call_samples().map(|(_, path, _)| path);
    assert_eq!(sampled.collect::<BTreeSet<_>>(), calls.collect::<BTreeSet<_>>());
}

#[test]
fn every_protocol_with_calls_is_explained() {
    let formats: String = CAPABILITIES.iter().flat_map(|it| it.call_forms).copied().collect();
    // Flat OXP is explained at the root.
    for (mount, protocol) in protocols().filter(|(mount, _)| !matches!(*mount, "" | "/oxp")) {
        let paths = protocol.samples.iter().flat_map(|(paths, _)| *paths);
        let mut paths = paths.map(|path| format!("{mount}{path}")).peekable();
        assert!(paths.peek().is_none() || paths.any(|path| formats.contains(&path)), "{mount}");
    }
}
