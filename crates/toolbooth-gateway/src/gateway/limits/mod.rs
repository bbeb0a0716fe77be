//! The limits of requests and answers (2api.ai, 7), for all callers, and for each API key and rule of sign-in.

pub(in crate::gateway) mod access;
pub(in crate::gateway) mod cost;
pub(in crate::gateway) mod extras;
pub(in crate::gateway) mod units;

use std::collections::BTreeSet;
use std::mem::take;

use serde_json::value::RawValue;

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::conversation::tool::{Tool, ToolChoice};
use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::format::front::RequestLimits;
use crate::gateway::limits::access::Models;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{parse, raw_items, raw_member, to_raw};
use crate::gateway::relay::plan::Plan;
use crate::gateway::settings::GatewaySettings;
use crate::wire::{Json, ToolCall};
use toolbooth::call::RequestContext;
use toolbooth::host::Level;
use toolbooth::json::{self, Value};
use toolbooth::principal::Principal;
use toolbooth::schema::text::excerpt;
use toolbooth::settings::{Allowlist, KeyLimits, Permission, Settings};

/// The member that makes some models search the web without a tool.
const WEB_SEARCH: &str = "web_search_options";
/// The member of tools that the model must find before it knows them, in JSON.
const DEFERRED: &str = "\"defer_loading\"";
const MAX_TOOLS: usize = 128;
/// As many as Anthropic takes. Providers that take fewer get shortened names.
pub(in crate::gateway) const MAX_NAME: usize = 128;
/// The limiter of calls per minute, unless a key names another one.
const TOOL_CALL_LIMITER: &str = "TOOL_CALL_LIMITER";
/// The longest period of a limiter on Workers. The Worker cannot read the configured period.
const LIMITER_PERIOD_MS: u64 = 60_000;

/// The values of `service_tier` that cost what a request usually costs.
const USUAL_TIERS: [&str; 2] = ["auto", "default"];

pub(in crate::gateway) struct Limits<'s> {
    pub(in crate::gateway) models: Models<'s>,
    /// The most tokens of one answer.
    pub(in crate::gateway) max_output_tokens: Option<u64>,
    service_tiers: &'s [String],
    pub(in crate::gateway) max_tool_calls: usize,
    max_argument_bytes: usize,
    max_tool_description: usize,
    /// The compiled-in tools that the caller's chats get: ids, names or `Toolkit.*`.
    pub(in crate::gateway) added_tools: &'s [String],
    agent_max_tools: usize,
    agent_max_tool_description: usize,
    tools: &'s Allowlist,
    /// Whether no tool may cost more than tokens.
    pub(in crate::gateway) counts_tokens_only: bool,
    limiter: &'s str,
}

impl<'s> Limits<'s> {
    /// The limits of `principal`: those of its API key or rule, and for the rest those of all callers.
    pub(in crate::gateway) fn of(
        principal: &Principal,
        settings: &'s Settings,
        gateway: &'s GatewaySettings,
    ) -> Self {
        static NO_LIMITS: KeyLimits = KeyLimits::NONE;
        let own = settings.limits_of(principal).unwrap_or(&NO_LIMITS);
        let general = &settings.limits;
        Self {
            models: Models::of(principal, settings, gateway),
            max_output_tokens: own.max_output_tokens,
            service_tiers: &own.service_tiers,
            max_tool_calls: own.max_tool_calls.unwrap_or(general.max_tool_calls),
            max_argument_bytes: own.max_argument_bytes.unwrap_or(general.max_argument_bytes),
            max_tool_description: own.max_tool_description.unwrap_or(gateway.max_tool_description),
            added_tools: own.added_tools.as_ref().unwrap_or(&gateway.added_tools),
            agent_max_tools: gateway.agent_max_tools,
            agent_max_tool_description: gateway.agent_max_tool_description,
            tools: own.tools.as_ref().unwrap_or(&gateway.tools),
            counts_tokens_only: false,
            limiter: own.tool_call_limiter.as_deref().unwrap_or(TOOL_CALL_LIMITER),
        }
    }

