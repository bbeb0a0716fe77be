//! The chat gateway: its model providers, aliases and limits.

mod aliases;
mod models;

pub(crate) use aliases::{ModelAlias, ModelTarget};
use models::doc;
pub(super) use models::{ModelProvider, preset};

use std::time::Duration;

use crate::gateway::relay::optional_members::RejectedMembers;
use toolbooth::principal::GATEWAY_SCOPE;
use toolbooth::settings::{
    self, Allowlist, CapabilitySettings, Row, Settings, TeamSettings, VariableDoc, VariableReader,
    count, documented, list, truth,
};

#[derive(Debug, Clone)]
pub(crate) struct GatewaySettings {
    /// The providers that can be reached: with a key of the server, or with one of the caller.
    pub providers: Vec<ModelProvider>,
    /// `MODELS`: names for one model or several.
    pub aliases: Vec<ModelAlias>,
    /// Whether callers may use no other models than these, unless their key names some: `MODELS` is set.
    pub is_limited_to_aliases: bool,
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
    /// `GATEWAY_MAX_BODY_BYTES`: the largest request.
    pub max_body_bytes: usize,
    /// `AGENT_MAX_TOOLS`: the most tools in a request of Messages or Responses.
    pub agent_max_tools: usize,
    /// `AGENT_MAX_TOOL_DESCRIPTION`: the longest description of a tool there, in characters.
    pub agent_max_tool_description: usize,
    /// `GATEWAY_TOOL_ALLOWLIST` and `GATEWAY_TOOL_ALLOWLIST_MODE`.
    pub tools: Allowlist,
    /// `GATEWAY_TOOLS`: the compiled-in tools that every chat gets: ids, names or `Toolkit.*`.
    pub added_tools: Vec<String>,
    /// Whether only requests to this machine are served: callers without credentials use the server's keys.
    pub local_only: bool,
}

const ADDED_TOOLS: &str = "GATEWAY_TOOLS";
const TOOL_ALLOWLIST: &str = "GATEWAY_TOOL_ALLOWLIST";
const TOOL_ALLOWLIST_MODE: &str = "GATEWAY_TOOL_ALLOWLIST_MODE";

static CALLER_KEYS: Row<bool> = Row {
    name: "GATEWAY_CALLER_KEYS",
    doc: documented(
        "`true`: callers may send their own key of a provider in `x-provider-key` | \
             `false` | the default applies",
    ),
    default: false,
    parse: truth,
};
static TIMEOUT: Row<usize> = Row {
    name: "GATEWAY_TIMEOUT_MS",
    doc: documented(
        "how many milliseconds a provider may be silent: until the answer, or until the \
             next part of a stream. 1 to 600000 | `60000` | the default applies",
    ),
    default: 60_000,
    parse: |text| count(text, 600_000, " of milliseconds"),
};
static DEADLINE: Row<usize> = Row {
    name: "GATEWAY_DEADLINE_MS",
    doc: documented(
        "how many milliseconds a request may take in all, 1 to 3600000 | `300000` | the \
             default applies",
    ),
    default: 300_000,
    parse: |text| count(text, 3_600_000, " of milliseconds"),
};
static MAX_SUBREQUESTS: Row<usize> = Row {
    name: "GATEWAY_MAX_SUBREQUESTS",
    doc: documented(
        "the number of requests to models and calls of this server's tools that one \
             request may cause, 1 to 1000. Workers allow 50 subrequests on the free plan; a \
             tool may need several | `40` | the default applies",
    ),
    default: 40,
    parse: |text| count(text, 1000, ""),
};
static MAX_TOOL_DESCRIPTION: Row<usize> = Row {
    name: "MAX_TOOL_DESCRIPTION",
    doc: documented(
        "the length of a tool's description, 1 to 4096 characters | `1024` | the default \
             applies",
    ),
    default: 1024,
    parse: |text| count(text, settings::MAX_TOOL_DESCRIPTION, " of characters"),
};
static MAX_BODY_BYTES: Row<usize> = Row {
    name: "GATEWAY_MAX_BODY_BYTES",
    doc: documented(
        "the size of a request to a model, 1 to 8388608 bytes. `MAX_BODY_BYTES` applies to all other requests | `8388608` | \
             the default applies",
    ),
    default: 8 << 20,
    parse: |text| count(text, 8 << 20, " of bytes"),
};
static AGENT_MAX_TOOLS: Row<usize> = Row {
    name: "AGENT_MAX_TOOLS",
    doc: documented(
        "the number of tools in a request to `/v1/messages` or `/v1/responses`, 1 to 4096 | `512` | the default applies",
    ),
    default: 512,
    parse: |text| count(text, 4096, ""),
};
static AGENT_MAX_TOOL_DESCRIPTION: Row<usize> = Row {
    name: "AGENT_MAX_TOOL_DESCRIPTION",
    doc: documented(
        "the length of a tool's description in such a request, 1 to 1048576 characters | `65536` | the default applies",
    ),
    default: 64 << 10,
    parse: |text| count(text, 1 << 20, " of characters"),
};

