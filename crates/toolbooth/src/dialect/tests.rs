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
        (Method::Get, "/", "root", Ok("public")),
        (Method::Get, "/call", "root", wrong("POST, OPTIONS")),
        (Method::Options, "/call", "root", wrong("POST, OPTIONS")),
        (Method::Other, "/tools/call", "root", wrong("POST, OPTIONS")),
        (Method::Post, "/tools", "root", wrong("GET, HEAD, OPTIONS")),
        (Method::Post, "/health", "root", wrong("GET, HEAD, OPTIONS")),
        (Method::Get, "", "root", Err(Refusal::NotFound)),
        (Method::Get, "/oxp", "oxp", Err(Refusal::NotFound)),
        (Method::Get, "/oxp/", "oxp", Err(Refusal::NotFound)),
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
