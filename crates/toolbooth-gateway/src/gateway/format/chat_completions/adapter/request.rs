//! Requests to OpenAI and to providers with its format: the client's own, with as few changes as possible.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::conversation::tool::{FunctionTool, Tool, ToolChoice};
use crate::gateway::dialect::Feature;
use crate::gateway::error::Result;
use crate::gateway::facts::Thinking;
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::Format;
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::adapter::schema::ClientSchema;
use crate::gateway::format::chat_completions::adapter::from_anthropic::{self, Manual, system};
use crate::gateway::format::chat_completions::adapter::messages::messages;
use crate::gateway::format::chat_completions::adapter::{limit_member, roles};
use crate::gateway::raw_json::{parse, raw_member};
use crate::providers::openai::{COMPATIBLE, PLAIN, STRICT};
use crate::wire::openai::request::{AllowedTools, Name, Request, ToolChoice as Choice};
use crate::wire::{Json, Members};
use toolbooth::json::{self, Value};

/// The body of a request. `strict` is for OpenAI itself, which rejects members that it does not know.
pub(super) fn translate(job: &Job<'_>, strict: bool) -> Result<Vec<u8>> {
    let arranged = match strict {
        true => None,
        false => roles::arranged(&job.request.history, job.options.dialect, job.notes),
    };
    let arranged = arranged.map(|history| ChatRequest { history, ..job.request.clone() });
    match &arranged {
        Some(request) => body(&Job { request, names: job.names.clone(), ..*job }, strict),
        None => body(job, strict),
    }
}

fn body(job: &Job<'_>, strict: bool) -> Result<Vec<u8>> {
    let Job { request, options, notes, .. } = job;
    let mut body = Request { model: options.model, stream: options.stream, ..Request::default() };
    let is_from_messages = request.native_of(Format::Anthropic).is_some();
    let plain;
    // A client of Chat Completions writes for its provider.
    let members = match is_from_messages {
        true => {
            plain = from_anthropic::members(job, strict)?;
            &plain
        }
        false => &request.members,
    };
    let mut manual = Manual::default();
    let allowed = allowed(job, strict);
    for (index, tool) in job.tools.iter().enumerate() {
        let is_left_out = |names: &[String]| {
            tool.name().is_some_and(|name| names.iter().all(|known| known != name))
        };
        if allowed.is_some_and(is_left_out) {
            continue;
        }
        body.tools.push(match tool {
            Tool::Function(function) if is_from_messages => {
                job.drop_cache_control(function, "tools[]");
                match manual.shorten(function, strict, notes) {
                    None => definition(function, index, strict, job)?,
                    Some(short) => definition(&short, index, strict, job)?.into_owned(),
                }
            }
            Tool::Function(function) => definition(function, index, strict, job)?,
            tool => tool.json(),
        });
    }
    body.messages.extend(manual.message());
    body.messages.extend(messages(job, strict)?);
    body.tools.extend(job.server_tools());
    let has_tools = !body.tools.is_empty();
    match job.tool_choice {
        Some(_) if allowed.is_some() && has_tools => {
            job.may_force();
            body.tool_choice = Some(Choice::Word("auto"));
        }
        Some(choice) if has_tools => body.tool_choice = Some(tool_choice(choice, job.may_force())),
        Some(_) => notes.drop_member("tool_choice"),
        None => {}
    }
    let limit = limit_member(strict);
    let has_limit = |name: &str| members.get(name).is_some();
    let must_obey = options.max_output_tokens.is_some() || options.needs_limit;
    let [is_known, has_usage] = [Feature::MaxCompletionTokens, Feature::StreamOptions]
        .map(|feature| strict || options.dialect.takes(feature));
    let is_renamed = !strict && !has_limit(limit) && (must_obey || !is_known);
    // OpenAI's models that think reject the older name.
    let is_old = strict && options.facts.accepts(Thinking::Effort);
    let is_thinking = options.facts.is_thinking(job.request.effort());
    for (name, json) in members.iter() {
        match name {
            _ if options.facts.rejects(name, is_thinking) => notes.drop_member(name),
            "reasoning_effort" => body.members.0.extend(effort(job, json)),
            "max_tokens" if is_old && has_limit(limit) => notes.drop_member(name),
            "max_tokens" if is_old => body.members.0.push((limit.into(), json.into())),
            "max_completion_tokens" if is_renamed => {
                body.members.0.push((limit.into(), json.into()));
            }
            "max_completion_tokens" if !is_known => notes.drop_member(name),
            "parallel_tool_calls" if !has_tools => notes.drop_member(name),
            // OpenAI's models answer with text and sound.
            "modalities" if strict && json.get().contains("\"image\"") => notes.drop_member(name),
            "response_format" if !strict && let Some(schema) = unknown_schema(job, json) => {
                let json = Json::Text(r#"{"type":"json_object"}"#.into());
                body.members.0.push((name.into(), json));
                body.messages.insert(0, system(schema));
            }
            "stream_options" if options.stream && has_usage => {}
            "stream_options" => notes.drop_member(name),
            _ if strict => body.members.0.push((name.into(), json.into())),
            _ => match options.dialect.member(name) {
                Some(own) => body.members.0.push((own.into(), json.into())),
                None => notes.drop_member(name),
            },
        }
    }
    let is_limited = ["max_completion_tokens", "max_tokens"].into_iter().any(has_limit);
    if let Some(most) = options.max_output_tokens.filter(|_| !is_limited) {
        body.members.0.push((limit.into(), Json::Value(Value::Number(most.into()))));
    }
    if options.stream && has_usage {
        let mut wanted = Members(vec![("include_usage".into(), Json::Value(Value::Bool(true)))]);
        if let Some(json) = members.get("stream_options") {
            let mut fields = Fields::of_json(json.get(), String::new(), notes)?;
            fields.take("include_usage");
            let others = fields.into_object().into_iter();
            wanted.0.extend(others.map(|(name, value)| (name, Json::Value(value))));
        }
        body.stream_options = Some(wanted);
    }
    Ok(json::to_vec(&body))
}

/// The names of the tools that the model may call, if the provider knows no other choice than whether it calls one.
fn allowed<'t>(job: &Job<'t>, strict: bool) -> Option<&'t [String]> {
    match job.tool_choice {
        Some(ToolChoice::Allowed { names, .. })
            if !strict && !job.options.facts.can_be_forced() =>
        {
            job.notes.warn(format!(
                "tool_choice: only the allowed tools are sent to {}",
                job.options.target
            ));
            Some(names)
        }
        _ => None,
    }
}

