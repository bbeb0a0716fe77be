//! Tests of the messages, status codes and headers of rejections.

use super::*;

#[test]
fn every_kind_has_a_description() {
    let expected = [
        (404, "There is nothing at this address", "GET / lists the endpoints"),
        (404, "This server does not serve this endpoint", "it is hosted"),
        (405, "This address does not accept this method", "it accepts POST, OPTIONS"),
        (
            403,
            "Pages of this origin may not call the server",
            "ALLOWED_ORIGINS does not include the request's Origin",
        ),
        (413, "The request body is too large", "it may have at most 1000 bytes"),
        (415, "The request body must be JSON", "send the header Content-Type: application/json"),
        (400, "The request body is not valid JSON", "EOF at line 1 column 1"),
        (400, "The request is malformed", "x must be a \"string\""),
        (400, "This protocol version is not supported", "OXP-Version must be 1.0 or absent"),
        (
            400,
            "The tool id is invalid",
            "a tool id has the form Toolkit.Tool, Toolkit.Tool@1 or Toolkit.Tool@1.0.0, with letters, \
             digits and _ in its names",
        ),
        (400, "Tool 'A_B' was not found", "A.B is not a tool of this server"),
        (400, "Tool 'A_B' was not found", "A.B version 2.0.0 is not available"),
        (403, "Tool 'A_B' may not be called", "TOOL_ALLOWLIST does not include it"),
        (
            403,
            "Tool 'A_B' may not be called with these credentials",
            "the tools of the API key do not include it",
        ),
        (
            403,
            "Tool 'A_B' may not be called with these credentials",
            "the tools of the caller's team do not include it",
        ),
        (401, "The request needs valid credentials", "the token has expired"),
        (
            403,
            "Tool 'A_B' may not be called with these credentials",
            "it requires the scopes: a:read b",
        ),
        (429, "Too many requests", "try again after 60 seconds"),
        (
            429,
            "The caller's budget does not cover the request",
            "it is 20 calls of tools per 1m, of which 2 calls of tools are left, and the request needs 5 calls of \
             tools. It resets at 2025-03-11T20:14:00Z; try again after 40 seconds",
        ),
        (
            429,
            "Too many tasks are running",
            "at most 50 may run at the same time; wait for one, or cancel one",
        ),
        (
            400,
            "Authorization required",
            "the call lacks context.authorization with id \"mail\", context.secrets with id \"KEY\", \
             context.user_id",
        ),
        (
            400,
            "Tool 'A_B' needs input that cannot be requested in this call",
            "the tool requests input, which needs a client that can show a form to its user and lets its model \
             write a message",
        ),
        (
            400,
            "Tool 'A_B' runs as a task only",
            "it takes longer than a call: use a client of MCP with the extension io.modelcontextprotocol/tasks, or \
             POST /rest/{name}, which answers 202",
        ),
        (503, "The tool server is temporarily unavailable", "it has no random bytes"),
        (
            503,
            "Tool 'A_B' is not configured",
            "a variable, secret or binding that it needs is missing or invalid; the server's log has the details",
        ),
        (500, "The tool server failed", "its log has the details"),
    ];
    let rejections = every_rejection();
    assert_eq!(rejections.len(), expected.len());
    for (rejection, (status, message, detail)) in rejections.iter().zip(expected) {
        let description = rejection.describe();
        let got = (description.kind.status(), &*description.message, &*description.detail);
        assert_eq!(got, (status, message, detail));
        let joined = match description.kind {
            RejectionKind::Malformed => detail.to_owned(),
            _ => format!("{message}: {detail}"),
        };
        assert_eq!(description.to_string(), joined);
    }
}

#[test]
fn headers_that_http_requires() {
    const CHALLENGE: &str = "Bearer realm=\"toolbooth\"";
    let invalid = ", error=\"invalid_token\", error_description=\"the token has expired\"";
    let scope = ", error=\"insufficient_scope\", scope=\"c a:read b\"";
    for rejection in every_rejection() {
        let expected = match rejection.describe().kind {
            RejectionKind::MethodNotAllowed => Some(("allow", "POST, OPTIONS".to_owned())),
            RejectionKind::Unauthenticated => {
                Some(("www-authenticate", format!("{CHALLENGE}{invalid}")))
            }
            RejectionKind::MissingScope => {
                Some(("www-authenticate", format!("{CHALLENGE}{scope}")))
            }
            RejectionKind::TooManyRequests => Some(("retry-after", "60".to_owned())),
            RejectionKind::BudgetExceeded => Some(("retry-after", "40".to_owned())),
            RejectionKind::TooManyTasks => Some(("retry-after", "10".to_owned())),
            _ => None,
        };
        assert_eq!(rejection.header(), expected);
    }
    let unsent =
        Rejection::Unauthenticated { reason: "no credentials were sent", sent: Sent::Nothing };
    assert_eq!(unsent.header(), Some(("www-authenticate", CHALLENGE.to_owned())));
}
