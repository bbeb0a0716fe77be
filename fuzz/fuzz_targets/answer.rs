//! Any bytes as a request to the catalogue that is deployed: no panic, an answer in form.
#![no_main]

#[path = "../exchange.rs"]
mod exchange;

use libfuzzer_sys::fuzz_target;
use toolbooth::Booth;
use toolbooth::http::{Body, Headers, Inbound, Method};
use toolbooth::testing::{FakeHost, ready};

struct Pairs<'a>(&'a [(&'a str, &'a str)]);

impl Headers for Pairs<'_> {
    fn get(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let exchange::Request { method, path, headers, body } = exchange::request(bytes);
    let host = FakeHost::default();
    let request = Inbound {
        method: Method::from(method),
        path,
        query: "",
        headers: &Pairs(headers),
        body: Body::from(body.to_vec()),
    };
    let answer = ready(Booth::new(&toolbooth_tools::CATALOG, &host).answer(request, &host));
    let headers: Vec<_> =
        answer.headers.iter().map(|(name, value)| (*name, value.as_ref())).collect();
    let (status, body) = (answer.status, &answer.body);
    let answer = exchange::Answer { method, path, status, headers: &headers, body };
    if let Err(wrong) = exchange::check(&answer) {
        panic!("{wrong}");
    }
});
