//! Requests to Gemini.

use super::contents::contents;
use super::generation;
use crate::gateway::adapter::conversation;
use crate::gateway::adapter::report::{Fields, Report};
use crate::gateway::adapter::schema::ClientSchema;
use crate::gateway::adapter::{TranslateError, TranslateOptions, members};
use crate::gateway::node::{Members, Node, members_of, object};
use crate::gateway::{ChatRequest, FunctionTool, Provider, Tool, ToolChoice};
use crate::json::Value;
use crate::protocol::providers::gemini::PLAIN;

/// The most stop sequences.
const MAX_STOP: usize = 5;

/// The body of a request.
pub(in crate::gateway::adapter) fn translate<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'t>,
    report: &mut Report,
) -> Result<Members<'t>, TranslateError> {
    let mut fields = members(request, report)?;
    let conversation = conversation::read(request, Provider::Gemini, report)?;
    let mut body = Members::default();
    contents(conversation, options, &mut body, report)?;
    let parallel = fields.boolean("parallel_tool_calls")?;
    let declarations = declarations(request, options, report)?;
    if declarations.is_empty() {
        if request.tool_choice.is_some() {
            report.drop_member("tool_choice");
        }
        if parallel.is_some() {
            report.drop_member("parallel_tool_calls");
        }
    } else {
        body.put("tools", vec![object([("functionDeclarations", declarations.into())])]);
        if parallel == Some(false) {
            report.drop_member("parallel_tool_calls");
        }
        if let Some(config) = calling_config(request, options, report)? {
            body.put("toolConfig", object([("functionCallingConfig", config.into())]));
        }
    }
    let generation_config = generation_config(request, &mut fields, options, report)?;
    if !generation_config.is_empty() {
        body.put("generationConfig", generation_config);
    }
    fields.finish(report);
    Ok(body)
}

fn generation_config<'t>(
    request: &'t ChatRequest,
    fields: &mut Fields<'t>,
    options: &TranslateOptions<'_>,
    report: &mut Report,
) -> Result<Members<'t>, TranslateError> {
    let mut config = Members::default();
    let newer = fields.count("max_completion_tokens")?;
    let older = fields.count("max_tokens")?;
    if newer.is_some() && older.is_some_and(|older| Some(older) != newer) {
        report.drop_member("max_tokens");
    }
    config.put_some("maxOutputTokens", newer.or(older));
    for (name, its_name) in [
        ("temperature", "temperature"),
        ("top_p", "topP"),
        ("top_k", "topK"),
        ("seed", "seed"),
        ("presence_penalty", "presencePenalty"),
        ("frequency_penalty", "frequencyPenalty"),
    ] {
        config.put_some(its_name, fields.number(name)?);
    }
    if let Some(stop) = fields.take("stop") {
        let mut stop = match stop {
            Value::Array(stop) => stop,
            stop => vec![stop],
        };
        if stop.len() > MAX_STOP {
            report.warn(format!(
                "stop: Gemini accepts at most {MAX_STOP} sequences; the others are left out"
            ));
            stop.truncate(MAX_STOP);
        }
        config.put("stopSequences", Value::Array(stop));
    }
    if let Some(mut format) = fields.fields("response_format")? {
        match format.required_text("type")?.as_ref() {
            "text" => {}
            kind @ ("json_object" | "json_schema") => {
                config.put("responseMimeType", "application/json");
                if kind == "json_schema"
                    && let Some(schema) =
                        ClientSchema::of_response_format(request, &mut format, report)?
                {
                    let schema = schema.convert(&PLAIN, true, options.target, report)?;
                    config.put("responseJsonSchema", schema);
                }
            }
            _ => report.drop_member("response_format.type"),
        }
        format.finish(report);
    }
    config.put_some("thinkingConfig", thinking_config(fields, options.model, report)?);
    Ok(config)
}

