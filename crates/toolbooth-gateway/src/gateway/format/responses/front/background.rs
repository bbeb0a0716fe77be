//! Responses in the background: what their clients get, before and after the chat.

use crate::gateway::answer::completion::CompletionInfo;
use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::error::GatewayError;
use crate::gateway::format::responses::front::events::ResponseEncoder;
use crate::gateway::format::responses::front::item::Failure;
use crate::gateway::raw_json::raw_members;
use crate::wire::{Json, Members};
use toolbooth::call::{BackgroundState, BackgroundTask};
use toolbooth::json;

/// The beginning of the ids of responses.
pub(in crate::gateway) const PREFIX: &str = "resp_";

/// A response without an answer. Its id, its status and its time are those of the task: see [`shown`].
pub(in crate::gateway) fn draft(request: &ChatRequest) -> Vec<u8> {
    encoder(request).body()
}

/// A response whose chat has failed.
pub(in crate::gateway) fn failed(request: &ChatRequest, error: &GatewayError) -> Vec<u8> {
    encoder(request).failed(error)
}

fn encoder(request: &ChatRequest) -> ResponseEncoder {
    let info = CompletionInfo { model: request.model.clone(), ..CompletionInfo::default() };
    ResponseEncoder::new(request, info, false)
}

/// The response as its owner gets it: the document of the task, with its own id and time, and the status that the document
/// cannot know. `working` is the status while nothing has come of it.
pub(in crate::gateway) fn shown(task: &BackgroundTask, working: &'static str) -> Vec<u8> {
    let mut own = Members::default();
    let mut set = |name, json: String| own.add(name, Some(Json::Text(json.into())));
    set("id", json::to_string(&format!("{PREFIX}{}", task.id)));
    set("created_at", json::to_string(&(task.created_ms / 1000)));
    set("background", json::to_string(&true));
    set("store", json::to_string(&true));
    let status = match &task.state {
        BackgroundState::Working => Some(working),
        BackgroundState::Cancelled => Some("cancelled"),
        BackgroundState::Failed(reason) => {
            let message = reason.as_deref().unwrap_or("The server failed");
            set("error", json::to_string(&Failure { code: "server_error", message }));
            Some("failed")
        }
        BackgroundState::Completed => None,
    };
    if let Some(status) = status {
        set("status", json::to_string(&status));
    }
    let mut members = Members::default();
    for (name, json) in raw_members(&task.document).unwrap_or_default() {
        let replaced = own.0.iter().position(|(known, _)| *known == name);
        members.0.push(match replaced {
            Some(at) => own.0.remove(at),
            None => (name.into(), json.into()),
        });
    }
    members.0.extend(own.0);
    json::to_vec(&members)
}
