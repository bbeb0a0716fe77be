//! Reads every variable of the server once, into typed parts from which the other modules are
//! constructed.
//!
//! An invalid value does not stop the server from starting: it is listed in [`Settings::problems`],
//! which the server logs. `/health` then reports 503, and calls are rejected until it is fixed. A single entry that is
//! invalid has no effect, and is listed in [`Settings::rejected`].

mod allowlist;
mod api_keys;
mod auth;
mod budgets;
mod cors;
mod jwt;
mod key_limits;
mod keys;
mod limits;
mod log;
mod mcp_resource;
mod per_tool;
mod reader;
mod teams;
mod tools;

pub use allowlist::{Allowlist, Permission};
pub use api_keys::{ApiKeySettings, ApplicationUsers, ClientKeys};
pub use auth::AuthSettings;
pub use budgets::{add_budgets, nano_dollars, parse_budgets};
pub use cors::CorsSettings;
pub use jwt::{JwtSettings, TenantSettings};
pub use key_limits::{KeyLimits, MAX_TOOL_DESCRIPTION, parse_limits};
pub use keys::{GRANT_KEYS_DOC, GrantKeySettings, StateKeySettings};
pub(crate) use limits::DEFAULT_TOOL_TIMEOUT;
pub use limits::RequestLimits;
pub use log::{LogDetail, LogSettings, SampleRate};
pub use mcp_resource::McpResource;
pub use reader::{Row, VariableDoc, VariableReader, count, documented, list, truth};
pub use teams::TeamSettings;
pub use tools::{ToolVariables, Variable};

use std::mem;

use crate::address::{is_localhost, is_origin};
use crate::budget::{Account, Budget};
use crate::extensions::Extensions;
use crate::host;
use crate::principal::{KEY_SUBJECT, Principal, UserMismatch};
use allowlist::{TOOL_ALLOWLIST, TOOL_ALLOWLIST_MODE};

/// The configuration of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `PUBLIC_URL`: the origin where users reach the server, if it is set.
    pub public_url: Option<String>,
    /// `DEVELOPMENT`: whether `make dev` runs the server.
    pub development: bool,
    /// How large requests may be.
    pub limits: RequestLimits,
    /// What the log contains.
    pub log: LogSettings,
    /// Which web pages may call.
    pub cors: CorsSettings,
    /// Which tools may be called.
    pub allowlist: Allowlist,
    /// Who may call.
    pub auth: AuthSettings,
    /// `TEAMS`: what their members may do and use together.
    pub teams: Vec<TeamSettings>,
    /// The keys that seal what clients keep for the server, if they are set.
    pub state_keys: Option<StateKeySettings>,
    /// The OAuth resource that MCP clients get tokens for, if they can.
    pub mcp_resource: Option<McpResource>,
    /// `MCP_PER_TOOL_AUTHORIZATION`: whether MCP lists tools that need a sign-in to everyone, and asks for it when one is called.
    pub per_tool_authorization: bool,
    /// The issuer of the principals who have tokens of this server, if people sign in to it.
    pub own_issuer: Option<String>,
    /// The issuers whose users can sign in here with a browser, as in [`Principal::User`]: this server and others.
    pub sign_in_issuers: Vec<String>,
    /// The limits in the chat gateway of the people of each rule of sign-in.
    pub rule_limits: Vec<KeyLimits>,
    /// The schemes of native apps that people who sign in here may be redirected to; `None` if people cannot sign in.
    pub redirect_schemes: Option<Vec<String>>,
    /// The extensions of MCP that capabilities support, by their ids.
    pub mcp_extensions: Vec<&'static str>,
    /// The scopes that capabilities require, beside those of tools.
    pub scopes: Vec<&'static str>,
    /// The entries with budgets, such as `API_KEYS of "ada"`: without a ledger, none of them may call.
    pub budgeted: Vec<String>,
    /// The settings of capabilities.
    pub extensions: Extensions,
    /// The variables and secrets that tools declare. What is invalid there disables only the tools that read it.
    pub tools: ToolVariables,
    /// What else is invalid, for the operator; empty if the server can serve calls.
    pub problems: Vec<String>,
    /// The entries that are invalid and have no effect, for the operator. The server serves everything else.
    pub rejected: Vec<String>,
}

/// The settings of a capability.
#[derive(Debug)]
pub struct CapabilitySettings {
    /// Its variables, with a line for the operator.
    pub variables: &'static [&'static [VariableDoc]],
    /// The methods of `AUTH` that it provides.
    pub auth_methods: &'static [&'static str],
    /// Reads its variables. What is valid is added to [`Settings::extensions`]; problems go to the reader.
    pub read: fn(&mut Settings, &mut VariableReader<'_>),
}

