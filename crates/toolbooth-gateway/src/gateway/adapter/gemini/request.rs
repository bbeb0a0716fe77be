//! Requests to Gemini.

use super::contents::contents;
use super::generation;
use crate::gateway::adapter::conversation;
use crate::gateway::adapter::schema::ClientSchema;
use crate::gateway::adapter::{GatewayError, TranslateOptions, members, tools_of};
use crate::gateway::fields::{Fields, Notes};
use crate::gateway::{ChatRequest, FunctionTool, Provider, Tool, ToolChoice};
use crate::providers::gemini::PLAIN;
use crate::wire::Json;
use crate::wire::gemini::request::{
    CallingConfig, Declaration, GenerationConfig, Request, System, ThinkingConfig, ToolConfig,
    Tools,
};
use toolbooth::json;

/// The most stop sequences.
const MAX_STOP: usize = 5;

/// The body of a request.
pub(super) fn translate(
    request: &ChatRequest,
    options: &TranslateOptions<'_>,
    notes: &mut Notes,
) -> Result<Vec<u8>, GatewayError> {
    let mut fields = members(request, notes)?;
    let conversation = conversation::read(request, Provider::Gemini, notes)?;
    let (system, contents) = contents(conversation, options, notes);
    let mut body = Request {
        system_instruction: (!system.is_empty()).then_some(System { parts: system }),
        contents,
        ..Request::default()
    };
    let parallel = fields.boolean("parallel_tool_calls")?;
    let mut function_declarations = declarations(request, options, notes)?;
    let server_tools = options.server_tools.iter().map(|json| Json::Text((*json).into()));
    let server_tools: Vec<_> = server_tools.map(Declaration::Server).collect();
    function_declarations.extend(server_tools);
    if function_declarations.is_empty() {
        notes.drop_choice(request, parallel);
    } else {
        body.tools = Some([Tools { function_declarations }]);
        if parallel == Some(false) {
            notes.drop_member("parallel_tool_calls");
        }
        body.tool_config = calling_config(request, options, notes)?
            .map(|function_calling_config| ToolConfig { function_calling_config });
    }
    body.generation_config = generation_config(request, &mut fields, options, notes)?;
    fields.finish(notes);
    Ok(json::to_vec(&body))
}

fn generation_config<'t>(
    request: &'t ChatRequest,
    fields: &mut Fields<'t>,
    options: &TranslateOptions<'_>,
    notes: &mut Notes,
) -> Result<GenerationConfig<'t>, GatewayError> {
    let mut stop = fields.list("stop");
    if stop.len() > MAX_STOP {
        notes.warn(format!(
            "stop: Gemini accepts at most {MAX_STOP} sequences; the others are left out"
        ));
        stop.truncate(MAX_STOP);
    }
    let mut config = GenerationConfig {
        max_output_tokens: fields.max_tokens(notes)?,
        temperature: fields.number("temperature")?,
        top_p: fields.number("top_p")?,
        top_k: fields.number("top_k")?,
        seed: fields.number("seed")?,
        presence_penalty: fields.number("presence_penalty")?,
        frequency_penalty: fields.number("frequency_penalty")?,
        stop_sequences: stop,
        thinking_config: thinking_config(fields, options.model, notes)?,
        ..GenerationConfig::default()
    };
    let Some(mut format) = fields.fields("response_format")? else { return Ok(config) };
    match format.required_text("type")?.as_ref() {
        "text" => {}
        "json_object" => config.response_mime_type = Some("application/json"),
        "json_schema" => {
            config.response_mime_type = Some("application/json");
            let schema = ClientSchema::of_response_format(request, &mut format, notes)?;
            let schema = schema.map(|it| it.convert(&PLAIN, true, options.target, notes));
            config.response_json_schema = schema.transpose()?;
        }
        _ => notes.drop_member("response_format.type"),
    }
    format.finish(notes);
    Ok(config)
}

