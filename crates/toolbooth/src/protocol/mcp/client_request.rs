//! What the server asks of the client, and the capabilities that the client declares for it.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::response::EmptyObject;
use crate::call::Challenge;
use crate::json::{self, Object};
use crate::tool::{ClientCapabilities, ClientCapability, InputRequest, InputResponse};

/// The result that asks the client for input.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InputRequiredResult {
    /// Requests by the keys that their responses will have.
    #[serde(serialize_with = "as_map")]
    pub(super) input_requests: Vec<(String, ClientRequest)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request_state: Option<String>,
}

/// Serializes members in their order.
pub(super) fn as_map<S: Serializer>(
    members: &[(impl Serialize, impl Serialize)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(members.iter().map(|(name, value)| (name, value)))
}

/// A request that the client passes to its user or model, or answers itself.
#[derive(Serialize)]
#[serde(tag = "method", content = "params")]
pub(super) enum ClientRequest {
    #[serde(rename = "elicitation/create")]
    Elicit(ElicitParams),
    /// Asks the model.
    #[serde(rename = "sampling/createMessage")]
    CreateMessage(Map<String, Value>),
    /// Asks for the client's root folders.
    #[serde(rename = "roots/list")]
    ListRoots(EmptyObject),
}

/// What to show the user.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum ElicitParams {
    Form {
        message: String,
        requested_schema: Map<String, Value>,
    },
    /// A URL to open.
    Url {
        /// `url`.
        mode: &'static str,
        /// The id of the challenge, in an error of 2025-11-25.
        #[serde(skip_serializing_if = "Option::is_none")]
        elicitation_id: Option<String>,
        url: String,
        message: String,
    },
}

impl ElicitParams {
    /// Asks the user to open the page of a challenge.
    pub(super) fn authorize(challenge: &Challenge, elicitation_id: Option<String>) -> Self {
        let (url, message) = (challenge.url.clone(), authorization_message(challenge));
        Self::Url { mode: "url", elicitation_id, url, message }
    }
}

impl From<InputRequest> for ClientRequest {
    fn from(request: InputRequest) -> Self {
        match request {
            InputRequest::Form { message, schema } => {
                Self::Elicit(ElicitParams::Form { message, requested_schema: schema })
            }
            InputRequest::Url { message, url } => {
                Self::Elicit(ElicitParams::Url { mode: "url", elicitation_id: None, url, message })
            }
            InputRequest::Sampling { request } => Self::CreateMessage(request),
            InputRequest::Roots => Self::ListRoots(EmptyObject {}),
        }
    }
}

/// What the user is asked for.
pub(super) fn authorization_message(challenge: &Challenge) -> String {
    format!("Authorization is required to access {}", challenge.title)
}

/// The client's response to a request; `None` if it is not valid.
pub(super) fn input_response(response: &json::Value<'_>) -> Option<InputResponse> {
    let member = |name: &str| response.get(name).filter(|value| !value.is_null());
    Some(match member("action") {
        _ if response.is_null() => return None,
        // Of a model or of the client itself.
        None => InputResponse::Given(response.into()),
        Some(action) => match action.as_str()? {
            "accept" => InputResponse::Given(
                member("content").map_or_else(|| Map::new().into(), Value::from),
            ),
            "decline" => InputResponse::Declined,
            "cancel" => InputResponse::Dismissed,
            _ => return None,
        },
    })
}

/// The `ClientCapabilities` that tools can require.
#[derive(Debug, Serialize)]
pub(super) struct RequiredCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation: Option<ElicitationModes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roots: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<TaskExtension>,
}

#[derive(Debug, Serialize)]
struct TaskExtension {
    #[serde(rename = "io.modelcontextprotocol/tasks")]
    tasks: EmptyObject,
}

#[derive(Debug, Serialize)]
struct ElicitationModes {
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<EmptyObject>,
}

impl RequiredCapabilities {
    /// The capabilities that a client would have to declare.
    pub(super) fn required(capabilities: &[ClientCapability]) -> Self {
        let needs = |one| capabilities.contains(&one).then_some(EmptyObject {});
        let (form, url) = (needs(ClientCapability::Form), needs(ClientCapability::Url));
        Self {
            elicitation: form.or(url).map(|_| ElicitationModes { form, url }),
            sampling: needs(ClientCapability::Sampling),
            roots: needs(ClientCapability::Roots),
            extensions: None,
        }
    }

    /// The extension for tasks.
    pub(super) fn tasks() -> Self {
        let extensions = Some(TaskExtension { tasks: EmptyObject {} });
        Self { extensions, ..Self::required(&[]) }
    }
}

/// The capabilities that a client declared. An empty `elicitation` means forms.
pub(super) fn declared(capabilities: Option<&json::Value<'_>>) -> ClientCapabilities {
    let object = |name: &str| capabilities?.get(name)?.as_object();
    let is_set = |value: Option<&json::Value<'_>>| value.is_some_and(|value| !value.is_null());
    let mode = |name: &str| object("elicitation").is_some_and(|modes| is_set(modes.get(name)));
    let has_none = |modes: &Object<'_>| modes.iter().all(|(_, value)| value.is_null());
    let form = mode("form") || object("elicitation").is_some_and(has_none);
    let all = [
        (ClientCapability::Form, form),
        (ClientCapability::Url, mode("url")),
        (ClientCapability::Sampling, object("sampling").is_some()),
        (ClientCapability::Roots, object("roots").is_some()),
    ];
    all.into_iter().filter_map(|(capability, has)| has.then_some(capability)).collect()
}