    /// Checks that a request asks for no model, tier or number of tokens that the caller may not spend money on.
    pub(in crate::gateway) fn check_costs(&self, request: &ChatRequest) -> Result<()> {
        self.models.check(&request.model)?;
        if let Some(tier) = request.members.get("service_tier") {
            let Some(tier) = json::read::<String>(tier.get().as_bytes()) else {
                return Err(GatewayError::expected("service_tier", "a string"));
            };
            if !USUAL_TIERS.contains(&tier.as_str()) && !self.service_tiers.contains(&tier) {
                let message = format!(
                    "service_tier must be auto or default: the caller may not use \"{}\"",
                    excerpt(&tier)
                );
                return Err(GatewayError::invalid("service_tier", message));
            }
        }
        let Some(most) = self.max_output_tokens else { return Ok(()) };
        for name in ["max_tokens", "max_completion_tokens"] {
            let Some(wanted) = request.members.get(name) else { continue };
            let wanted = json::read::<u64>(wanted.get().as_bytes());
            if !wanted.is_some_and(|wanted| (1..=most).contains(&wanted)) {
                let expected = format!("a whole number from 1 to {most}, the limit of the caller");
                return Err(GatewayError::expected(name, &expected));
            }
        }
        Ok(())
    }

    /// Checks that no tool of a request exceeds a limit or is not allowed (7.1, 7.2).
    pub(in crate::gateway) fn check_tools(
        &self,
        request: &ChatRequest,
        plan: &Plan<'_>,
        limits: RequestLimits,
        context: &RequestContext<'_>,
        notes: &Notes,
    ) -> Result<()> {
        let (max_tools, max_description) = match limits {
            RequestLimits::Chat => (MAX_TOOLS, self.max_tool_description),
            RequestLimits::Agents => (self.agent_max_tools, self.agent_max_tool_description),
        };
        let own = request.responses.as_ref();
        let count = request.tools.len() + own.map_or(0, |own| own.further_tools);
        if count > max_tools {
            let message =
                format!("There are {count} tools; a request may have at most {max_tools}");
            return Err(GatewayError::new(ErrorKind::TooManyTools, message).at("tools"));
        }
        if let Some((path, length)) = own.and_then(|own| own.longest_namespace.as_ref())
            && *length > max_description
        {
            let message =
                format!("{path} has {length} characters; it may have at most {max_description}");
            return Err(GatewayError::new(ErrorKind::LongDescription, message).at(path.as_str()));
        }
        for (index, tool) in request.tools.iter().enumerate() {
            let (kind, name, description) = match tool {
                Tool::Function(function) => ("function", &function.name, &function.description),
                Tool::Custom { name, description, .. } => ("custom", name, description),
                Tool::Hosted { kind, json } => {
                    let path = format!("tools[{index}]");
                    self.check_hosted(kind, format!("{path}.type"))?;
                    if self.models.names.is_some() {
                        self.check_models(&parse(json.get(), &path)?, &path, false, plan)?;
                    }
                    continue;
                }
            };
            let place = |member| format!("tools[{index}].{kind}.{member}");
            check_name(name).map_err(|error| error.at(place("name")))?;
            let length = description.as_ref().map_or(0, |text| text.chars().count());
            if length > max_description {
                let message = format!(
                    "The description of tool '{name}' has {length} characters; it may have at most {max_description}"
                );
                let error = GatewayError::new(ErrorKind::LongDescription, message);
                return Err(error.at(place("description")));
            }
            self.check_permission(name, context, notes)
                .map_err(|error| error.at(format!("tools[{index}]")))?;
        }
        if request.members.get(WEB_SEARCH).is_some() {
            self.check_hosted(WEB_SEARCH, WEB_SEARCH)?;
        }
        Ok(())
    }

