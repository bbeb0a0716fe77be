//! Requests to Gemini.

use crate::gateway::conversation::tool::{FunctionTool, Tool, ToolChoice};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::facts::{Effort, Facts, Thinking};
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::adapter::schema::ClientSchema;
use crate::gateway::format::adapter::{Format, conversation};
use crate::gateway::format::gemini::contents::contents;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::nested;
use crate::providers::gemini::PLAIN;
use crate::wire::Members;
use crate::wire::gemini::request::{
    CallingConfig, Declaration, Request, System, ToolConfig, Tools,
};
use toolbooth::json::{self, Value};
use toolbooth::schema::text::excerpt;

const MAX_STOP: usize = 5;

pub(super) fn translate(job: &Job<'_>) -> Result<Vec<u8>> {
    let mut fields = job.members()?;
    let conversation = conversation::read(job, Format::Gemini)?;
    let (system, contents) = contents(&conversation, job)?;
    let mut body = Request {
        system_instruction: (!system.is_empty()).then_some(System { parts: system }),
        contents,
        ..Request::default()
    };
    let parallel = fields.boolean("parallel_tool_calls")?;
    let functions = job.functions()?.into_iter();
    let functions = functions.map(|(path, function)| declaration(job, function, path));
    let mut function_declarations = functions.collect::<Result<Vec<_>>>()?;
    function_declarations.extend(job.server_tools().map(Declaration::Server));
    if function_declarations.is_empty() {
        job.drop_choice(parallel);
    } else {
        body.tools = Some([Tools { function_declarations }]);
        if parallel == Some(false) {
            job.notes.drop_member("parallel_tool_calls");
        }
        body.tool_config = calling_config(job)?
            .map(|function_calling_config| ToolConfig { function_calling_config });
    }
    body.generation_config = generation_config(job, &mut fields)?;
    fields.finish();
    Ok(json::to_vec(&body))
}

/// `generationConfig`.
fn generation_config<'t>(job: &'t Job<'t>, fields: &mut Fields<'t>) -> Result<Members<'t>> {
    let mut config = Members::default();
    let mut stop = fields.list("stop");
    if stop.len() > MAX_STOP {
        job.notes.warn(format!(
            "stop: Gemini accepts at most {MAX_STOP} sequences; the others are left out"
        ));
        stop.truncate(MAX_STOP);
    }
    let max_tokens = fields.max_tokens()?.or(job.options.max_output_tokens);
    config.add("maxOutputTokens", max_tokens.map(|count| Value::Number(count.into())));
    for (own, name) in [
        ("temperature", "temperature"),
        ("topP", "top_p"),
        ("topK", "top_k"),
        ("seed", "seed"),
        ("presencePenalty", "presence_penalty"),
        ("frequencyPenalty", "frequency_penalty"),
    ] {
        let value = fields.number(name)?;
        let is_rejected = job.options.facts.rejects(name, true);
        if is_rejected && value.is_some() {
            job.notes.drop_member(name);
        }
        config.add(own, value.filter(|_| !is_rejected));
    }
    config.add("responseModalities", modalities(fields)?);
    config.add("stopSequences", (!stop.is_empty()).then_some(Value::Array(stop)));
    let thinking = thinking_config(fields, job.options.facts, max_tokens)?;
    if let Some(mut format) = fields.fields("response_format")? {
        let json = Some(Value::from("application/json"));
        match format.required_text("type")?.as_ref() {
            "text" => {}
            "json_object" => config.add("responseMimeType", json),
            "json_schema" => {
                config.add("responseMimeType", json);
                let schema = ClientSchema::of_response_format(job, &mut format)?;
                let schema = schema.map(|it| it.convert(&PLAIN, job)).transpose()?;
                config.add("responseJsonSchema", schema);
            }
            _ => job.notes.drop_member("response_format.type"),
        }
        format.finish();
    }
    config.add("thinkingConfig", thinking);
    Ok(config)
}

