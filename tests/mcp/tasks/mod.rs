//! The tools that the scenarios about tasks of MCP's conformance suite call.

use std::time::Duration;

use serde::Deserialize;
use toolbooth::tool::InputRequest;
use toolbooth::{Context, ToolError};

use crate::test::{Blocks, Nothing, form, name, text, user_name};

#[derive(Deserialize)]
pub(crate) struct Greeted {
    name: String,
}

pub(crate) async fn greet(input: Greeted, _: &Context<'_>) -> Blocks {
    text(format!("Hello, {}!", input.name))
}

#[derive(Deserialize)]
pub(crate) struct Work {
    seconds: u64,
    #[serde(default)]
    label: String,
}

pub(crate) async fn slow_compute(input: Work, context: &Context<'_>) -> Blocks {
    let task = context.task()?;
    let now_ms = context.now_ms();
    let end_ms = task.resumed().unwrap_or(now_ms + 1000 * input.seconds);
    if now_ms < end_ms {
        return Err(task.pause(Duration::from_millis(end_ms - now_ms), end_ms));
    }
    text(format!("{} is computed in {} seconds", input.label, input.seconds))
}

pub(crate) async fn failing_job(_: Nothing, context: &Context<'_>) -> Blocks {
    let task = context.task()?;
    match task.resumed() {
        Some(()) => Err(ToolError::new("The job failed")),
        None => Err(task.pause(Duration::from_millis(500), ())),
    }
}

#[derive(Deserialize)]
pub(crate) struct Crash {
    crashes: bool,
}

#[allow(clippy::panic)]
pub(crate) async fn protocol_error_job(input: Crash, context: &Context<'_>) -> Blocks {
    context.task()?;
    if input.crashes {
        panic!("a fixture panics in a task");
    }
    text("It did not crash")
}

#[derive(Deserialize)]
struct Confirmed {
    confirm: bool,
}

fn confirmation(message: &str) -> InputRequest {
    form(message, "confirm", "boolean")
}

#[derive(Deserialize)]
pub(crate) struct File {
    filename: String,
}

pub(crate) async fn confirm_delete(input: File, context: &Context<'_>) -> Blocks {
    context.task()?;
    match context.answer("confirm")? {
        Some(Confirmed { confirm: true }) => text(format!("{} is deleted", input.filename)),
        Some(Confirmed { confirm: false }) => text("Nothing is deleted"),
        None => {
            let question = confirmation(&format!("Delete {}?", input.filename));
            Err(context.ask([("confirm", question)], ()))
        }
    }
}

pub(crate) async fn multi_input(_: Nothing, context: &Context<'_>) -> Blocks {
    context.task()?;
    match (context.answer("first")?, context.answer("second")?) {
        (Some(Confirmed { confirm: first }), Some(Confirmed { confirm: second })) => {
            text(format!("{first}, {second}"))
        }
        _ => {
            let questions =
                [("first", confirmation("First?")), ("second", confirmation("Second?"))];
            Err(context.ask(questions, ()))
        }
    }
}

pub(crate) async fn test_tool_with_task(_: Nothing, context: &Context<'_>) -> Blocks {
    let Some(user) = user_name(context)? else {
        return Err(context.ask([("user_name", name())], ()));
    };
    context.task()?;
    text(format!("Hello, {user}!"))
}
