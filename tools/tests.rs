//! Runs the examples of every definition through its handler, by the pipeline that serves calls.

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

/// The examples of each tool, in the order of the catalogue.
pub(crate) fn examples() -> Vec<Examples> {
    serde_json::from_str(EXAMPLES).expect("the build writes JSON")
}

/// All that the tools reach out to.
pub(crate) fn world(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    if request.url.starts_with("https://api.github.com/") {
        github::stand_in::github(request)
    } else {
        weather::stand_in::open_meteo(request)
    }
}

#[test]
fn every_example_is_true() {
    let all = examples();
    assert_eq!(all.len(), CATALOG.tools.len(), "one entry a tool");
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