/// `reasoning_effort`, as Google's documentation of OpenAI compatibility maps it.
fn thinking_config(
    fields: &mut Fields<'_>,
    model: &str,
    notes: &mut Notes,
) -> Result<Option<ThinkingConfig>, GatewayError> {
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
            return Err(GatewayError::expected("reasoning_effort", expected));
        }
    };
    if model.contains("gemini-2.5") {
        if budget == 0 && is_pro {
            notes.warn("reasoning_effort: this model always thinks".to_owned());
            notes.drop_member("reasoning_effort");
            return Ok(None);
        }
        return Ok(Some(ThinkingConfig::ThinkingBudget(budget)));
    }
    if generation(model).is_some_and(|generation| generation < 3) {
        notes.warn("reasoning_effort: this model cannot think".to_owned());
        notes.drop_member("reasoning_effort");
        return Ok(None);
    }
    if budget == 0 {
        notes.warn(format!(
            "reasoning_effort: this model always thinks, at least at the level {level}"
        ));
    }
    Ok(Some(ThinkingConfig::ThinkingLevel(level)))
}

fn declarations<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'_>,
    notes: &mut Notes,
) -> Result<Vec<Declaration<'t>>, GatewayError> {
    let tools = tools_of(request)?.into_iter();
    tools.map(|(path, function)| declaration(function, path, options, notes)).collect()
}

fn declaration<'t>(
    function: &'t FunctionTool,
    path: String,
    options: &TranslateOptions<'_>,
    notes: &mut Notes,
) -> Result<Declaration<'t>, GatewayError> {
    let name = function.name.as_str();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let path = format!("{path}.function.name");
        let message = format!("{path} must begin with a letter or an underscore for Gemini");
        return Err(GatewayError::invalid(&path, message));
    }
    // An empty object of parameters would be a schema without a type.
    let schema = ClientSchema::of_tool(function, &path);
    let schema = schema.map(|it| it.convert_object(&PLAIN, true, options.target, notes));
    let parameters_json_schema = schema.transpose()?;
    function.finish(path, &[], notes)?;
    let description = function.description.as_deref();
    Ok(Declaration::Client { name, description, parameters_json_schema })
}

/// `functionCallingConfig`. Strict tools are held to their schemas by the mode `VALIDATED`.
fn calling_config<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'_>,
    notes: &mut Notes,
) -> Result<Option<CallingConfig<'t>>, GatewayError> {
    let (mut strict, mut lax) = (false, !options.server_tools.is_empty());
    for tool in &request.tools {
        if let Tool::Function(FunctionTool { strict: is_strict, .. }) = tool {
            strict |= *is_strict;
            lax |= !*is_strict;
        }
    }
    let (mode, allowed) = match &request.tool_choice {
        Some(ToolChoice::None) => ("NONE", None),
        Some(ToolChoice::Required) if options.may_force => ("ANY", None),
        Some(ToolChoice::Function(name)) if options.may_force => {
            ("ANY", Some(std::slice::from_ref(name)))
        }
        Some(ToolChoice::Allowed { required, names: allowed }) => {
            let mode = if *required && options.may_force { "ANY" } else { "VALIDATED" };
            (mode, Some(allowed.as_slice()))
        }
        Some(ToolChoice::Other(_)) => {
            let expected = "a function, or one of none, auto, required for this provider";
            return Err(GatewayError::expected("tool_choice", expected));
        }
        Some(ToolChoice::Auto | ToolChoice::Required | ToolChoice::Function(_)) if !strict => {
            ("AUTO", None)
        }
        None if !strict => return Ok(None),
        None | Some(ToolChoice::Auto | ToolChoice::Required | ToolChoice::Function(_)) => {
            if lax {
                notes.warn(
                    "tools[].function.strict: Gemini enforces the schemas of all tools or of none"
                        .to_owned(),
                );
            }
            ("VALIDATED", None)
        }
    };
    Ok(Some(CallingConfig { mode, allowed_function_names: allowed }))
}