/// `responseModalities`. Models that speak answer with sound alone (types of npm `@google/genai` 3.3.0; errors that users of 2.5 quote).
fn modalities(fields: &mut Fields<'_>) -> Result<Option<Value<'static>>> {
    let Some(asked) = fields.texts("modalities")? else { return Ok(None) };
    let has_sound = asked.iter().any(|it| it == "audio");
    let mut sent = Vec::new();
    for word in &asked {
        match word.as_str() {
            "text" if has_sound => fields.notes.drop_member("modalities[] (text)"),
            "text" => sent.push(Value::from("TEXT")),
            "image" => sent.push(Value::from("IMAGE")),
            "audio" => sent.push(Value::from("AUDIO")),
            other => fields.notes.drop_member(&format!("modalities[] ({})", excerpt(other))),
        }
    }
    Ok((!sent.is_empty()).then_some(Value::Array(sent)))
}

/// `thinkingConfig` for `reasoning_effort`, as Google's documentation of OpenAI compatibility maps it. `max_tokens` is for
/// thoughts and answer together.
fn thinking_config(
    fields: &mut Fields<'_>,
    facts: &Facts,
    max_tokens: Option<u64>,
) -> Result<Option<Value<'static>>> {
    let Some(effort) = fields.effort()? else { return Ok(None) };
    let notes = fields.notes;
    let drop = |reason| {
        notes.warn(format!("reasoning_effort: this model {reason}"));
        notes.drop_member("reasoning_effort");
        Ok(None)
    };
    let config = |name, value| Ok(Some(nested(name, value)));
    if facts.accepts(Thinking::Budget) {
        return match budget(effort, facts, max_tokens, notes) {
            Ok(budget) => config("thinkingBudget", Value::Number(budget.into())),
            Err(reason) => drop(reason),
        };
    }
    let level = facts.effort(effort, Format::Gemini).filter(|_| facts.accepts(Thinking::Level));
    let Some(level) = level.map(Effort::as_str) else { return drop("cannot think") };
    if effort == Effort::None {
        notes.warn(format!(
            "reasoning_effort: this model always thinks, at least at the level {level}"
        ));
    }
    config("thinkingLevel", Value::String(level.to_ascii_uppercase().into()))
}

/// The budget for an effort. The error: the model cannot think as little.
fn budget(
    effort: Effort,
    facts: &Facts,
    max_tokens: Option<u64>,
    notes: &Notes,
) -> std::result::Result<u64, &'static str> {
    let [least, most] = facts.budgets();
    let can_stop = facts.effort(Effort::None, Format::Gemini) == Some(Effort::None);
    let wanted = match effort {
        Effort::None if !can_stop => return Err("always thinks"),
        Effort::None => 0,
        Effort::Minimal | Effort::Low => 1024,
        Effort::Medium => 8192,
        Effort::High | Effort::Xhigh | Effort::Max => 24_576,
    };
    let wanted = wanted.min(most);
    let half = max_tokens.map_or(u64::MAX, |max_tokens| max_tokens / 2);
    if wanted <= half {
        return Ok(wanted);
    }
    if half < least && !can_stop {
        return Err("has too few tokens to think");
    }
    notes.warn(
        "reasoning_effort: at most half of the tokens are for thinking, so that an answer follows",
    );
    Ok(if half < least { 0 } else { half })
}

fn declaration<'t>(
    job: &'t Job<'t>,
    function: &'t FunctionTool,
    path: String,
) -> Result<Declaration<'t>> {
    let name = function.name.as_str().into();
    // An empty object of parameters would be a schema without a type.
    let schema = function.parameters.as_ref().map(|_| ClientSchema::of_tool(function, &path));
    let parameters_json_schema = schema.map(|it| it.convert(&PLAIN, job)).transpose()?;
    job.drop_cache_control(function, &path);
    let description = function.description.as_deref();
    Ok(Declaration::Client { name, description, parameters_json_schema })
}

/// `functionCallingConfig`. Strict tools are held to their schemas by the mode `VALIDATED`.
fn calling_config<'t>(job: &Job<'t>) -> Result<Option<CallingConfig<'t>>> {
    let (mut strict, mut lax) = (false, !job.options.server_tools.is_empty());
    for tool in job.tools {
        if let Tool::Function(function) = tool {
            strict |= function.is_strict();
            lax |= !function.is_strict();
        }
    }
    let may_force = job.may_force();
    let (mode, allowed) = match job.tool_choice {
        Some(ToolChoice::None) => ("NONE", None),
        Some(ToolChoice::Required) if may_force => ("ANY", None),
        Some(ToolChoice::Function(name)) if may_force => ("ANY", Some(vec![name.as_str().into()])),
        Some(ToolChoice::Allowed { required, names: allowed }) => {
            let mode = if *required && may_force { "ANY" } else { "VALIDATED" };
            (mode, Some(allowed.iter().map(|name| name.as_str().into()).collect()))
        }
        Some(ToolChoice::Other(_)) => {
            let expected = "a function, or one of none, auto, required for this provider";
            return Err(GatewayError::expected("tool_choice", expected));
        }
        None if !strict => return Ok(None),
        Some(_) if !strict => ("AUTO", None),
        None | Some(ToolChoice::Auto | ToolChoice::Required | ToolChoice::Function(_)) => {
            if lax {
                job.notes.warn(
                    "tools[].function.strict: Gemini enforces the schemas of all tools or of none",
                );
            }
            ("VALIDATED", None)
        }
    };
    Ok(Some(CallingConfig { mode, allowed_function_names: allowed }))
}
