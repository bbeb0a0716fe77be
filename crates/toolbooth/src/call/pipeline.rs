//! The pipeline that serves every call: rate limit and budgets → resolve → authorize → requirements → input; `run` has
//! the rest: run → output.

use std::sync::Arc;

use uuid::Builder;

use super::grants::Grants;
use super::outcome::Outcome;
use super::rejection::Rejection;
use super::requirements::ResolvedRequirements;
use super::search::Search;
use super::task::{BackgroundHandler, Tasks};
use super::view::has;
use super::{CallId, ToolRequest, ToolSelector, input, requirements};
use crate::auth::TokenHolders;
use crate::catalog::{Catalog, TaskSupport, Tool};
use crate::host::{BoxFuture, Host, Level, NoRandomness};
use crate::http::Headers;
use crate::json::Value;
use crate::log::{CallRecorder, EventLog};
use crate::names::is_equal;
use crate::principal::Principal;
use crate::seal::StateKeys;
use crate::settings::{Permission, Settings};
use crate::tool::{Credentials, Dialogue, Notifications};

/// What the server needs to serve calls, created once. It is only data: [`RequestContext`] serves calls with it.
#[derive(Debug)]
pub struct Pipeline {
    /// The catalogue of tools.
    pub catalog: &'static Catalog,
    /// The settings.
    pub settings: Settings,
    /// The grants of users, if a capability keeps them.
    pub grants: Option<Arc<dyn Grants>>,
    /// Who holds the tokens that the server itself issues, if people sign in to it.
    pub holders: Option<Arc<dyn TokenHolders>>,
    /// The path of the pages that explain how to authorize calls, if there are any; the id of a provider follows.
    pub authorization_help: Option<&'static str>,
    /// The search in the catalogue, if a capability provides it.
    pub search: Option<Search>,
    /// What keeps tasks, if a capability does.
    pub tasks: Option<Tasks>,
    /// What serves requests in the background.
    pub background: Vec<&'static dyn BackgroundHandler>,
    /// How each protocol writes a call, with its address.
    pub call_forms: Vec<&'static str>,
    /// Seals what clients keep between requests: the state of tools that request input, and rounds of the chat
    /// gateway. `None` without a key; then there is no such state.
    pub request_state: Option<StateKeys>,
    /// The log of events.
    pub events: EventLog,
    /// Whether calls count against a rate limit. Constant, because bindings do not change while a server runs.
    pub rate_limited: bool,
    /// Whether every caller gets the same lists, so that shared caches may keep them.
    pub same_for_all: bool,
}

#[cfg(any(test, feature = "testing"))]
impl Pipeline {
    /// A pipeline without challenges and rate limit, for tests.
    pub fn new(catalog: &'static Catalog, host: &dyn Host) -> Self {
        let settings = Settings::read(host, &[], catalog.variables);
        Self {
            catalog,
            events: EventLog::new(&settings, host),
            settings,
            grants: None,
            holders: None,
            authorization_help: None,
            search: None,
            tasks: None,
            background: Vec::new(),
            call_forms: Vec::new(),
            request_state: None,
            rate_limited: false,
            same_for_all: false,
        }
    }
}

/// The parts of a request that the pipeline and the protocols need, without its body.
#[derive(Clone, Copy)]
pub struct RequestContext<'a> {
    /// The query, without `?`.
    pub query: &'a str,
    /// The path segment that matches the route's `{…}`; empty if it has none.
    pub parameter: &'a str,
    /// The headers.
    pub headers: &'a dyn Headers,
    /// Who sent it.
    pub principal: &'a Principal,
    /// The pipeline that serves its calls.
    pub pipeline: &'a Pipeline,
    /// The host.
    pub host: &'a dyn Host,
    /// Records its calls, for the log.
    pub calls: &'a CallRecorder,
    /// For this request, the catalogue has only these tools; `None`: all.
    pub only: Option<&'a [&'static Tool]>,
    /// Whether lists also have the tools that the caller may run only after signing in, or with further scopes.
    pub shows_protected: bool,
    /// Hears what its tools report while they run; `None`: it is part of their outcomes.
    pub listener: Option<&'a Notifications>,
}

/// The order of two checks of a call. The first check that fails decides the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckOrder {
    /// The requirements of the tool, then the input (OXP call-tool, "Error Behavior").
    RequirementsFirst,
    /// The input, then the requirements of the tool: if the caller may run the tool, invalid input always gives
    /// [`Outcome::InvalidInput`].
    InputFirst,
}

