//! The call of a task as it is kept. It has the input and the credentials that the client sent, so it is sealed.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{KEPT, LONGEST};
use crate::call::pipeline::{Pipeline, Prepared, RequestContext};
use crate::call::rejection::Rejection;
use crate::call::{CallId, NullHandling, ToolRequest, ToolSelector};
use crate::host::Host;
use crate::json::{self, Value as Input};
use crate::principal::{OwnGrant, Principal};
use crate::seal::StateKeys;
use crate::tool::{ClientCapabilities, Credentials, Dialogue, InputResponse, Named, Secret};

/// A call.
#[derive(Serialize, Deserialize)]
pub(super) struct Job {
    /// The name of the task.
    pub(super) name: String,
    pub(super) tool: String,
    call_id: String,
    /// The input, as JSON.
    input: String,
    principal: Principal,
    /// The grant of the caller's token, if this server issued it.
    grant: Option<OwnGrant>,
    user: Option<String>,
    tokens: Vec<(String, String)>,
    secrets: Vec<(String, String)>,
    capabilities: ClientCapabilities,
    /// What the client answered before the task began, and what the tool remembered then.
    answers: Vec<(String, InputResponse)>,
    state: Option<Value>,
    /// The `Host` of the request, of which addresses for the user are made.
    pub(super) host: Option<String>,
}

/// What one step leaves for the next.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Memory {
    /// The value of the checkpoint, which may be null.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some")]
    pub(super) checkpoint: Option<Value>,
    /// The state of questions.
    pub(super) state: Option<Value>,
}

/// Distinguishes `null` from a missing field.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// Seals the call of a task with this name until it expires.
///
/// # Errors
/// [`Rejection::PayloadTooLarge`].
pub(super) fn seal(
    name: &str,
    prepared: &Prepared<'_>,
    context: RequestContext<'_>,
    keys: &StateKeys,
    expires_ms: u64,
) -> Result<String, Rejection> {
    let Prepared { tool, call_id, input, dialogue, resolved, .. } = prepared;
    let exposed = |(id, secret): &(String, Secret)| (id.clone(), secret.expose().to_owned());
    let job = Job {
        name: name.to_owned(),
        tool: tool.id(),
        call_id: call_id.clone(),
        input: input.text(),
        principal: context.principal.clone(),
        grant: context.principal.grant().cloned(),
        user: resolved.credentials.user_id.clone(),
        tokens: resolved.sent_tokens().map(exposed).collect(),
        secrets: resolved.credentials.secrets.iter().map(exposed).collect(),
        capabilities: dialogue.capabilities,
        answers: dialogue.answers.to_vec(),
        state: dialogue.state.clone(),
        host: context.headers.get("host"),
    };
    let sealed = keys.seal(KEPT, &job, expires_ms);
    // A third is added by the encoding.
    if sealed.len() > LONGEST {
        return Err(Rejection::PayloadTooLarge { limit: LONGEST / 4 * 3 });
    }
    Ok(sealed)
}

impl Job {
    /// The caller, as the settings of today know it; `None` if the caller may no longer call: the API key, or what the caller's
    /// token stood for, is gone.
    pub(super) async fn caller(&self, pipeline: &Pipeline, host: &dyn Host) -> Option<Principal> {
        let mut principal = self.principal.clone();
        match (&mut principal, &self.grant) {
            (Principal::Key { name, scopes }, _) => {
                *scopes = scopes.within(&pipeline.settings.key_named(name)?.scopes);
            }
            (Principal::User { .. }, Some(OwnGrant { id, holder })) => {
                let holders = pipeline.holders.as_ref()?;
                holders.permitted(holder)?.limit(&mut principal);
                if holders.has_ended(id, host).await {
                    return None;
                }
            }
            // A token of a different issuer is not asked about again.
            (Principal::Anonymous { .. } | Principal::User { .. }, _) => {}
        }
        Some(principal)
    }

    /// The call of a step, with the answers that the client gave in this round.
    ///
    /// # Errors
    /// The input is not what was sealed.
    pub(super) fn request<'t>(
        &'t mut self,
        memory: &Memory,
        answers: Named<InputResponse>,
    ) -> Result<ToolRequest<'t>, Rejection> {
        let own = |list: &mut Vec<(String, String)>| -> Named<Secret> {
            let list = std::mem::take(list).into_iter();
            list.map(|(id, text)| (id, Secret::new(text))).collect()
        };
        let credentials = Credentials {
            user_id: self.user.take(),
            tokens: own(&mut self.tokens),
            secrets: own(&mut self.secrets),
        };
        let before = std::mem::take(&mut self.answers);
        let dialogue = Dialogue {
            capabilities: self.capabilities,
            answers: before.into_iter().chain(answers).collect(),
            state: memory.state.clone().or_else(|| self.state.take()),
        };
        let input = json::parse(&self.input).map_err(|_| Rejection::Internal)?;
        let input: Input<'t> = input;
        Ok(ToolRequest {
            call_id: CallId::Sent(self.call_id.clone()),
            nulls: NullHandling::STRICT,
            credentials,
            takes_task: true,
            dialogue,
            ..ToolRequest::new(ToolSelector::Id(self.tool.clone().into()), input)
        })
    }
}
