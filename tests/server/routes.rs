//! Tests of the routes of paths.

use crate::CAPABILITIES;
use toolbooth::call::Rejection;
use toolbooth::capabilities::CORE;
use toolbooth::capability::{Capabilities, Capability};
use toolbooth::http::{Answer, Method};
use toolbooth::protocol::oxp;
use toolbooth::route::{
    BodyFormat, Credentials, EncodeRejection, Limit, Policy, Protocol, Route, RouteRequest,
};
use toolbooth::server::router::find;

#[test]
fn routes() {
    let not_served = || Err(Rejection::NotServed("it is hosted, so there is nothing to stop"));
    let wrong = |allow: &str| Err(Rejection::MethodNotAllowed { allow: allow.to_owned() });
    let protocols = CAPABILITIES.iter().flat_map(|capability| capability.protocols);
    let mut without_row: Vec<_> = protocols
        .flat_map(|(mount, protocol)| {
            let routes = protocol.routes.iter();
            routes.map(move |route| (protocol.name, route.method, *mount, route.path))
        })
        .collect();
    for (method, path, protocol, expected) in [
        (Method::Get, "/health", "root", Ok("public")),
        (Method::Head, "/health", "root", Ok("public")),
        (Method::Get, "/tools", "root", Ok("caller")),
        (Method::Head, "/oxp/tools", "oxp", Ok("caller")),
        (Method::Post, "/tools/call", "root", Ok("call")),
        (Method::Post, "/call", "root", Ok("call")),
        (Method::Post, "/oxp/tools/call", "oxp", Ok("call")),
        (Method::Post, "/oxp/call", "oxp", Ok("call")),
        (Method::Get, "/oxp/health", "oxp", Ok("public")),
        (Method::Get, "/oxp/1.0/health", "oxp-envelope", Ok("public")),
        (Method::Get, "/oxp/1.0/tools", "oxp-envelope", Ok("caller")),
        (Method::Post, "/oxp/1.0/tools/call", "oxp-envelope", Ok("call")),
        (Method::Post, "/oxp/1.0/call", "oxp-envelope", Ok("call")),
        (Method::Get, "/otc/health", "otc", Ok("public")),
        (Method::Head, "/otc/tools", "otc", Ok("caller")),
        (Method::Post, "/otc/tools/call", "otc", Ok("call")),
        (Method::Post, "/otc/call", "otc", Ok("call")),
        (Method::Get, "/", "root", Ok("public")),
        (Method::Get, "/version", "root", Ok("caller")),
        (Method::Get, "/load", "root", Ok("caller")),
        (Method::Get, "/opentool/version", "opentool", Ok("caller")),
        (Method::Head, "/opentool/load", "opentool", Ok("caller")),
        (Method::Post, "/opentool/call", "opentool", Ok("call")),
        (Method::Post, "/opentool/streamCall", "opentool", Ok("call")),
        (Method::Post, "/opentool/stop", "opentool", not_served()),
        (Method::Get, "/opentool/stop", "opentool", not_served()),
        (Method::Delete, "/opentool/stop", "opentool", not_served()),
        (Method::Get, "/langchain/health", "langchain", Ok("public")),
        (Method::Get, "/langchain/info", "langchain", Ok("caller")),
        (Method::Get, "/langchain/tools", "langchain", Ok("caller")),
        (Method::Post, "/langchain/tools/call", "langchain", Ok("call")),
        (Method::Get, "/xaibo/tools", "xaibo", Ok("caller")),
        (Method::Post, "/xaibo/execute", "xaibo", Ok("call")),
        (Method::Get, "/tasks/x", "tasks", Ok("caller")),
        (Method::Delete, "/tasks/x", "tasks", Ok("caller")),
        (Method::Post, "/tasks/x", "tasks", wrong("GET, HEAD, DELETE, OPTIONS")),
        (Method::Get, "/usage", "usage", Ok("caller")),
        (Method::Head, "/usage", "usage", Ok("caller")),
        (Method::Post, "/mcp", "mcp", Ok("call")),
        (Method::Get, "/mcp", "mcp", Ok("caller")),
        (Method::Get, "/.well-known/oauth-protected-resource/mcp", "well-known", Ok("public")),
        (Method::Get, "/.well-known/oauth-protected-resource", "well-known", Ok("public")),
        (Method::Get, "/.well-known/mcp-registry-auth", "well-known", Ok("public")),
        (Method::Get, "/mcp/server-card", "server-card", Ok("public")),
        (Method::Head, "/mcp/server-card/", "server-card", Ok("public")),
        (Method::Post, "/mcp/server-card", "server-card", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "/mcp/server-card/x", "server-card", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/.well-known/mcp/server-card.json", "well-known-card", Ok("public")),
        (Method::Get, "/.well-known/mcp/server-card", "well-known-card", Ok("public")),
        (Method::Get, "/.well-known/mcp/other", "well-known-card", Err(Rejection::NOT_FOUND)),
        (Method::Post, "/register", "registration", Ok("network")),
        (Method::Get, "/register", "registration", wrong("POST, OPTIONS")),
        (
            Method::Get,
            "/.well-known/oauth-authorization-server",
            "authorization-server",
            Ok("public"),
        ),
        (Method::Get, "/doctor", "doctor", Ok("public")),
        (Method::Get, "/oauth/authorize", "authorize", Ok("network")),
        (Method::Post, "/oauth/authorize", "authorize", Ok("network")),
        (Method::Get, "/oauth/authorize/sign-in", "authorize", Ok("network")),
        (Method::Post, "/oauth/token", "oauth", Ok("network")),
        (Method::Post, "/oauth/register", "oauth", Ok("network")),
        (Method::Post, "/oauth/revoke", "oauth", Ok("network")),
        (Method::Get, "/account", "account", Ok("network")),
        (Method::Post, "/account", "account", Ok("network")),
        (Method::Delete, "/account", "account", wrong("GET, HEAD, POST, OPTIONS")),
        (Method::Get, "/auth/start", "challenge", Ok("network")),
        (Method::Post, "/auth/start", "challenge", Ok("network")),
        (Method::Head, "/auth/start", "challenge", Ok("network")),
        (Method::Get, "/auth/callback/mail", "callback", Ok("network")),
        (Method::Head, "/auth/callback/mail", "callback", wrong("GET, OPTIONS")),
        (Method::Get, "/auth/callback/", "callback", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/auth/callback/a/b", "callback", Err(Rejection::NOT_FOUND)),
        (Method::Post, "/auth/confirm", "challenge", Ok("network")),
        (Method::Get, "/auth/confirm", "challenge", wrong("POST, OPTIONS")),
        (Method::Delete, "/auth/grants/mail", "challenge", Ok("network")),
        (Method::Get, "/auth/grants/mail", "challenge", wrong("DELETE, OPTIONS")),
        (Method::Get, "/auth/help/mail", "challenge", Ok("public")),
        (Method::Get, "/auth/check", "challenge-check", Ok("network")),
        (Method::Post, "/auth/check", "challenge-check", wrong("GET, HEAD, OPTIONS")),
        (Method::Post, "/opentool/opentool/call", "opentool", Err(Rejection::NOT_FOUND)),
        (Method::Post, "/jsonrpc", "jsonrpc", Ok("call")),
        (Method::Post, "/jsonrpc/", "jsonrpc", Ok("call")),
        (Method::Post, "/jsonrpc/call", "jsonrpc", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/jsonrpc", "jsonrpc", wrong("POST, OPTIONS")),
        (Method::Get, "/providers", "providers", Ok("caller")),
        (Method::Get, "/providers/openai/tools", "openai", Ok("caller")),
        (Method::Head, "/providers/openai-responses/tools", "openai-responses", Ok("caller")),
        (Method::Get, "/providers/anthropic/tools", "anthropic", Ok("caller")),
        (Method::Get, "/providers/gemini/tools", "gemini", Ok("caller")),
        (Method::Post, "/providers/openai/call", "openai", Ok("call")),
        (Method::Post, "/providers/openai-responses/call", "openai-responses", Ok("call")),
        (Method::Post, "/providers/anthropic/call", "anthropic", Ok("call")),
        (Method::Post, "/providers/gemini/call", "gemini", Ok("call")),
        (Method::Post, "/providers/gemini/tools", "gemini", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "/providers/", "providers", Ok("caller")),
        (Method::Get, "/providers/openai", "openai", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/providers/openaix/tools", "providers", Err(Rejection::NOT_FOUND)),
        (Method::Post, "/v1/chat/completions", "gateway", Ok("caller")),
        (Method::Get, "/v1/models", "gateway", Ok("caller")),
        (Method::Post, "/v1/responses", "responses", Ok("caller")),
        (Method::Get, "/v1/responses", "responses", wrong("POST, OPTIONS")),
        (Method::Get, "/v1/responses/x", "responses", Ok("caller")),
        (Method::Delete, "/v1/responses/x", "responses", Ok("caller")),
        (Method::Post, "/v1/responses/x", "responses", wrong("GET, HEAD, DELETE, OPTIONS")),
        (Method::Post, "/v1/responses/x/cancel", "responses", Ok("caller")),
        (Method::Get, "/v1/responses/x/cancel", "responses", wrong("POST, OPTIONS")),
        (Method::Post, "/v1/responses//cancel", "responses", Err(Rejection::NOT_FOUND)),
        (Method::Post, "/v1/responses/x/y/cancel", "responses", Err(Rejection::NOT_FOUND)),
        (Method::Post, "/v1/responses/x/cancelled", "responses", Err(Rejection::NOT_FOUND)),
        (Method::Post, "/v1/messages", "messages", Ok("caller")),
        (Method::Post, "/v1/messages/count_tokens", "messages", Ok("caller")),
        (Method::Get, "/v1/messages", "messages", wrong("POST, OPTIONS")),
        (Method::Get, "/v1/models/openai/gpt-5", "gateway", Ok("caller")),
        (Method::Get, "/v1/models/", "gateway", Err(Rejection::NOT_FOUND)),
        (Method::Post, "/v1/embeddings", "gateway", Ok("caller")),
        (Method::Post, "/2api/v1/chat/completions", "2api", Ok("caller")),
        (Method::Get, "/2api/v1/models", "2api", Ok("caller")),
        (Method::Get, "/2api/v1/models/fast", "2api", Ok("caller")),
        (Method::Post, "/2api/v1/embeddings", "2api", Ok("caller")),
        (Method::Post, "/rest/Echo_Say", "rest", Ok("call")),
        (Method::Get, "/rest/Echo_Say", "rest", Ok("query")),
        (Method::Head, "/rest/Echo.Say@1", "rest", Ok("query")),
        (Method::Delete, "/rest/Echo_Say", "rest", wrong("GET, HEAD, POST, OPTIONS")),
        (Method::Post, "/rest", "rest", Err(Rejection::NOT_FOUND)),
        (Method::Post, "/rest/", "rest", Err(Rejection::NOT_FOUND)),
        (Method::Post, "/rest/a/b", "rest", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/openapi.json", "documents", Ok("caller")),
        (Method::Get, "/utcp", "documents", Ok("caller")),
        (Method::Get, "/llms.txt", "documents", Ok("caller")),
        (Method::Get, "/llms-full.txt", "documents", Ok("caller")),
        (Method::Get, "/client.ts", "documents", Ok("caller")),
        (Method::Get, "/call", "root", wrong("POST, OPTIONS")),
        (Method::Options, "/call", "root", wrong("POST, OPTIONS")),
        (Method::Other, "/tools/call", "root", wrong("POST, OPTIONS")),
        (Method::Post, "/tools", "root", wrong("GET, HEAD, OPTIONS")),
        (Method::Post, "/health", "root", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "", "root", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/oxp", "oxp", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/oxp/", "oxp", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/oxp/1.0", "oxp-envelope", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/oxp/1.0.0/tools", "oxp", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/oxp/1/tools", "oxp", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/otc/1.0/tools", "otc", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/otc/call", "otc", wrong("POST, OPTIONS")),
        (Method::Post, "/oxp/1.0/tools", "oxp-envelope", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "/oxptools", "root", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/oxp/oxp/tools", "oxp", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/tools/", "root", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/Tools", "root", Err(Rejection::NOT_FOUND)),
        (Method::Get, "/%74ools", "root", Err(Rejection::NOT_FOUND)),
        (Method::Post, "//tools/call", "root", Err(Rejection::NOT_FOUND)),
    ] {
        let found = find(Capabilities(CAPABILITIES), path);
        if let Ok(route) = found.route(method) {
            let row = (found.protocol.name, route.method, route.path);
            without_row.retain(|(name, method, _, path)| (*name, *method, *path) != row);
        }
        let action = match found.route(method) {
            Ok(Route { policy: Policy { limit: Limit::Network, .. }, .. }) => Ok("network"),
            Ok(Route { policy: Policy { records_calls: true, body, .. }, .. }) => match body {
                BodyFormat::Json => Ok("call"),
                BodyFormat::Unread | BodyFormat::Form => Ok("query"),
            },
            Ok(Route { policy: Policy { credentials: Credentials::Needed, .. }, .. }) => {
                Ok("caller")
            }
            Ok(_) => Ok("public"),
            Err(Rejection::NotFound { .. }) => Err(Rejection::NOT_FOUND),
            Err(rejection) => Err(rejection),
        };
        assert_eq!((found.protocol.name, action), (protocol, expected), "{method:?} {path}");
    }
    assert_eq!(without_row, [], "routes without a row");
}

#[test]
fn a_route_passes_its_parameter() {
    for (path, parameter) in [
        ("/auth/callback/mail", "mail"),
        ("/auth/start", ""),
        ("/rest/A_B", "A_B"),
        ("/tools", ""),
        ("/v1/models/a", "a"),
        ("/v1/models/a/b%2Fc", "a/b%2Fc"),
    ] {
        assert_eq!(find(Capabilities(CAPABILITIES), path).parameter, parameter, "{path}");
    }
}

#[test]
fn a_later_capability_replaces_routes_at_the_same_mount() {
    async fn own<'a>(_: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
        Err(Rejection::NOT_FOUND)
    }
    static OWN: Protocol = Protocol {
        routes: &[Route::get("/tools", Policy::PUBLIC, &own)],
        ..Protocol::new("own", "Own", EncodeRejection::Plain(oxp::encode_rejection))
    };
    static CAPABILITY: Capability =
        Capability { protocols: &[("", &OWN)], ..Capability::new("own") };
    static SERVED: &[&Capability] = &[&CORE, &CAPABILITY];
    for (path, protocol) in [("/tools", "own"), ("/health", "root"), ("/unknown", "root")] {
        assert_eq!(find(Capabilities(SERVED), path).protocol.name, protocol, "{path}");
    }
}

#[test]
fn the_longest_mount_counts() {
    const fn at(name: &'static str, routes: &'static [Route]) -> Protocol {
        Protocol {
            routes,
            ..Protocol::new(name, name, EncodeRejection::Plain(oxp::encode_rejection))
        }
    }
    async fn own<'a>(_: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
        Err(Rejection::NOT_FOUND)
    }
    static LONG: Protocol = at("long", &[Route::get("", Policy::PUBLIC, &own)]);
    static FIRST: Protocol = at("first", &[Route::get("/b/c", Policy::PUBLIC, &own)]);
    static SECOND: Protocol = at("second", &[Route::get("/d", Policy::PUBLIC, &own)]);
    static CAPABILITY: Capability = Capability {
        protocols: &[("/a/b", &LONG), ("/a", &FIRST), ("/a", &SECOND)],
        ..Capability::new("own")
    };
    static SERVED: &[&Capability] = &[&CORE, &CAPABILITY];
    for (path, protocol, is_found) in [
        ("/a/b", "long", true),
        ("/a/b/", "long", true),
        // A shorter mount has the path, but a longer one is a prefix of it too.
        ("/a/b/c", "long", false),
        ("/a/d", "second", true),
        ("/a/e", "first", false),
        ("/a", "first", false),
        ("/ab", "root", false),
        ("/a\u{e4}", "root", false),
        ("/a/b\u{e4}", "first", false),
        ("", "root", false),
    ] {
        let found = find(Capabilities(SERVED), path);
        let got = (found.protocol.name, found.route(Method::Get).is_ok());
        assert_eq!(got, (protocol, is_found), "{path}");
    }
}
