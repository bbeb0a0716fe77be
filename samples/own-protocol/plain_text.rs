//! A protocol for shell scripts: `POST /text/{name}` takes the input as JSON and responds with the value as plain text.
//! `GET /text` is a page that explains it, with the team of the operator's choice.

use toolbooth::Capability;
use toolbooth::call::{Outcome, Pipeline, Rejection, RequestContext, ToolRequest, ToolSelector};
use toolbooth::http::{Answer, Response};
use toolbooth::route::{
    CallResponse, Calls, EncodeRejection, Policy, PostRequest, Protocol, Route, RouteRequest,
    Sample, for_tests,
};
use toolbooth::tool::Variable;

/// What the Worker lists in `serve!`.
pub(crate) static CAPABILITY: Capability = Capability {
    protocols: &[("/text", &PLAIN_TEXT)],
    variables: &[Variable::required("TEAM", |team| {
        if team.is_empty() { Err("must name a team") } else { Ok(()) }
    })],
    call_forms: &["the input alone at /text/{name}"],
    ..Capability::new("plain-text")
};

static PLAIN_TEXT: Protocol = Protocol {
    routes: &[
        Route::get("", Policy::PUBLIC, &explain),
        Route::post("/{name}", Policy::CALLS, &Calls(call)),
    ],
    samples: for_tests(&[(&["/{name}"], &SAMPLE)]),
    ..Protocol::new("plain-text", "Plain text for shell scripts", EncodeRejection::Plain(reject))
};

/// How to write a call and to read its response, for the tests that compare protocols.
const SAMPLE: Sample = Sample {
    is_error: |response| response.is_string(),
    error: &[""],
    rejection: &[""],
    ..Sample::new("Plain text", |call| call.input.clone())
};

/// `GET /text`: the page.
async fn explain<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let team = request.variable("TEAM");
    let page = format!("POST the input of a tool to /text/Toolkit_Tool. Questions? Ask {team}.\n");
    Ok(text(200, page).into())
}

/// `POST /text/{name}`: the call.
fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    let PostRequest { body, context } = request;
    let call = ToolRequest::new(ToolSelector::Name(context.parameter.into()), body);
    Box::pin(async move { Ok(encode(context.call(Ok(call)).await?, context)) })
}

fn encode(outcome: Outcome, context: RequestContext<'_>) -> Response {
    match outcome {
        Outcome::Done { value, .. } => text(200, format!("{value}\n")),
        Outcome::Failed { error, .. } => text(422, format!("{}\n", error.message)),
        Outcome::InvalidInput(input) => text(400, format!("{input}\n")),
        Outcome::InputRequired { required, .. } => reject(&required.into(), context.pipeline),
        Outcome::Rejected(rejection) => reject(&rejection, context.pipeline),
    }
}

/// The response to a rejected request, with the header that HTTP requires.
fn reject(rejection: &Rejection, _: &Pipeline) -> Response {
    let description = rejection.describe();
    let mut response = text(description.kind.status(), format!("{description}\n"));
    response.headers.extend(rejection.header().map(|(name, value)| (name, value.into())));
    response
}

fn text(status: u16, body: String) -> Response {
    Response {
        status,
        headers: vec![("content-type", "text/plain; charset=utf-8".into())],
        body: body.into_bytes().into(),
    }
}
