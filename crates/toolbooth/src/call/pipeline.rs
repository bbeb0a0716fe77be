//! The pipeline: rate limit → resolve → authorize → requirements → input → run → output. Every call of
//! every protocol passes through it once.

use std::future::{Future, poll_fn};
use std::task::Poll;

use futures_util::future::maybe_done;
use uuid::Builder;

use super::outcome::Outcome;
use super::rejection::Rejection;
use super::requirements::Fulfilled;
use super::{ToolRequest, ToolSelector, input, requirements};
use crate::catalog::{Catalog, Entry, List, RunError, Tool};
#[cfg(feature = "challenges")]
use crate::challenge::Challenges;
use crate::host::{BoxFuture, Host, Level, NoRandomness, rare};
use crate::http::Headers;
use crate::json::Value;
#[cfg(feature = "mcp")]
use crate::oauth::RequestStateCodec;
use crate::principal::Principal;
use crate::schema::check;
use crate::settings::{Permission, Settings};
use crate::tool::{Capabilities, Context, Dialogue, InputRequired, Notification, ToolError};

/// What serves calls, for as long as the server lives.
#[derive(Debug)]
pub struct Pipeline {
    /// The tools.
    pub catalog: &'static Catalog,
    /// The configuration.
    pub settings: Settings,
    /// How users authorize tools, if the operator configured it.
    #[cfg(feature = "challenges")]
    pub challenges: Option<Challenges>,
    /// Seals the state of tools that ask for input. Without a key, such tools have no state.
    #[cfg(feature = "mcp")]
    pub(crate) request_state: Option<RequestStateCodec>,
    /// Whether calls are counted against a rate limit. Bindings do not change while a server lives.
    pub rate_limited: bool,
    /// Whether every caller sees the same lists.
    pub same_for_all: bool,
}

#[cfg(any(test, feature = "testing"))]
impl Pipeline {
    /// A pipeline without authentication, challenges and rate limit, for tests of its parts.
    pub fn new(catalog: &'static Catalog, host: &dyn Host) -> Self {
        Self {
            catalog,
            settings: Settings::read(host, catalog.variables),
            #[cfg(feature = "challenges")]
            challenges: None,
            #[cfg(feature = "mcp")]
            request_state: None,
            rate_limited: false,
            same_for_all: false,
        }
    }
}

/// One request, as far as the pipeline and the protocols need it besides its body.
#[derive(Clone, Copy)]
pub struct RequestContext<'a> {
    /// The query, without `?`.
    pub query: &'a str,
    /// The headers.
    pub headers: &'a dyn Headers,
    /// Who sent it.
    pub principal: &'a Principal,
    /// What serves its calls.
    pub pipeline: &'a Pipeline,
    /// The clock, randomness, store and log.
    pub host: &'a dyn Host,
}

/// A call that passed every check.
pub(crate) struct Prepared<'a> {
    tool: &'static Tool,
    call_id: String,
    input: Value<'a>,
    dialogue: Dialogue,
    met: Fulfilled<'a>,
}

impl<'a> RequestContext<'a> {
    /// Whether the caller may run `tool`: lists show it, and calls of it are served.
    pub fn allows(&self, tool: &Tool) -> bool {
        self.pipeline.settings.allows(self.principal, tool)
    }

