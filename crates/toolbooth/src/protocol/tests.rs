use super::*;

#[test]
fn routes() {
    let wrong = |allow| Err(Rejection::MethodNotAllowed { allow });
    for (method, path, protocol, expected) in [
        (Method::Get, "/health", "root", Ok("health")),
        (Method::Head, "/health", "root", Ok("health")),
        (Method::Get, "/tools", "root", Ok("read")),
        (Method::Head, "/oxp/tools", "oxp", Ok("read")),
        (Method::Post, "/tools/call", "root", Ok("call")),
        (Method::Post, "/call", "root", Ok("call")),
        (Method::Post, "/oxp/tools/call", "oxp", Ok("call")),
        (Method::Post, "/oxp/call", "oxp", Ok("call")),
        (Method::Get, "/oxp/health", "oxp", Ok("health")),
        (Method::Get, "/oxp/1.0/health", "oxp-envelope", Ok("health")),
        (Method::Get, "/oxp/1.0/tools", "oxp-envelope", Ok("read")),
        (Method::Post, "/oxp/1.0/tools/call", "oxp-envelope", Ok("call")),
        (Method::Post, "/oxp/1.0/call", "oxp-envelope", Ok("call")),
        (Method::Get, "/otc/health", "otc", Ok("health")),
        (Method::Head, "/otc/tools", "otc", Ok("read")),
        (Method::Post, "/otc/tools/call", "otc", Ok("call")),
        (Method::Post, "/otc/call", "otc", Ok("call")),
        (Method::Get, "/", "root", Ok("public")),
        (Method::Get, "/version", "root", Ok("read")),
        (Method::Get, "/load", "root", Ok("read")),
        (Method::Get, "/opentool/version", "opentool", Ok("read")),
        (Method::Head, "/opentool/load", "opentool", Ok("read")),
        (Method::Post, "/opentool/call", "opentool", Ok("call")),
        (Method::Post, "/opentool/streamCall", "opentool", Ok("call")),
        (Method::Post, "/opentool/stop", "opentool", Ok("refuse")),
        (Method::Get, "/opentool/stop", "opentool", Ok("refuse")),
        (Method::Head, "/opentool/stop", "opentool", Ok("refuse")),
        (Method::Other, "/opentool/stop", "opentool", Ok("refuse")),
        (Method::Options, "/opentool/stop", "opentool", wrong("OPTIONS")),
        (Method::Post, "/opentool/opentool/call", "opentool", Err(Rejection::NotFound)),
        (Method::Post, "/jsonrpc", "jsonrpc", Ok("call")),
        (Method::Post, "/jsonrpc/", "jsonrpc", Ok("call")),
        (Method::Post, "/jsonrpc/call", "jsonrpc", Err(Rejection::NotFound)),
        (Method::Get, "/jsonrpc", "jsonrpc", wrong("POST, OPTIONS")),
        (Method::Get, "/providers", "providers", Ok("read")),
        (Method::Get, "/providers/openai/tools", "openai", Ok("read")),
        (Method::Head, "/providers/openai-responses/tools", "openai-responses", Ok("read")),
        (Method::Get, "/providers/anthropic/tools", "anthropic", Ok("read")),
        (Method::Get, "/providers/gemini/tools", "gemini", Ok("read")),
        (Method::Post, "/providers/gemini/tools", "gemini", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "/providers/", "providers", Ok("read")),
        (Method::Get, "/providers/openai", "openai", Err(Rejection::NotFound)),
        (Method::Get, "/providers/openaix/tools", "providers", Err(Rejection::NotFound)),
        (Method::Get, "/call", "root", wrong("POST, OPTIONS")),
        (Method::Options, "/call", "root", wrong("POST, OPTIONS")),
        (Method::Other, "/tools/call", "root", wrong("POST, OPTIONS")),
        (Method::Post, "/tools", "root", wrong("GET, HEAD, OPTIONS")),
        (Method::Post, "/health", "root", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "", "root", Err(Rejection::NotFound)),
        (Method::Get, "/oxp", "oxp", Err(Rejection::NotFound)),
        (Method::Get, "/oxp/", "oxp", Err(Rejection::NotFound)),
        (Method::Get, "/oxp/1.0", "oxp-envelope", Err(Rejection::NotFound)),
        (Method::Get, "/oxp/1.0.0/tools", "oxp", Err(Rejection::NotFound)),
        (Method::Get, "/oxp/1/tools", "oxp", Err(Rejection::NotFound)),
        (Method::Get, "/otc/1.0/tools", "otc", Err(Rejection::NotFound)),
        (Method::Get, "/otc/call", "otc", wrong("POST, OPTIONS")),
        (Method::Post, "/oxp/1.0/tools", "oxp-envelope", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "/oxptools", "root", Err(Rejection::NotFound)),
        (Method::Get, "/oxp/oxp/tools", "oxp", Err(Rejection::NotFound)),
        (Method::Get, "/tools/", "root", Err(Rejection::NotFound)),
        (Method::Get, "/Tools", "root", Err(Rejection::NotFound)),
        (Method::Get, "/%74ools", "root", Err(Rejection::NotFound)),
        (Method::Post, "//tools/call", "root", Err(Rejection::NotFound)),
    ] {
        let (found, action) = route(method, path);
        let action = action.map(|action| match action {
            Handler::Health => "health",
            Handler::Public(_) => "public",
            Handler::Read(_) => "read",
            Handler::Call(_) => "call",
            Handler::Refuse(_) => "refuse",
        });
        assert_eq!((found.name, action), (protocol, expected), "{method:?} {path}");
    }
}

#[test]
fn no_mount_hides_another() {
    for (at, (prefix, _)) in MOUNTS.iter().enumerate() {
        for (earlier, _) in &MOUNTS[..at] {
            let below = prefix.strip_prefix(earlier);
            assert!(below.is_none_or(|rest| !rest.starts_with('/')), "{earlier} hides {prefix}");
        }
    }
    let (last, _) = MOUNTS.last().unwrap();
    assert_eq!(*last, "", "the root fits every path");
}

#[test]
fn names_of_dialects_paths_and_lists_are_unique() {
    let unique = |mut names: Vec<&str>| {
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "{names:?}");
    };
    unique(MOUNTS.iter().map(|(_, protocol)| protocol.name).collect());
    unique(list_forms().map(|form| form.name).collect());
    for (_, protocol) in MOUNTS {
        unique(protocol.endpoints.iter().map(|endpoint| endpoint.path).collect());
    }
}
