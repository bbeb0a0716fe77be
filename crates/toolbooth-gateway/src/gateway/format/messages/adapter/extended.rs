//! Requests that a client has written in Anthropic's format, with what compiled-in tools add to them.

use crate::gateway::conversation::request::NativeRequest;
use crate::gateway::error::Result;
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::messages::adapter::messages::rounds;
use crate::gateway::format::messages::adapter::request::{choice, must_not_force};
use crate::gateway::raw_json::raw_items;
use crate::wire::anthropic::request::ToolChoice as Choice;
use crate::wire::{Json, Members};
use toolbooth::json;

/// The members of the request. All that the gateway does not add is as the client wrote it.
pub(in crate::gateway::format) fn members<'t>(
    job: &'t Job<'_>,
    native: &'t NativeRequest,
) -> Result<Members<'t>> {
    let mut members = Members::default();
    for (name, json) in native.members.iter() {
        let value = match name {
            "messages" => {
                list(raw_items(Some(json)).into_iter().map(Json::from), rounds(job)?.into_iter())
            }
            "tools" => list(raw_items(Some(json)).into_iter().map(Json::from), job.server_tools()),
            "tool_choice" if must_not_force(job) => {
                let single = job.request.members.get("parallel_tool_calls");
                let disable_parallel_tool_use = single.is_some_and(|json| json.get() == "false");
                let (choice, _) = choice(job);
                let choice = choice.map(|choice| Choice { disable_parallel_tool_use, ..choice });
                Json::Text(json::to_string(&choice).into())
            }
            _ => json.into(),
        };
        members.0.push((name.into(), value));
    }
    if native.members.get("tools").is_none() && !job.options.server_tools.is_empty() {
        members.add("tools", Some(list(std::iter::empty(), job.server_tools())));
    }
    Ok(members)
}

fn list<'t>(
    own: impl Iterator<Item = Json<'t>>,
    added: impl Iterator<Item = Json<'t>>,
) -> Json<'static> {
    Json::Text(json::to_string(&own.chain(added).collect::<Vec<_>>()).into())
}
