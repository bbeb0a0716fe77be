//! Requests to Anthropic.

use std::borrow::Cow;

use crate::gateway::conversation::tool::{FunctionTool, ToolChoice};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::facts::Facts;
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::Format;
use crate::gateway::format::adapter::conversation::{self, Conversation, Entry};
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::adapter::names::ANSWER;
use crate::gateway::format::adapter::schema::{ClientSchema, NO_PARAMETERS};
use crate::gateway::format::messages::adapter::messages::messages;
use crate::gateway::format::messages::adapter::thinking;
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
    let forces_call = job.names.has_answer
        || choice.as_ref().is_some_and(|it| matches!(it.r#type, "any" | "tool"));
    let mut thinking = thinking::select(&mut fields, &conversation, job, forces_call)?;
    if job.names.has_answer {
        check_answer(job, thinking.is_on())?;
    }
    let max_tokens = thinking.max_tokens(fields.max_tokens()?, job);
    let mut body = Request {
        model: job.options.model,
        max_tokens,
        sampling: sampling(&mut fields, job.options.facts, thinking.is_on())?,
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
    body.tools.extend(job.hosted_tools().chain(job.server_tools()).map(Tool::Server));
    if body.tools.is_empty() {
        job.drop_choice(parallel);
        body.tools = used_tools(&conversation);
        let none = Choice { r#type: "none", ..Choice::default() };
        body.tool_choice = (!body.tools.is_empty()).then_some(none);
        if job.names.has_answer {
            let name = Some(ANSWER);
            body.tools.push(declared(ANSWER.into()));
            body.tool_choice = Some(Choice { r#type: "tool", name, ..Choice::default() });
        }
    } else {
        body.tool_choice = choice;
        if parallel == Some(false) && job.tool_choice != Some(&ToolChoice::None) {
            let auto = Choice { r#type: "auto", ..Choice::default() };
            body.tool_choice.get_or_insert(auto).disable_parallel_tool_use = true;
        }
    }
    (body.system, body.messages) = messages(&conversation, job.notes)?;
    fields.finish();
    Ok(json::to_vec(&body))
}

/// `tool_choice` in Anthropic's format, and the tools that the model may call, if not all.
pub(super) fn choice<'t>(job: &Job<'t>) -> (Option<Choice<'t>>, Option<&'t [String]>) {
    let (mut name, mut allowed) = (None, None);
    let kind = match job.tool_choice {
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
    if must_not_force(job) {
        choice = Choice { r#type: "auto", ..Choice::default() };
    }
    (Some(choice), allowed)
}

/// Whether the model must not be forced to call a tool, as the request wants it.
pub(super) fn must_not_force(job: &Job<'_>) -> bool {
    job.tool_choice.is_some_and(ToolChoice::forces_call) && !job.may_force()
}

fn sampling<'t>(fields: &mut Fields<'t>, facts: &Facts, is_thinking: bool) -> Result<Sampling<'t>> {
    let mut sampling = Sampling {
        temperature: fields.number("temperature")?,
        top_p: fields.number("top_p")?,
        top_k: fields.number("top_k")?,
        stop_sequences: fields.list("stop"),
    };
    for (name, member) in [
        ("temperature", &mut sampling.temperature),
        ("top_p", &mut sampling.top_p),
        ("top_k", &mut sampling.top_k),
    ] {
        if facts.rejects(name, is_thinking) && member.take().is_some() {
            fields.notes.drop_member(name);
        }
    }
    // Newer models reject two of them together.
    if sampling.temperature.is_some() && sampling.top_p.take().is_some() {
        fields.notes.drop_member("top_p");
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
    let (identifier, user) = (fields.text("safety_identifier")?, fields.get("user"));
    let user = match identifier {
        Some(identifier) if user.is_none_or(|user| user.as_str() == Some(&identifier)) => {
            fields.take("user");
            Some(identifier)
        }
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
        // The call of a tool is the JSON.
        "json_object" => {}
        _ => job.notes.drop_member("response_format.type"),
    }
    format.finish();
    let schema = schema.map(|schema| schema.convert(&STRICT, job)).transpose()?;
    Ok(schema.map(|schema| OutputFormat::JsonSchema { schema }))
}

/// The tools that the conversation has used. Anthropic rejects calls of tools that a request does not declare.
fn used_tools<'e>(conversation: &'e Conversation<'_>) -> Vec<Tool<'e>> {
    let mut names: Vec<Cow<'e, str>> = Vec::new();
    for entry in &conversation.entries {
        let used: Vec<Cow<'e, str>> = match entry {
            Entry::User(_) => continue,
            Entry::Assistant(assistant) => {
                assistant.message.calls.iter().map(|it| it.name.as_ref().into()).collect()
            }
            Entry::Native(turn) => turn.results.iter().map(|it| it.name.as_str().into()).collect(),
        };
        for name in used {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names.into_iter().map(declared).collect()
}

/// A tool of which nothing but the name is known.
fn declared(name: Cow<'_, str>) -> Tool<'_> {
    let input_schema = Json::Text(NO_PARAMETERS.into());
    Tool::Client { name, description: None, input_schema, strict: false, cache_control: None }
}

/// Checks that a request for JSON without a schema can be one for a call, whose input is the JSON.
fn check_answer(job: &Job<'_>, thinks: bool) -> Result<()> {
    let has_tools = !job.tools.is_empty() || !job.options.server_tools.is_empty();
    if !has_tools && !thinks && job.options.facts.can_be_forced() {
        return Ok(());
    }
    let message = format!(
        "response_format.type must be json_schema for {}: without a schema, it writes JSON only if the request has no tools and \
         no thinking, and if the model can be forced to call a tool",
        job.options.target
    );
    Err(GatewayError::invalid("response_format.type", message))
}

fn tools<'t>(job: &'t Job<'t>, allowed: Option<&[String]>) -> Result<Vec<Tool<'t>>> {
    let mut tools = Vec::new();
    let mut strict_tools = 0;
    for (path, function) in job.functions()? {
        if allowed.is_some_and(|names| !names.contains(&function.name)) {
            continue;
        }
        let is_strict = function.is_strict() && strict_tools < MAX_STRICT_TOOLS;
        if function.is_strict() && !is_strict {
            job.notes.warn(format!(
                "tools[].function.strict: Anthropic accepts at most {MAX_STRICT_TOOLS} strict tools, so the others are not strict"
            ));
        }
        let (tool, is_strict) = tool(job, function, path, is_strict)?;
        strict_tools += usize::from(is_strict);
        tools.push(tool);
    }
    Ok(tools)
}

/// A tool, and whether it is strict.
fn tool<'t>(
    job: &'t Job<'t>,
    function: &'t FunctionTool,
    path: String,
    is_strict: bool,
) -> Result<(Tool<'t>, bool)> {
    let schema = ClientSchema::of_tool(function, &path);
    let (input_schema, strict) = match is_strict {
        true => schema.convert_strict([&STRICT, &PLAIN], job)?,
        false => (schema.convert(&PLAIN, job)?, false),
    };
    let tool = Tool::Client {
        name: function.name.as_str().into(),
        description: function.description.as_deref(),
        input_schema,
        strict,
        cache_control: function.cache_control.clone(),
    };
    Ok((tool, strict))
}