/// A call that passed every check.
pub struct Prepared<'a> {
    pub(super) tool: &'static Tool,
    pub(super) call_id: Option<String>,
    pub(super) input: Value<'a>,
    pub(super) takes_task: bool,
    pub(super) dialogue: Dialogue,
    pub(super) resolved: ResolvedRequirements<'a>,
    /// How the log names the user for whom an application calls.
    pub(super) user: Option<String>,
}

impl<'a> RequestContext<'a> {
    /// Finds the tool that a client named.
    ///
    /// # Errors
    /// [`Rejection::InvalidToolId`], [`Rejection::UnknownTool`] or [`Rejection::UnknownVersion`].
    pub fn resolve(&self, selector: &ToolSelector<'_>) -> Result<&'static Tool, Rejection> {
        selector.resolve(self.pipeline.catalog).or_else(|mut rejection| {
            if let Some(tool) = self.tool_of_search(selector) {
                return Ok(tool);
            }
            if let Rejection::UnknownTool { meant, .. } | Rejection::InvalidToolId { meant } =
                &mut rejection
            {
                *meant = self.nearest(selector);
            }
            Err(rejection)
        })
    }

    /// The tool that was probably meant by a selector of an unknown tool. Only tools that the caller may run are
    /// suggested.
    #[inline(never)]
    pub fn nearest(&self, selector: &ToolSelector<'_>) -> Option<String> {
        let catalog = self.pipeline.catalog;
        // The names of versions are skipped, so that each tool is compared once.
        let latest = catalog.names.iter().filter_map(|(name, at)| {
            catalog.tools.get(*at).filter(|tool| is_equal(tool.name, name))
        });
        selector.nearest(latest, |tool| self.shows(tool))
    }

    /// Serves one call. A call that could not be decoded is passed as its rejection, because it counts against
    /// the rate limit and the budgets too.
    ///
    /// # Errors
    /// [`Rejection::TooManyRequests`], [`Rejection::BudgetExceeded`] or [`Rejection::Unavailable`]: the whole request is
    /// rejected.
    pub fn call(
        &self,
        call: Result<ToolRequest<'a>, Rejection>,
    ) -> BoxFuture<'a, Result<Outcome, Rejection>> {
        let context = *self;
        Box::pin(async move {
            context.count_calls(1).await?;
            let prepared = context.prepare_one(call, CheckOrder::RequirementsFirst).await;
            Ok(context.run_one(prepared).await)
        })
    }

