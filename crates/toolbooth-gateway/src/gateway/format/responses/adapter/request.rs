//! Requests in the format of Responses, from the gateway's own form.

use std::borrow::Cow;

use crate::gateway::conversation::tool::{FunctionTool, Tool, ToolChoice};
use crate::gateway::error::Result;
use crate::gateway::facts::Effort;
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::Format;
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::adapter::schema::ClientSchema;
use crate::gateway::format::chat_completions::adapter::from_anthropic;
use crate::gateway::format::responses::adapter::input::input;
use crate::gateway::raw_json::{RawMembers, parse, raw_member};
use crate::providers::openai::{PLAIN, STRICT};
use crate::wire::responses::request::{
    AllowedTools, Choice, Function, Reasoning, Request, SAME_AS_CHAT, Text, ToolDefinition,
};
use crate::wire::{Json, Members};
use toolbooth::json::{self, Value};

/// The lowest limit of tokens that OpenAI accepts.
const MIN_OUTPUT_TOKENS: u64 = 16;

pub(super) fn translate(job: &Job<'_>) -> Result<Vec<u8>> {
    if job.request.native_of(Format::Anthropic).is_some() {
        let members = from_anthropic::members(job, true)?;
        return translated(job, &members);
    }
    translated(job, &job.request.members)
}

fn translated(job: &Job<'_>, members: &RawMembers) -> Result<Vec<u8>> {
    let Job { options, .. } = job;
    let mut fields = Job::fields_of(members, job.notes)?;
    let mut max_output_tokens = fields.max_tokens()?.or(options.max_output_tokens);
    if max_output_tokens.is_some_and(|wanted| wanted < MIN_OUTPUT_TOKENS) {
        job.notes.warn(format!(
            "max_tokens: {} writes at most {MIN_OUTPUT_TOKENS}, its lowest limit",
            options.target
        ));
        max_output_tokens = Some(MIN_OUTPUT_TOKENS);
    }
    let mut tools = Vec::new();
    for (index, tool) in job.tools.iter().enumerate() {
        tools.push(definition(tool, index, job)?);
    }
    tools.extend(job.server_tools().map(ToolDefinition::Verbatim));
    let has_tools = !tools.is_empty();
    if !has_tools {
        job.drop_choice(fields.boolean("parallel_tool_calls")?);
    }
    let is_thinking = options.facts.is_thinking(job.request.effort());
    let rejects = |name: &str| options.facts.rejects(name, is_thinking);
    let mut others = Members::default();
    for name in SAME_AS_CHAT.iter().chain(&["top_logprobs"]).filter(|name| !rejects(name)) {
        others.add(name, fields.take(name));
    }
    let mut include = vec!["reasoning.encrypted_content"];
    if !rejects("logprobs") && fields.boolean("logprobs")? == Some(true) {
        include.push("message.output_text.logprobs");
    }
    let effort = fields.text("reasoning_effort")?.and_then(|word| effort(word, job));
    let format = format(members, &mut fields)?;
    let text = Text { verbosity: fields.text("verbosity")?, format };
    let choice = job.tool_choice.filter(|_| has_tools);
    let body = Request {
        model: options.model,
        input: input(job)?,
        tools,
        tool_choice: choice.map(|choice| tool_choice(choice, job.may_force())),
        max_output_tokens,
        reasoning: effort.map(|effort| Reasoning { effort, summary: "auto" }),
        text: (text != Text::default()).then_some(text),
        include,
        members: others,
        store: false,
        stream: options.stream,
    };
    // It is the default.
    if fields.get("store") == Some(&Value::Bool(false)) {
        fields.take("store");
    }
    fields.finish();
    Ok(json::to_vec(&body))
}

/// An effort that the model has, unless it cannot think.
fn effort<'t>(word: Cow<'t, str>, job: &Job<'_>) -> Option<Cow<'t, str>> {
    if job.options.facts.cannot_think() {
        job.notes.warn(format!("reasoning_effort: {} cannot think", job.options.target));
        job.notes.drop_member("reasoning_effort");
        return None;
    }
    let known = Effort::of(&word).and_then(|effort| job.effort(effort));
    Some(known.map_or(word, |known| known.as_str().into()))
}

