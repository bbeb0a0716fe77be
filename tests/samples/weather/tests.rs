//! Tests for failures of the weather API, and for finding cities.

use serde_json::json;
use toolbooth::ToolError;
use toolbooth::host::{HttpError, HttpResponse};
use toolbooth::testing::{ToolTest, Upstream, respond};

use super::stand_in::open_meteo;
use crate::CATALOG;

fn with(upstream: Upstream) -> ToolTest {
    ToolTest::new(&CATALOG).upstream(upstream)
}

#[test]
fn failures_of_the_upstream_are_tool_errors() {
    let again = |message: &str, ms| ToolError::new(message).retry_after_ms(ms);
    let rows: [(&str, Upstream, ToolError); 11] = [
        (
            "429",
            |_| respond(429, "{}"),
            again("The weather service received too many requests", 60_000),
        ),
        (
            "429 with Retry-After",
            |_| Ok(HttpResponse::new(429, "").retry_after_ms(7_000)),
            again("The weather service received too many requests", 7_000),
        ),
        (
            "500",
            |_| respond(500, "oops"),
            again("The weather service had an internal error", 2_000)
                .developer_message("Open-Meteo returned 500."),
        ),
        (
            "503",
            |_| respond(503, ""),
            again("The weather service had an internal error", 2_000)
                .developer_message("Open-Meteo returned 503."),
        ),
        (
            "400",
            |_| respond(400, "{}"),
            ToolError::new("The weather service rejected the request")
                .developer_message("Open-Meteo returned 400."),
        ),
        (
            "timeout",
            |_| Err(HttpError::Timeout),
            again("The weather service did not respond in time", 2_000),
        ),
        (
            "too large",
            |_| Err(HttpError::TooLarge),
            again("The weather service's response was too large", 2_000),
        ),
        (
            "down",
            |_| Err(HttpError::Unreachable("refused".to_owned())),
            again("The weather service could not be reached", 2_000),
        ),
        (
            "not JSON",
            |_| respond(200, "<html>"),
            again("The weather service returned an invalid response", 2_000),
        ),
        (
            "another format",
            |_| respond(200, r#"{"results":[{"name":1}]}"#),
            again("The weather service returned an invalid response", 2_000),
        ),
        (
            "forecast only is broken",
            |request| {
                if request.url.contains("/forecast") {
                    respond(200, "{}")
                } else {
                    open_meteo(request)
                }
            },
            again("The weather service returned an invalid response", 2_000),
        ),
    ];
    for (name, upstream, expected) in rows {
        let test = with(upstream);
        assert_eq!(
            test.error("Weather.Current@1.0.0", json!({"city": "Berlin"})),
            expected,
            "{name}"
        );
        let log = test.log();
        assert_eq!(log.len(), 1, "{name}: {log:?}");
        assert!(!log[0].contains("Berlin"), "{name}: the log contains the input: {log:?}");
    }
}

#[test]
fn cities_and_their_regions() {
    let near = Some("cities: Berlin, Germany; Bern, Switzerland");
    for (city, found, prompt) in [
        ("Berlin", Some("Germany"), None),
        (" Berlin , DE ", Some("Germany"), None),
        ("Berlin, state of berlin", Some("Germany"), None),
        ("Berlin, Italy", None, Some("cities: Berlin, Germany; Berlin, United States")),
        ("Berlyn", None, near),
        ("Xyzzy", None, None),
    ] {
        let (test, input) = (with(open_meteo), json!({"city": city}));
        if found.is_some() {
            let value = test.value("Weather.Current", input);
            assert_eq!(value["country"].as_str(), found, "{city}");
        } else {
            let error = test.error("Weather.Current", input);
            assert_eq!(error.message, "City not found", "{city}");
            assert_eq!(error.additional_prompt_content.as_deref(), prompt, "{city}");
            assert_eq!(error.can_retry, prompt.is_some(), "{city}");
        }
    }
}
