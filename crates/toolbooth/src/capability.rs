//! Capabilities: what a Worker serves in addition to its tools. The built-in ones are made like those of a Worker's author.

use std::fmt;
use std::sync::Arc;

use crate::auth::OwnTokens;
use crate::call::{BackgroundHandler, Grants, Search, Tasks};
use crate::catalog::{Catalog, ListForm};
use crate::extensions::Extensions;
use crate::host::{Host, async_trait};
use crate::http::Headers;
use crate::log::EventLog;
use crate::principal::Person;
use crate::route::{Protocol, Sample, State};
use crate::settings::{CapabilitySettings, Settings, VariableDoc};
use crate::tool::Variable;

/// Protocols, pages and endpoints that a Worker serves, with the variables that they read.
///
/// The Worker lists its capabilities in `serve!`. What is not listed is not linked. A crate outside of this one makes
/// one with the public API: see the sample `samples/own-protocol`.
#[derive(Debug)]
pub struct Capability {
    /// Its name, for the operator and for the lists of tools that it needs.
    pub name: &'static str,
    /// The protocols, with the paths that they are mounted at. The longest prefix of a path counts.
    pub protocols: &'static [(&'static str, &'static Protocol)],
    /// The variables that it reads. While one of them is missing or invalid, the server rejects the requests of this
    /// capability and serves the others.
    pub variables: &'static [Variable],
    /// Its settings. An invalid one concerns the whole server.
    pub settings: Option<&'static CapabilitySettings>,
    /// Creates what its routes share, when the server starts.
    pub start: Option<fn(&mut Startup<'_>)>,
    /// What the operator should know about the configuration, although the server can serve calls.
    pub warnings: Option<Warnings>,
    /// The scopes that it requires, beside those of tools.
    pub scopes: &'static [&'static str],
    /// The name of the capability whose lists of tools it needs: usually its own.
    pub lists: &'static str,
    /// How its protocols write a call, with the address: for clients that send the call of a different protocol.
    pub call_forms: &'static [&'static str],
    /// What serves its requests in the background. They need the capability `TASKS`.
    pub background: &'static [&'static dyn BackgroundHandler],
}

impl Capability {
    /// A capability with this name that serves nothing yet.
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            protocols: &[],
            variables: &[],
            settings: None,
            start: None,
            warnings: None,
            scopes: &[],
            lists: name,
            call_forms: &[],
            background: &[],
        }
    }

    /// Whether one of these names is its own.
    #[doc(hidden)]
    pub const fn is_among(&self, mut names: &[&str]) -> bool {
        while let [name, rest @ ..] = names {
            if is_same(name.as_bytes(), self.name.as_bytes()) {
                return true;
            }
            names = rest;
        }
        false
    }
}

/// `==` for constants.
const fn is_same(mut one: &[u8], mut other: &[u8]) -> bool {
    while let ([first, rest @ ..], [same, others @ ..]) = (one, other) {
        if *first != *same {
            return false;
        }
        (one, other) = (rest, others);
    }
    one.is_empty() && other.is_empty()
}

/// Writes what the operator should know about the configuration of a server.
pub type Warnings = fn(&State, &dyn Host) -> Vec<String>;

/// A server that starts: what is known, and what capabilities add.
#[derive(Debug)]
pub struct Startup<'a> {
    /// The catalogue.
    pub catalog: &'static Catalog,
    /// The settings, with those of all capabilities.
    pub settings: &'a Settings,
    /// The log of events.
    pub events: &'a EventLog,
    /// What capabilities keep for their requests.
    pub extensions: Extensions,
    /// The tokens that the server itself issues.
    pub own_tokens: Option<OwnTokens>,
    /// The grants of users.
    pub grants: Option<Arc<dyn Grants>>,
    /// The path of the pages that explain how to authorize calls; the id of a provider follows.
    pub authorization_help: Option<&'static str>,
    /// The people who sign in with a browser.
    pub people: Option<Arc<dyn People>>,
    /// The search in the catalogue.
    pub search: Option<Search>,
    /// What keeps tasks.
    pub tasks: Option<Tasks>,
}

/// The people who sign in to the server with a browser.
#[async_trait(?Send)]
pub trait People: Send + Sync {
    /// Who has signed in with the browser that sent a request.
    async fn person(&self, headers: &dyn Headers, host: &dyn Host) -> Option<Person>;
}

/// Shows nothing. A supertrait would link the code that shows every part of the server.
impl fmt::Debug for dyn People {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("People(…)")
    }
}

/// The lists of tools that the protocols of a capability serve, for the build to render.
#[derive(Debug, Clone, Copy)]
pub struct CapabilityLists {
    /// The name of the capability.
    pub capability: &'static str,
    /// How its protocols list tools.
    pub forms: &'static [&'static [ListForm]],
}

/// How to write the calls that some paths of a protocol accept.
#[derive(Debug)]
pub struct ProtocolSample {
    /// The protocol.
    pub protocol: &'static Protocol,
    /// The paths, with its mount; `{name}` is the name of the tool.
    pub paths: Vec<String>,
    /// How to write a call, and how to read the response.
    pub sample: &'static Sample,
}

/// The capabilities of a server.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities(pub &'static [&'static Capability]);

impl Capabilities {
    /// Every capability.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'static Capability> + Clone {
        self.0.iter().copied()
    }

    /// The variables of every capability, with its name.
    pub(crate) fn variables(self) -> Vec<(&'static str, &'static [Variable])> {
        self.iter().map(|it| (it.name, it.variables)).collect()
    }

    /// The settings of every capability.
    pub(crate) fn settings(self) -> Vec<&'static CapabilitySettings> {
        self.iter().filter_map(|it| it.settings).collect()
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

    /// The samples of every protocol. Empty without the feature `testing`.
    pub fn samples(self) -> impl Iterator<Item = ProtocolSample> {
        self.protocols().flat_map(|(mount, protocol, _)| {
            protocol.samples.iter().map(move |(paths, sample)| ProtocolSample {
                protocol,
                paths: paths.iter().map(|path| format!("{mount}{path}")).collect(),
                sample,
            })
        })
    }

    /// The documentation of all variables of the server, each once.
    pub fn variable_docs(self) -> Vec<&'static VariableDoc> {
        let own = Settings::variables();
        let others = self.settings().into_iter().flat_map(|it| it.variables).copied().flatten();
        let mut docs: Vec<&VariableDoc> = Vec::new();
        for doc in own.chain(others) {
            if !docs.iter().any(|known| known.name == doc.name) {
                docs.push(doc);
            }
        }
        docs
    }

    /// What all capabilities list.
    pub(crate) fn all<T: Copy>(self, listed: fn(&Capability) -> &'static [T]) -> Vec<T> {
        let mut all = Vec::new();
        self.iter().for_each(|it| all.extend_from_slice(listed(it)));
        all
    }

    /// The scopes that mean something, although no tool requires them.
    pub(crate) fn scopes(self) -> impl Iterator<Item = &'static str> {
        self.iter().flat_map(|it| it.scopes).copied()
    }
}
