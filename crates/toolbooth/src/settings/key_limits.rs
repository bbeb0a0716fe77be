//! The limits of one API key, or of the people of a rule, which replace those of all callers.

use super::Allowlist;
use super::budgets::parse_budgets;
use crate::budget::{Budget, Unit, Window};
use crate::json::Value;

/// The members of an entry that [`parse_limits`] reads.
pub(super) const LIMITS: [&str; 3] = ["gateway", "tenant_settings", "budgets"];

/// The highest limit of a tool's description in a chat request, in characters.
pub const MAX_TOOL_DESCRIPTION: usize = 4096;

/// The limits of one API key, or of the people of a rule of sign-in (2api.ai's tenant, 7.1, 7.2 and 7.4). What is absent is as for all callers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// The models that it may use, as requests name them: `provider/model`, or names of `MODELS`.
    pub models: Option<Vec<String>>,
    /// The most tokens of one answer.
    pub max_output_tokens: Option<u64>,
    /// The values of `service_tier` that it may send besides `auto` and `default`.
    pub service_tiers: Vec<String>,
    /// The names that its tools may have.
    pub tools: Option<Allowlist>,
    /// The compiled-in tools that the gateway adds to its chats: ids, names or `Toolkit.*`.
    pub added_tools: Option<Vec<String>>,
    /// The longest description of a tool, in characters.
    pub max_tool_description: Option<usize>,
    /// The longest arguments of one call, in bytes.
    pub max_argument_bytes: Option<usize>,
    /// The most calls in one answer of a model.
    pub max_tool_calls: Option<usize>,
    /// The most calls of tools in a minute (7.4). [`parse_limits`] makes it a budget.
    pub tool_calls_per_minute: Option<u64>,
    /// The limiter that counts its calls per minute. The limit belongs to the limiter, not to the key.
    pub tool_call_limiter: Option<String>,
}

const EXPECTED: &str = ".gateway must be an object with any of models, max_output_tokens, \
                        service_tiers, tools and tool_allowlist (arrays of names), \
                        tool_allowlist_mode (enforce, warn or off), max_tool_description (1 to 4096), \
                        max_argument_bytes (1 to 262144), max_tool_calls (1 to 50), \
                        tool_calls_per_minute (1 to 1000000000) and \
                        tool_call_limiter (the name of a binding), and nothing else; so must tenant_settings";
const BOTH: &str = " must not have both gateway and tenant_settings, which is another name for it";
const TWICE: &str = ".budgets must not have tool_calls in 1m beside tool_calls_per_minute";
const MODELS: &str = ".gateway.models must be a non-empty array of names of models, such as \
                      openai/gpt-5 or a name of MODELS";
const MAX_OUTPUT_TOKENS: &str =
    ".gateway.max_output_tokens must be a whole number from 1 to 10000000";
const SERVICE_TIERS: &str =
    ".gateway.service_tiers must be an array of values of service_tier, such as priority";

impl KeyLimits {
    /// As for all callers.
    pub const NONE: Self = Self {
        models: None,
        max_output_tokens: None,
        service_tiers: Vec::new(),
        tools: None,
        added_tools: None,
        max_tool_description: None,
        max_argument_bytes: None,
        max_tool_calls: None,
        tool_calls_per_minute: None,
        tool_call_limiter: None,
    };

