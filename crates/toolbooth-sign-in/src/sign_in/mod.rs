//! Sign-in: an OAuth 2.1 authorization server for MCP clients, and the people who sign in to it.
//!
//! - `login`: people and browsers; `server`: clients and tokens, which needs `login` only for what people may give;
//! - `consent`: the pages that connect both, with `page`, their HTML;
//! - `settings`: the variables of both; `marks`: what both keep in the store; `event`: what both log; `routes`.
//!
//! docs/STORAGE.md lists the entries of the store.

mod consent;
mod event;
mod login;
mod marks;
mod page;
pub(crate) mod routes;
pub(crate) mod server;
mod settings;

pub(crate) use consent::ConnectedAccounts;
pub(crate) use login::SESSION_SECONDS;

#[cfg(test)]
mod tests;
