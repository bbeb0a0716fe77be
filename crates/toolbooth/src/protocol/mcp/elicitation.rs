//! How a user is asked for what a tool requires: by the client, where it can open an address, else in
//! words. In each case it is the challenge that OXP's clients get. And how a tool itself asks its
//! client's user or model: by a request that the client makes again with the answers.

use serde_json::{Map, Value};

use super::message::{Era, McpRequest};
use super::reply::{Code, Error};
use crate::call::{MissingRequirements, Rejection, RequestContext, ToolSelector};
use crate::challenge::{Challenge, ContinuationToken, INVALID_STATE, RequestState};
use crate::json::{self, Object};
use crate::tool::{
    Capabilities, Capability, Credentials, Dialogue, InputRequest, InputRequired, InputResponse,
};

/// What this client can be asked, and what it brings of an earlier time.
#[derive(Debug)]
pub(super) struct Asking {
    way: Way,
    /// What the client says it can do.
    capabilities: Capabilities,
    /// The request's place, if there is a key to seal it with.
    pause: Option<ContinuationToken>,
    /// What the request waited for.
    waited: RequestState,
}

/// How this client asks its user for an authorization.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It opens addresses and makes its request again (2026-07-28).
    Again,
    /// It opens addresses when an error says so (2025-11-25).
    Error,
    /// It hands on words.
    Words,
}

impl Asking {
    /// What the request says of it. A modern one says what its client can. A legacy one does not, so
    /// that its client can is said in the address: `/mcp?elicitation=url`.
    ///
    /// # Errors
    /// `requestState` is there and is not one that this server gave for this request.
    pub(super) fn of(
        request: &McpRequest<'_>,
        selector: &ToolSelector<'_>,
        input: &json::Value<'_>,
        credentials: &Credentials,
        context: &RequestContext<'_>,
    ) -> Result<Self, Error> {
        if request.era() == Era::Legacy {
            let opens = request.legacy.as_deref() == Some("2025-11-25")
                && form_urlencoded::parse(context.query.as_bytes())
                    .any(|(name, value)| name == "elicitation" && value == "url");
            let way = if opens { Way::Error } else { Way::Words };
            let (capabilities, waited) = Default::default();
            return Ok(Self { way, capabilities, pause: None, waited });
        }
        let capabilities = declared_capabilities(request.meta.client_capabilities.as_ref());
        let now_ms = context.host.now_ms();
        let state = request.params.get("requestState");
        // Nothing is asked of a client that can answer nothing: no call pays for what it cannot need.
        let asks = state.is_some() || capabilities != Capabilities::default();
        let pause = context.pipeline.request_state.as_ref().filter(|_| asks).map(|all| {
            let tool = match selector {
                ToolSelector::Id(tool) | ToolSelector::Name(tool) => &**tool,
                ToolSelector::Resolved(tool) => tool.name,
            };
            let parts = [&*request.method, tool, &input.text()];
            all.token_for((context.principal, credentials.user_id.as_deref()), &parts, now_ms)
        });
        let wrong = |what: &str| Error::new(Code::InvalidParams, format!("requestState {what}"));
        let waited = match (state, &pause) {
            (None, _) => RequestState::default(),
            (Some(json::Value::String(state)), Some(pause)) => {
                pause.open(state, now_ms).map_err(wrong)?
            }
            (Some(json::Value::String(_)), None) => return Err(wrong(INVALID_STATE)),
            (Some(_), _) => return Err(wrong("must be a string")),
        };
        let opens = capabilities.has(Capability::Url) && pause.is_some();
        let way = if opens { Way::Again } else { Way::Words };
        Ok(Self { way, capabilities, pause, waited })
    }

    /// What the tool is to know of it. Responses of no form are none: the tool asks again.
    pub(super) fn dialogue(&self, params: &Object<'_>) -> Dialogue {
        let responses = params.get("inputResponses").and_then(json::Value::as_object);
        let answers = responses.into_iter().flat_map(Object::iter);
        Dialogue {
            capabilities: self.capabilities,
            answers: answers
                .filter_map(|(key, one)| Some((key.to_string(), answer(one)?)))
                .collect(),
            state: self.waited.state.clone(),
        }
    }

    /// What to tell when the user was asked and will not. That the user agreed to open the address
    /// says nothing yet: the call itself finds out what has been granted.
    pub(super) fn declined(&self, params: &Object<'_>) -> Option<String> {
        let responses = params.get("inputResponses")?;
        let declined = self.waited.providers.iter().find(|provider| {
            let action = responses.get(provider).and_then(|one| one.get("action")?.as_str());
            matches!(action, Some("decline" | "cancel"))
        })?;
        Some(format!(
            "The user did not agree to authorize access to {declined}. Do not ask again unless the user wants it"
        ))
    }

    /// The members of the result that asks the user, where the client can and that is enough.
    pub(super) fn input_required(&self, missing: &MissingRequirements) -> Option<String> {
        let pause = self.pause.as_ref().filter(|_| self.way == Way::Again)?;
        if !can_be_granted(missing) {
            return None;
        }
        let mut requests = Map::new();
        for one in &missing.challenges {
            requests.insert(one.provider.clone(), url(&one.url, words(one)));
        }
        let providers = missing.challenges.iter().map(|one| one.provider.clone()).collect();
        let state = pause.seal(RequestState { providers, state: self.waited.state.clone() });
        let members =
            json::object([("inputRequests", requests.into()), ("requestState", state.into())]);
        Some(super::reply::members(&members))
    }

