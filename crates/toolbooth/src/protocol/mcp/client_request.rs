//! What the server asks of the client, and the capabilities that the client declares for it.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::response::EmptyObject;
use crate::call::Challenge;
use crate::json::{self, Object};
use crate::tool::{Capabilities, Capability, InputRequest, InputResponse};

/// The result that asks the client for input.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InputRequiredResult {
    pub(super) input_requests: InputRequests,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) request_state: Option<String>,
}

/// Requests by the keys that their responses will have.
pub(super) struct InputRequests(pub(super) Vec<(String, ClientRequest)>);

impl Serialize for InputRequests {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, request)| (key, request)))
    }
}

/// A request that the client passes to its user or model, or answers itself.
#[derive(Serialize)]
#[serde(tag = "method", content = "params")]
pub(super) enum ClientRequest {
    /// Asks the user.
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
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum ElicitParams {
    /// A form.
    Form { message: String, requested_schema: Map<String, Value> },
    /// A URL to open.
    Url { mode: UrlMode, url: String, message: String },
}

/// The `mode` of an elicitation that opens a URL.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum UrlMode {
    /// The only one.
    Url,
}

impl ClientRequest {
    /// Asks the user to open the page of a challenge.
    pub(super) fn authorize(challenge: &Challenge) -> Self {
        Self::open(challenge.url.clone(), authorization_message(challenge))
    }

    fn open(url: String, message: String) -> Self {
        Self::Elicit(ElicitParams::Url { mode: UrlMode::Url, url, message })
    }
}

impl From<InputRequest> for ClientRequest {
    fn from(request: InputRequest) -> Self {
        match request {
            InputRequest::Form { message, schema } => {
                Self::Elicit(ElicitParams::Form { message, requested_schema: schema })
            }
            InputRequest::Url { message, url } => Self::open(url, message),
            InputRequest::Sampling { request } => Self::CreateMessage(request),
            InputRequest::Roots => Self::ListRoots(EmptyObject {}),
        }
    }
}

/// A URL for the user to open, in an error of 2025-11-25.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UrlElicitation {
    mode: UrlMode,
    elicitation_id: String,
    url: String,
    message: String,
}

impl From<&Challenge> for UrlElicitation {
    fn from(challenge: &Challenge) -> Self {
        Self {
            mode: UrlMode::Url,
            elicitation_id: challenge.id.clone(),
            url: challenge.url.clone(),
            message: authorization_message(challenge),
        }
    }
}

/// What the user is asked for.
pub(super) fn authorization_message(challenge: &Challenge) -> String {
    format!("Authorization is required to access {}", challenge.title)
}

/// The client's response to a request; `None` if it is not valid.
pub(super) fn input_response(response: &json::Value<'_>) -> Option<InputResponse> {
    Some(match response.get("action") {
        // Of a model or of the client itself.
        None => InputResponse::Given(response.into()),
        Some(action) => match action.as_str()? {
            "accept" => InputResponse::Given(
                response.get("content").map_or_else(|| Map::new().into(), Value::from),
            ),
            "decline" => InputResponse::Declined,
            "cancel" => InputResponse::Dismissed,
            _ => return None,
        },
    })
}

/// `ClientCapabilities`, as far as tools can require them.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct ClientCapabilities {
    #[serde(skip_serializing_if = "Option::is_none")]
    elicitation: Option<ElicitationModes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sampling: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    roots: Option<EmptyObject>,
}

#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct ElicitationModes {
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<EmptyObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<EmptyObject>,
}

impl ClientCapabilities {
    /// The capabilities that a client would have to declare.
    pub(super) fn required(capabilities: &[Capability]) -> Self {
        let mut required = Self::default();
        for capability in capabilities {
            match capability {
                Capability::Form => {
                    required.elicitation.get_or_insert_default().form = Some(EmptyObject {});
                }
                Capability::Url => {
                    required.elicitation.get_or_insert_default().url = Some(EmptyObject {});
                }
                Capability::Sampling => required.sampling = Some(EmptyObject {}),
                Capability::Roots => required.roots = Some(EmptyObject {}),
            }
        }
        required
    }
}

/// The capabilities that a client declared. An empty `elicitation` means forms.
pub(super) fn declared(capabilities: Option<&json::Value<'_>>) -> Capabilities {
    let object = |name: &str| capabilities?.get(name)?.as_object();
    let mode = |name: &str| object("elicitation").is_some_and(|modes| modes.contains(name));
    let all = [
        (Capability::Form, mode("form") || object("elicitation").is_some_and(Object::is_empty)),
        (Capability::Url, mode("url")),
        (Capability::Sampling, object("sampling").is_some()),
        (Capability::Roots, object("roots").is_some()),
    ];
    all.into_iter().filter_map(|(capability, has)| has.then_some(capability)).collect()
}
