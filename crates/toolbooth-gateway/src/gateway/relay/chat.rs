//! A chat request: who sent it, what it asks for, and its limits.

use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::gateway::answer::completion::{Completion, CompletionInfo};
use crate::gateway::conversation::HistoryItem;
use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::format::front::Front;
use crate::gateway::ids::IdSource;
use crate::gateway::limits::Limits;
use crate::gateway::limits::cost::Hold;
use crate::gateway::limits::extras;
use crate::gateway::limits::units::Units;
use crate::gateway::relay::arguments::Schemas;
use crate::gateway::relay::background;
use crate::gateway::relay::catalog_tools::CatalogTools;
use crate::gateway::relay::continuation;
use crate::gateway::relay::optional_members::Rejected;
use crate::gateway::relay::plan::{CALLER_KEY, Plan, ProviderKeys, Target};
use crate::gateway::relay::report::{Operation, Report};
use crate::gateway::relay::rounds;
use crate::gateway::settings::GatewaySettings;
use toolbooth::address::is_localhost;
use toolbooth::call::{BackgroundRequest, Pipeline, Rejection, RequestContext};
use toolbooth::host::{Host, boxed};
use toolbooth::http::{Answer, Headers};
use toolbooth::json;
use toolbooth::log::CallRecorder;
use toolbooth::principal::{GATEWAY_SCOPE, Principal};
use toolbooth::schema::text::excerpt;
use toolbooth::secret::Secret;

/// The rounds of a request with compiled-in tools, unless it asks for another number.
const DEFAULT_ROUNDS: usize = 8;
const MAX_ROUNDS: usize = 25;

/// Who sent a request, and what serves it.
pub(crate) struct Sender<'a> {
    /// The format of the client.
    pub(crate) front: &'static dyn Front,
    pub(in crate::gateway) operation: Operation,
    pub(crate) settings: &'a GatewaySettings,
    pub(crate) headers: &'a dyn Headers,
    pub(crate) principal: Principal,
    pub(crate) pipeline: &'a Pipeline,
    pub(crate) host: &'a dyn Host,
    /// Records nothing. Each round records its calls.
    pub(crate) calls: CallRecorder,
    /// The request in the background that is served; `None` if the client waits.
    pub(crate) background: Option<BackgroundRequest<'a>>,
}

impl Sender<'_> {
    pub(crate) fn context(&self) -> RequestContext<'_> {
        let Self { headers, principal, pipeline, host, calls, .. } = self;
        RequestContext {
            query: "",
            parameter: "",
            headers: *headers,
            principal,
            pipeline,
            host: *host,
            calls,
            only: None,
            shows_protected: false,
            listener: None,
        }
    }
}

/// `request_options` (2api.ai, 7.3, and those of the gateway). What is `null` is absent.
#[derive(Debug, Default, Deserialize)]
struct Options {
    validate_tool_arguments: Option<bool>,
    strict: Option<bool>,
    strict_schemas: Option<bool>,
    max_rounds: Option<NonZeroUsize>,
    max_tool_calls: Option<NonZeroUsize>,
    timeout_ms: Option<NonZeroU64>,
}

pub(in crate::gateway) struct Chat<'a> {
    pub(in crate::gateway) sender: Sender<'a>,
    pub(in crate::gateway) request: ChatRequest,
    pub(in crate::gateway) plan: Plan<'a>,
    pub(in crate::gateway) answered: Option<Target<'a>>,
    pub(in crate::gateway) tools: CatalogTools,
    pub(in crate::gateway) limits: Limits<'a>,
    /// The schemas of the client's tools, if arguments are validated.
    pub(in crate::gateway) schemas: Option<Schemas>,
    /// Whether the caller wants no schema that is wider than its own.
    pub(in crate::gateway) strict_schemas: bool,
    pub(in crate::gateway) report: Report,
    /// Whether a model gets all members of the request, even those that it can answer without.
    pub(in crate::gateway) is_strict: bool,
    /// What models have rejected in earlier rounds, each with the name of the model.
    pub(in crate::gateway) rejected: Vec<(String, Rejected)>,
    /// The user on whose behalf compiled-in tools run.
    pub(in crate::gateway) user: Option<String>,
    /// The messages before the rounds of this request.
    pub(in crate::gateway) sent_messages: usize,
    pub(in crate::gateway) max_rounds: usize,
    pub(in crate::gateway) deadline_ms: u64,
    subrequests_left: usize,
    /// What is reserved for the answer that is arriving.
    pub(in crate::gateway) hold: Option<Hold>,
    pub(in crate::gateway) units: Units,
    /// The calls of the round before, to notice a model that repeats itself.
    pub(in crate::gateway) repeated: Vec<(String, String)>,
}