static DOCS: &[VariableDoc] = &[
    CALLER_KEYS.doc(),
    TIMEOUT.doc(),
    DEADLINE.doc(),
    MAX_SUBREQUESTS.doc(),
    MAX_TOOL_DESCRIPTION.doc(),
    MAX_BODY_BYTES.doc(),
    AGENT_MAX_TOOLS.doc(),
    AGENT_MAX_TOOL_DESCRIPTION.doc(),
    doc(
        ADDED_TOOLS,
        "compiled-in tools that every chat gets, for clients that cannot name them: ids, names or `Toolkit.*`, separated by commas. \
         `Toolkit.*` gives only tools that are `read_only`. Those that the caller may not call are left out | none |",
    ),
    doc(
        TOOL_ALLOWLIST,
        "the names that the tools of requests may have, separated by commas. A tool that the provider \
         runs, such as `web_search`, `mcp` or the member `web_search_options`, is sent only if its type \
         is in the list, whatever the mode | all names, and no tool that the provider runs |",
    ),
    doc(
        TOOL_ALLOWLIST_MODE,
        "for all other names: `enforce` rejects the request, `warn` logs it, `off` ignores the \
         list | `enforce` if `GATEWAY_TOOL_ALLOWLIST` is set, otherwise `off` | no tool is allowed",
    ),
];
pub(super) static SETTINGS: CapabilitySettings = CapabilitySettings {
    variables: &[models::DOCS, aliases::DOCS, DOCS],
    auth_methods: &[],
    read: |settings, reader| {
        let gateway = GatewaySettings::read(settings, reader);
        if !gateway.providers.is_empty() {
            settings.scopes.push(GATEWAY_SCOPE);
        }
        settings.extensions.insert(gateway);
        // Requests in the background share nothing else with all others.
        settings.extensions.insert(RejectedMembers::default());
    },
};

fn milliseconds(number: usize) -> Duration {
    Duration::from_millis(number as u64)
}

impl GatewaySettings {
    fn read(settings: &Settings, reader: &mut VariableReader<'_>) -> Self {
        let caller_keys = reader.get(&CALLER_KEYS);
        let timeout = milliseconds(reader.get(&TIMEOUT));
        let mut providers = models::read(reader, caller_keys, &settings.teams);
        if !settings.teams.is_empty() {
            reject_unknown_keys(&settings.teams, &providers, reader);
        }
        let is_public = settings.auth.anonymous.is_some();
        // Templates bind it, so a server for everyone has no problem with it, but no models of it either.
        let has_workers_ai = reader.has_binding(models::AI) && (!is_public || settings.development);
        providers.extend(has_workers_ai.then(ModelProvider::workers_ai));
        let is_limited_to_aliases =
            reader.non_empty(aliases::MODELS).is_some() && !settings.development;
        let (aliases, rejected_aliases) = aliases::read(reader, &providers, timeout);
        let has_key = providers.iter().find(|provider| provider.key.is_some());
        if let Some(provider) = has_key
            && is_public
            && !settings.development
        {
            let expected = format!(
                "must not contain none if {} is set: anybody could use that key",
                provider.key_variable()
            );
            reader.problem("AUTH", &expected);
        }
        let tools = Allowlist::read(reader, TOOL_ALLOWLIST, TOOL_ALLOWLIST_MODE);
        Self {
            local_only: is_public && (has_key.is_some() || has_workers_ai),
            providers,
            aliases,
            is_limited_to_aliases,
            rejected_aliases,
            caller_keys,
            timeout,
            deadline: milliseconds(reader.get(&DEADLINE)),
            max_subrequests: reader.get(&MAX_SUBREQUESTS),
            max_tool_description: reader.get(&MAX_TOOL_DESCRIPTION),
            max_body_bytes: reader.get(&MAX_BODY_BYTES),
            agent_max_tools: reader.get(&AGENT_MAX_TOOLS),
            agent_max_tool_description: reader.get(&AGENT_MAX_TOOL_DESCRIPTION),
            tools,
            added_tools: list(&reader.text(ADDED_TOOLS).unwrap_or_default())
                .map(str::to_owned)
                .collect(),
        }
    }

    /// What `MODELS` says about a model of a provider: the first entry that has its price, or names it.
    pub(super) fn target_of(&self, provider: &str, model: &str) -> Option<&ModelTarget> {
        let targets = self.aliases.iter().flat_map(|alias| &alias.targets);
        let mut same = targets.filter(|it| it.provider == provider && it.model == model);
        same.clone().find(|it| it.price.is_some()).or_else(|| same.next())
    }

    /// The compiled-in tools that the chats of an alias get: ids, names or `Toolkit.*`.
    pub(super) fn added_tools(&self, model: &str) -> &[String] {
        let alias = self.aliases.iter().find(|alias| alias.name == model);
        alias.map_or(&[], |alias| &alias.added_tools)
    }

    /// The provider of `provider/model`, and the model as it names it.
    pub(super) fn provider_of<'m>(&self, model: &'m str) -> Option<(&ModelProvider, &'m str)> {
        let (id, name) = model.split_once('/').filter(|(_, name)| !name.is_empty())?;
        // 2api.ai writes google, Google's own documentation gemini.
        let id = if id == "gemini" { "google" } else { id };
        Some((self.providers.iter().find(|provider| provider.id == id)?, name))
    }
}

/// Reports the keys of teams for providers that the server does not have.
// A function of its own, so that a Worker compiles it only if there are teams.
#[inline(never)]
fn reject_unknown_keys(
    teams: &[TeamSettings],
    providers: &[ModelProvider],
    reader: &mut VariableReader<'_>,
) {
    for (at, team) in teams.iter().enumerate() {
        let ids = team.provider_keys.iter().map(|(id, _)| id);
        for id in ids.filter(|id| providers.iter().all(|it| it.id != **id)) {
            let lacks = models::lacks(id);
            reader.reject(format!("TEAMS[{at}].provider_keys has a key of {id:?}, which {lacks}"));
        }
    }
}

#[cfg(test)]
mod tests;