/// What tells the model the schema of `response_format`, if the provider knows no schemas.
fn unknown_schema(job: &Job<'_>, format: &RawValue) -> Option<String> {
    let schema = raw_member(format, &["json_schema", "schema"])?;
    let dialect = job.options.dialect;
    if dialect.knows_format("json_schema") || !dialect.knows_format("json_object") {
        return None;
    }
    job.notes.warn(format!(
        "response_format: {} does not enforce a schema, so a system message has it, and the answer is some JSON",
        job.options.target
    ));
    Some(format!("Answer with JSON that matches this JSON Schema:\n{}", schema.get()))
}

/// `reasoning_effort` with an effort that the model has, unless it cannot think.
fn effort<'t>(job: &Job<'_>, json: &'t RawValue) -> Option<(Cow<'static, str>, Json<'t>)> {
    const NAME: &str = "reasoning_effort";
    if job.options.facts.cannot_think() {
        job.notes.warn(format!("{NAME}: {} cannot think", job.options.target));
        job.notes.drop_member(NAME);
        return None;
    }
    let wanted = job.request.effort();
    let known = wanted.and_then(|effort| job.effort(effort));
    let json = match known.filter(|_| known != wanted) {
        Some(known) => Json::Value(Value::from(known.as_str())),
        None => json.into(),
    };
    Some((NAME.into(), json))
}

/// The definition of a function. OpenAI itself, which is `strict`, rejects some schemas.
fn definition<'t>(
    tool: &'t FunctionTool,
    index: usize,
    strict: bool,
    job: &Job<'_>,
) -> Result<Json<'t>> {
    let has_none = tool.parameters.is_none();
    let written = tool.written.as_deref();
    let is_null = written.is_some_and(|it| raw_member(it, &["function", "parameters"]).is_some());
    if strict && has_none && !is_null && !tool.is_strict() {
        // To OpenAI itself, it means that there are none.
        return Ok(tool.json());
    }
    let schema = ClientSchema::of_tool(tool, &format!("tools[{index}]"));
    let (parameters, is_strict) = match (strict, tool.is_strict()) {
        (true, true) => schema.convert_strict([&STRICT, &PLAIN], job)?,
        (true, false) => (schema.convert(&PLAIN, job)?, false),
        (false, is_strict) => (schema.convert(&COMPATIBLE, job)?, is_strict),
    };
    match parameters {
        Json::Text(_) if !has_none && is_strict == tool.is_strict() => Ok(tool.json()),
        Json::Text(text) => Ok(tool.with(parse(&text, "tools")?.into_owned(), is_strict)),
        Json::Value(value) => Ok(tool.with(value.into_owned(), is_strict)),
    }
}

fn tool_choice(choice: &ToolChoice, may_force: bool) -> Choice<'_> {
    let function = |name| Choice::Function { function: Name { name } };
    match choice {
        ToolChoice::None => Choice::Word("none"),
        ToolChoice::Required if may_force => Choice::Word("required"),
        ToolChoice::Function(name) if may_force => function(name),
        ToolChoice::Other(json) if may_force => Choice::Verbatim(Json::Text(json.into())),
        ToolChoice::Allowed { required, names } => {
            let mode = if *required && may_force { "required" } else { "auto" };
            let tools = names.iter().map(|name| function(name)).collect();
            Choice::AllowedTools { allowed_tools: AllowedTools { mode, tools } }
        }
        ToolChoice::Auto
        | ToolChoice::Required
        | ToolChoice::Function(_)
        | ToolChoice::Other(_) => Choice::Word("auto"),
    }
}