/// Answers a request, or keeps it for the background.
pub(in crate::gateway) async fn chat<'a>(
    sender: Sender<'a>,
    body: &str,
) -> Result<Answer<'a>, Rejection> {
    let front = sender.front;
    match Chat::of(sender, body) {
        Ok(chat) if chat.request.is_background() => boxed(background::begin(&chat, body)).await,
        Ok(chat) => Ok(rounds::answer(chat).await),
        Err(error) => Ok(error.response(front).into()),
    }
}

impl<'a> Chat<'a> {
    /// Checks who may chat, reads the request and checks it. If that fails, it is in the log.
    pub(in crate::gateway) fn of(sender: Sender<'a>, body: &str) -> Result<Self> {
        let mut report = Report::of(&sender);
        let chat = Self::read(&sender, body, &mut report);
        chat.inspect_err(|error| {
            report.log(&sender, sender.front.status(error), Some(error.kind.code()));
        })
    }

    /// If it fails, the report has the model that the request asks for.
    fn read(sender: &Sender<'a>, body: &str, report: &mut Report) -> Result<Self> {
        let Sender { front, settings, headers, principal, pipeline, host, .. } = sender;
        let now_ms = report.started_ms;
        let keys = admit(sender)?;
        let mut request = front.decode(body, *headers, &report.notes)?;
        report.model = excerpt(&request.model);
        let mut limits = Limits::of(principal, &pipeline.settings, settings);
        limits.check_costs(&request)?;
        let mut plan =
            Plan::resolve(settings, *front, &limits.models, &request.model, &keys, *host)?;
        let options = options(&request)?;
        if let Some(most) = options.max_tool_calls {
            limits.max_tool_calls = limits.max_tool_calls.min(most.get());
        }
        limits.counts_tokens_only = extras::are_uncounted(&plan, &sender.context().purse());
        if limits.counts_tokens_only {
            extras::leave_out_betas(&mut request, &report.notes);
        }
        limits.leave_out_hosted(&mut request, &report.notes)?;
        limits.check_tools(&request, &plan, front.limits(), &sender.context(), &report.notes)?;
        let added = limits.added_tools.iter().chain(settings.added_tools(&request.model));
        let tools = CatalogTools::select(&request, added, &sender.context())?;
        plan.route(!request.tools.is_empty() || !tools.is_empty(), request.effort());
        continuation::restore(&mut request, sender, now_ms, &report.notes)?;
        if let Some(native) = &mut request.native {
            let has_rounds = request.history.iter().any(|item| item.turn().is_some());
            native.settle(!tools.is_empty(), has_rounds);
        }
        if let Some(context) = &mut request.responses {
            context.token = continuation::token(sender, now_ms);
            if let Some(server) = &mut context.server {
                server.tools = tools.listed(&sender.context())?;
            }
        }
        let schemas = options.validate_tool_arguments.unwrap_or_default();
        let schemas = schemas.then(|| Schemas::of(&request.tools, &report.notes));
        let allowed = u64::try_from(settings.deadline.as_millis()).unwrap_or(u64::MAX);
        let deadline = options.timeout_ms.map_or(allowed, |asked| asked.get().min(allowed));
        Ok(Self {
            sender: Sender {
                principal: principal.clone(),
                calls: CallRecorder::default(),
                ..*sender
            },
            plan,
            answered: None,
            tools,
            limits,
            schemas,
            strict_schemas: options.strict_schemas.unwrap_or_default(),
            report: std::mem::take(report),
            is_strict: options.strict.unwrap_or_default(),
            rejected: Vec::new(),
            user: user_of(principal, request.members.get("user")),
            sent_messages: request.history.len(),
            max_rounds: options.max_rounds.map_or(DEFAULT_ROUNDS, NonZeroUsize::get),
            deadline_ms: now_ms.saturating_add(deadline),
            subrequests_left: settings.max_subrequests,
            hold: None,
            units: Units::of(sender),
            repeated: Vec::new(),
            request,
        })
    }

    /// The time until the deadline, unless it has passed.
    pub(in crate::gateway) fn time_left(&self) -> Result<Duration> {
        let left = self.deadline_ms.saturating_sub(self.sender.host.now_ms());
        if left == 0 {
            return Err(GatewayError::deadline());
        }
        Ok(Duration::from_millis(left))
    }

    /// Takes requests to providers or calls of tools from the budget, if the client still wants the answer.
    pub(in crate::gateway) async fn spend(&mut self, count: usize) -> Result<()> {
        self.time_left()?;
        if let Some(request) = &self.sender.background
            && boxed(request.is_cancelled()).await
        {
            return Err(GatewayError::new(ErrorKind::ClientGone, "The response was cancelled"));
        }
        let Some(left) = self.subrequests_left.checked_sub(count) else {
            let message = "The request needs more requests to models and calls of tools than the \
                           operator allows (GATEWAY_MAX_SUBREQUESTS)";
            return Err(GatewayError::new(ErrorKind::Budget, message));
        };
        self.subrequests_left = left;
        Ok(())
    }

