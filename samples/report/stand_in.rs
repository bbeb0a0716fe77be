//! Stands in for the service: a page has as many words as its number, and the third is missing.

use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::testing::respond;

pub(crate) fn pages(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let number = request.url.rsplit('/').next().and_then(|page| page.parse().ok());
    match number {
        Some(3) | None => respond(404, "no such page"),
        Some(page) => respond(200, "word ".repeat(page)),
    }
}
