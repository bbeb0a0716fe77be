//! The router: finds the protocol and the route of a path.

use crate::names::same;
use crate::protocol::{PROTOCOLS, Protocol, ROOT, Route};

/// What a path leads to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Match<'p> {
    /// The protocol. An unknown path belongs to one too: its error has that protocol's format.
    pub(crate) protocol: &'static Protocol,
    /// The route; none if the protocol has no such path.
    pub(crate) route: Option<&'static Route>,
    /// The segment that the route's `{…}` stands for; empty if it has none.
    pub(crate) parameter: &'p str,
}

/// Finds the route of a path.
pub(crate) fn find(path: &str) -> Match<'_> {
    let mount = PROTOCOLS.iter().find_map(|(prefix, protocol)| {
        // Most prefixes can be ruled out by their length and end alone.
        let rest = path.get(prefix.len()..)?;
        let ends = rest.is_empty() || rest.starts_with('/');
        (ends && path.starts_with(prefix)).then_some((*protocol, rest))
    });
    let (protocol, rest) = mount.unwrap_or((&ROOT, path));
    // A mount is found with and without a slash at the end.
    let rest = if rest == "/" && path != "/" { "" } else { rest };
    let mut parameter = "";
    let route = protocol.routes.iter().find(|route| match route.path.rsplit_once("/{") {
        None => same(route.path, rest),
        Some((parent, _)) => match rest.rsplit_once('/') {
            Some((start, segment)) if start == parent && !segment.is_empty() => {
                parameter = segment;
                true
            }
            _ => false,
        },
    });
    Match { protocol, route, parameter }
}

#[cfg(test)]
mod tests;
