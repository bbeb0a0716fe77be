//! What the operator should know about the configuration, although the server can serve calls.

use crate::catalog::Tool;
use crate::host::{Host, RATE_LIMIT, SIGN_IN_LIMITER};
use crate::principal::Scopes;
use crate::settings::{Allowlist, Permission};

use super::State;

/// Warnings for the operator: those of the server, then those of its capabilities.
pub(super) fn warnings(state: &State, host: &dyn Host) -> Vec<String> {
    let capabilities = state.capabilities.iter().filter_map(|it| it.warnings);
    // Those of capabilities could follow from a problem.
    let is_valid = state.settings().problems.is_empty();
    let capabilities = capabilities.filter(|_| is_valid);
    let own = unknown_names(state).into_iter().chain(half_limited(state, host));
    own.chain(capabilities.flat_map(|it| it(state, host))).collect()
}

/// Pages for people are not limited, although calls are. Without any limiter nothing is limited on purpose.
fn half_limited(state: &State, host: &dyn Host) -> Option<String> {
    let has_pages = state.people.is_some() || state.pipeline.grants.is_some();
    let is_half_limited = host.is_limited(RATE_LIMIT) && !host.is_limited(SIGN_IN_LIMITER);
    (has_pages && is_half_limited).then(|| {
        "RATE_LIMIT is bound and SIGN_IN_LIMITER is not: requests to sign-in and authorization are not limited"
            .to_owned()
    })
}

/// Names of tools and scopes that nothing has: probably misspelled, and without any other effect.
fn unknown_names(state: &State) -> Vec<String> {
    let (catalog, settings) = (state.pipeline.catalog, state.settings());
    let mut warnings = Vec::new();
    let mut check_tools = |start: &str, list: &Allowlist| {
        for entry in list.entries() {
            let alone = Allowlist::only(vec![entry.clone()]);
            let is_named = |tool: &Tool| tool.permission_in(&alone) == Permission::Given;
            if !catalog.tools.iter().any(is_named) {
                warnings.push(format!("{start} {entry:?}, but there is no such tool"));
            }
        }
    };
    let keys = || settings.auth.api_keys.iter().flatten();
    check_tools("TOOL_ALLOWLIST includes", &settings.allowlist);
    for key in keys() {
        if let Some(tools) = &key.tools {
            check_tools(&format!("API_KEYS limits {:?} to", key.name), tools);
        }
    }
    let mut check_scopes = |start: &str, scopes: &Scopes| {
        let describe = |scope| format!("{start} the scope {scope:?}, which no tool requires");
        warnings.extend(state.unknown_scopes(scopes).map(describe));
    };
    for key in keys() {
        check_scopes(&format!("API_KEYS gives {:?}", key.name), &key.scopes);
    }
    if let Some(scopes) = &settings.auth.anonymous {
        check_scopes("ANONYMOUS_SCOPES includes", scopes);
    }
    warnings
}
