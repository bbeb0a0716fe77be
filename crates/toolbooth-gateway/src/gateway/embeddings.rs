//! `POST /v1/embeddings`: passes texts on to a provider with OpenAI's format.

use crate::gateway::answer::completion::UpstreamError;
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::Format;
use crate::gateway::format::adapter::errors::decode_error;
use crate::gateway::limits::Limits;
use crate::gateway::limits::cost::{Hold, MostTokens};
use crate::gateway::raw_json::{RawMembers, body_members_within, raw_members, raw_of};
use crate::gateway::relay::chat::{Sender, admit};
use crate::gateway::relay::plan::{Plan, Target};
use crate::gateway::relay::report::{Attempt, Report};
use crate::wire::{Json, Members, Usage};
use toolbooth::budget::Unit;
use toolbooth::host::HttpRequest;
use toolbooth::http::Response;
use toolbooth::json::{self, Value};
use toolbooth::schema::text::excerpt;

/// The members that are passed on. A provider could read tools or addresses from others.
const MEMBERS: [&str; 4] = ["input", "dimensions", "encoding_format", "user"];
/// The most JSON values in a request: tokens are numbers.
const MAX_VALUES: usize = 1 << 20;
/// The largest answer, in bytes.
const MAX_ANSWER: usize = 16 << 20;

/// A request, as the provider gets it but for the name of the model.
struct EmbeddingsRequest {
    model: String,
    members: RawMembers,
}

pub(super) async fn embeddings(sender: Sender<'_>, body: &str) -> Response {
    let mut report = Report::of(&sender);
    let (response, error) = match ask(&sender, body, &mut report).await {
        Ok(body) => {
            let response = Response::json(200, body).with("cache-control", "no-store");
            (report.headers(response), None)
        }
        Err(error) => (error.response(sender.front), Some(error.kind.code())),
    };
    report.log(&sender, response.status, error);
    response
}

async fn ask(sender: &Sender<'_>, body: &str, report: &mut Report) -> Result<Vec<u8>> {
    let Sender { settings, principal, pipeline, host, .. } = sender;
    let keys = admit(sender)?;
    let request = EmbeddingsRequest::read(body, report)?;
    report.model = excerpt(&request.model);
    let limits = Limits::of(principal, &pipeline.settings, settings);
    limits.models.check(&request.model)?;
    let plan = Plan::resolve(settings, sender.front, &limits.models, &request.model, &keys, *host)?;
    let target = only_target(plan.targets.as_slice())?;
    report.asks(target);
    let mut sent = Members::default();
    sent.add("model", Some(Json::Text(json::to_string(&target.model).into())));
    for (name, json) in request.members.iter() {
        sent.0.push((name.into(), json.into()));
    }
    let sent = json::to_vec(&sent);
    let purse = sender.context().purse();
    // A token has at least one byte.
    let input = u64::try_from(sent.len()).unwrap_or(u64::MAX);
    let most = || MostTokens { input, output: Some(0), keeps_long: false };
    let timeout = plan.timeout.min(settings.deadline);
    let hold = Hold::reserve(&purse, target, &most, timeout).await?;
    if let Err(error) = purse.take(Unit::Requests, 1).await {
        Hold::settle(hold, &purse, Some(0)).await;
        return Err(error.into());
    }
    let began = host.now_ms();
    let request = target.post("/embeddings", sent, timeout);
    let request = HttpRequest { max_bytes: MAX_ANSWER, ..request };
    let answer = target.send(*host, request).await.and_then(|response| {
        let usage = usage(&response.body);
        let usage = usage.map_err(|error| GatewayError::upstream(&error, None, &target.name()))?;
        Ok((response.body, usage))
    });
    let status = match &answer {
        Ok(_) => Some(200),
        Err(error) => error.provider_status,
    };
    let (provider, ms) = (target.provider.id.clone(), host.now_ms().saturating_sub(began));
    report.attempts.push(Attempt { provider, status, ms });
    let (answer, usage) = match answer {
        Ok(answer) => answer,
        Err(error) => {
            Hold::settle_failed(hold, &purse, &error).await;
            return Err(error.without(target.key.as_ref()));
        }
    };
    report.rounds = 1;
    let used = hold.as_ref().and_then(|hold| hold.cost_of_input(usage.as_ref()?));
    Hold::settle(hold, &purse, used).await;
    usage.into_iter().for_each(|usage| report.add_usage(usage));
    Ok(answer)
}

impl EmbeddingsRequest {
    fn read(body: &str, report: &Report) -> Result<Self> {
        let (value, all) = body_members_within(body, MAX_VALUES)?;
        let mut fields = Fields::of(value, String::new(), &report.notes)?;
        let model = fields
            .name("model", "the name of a model, such as \"openai/text-embedding-3-small\"")?;
        if !fields.get("input").is_some_and(is_text_or_tokens) {
            return fields.expected("input", "a text, or an array of texts or tokens");
        }
        let mut members = RawMembers::default();
        for name in MEMBERS {
            if fields.take(name).is_some() {
                members.add(name, raw_of(&all, name));
            }
        }
        fields.reject_others("model, input, dimensions, encoding_format and user")?;
        Ok(Self { model, members })
    }
}

/// Whether these are texts or tokens. Some servers also take objects, with addresses of pictures that they fetch.
fn is_text_or_tokens(input: &Value<'_>) -> bool {
    let is_token = |value: &Value<'_>| value.as_number().is_some();
    let is_item = |value: &Value<'_>| match value {
        Value::Array(tokens) => tokens.iter().all(is_token),
        value => value.as_str().is_some() || is_token(value),
    };
    match input {
        Value::Array(items) => items.iter().all(is_item),
        value => value.as_str().is_some(),
    }
}

/// The one model that is asked: vectors of different models cannot be compared, so there is no other if it fails.
fn only_target<'t, 's>(targets: &'t [Target<'s>]) -> Result<&'t Target<'s>> {
    let [target] = targets else {
        let message =
            "The model has several targets, whose embeddings cannot be compared: name one of them";
        return Err(GatewayError::invalid("model", message));
    };
    match target.format {
        Format::OpenAi | Format::OpenAiCompatible | Format::Responses => Ok(target),
        _ => {
            let message = format!(
                "{} has no embeddings in OpenAI's format, which is the only one that is passed on",
                target.provider.id
            );
            Err(GatewayError::invalid("model", message))
        }
    }
}

/// The tokens of an answer, if it has them. The error: it is none, or some providers' error with the status of an answer. Vectors have
/// very many numbers, which are not read.
fn usage(answer: &[u8]) -> Result<Option<Usage>, UpstreamError> {
    let members = str::from_utf8(answer).ok().and_then(raw_members);
    let members =
        members.ok_or_else(|| UpstreamError::malformed("the answer is no JSON object"))?;
    if raw_of(&members, "error").is_some_and(|error| error.get() != "null") {
        return Err(decode_error(200, answer));
    }
    let usage = raw_of(&members, "usage").and_then(|json| json::parse(json.get()).ok());
    Ok(usage.as_ref().and_then(Usage::of_openai))
}
