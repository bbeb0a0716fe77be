//! Tools that ask the client's user, its model, or the client itself.

use serde::Deserialize;
use serde_json::json;
use toolbooth::tool::{ClientCapability, ContentBlock, InputRequest, SamplingResponse};
use toolbooth::{Context, ToolError};

use super::{Blocks, Nothing, text};

#[derive(Deserialize)]
struct Name {
    name: String,
}

#[derive(Deserialize)]
struct Color {
    color: String,
}

#[derive(Deserialize)]
struct ContextForm {
    context: String,
}

#[derive(Deserialize)]
struct Confirmed {
    ok: bool,
}

#[derive(Deserialize)]
struct Roots {
    roots: Vec<Root>,
}

#[derive(Deserialize)]
struct Root {
    uri: String,
}

/// A form with one field.
pub(crate) fn form(message: &str, field: &str, kind: &str) -> InputRequest {
    let schema = json!({
        "type": "object", "properties": { field: { "type": kind } }, "required": [field],
    });
    InputRequest::form(message, schema)
}

pub(crate) fn name() -> InputRequest {
    form("What is your name?", "name", "string")
}

/// The answer to [`name`] under the key `user_name`.
pub(crate) fn user_name(context: &Context<'_>) -> Result<Option<String>, ToolError> {
    Ok(context.answer("user_name")?.map(|Name { name }| name))
}

fn greeting() -> InputRequest {
    InputRequest::sampling("Generate a greeting", 50)
}

fn written(sampled: SamplingResponse) -> String {
    match sampled.content {
        ContentBlock::Text { text } => text,
        _ => "(no text)".to_owned(),
    }
}

pub(crate) async fn missing_capability(_: Nothing, context: &Context<'_>) -> Blocks {
    match context.answer::<SamplingResponse>("message")? {
        Some(sampled) => text(written(sampled)),
        None => Err(context.ask([("message", greeting())], ())),
    }
}

pub(crate) async fn streaming_elicitation(_: Nothing, context: &Context<'_>) -> Blocks {
    context.progress(1.0, Some(2.0), "The user is asked");
    input_required_result_elicitation(Nothing {}, context).await
}

pub(crate) async fn input_required_result_elicitation(_: Nothing, context: &Context<'_>) -> Blocks {
    match context.answer::<Name>("user_name")? {
        Some(Name { name }) => text(format!("Hello, {name}!")),
        None => Err(context.ask([("user_name", name())], ())),
    }
}

pub(crate) async fn input_required_result_sampling(_: Nothing, context: &Context<'_>) -> Blocks {
    let question = InputRequest::sampling("What is the capital of France?", 100);
    match context.answer::<SamplingResponse>("capital_question")? {
        Some(sampled) => text(written(sampled)),
        None => Err(context.ask([("capital_question", question)], ())),
    }
}

pub(crate) async fn input_required_result_list_roots(_: Nothing, context: &Context<'_>) -> Blocks {
    match context.answer::<Roots>("client_roots")? {
        Some(roots) => text(named(&roots)),
        None => Err(context.ask([("client_roots", InputRequest::Roots)], ())),
    }
}

fn named(roots: &Roots) -> String {
    let addresses: Vec<_> = roots.roots.iter().map(|root| root.uri.as_str()).collect();
    format!("Roots: {}", addresses.join(", "))
}

pub(crate) async fn input_required_result_request_state(
    _: Nothing,
    context: &Context<'_>,
) -> Blocks {
    match (context.state::<String>(), context.answer::<Confirmed>("confirm")?) {
        (Some(state), Some(Confirmed { ok })) => {
            text(format!("{state}: state-ok, confirmed: {ok}"))
        }
        _ => {
            let question = form("Please confirm", "ok", "boolean");
            Err(context.ask([("confirm", question)], "asked"))
        }
    }
}

pub(crate) async fn input_required_result_tampered_state(
    input: Nothing,
    context: &Context<'_>,
) -> Blocks {
    input_required_result_request_state(input, context).await
}

pub(crate) async fn input_required_result_multiple_inputs(
    _: Nothing,
    context: &Context<'_>,
) -> Blocks {
    let answers = (
        context.answer::<Name>("user_name")?,
        context.answer::<SamplingResponse>("greeting")?,
        context.answer::<Roots>("client_roots")?,
        context.state::<bool>(),
    );
    match answers {
        (Some(Name { name }), Some(greeting), Some(roots), Some(true)) => {
            text(format!("{}, {name}! {}", written(greeting), named(&roots)))
        }
        _ => {
            let questions = [
                ("user_name", name()),
                ("greeting", greeting()),
                ("client_roots", InputRequest::Roots),
            ];
            Err(context.ask(questions, true))
        }
    }
}

pub(crate) async fn input_required_result_multi_round(_: Nothing, context: &Context<'_>) -> Blocks {
    // The state is the list of earlier responses.
    let mut answers: Vec<String> = context.state().unwrap_or_default();
    if answers.is_empty() {
        let first = form("Step 1: What is your name?", "name", "string");
        let Some(Name { name }) = context.answer("step1")? else {
            return Err(context.ask([("step1", first)], Vec::<String>::new()));
        };
        answers.push(name);
    }
    match context.answer::<Color>("step2")? {
        Some(Color { color }) => text(format!("{}: {color}", answers.concat())),
        None => {
            let second = form("Step 2: What is your favorite color?", "color", "string");
            Err(context.ask([("step2", second)], answers))
        }
    }
}

pub(crate) async fn input_required_result_capabilities(
    _: Nothing,
    context: &Context<'_>,
) -> Blocks {
    let known: Vec<_> =
        [("user_name", name()), ("greeting", greeting()), ("client_roots", InputRequest::Roots)]
            .into_iter()
            .filter(|(_, question)| context.can(question.capability()))
            .collect();
    let answered = context.answer::<Name>("user_name")?.is_some()
        || context.answer::<SamplingResponse>("greeting")?.is_some()
        || context.answer::<Roots>("client_roots")?.is_some();
    if answered || known.is_empty() {
        let forms = context.can(ClientCapability::Form);
        return text(format!("The client shows forms: {forms}"));
    }
    Err(context.ask(known, ()))
}

pub(crate) async fn prompt_of_answer(_: Nothing, context: &Context<'_>) -> Blocks {
    match context.answer::<ContextForm>("user_context")? {
        Some(answers) => text(format!("The context is: {}", answers.context)),
        None => {
            let question = form("What context should the prompt use?", "context", "string");
            Err(context.ask([("user_context", question)], ()))
        }
    }
}
