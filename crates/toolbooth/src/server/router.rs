//! The router: finds the protocol and the route of a path.

use crate::call::Rejection;
use crate::capability::{Capabilities, Capability};
use crate::http::Method;
use crate::names::is_equal;
use crate::protocol::{CORE, ROOT};
use crate::route::{Protocol, Route, RouteRequest};

/// The protocol and the route of a path.
#[derive(Debug, Clone, Copy)]
pub struct Match<'p> {
    capabilities: Capabilities,
    mount: &'static str,
    /// The protocol. Unknown paths have one too, which determines the format of the error.
    pub protocol: &'static Protocol,
    /// The capability that the protocol belongs to.
    pub capability: &'static Capability,
    /// The path of its routes; `None` if the protocol has no such path.
    path: Option<&'static str>,
    /// The path segment that matches the route's `{…}`; empty if it has none.
    pub parameter: &'p str,
}

/// Finds the route of a path. The longest mount that is a prefix of the path counts.
///
/// Several protocols can be mounted at the same place: the last that has the path counts, so that a Worker can replace
/// routes with a capability of its own; otherwise the first.
pub fn find(capabilities: Capabilities, path: &str) -> Match<'_> {
    let mut best: Option<Match<'_>> = None;
    // Loops, because each request compares all mounts: adaptors of iterators took a tenth of a call.
    for capability in capabilities.iter() {
        for &(mount, protocol) in capability.protocols {
            let Some(rest) = below(mount, path) else { continue };
            let is_longer = best.is_none_or(|it| it.mount.len() < mount.len());
            if !is_longer && best.is_some_and(|it| it.mount.len() > mount.len()) {
                continue;
            }
            let (route, parameter) = match_path(protocol, rest);
            if is_longer || route.is_some() {
                let path = route;
                best = Some(Match { capabilities, mount, protocol, capability, path, parameter });
            }
        }
    }
    let (protocol, capability) = (&ROOT, &CORE);
    best.unwrap_or(Match {
        capabilities,
        mount: "",
        protocol,
        capability,
        path: None,
        parameter: "",
    })
}

/// The rest of a path behind a mount; `None` if the path is not below it.
fn below<'p>(mount: &str, path: &'p str) -> Option<&'p str> {
    // One byte is cheap to compare, and excludes most mounts.
    if !matches!(path.as_bytes().get(mount.len()), None | Some(b'/')) {
        return None;
    }
    let rest = path.strip_prefix(mount)?;
    // A trailing slash after a mount is ignored.
    Some(if rest == "/" && path != "/" { "" } else { rest })
}

/// The path among those of a protocol that a path below its mount has, with the segment that matches `{…}`.
fn match_path<'p>(protocol: &'static Protocol, rest: &'p str) -> (Option<&'static str>, &'p str) {
    let mut parameter = "";
    let not_served = protocol.not_served.iter().map(|(path, _)| *path);
    let mut paths = protocol.routes.iter().map(|route| route.path).chain(not_served);
    // To look for `/{` would cost more than the rest: the search prepares tables for each path.
    let parent_of = |path: &'static str| path.strip_suffix('}')?.rsplit_once('/');
    let path = paths.find(|path| match parent_of(path) {
        // A segment, and then the rest of the path as it is written.
        None if path.starts_with("/{") => match segment_before(path, rest) {
            Some(segment) => {
                parameter = segment;
                true
            }
            None => false,
        },
        None => is_equal(path, rest),
        // The rest of the path, with its slashes.
        Some((parent, name)) if name.starts_with("{+") => match rest.strip_prefix(parent) {
            Some(segments) if segments.starts_with('/') && segments.len() > 1 => {
                parameter = segments.get(1..).unwrap_or_default();
                true
            }
            _ => false,
        },
        Some((parent, _)) => match rest.rsplit_once('/') {
            Some((start, segment)) if start == parent && !segment.is_empty() => {
                parameter = segment;
                true
            }
            _ => false,
        },
    });
    (path, parameter)
}

/// The segment of `rest` that matches `{…}` of a path such as `/{id}/cancel`.
fn segment_before<'p>(path: &str, rest: &'p str) -> Option<&'p str> {
    let (_, end) = path.split_once('}')?;
    let segment = rest.strip_prefix('/')?.strip_suffix(end)?;
    (!segment.is_empty() && !segment.contains('/')).then_some(segment)
}

impl Match<'_> {
    /// The route of a method.
    ///
    /// # Errors
    /// The protocol has no such path, does not serve it, or the path does not accept the method.
    pub fn route(&self, method: Method) -> Result<&'static Route, Rejection> {
        let path = self.path.ok_or_else(|| self.not_found())?;
        if let Some((_, reason)) = self.protocol.not_served.iter().find(|(it, _)| *it == path) {
            return Err(Rejection::NotServed(reason));
        }
        let route = self.protocol.route(path, method);
        route.ok_or_else(|| {
            let allow = self.protocol.allow(path, &|route| route.handler.is_listed());
            Rejection::MethodNotAllowed { allow }
        })
    }

    /// The methods that the path accepts from the sender of a request, who may be unknown.
    ///
    /// # Errors
    /// The protocol has no such path.
    pub fn allow(&self, request: Option<&RouteRequest<'_>>) -> Result<String, Rejection> {
        let path = self.path.ok_or_else(|| self.not_found())?;
        Ok(self.protocol.allow(path, &|route| route.handler.accepts(request)))
    }

    /// The rejection of a path without a route. It names the endpoints of the path's protocol, or the protocols.
    fn not_found(&self) -> Rejection {
        let Self { mount, protocol, .. } = *self;
        let hint = if mount.is_empty() || !protocol.listed {
            let protocols = self.capabilities.protocols();
            let listed = protocols.filter(|(mount, it, _)| !mount.is_empty() && it.listed);
            let mounts: Vec<_> = listed.map(|(mount, ..)| mount).collect();
            let mounts = mounts.join(", ");
            format!(
                "GET / lists the endpoints, GET /tools the tools; POST /call runs a tool. Other protocols are at {mounts}"
            )
        } else {
            let endpoints: Vec<_> = protocol.endpoints(mount).map(|it| it.to_string()).collect();
            format!("GET / lists the endpoints; here they are {}", endpoints.join(", "))
        };
        Rejection::NotFound { hint: hint.into() }
    }
}
