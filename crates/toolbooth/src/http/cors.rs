//! CORS (Fetch standard): which pages may read a response, and which requests preflights allow.

use std::borrow::Cow;

use super::{Headers, Origins, Response};

/// Request headers that a browser's page may send.
const ALLOW_HEADERS: &str = "accept, authorization, baggage, content-type, dpop, if-none-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, otc-api-key, oxp-api-key, oxp-version, prefer, traceparent, tracestate, x-api-key, x-auth-token, x-provider-key";
/// Response headers that a browser's page may read.
const EXPOSE_HEADERS: &str = "dpop-nonce, etag, location, oxp-version, preference-applied, retry-after, retry-after-ms, toolbooth-warning, www-authenticate, x-2api-attempts, x-2api-model, x-2api-provider, x-2api-warnings, x-should-retry";

/// The response to a preflight of an allowed page; [`cross_origin`] adds the other headers. `None` if the
/// `OPTIONS` request is not a preflight (Fetch standard, "CORS-preflight request").
///
/// `further` are the names of headers that the operator allows, separated by commas.
pub fn preflight(headers: &dyn Headers, further: &str) -> Option<Response> {
    headers.get("access-control-request-method")?;
    let requested = headers.get("access-control-request-headers").unwrap_or_default();
    let response = Response::empty(204)
        .with("access-control-allow-methods", "GET, HEAD, POST, DELETE, OPTIONS")
        .with("access-control-allow-headers", allow_headers(&requested, further))
        .with("access-control-max-age", "86400");
    Some(response)
}

/// The beginnings of further headers: MCP clients repeat parameters of tools, the SDKs of OpenAI and Anthropic describe
/// themselves, and Anthropic's names its version. Libraries that trace a page add the others to each request.
const ALLOW_PREFIXES: [&str; 7] =
    ["mcp-param-", "x-stainless-", "anthropic-", "b3", "x-b3-", "sentry-trace", "x-datadog-"];

/// The headers that a page may send, given those that it requests and those that the operator allows.
fn allow_headers(requested: &str, further: &str) -> Cow<'static, str> {
    const MOST: usize = 32;
    let token = |name: &&str| {
        name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let names = requested.split(',').map(str::trim).filter(token).map(str::to_ascii_lowercase);
    let parameters: Vec<String> = names
        .filter(|name| ALLOW_PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        .filter(|name| name.len() <= 64)
        .take(MOST)
        .collect();
    let further = Some(further).filter(|further| !further.is_empty());
    if parameters.is_empty() && further.is_none() {
        return ALLOW_HEADERS.into();
    }
    let all = [ALLOW_HEADERS].into_iter().chain(further);
    let all: Vec<&str> = all.chain(parameters.iter().map(String::as_str)).collect();
    all.join(", ").into()
}

/// Adds the CORS headers to a response, given the request's `Origin`.
#[inline(never)]
pub fn cross_origin(response: Response, origin: Option<String>, origins: &Origins) -> Response {
    if origins.none() {
        return response;
    }
    match origin {
        Some(origin) if origins.allow(&origin) => {
            let allowed = if origins.any() { Cow::Borrowed("*") } else { Cow::Owned(origin) };
            let response = response.with("access-control-expose-headers", EXPOSE_HEADERS);
            varying_by_origin(response.with("access-control-allow-origin", allowed))
        }
        _ => varying_by_origin(response),
    }
}

/// Lets every page read a response. Only for responses that do not depend on cookies or other credentials that
/// browsers add.
pub fn any_page(response: Response) -> Response {
    response
        .with("access-control-allow-origin", "*")
        .with("access-control-expose-headers", "retry-after")
}

/// Lets every page send `GET` with any header.
pub fn any_page_preflight(response: Response) -> Response {
    response
        .with("access-control-allow-methods", "GET, HEAD")
        .with("access-control-allow-headers", "*, authorization")
        .with("access-control-max-age", "86400")
}

/// Adds `Origin` to the response's `Vary`.
fn varying_by_origin(mut response: Response) -> Response {
    match response.headers.iter_mut().find(|(name, _)| *name == "vary") {
        Some((_, vary)) => *vary = format!("Origin, {vary}").into(),
        None => return response.with("vary", "Origin"),
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Pairs;

    fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
        response.headers.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_ref())
    }

    #[test]
    fn preflights_allow_parameter_headers() {
        for (requested, expected) in [
            ("", ""),
            ("content-type, x-other", ""),
            ("X-Stainless-Lang, x-stainless", ", x-stainless-lang"),
            ("anthropic-version, anthropic", ", anthropic-version"),
            ("X-B3-TraceId, x-datadog-origin", ", x-b3-traceid, x-datadog-origin"),
            ("Mcp-Param-Region, mcp-param-a_b", ", mcp-param-region, mcp-param-a_b"),
            ("mcp-param-a\r\nb, mcp-param-é, mcp-param-a b", ""),
            (&format!("mcp-param-{}", "a".repeat(99)), ""),
            (&"mcp-param-a,".repeat(99), &", mcp-param-a".repeat(32)),
        ] {
            assert_eq!(
                allow_headers(requested, ""),
                format!("{ALLOW_HEADERS}{expected}"),
                "{requested}"
            );
        }
    }

    #[test]
    fn preflights_allow_what_traces_a_page_and_what_the_operator_adds() {
        for (requested, further, expected) in [
            ("content-type,traceparent", "", &["traceparent", "tracestate", "baggage"][..]),
            ("sentry-trace, baggage", "", &["sentry-trace", "baggage"]),
            ("b3", "", &["b3"]),
            ("x-tenant", "x-tenant, x-request-id", &["x-tenant", "x-request-id", "accept"]),
            ("mcp-param-a", "x-tenant", &["x-tenant", "mcp-param-a", "accept"]),
        ] {
            let headers = [
                ("access-control-request-method", "POST"),
                ("access-control-request-headers", requested),
            ];
            let response = preflight(&Pairs(&headers), further).unwrap();
            let allowed = header(&response, "access-control-allow-headers").unwrap();
            let allowed: Vec<_> = allowed.split(", ").collect();
            for name in expected {
                assert!(allowed.contains(name), "{requested}: {name} in {allowed:?}");
            }
            assert!(further.contains("x-tenant") || !allowed.contains(&"x-tenant"), "{allowed:?}");
        }
    }

    #[test]
    fn cross_origin_access() {
        const A: &str = "https://a.example";
        // configured origins, the request's Origin, expected Allow-Origin, expected Vary
        for (origins, origin, allowed, vary) in [
            ("", Some(A), None, None),
            ("*", Some(A), Some("*"), Some("Origin")),
            (A, Some(A), Some(A), Some("Origin")),
            (A, Some("https://b.example"), None, Some("Origin")),
            (A, Some("https://a.example.evil"), None, Some("Origin")),
            (A, Some("null"), None, Some("Origin")),
            ("https://b.example,https://a.example", Some(A), Some(A), Some("Origin")),
            (A, None, None, Some("Origin")),
        ] {
            let allow = Origins::parse(origins).unwrap();
            let sent = origin.map(str::to_owned);
            let response = cross_origin(Response::empty(200), sent, &allow);
            assert_eq!(
                header(&response, "access-control-allow-origin"),
                allowed,
                "{origins} {origin:?}"
            );
            assert_eq!(header(&response, "vary"), vary, "{origins} {origin:?}");
        }
        let preflight_headers = Pairs(&[("access-control-request-method", "POST")]);
        assert_eq!(preflight(&preflight_headers, "").unwrap().status, 204);
        assert_eq!(preflight(&Pairs(&[]), ""), None, "not a preflight: it requests no method");
    }
}
