//! The chat gateway: its model providers, aliases and limits.

mod aliases;
mod key_limits;
mod models;

pub use aliases::{Balance, ModelAlias, ModelTarget};
pub use key_limits::KeyLimits;
pub use models::{ModelFormat, ModelProvider};

use std::time::Duration;

use super::allowlist::Permission;
use super::auth::AuthSettings;
use super::reader::{Row, VariableDoc, VariableReader, count, documented, list};

/// The settings of the chat gateway.
#[derive(Debug, Clone)]
pub struct GatewaySettings {
    /// The providers that can be reached: with a key of the server, or with one of the caller.
    pub providers: Vec<ModelProvider>,
    /// `MODELS`: names for one model or several.
    pub aliases: Vec<ModelAlias>,
    /// The names of its invalid entries. They must not mean any other model.
    pub rejected_aliases: Vec<String>,
    /// `GATEWAY_CALLER_KEYS`: whether callers may send their own key of a provider.
    pub caller_keys: bool,
    /// `GATEWAY_TIMEOUT_MS`: how long a provider may be silent.
    pub timeout: Duration,
    /// `GATEWAY_DEADLINE_MS`: how long a request may take in all.
    pub deadline: Duration,
    /// `GATEWAY_MAX_SUBREQUESTS`: the most requests to models and calls of tools that one request may cause.
    pub max_subrequests: usize,
    /// `MAX_TOOL_DESCRIPTION`: the longest description of a tool, in characters.
    pub max_tool_description: usize,
    /// `GATEWAY_TOOL_ALLOWLIST` and `GATEWAY_TOOL_ALLOWLIST_MODE`.
    pub tools: NameAllowlist,
    /// Whether only requests to this machine are served: callers without credentials use the server's keys.
    pub local_only: bool,
}

/// The names that the tools of a request may have (2api.ai, 7.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameAllowlist {
    names: Vec<String>,
    others: Permission,
}

impl NameAllowlist {
    /// An allowlist; a list without a mode is enforced. `None` for another mode.
    fn new(names: Option<Vec<String>>, mode: Option<&str>) -> Option<Self> {
        let others = match (mode, &names) {
            (Some("off"), _) | (None, None) => Permission::Given,
            (Some("warn"), _) => Permission::Warned,
            (Some("enforce"), _) | (None, Some(_)) => Permission::Denied,
            (Some(_), _) => return None,
        };
        Some(Self { names: names.unwrap_or_default(), others })
    }

    /// Whether a request may have a tool of this name.
    pub fn permission(&self, name: &str) -> Permission {
        if self.names.iter().any(|allowed| allowed == name) {
            Permission::Given
        } else {
            self.others
        }
    }
}

const DESCRIPTION_CEILING: usize = 4096;
const TOOL_ALLOWLIST: &str = "GATEWAY_TOOL_ALLOWLIST";
const TOOL_ALLOWLIST_MODE: &str = "GATEWAY_TOOL_ALLOWLIST_MODE";

static CALLER_KEYS: Row<bool> = Row {
    name: "GATEWAY_CALLER_KEYS",
    doc: documented("Whether callers may send their own key of a provider. Default: false."),
    default: false,
    parse: truth,
};
static DEVELOPMENT: Row<bool> = Row {
    name: "DEVELOPMENT",
    doc: documented("Set by `make dev`: callers on this machine need no credentials to chat."),
    default: false,
    parse: truth,
};
static TIMEOUT: Row<usize> = Row {
    name: "GATEWAY_TIMEOUT_MS",
    doc: documented("How long a provider may be silent, in milliseconds. Default: 60000."),
    default: 60_000,
    parse: |text| count(text, 600_000, " of milliseconds"),
};
static DEADLINE: Row<usize> = Row {
    name: "GATEWAY_DEADLINE_MS",
    doc: documented("How long a chat request may take in all, in milliseconds. Default: 300000."),
    default: 300_000,
    parse: |text| count(text, 3_600_000, " of milliseconds"),
};
static MAX_SUBREQUESTS: Row<usize> = Row {
    name: "GATEWAY_MAX_SUBREQUESTS",
    doc: documented(
        "The most requests to models and calls of tools that one chat request may cause, 1 to 1000. \
          Default: 40.",
    ),
    default: 40,
    parse: |text| count(text, 1000, ""),
};
static MAX_TOOL_DESCRIPTION: Row<usize> = Row {
    name: "MAX_TOOL_DESCRIPTION",
    doc: documented(
        "The longest description of a tool in a chat request, 1 to 4096 characters. Default: 1024.",
    ),
    default: 1024,
    parse: |text| count(text, DESCRIPTION_CEILING, " of characters"),
};

pub(super) static DOCS: &[VariableDoc] = &[
    CALLER_KEYS.doc(),
    DEVELOPMENT.doc(),
    TIMEOUT.doc(),
    DEADLINE.doc(),
    MAX_SUBREQUESTS.doc(),
    MAX_TOOL_DESCRIPTION.doc(),
    VariableDoc {
        name: TOOL_ALLOWLIST,
        doc: documented(
            "The names that tools in chat requests may have, separated by commas. Default: any.",
        ),
    },
    VariableDoc {
        name: TOOL_ALLOWLIST_MODE,
        doc: documented(
            "enforce, warn or off. Default: enforce if GATEWAY_TOOL_ALLOWLIST is set, else off.",
        ),
    },
];
pub(super) use aliases::DOCS as ALIAS_DOCS;
pub(super) use models::DOCS as MODEL_DOCS;

fn truth(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}

fn milliseconds(number: usize) -> Duration {
    Duration::from_millis(number as u64)
}

impl GatewaySettings {
    pub(super) fn read(reader: &mut VariableReader<'_>, auth: &AuthSettings) -> Self {
        let caller_keys = reader.get(&CALLER_KEYS);
        let timeout = milliseconds(reader.get(&TIMEOUT));
        let providers = models::read(reader, caller_keys);
        let (aliases, rejected_aliases) = aliases::read(reader, &providers, timeout);
        let is_public = auth.anonymous.is_some();
        let has_key = providers.iter().find(|provider| provider.key.is_some());
        let development = reader.get(&DEVELOPMENT);
        if let Some(provider) = has_key
            && is_public
            && !development
        {
            let expected = format!(
                "must not contain none if {} is set: anybody could use that key",
                provider.key_variable()
            );
            reader.problem("AUTH", &expected);
        }
        let (names, mode) = (reader.text(TOOL_ALLOWLIST), reader.text(TOOL_ALLOWLIST_MODE));
        let names = names.map(|names| list(&names).map(str::to_owned).collect());
        let tools = NameAllowlist::new(names, mode.as_deref()).unwrap_or_else(|| {
            reader.problem(TOOL_ALLOWLIST_MODE, "must be enforce, warn or off");
            NameAllowlist { names: Vec::new(), others: Permission::Denied }
        });
        Self {
            local_only: is_public && has_key.is_some(),
            providers,
            aliases,
            rejected_aliases,
            caller_keys,
            timeout,
            deadline: milliseconds(reader.get(&DEADLINE)),
            max_subrequests: reader.get(&MAX_SUBREQUESTS),
            max_tool_description: reader.get(&MAX_TOOL_DESCRIPTION),
            tools,
        }
    }
}

#[cfg(test)]
mod tests;
