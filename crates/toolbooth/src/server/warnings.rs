//! What the operator should know about the configuration, although the server can serve calls.

use crate::catalog::{Catalog, Tool};
use crate::host::RateLimit;
#[cfg(feature = "challenges")]
use crate::host::{RATE_LIMIT, SIGN_IN_LIMITER};
#[cfg(feature = "challenges")]
use crate::settings::{ApiKeySettings, ApplicationUsers};
use crate::settings::{Permission, Settings};

/// Without the feature there are no providers to configure.
#[cfg(not(feature = "challenges"))]
pub(super) fn warnings(_: &Catalog, _: &Settings, _: &dyn RateLimit) -> Vec<String> {
    Vec::new()
}

/// Warnings for the operator: one for each provider that tools require and that users cannot authorize at, and those about
/// applications and limiters.
#[cfg(feature = "challenges")]
pub(super) fn warnings(
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