/// The extension of MCP for clients that the identity provider of a company authorizes.
pub const ENTERPRISE_EXTENSION: &str = "io.modelcontextprotocol/enterprise-managed-authorization";
/// The extension of MCP for clients that act for themselves.
pub const MACHINES_EXTENSION: &str = "io.modelcontextprotocol/oauth-client-credentials";
/// The variable of the identity providers of companies.
pub const ENTERPRISE_ISSUERS: &str = "ENTERPRISE_ISSUERS";

/// A capability reads it. Without that one, users could not authorize tools, and the operator would not know why.
pub const OAUTH_PROVIDERS: &str = "OAUTH_PROVIDERS";

/// `PUBLIC_URL`.
pub static PUBLIC_URL: Row<Option<String>> = Row::new(
    "PUBLIC_URL",
    "the origin at which users reach the Worker, such as `https://tools.example.com`: `https`, or \
     `http` on this machine, without a path. Register `<PUBLIC_URL>/auth/callback/<id>` as the \
     redirect URI at each provider. `<PUBLIC_URL>/mcp` is the audience of tokens for MCP. \
     `/openapi.json` and the other documents name it; without it, they name the host of the \
     request | required with `OAUTH_PROVIDERS` and `sign-in` | no challenges, no sign-in, no OAuth \
     metadata for MCP clients",
    None,
    |text| {
        if text.is_empty() {
            return Ok(None);
        }
        is_origin(text).map(|()| Some(text.to_owned())).map_err(str::to_owned)
    },
);

/// The pages that browsers get. The Worker's JavaScript serves them; here its value is only checked.
static SITE: Row<()> = Row::new(
    "SITE",
    "the [pages](SITE.md) that browsers get: `off`, `landing` (all but `/playground`) or \
     `playground` (all) | `landing`. `wrangler.toml` sets `playground` | `landing`, with a warning \
     in the log",
    (),
    |text| match text {
        "" | "off" | "landing" | "playground" => Ok(()),
        _ => Err("must be off, landing or playground; until then, /playground is off".to_owned()),
    },
);
static DEVELOPMENT: Row<bool> = Row::new(
    "DEVELOPMENT",
    "`true`: callers without credentials may chat, if the request's host is this machine. `make \
     dev` sets it; do not set it in a deployment | `false` | the default applies",
    false,
    truth,
);

