//! Answers that clients ask for later (`background: true` of Responses). A task runs the chat as it would run within the
//! request, once: a chat that was interrupted has failed, because to repeat it could cost or do everything twice.

use crate::gateway::error::GatewayError;
use crate::gateway::format::front::Front;
use crate::gateway::format::responses::front::Responses;
use crate::gateway::format::responses::front::background::{PREFIX, draft, failed, shown};
use crate::gateway::notes::Notes;
use crate::gateway::relay::chat::{Chat, Sender};
use crate::gateway::relay::plan::CALLER_KEY;
use crate::gateway::relay::report::Operation;
use crate::gateway::relay::rounds;
use crate::gateway::settings::GatewaySettings;
use std::time::Duration;
use toolbooth::budget::Unit;
use toolbooth::call::{BackgroundHandler, BackgroundRequest, BackgroundTask, Rejection};
use toolbooth::host::async_trait;
use toolbooth::http::{Answer, Response};
use toolbooth::log::CallRecorder;
use toolbooth::route::RouteRequest;
use toolbooth::url::query_parameter;

/// Runs the chats of responses.
pub(in crate::gateway) static RESPONSES: BackgroundResponses = BackgroundResponses;

pub(in crate::gateway) struct BackgroundResponses;

#[async_trait(?Send)]
impl BackgroundHandler for BackgroundResponses {
    fn name(&self) -> &'static str {
        "responses"
    }

    fn headers(&self) -> &'static [&'static str] {
        // By the last one, limiters count callers without credentials.
        &["host", CALLER_KEY, "cf-connecting-ip"]
    }

    async fn serve(&self, request: BackgroundRequest<'_>) -> Option<String> {
        let BackgroundRequest { body, context, .. } = request;
        let sender = Sender {
            front: &Responses,
            operation: Operation::Chat,
            settings: context.pipeline.settings.extensions.get::<GatewaySettings>()?,
            headers: context.headers,
            principal: context.principal.clone(),
            pipeline: context.pipeline,
            host: context.host,
            calls: CallRecorder::default(),
            background: Some(request),
        };
        let result = match Chat::of(sender, body) {
            Ok(mut chat) => rounds::whole(&mut chat).await,
            Err(error) => Err(error),
        };
        let document = match result {
            Ok(response) => response.body.into_owned(),
            Err(error) => {
                // It was valid when the client sent it.
                let read = Responses.decode(body, context.headers, &Notes::default()).ok()?;
                failed(&read, &error)
            }
        };
        String::from_utf8(document).ok()
    }
}

/// How long a request is reserved from the caller's budget while its task is stored.
const STORING: Duration = Duration::from_secs(60);

/// Stores a request that was checked, if a model can get it and the caller's budgets cover it: what is stored takes space, whether or
/// not it runs. Its client gets a response that is queued.
pub(in crate::gateway) async fn begin<'a>(
    chat: &Chat<'_>,
    body: &str,
) -> Result<Answer<'a>, Rejection> {
    let context = chat.sender.context();
    if !context.keeps_tasks() {
        let message = "background: true needs tasks, which this server does not support: use stream: \
                       true, or ask the operator to list TASKS in serve!, bind the Durable Object \
                       TASKS and set STATE_KEY";
        return Ok(rounds::failed(chat, &GatewayError::invalid("background", message)).into());
    }
    if let Err(error) = chat.check_attempt().await {
        return Ok(rounds::failed(chat, &error).into());
    }
    let purse = context.purse();
    let unit = match purse.reserve(Unit::Requests, 1, STORING).await {
        Ok(unit) => unit,
        Err(rejection) => return Ok(rounds::failed(chat, &rejection.into()).into()),
    };
    let draft = String::from_utf8(draft(&chat.request)).unwrap_or_default();
    let stored = context.serve_later(&RESPONSES, body, &draft).await;
    if let Some(unit) = unit {
        purse.settle(unit, (Unit::Requests, stored.is_ok().into())).await;
    }
    Ok(respond(&stored?, "queued"))
}

fn respond<'a>(task: &BackgroundTask, working: &'static str) -> Answer<'a> {
    Response::json(200, shown(task, working)).with("cache-control", "no-store").into()
}

/// `GET /v1/responses/{id}`.
pub(in crate::gateway) async fn retrieve<'a>(
    request: &RouteRequest<'a>,
) -> Result<Answer<'a>, Rejection> {
    if query_parameter(request.query, "stream").is_some_and(|stream| stream == "true") {
        let message = "Responses in the background are not streamed: leave out stream, and ask again \
                       until the response has ended";
        return Ok(GatewayError::invalid("stream", message).response(&Responses).into());
    }
    let found = request.context().background_task(&RESPONSES, id(request)?).await?;
    found.map(|task| respond(&task, "in_progress")).ok_or(UNKNOWN)
}

/// `POST /v1/responses/{id}/cancel`: one that has ended stays as it is.
pub(in crate::gateway) async fn cancel<'a>(
    request: &RouteRequest<'a>,
) -> Result<Answer<'a>, Rejection> {
    let found = request.context().cancel_background_task(&RESPONSES, id(request)?).await?;
    found.map(|task| respond(&task, "in_progress")).ok_or(UNKNOWN)
}

/// `DELETE /v1/responses/{id}`.
pub(in crate::gateway) async fn delete<'a>(
    request: &RouteRequest<'a>,
) -> Result<Answer<'a>, Rejection> {
    let found = request.context().remove_background_task(&RESPONSES, id(request)?).await?;
    let id = found.ok_or(UNKNOWN)?.id;
    let deleted = Deleted { id: format!("{PREFIX}{id}"), object: "response", deleted: true };
    Ok(Response::json_of(200, &deleted).into())
}

#[derive(serde::Serialize)]
struct Deleted {
    id: String,
    object: &'static str,
    deleted: bool,
}

fn id<'r>(request: &'r RouteRequest<'_>) -> Result<&'r str, Rejection> {
    request.parameter.strip_prefix(PREFIX).ok_or(UNKNOWN)
}

/// A response that has expired, that never was or was not stored, or of a different caller: all the same.
const UNKNOWN: Rejection = Rejection::NotFound {
    hint: std::borrow::Cow::Borrowed(
        "you have no such response in the background, or it has expired",
    ),
};