/// A tool as Responses has it: without the level of Chat Completions that is named after its type.
fn definition<'t>(tool: &'t Tool, index: usize, job: &'t Job<'t>) -> Result<ToolDefinition<'t>> {
    Ok(match tool {
        Tool::Function(function) => ToolDefinition::Function(
            crate::gateway::format::responses::adapter::request::function(function, index, job)?,
        ),
        Tool::Custom { name, description, json } => {
            let mut format = Members::default();
            let format_of = |names: &[&str]| raw_member(json, names);
            if let Some(kind) = format_of(&["custom", "format", "type"]) {
                format.add("type", Some(kind));
                let grammar = ["custom", "format", "grammar"];
                for name in ["syntax", "definition"] {
                    let [custom, own, grammar] = grammar;
                    format.add(name, format_of(&[custom, own, grammar, name]));
                }
            }
            ToolDefinition::Custom {
                name,
                description: description.as_deref(),
                format: (!format.0.is_empty()).then_some(format),
            }
        }
        Tool::Hosted { json, .. } => ToolDefinition::Verbatim((&**json).into()),
    })
}

fn function<'t>(tool: &'t FunctionTool, index: usize, job: &'t Job<'t>) -> Result<Function<'t>> {
    let path = format!("tools[{index}]");
    let schema = ClientSchema::of_tool(tool, &path);
    let (parameters, strict) = match tool.is_strict() {
        true => schema.convert_strict([&STRICT, &PLAIN], job)?,
        false => (schema.convert(&PLAIN, job)?, false),
    };
    job.drop_cache_control(tool, &path);
    Ok(Function { name: &tool.name, description: tool.description.as_deref(), parameters, strict })
}

/// `response_format` as `text.format`.
fn format<'t>(all: &'t RawMembers, fields: &mut Fields<'t>) -> Result<Option<Members<'t>>> {
    let Some(mut format) = fields.fields("response_format")? else { return Ok(None) };
    let kind = format.required_text("type")?;
    let mut members = Members::default();
    members.add("type", Some(Value::String(kind.clone())));
    if kind == "json_schema" {
        let mut own = format.required_fields("json_schema")?;
        for name in ["name", "description", "strict"] {
            members.add(name, own.take(name));
        }
        own.take("schema");
        own.finish();
        let json = all.get("response_format");
        members.add("schema", json.and_then(|it| raw_member(it, &["json_schema", "schema"])));
    }
    format.finish();
    Ok(Some(members))
}

fn tool_choice(choice: &ToolChoice, may_force: bool) -> Choice<'_> {
    match choice {
        ToolChoice::None => Choice::Word("none"),
        ToolChoice::Required if may_force => Choice::Word("required"),
        ToolChoice::Function(name) if may_force => Choice::Function { name: name.into() },
        ToolChoice::Other(json) if may_force => other(json),
        ToolChoice::Allowed { required, names } => Choice::AllowedTools(AllowedTools {
            mode: if *required && may_force { "required" } else { "auto" },
            tools: names.iter().map(|name| Choice::Function { name: name.into() }).collect(),
        }),
        _ => Choice::Word("auto"),
    }
}

/// The choice of a custom tool, of tools of several kinds, or of one that the provider runs.
fn other(json: &str) -> Choice<'_> {
    let value = parse(json, "tool_choice").unwrap_or_default();
    let name = |value: &Value<'_>, kind: &str| {
        value.get(kind).and_then(|it| it.get("name")?.as_str()).map(|it| it.to_owned().into())
    };
    let one = |value: &Value<'_>| {
        let custom = name(value, "custom").map(|name| Choice::Custom { name });
        custom.or_else(|| name(value, "function").map(|name| Choice::Function { name }))
    };
    if let Some(choice) = one(&value) {
        return choice;
    }
    let Some(allowed) = value.get("allowed_tools") else {
        return Choice::Verbatim(Json::Text(json.into()));
    };
    let tools = allowed.get("tools").and_then(Value::as_array).unwrap_or_default();
    let required = allowed.get("mode").and_then(Value::as_str) == Some("required");
    Choice::AllowedTools(AllowedTools {
        mode: if required { "required" } else { "auto" },
        tools: tools.iter().filter_map(one).collect(),
    })
}
