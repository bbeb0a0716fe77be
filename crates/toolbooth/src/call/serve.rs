//! The pipeline: tool and version → permission → scopes → requirements → input → run → output.

use uuid::Builder;

use super::context::{Caller, Context};
use super::outcome::{Outcome, Refusal, ToolError};
use super::{Call, Wanted, input, requirements};
use crate::catalog::{Catalog, Found, RunError, Tool, ToolRef};
use crate::config::{Config, Permission};
use crate::host::{Host, Level, NoRandomness};

/// Serves one call, whatever protocol it came by.
///
/// The order of the checks is that of OXP call-tool, "Error Behavior": the tool id, its version,
/// what it requires (all refused before the call), then the input, then the run. A server that is
/// configured wrongly serves none.
pub async fn serve(
    call: Call,
    caller: &Caller,
    catalog: &Catalog,
    config: &Config,
    host: &dyn Host,
) -> Outcome {
    if !config.problems.is_empty() {
        let detail = "its configuration is wrong; GET /health says what";
        return Outcome::Refused(Refusal::Unavailable(detail));
    }
    let tool = match find(catalog, &call.tool) {
        Ok(tool) => tool,
        Err(refusal) => return Outcome::Refused(refusal),
    };
    match config.permission(tool) {
        Permission::Given => {}
        Permission::Warned => {
            host.log(Level::Warn, "not_in_allowlist", &[("tool", &tool.id())]);
        }
        Permission::Denied => return Outcome::Refused(Refusal::Forbidden { name: tool.name }),
    }
    if !caller.scopes().cover(tool.scopes) {
        return Outcome::Refused(Refusal::MissingScope { name: tool.name, scopes: tool.scopes });
    }
    let met = match requirements::meet(tool, call.credentials, caller, config, host).await {
        Ok(met) => met,
        Err(refusal) => return Outcome::Refused(refusal),
    };
    if let Err(invalid) = input::check(&tool.input, &call.input) {
        return Outcome::Invalid(invalid);
    }
    let call_id = match call.call_id.map_or_else(|| random_uuid(host), Ok) {
        Ok(call_id) => call_id,
        Err(NoRandomness) => {
            return Outcome::Refused(Refusal::Unavailable("it has no random bytes"));
        }
    };
    let started = host.now_ms();
    let context = Context::new(caller, &met.credentials, config, host);
    let result = (tool.run)(call.input, &context).await;
    let duration_ms = host.now_ms().saturating_sub(started);

    let error = match result {
        Ok(value) if (tool.output.is_valid)(&value) => {
            return Outcome::Done { call_id, duration_ms, value };
        }
        Ok(value) => {
            let faults = input::check(&tool.output, &value).err();
            let faults = faults.iter().flat_map(|found| &found.errors);
            let faults: Vec<_> =
                faults.map(|fault| format!("{}: {}", fault.parameter, fault.message)).collect();
            fault_of_the_tool(tool, host, "its output breaks output_schema", &faults.join("; "))
        }
        Err(RunError::Mismatch(reason)) => {
            fault_of_the_tool(tool, host, "its types and its schemas disagree", &reason)
        }
        Err(RunError::Tool(error)) => {
            let refused = context.refused_token();
            match refused.and_then(|provider| met.refused(tool, &provider, host)) {
                Some(refusal) => return Outcome::Refused(refusal),
                None => error,
            }
        }
    };
    Outcome::Failed { call_id, duration_ms, error }
}

fn random_uuid(host: &dyn Host) -> Result<String, NoRandomness> {
    let uuid = Builder::from_random_bytes(host.random_16()?).into_uuid();
    Ok(uuid.hyphenated().to_string())
}

/// The tool that a client means.
///
/// # Errors
/// [`Refusal::InvalidToolId`], [`Refusal::UnknownTool`] or [`Refusal::NoSuchVersion`].
pub(crate) fn find(catalog: &Catalog, wanted: &Wanted) -> Result<&'static Tool, Refusal> {
    let text = match wanted {
        Wanted::Id(id) => id,
        Wanted::Name(name) => match catalog.named(name) {
            Some(tool) => return Ok(tool),
            None => name,
        },
    };
    let wanted = match (ToolRef::parse(text), wanted) {
        (Ok(wanted), _) => wanted,
        (Err(_), Wanted::Id(_)) => return Err(Refusal::InvalidToolId),
        (Err(_), Wanted::Name(name)) => {
            return Err(Refusal::UnknownTool { id: excerpt(name), name: excerpt(name) });
        }
    };
    let id = || excerpt(&format!("{}.{}", wanted.toolkit, wanted.tool));
    match catalog.find(&wanted) {
        Found::Tool(tool) => Ok(tool),
        Found::NoSuchVersion(tool) => Err(Refusal::NoSuchVersion {
            id: id(),
            name: tool.name,
            version: wanted.version.as_ref().map(ToString::to_string).unwrap_or_default(),
        }),
        Found::Unknown => Err(Refusal::UnknownTool {
            id: id(),
            name: excerpt(&format!("{}_{}", wanted.toolkit, wanted.tool)),
        }),
    }
}

/// The beginning of a name that no tool has: an answer must not grow with what was asked.
fn excerpt(name: &str) -> String {
    const LONGEST: usize = 128;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

/// The author's mistake: the client learns no more than that, the operator all of it.
fn fault_of_the_tool(tool: &Tool, host: &dyn Host, what: &'static str, detail: &str) -> ToolError {
    let id = tool.id();
    host.log(Level::Error, "faulty_tool", &[("tool", &id), ("what", what), ("detail", detail)]);
    ToolError::new("The tool failed").developer_message(format!("{id}: {what}"))
}
