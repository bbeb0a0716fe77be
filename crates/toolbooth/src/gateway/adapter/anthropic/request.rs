//! Requests to Anthropic.

use super::messages::write_messages;
use super::thinking;
use crate::gateway::adapter::conversation;
use crate::gateway::adapter::report::{Fields, Report};
use crate::gateway::adapter::schema::ClientSchema;
use crate::gateway::adapter::{TranslateError, TranslateOptions, members};
use crate::gateway::node::{Members, Node, members_of, object};
use crate::gateway::{ChatRequest, FunctionTool, Provider, Tool, ToolChoice};
use crate::json::Value;
use crate::protocol::providers::anthropic::{PLAIN, STRICT};

/// The most strict tools in a request.
const MAX_STRICT_TOOLS: usize = 20;

/// The body of a request.
pub(in crate::gateway::adapter) fn translate<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'t>,
    report: &mut Report,
) -> Result<Members<'t>, TranslateError> {
    let mut fields = members(request, report)?;
    let conversation = conversation::read(request, Provider::Anthropic, report)?;
    let mut body = members_of([("model", options.model.into())]);
    let forces = choice(request, options, report);
    let thinking =
        thinking::select(&mut fields, &conversation, options, forces.forces_call, report)?;
    let max_tokens = max_tokens(&mut fields, report)?;
    body.put("max_tokens", thinking.max_tokens(max_tokens, options.default_max_tokens));
    sampling(&mut fields, thinking.is_on(), &mut body, report)?;
    thinking.write(&mut body);
    output_config(request, &mut fields, options, thinking.effort, &mut body, report)?;
    if options.stream {
        body.put("stream", true);
    }
    let parallel = fields.boolean("parallel_tool_calls")?;
    let tools = tools(request, options, forces.allowed, report)?;
    if tools.is_empty() {
        if request.tool_choice.is_some() {
            report.drop_member("tool_choice");
        }
        if parallel.is_some() {
            report.drop_member("parallel_tool_calls");
        }
    } else {
        body.put("tools", tools);
        let mut choice = forces.node;
        if parallel == Some(false) && request.tool_choice != Some(ToolChoice::None) {
            let node = choice.get_or_insert_with(|| members_of([("type", "auto".into())]));
            node.put("disable_parallel_tool_use", true);
        }
        body.put_some("tool_choice", choice);
    }
    write_messages(conversation, &mut body)?;
    fields.finish(report);
    Ok(body)
}

/// `tool_choice` in Anthropic's format.
struct Choice<'t> {
    node: Option<Members<'t>>,
    forces_call: bool,
    /// The tools that the model may call, if not all.
    allowed: Option<&'t [String]>,
}

fn choice<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'_>,
    report: &mut Report,
) -> Choice<'t> {
    let (mut kind, mut name, mut allowed) = (None, None, None);
    match &request.tool_choice {
        None => {}
        Some(ToolChoice::None) => kind = Some("none"),
        Some(ToolChoice::Auto) => kind = Some("auto"),
        Some(ToolChoice::Required) => kind = Some("any"),
        Some(ToolChoice::Function(function)) => (kind, name) = (Some("tool"), Some(function)),
        Some(ToolChoice::Allowed { required, names }) => {
            report.warn("tool_choice: only the allowed tools are sent to Anthropic".to_owned());
            kind = Some(if *required { "any" } else { "auto" });
            allowed = Some(names.as_slice());
        }
        // Tools of other kinds are rejected.
        Some(ToolChoice::Other(_)) => kind = Some("any"),
    }
    let mut forces_call = matches!(kind, Some("any" | "tool"));
    if forces_call && (!options.may_force || rejects_forced_calls(options.model)) {
        if options.may_force {
            report.warn(format!(
                "tool_choice: {} cannot be forced to call a tool, so it is asked with auto",
                options.target
            ));
        }
        (kind, name, forces_call) = (Some("auto"), None, false);
    }
    let node = kind.map(|kind| {
        let mut members = members_of([("type", kind.into())]);
        members.put_some("name", name.map(String::as_str));
        members
    });
    Choice { node, forces_call, allowed }
}

/// The newest models reject `any` and `tool`, says Anthropic's documentation of tool use.
fn rejects_forced_calls(model: &str) -> bool {
    ["opus-5-5", "sonnet-5-5", "fable-5-1"].iter().any(|name| model.contains(name))
}

/// `max_completion_tokens`, or the older `max_tokens`.
fn max_tokens<'t>(
    fields: &mut Fields<'t>,
    report: &mut Report,
) -> Result<Option<u64>, TranslateError> {
    let newer = fields.count("max_completion_tokens")?;
    let older = fields.count("max_tokens")?;
    if newer.is_some() && older.is_some_and(|older| Some(older) != newer) {
        report.drop_member("max_tokens");
    }
    Ok(newer.or(older))
}

