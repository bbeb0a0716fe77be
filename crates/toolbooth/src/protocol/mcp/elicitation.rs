//! Asking the client for what a call needs: the user's authorization, and the input of tools that ask
//! for some. The client repeats the request with the answers; the server keeps nothing in between.

use super::client_request::{
    ClientRequest, ElicitParams, InputRequiredResult, authorization_message, declared,
    input_response,
};
use super::error::{ErrorCode, ErrorData, McpError};
use super::message::{Era, McpRequest};
use crate::call::{Challenge, MissingRequirements, Rejection, RequestContext, ToolSelector};
use crate::json::{self, Object};
use crate::seal::{ContinuationToken, INVALID_STATE, RequestState};
use crate::tool::{ClientCapabilities, ClientCapability, Credentials, Dialogue, InputRequired};

/// What the client can be asked for, and what it returned of an earlier round.
#[derive(Debug, Default)]
pub(super) struct Elicitation {
    /// What the client declared that it can do.
    capabilities: ClientCapabilities,
    /// Seals the state of this request, if there is a key for that.
    continuation: Option<ContinuationToken>,
    /// The state that the client returned.
    returned: RequestState,
}

impl Elicitation {
    /// Reads what a modern client can do; a legacy request does not declare it. A `requestState` that has expired, or
    /// that this server did not issue for this request, is an error.
    pub(super) fn read(
        request: &McpRequest<'_>,
        selector: &ToolSelector<'_>,
        input: &json::Value<'_>,
        credentials: &Credentials,
        context: &RequestContext<'_>,
    ) -> Result<Self, McpError> {
        if request.era == Era::Legacy {
            return Ok(Self::default());
        }
        let capabilities = declared(request.meta.client_capabilities.as_ref());
        let state = request.params.get("requestState");
        // Hashing the request is only worth it for clients that can be asked for something.
        if state.is_none() && capabilities == ClientCapabilities::default() {
            return Ok(Self::default());
        }
        let now_ms = context.host.now_ms();
        let keys = context.pipeline.request_state.as_ref();
        let continuation = keys.map(|keys| {
            let tool = match selector {
                ToolSelector::Id(tool) | ToolSelector::Name(tool) => tool.clone(),
                ToolSelector::Resolved(tool) => tool.id().into(),
            };
            let parts = [&*request.method, &*tool, &input.text()];
            keys.token_for((context.principal, credentials.user_id.as_deref()), &parts, now_ms)
        });
        let invalid = |what: &str| McpError::invalid_params(format!("requestState {what}"));
        let returned = match (state, &continuation) {
            (None, _) => RequestState::default(),
            (Some(json::Value::String(state)), Some(continuation)) => {
                continuation.open(state, now_ms).map_err(invalid)?
            }
            (Some(json::Value::String(_)), None) => return Err(invalid(INVALID_STATE)),
            (Some(_), _) => return Err(invalid("must be a string")),
        };
        Ok(Self { capabilities, continuation, returned })
    }

    /// What the tool gets to know. Invalid responses are ignored, so that the tool asks again.
    pub(super) fn dialogue(&self, params: &Object<'_>) -> Dialogue {
        let responses = params.get("inputResponses").and_then(json::Value::as_object);
        let responses = responses.into_iter().flat_map(Object::iter);
        Dialogue {
            capabilities: self.capabilities,
            answers: responses
                .filter_map(|(key, response)| Some((key.to_string(), input_response(response)?)))
                .collect(),
            state: self.returned.state.clone(),
        }
    }

    /// The message for the model if the user declined to open the page of a provider. Consent to open
    /// it proves nothing: the call itself finds out what the user has granted.
    pub(super) fn declined(&self, params: &Object<'_>) -> Option<String> {
        let responses = params.get("inputResponses")?;
        let declined = self.returned.providers.iter().find(|provider| {
            let action = responses.get(provider).and_then(|one| one.get("action")?.as_str());
            matches!(action, Some("decline" | "cancel"))
        })?;
        Some(format!(
            "The user did not agree to authorize access to {declined}. Do not ask again unless the user wants it"
        ))
    }

    /// What asks the user for authorization, if the client supports it and the call can be made once the user has
    /// agreed to all challenges: a result, after which the client repeats the request, or before 2026-07-28 an error.
    #[inline(never)]
    pub(super) fn authorization(
        &self,
        missing: &MissingRequirements,
        request: &McpRequest<'_>,
        query: &str,
    ) -> Option<Result<InputRequiredResult, McpError>> {
        let MissingRequirements { authorization, secrets, user_id, challenges, .. } = missing;
        let is_enough = challenges.len() == authorization.len() && secrets.is_empty() && !user_id;
        if challenges.is_empty() || !is_enough {
            return None;
        }
        let challenges = challenges.iter();
        if self.capabilities.has(ClientCapability::Url) {
            let continuation = self.continuation.as_ref()?;
            let providers = challenges.clone().map(|it| it.provider.clone()).collect();
            let state = RequestState { providers, state: self.returned.state.clone() };
            let input_requests = challenges.map(|it| {
                (it.provider.clone(), ClientRequest::Elicit(ElicitParams::authorize(it, None)))
            });
            return Some(Ok(InputRequiredResult {
                input_requests: input_requests.collect(),
                request_state: Some(continuation.seal(state)),
            }));
        }
        // A legacy request does not declare what the client can do, so the URL of the server can.
        let mut parameters = form_urlencoded::parse(query.as_bytes());
        let opens_urls = request.era == Era::Legacy
            && request.names_version("2025-11-25")
            && parameters.any(|(name, value)| name == "elicitation" && value == "url");
        opens_urls.then(|| {
            let message = "The tool requires the user's authorization";
            let one = |it: &Challenge| ElicitParams::authorize(it, Some(it.id.clone()));
            let data = ErrorData::Elicitations { elicitations: challenges.map(one).collect() };
            Err(McpError::new(ErrorCode::URL_REQUIRED, message).data(data))
        })
    }

    /// The result that passes on what a tool asks for. State of the tool needs a key that seals it.
    #[inline(never)]
    pub(super) fn input_required(
        &self,
        required: InputRequired,
    ) -> Result<InputRequiredResult, Rejection> {
        let requests = required.questions.into_iter().map(|(key, one)| (key, one.into()));
        let input_requests = requests.collect();
        let request_state = match required.state {
            None => None,
            state => {
                let no_key = Rejection::Unavailable("STATE_KEY is not set, and this tool needs it");
                let state = RequestState { providers: Vec::new(), state };
                Some(self.continuation.as_ref().ok_or(no_key)?.seal(state))
            }
        };
        Ok(InputRequiredResult { input_requests, request_state })
    }
}

/// What is missing, for a model whose client cannot ask the user: a line for each challenge, and one for the rest.
pub(super) fn describe_missing(missing: &MissingRequirements) -> String {
    let link = |challenge: &Challenge| {
        format!(
            "{}. Ask the user to open this link, then call the tool again: {}",
            authorization_message(challenge),
            challenge.url
        )
    };
    let mut lines: Vec<_> = missing.challenges.iter().map(link).collect();
    let challenged: Vec<_> = missing.challenges.iter().map(|one| one.provider.as_str()).collect();
    let mut rest = MissingRequirements { challenges: Vec::new(), ..missing.clone() };
    rest.authorization.retain(|id| !challenged.contains(id));
    if rest != MissingRequirements::default() {
        lines.push(format!(
            "The tool requires {}. Arguments cannot supply this: the client must send it in _meta, as \"toolbooth/context\". Do not call the tool again until it does",
            rest.things()
        ));
    }
    lines.join("\n")
}
