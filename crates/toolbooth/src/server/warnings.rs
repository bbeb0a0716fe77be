//! What the operator should know about the configuration, although the server can serve calls.

use crate::catalog::{Catalog, Tool};
use crate::host::RateLimit;
#[cfg(feature = "challenges")]
use crate::host::{RATE_LIMIT, SIGN_IN_LIMITER};
use crate::principal::Scopes;
use crate::settings::{Allowlist, Permission, Settings};
#[cfg(feature = "challenges")]
use crate::settings::{ApiKeySettings, ApplicationUsers};

/// The scopes that mean something although no tool requires them.
#[cfg(any(feature = "gateway", feature = "sign-in"))]
const BUILT_IN_SCOPES: &[&str] = &[crate::principal::GATEWAY_SCOPE];
/// See above.
#[cfg(not(any(feature = "gateway", feature = "sign-in")))]
const BUILT_IN_SCOPES: &[&str] = &[];

/// Warnings for the operator.
pub(super) fn warnings(
    catalog: &Catalog,
    settings: &Settings,
    limiters: &dyn RateLimit,
) -> Vec<String> {
    let warnings = unknown_names(catalog, settings);
    #[cfg(feature = "challenges")]
    let warnings = [warnings, consent_warnings(catalog, settings, limiters)].concat();
    #[cfg(not(feature = "challenges"))]
    let _ = limiters;
    warnings
}

/// Names of tools and scopes that nothing has: probably misspelled, and without any other effect.
fn unknown_names(catalog: &Catalog, settings: &Settings) -> Vec<String> {
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
    let required = catalog.scopes();
    let mut check_scopes = |start: &str, scopes: &Scopes| {
        let Scopes::Listed(listed) = scopes else { return };
        let is_known = |scope: &str| required.contains(&scope) || BUILT_IN_SCOPES.contains(&scope);
        for scope in listed.iter().filter(|scope| !is_known(scope)) {
            warnings.push(format!("{start} the scope {scope:?}, which no tool requires"));
        }
    };
    for key in keys() {
        check_scopes(&format!("API_KEYS gives {:?}", key.name), &key.scopes);
    }
    if let Some(scopes) = &settings.auth.anonymous {
        check_scopes("ANONYMOUS_SCOPES includes", scopes);
    }
    #[cfg(feature = "sign-in")]
    for rule in settings.sign_in.iter().flat_map(|sign_in| &sign_in.allowed) {
        if let Some(scopes) = &rule.scopes {
            check_scopes(&format!("SIGN_IN_ALLOWED gives people at {}", rule.provider), scopes);
        }
    }
    warnings
}

/// One warning for each provider that tools require and that users cannot authorize at, and those about applications and
/// limiters.
#[cfg(feature = "challenges")]
fn consent_warnings(
    catalog: &Catalog,
    settings: &Settings,
    limiters: &dyn RateLimit,
) -> Vec<String> {
    let configured = settings.consent.iter().flat_map(|consent| &consent.providers);
    let configured: Vec<&str> = configured.map(|provider| provider.id.as_str()).collect();
    // The tools that require each provider. Versions of a tool are next to each other.
    let mut missing: Vec<(&str, Vec<&str>)> = Vec::new();
    let permitted = |tool: &&Tool| settings.permission(tool) != Permission::Denied;
    for tool in catalog.tools.iter().filter(permitted) {
        for required in tool.authorization.iter().filter(|it| !configured.contains(&it.id)) {
            match missing.iter_mut().find(|(id, _)| *id == required.id) {
                Some((_, tools)) if tools.last() == Some(&tool.name) => {}
                Some((_, tools)) => tools.push(tool.name),
                None => missing.push((required.id, vec![tool.name])),
            }
        }
    }
    let describe = |(id, tools): (&str, Vec<&str>)| {
        let tools = match tools.as_slice() {
            [] => String::new(),
            [only] => format!("{only} requires"),
            [first, others @ ..] => format!("{first} and {} more require", others.len()),
        };
        // Without a problem, only sign-in does without the keys of grants.
        let cause = match settings.provider_ids.iter().any(|listed| listed == id) {
            true => "GRANT_KEYS is not set, so people can only sign in at",
            false => "OAUTH_PROVIDERS does not include",
        };
        format!(
            "{cause} \"{id}\", which {tools}: users cannot grant access, so clients must send tokens"
        )
    };
    let mut warnings: Vec<String> = missing.into_iter().map(describe).collect();
    if settings.consent.as_ref().is_some_and(|consent| !consent.allows_unverified) {
        let keys = settings.auth.api_keys.iter().flatten();
        let unverified =
            |key: &&ApiKeySettings| !matches!(key.users, ApplicationUsers::Verified(_));
        warnings.extend(keys.filter(unverified).map(|key| {
            format!(
                "UNVERIFIED_USERS is deny and \"{}\" has no verify_url in API_KEYS: its users cannot grant access",
                key.name
            )
        }));
    }
    // Without any limiter nothing is limited on purpose.
    let is_half_limited = limiters.is_limited(RATE_LIMIT) && !limiters.is_limited(SIGN_IN_LIMITER);
    if is_half_limited && has_pages_for_people(settings) {
        let warning = "RATE_LIMIT is bound and SIGN_IN_LIMITER is not: requests to sign-in and authorization are not \
                       limited";
        warnings.push(warning.to_owned());
    }
    warnings
}

/// Whether people sign in or authorize tools here.
#[cfg(feature = "challenges")]
fn has_pages_for_people(settings: &Settings) -> bool {
    #[cfg(feature = "sign-in")]
    if settings.sign_in.is_some() {
        return true;
    }
    settings.consent.is_some()
}