    /// The list `name` as it was rendered at build time.
    ///
    /// # Errors
    /// [`Rejection::Unavailable`]: the catalogue was built without it.
    pub fn list(&self, name: &str) -> Result<&'static List, Rejection> {
        let missing = Rejection::Unavailable("its catalogue lacks the list of this protocol");
        self.pipeline.catalog.list(name).ok_or(missing)
    }

    /// The entries of `list` whose tools the caller may run.
    pub fn allowed_entries(
        &self,
        list: &'static List,
    ) -> impl Iterator<Item = &'static Entry> + Clone {
        let context = *self;
        list.entries.iter().filter(move |entry| {
            context.pipeline.catalog.tools.get(entry.tool).is_some_and(|tool| context.allows(tool))
        })
    }

    /// Finds the tool that a client named.
    ///
    /// # Errors
    /// [`Rejection::InvalidToolId`], [`Rejection::UnknownTool`] or [`Rejection::UnknownVersion`].
    pub fn resolve(&self, selector: &ToolSelector<'_>) -> Result<&'static Tool, Rejection> {
        selector.resolve(self.pipeline.catalog)
    }

    /// Serves one call. One that could not be decoded is passed as its rejection: it counts too.
    ///
    /// # Errors
    /// The whole request is rejected: the caller has reached its rate limit.
    pub fn call(
        &self,
        call: Result<ToolRequest<'a>, Rejection>,
    ) -> BoxFuture<'a, Result<Outcome, Rejection>> {
        let context = *self;
        Box::pin(async move {
            context.count(1).await?;
            let prepared = match call {
                Ok(call) => context.prepare_one(call).await,
                Err(rejection) => Err(Outcome::Rejected(rejection)),
            };
            Ok(context.run_one(prepared).await)
        })
    }

    /// Serves several calls: [`prepare`](Self::prepare), then [`run`](Self::run). Their outcomes come
    /// in the order of the calls.
    ///
    /// # Errors
    /// As of [`call`](Self::call).
    pub fn call_all(
        &self,
        calls: Vec<Result<ToolRequest<'a>, Rejection>>,
    ) -> BoxFuture<'a, Result<Vec<Outcome>, Rejection>> {
        let context = *self;
        Box::pin(async move {
            let prepared = context.prepare(calls).await?;
            Ok(context.run(prepared).await)
        })
    }

    /// Checks calls, and gets the tokens that they need, one call after the other: most refresh
    /// tokens can be used only once, and what the first call has refreshed the next ones use.
    ///
    /// # Errors
    /// As of [`call`](Self::call). A call that cannot run has its outcome in the list.
    pub(crate) fn prepare(
        &self,
        calls: Vec<Result<ToolRequest<'a>, Rejection>>,
    ) -> BoxFuture<'a, Result<Vec<Result<Prepared<'a>, Outcome>>, Rejection>> {
        let context = *self;
        Box::pin(async move {
            context.count(calls.len()).await?;
            let mut prepared = Vec::with_capacity(calls.len());
            for call in calls {
                prepared.push(match call {
                    Ok(call) => context.prepare_one(call).await,
                    Err(rejection) => Err(Outcome::Rejected(rejection)),
                });
            }
            Ok(prepared)
        })
    }

    /// Runs calls concurrently.
    pub(crate) fn run(
        &self,
        prepared: Vec<Result<Prepared<'a>, Outcome>>,
    ) -> BoxFuture<'a, Vec<Outcome>> {
        let context = *self;
        rare(join_all(
            prepared.into_iter().map(move |one| async move { context.run_one(one).await }),
        ))
    }

    /// Checks a call, and gets the tokens that it needs.
    ///
    /// The order of the checks is that of OXP call-tool, "Error Behavior": the tool id, its version,
    /// what it requires, then the input. A server with an invalid configuration serves no call.
    ///
    /// # Errors
    /// The outcome of a call that cannot run.
    async fn prepare_one(self, mut call: ToolRequest<'a>) -> Result<Prepared<'a>, Outcome> {
        let Self { principal, pipeline, host, .. } = self;
        let settings = &pipeline.settings;
        if !settings.problems.is_empty() {
            return Err(Outcome::Rejected(misconfigured()));
        }
        let tool = self.resolve(&call.tool).map_err(Outcome::Rejected)?;
        match settings.permission(tool) {
            Permission::Given => {}
            Permission::Warned => {
                host.log(Level::Warn, "not_in_allowlist", &[("tool", &tool.id())]);
            }
            Permission::Denied => {
                return Err(Outcome::Rejected(Rejection::ToolNotAllowed { name: tool.name }));
            }
        }
        if !principal.scopes().cover(tool.scopes) {
            let rejection = Rejection::MissingScope { name: tool.name, scopes: tool.scopes };
            return Err(Outcome::Rejected(rejection));
        }
        let met = requirements::meet(tool, call.credentials, self).await;
        let met = met.map_err(Outcome::Rejected)?;
        input::admit(tool.input, &mut call.input, call.nulls).map_err(Outcome::InvalidInput)?;
        let call_id = call.call_id.map_or_else(|| random_uuid(host), Ok);
        let no_id =
            |NoRandomness| Outcome::Rejected(Rejection::Unavailable("it has no random bytes"));
        let (input, dialogue) = (call.input, call.dialogue);
        Ok(Prepared { tool, call_id: call_id.map_err(no_id)?, input, dialogue, met })
    }

    /// Runs a call that passed the checks.
    async fn run_one(self, prepared: Result<Prepared<'a>, Outcome>) -> Outcome {
        let Self { principal, pipeline, host, .. } = self;
        let Prepared { tool, call_id, input, dialogue, met } = match prepared {
            Ok(prepared) => prepared,
            Err(outcome) => return outcome,
        };
        let variables = &pipeline.settings.tools;
        let started = host.now_ms();
        let context = Context::new(principal, &met.credentials, &dialogue, variables, host);
        let result = (tool.run)(&input, &context).await;
        let duration_ms = host.now_ms().saturating_sub(started);
        let notes = context.take_notes();

        let error = match result {
            Ok(value) if tool.output.is_valid(&(&value).into()) => {
                return Outcome::Done { call_id, duration_ms, value, notes };
            }
            Ok(value) => {
                let faults = check(tool.output, &(&value).into()).err();
                let faults = faults.map(|faults| faults.to_string()).unwrap_or_default();
                faulty_tool(tool, host, "its output breaks output_schema", &faults)
            }
            Err(RunError::Mismatch(reason)) => {
                faulty_tool(tool, host, "its types and its schemas disagree", &reason)
            }
            Err(RunError::Tool(error)) => {
                let refused = context.refused_token();
                if let Some(rejection) =
                    refused.and_then(|provider| met.refused(tool, &provider, host))
                {
                    return Outcome::Rejected(rejection);
                }
                match context.take_asked() {
                    None => error,
                    Some((questions, state)) => {
                        let required = InputRequired { tool: tool.name, questions, state };
                        match required.fault() {
                            None => return ask(required, dialogue.capabilities, notes),
                            Some(fault) => faulty_tool(tool, host, fault, ""),
                        }
                    }
                }
            }
        };
        Outcome::Failed { call_id, duration_ms, error, notes }
    }
}