/// Members that choose among the possible next words.
fn sampling<'t>(
    fields: &mut Fields<'t>,
    is_thinking: bool,
    body: &mut Members<'t>,
    report: &mut Report,
) -> Result<(), TranslateError> {
    let temperature = fields.number("temperature")?;
    let top_p = fields.number("top_p")?;
    let top_k = fields.number("top_k")?;
    // Models with thinking reject all three, and newer ones reject two of them together.
    let has_temperature = temperature.is_some();
    match temperature {
        Some(_) if is_thinking => report.drop_member("temperature"),
        Some(value) if value.as_f64().is_some_and(|value| value > 1.0) => {
            report.warn("temperature: Anthropic's highest is 1, which is used".to_owned());
            body.put("temperature", 1_u64);
        }
        value => body.put_some("temperature", value),
    }
    match top_p {
        Some(_) if is_thinking || has_temperature => report.drop_member("top_p"),
        value => body.put_some("top_p", value),
    }
    match top_k {
        Some(_) if is_thinking => report.drop_member("top_k"),
        value => body.put_some("top_k", value),
    }
    if let Some(stop) = fields.take("stop") {
        let stop = match stop {
            Value::Array(stop) => stop,
            stop => vec![stop],
        };
        let (usable, blank): (Vec<_>, Vec<_>) = stop
            .into_iter()
            .partition(|stop| stop.as_str().is_some_and(|stop| !stop.trim().is_empty()));
        if !blank.is_empty() {
            report.warn("stop: Anthropic rejects blank sequences, which are left out".to_owned());
        }
        if !usable.is_empty() {
            body.put("stop_sequences", Value::Array(usable));
        }
    }
    let user = match fields.text("safety_identifier")? {
        Some(identifier) => Some(identifier),
        None => fields.text("user")?,
    };
    body.put_some("metadata", user.map(|user| object([("user_id", user.into())])));
    Ok(())
}

/// `output_config`: the effort, and the schema of `response_format`.
fn output_config<'t>(
    request: &'t ChatRequest,
    fields: &mut Fields<'t>,
    options: &TranslateOptions<'_>,
    effort: Option<&'static str>,
    body: &mut Members<'t>,
    report: &mut Report,
) -> Result<(), TranslateError> {
    let mut config = Members::default();
    config.put_some("effort", effort);
    if let Some(mut format) = fields.fields("response_format")? {
        match format.required_text("type")?.as_ref() {
            "text" => {}
            "json_schema" => {
                if let Some(schema) =
                    ClientSchema::of_response_format(request, &mut format, report)?
                {
                    let schema = schema.convert(&STRICT, false, options.target, report)?;
                    config.put(
                        "format",
                        object([("type", "json_schema".into()), ("schema", schema)]),
                    );
                }
            }
            _ => {
                report.warn("response_format: Anthropic needs a schema to write JSON".to_owned());
                report.drop_member("response_format.type");
            }
        }
        format.finish(report);
    }
    if !config.is_empty() {
        body.put("output_config", config);
    }
    Ok(())
}

fn tools<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'t>,
    allowed: Option<&[String]>,
    report: &mut Report,
) -> Result<Vec<Node<'t>>, TranslateError> {
    let mut tools = Vec::new();
    let mut strict_tools = 0;
    for (index, tool) in request.tools.iter().enumerate() {
        let path = format!("tools[{index}]");
        let function = match tool {
            Tool::Function(function) => function,
            Tool::Other { .. } => {
                let path = format!("{path}.type");
                return Err(TranslateError::expected(&path, "\"function\" for this provider"));
            }
        };
        if allowed.is_some_and(|names| !names.contains(&function.name)) {
            continue;
        }
        strict_tools += usize::from(function.strict);
        if strict_tools > MAX_STRICT_TOOLS {
            let message = format!("Anthropic accepts at most {MAX_STRICT_TOOLS} strict tools");
            return Err(TranslateError::invalid("tools", message));
        }
        tools.push(tool_node(function, &path, options, report)?);
    }
    tools.extend(options.server_tools.iter().map(|json| Node::Raw((*json).into())));
    Ok(tools)
}

fn tool_node<'t>(
    function: &'t FunctionTool,
    path: &str,
    options: &TranslateOptions<'_>,
    report: &mut Report,
) -> Result<Node<'t>, TranslateError> {
    let mut node = members_of([("name", function.name.as_str().into())]);
    node.put_some("description", function.description.as_deref());
    let schema = match function.parameters.as_deref() {
        Some(json) => {
            let schema = ClientSchema {
                json,
                owner: format!("Tool '{}'", function.name),
                path: format!("{path}.function.parameters"),
            };
            let target = if function.strict { &STRICT } else { &PLAIN };
            schema.convert_object(target, !function.strict, options.target, report)?
        }
        None => object([("type", "object".into()), ("properties", Members::default().into())]),
    };
    node.put("input_schema", schema);
    if function.strict {
        node.put("strict", true);
    }
    let mut definition = Fields::of_json(&function.json, path.to_owned())?;
    definition.take("type");
    let mut inner = definition.fields("function")?;
    for known in ["name", "description", "parameters", "strict"] {
        inner.as_mut().and_then(|inner| inner.take(known));
    }
    let cache_control = definition
        .take("cache_control")
        .or_else(|| inner.as_mut().and_then(|inner| inner.take("cache_control")));
    node.put_some("cache_control", cache_control);
    if let Some(inner) = inner {
        inner.finish(report);
    }
    definition.finish(report);
    Ok(node.into())
}