    /// The members of the result with which a tool asks.
    ///
    /// # Errors
    /// There is no key to seal the tool's state with.
    pub(super) fn questions(&self, required: InputRequired) -> Result<String, Rejection> {
        // Collecting would link a sorting algorithm.
        let mut requests = Map::new();
        requests.extend(required.questions.into_iter().map(|(key, one)| (key, question(one))));
        let mut members = Map::new();
        members.insert("inputRequests".to_owned(), requests.into());
        if required.state.is_some() {
            let no_key =
                Rejection::Unavailable("it has no STATE_KEY, which this tool's state needs");
            let waits = RequestState { providers: Vec::new(), state: required.state };
            let token = self.pause.as_ref().ok_or(no_key)?.seal(waits);
            members.insert("requestState".to_owned(), token.into());
        }
        Ok(super::reply::members(&members.into()))
    }

    /// The error that makes the client ask the user, where it can and that is enough.
    pub(super) fn error(&self, missing: &MissingRequirements) -> Option<Error> {
        if self.way != Way::Error || !can_be_granted(missing) {
            return None;
        }
        let elicitation = |one: &Challenge| {
            json::object([
                ("mode", "url".into()),
                ("elicitationId", one.id.as_str().into()),
                ("url", one.url.as_str().into()),
                ("message", words(one).into()),
            ])
        };
        let all = missing.challenges.iter().map(elicitation).collect();
        let error = Error::new(Code::Elicitation, "The tool needs an authorization of the user");
        Some(error.data(json::object([("elicitations", all)])))
    }
}

/// What a client says it can do. An `elicitation` that says no more means forms.
fn declared_capabilities(capabilities: Option<&json::Value<'_>>) -> Capabilities {
    let part = |name: &str| capabilities?.get(name)?.as_object();
    let elicits = |mode: &str| part("elicitation").is_some_and(|modes| modes.contains(mode));
    let forms = elicits("form") || part("elicitation").is_some_and(Object::is_empty);
    let all = [
        (Capability::Form, forms),
        (Capability::Url, elicits("url")),
        (Capability::Sampling, part("sampling").is_some()),
        (Capability::Roots, part("roots").is_some()),
    ];
    all.into_iter().filter_map(|(capability, has)| has.then_some(capability)).collect()
}

/// What a client would have had to say.
pub(super) fn capabilities(lacking: &[Capability]) -> Value {
    let mut all = Map::new();
    let mut modes = Map::new();
    for capability in lacking {
        match capability {
            Capability::Form => modes.insert("form".to_owned(), json::object([])),
            Capability::Url => modes.insert("url".to_owned(), json::object([])),
            Capability::Sampling => all.insert("sampling".to_owned(), json::object([])),
            Capability::Roots => all.insert("roots".to_owned(), json::object([])),
        };
    }
    if !modes.is_empty() {
        all.insert("elicitation".to_owned(), modes.into());
    }
    all.into()
}

/// A question, as the request that the client puts to its user, its model or itself.
fn question(question: InputRequest) -> Value {
    let (method, params) = match question {
        InputRequest::Form { message, schema } => {
            let fields = [("message", message.into()), ("requestedSchema", schema.into())];
            ("elicitation/create", json::object(fields))
        }
        InputRequest::Url { message, url: address } => return url(&address, message),
        InputRequest::Sampling { request } => ("sampling/createMessage", request.into()),
        InputRequest::Roots => ("roots/list", json::object([])),
    };
    json::object([("method", method.into()), ("params", params)])
}

fn url(url: &str, message: String) -> Value {
    let params =
        json::object([("mode", "url".into()), ("url", url.into()), ("message", message.into())]);
    json::object([("method", "elicitation/create".into()), ("params", params)])
}

/// What the client says came of a question. Nothing if that is none of its words.
fn answer(response: &json::Value<'_>) -> Option<InputResponse> {
    Some(match response.get("action") {
        None => InputResponse::Given(response.into()),
        Some(action) => match action.as_str()? {
            "accept" => InputResponse::Given(
                response.get("content").map_or_else(|| json::object([]), Value::from),
            ),
            "decline" => InputResponse::Declined,
            "cancel" => InputResponse::Dismissed,
            _ => return None,
        },
    })
}

/// Whether the call can be made once the user has agreed to all challenges.
fn can_be_granted(missing: &MissingRequirements) -> bool {
    missing.secrets.is_empty()
        && !missing.user_id
        && !missing.challenges.is_empty()
        && missing.challenges.len() == missing.authorization.len()
}

/// What the user is asked.
fn words(challenge: &Challenge) -> String {
    format!("Authorization is required to access {}", challenge.title)
}

/// What a model is told where the client cannot ask: first in words, then as JSON.
pub(super) fn in_words(missing: &MissingRequirements) -> Vec<String> {
    let mut told = Vec::new();
    for challenge in &missing.challenges {
        told.push(format!(
            "{}. Ask the user to open this link, then call the tool again: {}",
            words(challenge),
            challenge.url
        ));
        let fields = json::object([
            ("authorization_required", true.into()),
            ("authorization_url", challenge.url.as_str().into()),
            ("check_url", challenge.check_url.as_str().into()),
            ("id", challenge.id.as_str().into()),
        ]);
        told.push(json::text(&fields));
    }
    let asked: Vec<_> = missing.challenges.iter().map(|one| one.provider.as_str()).collect();
    let mut lacks = MissingRequirements { challenges: Vec::new(), ..missing.clone() };
    lacks.authorization.retain(|id| !asked.contains(id));
    if lacks != MissingRequirements::default() {
        told.push(format!(
            "The tool needs {}, which no argument can hold. The client must send it in _meta, as \"toolbooth/context\"; do not try again before",
            lacks.things()
        ));
    }
    told
}
