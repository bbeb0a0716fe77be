//! Requests that clients have written in Anthropic's format, as a client of OpenAI writes them.

use crate::gateway::conversation::tool::FunctionTool;
use crate::gateway::error::Result;
use crate::gateway::facts::Thinking;
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::job::Job;
use crate::gateway::format::adapter::schema::ClientSchema;
use crate::gateway::format::chat_completions::adapter::limit_member;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{RawMembers, raw_member};
use crate::providers::openai::STRICT;
use crate::wire::openai::request::{Content, Said};
use crate::wire::{Json, Members};
use toolbooth::json::{self, Value};
use toolbooth::schema::text::cut;

/// The most stop sequences.
const MAX_STOP: usize = 4;
/// The longest description of a function, in characters.
const MAX_DESCRIPTION: usize = 1024;
/// The longest identifier of a user, in characters.
const MAX_IDENTIFIER: usize = 64;

/// The descriptions of functions that are too long for OpenAI, for a system message.
#[derive(Default)]
pub(super) struct Manual(String);

impl Manual {
    /// The function with a description that OpenAI itself, which is `strict`, accepts, if it needs a shorter one. The model has the
    /// whole one in the manual.
    pub(super) fn shorten(
        &mut self,
        function: &FunctionTool,
        strict: bool,
        notes: &Notes,
    ) -> Option<FunctionTool> {
        let FunctionTool { name, description, .. } = function;
        let is_long = |text: &&String| strict && text.chars().count() > MAX_DESCRIPTION;
        let text = description.as_ref().filter(is_long)?;
        notes.warn(format!(
            "Tool '{name}': OpenAI's descriptions have at most {MAX_DESCRIPTION} characters, so the model has this one \
             in a system message"
        ));
        self.0.push_str(&format!("# The tool {name}\n\n{text}\n\n"));
        let rest = " (The system message has the whole description.)";
        let description = cut(text, MAX_DESCRIPTION.saturating_sub(rest.len() + 1)) + rest;
        Some(FunctionTool { description: Some(description), ..function.clone() })
    }

    /// The manual as a message, unless it is empty.
    pub(super) fn message(&self) -> Option<Json<'static>> {
        (!self.0.is_empty()).then(|| system(self.0.trim_end().to_owned()))
    }
}

/// A system message.
pub(super) fn system(text: String) -> Json<'static> {
    let message = Said { role: "system", content: Content::Text(text.into()) };
    Json::Text(json::to_string(&message).into())
}

/// The members that OpenAI knows, and its model accepts.
pub(in crate::gateway::format) fn members(job: &Job<'_>, strict: bool) -> Result<RawMembers> {
    let notes = job.notes;
    let reasons = job.options.facts.accepts(Thinking::Effort);
    let mut fields = job.members()?;
    let mut members = RawMembers::default();
    let mut add = |name: &str, value: Option<Value<'_>>| {
        value.map_or(Ok(()), |value| members.add_value(name, &value))
    };
    let wanted = fields.max_tokens()?;
    let most = job.options.max_output_tokens.unwrap_or(u64::MAX);
    if wanted.is_some_and(|wanted| wanted > most) {
        notes.warn(format!("max_tokens: {} writes at most {most}", job.options.target));
    }
    add(limit_member(strict), wanted.map(|wanted| Value::Number(wanted.min(most).into())))?;
    add("temperature", fields.number("temperature")?)?;
    add("top_p", fields.number("top_p")?)?;
    let mut stop = fields.list("stop");
    if stop.len() > MAX_STOP {
        notes.warn(format!(
            "stop_sequences: OpenAI accepts at most {MAX_STOP}; the others are left out"
        ));
        stop.truncate(MAX_STOP);
    }
    add("stop", (!stop.is_empty()).then_some(Value::Array(stop)))?;
    add("parallel_tool_calls", fields.take("parallel_tool_calls"))?;
    if reasons {
        let effort = fields.effort()?;
        add("reasoning_effort", effort.map(|effort| Value::from(effort.as_str())))?;
    }
    fields.take("user");
    let identifier = fields.text("safety_identifier")?;
    let fits = |identifier: &str| identifier.chars().count() <= MAX_IDENTIFIER;
    match identifier {
        Some(identifier) if fits(&identifier) => {
            let name = if strict { "safety_identifier" } else { "user" };
            add(name, Some(Value::String(identifier)))?;
        }
        Some(_) => notes.drop_member("safety_identifier"),
        None => {}
    }
    if strict {
        add("service_tier", fields.take("service_tier"))?;
    }
    if let Some(mut format) = fields.fields("response_format")? {
        members.add_value("response_format", &response_format(job, &mut format, strict)?)?;
    }
    fields.finish();
    Ok(members)
}

/// `response_format` with the name that OpenAI requires. OpenAI itself does not enforce each schema that Anthropic does.
fn response_format<'t>(
    job: &'t Job<'t>,
    format: &mut Fields<'_>,
    strict: bool,
) -> Result<Members<'t>> {
    let schema = job.request.members.get("response_format");
    let schema = schema.and_then(|json| raw_member(json, &["json_schema", "schema"]));
    let mut schema = (schema.map_or(Value::Null.into(), Json::from), true);
    if strict && let Some(own) = ClientSchema::of_response_format(job, format)? {
        match own.convert(&STRICT, job) {
            Ok(converted) => schema.0 = converted,
            Err(error) => {
                let reason = &error.message;
                job.notes.warn(format!("output_config.format is not enforced: {reason}"));
                schema.1 = false;
            }
        }
    }
    let own = Members(vec![
        ("name".into(), Value::from("answer").into()),
        ("schema".into(), schema.0),
        ("strict".into(), Value::Bool(schema.1).into()),
    ]);
    Ok(own.of_type("json_schema"))
}
