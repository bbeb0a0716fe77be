//! Tests for the requests of the GitHub tools, and for failures of the API.

use serde_json::{Value, json};
use toolbooth::ToolError;
use toolbooth::call::{Nulls, Outcome, Rejection, ToolRequest, ToolSelector};
use toolbooth::host::{HttpError, HttpResponse};
use toolbooth::principal::Principal;
use toolbooth::principal::Scopes;
use toolbooth::testing::{FakeHost, Upstream, call_tool};
use toolbooth::tool::{Credentials, Dialogue, Secret};

use super::stand_in::{answer, github};
use crate::CATALOG;

fn call(tool: &str, input: Value, upstream: Upstream) -> (Outcome, Vec<String>) {
    let host = FakeHost { upstream, ..FakeHost::default() };
    let tokens = [("github".to_owned(), Secret::new("gh-token".to_owned()))];
    let call = ToolRequest {
        tool: ToolSelector::Id(tool.into()),
        call_id: None,
        input: (&input).into(),
        nulls: Nulls::Exact,
        credentials: Credentials { tokens: tokens.into(), ..Credentials::default() },
        dialogue: Dialogue::default(),
    };
    let outcome = call_tool(call, &CATALOG, &Principal::Anonymous { scopes: Scopes::All }, &host);
    (outcome, host.log.into_inner())
}

fn create(upstream: Upstream) -> (Outcome, Vec<String>) {
    let input = json!({"owner": "octocat", "repository": "hello-world", "title": "Found a bug"});
    call("GitHub.CreateIssue", input, upstream)
}

fn list(input: Value, upstream: Upstream) -> Outcome {
    call("GitHub.ListIssues", input, upstream).0
}

#[test]
fn requests_have_the_documented_format() {
    create(|request| {
        assert_eq!(request.method, "POST");
        let header = |wanted: &str| {
            request.headers.iter().find(|(name, _)| *name == wanted).map(|(_, value)| &**value)
        };
        assert_eq!(header("authorization"), Some("Bearer gh-token"));
        assert!(header("user-agent").is_some(), "GitHub rejects requests without it");
        assert_eq!(request.body.as_deref(), Some(&br#"{"title":"Found a bug"}"#[..]));
        github(request)
    });
    let reject: Upstream = |request| Err(HttpError::Unreachable(request.url.to_string()));
    let input = json!({"owner": "a", "repository": "b", "state": "all", "page": 2});
    let (_, log) = call("GitHub.ListIssues", input, reject);
    let url = "https://api.github.com/repos/a/b/issues?state=all&per_page=30&page=2";
    assert!(log[0].contains(url), "{log:?}");
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
        for tool in ["GitHub.CreateIssue", "GitHub.ListIssues"] {
            let mut input = json!({"owner": owner, "repository": repository});
            if tool == "GitHub.CreateIssue" {
                input["title"] = "t".into();
            }
            let (outcome, _) = call(tool, input, |_| answer(404, "{}"));
            let rejected = matches!(outcome, Outcome::InvalidInput(_));
            assert_eq!(!rejected, good, "{tool} {owner:?} {repository:?}: {outcome:?}");
        }
    }
}

#[test]
fn a_full_page_has_a_next_one() {
    let full: Upstream = |_| {
        let issue = json!({"number": 1, "title": "t", "state": "open", "html_url": "u"});
        answer(200, &Value::from(vec![issue; 30]).to_string())
    };
    let input = json!({"owner": "a", "repository": "b", "page": 4});
    for (upstream, expected) in
        [(full, json!(5)), ((|_| answer(200, "[]")) as Upstream, json!(null))]
    {
        let outcome = list(input.clone(), upstream);
        let Outcome::Done { value, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(value["next_page"], expected);
    }
}

#[test]
fn a_token_that_github_rejects_is_requested_again() {
    let (outcome, log) = create(|_| answer(401, r#"{"message":"Bad credentials"}"#));
    let Outcome::Rejected(Rejection::MissingRequirements(missing)) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(missing.authorization, ["github"]);
    assert!(!format!("{log:?}").contains("gh-token"), "{log:?}");
}

#[test]
fn failures_of_github_are_tool_errors() {
    let detailed = |message: &str, detail: &str| ToolError::new(message).developer_message(detail);
    let rows: [(&str, Upstream, ToolError); 12] = [
        (
            "403",
            |_| answer(403, "{}"),
            detailed("The user is not allowed to do this on GitHub", "GitHub returned 403."),
        ),
        (
            "403 with Retry-After",
            |_| Ok(HttpResponse::new(403, "").retry_after_ms(9_000)),
            ToolError::new("GitHub received too many requests").retry_after_ms(9_000),
        ),
        (
            "429",
            |_| answer(429, ""),
            ToolError::new("GitHub received too many requests").retry_after_ms(60_000),
        ),
        (
            "404",
            |_| answer(404, ""),
            detailed(
                "The repository was not found",
                "GitHub returned 404: it does not exist, or the user has no access.",
            ),
        ),
        (
            "410",
            |_| answer(410, ""),
            detailed("Issues are disabled in this repository", "GitHub returned 410."),
        ),
        (
            "422",
            |_| answer(422, ""),
            detailed("GitHub rejected this issue", "GitHub returned 422."),
        ),
        (
            "500, after the issue may have been created",
            |_| answer(500, ""),
            detailed("GitHub had an internal error", "GitHub returned 500."),
        ),
        (
            "301 for a renamed repository",
            |_| answer(301, ""),
            detailed("The repository was renamed", "GitHub returned 301."),
        ),
        (
            "307 for a renamed repository",
            |_| answer(307, ""),
            detailed("The repository was renamed", "GitHub returned 307."),
        ),
        (
            "304",
            |_| answer(304, ""),
            detailed("GitHub rejected the request", "GitHub returned 304."),
        ),
        (
            "not JSON",
            |_| answer(201, "<html>"),
            ToolError::new("GitHub returned an invalid response"),
        ),
        ("timeout", |_| Err(HttpError::Timeout), ToolError::new("GitHub did not respond in time")),
    ];
    for (name, upstream, expected) in rows {
        let (outcome, log) = create(upstream);
        let Outcome::Failed { error, .. } = outcome else { panic!("{name}: {outcome:?}") };
        assert_eq!(error, expected, "{name}");
        assert_eq!(log.len(), 1, "{name}: {log:?}");
        assert!(!log[0].contains("gh-token") && !log[0].contains("octocat"), "{name}: {log:?}");
    }
    let input = json!({"owner": "a", "repository": "b"});
    let outcome = list(input, |_| answer(500, ""));
    let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(error.retry_after_ms, Some(2_000), "a read is safe to retry");
}