    /// Serves several calls. The outcomes are in the order of the calls.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_all(
        &self,
        calls: Vec<Result<ToolRequest<'a>, Rejection>>,
    ) -> BoxFuture<'a, Result<Vec<Outcome>, Rejection>> {
        let context = *self;
        Box::pin(async move {
            let prepared = context.prepare(calls, CheckOrder::RequirementsFirst).await?;
            Ok(context.run(prepared).await)
        })
    }

    /// Checks calls and gets the tokens that they need, one call after the other: most refresh tokens can be
    /// used only once, so later calls must use the tokens that the first one refreshed.
    ///
    /// # Errors
    /// As [`call`](Self::call). For a call that cannot run, the list has its outcome.
    pub fn prepare(
        &self,
        calls: Vec<Result<ToolRequest<'a>, Rejection>>,
        order: CheckOrder,
    ) -> BoxFuture<'a, Result<Vec<Result<Prepared<'a>, Outcome>>, Rejection>> {
        let context = *self;
        Box::pin(async move {
            context.count_calls(calls.len()).await?;
            let mut prepared = Vec::with_capacity(calls.len());
            for call in calls {
                prepared.push(context.prepare_one(call, order).await);
            }
            Ok(prepared)
        })
    }

    /// Finds the tool of a call and [`check`](Self::check)s it. A server with an invalid configuration rejects
    /// every call. The outcome of a call that cannot run is recorded.
    pub(super) async fn prepare_one(
        self,
        call: Result<ToolRequest<'a>, Rejection>,
        order: CheckOrder,
    ) -> Result<Prepared<'a>, Outcome> {
        let found = call.and_then(|call| {
            if !self.pipeline.settings.problems.is_empty() {
                return Err(misconfigured());
            }
            let (selector, input) = self.target(call.tool, call.input, None)?;
            let call = ToolRequest { tool: selector, input, ..call };
            Ok((self.resolve(&call.tool)?, call))
        });
        let (tool, user, prepared) = match found {
            Ok((tool, call)) => {
                let user = self.user_of(&call.credentials);
                (Some(tool), user, self.check(tool, call, order).await)
            }
            Err(rejection) => (None, None, Err(Outcome::Rejected(self.explain(rejection)))),
        };
        match prepared {
            Ok(prepared) => Ok(Prepared { user, ..prepared }),
            Err(outcome) => {
                self.calls.record(tool, outcome.summary(), (None, user), self.host);
                Err(outcome)
            }
        }
    }

    /// How the log names the user that an application names. Those with a token are the caller.
    fn user_of(self, credentials: &Credentials) -> Option<String> {
        let key = match self.principal {
            Principal::Key { name, .. } => name,
            Principal::Anonymous { .. } => "",
            Principal::User { .. } => return None,
        };
        let user = credentials.user_id.as_deref().filter(|user| !user.is_empty());
        let user = user.filter(|_| self.calls.is_recording())?;
        Some(self.pipeline.events.user_of_key(key, user))
    }

    /// Adds how each protocol writes a call to the rejection of one that looks like that of a different protocol.
    #[inline(never)]
    fn explain(self, rejection: Rejection) -> Rejection {
        let Rejection::OtherProtocol(reason) = rejection else { return rejection };
        let forms = self.pipeline.call_forms.join("; ");
        Rejection::Malformed(format!(
            "{reason}. Each protocol writes calls in its own way: {forms}"
        ))
    }

    /// Checks a call and gets the tokens that it needs: first the caller's permission, then the requirements and
    /// the input in the given order.
    async fn check(
        self,
        tool: &'static Tool,
        call: ToolRequest<'a>,
        order: CheckOrder,
    ) -> Result<Prepared<'a>, Outcome> {
        let Self { principal, pipeline, host, .. } = self;
        let ToolRequest { call_id, mut input, nulls, credentials, takes_task, dialogue, .. } = call;
        let settings = &pipeline.settings;
        let is_of_search = pipeline.search.is_some_and(|search| search.has(tool));
        if !is_of_search {
            let name = tool.name;
            let rejection = || Outcome::Rejected(Rejection::ToolNotAllowed { name });
            has(self.only, tool).then_some(()).ok_or_else(rejection)?;
            let authorized = settings.authorize(principal, tool);
            authorized.map_err(|rejection| Outcome::Rejected(rejection.of_caller(principal)))?;
        }
        if !is_of_search && settings.permission(tool) == Permission::Warned {
            host.log(Level::Warn, "not_in_allowlist", &[("tool", &tool.id())]);
        }
        if settings.tools.disable(tool, host) {
            return Err(Outcome::Rejected(Rejection::ToolNotConfigured { name: tool.name }));
        }
        let takes_task = takes_task.of(tool.task);
        if tool.task == Some(TaskSupport::Required) && !takes_task {
            return Err(Outcome::Rejected(Rejection::NeedsTask { name: tool.name }));
        }
        let mut validate = || input::validate(tool.input, &mut input, nulls);
        if order == CheckOrder::InputFirst {
            validate().map_err(Outcome::InvalidInput)?;
        }
        let resolved = requirements::resolve(tool, credentials, self).await;
        let resolved = resolved.map_err(Outcome::Rejected)?;
        if order == CheckOrder::RequirementsFirst {
            validate().map_err(Outcome::InvalidInput)?;
        }
        let call_id = match call_id {
            CallId::Unused => Ok(None),
            CallId::Generated => random_uuid(host).map(Some),
            CallId::Sent(id) => Ok(Some(id)),
        };
        let call_id = call_id.map_err(|NoRandomness| {
            Outcome::Rejected(Rejection::Unavailable("it has no random bytes"))
        })?;
        Ok(Prepared { tool, call_id, input, takes_task, dialogue, resolved, user: None })
    }
}

fn random_uuid(host: &dyn Host) -> Result<String, NoRandomness> {
    let uuid = Builder::from_random_bytes(host.random_16()?).into_uuid();
    Ok(uuid.hyphenated().to_string())
}

/// The rejection of every call to a server with an invalid configuration.
pub fn misconfigured() -> Rejection {
    Rejection::Unavailable("its configuration is invalid; its log has the details")
}
