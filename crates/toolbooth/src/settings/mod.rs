//! Configuration: the variables that the server and its tools understand, checked once.
//!
//! A wrong value does not crash and is not guessed around: the server logs what is wrong, `/health`
//! says that it is not ready, and calls are refused until it is mended.

mod allowlist;

pub use allowlist::Permission;

use allowlist::Allowlist;

use crate::address::is_origin;
use crate::auth::Resource;
use crate::catalog::Tool;
use crate::challenge::{Challenges, RequestStateCodec};
use crate::host;
use crate::http::Origins;
use crate::principal::Principal;

/// A variable that a tool reads, with what it means when it is not set.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// The name, as in `wrangler.toml`.
    pub name: &'static str,
    /// The value when it is not set.
    pub default: &'static str,
    /// Says what is wrong with a value, if anything.
    pub check: fn(&str) -> Result<(), &'static str>,
}

/// The configuration of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Which pages may call from a browser: those of `ALLOWED_ORIGINS` and of `PUBLIC_URL`.
    /// Default: none.
    origins: Origins,
    /// Which pages may call where well-known web clients do: those of `origins` and of the clients.
    clients: Origins,
    /// The OAuth resource that clients may be told of, if tokens let callers in.
    pub resource: Option<Resource>,
    /// `MAX_BODY_BYTES`: the largest request body. Default: 262,144 (256 KiB).
    pub max_body_bytes: usize,
    /// `MAX_ARGUMENT_BYTES`: the longest JSON text of one tool call's arguments, where a model
    /// wrote it. Default: 65,536 (64 KiB).
    pub max_argument_bytes: usize,
    /// `MAX_TOOL_CALLS`: the most calls in one request. Default: 20.
    pub max_tool_calls: usize,
    /// `OAUTH_PROVIDERS` and what they need: how users authorize tools. Default: not at all.
    pub challenges: Option<Challenges>,
    /// `STATE_KEY`: seals what tools give along with their questions. Without, they have no state.
    pub(crate) pauses: Option<RequestStateCodec>,
    /// What is wrong, in words for the operator; empty when all is well.
    pub problems: Vec<String>,
    /// `TOOL_ALLOWLIST` and `TOOL_ALLOWLIST_MODE`.
    allowlist: Allowlist,
    /// The variables that tools declare.
    pub tools: ToolVariables,
}

const MAX_BODY_BYTES: usize = 256 * 1024;
/// Above this a body could exhaust the isolate's 128 MB.
const MAX_BODY_BYTES_CEILING: usize = 8 * 1024 * 1024;