/// `reasoning_effort`, as Google's documentation of OpenAI compatibility maps it.
fn thinking_config(
    fields: &mut Fields<'_>,
    model: &str,
    report: &mut Report,
) -> Result<Option<Node<'static>>, TranslateError> {
    let Some(effort) = fields.text("reasoning_effort")? else { return Ok(None) };
    let is_pro = model.contains("pro");
    let (level, budget) = match effort.as_ref() {
        "none" => (if is_pro { "low" } else { "minimal" }, 0_u64),
        "minimal" => (if is_pro { "low" } else { "minimal" }, 1024),
        "low" => ("low", 1024),
        "medium" => ("medium", 8192),
        "high" | "xhigh" | "max" => ("high", 24_576),
        _ => {
            let expected = "one of none, minimal, low, medium, high, xhigh, max";
            return Err(TranslateError::expected("reasoning_effort", expected));
        }
    };
    if model.contains("gemini-2.5") {
        if budget == 0 && is_pro {
            report.warn("reasoning_effort: this model always thinks".to_owned());
            report.drop_member("reasoning_effort");
            return Ok(None);
        }
        return Ok(Some(object([("thinkingBudget", budget.into())])));
    }
    if generation(model).is_some_and(|generation| generation < 3) {
        report.warn("reasoning_effort: this model cannot think".to_owned());
        report.drop_member("reasoning_effort");
        return Ok(None);
    }
    if budget == 0 {
        report.warn(format!(
            "reasoning_effort: this model always thinks, at least at the level {level}"
        ));
    }
    Ok(Some(object([("thinkingLevel", level.into())])))
}

fn declarations<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'t>,
    report: &mut Report,
) -> Result<Vec<Node<'t>>, TranslateError> {
    let mut declarations = Vec::new();
    for (index, tool) in request.tools.iter().enumerate() {
        let path = format!("tools[{index}]");
        match tool {
            Tool::Function(function) => {
                declarations.push(declaration(function, path, options, report)?);
            }
            Tool::Other { .. } => {
                let path = format!("{path}.type");
                return Err(TranslateError::expected(&path, "\"function\" for this provider"));
            }
        }
    }
    declarations.extend(options.server_tools.iter().map(|json| Node::Raw((*json).into())));
    Ok(declarations)
}

fn declaration<'t>(
    function: &'t FunctionTool,
    path: String,
    options: &TranslateOptions<'_>,
    report: &mut Report,
) -> Result<Node<'t>, TranslateError> {
    let name = function.name.as_str();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let path = format!("{path}.function.name");
        let message = format!("{path} must begin with a letter or an underscore for Gemini");
        return Err(TranslateError::invalid(&path, message));
    }
    let mut node = members_of([("name", name.into())]);
    node.put_some("description", function.description.as_deref());
    if let Some(json) = function.parameters.as_deref() {
        let schema = ClientSchema {
            json,
            owner: format!("Tool '{name}'"),
            path: format!("{path}.function.parameters"),
        };
        // An empty object of parameters would be a schema without a type.
        let schema = schema.convert_object(&PLAIN, true, options.target, report)?;
        node.put("parametersJsonSchema", schema);
    }
    let mut definition = Fields::of_json(&function.json, path)?;
    definition.take("type");
    if let Some(mut inner) = definition.fields("function")? {
        for known in ["name", "description", "parameters", "strict"] {
            inner.take(known);
        }
        inner.finish(report);
    }
    definition.finish(report);
    Ok(node.into())
}

/// `functionCallingConfig`. Strict tools are held to their schemas by the mode `VALIDATED`.
fn calling_config<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'_>,
    report: &mut Report,
) -> Result<Option<Members<'t>>, TranslateError> {
    let (mut strict, mut lax) = (false, !options.server_tools.is_empty());
    for tool in &request.tools {
        if let Tool::Function(FunctionTool { strict: is_strict, .. }) = tool {
            strict |= *is_strict;
            lax |= !*is_strict;
        }
    }
    let names =
        |names: &'t [String]| Node::List(names.iter().map(|name| name.as_str().into()).collect());
    let (mode, allowed) = match &request.tool_choice {
        Some(ToolChoice::None) => ("NONE", None),
        Some(ToolChoice::Required) if options.may_force => ("ANY", None),
        Some(ToolChoice::Function(name)) if options.may_force => {
            ("ANY", Some(names(std::slice::from_ref(name))))
        }
        Some(ToolChoice::Allowed { required, names: allowed }) => {
            let mode = if *required && options.may_force { "ANY" } else { "VALIDATED" };
            (mode, Some(names(allowed)))
        }
        Some(ToolChoice::Other(_)) => {
            let expected = "a function, or one of none, auto, required for this provider";
            return Err(TranslateError::expected("tool_choice", expected));
        }
        Some(ToolChoice::Auto | ToolChoice::Required | ToolChoice::Function(_)) if !strict => {
            ("AUTO", None)
        }
        None if !strict => return Ok(None),
        None | Some(ToolChoice::Auto | ToolChoice::Required | ToolChoice::Function(_)) => {
            if lax {
                report.warn(
                    "tools[].function.strict: Gemini enforces the schemas of all tools or of none"
                        .to_owned(),
                );
            }
            ("VALIDATED", None)
        }
    };
    let mut config = members_of([("mode", mode.into())]);
    config.put_some("allowedFunctionNames", allowed);
    Ok(Some(config))
}