    /// New ids for the calls of an answer, if the provider gives none, or gives those of an earlier answer again.
    pub(in crate::gateway) fn ids(&self) -> Result<IdSource> {
        let seed = self.sender.host.random_16().map_err(|_| {
            GatewayError::new(ErrorKind::Internal, "The server has no random bytes")
        })?;
        let earlier = self.request.history.iter().flat_map(HistoryItem::call_ids);
        Ok(IdSource::new(seed).after(earlier.map(str::to_owned).collect()))
    }

    /// What the client is told about an answer: the provider's words, or the gateway's if it has none.
    pub(in crate::gateway) fn info(&self, completion: &Completion) -> CompletionInfo {
        let now_ms = self.sender.host.now_ms();
        CompletionInfo {
            id: completion.id.clone().unwrap_or_else(|| format!("chatcmpl-{now_ms:x}")),
            model: completion.model.clone().unwrap_or_else(|| self.report.model.clone()),
            created: completion.created.unwrap_or(now_ms / 1000),
        }
    }
}

/// Checks who may ask models. Returns the keys of providers that its requests carry.
pub(in crate::gateway) fn admit<'s>(sender: &Sender<'s>) -> Result<ProviderKeys<'s>> {
    let Sender { settings, headers, principal, pipeline, .. } = sender;
    if settings.local_only
        && matches!(principal, Principal::Anonymous { .. })
        && !headers.get("host").is_some_and(|host| is_localhost(&host))
    {
        let message = "Callers without credentials may chat on this machine only";
        return Err(GatewayError::new(ErrorKind::MissingScope, message));
    }
    if !principal.scopes().cover(&[GATEWAY_SCOPE]) {
        let message = "The caller's credentials lack the scope `gateway`";
        let mut error = GatewayError::new(ErrorKind::MissingScope, message);
        error.held = principal.scopes_beside(&[GATEWAY_SCOPE]);
        return Err(error);
    }
    let caller = caller_key(*headers, settings.caller_keys)?;
    Ok(ProviderKeys { caller, team: pipeline.settings.team_of(principal) })
}

/// The user on whose behalf compiled-in tools run, if the request must name one. A person who has signed in is the user, whatever a client
/// writes into `user`: often an id of its own.
fn user_of(principal: &Principal, member: Option<&RawValue>) -> Option<String> {
    match principal {
        Principal::User { subject: Some(_), .. } => None,
        _ => json::read(member?.get().as_bytes()),
    }
}

/// The caller's own key of the provider, if it sent one.
fn caller_key(headers: &dyn Headers, allowed: bool) -> Result<Option<Secret>> {
    let Some(key) = headers.get(CALLER_KEY) else { return Ok(None) };
    let key = Secret::new(key);
    if !allowed {
        let message = format!("The operator does not accept {CALLER_KEY} (GATEWAY_CALLER_KEYS)");
        return Err(GatewayError::new(ErrorKind::CallerKey, message));
    }
    if !key.is_bearer_token() {
        let message = format!("{CALLER_KEY} must be a key: visible ASCII characters");
        return Err(GatewayError::new(ErrorKind::CallerKey, message));
    }
    Ok(Some(key))
}

fn options(request: &ChatRequest) -> Result<Options> {
    let Some(text) = &request.request_options else { return Ok(Options::default()) };
    let options: Option<Options> = json::read(text.get().as_bytes());
    let fits = |options: &Options| options.max_rounds.is_none_or(|it| it.get() <= MAX_ROUNDS);
    options.filter(fits).ok_or_else(|| {
        let message = format!(
            "request_options may have validate_tool_arguments, strict and strict_schemas (true or false), max_rounds \
             (1 to {MAX_ROUNDS}), max_tool_calls and timeout_ms (whole numbers above 0)"
        );
        GatewayError::invalid("request_options", message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbooth::principal::Scopes;

    #[test]
    fn the_user_of_tools() {
        let person = Principal::user_of("issuer", "ada", Scopes::NONE);
        let key = Principal::key("k", Scopes::NONE);
        for (principal, member, expected) in [
            (&person, Some(r#""device-1""#), None),
            (&person, None, None),
            (&key, Some(r#""grace""#), Some("grace")),
            (&key, Some("1"), None),
            (&key, None, None),
            (&Principal::ANONYMOUS, Some(r#""grace""#), Some("grace")),
        ] {
            let member = member.map(|json| RawValue::from_string(json.to_owned()).unwrap());
            assert_eq!(user_of(principal, member.as_deref()).as_deref(), expected, "{principal:?}");
        }
    }
}
