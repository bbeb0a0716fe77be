//! Collects the calls of one request, for the log and for measurements.

use std::cell::{Cell, RefCell};

use crate::catalog::Tool;
use crate::host::Host;
use crate::trace::{Span, TraceContext};

/// One call, as the log describes it.
#[derive(Debug)]
pub(crate) struct CallRecord {
    /// The tool, if it was found.
    pub(crate) tool: Option<&'static Tool>,
    /// What came of it.
    pub(crate) outcome: &'static str,
    /// The code of the error, if it did not succeed.
    pub(crate) error: Option<&'static str>,
    /// Milliseconds from the arrival of the request. On Workers the clock advances only with I/O.
    pub(crate) duration_ms: u64,
    /// Its span, if the request belongs to a trace.
    pub(crate) span: Option<Span>,
    /// How the log names the user for whom an application calls, if it names one.
    pub(crate) user: Option<String>,
}

/// What came of a call: a word, and the code of the error if it did not succeed.
pub(crate) type CallResult = (&'static str, Option<&'static str>);

/// The method of an MCP request that calls a tool, and the version of the protocol if it is a known one.
pub type McpOperation = (&'static str, Option<&'static str>);

/// Collects the calls of one request. The default collects nothing.
#[derive(Debug, Default)]
pub struct CallRecorder {
    is_recording: bool,
    started_ms: u64,
    trace: RefCell<Option<TraceContext>>,
    pub(crate) mcp: Cell<Option<McpOperation>>,
    records: RefCell<Vec<CallRecord>>,
}

impl CallRecorder {
    /// A recorder for a request that has just arrived.
    pub(crate) fn new(trace: Option<TraceContext>, is_recording: bool, host: &dyn Host) -> Self {
        Self {
            is_recording,
            started_ms: host.now_ms(),
            trace: RefCell::new(trace),
            ..Self::default()
        }
    }

    /// Continues the trace that the body names, instead of the one in the headers: that may belong to a proxy. An
    /// invalid `traceparent` is ignored.
    pub(crate) fn continue_trace(&self, traceparent: &str) {
        if let Some(trace) = TraceContext::parse(traceparent) {
            *self.trace.borrow_mut() = Some(trace);
        }
    }

    pub(crate) fn describe_mcp(&self, operation: McpOperation) {
        self.mcp.set(Some(operation));
    }

    pub(crate) fn is_traced(&self) -> bool {
        self.trace.borrow().is_some()
    }

    /// Whether the calls of the request are recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.is_recording
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.borrow().is_empty()
    }

    /// A new span, if the request belongs to a trace.
    pub(crate) fn span(&self, host: &dyn Host) -> Option<Span> {
        let trace = self.trace.borrow().clone()?;
        Some(Span::new(trace, host.random_16().ok()?))
    }

    /// Milliseconds since the request arrived.
    pub(crate) fn elapsed_ms(&self, host: &dyn Host) -> u64 {
        host.now_ms().saturating_sub(self.started_ms)
    }

    /// Records a call that ran, or did not run.
    pub(crate) fn record(
        &self,
        tool: Option<&'static Tool>,
        (outcome, error): CallResult,
        (span, user): (Option<Span>, Option<String>),
        host: &dyn Host,
    ) {
        if self.is_recording {
            let span = span.or_else(|| self.span(host));
            let duration_ms = self.elapsed_ms(host);
            let record = CallRecord { tool, outcome, error, duration_ms, span, user };
            self.records.borrow_mut().push(record);
        }
    }

    /// Records a call that was rejected before it reached the pipeline.
    pub(crate) fn reject(&self, error: &'static str, host: &dyn Host) {
        self.record(None, ("rejected", Some(error)), (None, None), host);
    }

    /// Records that the whole request was rejected, unless a call was recorded before.
    pub(crate) fn reject_all(&self, error: &'static str, host: &dyn Host) {
        if self.is_empty() {
            self.reject(error, host);
        }
    }

    pub(crate) fn take_records(&self) -> Vec<CallRecord> {
        self.records.take()
    }
}
