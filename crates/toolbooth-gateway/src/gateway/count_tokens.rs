//! The number of tokens of a request, which Anthropic counts, and the gateway estimates for other providers.

use serde::Serialize;

use crate::gateway::answer::completion::UpstreamError;
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::format::adapter::Format;
use crate::gateway::format::messages::front::estimate::tokens_of;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::raw_members;
use crate::gateway::relay::chat::{Chat, Sender};
use crate::gateway::relay::plan::Target;
use crate::gateway::relay::rounds;
use crate::wire::Members;
use crate::wire::fields::count;
use toolbooth::http::{Answer, Response};
use toolbooth::json;

/// The members of a request that Anthropic counts.
const COUNTED: &[&str] = &[
    "context_management",
    "mcp_servers",
    "messages",
    "model",
    "output_config",
    "output_format",
    "system",
    "thinking",
    "tool_choice",
    "tools",
];

#[derive(Serialize)]
struct Count {
    input_tokens: u64,
}

/// Answers with the tokens of a request for a message. No model works, so it costs nothing.
pub(super) async fn count_tokens<'a>(sender: Sender<'a>, body: &str) -> Answer<'a> {
    let front = sender.front;
    let mut chat = match Chat::of(sender, body) {
        Ok(chat) => chat,
        Err(error) => return error.response(front).into(),
    };
    match chat.input_tokens().await {
        Ok(input_tokens) => {
            let response = Response::json_of(200, &Count { input_tokens });
            let response = chat.report.headers(response);
            chat.report.log(&chat.sender, response.status, None);
            response.into()
        }
        Err(error) => rounds::failed(&chat, &error).into(),
    }
}

impl Chat<'_> {
    async fn input_tokens(&mut self) -> Result<u64> {
        let Some(target) = self.plan.targets.first().cloned() else { return Ok(0) };
        self.report.asks(&target);
        let notes = Notes::default();
        let body = self.translate(&target, false, &notes)?;
        let mut outgoing = self.outgoing(&target, body);
        let tokens = loop {
            let body = String::from_utf8_lossy(&outgoing.body);
            if target.format != Format::Anthropic {
                break tokens_of(&body);
            }
            self.spend(1).await?;
            match self.counted(&target, &body, &outgoing.headers).await {
                Ok(tokens) => break tokens,
                Err(error) if outgoing.leave_out(&error) => {}
                Err(error) => return Err(error.without(target.key.as_ref())),
            }
        };
        self.answers_without(&target, &outgoing, &notes);
        self.report.notes.add(&notes, &[]);
        Ok(tokens)
    }

    /// What Anthropic counts of the request that it would get.
    async fn counted(
        &self,
        target: &Target<'_>,
        whole: &str,
        headers: &[(&'static str, String)],
    ) -> Result<u64> {
        let members = raw_members(whole).unwrap_or_default().into_iter();
        let counted = members.filter(|(name, _)| COUNTED.contains(&name.as_str()));
        let body = Members(counted.map(|(name, json)| (name.into(), json.into())).collect());
        let mut request = self.request_to(target, false, json::to_vec(&body), headers)?;
        request.url = format!("{}/count_tokens", request.url).into();
        let response = target.send(self.sender.host, request).await?;
        let body = json::parse_bytes(&response.body).unwrap_or_default();
        count(body.get("input_tokens")).ok_or_else(|| {
            let error = UpstreamError::malformed("the answer has no input_tokens");
            GatewayError::upstream(&error, None, &target.name())
        })
    }
}
