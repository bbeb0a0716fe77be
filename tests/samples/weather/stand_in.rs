//! A fake Open-Meteo API for the tests, with the same responses as in the Worker's tests.

use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::testing::respond;

const BERLIN: &str = include_str!("responses/search-berlin.json");
const NEAR: &str = include_str!("responses/search-near.json");
const NONE: &str = include_str!("responses/search-none.json");
const CURRENT: &str = include_str!("responses/forecast-current.json");
const DAILY: &str = include_str!("responses/forecast-daily.json");

/// Responds like Open-Meteo.
pub(crate) fn open_meteo(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    let url = request.url.as_ref();
    let body = if url.starts_with("https://geocoding-api.open-meteo.com/v1/search?name=") {
        match url.split(['=', '&']).nth(1) {
            Some("Berlin") => BERLIN,
            Some("Ber") => NEAR,
            _ => NONE,
        }
    } else if url
        .starts_with("https://api.open-meteo.com/v1/forecast?latitude=52.52437&longitude=13.41053&")
    {
        if url.contains("&daily=") { DAILY } else { CURRENT }
    } else {
        return respond(400, r#"{"error":true,"reason":"no such thing"}"#);
    };
    respond(200, body)
}
