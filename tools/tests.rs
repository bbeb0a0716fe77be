//! Runs the examples of every definition through the same pipeline as real calls.

use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::testing::ToolTest;

use super::{CATALOG, EXAMPLES};

/// Fakes of all services that the tools call.
pub(crate) fn fake_services(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    panic!("no fake answers {}", request.url)
}

#[test]
fn every_example_has_its_documented_outcome() {
    ToolTest::new(&CATALOG).upstream(fake_services).check_examples(EXAMPLES);
}
