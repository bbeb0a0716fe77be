//! Runs the examples of every definition through the same pipeline as real calls.

use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::testing::{FakeHost, ProtocolTest, ToolTest};

use super::{CATALOG, EXAMPLES};

/// Fakes of all services that the tools call.
pub(crate) fn fake_services(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    if request.url.starts_with("https://api.github.com/") {
        return crate::github::stand_in::github(request);
    }
    if request.url.contains("api.open-meteo.com/") {
        return crate::weather::stand_in::open_meteo(request);
    }
    panic!("no fake answers {}", request.url)
}

#[test]
fn every_example_has_its_documented_outcome() {
    ToolTest::new(&CATALOG).upstream(fake_services).check_examples(EXAMPLES);
}

#[test]
fn every_example_has_its_outcome_in_every_protocol() {
    let test = ProtocolTest {
        catalog: &CATALOG,
        capabilities: server_tests::CAPABILITIES,
        host: || FakeHost {
            upstream: fake_services,
            ..FakeHost::with(&[("ANONYMOUS_SCOPES", "*")])
        },
    };
    test.check_examples(EXAMPLES);
}
