//! The gateway's report on a request: in answers (`_2api`), and in the log.

use serde::Serialize;

use crate::gateway::notes::Notes;
use crate::gateway::relay::chat::Sender;
use crate::gateway::relay::plan::Target;
use crate::wire::Usage;
use toolbooth::call::Rejection;
use toolbooth::host::Level;
use toolbooth::http::Response;
use toolbooth::json;
use toolbooth::log::LogEvent;
use toolbooth::schema::text::excerpt;

/// The warning of 2api.ai, 5.2, verbatim.
const UNHANDLED_CALLS: &str = "Response contains tool_calls. Client must execute tools and send results to \
                               continue conversation.";

/// What happened during a request.
#[derive(Debug, Default, Serialize)]
pub(in crate::gateway) struct Report {
    pub(in crate::gateway) attempts: Vec<Attempt>,
    #[serde(flatten)]
    pub(in crate::gateway) notes: Notes,
    /// The model that was asked last; until then the one that the request names, without a provider.
    pub(in crate::gateway) provider: String,
    pub(in crate::gateway) model: String,
    /// How often a model has answered.
    pub(in crate::gateway) rounds: usize,
    /// The tokens of all rounds, as far as the providers counted them.
    #[serde(skip)]
    pub(in crate::gateway) usage: Option<Usage>,
    /// The calls of compiled-in tools that the gateway ran.
    #[serde(rename = "tool_calls", skip_serializing_if = "Vec::is_empty")]
    pub(in crate::gateway) ran: Vec<RanCall>,
    /// The calls that were left to the client.
    #[serde(skip)]
    pub(in crate::gateway) client_calls: usize,
    /// Why the model stopped, if the answer cannot say it because it has calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::gateway) finish_reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::gateway) state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::gateway) challenge: Option<ReportedChallenge>,
    #[serde(skip)]
    pub(in crate::gateway) started_ms: u64,
    #[serde(skip)]
    pub(in crate::gateway) operation: Operation,
}

/// What a request asks a model for, as the log names it.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::gateway) enum Operation {
    #[default]
    Chat,
    CountTokens,
    Embeddings,
}

#[derive(Debug, Serialize)]
pub(in crate::gateway) struct Attempt {
    pub(in crate::gateway) provider: String,
    /// The status; absent if there was no response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::gateway) status: Option<u16>,
    /// Until the answer, or the first event of a stream.
    pub(in crate::gateway) ms: u64,
}

#[derive(Debug, Serialize)]
pub(in crate::gateway) struct RanCall {
    pub(in crate::gateway) id: String,
    /// The tool that ran.
    pub(in crate::gateway) tool: String,
    /// The tool that the model called: `call_tool`, if it has found the other.
    #[serde(skip)]
    pub(in crate::gateway) called: String,
    /// What the model wrote, and what it got back.
    #[serde(skip)]
    pub(in crate::gateway) arguments: String,
    #[serde(skip)]
    pub(in crate::gateway) output: String,
    pub(in crate::gateway) ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::gateway) error: Option<String>,
}

/// A challenge that the user must complete before a tool can run.
#[derive(Debug, Serialize)]
pub(in crate::gateway) struct ReportedChallenge {
    pub(in crate::gateway) provider: String,
    pub(in crate::gateway) url: String,
    pub(in crate::gateway) check_url: String,
}

#[derive(Serialize)]
struct AnswerReport<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<&'static str>,
    usage: Counts,
    #[serde(flatten)]
    report: &'a Report,
}

#[derive(Serialize)]
struct Counts {
    input_tokens: u64,
    output_tokens: u64,
    cached_tokens: u64,
    tool_calls: usize,
    rounds: usize,
}

/// The line of the log: who used which model, and how much.
#[derive(Serialize)]
#[serde(tag = "event", rename = "chat")]
struct ChatEvent<'a> {
    #[serde(rename = "gen_ai.operation.name")]
    operation: &'static str,
    #[serde(rename = "gen_ai.provider.name", skip_serializing_if = "Option::is_none")]
    provider: Option<&'a str>,
    #[serde(rename = "gen_ai.request.model", skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    caller: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    team: Option<&'a str>,
    #[serde(rename = "error.type", skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(rename = "http.response.status_code")]
    status: u16,
    duration_ms: u64,
    #[serde(rename = "gen_ai.usage.input_tokens")]
    input_tokens: u64,
    #[serde(rename = "gen_ai.usage.output_tokens")]
    output_tokens: u64,
    #[serde(rename = "gen_ai.usage.cache_read.input_tokens")]
    cached_tokens: u64,
    tool_calls: usize,
    rounds: usize,
    attempts: usize,
}