    /// Checks that the operator allows a tool of this name.
    fn check_permission(
        &self,
        name: &str,
        context: &RequestContext<'_>,
        notes: &Notes,
    ) -> Result<()> {
        let message = || format!("Tool '{name}' is not in the operator's allowlist");
        match self.tools.of_name(name) {
            Permission::Given => Ok(()),
            Permission::Warned => {
                // A name is at most 128 letters, digits, hyphens and underscores: the check before.
                let caller = context.pipeline.events.caller(context.principal);
                let attributes = [("tool", name), ("caller", &caller)];
                context.host.log(Level::Warn, "tool_not_in_gateway_allowlist", &attributes);
                notes.warn(message());
                Ok(())
            }
            Permission::Denied => Err(GatewayError::new(ErrorKind::ToolNotAllowed, message())),
        }
    }

    /// Leaves out the tools of coding agents that the provider would run, if they are not in the operator's allowlist: agents send
    /// them in every request. The error: the model must call one of them.
    pub(in crate::gateway) fn leave_out_hosted(
        &self,
        request: &mut ChatRequest,
        notes: &Notes,
    ) -> Result<()> {
        let Some(native) = request.native.as_mut() else { return Ok(()) };
        let is_denied = |tool: &Tool| {
            // Clients name the server of `mcp`, so they must know that they cannot have it.
            matches!(tool, Tool::Hosted { kind, .. } if kind != "mcp" && self.denial(kind).is_some())
        };
        let (denied, kept) = take(&mut request.tools).into_iter().partition(is_denied);
        request.tools = kept;
        let denied: Vec<_> = Vec::<Tool>::into_iter(denied).filter_map(Tool::hosted).collect();
        if denied.is_empty() {
            return Ok(());
        }
        let choice = native.members.get("tool_choice");
        if let Some(kind) = choice.and_then(|choice| chosen(choice, &denied, &request.tools)) {
            if !matches!(request.tool_choice, Some(ToolChoice::Allowed { .. })) {
                return self.check_hosted(kind, "tool_choice");
            }
            // The choice has others, which are in the gateway's form of it.
            native.must_be_translated();
        }
        for (kind, _) in &denied {
            let reason = self.denial(kind).unwrap_or_default();
            let kind = excerpt(kind);
            notes.drop_member(&format!("tools[] ({kind})"));
            notes.warn(format!(
                "'{kind}' is a tool of the provider's own, and {reason}, so it was left out"
            ));
        }
        let mut removed = 0;
        let mut is_empty = false;
        if let Some(json) = native.members.get_mut("tools") {
            // `collect` would bring a sort into the Worker.
            let mut texts = BTreeSet::new();
            texts.extend(denied.iter().map(|(_, json)| json.get()));
            let tools = raw_items(Some(json));
            let count = tools.len();
            let kept = tools.into_iter().filter(|tool| !texts.contains(tool.get()));
            let kept: Vec<_> = kept.map(Json::from).collect();
            removed = count - kept.len();
            // Without tools, there is nothing to choose.
            is_empty = removed > 0 && kept.is_empty();
            *json = to_raw(&kept)?;
        }
        let is_search = |kind: &str| kind.starts_with("tool_search");
        let searches = |tool: &Tool| matches!(tool, Tool::Hosted { kind, .. } if is_search(kind));
        let loses_search =
            denied.iter().any(|(kind, _)| is_search(kind)) && !request.tools.iter().any(searches);
        let is_deferred = |json: &RawValue| json.get().contains(DEFERRED);
        // The model could not find the tools that it does not know yet, so it must know them all.
        let is_incomplete = loses_search && native.members.iter().any(|(_, it)| is_deferred(it));
        // What is left is in the conversation.
        if is_empty || removed < denied.len() || is_incomplete {
            native.must_be_translated();
        }
        Ok(())
    }

    /// Why the caller may not use a tool of this type, which the provider runs. The mode of the operator's allowlist does not matter:
    /// such a tool can cost money, and send what was said to anybody.
    fn denial(&self, kind: &str) -> Option<String> {
        if !self.tools.lists(kind) {
            return Some("its type is not in the operator's allowlist".to_owned());
        }
        let is_uncounted = self.counts_tokens_only && !extras::is_usual_tool(kind);
        is_uncounted.then(|| format!("it {}", extras::REASON))
    }

