//! The paths of challenges and grants. The server mounts them if users can authorize tools.

/// The path of [`ConsentHandler::Start`].
pub(super) const START: &str = "/auth/start";
/// The path of [`ConsentHandler::Check`].
pub(super) const CHECK: &str = "/auth/check";
/// The beginning of the path of [`ConsentHandler::Callback`].
pub(super) const CALLBACK: &str = "/auth/callback/";
/// The beginning of the path of [`ConsentHandler::Grant`].
const GRANTS: &str = "/auth/grants/";

/// A path of challenges or grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConsentRoute {
    /// The path; if it ends with `/`, the id of a provider follows.
    pub path: &'static str,
    /// The methods that it allows, as in an `Allow` header.
    pub allow: &'static str,
    /// What it does.
    pub handler: ConsentHandler,
}

/// What a path of challenges or grants does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentHandler {
    /// Asks the user for consent (`GET`), and sends those who agree to the provider (`POST`).
    Start,
    /// Where a provider sends users back. Each provider has its own path, so that the response of
    /// another server is not taken for its response (RFC 9700, 4.4.2.2).
    Callback,
    /// Returns the status of a challenge.
    Check,
    /// Deletes the user's grant at a provider.
    Grant,
}

/// All paths of challenges and grants.
pub const ROUTES: &[ConsentRoute] = &[
    ConsentRoute {
        path: START,
        allow: "GET, HEAD, POST, OPTIONS",
        handler: ConsentHandler::Start,
    },
    // A HEAD request would use up the code and show no page.
    ConsentRoute { path: CALLBACK, allow: "GET, OPTIONS", handler: ConsentHandler::Callback },
    ConsentRoute { path: CHECK, allow: "GET, HEAD, OPTIONS", handler: ConsentHandler::Check },
    ConsentRoute { path: GRANTS, allow: "DELETE, OPTIONS", handler: ConsentHandler::Grant },
];

/// The route of a path, with the id of the provider that the path contains, else an empty one.
pub fn route(path: &str) -> Option<(&'static ConsentRoute, &str)> {
    ROUTES.iter().find_map(|route| Some((route, route.provider_in(path)?)))
}

impl ConsentRoute {
    /// The id of the provider in `path`, if this is the route of `path`.
    fn provider_in<'p>(&self, path: &'p str) -> Option<&'p str> {
        let id = path.strip_prefix(self.path)?;
        let fits = match self.path.ends_with('/') {
            true => !id.is_empty() && !id.contains('/'),
            false => id.is_empty(),
        };
        fits.then_some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        for (path, expected) in [
            ("/auth/start", Some((ConsentHandler::Start, ""))),
            ("/auth/check", Some((ConsentHandler::Check, ""))),
            ("/auth/callback/mail", Some((ConsentHandler::Callback, "mail"))),
            ("/auth/grants/mail", Some((ConsentHandler::Grant, "mail"))),
            ("/auth/start/", None),
            ("/auth/startx", None),
            ("/auth/callback", None),
            ("/auth/callback/", None),
            ("/auth/callback/mail/x", None),
            ("/auth/", None),
            ("/", None),
        ] {
            let got = route(path).map(|(route, provider)| (route.handler, provider));
            assert_eq!(got, expected, "{path}");
        }
    }
}