impl Settings {
    /// Reads the server's own variables and those that tools declare.
    ///
    /// Never fails: what is wrong is listed in `problems`, and the default stands in its place.
    pub fn read(source: &dyn host::Variables, declared: &[Variable]) -> Self {
        let mut problems = Vec::new();
        let mut problem = |name: &str, wanted: &str| problems.push(format!("{name} {wanted}"));

        let origins = Origins::parse(&source.variable("ALLOWED_ORIGINS").unwrap_or_default())
            .unwrap_or_else(|wanted| {
                problem("ALLOWED_ORIGINS", wanted);
                Origins::Listed(Vec::new())
            });
        let mut number = |name: &'static str, default: usize, most: usize, unit: &str| {
            let Some(value) = source.variable(name) else { return default };
            match value.parse() {
                Ok(number) if (1..=most).contains(&number) => number,
                _ => {
                    problem(name, &format!("must be a whole number{unit} from 1 to {most}"));
                    default
                }
            }
        };
        let max_body_bytes =
            number("MAX_BODY_BYTES", MAX_BODY_BYTES, MAX_BODY_BYTES_CEILING, " of bytes");
        let max_argument_bytes = number("MAX_ARGUMENT_BYTES", 64 * 1024, 256 * 1024, " of bytes");
        let max_tool_calls = number("MAX_TOOL_CALLS", 20, 50, "");
        let listed = source.variable("TOOL_ALLOWLIST");
        let mode = source.variable("TOOL_ALLOWLIST_MODE");
        let allowlist =
            Allowlist::parse(listed.as_deref(), mode.as_deref()).unwrap_or_else(|wanted| {
                problem("TOOL_ALLOWLIST_MODE", wanted);
                Allowlist::closed()
            });
        let challenges = Challenges::read(source, &mut problem);
        // Where users are asked for authorization, that tells what is wrong with the key.
        let pauses = match &challenges {
            None if asks_users(source) => None,
            _ => RequestStateCodec::read(source, &mut problem),
        };
        let public_url = public_url(source, &mut problem);
        let origins = origins.with(public_url.as_deref());
        let clients = origins.with_clients();
        let resource = Resource::read(public_url, source);
        let mut tools = Vec::new();
        for variable in declared {
            let value =
                source.variable(variable.name).unwrap_or_else(|| variable.default.to_owned());
            if let Err(wanted) = (variable.check)(&value) {
                problem(variable.name, wanted);
            }
            tools.push((variable.name, value));
        }
        Self {
            origins,
            clients,
            resource,
            max_body_bytes,
            max_argument_bytes,
            max_tool_calls,
            challenges,
            pauses,
            problems,
            allowlist,
            tools: ToolVariables(tools),
        }
    }

    /// Which pages may call; `web_clients` adds those of well-known clients. All others are refused.
    pub fn origins_of(&self, web_clients: bool) -> &Origins {
        if web_clients { &self.clients } else { &self.origins }
    }

    /// Whether `caller` may run `tool`: lists show it, and calls of it are served.
    pub fn allows(&self, principal: &Principal, tool: &Tool) -> bool {
        self.permission(tool) != Permission::Denied && principal.scopes().cover(tool.scopes)
    }

    /// Whether the operator lets `tool` be called.
    pub fn permission(&self, tool: &Tool) -> Permission {
        self.allowlist.permission(tool)
    }
}

/// The values of the variables that tools declare.
#[derive(Debug, Clone, Default)]
pub struct ToolVariables(Vec<(&'static str, String)>);

impl ToolVariables {
    /// The value of the variable `name`; empty if no tool declares it.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }
}

/// Whether [`Challenges::read`] reads what it needs.
fn asks_users(source: &dyn host::Variables) -> bool {
    !source.variable("OAUTH_PROVIDERS").unwrap_or_default().is_empty()
}

/// `PUBLIC_URL`, where it is set and good. What is wrong with it is told here unless
/// [`Challenges::read`] does, which needs it.
fn public_url(source: &dyn host::Variables, problem: &mut dyn FnMut(&str, &str)) -> Option<String> {
    let url = source.variable("PUBLIC_URL").filter(|url| !url.is_empty())?;
    match is_origin(&url) {
        Ok(()) => Some(url),
        Err(wanted) => {
            if !asks_users(source) {
                problem("PUBLIC_URL", wanted);
            }
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Set(&'static [(&'static str, &'static str)]);

    impl host::Variables for Set {
        fn variable(&self, name: &str) -> Option<String> {
            self.0.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        }
    }

    const DECLARED: &[Variable] = &[Variable {
        name: "API_URL",
        default: "https://api.example",
        check: crate::address::base_address,
    }];

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
            let settings = Settings::read(&Set(variables), &[]);
            let got = [true, false].map(|clients| settings.origins_of(clients).allow(origin));
            assert_eq!(got, [clients, all], "{variables:?} {origin}");
        }
    }

    #[test]
    fn defaults() {
        let settings = Settings::read(&Set(&[]), DECLARED);
        assert!(settings.problems.is_empty());
        assert_eq!(settings.max_body_bytes, 262_144);
        assert_eq!(settings.origins, Origins::Listed(Vec::new()));
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
            ("API_URL", "http://127.0.0.1:9000/v1", false),
            ("API_URL", "http://127.0.0.1:9000/", true),
            ("API_URL", "ftp://a", true),
            ("API_URL", "https://", true),
            ("API_URL", "https://a?b", true),
        ] {
            let set: &'static [(&str, &str)] = Box::leak(Box::new([(name, value)]));
            let problems = Settings::read(&Set(set), DECLARED).problems;
            assert_eq!(!problems.is_empty(), wrong, "{name}={value}: {problems:?}");
            assert!(problems.iter().all(|problem| problem.starts_with(name)), "{problems:?}");
        }
    }
}
