//! Requests to Gemini.

use std::borrow::Cow;

use super::generation;
use crate::gateway::adapter::conversation::{
    self, Assistant, CallResult, Content, Conversation, Entry, Part,
};
use crate::gateway::adapter::report::{Fields, Report};
use crate::gateway::adapter::schema::ClientSchema;
use crate::gateway::adapter::{TranslateError, TranslateOptions, members};
use crate::gateway::node::{Members, Node, members_of, object};
use crate::gateway::{ChatRequest, FunctionTool, Provider, Tool, ToolChoice, Turn};
use crate::json::{self, Value};
use crate::protocol::providers::gemini::PLAIN;

/// The signature that Google's documentation provides for calls that another model has made.
const FOREIGN_SIGNATURE: &str = "skip_thought_signature_validator";

/// The most stop sequences.
const MAX_STOP: usize = 5;

/// The body of a request.
pub(in crate::gateway::adapter) fn translate<'t>(
    request: &'t ChatRequest,
    options: &TranslateOptions<'t>,
    report: &mut Report,
) -> Result<Members<'t>, TranslateError> {
    let mut fields = members(request)?;
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

/// `systemInstruction` and `contents`.
fn contents<'t>(
    conversation: Conversation<'t>,
    options: &TranslateOptions<'_>,
    body: &mut Members<'t>,
    report: &mut Report,
) -> Result<(), TranslateError> {
    let system = parts(conversation.system, report)?;
    if !system.is_empty() {
        body.put("systemInstruction", object([("parts", system.into())]));
    }
    // Only the calls since the last user message are checked for signatures.
    let is_user = |entry: &Entry<'_>| matches!(entry, Entry::User(_));
    let turn_begins = conversation.entries.iter().rposition(is_user).unwrap_or_default();
    let needs_signature = generation(options.model).is_none_or(|generation| generation >= 3);
    let mut contents = Contents::default();
    for (index, entry) in conversation.entries.into_iter().enumerate() {
        match entry {
            Entry::User(user) => contents.push("user", parts(user, report)?),
            Entry::Assistant(message) => {
                let checked = needs_signature && index >= turn_begins;
                assistant(message, checked, &mut contents, report)?;
            }
            Entry::Native(turn) => native(turn, &mut contents),
        }
    }
    body.put("contents", contents.0);
    Ok(())
}

/// Contents, in order.
#[derive(Default)]
struct Contents<'t>(Vec<Node<'t>>);

impl<'t> Contents<'t> {
    fn push(&mut self, role: &'static str, parts: Vec<Node<'t>>) {
        if !parts.is_empty() {
            self.0.push(object([("role", role.into()), ("parts", parts.into())]));
        }
    }
}

/// An assistant message and the results of its calls, which are in the order of the calls.
fn assistant<'t>(
    message: Assistant<'t>,
    is_checked: bool,
    contents: &mut Contents<'t>,
    report: &mut Report,
) -> Result<(), TranslateError> {
    let (mut said, mut results, mut further) = (Vec::new(), Vec::new(), Vec::new());
    let signature = message.extra_content.and_then(thought_signature);
    let has_texts = message.texts.iter().any(|text| !text.is_empty());
    let mut of_text = signature.filter(|_| message.calls.is_empty() || has_texts);
    for text in message.texts {
        if !text.is_empty() {
            let mut part = members_of([("text", text.into())]);
            part.put_some("thoughtSignature", of_text.take());
            said.push(part.into());
        }
    }
    for (index, call) in message.calls.into_iter().enumerate() {
        let function = [("name", call.name.clone().into()), ("args", call.arguments.into())];
        let mut part = members_of([("functionCall", object(function))]);
        let signature = call.extra_content.and_then(thought_signature);
        if signature.is_none() && is_checked && index == 0 {
            report.warn(
                "messages[].tool_calls[].extra_content.google.thought_signature is missing: send back what the \
                 answer had, so that the model can continue its reasoning"
                    .to_owned(),
            );
            part.put("thoughtSignature", FOREIGN_SIGNATURE);
        }
        part.put_some("thoughtSignature", signature);
        said.push(part.into());
        if let Some(result) = call.result {
            results.push(result_part(call.name, result, &mut further, report)?);
        }
    }
    results.extend(further);
    contents.push("model", said);
    contents.push("user", results);
    Ok(())
}

