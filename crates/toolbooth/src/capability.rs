//! Capabilities: what a Worker serves besides its tools. The built-in ones are made like those of a Worker's author.

use crate::route::Protocol;
use crate::tool::Variable;

/// Protocols, pages and endpoints that a Worker serves, with the variables that they read.
///
/// A crate outside of this one makes one with the public API, and the Worker lists it in `serve!`: see the sample
/// `samples/own-protocol`.
#[derive(Debug)]
pub struct Capability {
    /// Its name, for the operator.
    pub name: &'static str,
    /// The protocols, with the paths that they are mounted at. The longest prefix of a path counts.
    pub protocols: &'static [(&'static str, &'static Protocol)],
    /// The variables that it reads. While one of them is missing or invalid, the server rejects the requests of this
    /// capability and serves the others.
    pub variables: &'static [Variable],
}

/// The capabilities of a server.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities {
    /// Those of this crate.
    built_in: &'static [&'static Capability],
    /// Those that the Worker adds.
    own: &'static [&'static Capability],
}

impl Capabilities {
    /// The built-in capabilities, and those that a Worker adds.
    pub(crate) const fn new(
        built_in: &'static [&'static Capability],
        own: &'static [&'static Capability],
    ) -> Self {
        Self { built_in, own }
    }

    /// Every capability.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'static Capability> + Clone {
        self.built_in.iter().chain(self.own).copied()
    }

    /// The variables of every capability, with its name.
    pub(crate) fn variables(self) -> Vec<(&'static str, &'static [Variable])> {
        self.iter().map(|it| (it.name, it.variables)).collect()
    }

    /// Every protocol, with its mount and the capability that it belongs to.
    pub(crate) fn protocols(
        self,
    ) -> impl Iterator<Item = (&'static str, &'static Protocol, &'static Capability)> + Clone {
        self.iter().flat_map(|capability| {
            let protocols = capability.protocols.iter();
            protocols.map(move |(mount, protocol)| (*mount, *protocol, capability))
        })
    }
}
