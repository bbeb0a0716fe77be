//! What the operator should know about challenges, although the server can serve calls.

use super::settings::ChallengeSettings;
use crate::oauth::OAuthProviders;
use toolbooth::catalog::Tool;
use toolbooth::host::Host;
use toolbooth::route::State;
use toolbooth::settings::{ApiKeySettings, ApplicationUsers, Permission};

/// One warning for each provider that tools require and that users cannot authorize at, and one for each application of
/// which the users cannot grant access.
pub(super) fn warnings(state: &State, _: &dyn Host) -> Vec<String> {
    let (catalog, settings) = (state.pipeline.catalog, state.settings());
    let own = settings.extensions.get::<ChallengeSettings>();
    let listed = settings.extensions.get::<OAuthProviders>();
    let configured = own.iter().flat_map(|own| &own.providers);
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
        let cause = match listed.is_some_and(|it| it.ids.iter().any(|listed| listed == id)) {
            true => "GRANT_KEYS is not set, so people can only sign in at",
            false => "OAUTH_PROVIDERS does not include",
        };
        format!(
            "{cause} \"{id}\", which {tools}: users cannot grant access, so clients must send tokens"
        )
    };
    let mut warnings: Vec<String> = missing.into_iter().map(describe).collect();
    if own.is_some_and(|own| !own.allows_unverified) {
        if settings.auth.jwt.is_some() && settings.sign_in_issuers.is_empty() {
            warnings.push(
                "UNVERIFIED_USERS is not allow, and people cannot sign in here: users with tokens cannot grant access"
                    .to_owned(),
            );
        }
        let keys = settings.auth.api_keys.iter().flatten();
        let unverified =
            |key: &&ApiKeySettings| !matches!(key.users, ApplicationUsers::Verified(_));
        warnings.extend(keys.filter(unverified).map(|key| {
            format!(
                "\"{}\" has no verify_url in API_KEYS, and UNVERIFIED_USERS is not allow: its users cannot grant access",
                key.name
            )
        }));
    }
    warnings
}
