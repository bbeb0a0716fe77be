//! OAuth for Toolbooth: people sign in to the server, and users authorize tools at other services.
//!
//! A Worker serves them if it lists [`SIGN_IN`], [`CHALLENGES`] or [`ACCOUNT`] in `serve!`.
//!
//! - `paths`; `purpose`: what sealed tokens are for; `redirect_uri`; `oauth`: OAuth 2 as a client;
//! - `sign_in`: the authorization server for MCP clients, and the people who sign in to it;
//! - `challenge`: users authorize tools, and the server stores their grants;
//! - `callback`: where providers send browsers back;
//! - `account`: the page where people see and take back what they have allowed.
#![forbid(unsafe_code)]

mod account;
mod callback;
mod challenge;
mod oauth;
mod paths;
mod purpose;
mod redirect_uri;
mod sign_in;

/// The page of an account, where people see and take back what they have allowed. Needs [`SIGN_IN`].
pub use account::CAPABILITY as ACCOUNT;
/// Users authorize tools at OAuth providers, and the server stores their grants.
pub use challenge::routes::CAPABILITY as CHALLENGES;
/// People sign in to the server itself: an OAuth authorization server for MCP clients.
pub use sign_in::routes::CAPABILITY as SIGN_IN;

#[cfg(test)]
mod tests;
