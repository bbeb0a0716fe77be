//! Items of compiled-in tools: calls that the gateway ran, and those that the user must approve.

use crate::gateway::conversation::ToolContent;
use crate::gateway::conversation::request::ApprovedCall;
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::responses::front::input::{APPROVAL, Input, RAN};
use crate::gateway::relay::continuation;
use crate::wire::{Arguments, ToolCall};
use toolbooth::json::Value;

/// The most calls that are approved and have not run.
const MAX_APPROVED: usize = 128;

impl Input<'_> {
    /// A call that the gateway has run.
    pub(super) fn ran(&mut self, mut item: Fields<'_>) -> Result<()> {
        self.needs_translation = true;
        let id = item.name("id", "the id of the item")?;
        let name = item.name("name", "the tool's name")?;
        let arguments = item.text("arguments")?.unwrap_or_default().into_owned();
        let output = match item.take("output") {
            Some(Value::String(output)) => output.into_owned(),
            _ => match item.take("error") {
                Some(Value::String(text)) => text.into_owned(),
                Some(error) => error_text(&error),
                None => String::new(),
            },
        };
        if let Some(request) = item.text("approval_request_id")?
            && let Some(position) = self.approved.iter().rposition(|it| it.request_id == request)
        {
            let approved = self.approved.remove(position);
            continuation::fill(&mut self.history, &approved.call.id, &output, false);
            return Ok(());
        }
        let path = item.path;
        let id = id.strip_prefix(RAN).unwrap_or(&id).to_owned();
        let call = ToolCall {
            id: id.clone().into(),
            name: name.into(),
            arguments: Arguments::Text(arguments.into()),
            ..ToolCall::default()
        };
        let open = self.round(false)?;
        open.add(call, path)?;
        open.results.push((id, output));
        Ok(())
    }

    pub(super) fn approval_request(&mut self, mut item: Fields<'_>) -> Result<()> {
        self.needs_translation = true;
        let id = item.name("id", "the id of the item")?;
        let call = ToolCall {
            id: id.strip_prefix(APPROVAL).unwrap_or(&id).to_owned().into(),
            name: item.name("name", "the tool's name")?.into(),
            arguments: Arguments::Text(
                item.text("arguments")?.unwrap_or_default().into_owned().into(),
            ),
            ..ToolCall::default()
        };
        let path = item.path;
        let copy = call.clone();
        self.round(false)?.add(call, path.clone())?;
        // An answer names only the id.
        if self.requests.iter().any(|(known, _)| *known == id) {
            let message = format!("{path} has the id of a request that has no answer yet");
            return Err(GatewayError::invalid(path, message));
        }
        self.requests.push((id, copy));
        Ok(())
    }

    pub(super) fn is_own_approval(&self, item: &Fields<'_>) -> bool {
        let id = item.get("approval_request_id").and_then(Value::as_str);
        self.requests.iter().any(|(known, _)| Some(&**known) == id)
            || id.is_some_and(|id| id.starts_with(APPROVAL) && !self.other_ids.contains(id))
                && self.tools.server.is_some()
    }

    pub(super) fn approval_response(&mut self, mut item: Fields<'_>) -> Result<()> {
        let path = item.path_of("approval_request_id");
        let id = item.name("approval_request_id", "the id of the request")?;
        let approve = item.boolean("approve")?;
        let Some(position) = self.requests.iter().position(|(known, _)| *known == id) else {
            let message =
                format!("{path} answers no mcp_approval_request before it that has no answer yet");
            return Err(GatewayError::invalid(path, message));
        };
        let (_, call) = self.requests.swap_remove(position);
        self.close()?;
        if !self.pending.has(&call.id) {
            let message = format!("{path} answers a request that has an answer already");
            return Err(GatewayError::invalid(path, message));
        }
        match approve {
            // The result follows when the call has run.
            Some(true) if self.approved.len() >= MAX_APPROVED => {
                let message = format!("{path} approves more than {MAX_APPROVED} calls at once");
                Err(GatewayError::invalid(path, message))
            }
            Some(true) => {
                let call_id = call.id.clone();
                self.approved.push(ApprovedCall { request_id: id, call });
                self.result(&call_id, ToolContent::default(), &path)
            }
            Some(false) => {
                let reason = item.text("reason")?;
                let reason = reason.map(|it| format!(" The user says: {it}")).unwrap_or_default();
                let text = format!("Error: The user did not allow this call.{reason}");
                self.result(&call.id, text.into(), &path)
            }
            None => item.expected("approve", "true or false"),
        }
    }
}

/// The message in the error of a call.
fn error_text(error: &Value<'_>) -> String {
    let text = error.get("message").or_else(|| error.get("content"));
    text.and_then(Value::as_str).map_or_else(|| error.text(), str::to_owned)
}
