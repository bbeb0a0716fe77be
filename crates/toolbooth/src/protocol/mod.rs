//! Protocols: one module a protocol, each turning bytes into calls and outcomes into bytes.
//!
//! A protocol is a [`Protocol`]: data, and functions that know one wire form and nothing of the
//! pipeline. It knows other protocols only where its protocol stands on theirs: [`envelope`] on
//! [`oxp`], OpenTool on JSON-RPC, and the root on those that it tells apart. Adding one is a module
//! beside [`oxp`], a line in [`MOUNTS`], one in [`list_forms`], and tests; the build renders its
//! lists, the index names its addresses, and the server serves it.

mod context;
pub mod envelope;
mod exchange;
mod jsonrpc;
mod keywords;
mod marks;
pub(crate) mod mcp;
mod opentool;
pub mod oxp;
mod portable;
mod providers;
mod root;
mod xaibo;

pub use exchange::{Exchange, ListRequest, Page, PostRequest};

use crate::call::Rejection;
use crate::catalog::ListForm;
use crate::http::{Headers, Method, Response};
use crate::names::same;

/// A protocol.
#[derive(Debug)]
pub struct Protocol {
    /// A word for it.
    pub name: &'static str,
    /// What people call it, with its version.
    pub title: &'static str,
    /// Its endpoints; no two have one path.
    pub endpoints: &'static [Route],
    /// Refuses headers that ask for a version which is not served.
    pub check: fn(&dyn Headers) -> Result<(), Rejection>,
    /// Tells why a request was turned away.
    pub reject: fn(Rejection) -> Response,
    /// Adds what every response of the protocol carries.
    pub decorate: fn(Response) -> Response,
    /// Whether well-known web clients speak it. Their pages may call without being configured, and
    /// refused credentials name the OAuth metadata that those clients sign in by.
    pub web_clients: bool,
}

/// An address of a protocol.
#[derive(Debug)]
pub struct Route {
    /// Its path below the mount.
    pub path: &'static str,
    /// What it does.
    pub action: Handler,
}

/// What an endpoint does.
#[derive(Debug)]
pub enum Handler {
    /// Says whether the server is ready (`GET`).
    Health,
    /// Gives a page to anybody, or the answer that says why not (`GET`).
    Public(fn(&ListRequest<'_>) -> Result<Page, Response>),
    /// Gives a page to those who may call, or the answer that says why not (`GET`).
    Read(fn(&ListRequest<'_>) -> Result<Page, Response>),
    /// Takes calls (`POST`).
    Call(for<'t> fn(PostRequest<'t>) -> Exchange<'t>),
    /// Turns every request away, whatever its method: a protocol's address that no hosted server can
    /// serve. The index does not name it.
    Refuse(fn() -> Response),
}

impl Handler {
    /// The methods it takes, as in an `Allow` header.
    fn allow(&self) -> &'static str {
        match self {
            Self::Health | Self::Public(_) | Self::Read(_) => "GET, HEAD, OPTIONS",
            Self::Call(_) => "POST, OPTIONS",
            Self::Refuse(_) => "OPTIONS",
        }
    }

    /// The method to use it by, where it is of use.
    fn method(&self) -> Option<&'static str> {
        match self {
            Self::Health | Self::Public(_) | Self::Read(_) => Some("GET"),
            Self::Call(_) => Some("POST"),
            Self::Refuse(_) => None,
        }
    }

    fn takes(&self, method: Method) -> bool {
        match self {
            Self::Health | Self::Public(_) | Self::Read(_) => {
                matches!(method, Method::Get | Method::Head)
            }
            Self::Call(_) => method == Method::Post,
            Self::Refuse(_) => method != Method::Options,
        }
    }
}

/// Tells a rejection of a whole request by `reject`, with the header that HTTP has for it.
pub(crate) fn rejected(reject: fn(Rejection) -> Response, rejection: Rejection) -> Response {
    let header = rejection.header();
    let mut answer = reject(rejection);
    answer.headers.extend(header.map(|(name, value)| (name, value.into())));
    answer
}

/// The `check` of a protocol that has no header for its version.
fn no_version(_: &dyn Headers) -> Result<(), Rejection> {
    Ok(())
}

/// The `sign` of a protocol whose responses carry nothing of their own.
fn unsigned(response: Response) -> Response {
    response
}

/// Where each protocol is mounted. The first mount that fits a path wins, so longer prefixes come
/// first and the root, which fits every path, last.
const MOUNTS: &[(&str, &Protocol)] = &[
    ("/otc", &envelope::OTC),
    ("/oxp/1.0", &envelope::OXP),
    ("/oxp", &oxp::FLAT),
    ("/xaibo", &xaibo::XAIBO),
    ("/opentool", &opentool::OPENTOOL),
    ("/jsonrpc", &jsonrpc::STRICT),
    ("/mcp", &mcp::MCP),
    ("/.well-known", &mcp::WELL_KNOWN),
    ("/providers/openai-responses", &providers::OPENAI_RESPONSES),
    ("/providers/openai", &providers::OPENAI),
    ("/providers/anthropic", &providers::ANTHROPIC),
    ("/providers/gemini", &providers::GEMINI),
    ("/providers", &providers::CAPABILITIES),
    ("", &root::ROOT),
];

/// Finds the protocol and the action that a path names. Also an unknown path belongs to a
/// protocol, in whose form the rejection is told.
pub fn route(
    method: Method,
    path: &str,
) -> (&'static Protocol, Result<&'static Handler, Rejection>) {
    let mount = MOUNTS.iter().find_map(|(prefix, protocol)| {
        // Of most prefixes the end alone tells that they do not fit.
        let rest = path.get(prefix.len()..)?;
        let ends = rest.is_empty() || rest.starts_with('/');
        (ends && path.starts_with(prefix)).then_some((*protocol, rest))
    });
    let (protocol, rest) = mount.unwrap_or((&root::ROOT, path));
    // The mount itself may be asked for with and without a slash behind it.
    let rest = if rest == "/" && path != "/" { "" } else { rest };
    let action = match protocol.endpoints.iter().find(|endpoint| same(endpoint.path, rest)) {
        None => Err(Rejection::NotFound),
        Some(endpoint) if endpoint.action.takes(method) => Ok(&endpoint.action),
        Some(endpoint) => Err(Rejection::MethodNotAllowed { allow: endpoint.action.allow() }),
    };
    (protocol, action)
}

/// Every list that some protocol wants of a catalogue.
///
/// They stand apart from the protocols because the build alone renders them: what nothing that is
/// deployed refers to is not deployed.
pub fn list_forms() -> impl Iterator<Item = &'static ListForm> {
    let lists: &[&[ListForm]] =
        &[&[oxp::LIST], envelope::LISTS, &[opentool::LIST], &[xaibo::LIST], mcp::LISTS];
    lists.iter().chain(providers::LISTS).flat_map(|forms| forms.iter())
}

#[cfg(test)]
mod tests;
