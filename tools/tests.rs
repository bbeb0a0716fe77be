//! Runs the examples of every definition through the same pipeline as real calls.

use serde::Deserialize;
use toolbooth::catalog::Example;
use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::testing::{FakeHost, check_example};

use super::{CATALOG, EXAMPLES, github, weather};

#[derive(Deserialize)]
pub(crate) struct Examples {
    pub(crate) id: String,
    pub(crate) examples: Vec<Example>,
}

/// The examples of each tool, in catalogue order.
pub(crate) fn examples() -> Vec<Examples> {
    serde_json::from_str(EXAMPLES).expect("the build generates valid JSON")
}

/// Fakes of all upstream services.
pub(crate) fn world(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    if request.url.starts_with("https://api.github.com/") {
        github::stand_in::github(request)
    } else {
        weather::stand_in::open_meteo(request)
    }
}

#[test]
fn every_example_has_its_documented_outcome() {
    let all = examples();
    assert_eq!(all.len(), CATALOG.tools.len(), "one entry per tool");
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