/// `extra_content.google.thought_signature`.
fn thought_signature(extra_content: Value<'_>) -> Option<Cow<'_, str>> {
    let Value::Object(mut extra) = extra_content else { return None };
    let Some(Value::Object(mut own)) = extra.take("google") else { return None };
    match own.take("thought_signature") {
        Some(Value::String(signature)) => Some(signature),
        _ => None,
    }
}

/// A result. Images follow in `further`.
fn result_part<'t>(
    name: Cow<'t, str>,
    result: CallResult<'t>,
    further: &mut Vec<Node<'t>>,
    report: &mut Report,
) -> Result<Node<'t>, TranslateError> {
    let CallResult { parts: all, is_error } = result;
    let mut texts = Vec::new();
    let mut others = Vec::new();
    for part in all {
        match part {
            Part { content: Content::Text(text), .. } => texts.push(text),
            part => others.push(part),
        }
    }
    further.extend(parts(others, report)?);
    let text = match texts.len() {
        1 => texts.swap_remove(0),
        _ => texts.join("\n").into(),
    };
    Ok(object([("functionResponse", response(None, name, text, is_error))]))
}

/// `functionResponse`. Gemini requires an object, whose members `output` and `error` it knows.
fn response<'t>(
    id: Option<String>,
    name: Cow<'t, str>,
    text: Cow<'t, str>,
    is_error: bool,
) -> Node<'t> {
    let structured = match json::parse(&text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => Some(value.into_owned()),
        Ok(_) | Err(_) => None,
    };
    let value = structured.unwrap_or(Value::String(text));
    let member = if is_error { "error" } else { "output" };
    let mut members = Members::default();
    members.put_some("id", id);
    members.put("name", name);
    members.put("response", object([(member, value.into())]));
    members.into()
}

/// A round of the tool loop, as Gemini wrote it.
fn native<'t>(turn: &'t Turn, contents: &mut Contents<'t>) {
    let said =
        object([("role", "model".into()), ("parts", Node::Raw(turn.native.as_str().into()))]);
    contents.0.push(said);
    // A result has the id that Gemini gave the call. Older models give none and reject it.
    let parts = json::parse_within(&turn.native, &mut { usize::MAX }).unwrap_or_default();
    let parts = parts.as_array().unwrap_or_default();
    let call = |part: &Value<'_>| {
        let call = part.get("functionCall").or_else(|| part.get("function_call"))?;
        Some(call.get("id").and_then(Value::as_str).map(str::to_owned))
    };
    let ids = parts.iter().filter_map(call).chain(std::iter::repeat(None));
    let results = turn.results.iter().zip(ids).map(|(result, id)| {
        let (name, text) = (result.name.as_str().into(), result.content.as_str().into());
        object([("functionResponse", response(id, name, text, result.is_error))])
    });
    contents.push("user", results.collect());
}

/// Parts of a message.
fn parts<'t>(all: Vec<Part<'t>>, report: &mut Report) -> Result<Vec<Node<'t>>, TranslateError> {
    let mut nodes = Vec::new();
    for Part { content, cache_control, path } in all {
        if cache_control.is_some() {
            report.drop_member(&format!("{path}.cache_control"));
        }
        nodes.push(match content {
            Content::Text(text) if text.is_empty() => continue,
            Content::Text(text) => object([("text", text.into())]),
            Content::Url(url) => {
                let mut file = Members::default();
                file.put_some("mimeType", media_type(&url));
                file.put("fileUri", url);
                object([("fileData", file.into())])
            }
            Content::Data { media_type, base64 } => {
                let media_type = match media_type.as_ref() {
                    "audio/mp3" => Cow::Borrowed("audio/mpeg"),
                    _ => media_type,
                };
                let data = [("mimeType", media_type.into()), ("data", base64.into())];
                object([("inlineData", object(data))])
            }
        });
    }
    Ok(nodes)
}

/// The media type that the name of a file tells.
fn media_type(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next()?;
    let (_, extension) = path.rsplit_once('.')?;
    Some(match extension.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "gif" => "image/gif",
        "heic" => "image/heic",
        "heif" => "image/heif",
        "pdf" => "application/pdf",
        _ => return None,
    })
}
