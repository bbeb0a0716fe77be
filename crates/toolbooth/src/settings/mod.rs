//! Reads every variable of the server once, into typed parts from which the other modules are
//! constructed.
//!
//! An invalid value does not stop the server from starting: it is listed in [`Settings::problems`],
//! which the server logs. `/health` then reports 503, and calls are rejected until it is fixed. A single entry that is
//! invalid has no effect, and is listed in [`Settings::rejected`].

mod allowlist;
mod api_keys;
mod auth;
#[cfg(feature = "challenges")]
mod consent;
mod cors;
#[cfg(feature = "gateway")]
mod gateway;
mod jwt;
mod keys;
mod limits;
mod log;
mod mcp_resource;
#[cfg(feature = "challenges")]
mod provider;
mod reader;
#[cfg(feature = "sign-in")]
mod sign_in;
mod tools;

pub use allowlist::{Allowlist, Permission};
pub use api_keys::{ApiKeySettings, ApplicationUsers};
pub use auth::AuthSettings;
#[cfg(feature = "challenges")]
pub use consent::ConsentSettings;
pub use cors::CorsSettings;
#[cfg(feature = "gateway")]
pub use gateway::{
    Balance, GatewaySettings, KeyLimits, ModelAlias, ModelFormat, ModelProvider, ModelTarget,
    NameAllowlist,
};
pub use jwt::JwtSettings;
pub use keys::{GrantKeySettings, StateKeySettings};
pub use limits::RequestLimits;
pub use log::{LogDetail, LogSettings, SampleRate};
pub use mcp_resource::McpResource;
#[cfg(feature = "challenges")]
pub(crate) use provider::split_scopes;
#[cfg(feature = "challenges")]
pub use provider::{ClientAuth, EndpointSettings, ProviderSettings, RevocationEndpoint};
pub use reader::VariableDoc;
#[cfg(feature = "sign-in")]
pub use sign_in::{AccessSettings, ClientSettings, IdentityRule, People, SignInSettings};
pub use tools::{ToolVariables, Variable};

use reader::{Row, VariableReader, documented};

use crate::address::is_origin;
use crate::host;
#[cfg(feature = "sign-in")]
use crate::principal::KEY_SUBJECT;
use crate::principal::Principal;

/// The configuration of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `PUBLIC_URL`: the origin where users reach the server, if it is set.
    pub public_url: Option<String>,
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
    /// `OAUTH_PROVIDERS`: the ids of the providers where users can authorize tools or sign in.
    #[cfg(feature = "challenges")]
    pub provider_ids: Vec<String>,
    /// How users authorize tools, if they can.
    #[cfg(feature = "challenges")]
    pub consent: Option<ConsentSettings>,
    /// How people sign in, if they can.
    #[cfg(feature = "sign-in")]
    pub sign_in: Option<SignInSettings>,
    /// The chat gateway.
    #[cfg(feature = "gateway")]
    pub gateway: GatewaySettings,
    /// The keys that seal what clients keep for the server, if they are set.
    pub state_keys: Option<StateKeySettings>,
    /// The OAuth resource that MCP clients get tokens for, if they can.
    pub mcp_resource: Option<McpResource>,
    /// The variables and secrets that tools declare. What is invalid there disables only the tools that read it.
    pub tools: ToolVariables,
    /// What else is invalid, for the operator; empty if the server can serve calls.
    pub problems: Vec<String>,
    /// The entries that are invalid and have no effect, for the operator. The server serves everything else.
    pub rejected: Vec<String>,
}

static PUBLIC_URL: Row<Option<String>> = Row {
    name: "PUBLIC_URL",
    doc: documented(
        "The origin where users reach the server. Required with OAUTH_PROVIDERS and sign-in; <PUBLIC_URL>/mcp is \
          the audience of tokens for MCP.",
    ),
    default: None,
    parse: |text| {
        if text.is_empty() {
            return Ok(None);
        }
        is_origin(text).map(|()| Some(text.to_owned())).map_err(str::to_owned)
    },
};

