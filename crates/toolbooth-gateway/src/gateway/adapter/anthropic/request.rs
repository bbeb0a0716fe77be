//! Requests to Anthropic.

use super::messages::messages;
use super::thinking;
use crate::gateway::adapter::conversation;
use crate::gateway::adapter::schema::ClientSchema;
use crate::gateway::adapter::{GatewayError, Job, Result};
use crate::gateway::{Fields, Format, FunctionTool, ToolChoice};
use crate::providers::anthropic::{PLAIN, STRICT};
use crate::wire::Json;
use crate::wire::anthropic::request::{
    Metadata, OutputConfig, OutputFormat, Request, Sampling, Tool, ToolChoice as Choice,
};
use toolbooth::json::{self, Value};

const MAX_STRICT_TOOLS: usize = 20;

pub(super) fn translate(job: &Job<'_>) -> Result<Vec<u8>> {
    let mut fields = job.members()?;
    let conversation = conversation::read(job, Format::Anthropic)?;
    let (choice, allowed) = choice(job);
    let forces_call = choice.as_ref().is_some_and(|it| matches!(it.r#type, "any" | "tool"));
    let mut thinking =
        thinking::select(&mut fields, &conversation, job.options.model, forces_call)?;
    let max_tokens = thinking.max_tokens(fields.max_tokens()?, job);
    let mut body = Request {
        model: job.options.model,
        max_tokens,
        sampling: sampling(&mut fields, thinking.is_on())?,
        metadata: user(&mut fields)?,
        thinking: thinking.mode,
        output_config: OutputConfig {
            effort: thinking.effort,
            format: output_format(job, &mut fields)?,
        },
        stream: job.options.stream,
        tools: tools(job, allowed)?,
        ..Request::default()
    };
    let parallel = fields.boolean("parallel_tool_calls")?;
    body.tools.extend(job.server_tools().map(Tool::Server));
    if body.tools.is_empty() {
        job.drop_choice(parallel);
    } else {
        body.tool_choice = choice;
        if parallel == Some(false) && job.request.tool_choice != Some(ToolChoice::None) {
            let auto = Choice { r#type: "auto", ..Choice::default() };
            body.tool_choice.get_or_insert(auto).disable_parallel_tool_use = true;
        }
    }
    (body.system, body.messages) = messages(conversation)?;
    fields.finish();
    Ok(json::to_vec(&body))
}

/// `tool_choice` in Anthropic's format, and the tools that the model may call, if not all.
fn choice<'t>(job: &Job<'t>) -> (Option<Choice<'t>>, Option<&'t [String]>) {
    let (mut name, mut allowed) = (None, None);
    let kind = match &job.request.tool_choice {
        None => return (None, None),
        Some(ToolChoice::None) => "none",
        Some(ToolChoice::Auto) => "auto",
        // Tools of other kinds are rejected.
        Some(ToolChoice::Required | ToolChoice::Other(_)) => "any",
        Some(ToolChoice::Function(function)) => {
            name = Some(function.as_str());
            "tool"
        }
        Some(ToolChoice::Allowed { required, names }) => {
            job.notes.warn("tool_choice: only the allowed tools are sent to Anthropic");
            allowed = Some(names.as_slice());
            if *required { "any" } else { "auto" }
        }
    };
    let mut choice = Choice { r#type: kind, name, ..Choice::default() };
    let forces_call = matches!(kind, "any" | "tool");
    if forces_call && (!job.options.may_force || rejects_forced_calls(job.options.model)) {
        if job.options.may_force {
            job.notes.warn(format!(
                "tool_choice: {} cannot be forced to call a tool, so it is asked with auto",
                job.options.target
            ));
        }
        choice = Choice { r#type: "auto", ..Choice::default() };
    }
    (Some(choice), allowed)
}

/// The newest models reject `any` and `tool`, says Anthropic's documentation of tool use.
fn rejects_forced_calls(model: &str) -> bool {
    ["opus-5-5", "sonnet-5-5", "fable-5-1"].iter().any(|name| model.contains(name))
}

fn sampling<'t>(fields: &mut Fields<'t>, is_thinking: bool) -> Result<Sampling<'t>> {
    let mut sampling = Sampling {
        temperature: fields.number("temperature")?,
        top_p: fields.number("top_p")?,
        top_k: fields.number("top_k")?,
        stop_sequences: fields.list("stop"),
    };
    // Models with thinking reject all three, and newer ones reject two of them together.
    let without_top_p = is_thinking || sampling.temperature.is_some();
    for (name, member, drops) in [
        ("temperature", &mut sampling.temperature, is_thinking),
        ("top_p", &mut sampling.top_p, without_top_p),
        ("top_k", &mut sampling.top_k, is_thinking),
    ] {
        if drops && member.take().is_some() {
            fields.notes.drop_member(name);
        }
    }
    if sampling.temperature.as_ref().and_then(Value::as_f64).is_some_and(|it| it > 1.0) {
        fields.notes.warn("temperature: Anthropic's highest is 1, which is used");
        sampling.temperature = Some(Value::Number(1.into()));
    }
    let sent = sampling.stop_sequences.len();
    let is_usable = |stop: &Value<'_>| stop.as_str().is_some_and(|stop| !stop.trim().is_empty());
    sampling.stop_sequences.retain(is_usable);
    if sampling.stop_sequences.len() < sent {
        fields.notes.warn("stop: Anthropic rejects blank sequences, which are left out");
    }
    Ok(sampling)
}

fn user<'t>(fields: &mut Fields<'t>) -> Result<Option<Metadata<'t>>> {
    let user = match fields.text("safety_identifier")? {
        Some(identifier) => Some(identifier),
        None => fields.text("user")?,
    };
    Ok(user.map(|user_id| Metadata { user_id }))
}

