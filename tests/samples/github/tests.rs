//! Tests for the requests of the GitHub tools, and for failures of the API.

use serde_json::{Value, json};
use toolbooth::ToolError;
use toolbooth::call::{Outcome, Rejection};
use toolbooth::host::{HttpError, HttpResponse};
use toolbooth::testing::{ToolTest, Upstream, respond};

use super::stand_in::github;
use crate::CATALOG;

const CREATE: &str = "GitHub.CreateIssue";
const LIST: &str = "GitHub.ListIssues";

fn with(upstream: Upstream) -> ToolTest {
    ToolTest::new(&CATALOG).token("github", "gh-token").upstream(upstream)
}

fn new_issue() -> Value {
    json!({"owner": "octocat", "repository": "hello-world", "title": "Found a bug"})
}

#[test]
fn requests_have_the_documented_format() {
    let test = with(github);
    test.value(CREATE, new_issue());
    let [request] = &test.requests()[..] else { panic!("one request") };
    assert_eq!(request.to_string(), "POST https://api.github.com/repos/octocat/hello-world/issues");
    assert_eq!(request.header("authorization"), Some("Bearer gh-token"));
    assert!(request.header("user-agent").is_some(), "GitHub rejects requests without it");
    assert_eq!(request.body, br#"{"title":"Found a bug"}"#);

    let test = with(|_| respond(200, "[]"));
    let input = json!({"owner": "a", "repository": "b", "state": "all", "page": 2});
    test.value(LIST, input);
    let url = "https://api.github.com/repos/a/b/issues?state=all&per_page=30&page=2";
    assert_eq!(test.requests()[0].url, url);
}

/// `tests/github.test.mjs` checks the requests that reach a server.
#[test]
fn invalid_names_are_rejected() {
    let long = ["a".repeat(40), "a".repeat(101)];
    for (owner, repository, good) in [
        ("octocat", "hello-world", true),
        ("0-a-b", "a", true),
        // Names of enterprise-managed users have an underscore.
        ("ada_acme", "_", true),
        ("octocat", ".github", true),
        ("octocat", "..a.b_c-d", true),
        ("octocat", "a..", true),
        ("octocat", "", false),
        ("octocat", ".", false),
        ("octocat", "..", false),
        ("octocat", "...", false),
        ("octocat", "a/b", false),
        ("octocat", "..\n", false),
        ("octocat", "%2e%2e", false),
        ("octocat", &long[1], false),
        ("", "a", false),
        (".", "a", false),
        ("..", "user", false),
        ("-a", "a", false),
        ("a.b", "a", false),
        ("a/b", "a", false),
        ("%2E%2E", "user", false),
        (&long[0], "a", false),
    ] {
        for tool in [CREATE, LIST] {
            let mut input = json!({"owner": owner, "repository": repository});
            if tool == CREATE {
                input["title"] = "t".into();
            }
            let outcome = with(|_| respond(404, "{}")).call(tool, input);
            let rejected = matches!(outcome, Outcome::InvalidInput(_));
            assert_eq!(!rejected, good, "{tool} {owner:?} {repository:?}: {outcome:?}");
        }
    }
}

#[test]
fn a_full_page_has_a_next_one() {
    let full: Upstream = |_| {
        let issue = json!({"number": 1, "title": "t", "state": "open", "html_url": "u"});
        respond(200, Value::from(vec![issue; 30]).to_string())
    };
    let input = json!({"owner": "a", "repository": "b", "page": 4});
    for (upstream, expected) in
        [(full, json!(5)), ((|_| respond(200, "[]")) as Upstream, json!(null))]
    {
        assert_eq!(with(upstream).value(LIST, input.clone())["next_page"], expected);
    }
}

#[test]
fn a_token_that_github_rejects_is_requested_again() {
    let test = with(|_| respond(401, r#"{"message":"Bad credentials"}"#));
    let outcome = test.call(CREATE, new_issue());
    let Outcome::Rejected(Rejection::MissingRequirements(missing)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(missing.authorization, ["github"]);
    assert!(!format!("{:?}", test.log()).contains("gh-token"), "{:?}", test.log());
}

#[test]
fn failures_of_github_are_tool_errors() {
    let detailed = |message: &str, detail: &str| ToolError::new(message).developer_message(detail);
    let rows: [(&str, Upstream, ToolError); 12] = [
        (
            "403",
            |_| respond(403, "{}"),
            detailed("The user is not allowed to do this on GitHub", "GitHub returned 403."),
        ),
        (
            "403 with Retry-After",
            |_| Ok(HttpResponse::new(403, "").retry_after_ms(9_000)),
            ToolError::new("GitHub received too many requests").retry_after_ms(9_000),
        ),
        (
            "429",
            |_| respond(429, ""),
            ToolError::new("GitHub received too many requests").retry_after_ms(60_000),
        ),
        (
            "404",
            |_| respond(404, ""),
            detailed(
                "The repository was not found",
                "GitHub returned 404: it does not exist, or the user has no access.",
            ),
        ),
        (
            "410",
            |_| respond(410, ""),
            detailed("Issues are disabled in this repository", "GitHub returned 410."),
        ),
        (
            "422",
            |_| respond(422, ""),
            detailed("GitHub rejected this issue", "GitHub returned 422."),
        ),
        (
            "500, after the issue may have been created",
            |_| respond(500, ""),
            detailed("GitHub had an internal error", "GitHub returned 500."),
        ),
        (
            "301 for a renamed repository",
            |_| respond(301, ""),
            detailed("The repository was renamed", "GitHub returned 301."),
        ),
        (
            "307 for a renamed repository",
            |_| respond(307, ""),
            detailed("The repository was renamed", "GitHub returned 307."),
        ),
        (
            "304",
            |_| respond(304, ""),
            detailed("GitHub rejected the request", "GitHub returned 304."),
        ),
        (
            "not JSON",
            |_| respond(201, "<html>"),
            ToolError::new("GitHub returned an invalid response"),
        ),
        ("timeout", |_| Err(HttpError::Timeout), ToolError::new("GitHub did not respond in time")),
    ];
    for (name, upstream, expected) in rows {
        let test = with(upstream);
        assert_eq!(test.error(CREATE, new_issue()), expected, "{name}");
        let log = test.log();
        assert_eq!(log.len(), 1, "{name}: {log:?}");
        assert!(!log[0].contains("gh-token") && !log[0].contains("octocat"), "{name}: {log:?}");
    }
    let input = json!({"owner": "a", "repository": "b"});
    let error = with(|_| respond(500, "")).error(LIST, input);
    assert_eq!(error.retry_after_ms, Some(2_000), "a read is safe to retry");
}
