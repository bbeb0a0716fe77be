//! The limits of one API key, which replace those of all callers.

use super::Allowlist;
use crate::json::Value;

/// The highest limit of a tool's description in a chat request, in characters.
pub const MAX_TOOL_DESCRIPTION: usize = 4096;

/// The limits of one API key (2api.ai's tenant, 7.1, 7.2 and 7.4). What is absent is as for all callers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyLimits {
    /// The names that its tools may have.
    pub tools: Option<Allowlist>,
    /// The longest description of a tool, in characters.
    pub max_tool_description: Option<usize>,
    /// The longest arguments of one call, in bytes.
    pub max_argument_bytes: Option<usize>,
    /// The most calls in one answer of a model.
    pub max_tool_calls: Option<usize>,
    /// The limiter that counts its calls per minute. The limit belongs to the limiter, not to the key.
    pub tool_call_limiter: Option<String>,
}

const EXPECTED: &str = ".gateway must be an object with any of tool_allowlist (an array of names), \
                        tool_allowlist_mode (enforce, warn or off), max_tool_description (1 to 4096), \
                        max_argument_bytes (1 to 262144), max_tool_calls (1 to 50) and \
                        tool_call_limiter (the name of a binding), and nothing else";

impl KeyLimits {
    /// As for all callers.
    pub const NONE: Self = Self {
        tools: None,
        max_tool_description: None,
        max_argument_bytes: None,
        max_tool_calls: None,
        tool_call_limiter: None,
    };

    /// Parses the member `gateway` of an API key.
    ///
    /// # Errors
    /// What was expected instead, after the place of the key.
    pub fn parse(value: &Value<'_>) -> Result<Self, &'static str> {
        Self::read(value).ok_or(EXPECTED)
    }

    fn read(value: &Value<'_>) -> Option<Self> {
        let mut limits = Self::default();
        let (mut names, mut mode) = (None, None);
        for (name, value) in value.as_object()?.iter() {
            match &**name {
                "tool_allowlist" => {
                    let listed =
                        value.as_array()?.iter().map(|name| Some(name.as_str()?.to_owned()));
                    names = Some(listed.collect::<Option<Vec<_>>>()?);
                }
                "tool_allowlist_mode" => mode = Some(value.as_str()?),
                "max_tool_description" => {
                    limits.max_tool_description = Some(number(value, MAX_TOOL_DESCRIPTION)?);
                }
                "max_argument_bytes" => {
                    limits.max_argument_bytes = Some(number(value, 256 * 1024)?);
                }
                "max_tool_calls" => limits.max_tool_calls = Some(number(value, 50)?),
                "tool_call_limiter" => {
                    let binding = value.as_str().filter(|name| !name.is_empty())?;
                    limits.tool_call_limiter = Some(binding.to_owned());
                }
                _ => return None,
            }
        }
        if names.is_some() || mode.is_some() {
            limits.tools = Some(Allowlist::new(names, mode)?);
        }
        Some(limits)
    }
}

fn number(value: &Value<'_>, most: usize) -> Option<usize> {
    let number = usize::try_from(value.as_number()?.as_u64()?).ok()?;
    (1..=most).contains(&number).then_some(number)
}
