//! Tests of the server with all capabilities, and of what all protocols have in common.
#![allow(missing_docs, clippy::expect_used, clippy::indexing_slicing, reason = "only tests use it")]

use toolbooth::Capability;
use toolbooth::capabilities::{CORE, MCP, REST, SEARCH, TASKS, USAGE, XAIBO};
use toolbooth::capability::{Capabilities, ProtocolSample};
use toolbooth::route::{Protocol, Sample};
use toolbooth_gateway::{GATEWAY, PROVIDERS};
use toolbooth_sign_in::{ACCOUNT, CHALLENGES, SIGN_IN};

pub mod exchange;

/// Every capability.
pub static CAPABILITIES: &[&Capability] = &[
    &CORE,
    &XAIBO,
    &REST,
    &MCP,
    &SEARCH,
    &PROVIDERS,
    &GATEWAY,
    &SIGN_IN,
    &ACCOUNT,
    &CHALLENGES,
    &TASKS,
    &USAGE,
];

/// The sample calls of each protocol that serves calls.
pub fn samples() -> impl Iterator<Item = ProtocolSample> {
    Capabilities(CAPABILITIES).samples()
}

/// Every path that accepts calls, with its protocol and a sample.
pub fn call_samples() -> impl Iterator<Item = (&'static Protocol, String, &'static Sample)> {
    samples().flat_map(|ProtocolSample { protocol, paths, sample, .. }| {
        paths.into_iter().map(move |path| (protocol, path, sample))
    })
}

#[cfg(test)]
mod configuration;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod mcp_challenges;
#[cfg(test)]
mod protocols;
#[cfg(test)]
mod routes;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod server;
