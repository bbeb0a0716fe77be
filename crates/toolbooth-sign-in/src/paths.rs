//! The paths of this crate. Each is written here only: routes are below the mounts of their protocols.

/// The authorization endpoint, with the consent page. Cloudflare Access can protect it with what is below it.
pub(crate) const AUTHORIZE: &str = "/oauth/authorize";
/// Where people sign in to open a page of the server; the token of a challenge may follow as `c`.
pub(crate) const SIGN_IN: &str = "/oauth/authorize/sign-in";
/// The mount of the endpoints for clients.
pub(crate) const OAUTH: &str = "/oauth";
pub(crate) const TOKEN: &str = "/oauth/token";
pub(crate) const REGISTER: &str = "/oauth/register";
pub(crate) const REVOKE: &str = "/oauth/revoke";
pub(crate) const METADATA: &str = "/.well-known/oauth-authorization-server";
pub(crate) const ACCOUNT: &str = "/account";

/// The mount of challenges.
pub(crate) const AUTH: &str = "/auth";
/// The page of a challenge, whose token follows as `c`.
pub(crate) const START: &str = "/auth/start";
pub(crate) const CHECK: &str = "/auth/check";
/// Where applications confirm their users.
pub(crate) const CONFIRM: &str = "/auth/confirm";
pub(crate) const GRANT: &str = "/auth/grants/{provider}";
/// Explains how calls are authorized at a provider.
pub(crate) const HELP: &str = "/auth/help/{provider}";
/// Where providers redirect people; the id of the provider follows. Each provider has its own address, so that the
/// response of another server is not taken for its response (RFC 9700, 4.4.2.2).
pub(crate) const CALLBACK: &str = "/auth/callback";
/// What follows some of these paths.
pub(crate) const PROVIDER: &str = "/{provider}";

/// Where MCP is served by the core; part of the resource's identifier.
pub(crate) const MCP: &str = "/mcp";
/// The page of the site that receives the codes of its own sign-in.
pub(crate) const SIGNED_IN: &str = "/signed-in";

/// What follows the mount of a protocol in a path, for a route.
pub(crate) const fn below(mount: &str, path: &'static str) -> &'static str {
    path.split_at(mount.len()).1
}

/// A path without its parameter, which follows.
pub(crate) const fn without_provider(path: &'static str) -> &'static str {
    path.split_at(path.len() - PROVIDER.len() + 1).0
}