/// Passes on what a tool asks for, if the client can provide all of it.
fn ask(required: InputRequired, capabilities: Capabilities, notes: Vec<Notification>) -> Outcome {
    let lacking = required.lacking(capabilities);
    if lacking.is_empty() {
        Outcome::InputRequired { required, notes }
    } else {
        Outcome::Rejected(Rejection::CannotAsk { name: required.tool, lacking })
    }
}

/// Waits for a few futures at once and returns their outputs in order. The library's `join_all` links
/// a queue for many futures as well, which is 2.6 KB of the Worker.
async fn join_all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = futures.map(|one| Box::pin(maybe_done(one))).collect();
    poll_fn(|context| {
        let mut waiting = false;
        for one in &mut all {
            waiting |= one.as_mut().poll(context).is_pending();
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    all.iter_mut().filter_map(|one| one.as_mut().take_output()).collect()
}

fn random_uuid(host: &dyn Host) -> Result<String, NoRandomness> {
    let uuid = Builder::from_random_bytes(host.random_16()?).into_uuid();
    Ok(uuid.hyphenated().to_string())
}

/// The answer of a server with an invalid configuration, whatever it is asked.
pub(crate) fn misconfigured() -> Rejection {
    Rejection::Unavailable("its configuration is wrong; its log says what")
}

/// The author's mistake: the client learns no more than that, the operator all of it.
fn faulty_tool(tool: &Tool, host: &dyn Host, what: &'static str, detail: &str) -> ToolError {
    let id = tool.id();
    host.log(Level::Error, "faulty_tool", &[("tool", &id), ("what", what), ("detail", detail)]);
    ToolError::new("The tool failed").developer_message(format!("{id}: {what}"))
}
