//! How a user is asked for what a tool requires: by the client, where it can open an address, else in
//! words. In each case it is the challenge that OXP's clients get.

use serde_json::{Map, Value, json};

use super::message::{Era, Request, meta};
use super::reply::{Code, Error};
use crate::call::{Credentials, Missing, Wanted};
use crate::challenge::{Challenge, FORGED, Owner, Pause};
use crate::dialect::Posted;

/// How this client can ask its user.
#[derive(Debug)]
pub(super) enum Asking {
    /// It opens addresses and makes its request again (2026-07-28).
    Again {
        /// The request's place.
        pause: Box<Pause>,
        /// The providers that the user has been asked for already.
        asked: Vec<String>,
    },
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
        request: &Request,
        wanted: &Wanted,
        input: &Value,
        credentials: &Credentials,
        posted: &Posted<'_>,
    ) -> Result<Self, Error> {
        if request.era() == Era::Legacy {
            let opens = request.legacy.as_deref() == Some("2025-11-25")
                && form_urlencoded::parse(posted.query.as_bytes())
                    .any(|(name, value)| name == "elicitation" && value == "url");
            return Ok(if opens { Self::Error } else { Self::Words });
        }
        let capabilities = request.meta.get(meta!("clientCapabilities"));
        let opens = capabilities.is_some_and(|all| all.pointer("/elicitation/url").is_some());
        let state = request.params.get("requestState");
        if !opens && state.is_none() {
            return Ok(Self::Words);
        }
        let now_ms = posted.host.now_ms();
        let owner = Owner::of(posted.caller, credentials.user_id.as_deref()).ok();
        let pause = posted.config.challenges.as_ref().zip(owner).map(|(challenges, owner)| {
            let (Wanted::Id(tool) | Wanted::Name(tool)) = wanted;
            challenges.pause(&owner, &["tools/call", tool, &input.to_string()], now_ms)
        });
        let wrong = |what: &str| Error::new(Code::InvalidParams, format!("requestState {what}"));
        let asked = match (state, &pause) {
            (None, _) => Vec::new(),
            (Some(Value::String(state)), Some(pause)) => {
                pause.open(state, now_ms).map_err(wrong)?
            }
            (Some(Value::String(_)), None) => return Err(wrong(FORGED)),
            (Some(_), _) => return Err(wrong("must be a string")),
        };
        Ok(match pause {
            Some(pause) if opens => Self::Again { pause: Box::new(pause), asked },
            _ => Self::Words,
        })
    }

    /// What to tell when the user was asked and will not. That the user agreed to open the address
    /// says nothing yet: the call itself finds out what has been granted.
    pub(super) fn declined(&self, params: &Map<String, Value>) -> Option<String> {
        let Self::Again { asked, .. } = self else { return None };
        let responses = params.get("inputResponses")?;
        let refused = asked.iter().find(|provider| {
            let action = responses.get(provider.as_str()).and_then(|one| one.get("action"));
            action.is_some_and(|action| action == "decline" || action == "cancel")
        })?;
        Some(format!(
            "The user did not agree to authorize access to {refused}. Do not ask again unless the user wants it"
        ))
    }

    /// The members of the result that asks the user, where the client can and that is enough.
    pub(super) fn input_required(&self, missing: &Missing) -> Option<String> {
        let Self::Again { pause, .. } = self else { return None };
        if !can_be_granted(missing) {
            return None;
        }
        let requests: Map<String, Value> = missing
            .challenges
            .iter()
            .map(|one| {
                let params = json!({ "mode": "url", "url": one.url, "message": words(one) });
                let request = json!({ "method": "elicitation/create", "params": params });
                (one.provider.clone(), request)
            })
            .collect();
        let state = pause.token(missing.challenges.iter().map(|one| one.provider.clone()));
        Some(super::reply::members(&json!({ "inputRequests": requests, "requestState": state })))
    }

    /// The error that makes the client ask the user, where it can and that is enough.
    pub(super) fn error(&self, missing: &Missing) -> Option<Error> {
        if !matches!(self, Self::Error) || !can_be_granted(missing) {
            return None;
        }
        let elicitations: Vec<Value> = missing
            .challenges
            .iter()
            .map(|one| {
                json!({
                    "mode": "url", "elicitationId": one.id, "url": one.url, "message": words(one),
                })
            })
            .collect();
        let error = Error::new(Code::Elicitation, "The tool needs an authorization of the user");
        Some(error.data(json!({ "elicitations": elicitations })))
    }
}

/// Whether the call can be made once the user has agreed to all challenges.
fn can_be_granted(missing: &Missing) -> bool {
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
pub(super) fn in_words(missing: &Missing) -> Vec<String> {
    let mut told = Vec::new();
    for challenge in &missing.challenges {
        told.push(format!(
            "{}. Ask the user to open this link, then call the tool again: {}",
            words(challenge),
            challenge.url
        ));
        let fields = json!({
            "authorization_required": true,
            "authorization_url": challenge.url,
            "check_url": challenge.check_url,
            "id": challenge.id,
        });
        told.push(fields.to_string());
    }
    let asked: Vec<_> = missing.challenges.iter().map(|one| one.provider.as_str()).collect();
    let lacks = missing.authorization.iter().filter(|id| !asked.contains(*id));
    let mut lacks: Vec<String> = lacks.map(|id| format!("a token of {id:?}")).collect();
    lacks.extend(missing.secrets.iter().map(|id| format!("the secret {id:?}")));
    lacks.extend(missing.user_id.then(|| "the user's id".to_owned()));
    if !lacks.is_empty() {
        told.push(format!(
            "The tool needs {}, which no argument can hold. The client must send it in _meta, as \"toolbooth/context\"; do not try again before",
            lacks.join(", ")
        ));
    }
    told
}
