//! The pipeline: tool and version → permission → scopes → requirements → input → run → output.

use uuid::Builder;

use super::context::{Caller, Context};
use super::dialogue::{Abilities, Asked, Dialogue};
use super::notes::Note;
use super::outcome::{Outcome, Refusal, ToolError};
use super::requirements::Met;
use super::{Call, Wanted, excerpt, input, requirements};
use crate::catalog::{Catalog, Found, RunError, Tool, ToolRef, Version};
use crate::config::{Config, Permission};
use crate::host::{Host, Level, NoRandomness};
use crate::json::Value;

/// Serves one call, whatever protocol it came by: [`prepare`] and [`Prepared::run`].
pub async fn serve(
    call: Call<'_>,
    caller: &Caller,
    catalog: &Catalog,
    config: &Config,
    host: &dyn Host,
) -> Outcome {
    match prepare(call, caller, catalog, config, host).await {
        Ok(prepared) => prepared.run(caller, config, host).await,
        Err(outcome) => outcome,
    }
}

/// A call that nothing stands against.
pub(crate) struct Prepared<'a> {
    tool: &'static Tool,
    call_id: String,
    input: Value<'a>,
    dialogue: Dialogue,
    met: Met<'a>,
}

/// Checks a call, and gets the tokens that it needs.
///
/// The order of the checks is that of OXP call-tool, "Error Behavior": the tool id, its version,
/// what it requires (all refused before the call), then the input, then the run. A server that is
/// configured wrongly serves none.
///
/// # Errors
/// The outcome of a call that cannot be run.
pub(crate) async fn prepare<'a>(
    mut call: Call<'a>,
    caller: &Caller,
    catalog: &Catalog,
    config: &'a Config,
    host: &dyn Host,
) -> Result<Prepared<'a>, Outcome> {
    if !config.problems.is_empty() {
        return Err(Outcome::Refused(misconfigured()));
    }
    let tool = find(catalog, &call.tool).map_err(Outcome::Refused)?;
    match config.permission(tool) {
        Permission::Given => {}
        Permission::Warned => {
            host.log(Level::Warn, "not_in_allowlist", &[("tool", &tool.id())]);
        }
        Permission::Denied => return Err(Outcome::Refused(Refusal::Forbidden { name: tool.name })),
    }
    if !caller.scopes().cover(tool.scopes) {
        let refusal = Refusal::MissingScope { name: tool.name, scopes: tool.scopes };
        return Err(Outcome::Refused(refusal));
    }
    let met = requirements::meet(tool, call.credentials, caller, config, host).await;
    let met = met.map_err(Outcome::Refused)?;
    input::admit(tool.input, &mut call.input, call.nulls).map_err(Outcome::Invalid)?;
    let call_id = call.call_id.map_or_else(|| random_uuid(host), Ok);
    let no_id = |NoRandomness| Outcome::Refused(Refusal::Unavailable("it has no random bytes"));
    let (input, dialogue) = (call.input, call.dialogue);
    Ok(Prepared { tool, call_id: call_id.map_err(no_id)?, input, dialogue, met })
}