    /// Parses the member `gateway` of an API key or a rule.
    ///
    /// # Errors
    /// What was expected instead, after the place of the key or the rule.
    pub fn parse(value: &Value<'_>) -> Result<Self, &'static str> {
        let mut limits = Self::default();
        let (mut listed, mut mode) = (None, None);
        for (name, value) in value.as_object().ok_or(EXPECTED)?.iter() {
            match &**name {
                "models" => {
                    let models = names(value).filter(|models| !models.is_empty());
                    limits.models = Some(models.ok_or(MODELS)?);
                }
                "max_output_tokens" => {
                    let most = number(value, 10_000_000).ok_or(MAX_OUTPUT_TOKENS)?;
                    limits.max_output_tokens = Some(most as u64);
                }
                "service_tiers" => limits.service_tiers = names(value).ok_or(SERVICE_TIERS)?,
                "tools" => limits.added_tools = Some(names(value).ok_or(EXPECTED)?),
                "tool_allowlist" => listed = Some(names(value).ok_or(EXPECTED)?),
                "tool_allowlist_mode" => mode = Some(value.as_str().ok_or(EXPECTED)?),
                "max_tool_description" => {
                    let most = number(value, MAX_TOOL_DESCRIPTION).ok_or(EXPECTED)?;
                    limits.max_tool_description = Some(most);
                }
                "max_argument_bytes" => {
                    limits.max_argument_bytes = Some(number(value, 256 * 1024).ok_or(EXPECTED)?);
                }
                "max_tool_calls" => {
                    limits.max_tool_calls = Some(number(value, 50).ok_or(EXPECTED)?);
                }
                "tool_calls_per_minute" => {
                    let most = number(value, 1_000_000_000).ok_or(EXPECTED)?;
                    limits.tool_calls_per_minute = Some(most as u64);
                }
                "tool_call_limiter" => {
                    let binding = value.as_str().filter(|name| !name.is_empty());
                    limits.tool_call_limiter = Some(binding.ok_or(EXPECTED)?.to_owned());
                }
                _ => return Err(EXPECTED),
            }
        }
        if listed.is_some() || mode.is_some() {
            limits.tools = Some(Allowlist::new(listed, mode).ok_or(EXPECTED)?);
        }
        Ok(limits)
    }
}

/// The limits of an API key, a rule or a tenant: `gateway`, or `tenant_settings` as the page of 2api.ai writes it (7.2), and `budgets`.
///
/// # Errors
/// What was expected instead, after the place of the entry.
pub fn parse_limits(entry: &Value<'_>) -> Result<(Option<KeyLimits>, Vec<Budget>), &'static str> {
    let [gateway, tenant_settings, budgets] = LIMITS.map(|name| entry.get(name));
    let limits = match (gateway, tenant_settings) {
        (Some(_), Some(_)) => return Err(BOTH),
        (one, other) => one.or(other).map(KeyLimits::parse).transpose()?,
    };
    let mut budgets = budgets.map(parse_budgets).transpose()?.unwrap_or_default();
    if let Some(limit) = limits.as_ref().and_then(|limits| limits.tool_calls_per_minute) {
        let (window, unit) = (Window::Minute, Unit::ToolCalls);
        if budgets.iter().any(|budget| (budget.window, budget.unit) == (window, unit)) {
            return Err(TWICE);
        }
        budgets.push(Budget { window, unit, limit });
    }
    Ok((limits, budgets))
}

/// An array of strings that are not empty.
fn names(value: &Value<'_>) -> Option<Vec<String>> {
    value.texts().filter(|names| names.iter().all(|name| !name.is_empty()))
}

fn number(value: &Value<'_>, most: usize) -> Option<usize> {
    let number = usize::try_from(value.as_number()?.as_u64()?).ok()?;
    (1..=most).contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    /// The JSON of the page of 2api.ai, 7.2, as it stands, and what may be beside it.
    #[test]
    fn limits_of_entries() {
        const PAGE: &str = r#"{"tenant_settings": {"tool_allowlist": ["get_weather", "search_db", "send_email"], "tool_allowlist_mode": "enforce"}}"#;
        let parse = |text: &str| parse_limits(&json::parse(text).unwrap());
        let (limits, budgets) = parse(PAGE).unwrap();
        let tools = limits.unwrap().tools.unwrap();
        assert!(tools.lists("search_db") && !tools.lists("other") && budgets.is_empty());
        let minute = |limit| Budget { window: Window::Minute, unit: Unit::ToolCalls, limit };
        let day = Budget { window: Window::Day, unit: Unit::ToolCalls, limit: 7 };
        for (text, expected) in [
            (r#"{"tenant_settings":{"tool_calls_per_minute":60}}"#, Ok(vec![minute(60)])),
            (r#"{"gateway":{"tool_calls_per_minute":1}}"#, Ok(vec![minute(1)])),
            (
                r#"{"gateway":{"tool_calls_per_minute":1},"budgets":[{"window":"1d","tool_calls":7}]}"#,
                Ok(vec![day, minute(1)]),
            ),
            ("{}", Ok(Vec::new())),
            (r#"{"gateway":{},"tenant_settings":{}}"#, Err(BOTH)),
            (r#"{"tenant_settings":{"tool_calls_per_minute":0}}"#, Err(EXPECTED)),
            (r#"{"tenant_settings":{"tool_calls_per_minute":"60"}}"#, Err(EXPECTED)),
            (r#"{"tenant_settings":{"other":1}}"#, Err(EXPECTED)),
            (
                r#"{"gateway":{"tool_calls_per_minute":1},"budgets":[{"window":"1m","tool_calls":7}]}"#,
                Err(TWICE),
            ),
        ] {
            assert_eq!(parse(text).map(|(_, budgets)| budgets), expected, "{text}");
        }
    }
}
