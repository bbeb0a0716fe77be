//! Tests for failures of the weather API, and for finding cities.

use serde_json::json;
use toolbooth::ToolError;
use toolbooth::call::{Nulls, Outcome, ToolRequest, ToolSelector};
use toolbooth::host::{HttpError, HttpResponse};
use toolbooth::principal::Principal;
use toolbooth::testing::{FakeHost, Upstream, call_tool};
use toolbooth::tool::{Credentials, Dialogue};

use super::stand_in::{answer, open_meteo};
use crate::CATALOG;

fn current(city: &str, upstream: Upstream) -> (Outcome, Vec<String>) {
    let host = FakeHost { upstream, ..FakeHost::default() };
    let input = json!({"city": city});
    let call = ToolRequest {
        tool: ToolSelector::Id("Weather.Current@1.0.0".into()),
        call_id: None,
        input: (&input).into(),
        nulls: Nulls::Exact,
        credentials: Credentials::default(),
        dialogue: Dialogue::default(),
    };
    let outcome = call_tool(call, &CATALOG, &Principal::ANONYMOUS, &host);
    (outcome, host.log.into_inner())
}

#[test]
fn failures_of_the_upstream_are_tool_errors() {
    let again = |message: &str, ms| ToolError::new(message).retry_after_ms(ms);
    let rows: [(&str, Upstream, ToolError); 11] = [
        (
            "429",
            |_| answer(429, "{}"),
            again("The weather service received too many requests", 60_000),
        ),
        (
            "429 with Retry-After",
            |_| Ok(HttpResponse::new(429, "").retry_after_ms(7_000)),
            again("The weather service received too many requests", 7_000),
        ),
        (
            "500",
            |_| answer(500, "oops"),
            again("The weather service had an internal error", 2_000)
                .developer_message("Open-Meteo returned 500."),
        ),
        (
            "503",
            |_| answer(503, ""),
            again("The weather service had an internal error", 2_000)
                .developer_message("Open-Meteo returned 503."),
        ),
        (
            "400",
            |_| answer(400, "{}"),
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
            |_| answer(200, "<html>"),
            again("The weather service returned an invalid response", 2_000),
        ),
        (
            "another format",
            |_| answer(200, r#"{"results":[{"name":1}]}"#),
            again("The weather service returned an invalid response", 2_000),
        ),
        (
            "forecast only is broken",
            |request| {
                if request.url.contains("/forecast") {
                    answer(200, "{}")
                } else {
                    open_meteo(request)
                }
            },
            again("The weather service returned an invalid response", 2_000),
        ),
    ];
    for (name, upstream, expected) in rows {
        let (outcome, log) = current("Berlin", upstream);
        let Outcome::Failed { error, .. } = outcome else { panic!("{name}: {outcome:?}") };
        assert_eq!(error, expected, "{name}");
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
        match current(city, open_meteo).0 {
            Outcome::Done { value, .. } => assert_eq!(value["country"].as_str(), found, "{city}"),
            Outcome::Failed { error, .. } => {
                assert_eq!((None, "City not found"), (found, error.message.as_str()), "{city}");
                assert_eq!(error.additional_prompt_content.as_deref(), prompt, "{city}");
                assert_eq!(error.can_retry, prompt.is_some(), "{city}");
            }
            other => panic!("{city}: {other:?}"),
        }
    }
}
