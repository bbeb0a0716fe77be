//! Requests to Anthropic.

use super::messages::messages;
use super::thinking;
use crate::gateway::adapter::conversation;
use crate::gateway::adapter::schema::ClientSchema;
use crate::gateway::adapter::{GatewayError, TranslateOptions, members, tools_of};
use crate::gateway::fields::{Fields, Notes};
use crate::gateway::{ChatRequest, FunctionTool, Provider, ToolChoice};
use crate::providers::anthropic::{PLAIN, STRICT};
use crate::wire::Json;
use crate::wire::anthropic::request::{
    Metadata, OutputConfig, OutputFormat, Request, Sampling, Tool, ToolChoice as Choice,
};
use toolbooth::json::{self, Value};

/// The most strict tools in a request.
const MAX_STRICT_TOOLS: usize = 20;

/// The body of a request.
pub(super) fn translate(
    request: &ChatRequest,
    options: &TranslateOptions<'_>,
    notes: &mut Notes,
) -> Result<Vec<u8>, GatewayError> {
    let mut fields = members(request, notes)?;
    let conversation = conversation::read(request, Provider::Anthropic, notes)?;
    let (choice, allowed) = choice(request, options, notes);
    let forces_call = choice.as_ref().is_some_and(|it| matches!(it.r#type, "any" | "tool"));
    let thinking = thinking::select(&mut fields, &conversation, options, forces_call, notes)?;
    let max_tokens = fields.max_tokens(notes)?;
    let mut body = Request {
        model: options.model,
        max_tokens: thinking.max_tokens(max_tokens, options.default_max_tokens),
        sampling: sampling(&mut fields, thinking.is_on(), notes)?,
        metadata: user(&mut fields)?,
        thinking: thinking.mode,
        output_config: OutputConfig {
            effort: thinking.effort,
            format: output_format(request, &mut fields, options, notes)?,
        },
        stream: options.stream,
        tools: tools(request, options, allowed, notes)?,
        ..Request::default()
    };
    let parallel = fields.boolean("parallel_tool_calls")?;
    let server_tools = options.server_tools.iter().map(|json| Json::Text((*json).into()));
    let server_tools: Vec<_> = server_tools.map(Tool::Server).collect();
    body.tools.extend(server_tools);
    if body.tools.is_empty() {
        notes.drop_choice(request, parallel);
    } else {
        body.tool_choice = choice;
        if parallel == Some(false) && request.tool_choice != Some(ToolChoice::None) {
            let auto = Choice { r#type: "auto", ..Choice::default() };
            body.tool_choice.get_or_insert(auto).disable_parallel_tool_use = true;
        }
    }
    (body.system, body.messages) = messages(conversation)?;
    fields.finish(notes);
    Ok(json::to_vec(&body))
}

/// `tool_choice` in Anthropic's format, and the tools that the model may call, if not all.
fn choice<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'_>,
    notes: &mut Notes,
) -> (Option<Choice<'t>>, Option<&'t [String]>) {
    let (mut name, mut allowed) = (None, None);
    let kind = match &request.tool_choice {
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
            notes.warn("tool_choice: only the allowed tools are sent to Anthropic".to_owned());
            allowed = Some(names.as_slice());
            if *required { "any" } else { "auto" }
        }
    };
    let mut choice = Choice { r#type: kind, name, ..Choice::default() };
    let forces_call = matches!(kind, "any" | "tool");
    if forces_call && (!options.may_force || rejects_forced_calls(options.model)) {
        if options.may_force {
            notes.warn(format!(
                "tool_choice: {} cannot be forced to call a tool, so it is asked with auto",
                options.target
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

/// Members that choose among the possible next words.
fn sampling<'t>(
    fields: &mut Fields<'t>,
    is_thinking: bool,
    notes: &mut Notes,
) -> Result<Sampling<'t>, GatewayError> {
    let mut sampling = Sampling {
        temperature: fields.number("temperature")?,
        top_p: fields.number("top_p")?,
        top_k: fields.number("top_k")?,
        stop_sequences: Vec::new(),
    };
    // Models with thinking reject all three, and newer ones reject two of them together.
    let without_top_p = is_thinking || sampling.temperature.is_some();
    for (name, member, drops) in [
        ("temperature", &mut sampling.temperature, is_thinking),
        ("top_p", &mut sampling.top_p, without_top_p),
        ("top_k", &mut sampling.top_k, is_thinking),
    ] {
        if drops && member.take().is_some() {
            notes.drop_member(name);
        }
    }
    if sampling.temperature.as_ref().and_then(Value::as_f64).is_some_and(|it| it > 1.0) {
        notes.warn("temperature: Anthropic's highest is 1, which is used".to_owned());
        sampling.temperature = Some(Value::Number(1.into()));
    }
    let (usable, blank): (Vec<_>, Vec<_>) = fields
        .list("stop")
        .into_iter()
        .partition(|stop| stop.as_str().is_some_and(|stop| !stop.trim().is_empty()));
    if !blank.is_empty() {
        notes.warn("stop: Anthropic rejects blank sequences, which are left out".to_owned());
    }
    sampling.stop_sequences = usable;
    Ok(sampling)
}

fn user<'t>(fields: &mut Fields<'t>) -> Result<Option<Metadata<'t>>, GatewayError> {
    let user = match fields.text("safety_identifier")? {
        Some(identifier) => Some(identifier),
        None => fields.text("user")?,
    };
    Ok(user.map(|user_id| Metadata { user_id }))
}

/// The schema of `response_format`.
fn output_format<'t>(
    request: &'t ChatRequest,
    fields: &mut Fields<'t>,
    options: &TranslateOptions<'_>,
    notes: &mut Notes,
) -> Result<Option<OutputFormat<'t>>, GatewayError> {
    let Some(mut format) = fields.fields("response_format")? else { return Ok(None) };
    let mut schema = None;
    match format.required_text("type")?.as_ref() {
        "text" => {}
        "json_schema" => schema = ClientSchema::of_response_format(request, &mut format, notes)?,
        _ => {
            notes.warn("response_format: Anthropic needs a schema to write JSON".to_owned());
            notes.drop_member("response_format.type");
        }
    }
    format.finish(notes);
    let schema = schema.map(|schema| schema.convert(&STRICT, false, options.target, notes));
    Ok(schema.transpose()?.map(|schema| OutputFormat::JsonSchema { schema }))
}

fn tools<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'_>,
    allowed: Option<&[String]>,
    notes: &mut Notes,
) -> Result<Vec<Tool<'t>>, GatewayError> {
    let mut tools = Vec::new();
    let mut strict_tools = 0;
    for (path, function) in tools_of(request)? {
        if allowed.is_some_and(|names| !names.contains(&function.name)) {
            continue;
        }
        strict_tools += usize::from(function.strict);
        if strict_tools > MAX_STRICT_TOOLS {
            let message = format!("Anthropic accepts at most {MAX_STRICT_TOOLS} strict tools");
            return Err(GatewayError::invalid("tools", message));
        }
        tools.push(tool(function, path, options, notes)?);
    }
    Ok(tools)
}

fn tool<'t>(
    function: &'t FunctionTool,
    path: String,
    options: &TranslateOptions<'_>,
    notes: &mut Notes,
) -> Result<Tool<'t>, GatewayError> {
    let input_schema = match ClientSchema::of_tool(function, &path) {
        Some(schema) => {
            let target = if function.strict { &STRICT } else { &PLAIN };
            schema.convert_object(target, !function.strict, options.target, notes)?
        }
        None => Json::Text(r#"{"type":"object","properties":{}}"#.into()),
    };
    Ok(Tool::Client {
        name: &function.name,
        description: function.description.as_deref(),
        input_schema,
        strict: function.strict,
        cache_control: function.finish(path, &["cache_control"], notes)?,
    })
}