impl Settings {
    /// Reads the server's own variables and those that tools declare. It does not fail: what is
    /// invalid is listed in `problems`, and has its default value.
    pub fn read<'v>(
        source: &dyn host::Variables,
        declared: impl IntoIterator<Item = &'v Variable>,
    ) -> Self {
        let mut reader = VariableReader::new(source);
        let limits = RequestLimits::read(&mut reader);
        let log = LogSettings::read(&mut reader);
        let allowlist = Allowlist::read(&mut reader);
        let public_url = reader.get(&PUBLIC_URL);
        let cors = CorsSettings::read(&mut reader, public_url.as_deref());

        #[cfg(feature = "challenges")]
        let provider_ids = consent::provider_ids(&mut reader, public_url.as_deref());
        #[cfg(feature = "challenges")]
        let uses_sign_in = auth::uses_sign_in(&reader);
        #[cfg(feature = "challenges")]
        let needs_state_key = !provider_ids.is_empty() || uses_sign_in;
        #[cfg(not(feature = "challenges"))]
        let needs_state_key = false;
        #[cfg(not(feature = "challenges"))]
        if reader.non_empty("OAUTH_PROVIDERS").is_some() {
            reader.problem("OAUTH_PROVIDERS", "needs a Worker with the feature `challenges`");
        }
        let state_keys = StateKeySettings::read(&mut reader, needs_state_key);
        #[cfg(feature = "challenges")]
        let (consent, providers) = {
            let uses_consent = !provider_ids.is_empty();
            let read = |id: &String| ProviderSettings::read(id, &mut reader);
            let providers: Vec<_> = provider_ids.iter().filter_map(read).collect();
            let consent = match uses_consent {
                false => None,
                true => ConsentSettings::read(
                    &mut reader,
                    &providers,
                    public_url.clone(),
                    state_keys.clone(),
                    uses_sign_in,
                ),
            };
            (consent, providers)
        };

        let audience = public_url.as_deref().map(McpResource::identifier_at);
        let auth = AuthSettings::read(&mut reader, audience.as_deref());
        #[cfg(feature = "challenges")]
        consent::check_callers(consent.as_ref(), &auth, &mut reader);
        #[cfg(feature = "sign-in")]
        let sign_in = match auth.sign_in {
            false => None,
            true => SignInSettings::read(
                &mut reader,
                (public_url.clone(), state_keys.clone()),
                &providers,
                auth.api_keys.as_deref().unwrap_or_default(),
            ),
        };
        #[cfg(all(feature = "challenges", not(feature = "sign-in")))]
        drop(providers);
        #[cfg(feature = "gateway")]
        let gateway = GatewaySettings::read(&mut reader, &auth);
        let mcp_resource = McpResource::new(public_url.as_deref(), &auth);
        let tools = ToolVariables::read(&reader, declared);
        let (problems, rejected) = reader.into_problems();
        Self {
            public_url,
            limits,
            log,
            cors,
            allowlist,
            auth,
            #[cfg(feature = "challenges")]
            provider_ids,
            #[cfg(feature = "challenges")]
            consent,
            #[cfg(feature = "sign-in")]
            sign_in,
            #[cfg(feature = "gateway")]
            gateway,
            state_keys,
            mcp_resource,
            tools,
            problems,
            rejected,
        }
    }

    /// The API key with which a caller calls, or has signed in.
    pub(crate) fn key_of(&self, principal: &Principal) -> Option<&ApiKeySettings> {
        let name = match principal {
            Principal::Key { name, .. } => name,
            #[cfg(feature = "sign-in")]
            Principal::User { issuer, subject: Some(subject), .. } => {
                let own = self.sign_in.as_ref().map(|sign_in| &sign_in.issuer);
                subject.strip_prefix(KEY_SUBJECT).filter(|_| own == Some(issuer))?
            }
            _ => return None,
        };
        self.auth.api_keys.iter().flatten().find(|key| key.name == *name)
    }

    /// The documentation of the server's own variables; without the feature `testing` the texts are empty. `<ID>` stands for the id of a provider, in
    /// upper case and with `_` for `-`.
    pub fn variables() -> impl Iterator<Item = &'static VariableDoc> {
        static OWN: &[VariableDoc] = &[PUBLIC_URL.doc()];
        let parts = [
            limits::DOCS,
            log::DOCS,
            cors::DOCS,
            allowlist::DOCS,
            auth::DOCS,
            api_keys::DOCS,
            jwt::DOCS,
            OWN,
            #[cfg(feature = "challenges")]
            consent::DOCS,
            #[cfg(feature = "challenges")]
            provider::DOCS,
            #[cfg(feature = "sign-in")]
            sign_in::DOCS,
            #[cfg(feature = "gateway")]
            gateway::MODEL_DOCS,
            #[cfg(feature = "gateway")]
            gateway::ALIAS_DOCS,
            #[cfg(feature = "gateway")]
            gateway::DOCS,
            keys::DOCS,
        ];
        parts.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository;
    use crate::testing::FakeHost;

    const DECLARED: &[Variable] =
        &[Variable::new("API_URL", "https://api.example", crate::address::base_address)];

    #[test]
    fn origins_of_known_clients() {
        const OWN: &[(&str, &str)] = &[("PUBLIC_URL", "https://own.example")];
        const LISTED: &[(&str, &str)] = &[("ALLOWED_ORIGINS", "https://a.example")];
        const ANY: &[(&str, &str)] = &[("ALLOWED_ORIGINS", "*")];
        const HERE: &[(&str, &str)] = &[("ALLOWED_ORIGINS", "http://localhost:*, http://[::1]:*")];
        for (variables, origin, clients, all) in [
            (&[][..], "https://claude.ai", true, false),
            (&[], "https://claude.ai:8443", false, false),
            (&[], "http://claude.ai", false, false),
            (&[], "http://localhost", true, false),
            (&[], "https://localhost:3000", true, false),
            (&[], "http://127.0.0.1:1", true, false),
            (&[], "http://[::1]:8787", true, false),
            (&[], "http://localhost:", false, false),
            (&[], "http://localhost:x", false, false),
            (&[], "http://localhost.a.example", false, false),
            (&[], "http://localhost1", false, false),
            (&[], "ftp://localhost", false, false),
            (&[], "null", false, false),
            (&[], "", false, false),
            (&[], "https://own.example", false, false),
            (OWN, "https://own.example", true, true),
            (OWN, "https://own.example:8443", false, false),
            (OWN, "http://own.example", false, false),
            (&[], "https://a.example", false, false),
            (LISTED, "https://a.example", true, true),
            (LISTED, "https://claude.ai", true, false),
            (ANY, "https://evil.example", true, true),
            (HERE, "http://localhost", true, true),
            (HERE, "http://localhost:3000", true, true),
            (HERE, "http://[::1]:3000", true, true),
            (HERE, "https://localhost:3000", true, false),
            (HERE, "http://127.0.0.1:3000", true, false),
            (HERE, "http://localhost:*", false, false),
            (HERE, "http://localhost:", false, false),
            (HERE, "http://localhost:x", false, false),
            (HERE, "http://localhost:3000/", false, false),
            (HERE, "http://localhost:80@evil.example", false, false),
            (HERE, "http://localhost.evil.example", false, false),
            (HERE, "http://localhostevil.example:80", false, false),
            (HERE, "http://evil.example:3000", false, false),
            (HERE, "https://evil.example", false, false),
            (HERE, "null", false, false),
        ] {
            let settings = Settings::read(&FakeHost::with(variables), &[]);
            let got = [true, false].map(|clients| settings.cors.origins(clients).allow(origin));
            assert_eq!(got, [clients, all], "{variables:?} {origin}");
        }
    }

    #[test]
    fn every_variable_is_described_once_here_and_in_the_documentation() {
        let Some(documentation) = repository::text("docs/CONFIGURATION.md") else { return };
        let mut seen = Vec::new();
        for VariableDoc { name, doc } in Settings::variables() {
            assert!(!seen.contains(name), "{name}");
            assert!(doc.ends_with('.'), "{name}: {doc}");
            assert!(documentation.contains(&format!("| `{name}`")), "{name}");
            seen.push(name);
        }
    }

    #[test]
    fn defaults() {
        let settings = Settings::read(&FakeHost::default(), DECLARED);
        assert!(settings.problems.is_empty());
        let limits = RequestLimits {
            max_body_bytes: 262_144,
            max_argument_bytes: 65_536,
            max_tool_calls: 20,
        };
        assert_eq!(settings.limits, limits);
        let log = LogSettings { detail: LogDetail::Calls, sample: SampleRate::ALL };
        assert_eq!(settings.log, log);
        assert!(settings.cors.origins(false).none());
        assert_eq!(settings.tools.get("API_URL"), "https://api.example");
        assert_eq!(settings.tools.get("HOME"), "");
    }

    #[test]
    fn each_wrong_value_is_named() {
        for (name, value, wrong) in [
            ("MAX_BODY_BYTES", "1000", false),
            ("MAX_BODY_BYTES", "0", true),
            ("MAX_BODY_BYTES", "-1", true),
            ("MAX_BODY_BYTES", "256k", true),
            ("MAX_BODY_BYTES", "", true),
            ("MAX_BODY_BYTES", "99999999999999999999", true),
            ("MAX_ARGUMENT_BYTES", "262144", false),
            ("MAX_ARGUMENT_BYTES", "262145", true),
            ("MAX_TOOL_CALLS", "50", false),
            ("MAX_TOOL_CALLS", "51", true),
            ("MAX_TOOL_CALLS", "0", true),
            ("LOG", "off", false),
            ("LOG", "errors", false),
            ("LOG", "calls", false),
            ("LOG", "Calls", true),
            ("LOG", "", true),
            ("LOG_SAMPLE", "0", false),
            ("LOG_SAMPLE", "0.1", false),
            ("LOG_SAMPLE", "1.0", false),
            ("LOG_SAMPLE", "1.1", true),
            ("LOG_SAMPLE", "-0.1", true),
            ("LOG_SAMPLE", "10%", true),
            ("LOG_SAMPLE", "\"1\"", true),
            ("LOG_SAMPLE", "", true),
            ("TOOL_ALLOWLIST", "Echo.Say", false),
            ("TOOL_ALLOWLIST", "", false),
            ("TOOL_ALLOWLIST_MODE", "warn", false),
            ("TOOL_ALLOWLIST_MODE", "Enforce", true),
            ("TOOL_ALLOWLIST_MODE", "", true),
            ("ALLOWED_ORIGINS", "*", false),
            ("ALLOWED_ORIGINS", "", false),
            ("ALLOWED_ORIGINS", "https://a.example, http://localhost:3000", false),
            ("ALLOWED_ORIGINS", "a.example", true),
            ("ALLOWED_ORIGINS", "https://a.example/", true),
            ("ALLOWED_ORIGINS", "https://*.example", true),
            ("ALLOWED_ORIGINS", "http://localhost:*, https://127.0.0.1:*", false),
            ("ALLOWED_ORIGINS", "http://a.example:*", true),
            ("ALLOWED_ORIGINS", "http://localhost:80:*", true),
            ("ALLOWED_ORIGINS", "http://localhost:**", true),
            ("ALLOWED_ORIGINS", "localhost:*", true),
            ("ALLOWED_ORIGINS", "http://:*", true),
            ("PUBLIC_URL", "https://a.example", false),
            ("PUBLIC_URL", "", false),
            ("PUBLIC_URL", "a.example", true),
            ("PUBLIC_URL", "https://a.example/", true),
        ] {
            let problems = Settings::read(&FakeHost::with(&[(name, value)]), &[]).problems;
            assert_eq!(!problems.is_empty(), wrong, "{name}={value}: {problems:?}");
            assert!(problems.iter().all(|problem| problem.starts_with(name)), "{problems:?}");
        }
    }
}
