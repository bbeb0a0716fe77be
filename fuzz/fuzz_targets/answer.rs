//! Fuzzes the deployed tools: sends the bytes as a request and as the body of each operation in docs/contracts, and
//! validates every response against its contract.
#![no_main]

use libfuzzer_sys::fuzz_target;
use server_tests::exchange::{self, Answer, Request};
use toolbooth::Server;
use toolbooth::http::{Body, Headers, Method};
use toolbooth::testing::{FakeHost, ready};

struct Pairs<'a>(&'a [(&'a str, &'a str)]);

impl Headers for Pairs<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let request = exchange::request(bytes);
    send(&request);
    for (method, path) in exchange::operations() {
        if method == "POST" {
            send(&Request { method: &method, path: &path, ..request });
        }
    }
});

fn send(&Request { method, path, headers, body }: &Request<'_>) {
    let host = FakeHost::default();
    let request = toolbooth::http::Request {
        method: Method::from(method),
        path,
        query: "",
        own_origin: None,
        headers: &Pairs(headers),
        body: Body::from(body.to_vec()),
    };
    let response = ready(Server::new(&toolbooth_tools::CATALOG, server_tests::CAPABILITIES, &host).answer(request, &host)).head;
    let headers: Vec<_> = response.headers.iter().map(|(name, value)| (*name, &**value)).collect();
    let (status, body) = (response.status, &response.body);
    if let Err(error) = exchange::check(&Answer { method, path, status, headers: &headers, body }) {
        panic!("{error}");
    }
}