impl Prepared<'_> {
    /// Runs the tool.
    pub(crate) async fn run(self, caller: &Caller, config: &Config, host: &dyn Host) -> Outcome {
        let Self { tool, call_id, input, dialogue, met } = self;
        let started = host.now_ms();
        let context = Context::new(caller, &met.credentials, &dialogue, config, host);
        let result = (tool.run)(&input, &context).await;
        let duration_ms = host.now_ms().saturating_sub(started);
        let notes = context.take_notes();

        let error = match result {
            Ok(value) if tool.output.is_valid(&(&value).into()) => {
                return Outcome::Done { call_id, duration_ms, value, notes };
            }
            Ok(value) => {
                let faults = input::check(tool.output, &(&value).into()).err();
                let faults = faults.map(|faults| faults.to_string()).unwrap_or_default();
                fault_of_the_tool(tool, host, "its output breaks output_schema", &faults)
            }
            Err(RunError::Mismatch(reason)) => {
                fault_of_the_tool(tool, host, "its types and its schemas disagree", &reason)
            }
            Err(RunError::Tool(error)) => {
                let refused = context.refused_token();
                if let Some(refusal) =
                    refused.and_then(|provider| met.refused(tool, &provider, host))
                {
                    return Outcome::Refused(refusal);
                }
                match context.take_asked() {
                    None => error,
                    Some((questions, state)) => {
                        let asked = Asked { tool: tool.name, questions, state };
                        match asked.fault() {
                            None => return ask(asked, dialogue.abilities, notes),
                            Some(fault) => fault_of_the_tool(tool, host, fault, ""),
                        }
                    }
                }
            }
        };
        Outcome::Failed { call_id, duration_ms, error, notes }
    }
}

/// Hands on what a tool asks, to a client that can bring all answers.
fn ask(asked: Asked, abilities: Abilities, notes: Vec<Note>) -> Outcome {
    match asked.beyond(abilities) {
        Some(refusal) => Outcome::Refused(refusal),
        None => Outcome::Asks { asked, notes },
    }
}

fn random_uuid(host: &dyn Host) -> Result<String, NoRandomness> {
    let uuid = Builder::from_random_bytes(host.random_16()?).into_uuid();
    Ok(uuid.hyphenated().to_string())
}

/// What a server whose configuration is wrong answers, whatever is wanted of it.
pub(crate) fn misconfigured() -> Refusal {
    Refusal::Unavailable("its configuration is wrong; its log says what")
}

/// The tool that a client means.
///
/// # Errors
/// [`Refusal::InvalidToolId`], [`Refusal::UnknownTool`] or [`Refusal::NoSuchVersion`].
pub(crate) fn find(catalog: &Catalog, wanted: &Wanted<'_>) -> Result<&'static Tool, Refusal> {
    let text = match wanted {
        Wanted::Id(id) => id,
        Wanted::Name(name) => match catalog.named(name) {
            Some(tool) => return Ok(tool),
            None => name,
        },
    };
    let id = match (ToolRef::parse(text), wanted) {
        (Ok(id), _) => id,
        (Err(_), Wanted::Id(_)) => return Err(Refusal::InvalidToolId),
        (Err(_), Wanted::Name(name)) => {
            return Err(Refusal::UnknownTool { id: excerpt(name), name: excerpt(name) });
        }
    };
    let unversioned = || excerpt(&format!("{}.{}", id.toolkit, id.tool));
    match catalog.find(&id) {
        Found::Tool(tool) => Ok(tool),
        Found::NoSuchVersion(tool) => Err(Refusal::NoSuchVersion {
            id: unversioned(),
            name: tool.name,
            version: id.version.as_ref().map(|version| told(version, text)).unwrap_or_default(),
        }),
        Found::Unknown => Err(Refusal::UnknownTool {
            id: unversioned(),
            name: match wanted {
                Wanted::Id(_) => excerpt(&format!("{}_{}", id.toolkit, id.tool)),
                Wanted::Name(name) => excerpt(name),
            },
        }),
    }
}

/// The version that `id` asks for: in full, or as it stands there when it is too large to count.
fn told(version: &Version, id: &str) -> String {
    let asked = id.split_once('@').map_or("", |(_, asked)| asked);
    let too_large = [version.major, version.minor, version.patch].contains(&u64::MAX);
    if too_large { excerpt(asked) } else { version.to_string() }
}

/// The author's mistake: the client learns no more than that, the operator all of it.
fn fault_of_the_tool(tool: &Tool, host: &dyn Host, what: &'static str, detail: &str) -> ToolError {
    let id = tool.id();
    host.log(Level::Error, "faulty_tool", &[("tool", &id), ("what", what), ("detail", detail)]);
    ToolError::new("The tool failed").developer_message(format!("{id}: {what}"))
}