    fn check_hosted(&self, kind: &str, param: impl Into<String>) -> Result<()> {
        let Some(reason) = self.denial(kind) else { return Ok(()) };
        let message = format!("'{}' is a tool of the provider's own, and {reason}", excerpt(kind));
        Err(GatewayError::new(ErrorKind::ToolNotAllowed, message).at(param))
    }

    /// Checks the models that a tool of the provider names, because it can ask them at the operator's cost.
    fn check_models(
        &self,
        value: &Value<'_>,
        path: &str,
        is_model: bool,
        plan: &Plan<'_>,
    ) -> Result<()> {
        match value {
            Value::String(model) if is_model => self.models.check_further(model, plan, path),
            Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
                self.check_models(item, &format!("{path}[{index}]"), is_model, plan)
            }),
            Value::Object(members) => members.iter().try_for_each(|(name, member)| {
                let is_model = name.ends_with("model") || name.ends_with("models");
                self.check_models(member, &format!("{path}.{}", excerpt(name)), is_model, plan)
            }),
            _ => Ok(()),
        }
    }

    /// Checks the number of calls in an answer and the size of their arguments (7.1).
    pub(in crate::gateway) fn check_calls(&self, calls: &[ToolCall<'_>]) -> Result<()> {
        if calls.len() > self.max_tool_calls {
            let message = format!(
                "The model made more calls than the {} that one answer may have",
                self.max_tool_calls
            );
            return Err(GatewayError::new(ErrorKind::TooManyCalls, message));
        }
        if calls.iter().any(|call| call.arguments.text().len() > self.max_argument_bytes) {
            let message = format!(
                "The model wrote more arguments than the {} bytes that one call may have",
                self.max_argument_bytes
            );
            return Err(GatewayError::new(ErrorKind::LargeArguments, message));
        }
        Ok(())
    }

    /// Counts calls against the limiter of calls in answers (7.4). If it fails, the calls are served.
    pub(in crate::gateway) async fn count(
        &self,
        calls: usize,
        context: &RequestContext<'_>,
    ) -> Result<()> {
        if calls == 0 || !context.host.is_limited(self.limiter) {
            return Ok(());
        }
        match context.host.take(self.limiter, &context.limiter_key(), calls).await {
            Ok(true) => Ok(()),
            Ok(false) => {
                let message = "The limit of tool calls per minute is reached";
                let error = GatewayError::new(ErrorKind::RateLimited, message);
                Err(error.retry_after(Some(LIMITER_PERIOD_MS)))
            }
            Err(problem) => {
                context.host.log(Level::Error, "rate_limit", &[("problem", &problem)]);
                Ok(())
            }
        }
    }
}

/// Checks the name of a tool.
fn check_name(name: &str) -> Result<()> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_plain) {
        return Ok(());
    }
    let name = excerpt(name);
    let message =
        format!("Tool '{name}' must have a name of 1 to {MAX_NAME} letters, digits, _ and -");
    Err(GatewayError::new(ErrorKind::InvalidToolName, message))
}

/// The type of a tool in `denied` that a `tool_choice` names, alone or among others. Tools that are `kept` may have its name.
fn chosen<'d>(
    choice: &RawValue,
    denied: &'d [(String, Box<RawValue>)],
    kept: &[Tool],
) -> Option<&'d str> {
    let choice = parse(choice.get(), "tool_choice").ok()?;
    let others = choice.get("tools").and_then(Value::as_array).unwrap_or_default();
    let mut named = BTreeSet::new();
    for choice in [&choice].into_iter().chain(others) {
        let name = choice.get("name").and_then(Value::as_str);
        named.extend(name.filter(|name| !kept.iter().any(|tool| tool.name() == Some(name))));
        named.extend(choice.get("type").and_then(Value::as_str));
    }
    let is_named = |json: &RawValue| {
        let name =
            raw_member(json, &["name"]).and_then(|it| json::read::<String>(it.get().as_bytes()));
        name.is_some_and(|name| named.contains(name.as_str()))
    };
    let found = denied.iter().find(|(kind, json)| named.contains(kind.as_str()) || is_named(json));
    found.map(|(kind, _)| kind.as_str())
}
