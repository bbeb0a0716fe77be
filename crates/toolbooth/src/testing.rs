//! The test kit: [`ToolTest`] calls the tools of a catalogue, with fakes of everything that they use.
//!
//! Enable the feature `testing` in the `dev-dependencies` of the catalogue:
//!
//! ```toml
//! [dev-dependencies]
//! toolbooth = { version = "0.1", features = ["default", "testing"] }
//! ```
//!
//! Tests of the server itself use [`FakeHost`], which fakes all traits of [`host`](crate::host).

mod definition_examples;
mod difference;
#[doc(hidden)]
pub mod echo;
pub mod example;
mod host;
mod http;
mod ledger;
#[doc(hidden)]
pub mod mcp;
mod messages;
mod protocols;
#[doc(hidden)]
pub mod repository;
mod store;
mod tasks;
mod tool_test;
mod types;

use std::future::Future;
use std::task::{Context, Poll, Waker};

use crate::call::{Outcome, Pipeline, RequestContext, ToolRequest};
use crate::capabilities::{CORE, MCP, REST, SEARCH, TASKS, USAGE, XAIBO};
use crate::capability::{Capabilities, Capability};
use crate::catalog::Catalog;
use crate::host::{Host, Variables};
use crate::log::CallRecorder;
use crate::principal::Principal;
use crate::settings::Settings;

pub use definition_examples::{Examples, read_examples};
pub use host::{FakeHost, fake_signature};
pub use http::{BREAKS_OFF, CHUNK_END, FakeHttp, SentRequest, Upstream, respond};
pub use ledger::FakeLedger;
pub use messages::{Pairs, rejection_header, wire};
pub use protocols::ProtocolTest;
pub use store::{FakeStore, STALE_MS};
pub use tool_test::ToolTest;
pub use types::check_input_type;

/// The value of a future that never waits.
///
/// # Panics
/// The future is not ready at its first poll. Without I/O, the pipeline always is.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        #[allow(clippy::panic)]
        Poll::Pending => panic!("the future is pending without I/O"),
    }
}

/// The value of a future that waits for nothing but the clock of a [`FakeHost`].
///
/// # Panics
/// The future is not ready after a million polls.
#[doc(hidden)]
pub fn patient<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    for _ in 0..1_000_000 {
        let poll = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if let Poll::Ready(value) = poll {
            return value;
        }
    }
    #[allow(clippy::panic)]
    {
        panic!("the future is pending without I/O")
    }
}

/// Runs `test` with the context of a request without headers.
pub fn with_context<T>(
    catalog: &'static Catalog,
    principal: &Principal,
    query: &str,
    host: &dyn Host,
    test: impl FnOnce(&RequestContext<'_>) -> T,
) -> T {
    let (pipeline, calls) = (&Pipeline::new(catalog, host), &CallRecorder::default());
    let (parameter, headers) = ("", &Pairs(&[]));
    test(&RequestContext {
        query,
        parameter,
        headers,
        principal,
        pipeline,
        host,
        calls,
        only: None,
        shows_protected: false,
        listener: None,
    })
}

/// Serves one call with the pipeline, without a server.
///
/// # Panics
/// The tool is not ready after many polls: each reads the clock of a [`FakeHost`] that waits.
pub fn call_tool(
    call: ToolRequest<'_>,
    catalog: &'static Catalog,
    principal: &Principal,
    host: &dyn Host,
) -> Outcome {
    let (pipeline, calls) = (&Pipeline::new(catalog, host), &CallRecorder::default());
    let (query, parameter, headers) = ("", "", &Pairs(&[]));
    let context = RequestContext {
        query,
        parameter,
        headers,
        principal,
        pipeline,
        host,
        calls,
        only: None,
        shows_protected: false,
        listener: None,
    };
    patient(context.call(Ok(call))).unwrap_or_else(Outcome::Rejected)
}

/// Every capability of this crate.
pub static CAPABILITIES: &[&Capability] = &[&CORE, &XAIBO, &REST, &MCP, &SEARCH, &TASKS, &USAGE];

/// The settings of a server with these capabilities.
pub fn settings(capabilities: &'static [&'static Capability], host: &dyn Variables) -> Settings {
    Settings::read(host, &Capabilities(capabilities).settings(), &[])
}
