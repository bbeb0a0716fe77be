use super::*;

#[test]
fn routes() {
    let wrong = |allow| Err(Refusal::MethodNotAllowed { allow });
    for (method, path, dialect, expected) in [
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
        (Method::Post, "/opentool/opentool/call", "opentool", Err(Refusal::NotFound)),
        (Method::Post, "/jsonrpc", "jsonrpc", Ok("call")),
        (Method::Post, "/jsonrpc/", "jsonrpc", Ok("call")),
        (Method::Post, "/jsonrpc/call", "jsonrpc", Err(Refusal::NotFound)),
        (Method::Get, "/jsonrpc", "jsonrpc", wrong("POST, OPTIONS")),
        (Method::Get, "/providers", "providers", Ok("read")),
        (Method::Get, "/providers/openai/tools", "openai", Ok("read")),
        (Method::Head, "/providers/openai-responses/tools", "openai-responses", Ok("read")),
        (Method::Get, "/providers/anthropic/tools", "anthropic", Ok("read")),
        (Method::Get, "/providers/gemini/tools", "gemini", Ok("read")),
        (Method::Post, "/providers/gemini/tools", "gemini", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "/providers/", "providers", Ok("read")),
        (Method::Get, "/providers/openai", "openai", Err(Refusal::NotFound)),
        (Method::Get, "/providers/openaix/tools", "providers", Err(Refusal::NotFound)),
        (Method::Get, "/call", "root", wrong("POST, OPTIONS")),
        (Method::Options, "/call", "root", wrong("POST, OPTIONS")),
        (Method::Other, "/tools/call", "root", wrong("POST, OPTIONS")),
        (Method::Post, "/tools", "root", wrong("GET, HEAD, OPTIONS")),
        (Method::Post, "/health", "root", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "", "root", Err(Refusal::NotFound)),
        (Method::Get, "/oxp", "oxp", Err(Refusal::NotFound)),
        (Method::Get, "/oxp/", "oxp", Err(Refusal::NotFound)),
        (Method::Get, "/oxp/1.0", "oxp-envelope", Err(Refusal::NotFound)),
        (Method::Get, "/oxp/1.0.0/tools", "oxp", Err(Refusal::NotFound)),
        (Method::Get, "/oxp/1/tools", "oxp", Err(Refusal::NotFound)),
        (Method::Get, "/otc/1.0/tools", "otc", Err(Refusal::NotFound)),
        (Method::Get, "/otc/call", "otc", wrong("POST, OPTIONS")),
        (Method::Post, "/oxp/1.0/tools", "oxp-envelope", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "/oxptools", "root", Err(Refusal::NotFound)),
        (Method::Get, "/oxp/oxp/tools", "oxp", Err(Refusal::NotFound)),
        (Method::Get, "/tools/", "root", Err(Refusal::NotFound)),
        (Method::Get, "/Tools", "root", Err(Refusal::NotFound)),
        (Method::Get, "/%74ools", "root", Err(Refusal::NotFound)),
        (Method::Post, "//tools/call", "root", Err(Refusal::NotFound)),
    ] {
        let (found, action) = route(method, path);
        let action = action.map(|action| match action {
            Action::Health => "health",
            Action::Public(_) => "public",
            Action::Read(_) => "read",
            Action::Call(_) => "call",
            Action::Refuse(_) => "refuse",
        });
        assert_eq!((found.name, action), (dialect, expected), "{method:?} {path}");
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
    unique(MOUNTS.iter().map(|(_, dialect)| dialect.name).collect());
    unique(list_forms().map(|form| form.name).collect());
    for (_, dialect) in MOUNTS {
        unique(dialect.endpoints.iter().map(|endpoint| endpoint.path).collect());
    }
}
