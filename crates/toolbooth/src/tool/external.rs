//! Functions of tools outside of this program, which the host calls: what they get besides the input, and what they
//! report, as JSON.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::input_request::{ClientCapability, InputRequest, InputResponse};
use super::{Context, LoggingLevel, Named, Secret, Stage, ToolError};
use crate::catalog::{Limit, RunError};
use crate::json;
use crate::settings::DEFAULT_TOOL_TIMEOUT;

/// How long a step of a task may take: less than the 15 minutes after which Cloudflare would end it without a word.
const LONGEST_STEP: Duration = Duration::from_secs(14 * 60);

/// What a function gets besides its input.
#[derive(Serialize)]
struct Given<'a> {
    /// The tool's id.
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    tokens: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    secrets: Map<String, Value>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    variables: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<&'a str>,
    /// What the client can be asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    can: Vec<&'static str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    answers: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a Value>,
    /// `request` before a task begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'static str>,
    /// In a list, because it may be null.
    #[serde(skip_serializing_if = "Option::is_none")]
    checkpoint: Option<[&'a Value; 1]>,
}

/// What a function reports when it has ended: its value, or why there is none, and what it sent to the client before.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Report {
    value: Value,
    error: Option<Failure>,
    asks: Option<Asks>,
    /// Whether it is to be continued.
    suspends: Option<Suspends>,
    /// The provider whose token a service rejected.
    refused: Option<String>,
    /// Whether it failed in another way. The host has logged that.
    crashed: bool,
    notifications: Vec<Note>,
    /// Whether it still runs: only the notifications count.
    runs: bool,
}

/// The error that a function returned.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Failure {
    message: String,
    detail: Option<String>,
    prompt: Option<String>,
    retryable: bool,
    retry_after_ms: Option<f64>,
}

/// The questions that a function asks instead of returning a value.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Asks {
    questions: Map<String, Value>,
    state: Value,
}

/// How a function goes on: as a task, or with another step.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Suspends {
    begin: bool,
    value: Value,
    after_ms: Option<f64>,
}

/// A question: `kind` is a word of [`word`].
#[derive(Default, Deserialize)]
#[serde(default)]
struct Question {
    kind: String,
    message: String,
    url: String,
    /// The schema of a form, or the request for the client's model.
    object: Map<String, Value>,
}

/// Progress; or an event, which has a level.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Note {
    done: f64,
    total: Option<f64>,
    level: Option<String>,
    text: String,
}

