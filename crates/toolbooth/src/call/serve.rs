//! The pipeline: tool and version → permission → scopes → requirements → input → run → output.

use uuid::Builder;

use super::outcome::{Outcome, Rejection};
use super::requirements::Met;
use super::{ToolRequest, ToolSelector, input, requirements};
use crate::catalog::{Catalog, Found, RunError, Tool, ToolRef, Version};
use crate::host::{Host, Level, NoRandomness};
use crate::json::Value;
use crate::principal::Principal;
use crate::settings::{Permission, Settings};
use crate::text::excerpt;
use crate::tool::{Capabilities, Context, Dialogue, InputRequired, Notification, ToolError};

/// Serves one call, whatever protocol it came by: [`prepare`] and [`Prepared::run`].
pub async fn serve(
    call: ToolRequest<'_>,
    principal: &Principal,
    catalog: &Catalog,
    settings: &Settings,
    host: &dyn Host,
) -> Outcome {
    match prepare(call, principal, catalog, settings, host).await {
        Ok(prepared) => prepared.run(principal, settings, host).await,
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
    mut call: ToolRequest<'a>,
    principal: &Principal,
    catalog: &Catalog,
    settings: &'a Settings,
    host: &dyn Host,
) -> Result<Prepared<'a>, Outcome> {
    if !settings.problems.is_empty() {
        return Err(Outcome::Refused(misconfigured()));
    }
    let tool = find(catalog, &call.tool).map_err(Outcome::Refused)?;
    match settings.permission(tool) {
        Permission::Given => {}
        Permission::Warned => {
            host.log(Level::Warn, "not_in_allowlist", &[("tool", &tool.id())]);
        }
        Permission::Denied => {
            return Err(Outcome::Refused(Rejection::Forbidden { name: tool.name }));
        }
    }
    if !principal.scopes().cover(tool.scopes) {
        let rejection = Rejection::MissingScope { name: tool.name, scopes: tool.scopes };
        return Err(Outcome::Refused(rejection));
    }
    let met = requirements::meet(tool, call.credentials, principal, settings, host).await;
    let met = met.map_err(Outcome::Refused)?;
    input::admit(tool.input, &mut call.input, call.nulls).map_err(Outcome::Invalid)?;
    let call_id = call.call_id.map_or_else(|| random_uuid(host), Ok);
    let no_id = |NoRandomness| Outcome::Refused(Rejection::Unavailable("it has no random bytes"));
    let (input, dialogue) = (call.input, call.dialogue);
    Ok(Prepared { tool, call_id: call_id.map_err(no_id)?, input, dialogue, met })
}

impl Prepared<'_> {
    /// Runs the tool.
    pub(crate) async fn run(
        self,
        principal: &Principal,
        settings: &Settings,
        host: &dyn Host,
    ) -> Outcome {
        let Self { tool, call_id, input, dialogue, met } = self;
        let started = host.now_ms();
        let context = Context::new(principal, &met.credentials, &dialogue, &settings.tools, host);
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
                let rejected = context.refused_token();
                if let Some(rejection) =
                    rejected.and_then(|provider| met.rejected(tool, &provider, host))
                {
                    return Outcome::Refused(rejection);
                }
                match context.take_asked() {
                    None => error,
                    Some((questions, state)) => {
                        let asked = InputRequired { tool: tool.name, questions, state };
                        match asked.fault() {
                            None => return ask(asked, dialogue.capabilities, notes),
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
fn ask(asked: InputRequired, capabilities: Capabilities, notes: Vec<Notification>) -> Outcome {
    let lacking = asked.lacking(capabilities);
    if lacking.is_empty() {
        Outcome::Asks { asked, notes }
    } else {
        Outcome::Refused(Rejection::Unanswerable { name: asked.tool, lacking })
    }
}

fn random_uuid(host: &dyn Host) -> Result<String, NoRandomness> {
    let uuid = Builder::from_random_bytes(host.random_16()?).into_uuid();
    Ok(uuid.hyphenated().to_string())
}

/// What a server whose configuration is wrong answers, whatever is wanted of it.
pub(crate) fn misconfigured() -> Rejection {
    Rejection::Unavailable("its configuration is wrong; its log says what")
}

/// The tool that a client means.
///
/// # Errors
/// [`Rejection::InvalidToolId`], [`Rejection::UnknownTool`] or [`Rejection::NoSuchVersion`].
pub(crate) fn find(
    catalog: &Catalog,
    wanted: &ToolSelector<'_>,
) -> Result<&'static Tool, Rejection> {
    let text = match wanted {
        ToolSelector::Id(id) => id,
        ToolSelector::Name(name) => match catalog.named(name) {
            Some(tool) => return Ok(tool),
            None => name,
        },
    };
    let id = match (ToolRef::parse(text), wanted) {
        (Ok(id), _) => id,
        (Err(_), ToolSelector::Id(_)) => return Err(Rejection::InvalidToolId),
        (Err(_), ToolSelector::Name(name)) => {
            return Err(Rejection::UnknownTool { id: excerpt(name), name: excerpt(name) });
        }
    };
    let unversioned = || excerpt(&format!("{}.{}", id.toolkit, id.tool));
    match catalog.find(&id) {
        Found::Tool(tool) => Ok(tool),
        Found::NoSuchVersion(tool) => Err(Rejection::NoSuchVersion {
            id: unversioned(),
            name: tool.name,
            version: id.version.as_ref().map(|version| told(version, text)).unwrap_or_default(),
        }),
        Found::Unknown => Err(Rejection::UnknownTool {
            id: unversioned(),
            name: match wanted {
                ToolSelector::Id(_) => excerpt(&format!("{}_{}", id.toolkit, id.tool)),
                ToolSelector::Name(name) => excerpt(name),
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
