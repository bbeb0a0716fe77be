//! The tools and the conversation of a request, as a provider of a different format than that of the client can get them.

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::conversation::tool::{Tool, ToolChoice};
use crate::gateway::conversation::{HistoryItem, Message, MessageBody, Part};
use crate::gateway::dialect::{Dialect, Feature};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::format::adapter::{Format, TranslateOptions, custom};
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::raw_member;
use toolbooth::schema::text::excerpt;

/// The tools that a provider gets, and which of them the model may call.
pub(in crate::gateway::format) struct FittedTools {
    pub(in crate::gateway::format) tools: Vec<Tool>,
    pub(in crate::gateway::format) choice: Option<ToolChoice>,
}

/// What the user says after a message of the assistant that the model cannot continue.
const GO_ON: &str = "Continue.";

/// What the user says at the end of a conversation that ends with the assistant, if the model cannot continue the message.
pub(in crate::gateway::format) fn go_on(
    request: &ChatRequest,
    format: Format,
    options: &TranslateOptions<'_>,
    notes: &Notes,
) -> Option<HistoryItem> {
    let last = last_of_assistant(&request.history, format, options.dialect)?;
    // The makers' own APIs have no dialects.
    let is_usual = match format {
        Format::OpenAiCompatible | Format::WorkersAi => options.dialect.takes(Feature::Prefill),
        Format::OpenAi | Format::Responses | Format::Anthropic | Format::Gemini => true,
    };
    let continues = options.facts.continues_messages().unwrap_or(is_usual);
    if continues || must_continue(last) {
        return None;
    }
    notes.warn(format!(
        "messages: {} does not continue a message of the assistant, so the user says \"{GO_ON}\" after it",
        options.target
    ));
    let path = "messages";
    Some(HistoryItem::message(path, MessageBody::User(vec![Part::text(GO_ON, path)])))
}

/// The last message, if it is one of the assistant. Providers may have the system's elsewhere; the makers' own APIs do not get one of
/// white space. Only Anthropic and OpenAI have what a model has thought as a message of its own.
fn last_of_assistant<'h>(
    history: &'h [HistoryItem],
    format: Format,
    dialect: &Dialect,
) -> Option<&'h Message> {
    let has_thoughts = matches!(format, Format::Anthropic | Format::Responses);
    let has_blanks = matches!(format, Format::OpenAiCompatible | Format::WorkersAi);
    let is_blank = |part: &Part| part.as_text().is_some_and(|text| text.trim().is_empty());
    let is_left_out = |item: &HistoryItem| match item {
        HistoryItem::Message(Message { body, .. }) => match body {
            MessageBody::System(_) | MessageBody::Developer(_) => true,
            MessageBody::User(parts) => !has_blanks && parts.iter().all(is_blank),
            MessageBody::Assistant(_) => !has_thoughts && item.says_nothing(dialect),
            MessageBody::Result(_) => false,
        },
        HistoryItem::Turn(_) => false,
    };
    match history.iter().rfind(|item| !is_left_out(item))? {
        HistoryItem::Message(message) if matches!(message.body, MessageBody::Assistant(_)) => {
            Some(message)
        }
        // The results of the calls follow a round.
        HistoryItem::Message(_) | HistoryItem::Turn(_) => None,
    }
}

/// Whether a client of Chat Completions says that the model must continue its message, as Mistral and DeepSeek or Moonshot and Qwen
/// know it.
fn must_continue(message: &Message) -> bool {
    let Some(written) = &message.written else { return false };
    let is_true = |name: &&str| raw_member(written, &[*name]).is_some_and(|it| it.get() == "true");
    ["prefix", "partial"].iter().any(is_true)
}

/// The tools without those that the provider cannot run, and that the model does not know yet, and with functions in place of custom
/// tools; `None` if nothing changes. The error: the model must call a tool that is left out.
pub(in crate::gateway::format) fn fit(
    request: &ChatRequest,
    format: Format,
    notes: &Notes,
) -> Result<Option<FittedTools>> {
    let has_custom = !custom::wrapped(request, format).is_empty();
    let has_foreign = has_foreign(request, format);
    let unloaded = request.native.as_ref().map_or(&[][..], |native| &native.unloaded);
    if !has_custom && !has_foreign && unloaded.is_empty() {
        return Ok(None);
    }
    let is_loaded = |tool: &&Tool| {
        !tool.name().is_some_and(|name| unloaded.iter().any(|unloaded| unloaded == name))
    };
    let mut fitted = FittedTools {
        tools: request.tools.iter().filter(is_loaded).cloned().collect(),
        choice: request.tool_choice.clone(),
    };
    if has_custom {
        fitted.use_functions()?;
    }
    if has_foreign {
        fitted.leave_out_hosted(!request.selections.is_empty(), notes)?;
    }
    Ok(Some(fitted))
}

/// Whether a request was written in a different format, and has tools that only a provider with that format understands.
fn has_foreign(request: &ChatRequest, format: Format) -> bool {
    let is_other = request.native.as_ref().is_some_and(|native| native.format != format);
    let is_hosted = |tool: &Tool| matches!(tool, Tool::Hosted { .. });
    let has_other_choice = matches!(request.tool_choice, Some(ToolChoice::Other(_)));
    is_other && (has_other_choice || request.tools.iter().any(is_hosted))
}

impl FittedTools {
    /// Makes custom tools functions.
    fn use_functions(&mut self) -> Result<()> {
        for tool in &mut self.tools {
            if let Tool::Custom { name, description, json } = tool {
                *tool = Tool::Function(custom::function(name, description.as_deref(), json)?);
            }
        }
        if let Some(ToolChoice::Other(json)) = &self.choice {
            self.choice = Some(custom::choice(json)?);
        }
        Ok(())
    }

    /// Leaves out the tools that only a provider with the client's format runs. `has_own` says whether the model has tools of this
    /// server, too.
    fn leave_out_hosted(&mut self, has_own: bool, notes: &Notes) -> Result<()> {
        let before = self.tools.len();
        self.tools.retain(|tool| match tool {
            Tool::Hosted { kind, .. } => {
                notes.drop_member(&format!("tools[] ({})", excerpt(kind)));
                false
            }
            Tool::Function(_) | Tool::Custom { .. } => true,
        });
        let none_is_left = before > 0 && self.tools.is_empty() && !has_own;
        let is_impossible = match &self.choice {
            Some(ToolChoice::Other(json)) => !json.contains("\"custom\""),
            Some(choice) => none_is_left && choice.forces_call(),
            None => false,
        };
        if is_impossible {
            let expected = "a tool that the provider of this model can call";
            return Err(GatewayError::expected("tool_choice", expected));
        }
        Ok(())
    }
}
