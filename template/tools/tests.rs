//! Runs the examples of every definition through the same pipeline as real calls.

use serde::Deserialize;
use toolbooth::catalog::Example;
use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::testing::{FakeHost, check_example};

use super::{CATALOG, EXAMPLES};

#[derive(Deserialize)]
struct Examples {
    id: String,
    examples: Vec<Example>,
}

/// Fakes of all services that the tools call.
pub(crate) fn world(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    panic!("no fake answers {}", request.url)
}

#[test]
fn every_example_has_its_documented_outcome() {
    let all: Vec<Examples> = serde_json::from_str(EXAMPLES).expect("the build generates valid JSON");
    let mut wrong = Vec::new();
    for Examples { id, examples } in &all {
        assert!(!examples.is_empty(), "{id} has no example");
        for example in examples {
            let host = FakeHost { upstream: world, ..FakeHost::default() };
            wrong.extend(check_example(&CATALOG, &host, id, example).err());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