impl Settings {
    /// Reads the server's own variables, those of capabilities and those that tools declare. It does not fail: what is
    /// invalid is listed in `problems`, and has its default value.
    pub fn read<'v>(
        source: &dyn host::Variables,
        capabilities: &[&CapabilitySettings],
        declared: impl IntoIterator<Item = &'v Variable>,
    ) -> Self {
        let mut reader = VariableReader::new(source);
        let limits = RequestLimits::read(&mut reader);
        let log = LogSettings::read(&mut reader);
        let allowlist = Allowlist::read(&mut reader, TOOL_ALLOWLIST, TOOL_ALLOWLIST_MODE);
        let public_url = reader.get(&PUBLIC_URL);
        let cors = CorsSettings::read(&mut reader, public_url.as_deref());
        if let Err(expected) = reader.check(&SITE) {
            reader.reject(expected);
        }
        let audience = public_url.as_deref().map(McpResource::identifier_at);
        let mut auth = AuthSettings::read(&mut reader, audience.as_deref(), capabilities);
        let teams = teams::read(&mut reader, &mut auth);
        let mcp_resource = McpResource::new(public_url.as_deref(), &auth);
        let mut settings = Self {
            development: reader.get(&DEVELOPMENT),
            per_tool_authorization: per_tool::read(&mut reader, &auth, mcp_resource.as_ref()),
            mcp_resource,
            public_url,
            limits,
            log,
            cors,
            allowlist,
            state_keys: StateKeySettings::read(&mut reader),
            own_issuer: None,
            sign_in_issuers: Vec::new(),
            rule_limits: Vec::new(),
            redirect_schemes: None,
            mcp_extensions: Vec::new(),
            scopes: Vec::new(),
            budgeted: mem::take(&mut reader.budgeted),
            auth,
            teams,
            extensions: Extensions::default(),
            tools: ToolVariables::read(&reader, declared),
            problems: Vec::new(),
            rejected: Vec::new(),
        };
        for capability in capabilities {
            (capability.read)(&mut settings, &mut reader);
        }
        if reader.non_empty(OAUTH_PROVIDERS).is_some() && !read_providers(capabilities) {
            let expected = "needs a Worker that serves the capability `challenges` or `sign-in`";
            reader.problem(OAUTH_PROVIDERS, expected);
        }
        (settings.problems, settings.rejected) = reader.into_problems();
        settings
    }

    /// Whether users reach the server on their own machine only.
    pub fn is_local(&self) -> bool {
        let host = self.public_url.as_ref().and_then(|url| url.split_once("://"));
        host.is_some_and(|(_, host)| is_localhost(host))
    }

    /// The user on whose behalf a request is made, as [`Principal::user`]. Where tools ask for a sign-in, callers without
    /// credentials name nobody: whoever is to be somebody signs in.
    ///
    /// # Errors
    /// [`UserMismatch`].
    pub fn user_of<'p>(
        &self,
        principal: &'p Principal,
        named: Option<&'p str>,
    ) -> Result<Option<&'p str>, UserMismatch> {
        let names_nobody =
            self.per_tool_authorization && matches!(principal, Principal::Anonymous { .. });
        principal.user(named.filter(|_| !names_nobody))
    }

    /// The API key with which a caller calls, or has signed in.
    pub fn key_of(&self, principal: &Principal) -> Option<&ApiKeySettings> {
        let name = match principal {
            Principal::Key { name, .. } => name,
            Principal::User { issuer, subject: Some(subject), .. } => {
                let own = self.own_issuer.as_ref();
                subject.strip_prefix(KEY_SUBJECT).filter(|_| own == Some(issuer))?
            }
            _ => return None,
        };
        self.key_named(name)
    }

    /// The tenant with this name.
    pub fn tenant_named(&self, name: &str) -> Option<&TenantSettings> {
        let tenants = self.auth.jwt.iter().flat_map(|jwt| &jwt.tenants);
        tenants.into_iter().find(|tenant| tenant.name == name)
    }

    /// The tenant of a caller.
    fn tenant_of(&self, principal: &Principal) -> Option<&TenantSettings> {
        match principal {
            Principal::User { tenant: Some(tenant), .. } => self.tenant_named(tenant),
            _ => None,
        }
    }

    /// The team of a caller: that of its API key, or of the rule by which a person has signed in.
    pub fn team_of(&self, principal: &Principal) -> Option<&TeamSettings> {
        if self.teams.is_empty() {
            return None;
        }
        let team = match (principal, self.key_of(principal)) {
            (_, Some(key)) => key.team,
            (Principal::User { team, .. }, None) => *team,
            (Principal::Anonymous { .. } | Principal::Key { .. }, None) => None,
        };
        self.teams.get(team?)
    }

    /// The API key with this name.
    pub fn key_named(&self, name: &str) -> Option<&ApiKeySettings> {
        self.auth.api_keys.iter().flatten().find(|key| key.name == name)
    }

    /// The budgets of a caller itself, without those of its team.
    pub fn budgets_of<'s>(&'s self, principal: &'s Principal) -> &'s [Budget] {
        if let Some(tenant) = self.tenant_of(principal) {
            return &tenant.budgets;
        }
        match (principal, self.key_of(principal)) {
            (_, Some(key)) => &key.budgets,
            (Principal::User { budgets, .. }, None) => budgets,
            (Principal::Anonymous { .. } | Principal::Key { .. }, None) => &[],
        }
    }

    /// The account of a caller in the ledger: that of its API key, of its tenant, or of the person who has signed in.
    pub fn account_of(&self, principal: &Principal) -> Option<Account> {
        if let Some(tenant) = self.tenant_of(principal) {
            return Some(Account::Tenant(tenant.name.clone()));
        }
        match (principal, self.key_of(principal)) {
            (_, Some(key)) => Some(Account::Key(key.name.clone())),
            (Principal::User { issuer, subject: Some(subject), .. }, None) => {
                let is_own = self.own_issuer.as_ref() == Some(issuer);
                is_own.then(|| Account::Person(subject.clone()))
            }
            _ => None,
        }
    }

    /// The limits of a caller in the chat gateway: those of the API key, of the tenant, or of the rule by which a person has signed in.
    pub fn limits_of(&self, principal: &Principal) -> Option<&KeyLimits> {
        if let Some(tenant) = self.tenant_of(principal) {
            return Some(&tenant.limits);
        }
        match principal {
            Principal::User { rule: Some(rule), .. } => self.rule_limits.get(*rule),
            _ => self.key_of(principal).map(|key| &key.limits),
        }
    }

    /// The documentation of the server's own variables, without those of capabilities. Without the feature `testing` the
    /// texts are empty.
    pub fn variables() -> impl Iterator<Item = &'static VariableDoc> {
        static OWN: &[VariableDoc] = &[PUBLIC_URL.doc(), SITE.doc(), DEVELOPMENT.doc()];
        let parts = [
            limits::DOCS,
            log::DOCS,
            cors::DOCS,
            allowlist::DOCS,
            auth::DOCS,
            per_tool::DOCS,
            api_keys::DOCS,
            jwt::DOCS,
            teams::DOCS,
            OWN,
            keys::DOCS,
        ];
        parts.into_iter().flatten()
    }
}

/// Whether a capability reads `OAUTH_PROVIDERS`.
// Few Workers set it, and the first request waits for the code that it runs to be compiled.
#[inline(never)]
fn read_providers(capabilities: &[&CapabilitySettings]) -> bool {
    let mut variables = capabilities.iter().flat_map(|it| it.variables).copied().flatten();
    variables.any(|it| it.name == OAUTH_PROVIDERS)
}

#[cfg(test)]
mod tests;