/// The schema of `response_format`.
fn output_format<'t>(
    job: &'t Job<'t>,
    fields: &mut Fields<'t>,
) -> Result<Option<OutputFormat<'t>>> {
    let Some(mut format) = fields.fields("response_format")? else { return Ok(None) };
    let mut schema = None;
    match format.required_text("type")?.as_ref() {
        "text" => {}
        "json_schema" => schema = ClientSchema::of_response_format(job, &mut format)?,
        _ => {
            job.notes.warn("response_format: Anthropic needs a schema to write JSON");
            job.notes.drop_member("response_format.type");
        }
    }
    format.finish();
    let schema = schema.map(|schema| schema.convert(&STRICT, job)).transpose()?;
    Ok(schema.map(|schema| OutputFormat::JsonSchema { schema }))
}

fn tools<'t>(job: &'t Job<'t>, allowed: Option<&[String]>) -> Result<Vec<Tool<'t>>> {
    let mut tools = Vec::new();
    let mut strict_tools = 0;
    for (path, function) in job.functions()? {
        if allowed.is_some_and(|names| !names.contains(&function.name)) {
            continue;
        }
        strict_tools += usize::from(function.strict);
        if strict_tools > MAX_STRICT_TOOLS {
            let message = format!("Anthropic accepts at most {MAX_STRICT_TOOLS} strict tools");
            return Err(GatewayError::invalid("tools", message));
        }
        tools.push(tool(job, function, path)?);
    }
    Ok(tools)
}

fn tool<'t>(job: &'t Job<'t>, function: &'t FunctionTool, path: String) -> Result<Tool<'t>> {
    let target = if function.strict { &STRICT } else { &PLAIN };
    let input_schema = match ClientSchema::of_tool(function, &path) {
        Some(schema) => schema.convert(target, job)?,
        None => Json::Text(r#"{"type":"object","properties":{}}"#.into()),
    };
    Ok(Tool::Client {
        name: &function.name,
        description: function.description.as_deref(),
        input_schema,
        strict: function.strict,
        cache_control: function.finish(path, Some("cache_control"), job.notes)?,
    })
}