impl LogEvent for ChatEvent<'_> {
    fn level(&self) -> Level {
        if self.status < 400 { Level::Info } else { Level::Warn }
    }

    fn outcome(&self) -> Option<&'static str> {
        Some(match (self.error, self.status) {
            (None, _) => "done",
            (Some(_), 401 | 403 | 429) => "rejected",
            (Some(_), _) => "failed",
        })
    }
}

impl Report {
    /// The report on a request that has just arrived.
    pub(in crate::gateway) fn of(sender: &Sender<'_>) -> Self {
        let (started_ms, operation) = (sender.host.now_ms(), sender.operation);
        Self { started_ms, operation, ..Self::default() }
    }

    pub(in crate::gateway) fn add_usage(&mut self, usage: Usage) {
        match &mut self.usage {
            Some(sum) => sum.add(&usage),
            None => self.usage = Some(usage),
        }
    }

    pub(in crate::gateway) fn asks(&mut self, target: &Target<'_>) {
        self.provider.clone_from(&target.provider.id);
        self.model = excerpt(&target.model);
    }

    pub(in crate::gateway) fn headers(&self, response: Response) -> Response {
        // The caller wrote the model: what is no header value is left out.
        let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        let response = response
            .with("x-2api-provider", self.provider.clone())
            .with("x-2api-attempts", self.attempts.len().to_string());
        let response = match is_plain(&self.model) {
            true => response.with("x-2api-model", self.model.clone()),
            false => response,
        };
        match self.notes.header() {
            Some(warnings) => response.with("x-2api-warnings", warnings),
            None => response,
        }
    }

    fn counts(&self) -> Counts {
        let usage = self.usage.as_ref();
        let tokens = |count: fn(&Usage) -> u64| usage.map(count).unwrap_or_default();
        Counts {
            input_tokens: tokens(|usage| usage.prompt_tokens),
            output_tokens: tokens(|usage| usage.completion_tokens),
            cached_tokens: tokens(|usage| usage.cached_tokens),
            tool_calls: self.ran.len() + self.client_calls,
            rounds: self.rounds,
        }
    }

    /// What the gateway adds to the text of the answer.
    pub(in crate::gateway) fn notice(&self) -> Option<String> {
        self.challenge.as_ref().map(|it| format!("Authorization is required: {}", it.url))
    }

    /// The JSON for the answer.
    pub(in crate::gateway) fn json(&self) -> String {
        let warning = (self.client_calls > 0).then_some(UNHANDLED_CALLS);
        json::to_string(&AnswerReport { warning, usage: self.counts(), report: self })
    }

    /// Writes the line of the request to the log: who used what, and the code of the error. Neither prompt nor answer
    /// is in it.
    pub(in crate::gateway) fn log(
        &self,
        sender: &Sender<'_>,
        status: u16,
        error: Option<&'static str>,
    ) {
        let Counts { input_tokens, output_tokens, cached_tokens, tool_calls, rounds } =
            self.counts();
        let events = &sender.pipeline.events;
        let event = ChatEvent {
            operation: match self.operation {
                Operation::Chat => "chat",
                Operation::CountTokens => "count_tokens",
                Operation::Embeddings => "embeddings",
            },
            provider: Some(&*self.provider).filter(|id| !id.is_empty()),
            model: Some(&*self.model).filter(|model| is_name(model)),
            caller: events.caller(&sender.principal),
            actor: events.actor(&sender.principal),
            client: sender.principal.client_ref(),
            team: sender.pipeline.settings.team_of(&sender.principal).map(|team| &*team.name),
            error,
            status,
            duration_ms: sender.host.now_ms().saturating_sub(self.started_ms),
            input_tokens,
            output_tokens,
            cached_tokens,
            tool_calls,
            rounds,
            attempts: self.attempts.len(),
        };
        events.write(&event, sender.host);
    }
}

/// Writes the line of a request that was rejected before it was read.
pub(in crate::gateway) fn log_rejected(sender: &Sender<'_>, rejection: &Rejection) {
    let kind = rejection.describe().kind;
    Report::of(sender).log(sender, kind.status(), Some(kind.code()));
}

/// Whether a text is made like the name of a model. The caller wrote it: nothing else may reach the log.
fn is_name(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:/@+".contains(&byte);
    !text.is_empty() && text.bytes().all(is_plain)
}