impl Context<'_> {
    /// How long a function outside of this program may take.
    pub fn time_limit(&self) -> Duration {
        match &self.stage {
            Stage::Step(step) if !step.name.is_empty() => LONGEST_STEP,
            _ => self.server().map_or(DEFAULT_TOOL_TIMEOUT, |it| it.settings.limits.tool_timeout),
        }
    }

    /// What a function outside of this program gets besides its input, as JSON. It contains secrets: pass it to the
    /// function only.
    pub fn for_external(&self) -> String {
        // Only what the definition names, whatever else the client sends.
        let exposed = |name: &str, secret: Option<&Secret>| {
            secret.map(|secret| (name.to_owned(), Value::from(secret.expose())))
        };
        let tokens = self.tool.authorization.iter();
        let secrets = self.tool.secrets.iter();
        let mut given = Given {
            tool: self.tool.id(),
            user: self.user_id(),
            tokens: tokens.filter_map(|it| exposed(it.id, self.token(it.id))).collect(),
            secrets: secrets.filter_map(|id| exposed(id, self.secret(id))).collect(),
            variables: Map::new(),
            traceparent: self.traceparent.as_deref(),
            can: ClientCapability::ALL.into_iter().filter(|it| self.can(*it)).map(word).collect(),
            answers: self.dialogue.answers.iter().map(answer).collect(),
            state: self.dialogue.state.as_ref(),
            stage: None,
            checkpoint: None,
        };
        for &name in self.tool.variables {
            let (values, value) = match self.server_secret(name) {
                Some(secret) => (&mut given.secrets, secret.expose()),
                None => (&mut given.variables, self.variable(name)),
            };
            values.insert(name.to_owned(), value.into());
        }
        match &self.stage {
            Stage::Request => given.stage = Some("request"),
            Stage::Step(step) => given.checkpoint = step.checkpoint.as_ref().map(|value| [value]),
        }
        json::to_string(&given)
    }

    /// Reads a report of a function outside of this program, in JSON: its `notifications`, and `runs` or, at its end, one of
    /// `value`, `error`, `asks`, `suspends`, `refused` and `crashed`. `None`: it still runs.
    pub fn read_external(&self, report: &str) -> Option<Result<Value, RunError>> {
        let mut left = json::MAX_VALUES;
        let report = match json::parse_within(report, &mut left) {
            Ok(report) => report,
            // The host writes JSON, so that it breaks a limit if it cannot be read.
            Err(_) => {
                let limit = if left == 0 { Limit::Values } else { Limit::Depth };
                return Some(Err(RunError::TooLarge(limit)));
            }
        };
        let Some(report) = json::read_value::<Report>(&report) else {
            let problem = "the report of the function has another form";
            return Some(Err(RunError::Mismatch(problem)));
        };
        for Note { done, total, level, text } in &report.notifications {
            match level.as_deref() {
                None => self.progress(*done, *total, text),
                Some(level) => self.note(logging_level(level), text),
            }
        }
        (!report.runs).then(|| self.end_external(report))
    }

    /// Ends the run of a function that returned this.
    fn end_external(&self, report: Report) -> Result<Value, RunError> {
        if report.crashed {
            return Err(RunError::Crashed);
        }
        if let Some(provider) = report.refused {
            return Err(RunError::Tool(self.token_refused(&provider)));
        }
        if let Some(Suspends { begin, value, after_ms }) = report.suspends {
            let end = match self.task() {
                // It has begun.
                Ok(_) if begin => return Err(RunError::Crashed),
                Ok(task) => task.pause(duration(after_ms), value),
                Err(begins) => begins,
            };
            return Err(RunError::Tool(end));
        }
        if let Some(Asks { questions, state }) = report.asks {
            let questions: Named<_> =
                questions.into_iter().map(|(key, value)| (key, question(value))).collect();
            return Err(RunError::Tool(self.request(questions, Some(state))));
        }
        report.error.map_or(Ok(report.value), |error| Err(RunError::Tool(error.into())))
    }
}

/// The answer to a question, by its key.
fn answer((key, response): &(String, InputResponse)) -> (String, Value) {
    let response = match response {
        InputResponse::Given(value) => json::object([("given", value.clone())]),
        InputResponse::Declined => "declined".into(),
        InputResponse::Dismissed => "dismissed".into(),
    };
    (key.clone(), response)
}

fn word(capability: ClientCapability) -> &'static str {
    match capability {
        ClientCapability::Form => "form",
        ClientCapability::Url => "url",
        ClientCapability::Sampling => "sampling",
        ClientCapability::Roots => "roots",
    }
}

/// A duration in milliseconds. What is none is zero.
fn duration(ms: Option<f64>) -> Duration {
    Duration::try_from_secs_f64(ms.unwrap_or_default() / 1000.0).unwrap_or_default()
}

fn question(value: Value) -> InputRequest {
    let Question { kind, message, url, object } = serde_json::from_value(value).unwrap_or_default();
    match &*kind {
        "url" => InputRequest::Url { message, url },
        "sampling" => InputRequest::Sampling { request: object },
        "roots" => InputRequest::Roots,
        _ => InputRequest::Form { message, schema: object },
    }
}

fn logging_level(word: &str) -> LoggingLevel {
    match word {
        "debug" => LoggingLevel::Debug,
        "warning" => LoggingLevel::Warning,
        "error" => LoggingLevel::Error,
        _ => LoggingLevel::Info,
    }
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        let Failure { message, detail, prompt, retryable, retry_after_ms } = failure;
        // Fractions and what is no duration are cut off.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let retry_after_ms = retry_after_ms.map(|ms| ms.ceil() as u64);
        Self {
            message,
            developer_message: detail,
            can_retry: retryable || prompt.is_some() || retry_after_ms.is_some(),
            additional_prompt_content: prompt,
            retry_after_ms,
        }
    }
}
