//! What a task does, as it is kept. It has the input and the credentials that the client sent, so it is sealed.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{KEPT, LONGEST};
use crate::call::pipeline::{Pipeline, Prepared, RequestContext};
use crate::call::rejection::Rejection;
use crate::call::{CallId, NullHandling, TakesTask, ToolRequest, ToolSelector};
use crate::host::Host;
use crate::http::Headers;
use crate::json::{self, Value as Input};
use crate::principal::{KeyHash, OwnGrant, Principal};
use crate::seal::StateKeys;
use crate::tool::{ClientCapabilities, Credentials, Dialogue, InputResponse, Named, Secret};

/// What a task does, and for whom.
#[derive(Serialize, Deserialize)]
pub(super) struct Job {
    /// The name of the task.
    pub(super) name: String,
    principal: Principal,
    /// The grant of the caller's token, if this server issued it.
    grant: Option<OwnGrant>,
    /// The hash of the API key that the caller has sent.
    key_hash: Option<KeyHash>,
    /// The headers of the request that it needs: of a call `Host`, of which addresses for the user are made.
    pub(super) headers: KeptHeaders,
    pub(super) work: Work,
}

#[derive(Serialize, Deserialize)]
pub(super) enum Work {
    Call(Box<Call>),
    /// A request that a capability serves.
    Request {
        /// The name of its [`BackgroundHandler`](super::BackgroundHandler).
        handler: String,
        body: String,
    },
}

/// A call.
#[derive(Serialize, Deserialize)]
pub(super) struct Call {
    pub(super) tool: String,
    call_id: Option<String>,
    /// The input, as JSON.
    input: String,
    user: Option<String>,
    tokens: Vec<(String, String)>,
    secrets: Vec<(String, String)>,
    capabilities: ClientCapabilities,
    /// What the client answered before the task began, and what the tool remembered then.
    answers: Vec<(String, InputResponse)>,
    state: Option<Value>,
}

/// Some headers of a request.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct KeptHeaders(Vec<(String, String)>);

impl KeptHeaders {
    fn of(headers: &dyn Headers, names: &[&str]) -> Self {
        let kept = names.iter().filter_map(|name| Some(((*name).to_owned(), headers.get(name)?)));
        Self(kept.collect())
    }
}

impl Headers for KeptHeaders {
    fn get(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }
}

/// What one step leaves for the next.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Memory {
    /// The value of the checkpoint, which may be null.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some")]
    pub(super) checkpoint: Option<Value>,
    /// The state of questions.
    pub(super) state: Option<Value>,
    /// How often the next step was begun before the server could not serve it.
    #[serde(default)]
    pub(super) begun: u32,
}

/// Distinguishes `null` from a missing field.
fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// The job of a task with this name that runs a call.
pub(super) fn of_call(name: &str, prepared: &Prepared<'_>, context: &RequestContext<'_>) -> Job {
    let Prepared { tool, call_id, input, dialogue, resolved, .. } = prepared;
    let exposed = |(id, secret): &(String, Secret)| (id.clone(), secret.expose().to_owned());
    let call = Call {
        tool: tool.id(),
        call_id: call_id.clone(),
        input: input.text(),
        user: resolved.credentials.user_id.clone(),
        tokens: resolved.sent_tokens().map(exposed).collect(),
        secrets: resolved.credentials.secrets.iter().map(exposed).collect(),
        capabilities: dialogue.capabilities,
        answers: dialogue.answers.to_vec(),
        state: dialogue.state.clone(),
    };
    Job::new(name, context, &["host"], Work::Call(Box::new(call)))
}

impl Job {
    /// Work for the sender of a request, of which these headers are kept.
    pub(super) fn new(
        name: &str,
        context: &RequestContext<'_>,
        headers: &[&str],
        work: Work,
    ) -> Self {
        let key_hash = match context.principal {
            Principal::Key { hash, .. } => *hash,
            Principal::Anonymous { .. } | Principal::User { .. } => None,
        };
        Self {
            name: name.to_owned(),
            principal: context.principal.clone(),
            grant: context.principal.grant().cloned(),
            key_hash,
            headers: KeptHeaders::of(context.headers, headers),
            work,
        }
    }

    /// Seals it until it expires. `beside` is the number of bytes kept in the same row.
    ///
    /// # Errors
    /// [`Rejection::PayloadTooLarge`].
    pub(super) fn seal(
        &self,
        keys: &StateKeys,
        expires_ms: u64,
        beside: usize,
    ) -> Result<String, Rejection> {
        let sealed = keys.seal(KEPT, self, expires_ms);
        // A third is added by the encoding.
        if sealed.len().saturating_add(beside) > LONGEST {
            return Err(Rejection::PayloadTooLarge { limit: LONGEST / 4 * 3 });
        }
        Ok(sealed)
    }

    /// The caller, as the settings of today know it.
    ///
    /// # Errors
    /// Why the step cannot run.
    pub(super) async fn caller(
        &self,
        pipeline: &Pipeline,
        host: &dyn Host,
    ) -> Result<Principal, NoCaller> {
        let settings = &pipeline.settings;
        let mut principal = self.principal.clone();
        match (&mut principal, &self.grant) {
            // A token of this server, for a person or for the holder of a key.
            (Principal::Key { .. } | Principal::User { .. }, Some(OwnGrant { id, holder })) => {
                let holders = pipeline.holders.as_ref().ok_or(NoCaller::NotConfigured)?;
                holders.permitted(holder).ok_or(NoCaller::Removed)?.limit(&mut principal);
                if holders.has_ended(id, host).await {
                    return Err(NoCaller::Removed);
                }
            }
            (Principal::Key { name, scopes, .. }, None) => {
                let key = settings.key_named(name).ok_or(NoCaller::Removed)?;
                if !key.hashes().any(|hash| self.key_hash == Some(KeyHash(*hash))) {
                    return Err(NoCaller::Removed);
                }
                *scopes = scopes.within(&key.scopes);
            }
            (Principal::Anonymous { scopes }, _) => {
                let today = settings.auth.anonymous.as_ref().ok_or(NoCaller::Removed)?;
                *scopes = scopes.within(today);
            }
            // A token of a different issuer is not asked about again.
            (Principal::User { .. }, None) => {}
        }
        Ok(principal)
    }
}

/// Why a step has no caller.
pub(super) enum NoCaller {
    /// The caller may no longer call: the API key, or what the caller's token stood for, is gone.
    Removed,
    /// The settings of today cannot tell, such as those of a deployment without sign-in.
    NotConfigured,
}

impl Call {
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
            call_id: self.call_id.take().map_or(CallId::Unused, CallId::Sent),
            nulls: NullHandling::STRICT,
            credentials,
            takes_task: TakesTask::Always,
            dialogue,
            ..ToolRequest::new(ToolSelector::Id(self.tool.clone().into()), input)
        })
    }
}
