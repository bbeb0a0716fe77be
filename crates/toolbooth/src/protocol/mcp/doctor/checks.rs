//! The checks, each with what it means, how to fix it, which clients it concerns, and what they cannot do without it.

use std::borrow::Cow;

use super::{ALL, CHAT_GPT, CLAUDE, CLAUDE_CODE, CURSOR, Connector, INSPECTOR, VS_CODE};
use crate::address::is_localhost;
use crate::call::{Rejection, RequestContext, Sent};
use crate::catalog::Tool;
use crate::protocol::mcp::{MCP, error};
use crate::settings::{ENTERPRISE_EXTENSION, ENTERPRISE_ISSUERS, Permission, Settings};

pub(super) struct Check {
    pub(super) id: &'static str,
    /// What is the case if it passes, and why that matters.
    pub(super) passed: &'static str,
    /// What is the case if it fails, and why that matters.
    pub(super) failed: &'static str,
    pub(super) fix: &'static str,
    pub(super) connectors: &'static [Connector],
    pub(super) prevents: Prevents,
    pub(super) test: fn(&Facts<'_>) -> Verdict,
}

impl Check {
    /// Whether a client cannot work if the check fails.
    pub(super) fn is_required_by(&self, connector: Connector, facts: &Facts<'_>) -> bool {
        let sends_key = connector.sends_keys && facts.accepts_keys();
        self.connectors.contains(&connector)
            && match self.prevents {
                Prevents::Calls => true,
                Prevents::SignIn => !sends_key,
                Prevents::Nothing => false,
            }
    }
}

/// What is impossible if a check fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prevents {
    Calls,
    /// Clients that send an API key work without it.
    SignIn,
    /// The client works, but not in every version or not as well.
    Nothing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed,
    /// It depends on a different server, which is not asked, or on an invalid variable: what is not known.
    Unknown(&'static str),
    /// The server does not need it.
    NotNeeded,
}

impl From<bool> for Verdict {
    fn from(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

const CURSOR_UNKNOWN: &str = "It is not known whether people can sign in with older versions of Cursor, which open \
                              cursor://… after sign-in.";
/// They call from servers of their own, so they cannot reach this machine.
const HOSTED: &[Connector] = &[CLAUDE, CHAT_GPT];

/// All checks, the most fundamental first.
pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "configuration",
        passed: "No setting stops calls. /health lists settings that have no effect, for a key with the scope *.",
        failed: "A variable is missing or invalid, and the server rejects every call.",
        fix: "The log lists what is wrong. So does /health for a valid API key with the scope *.",
        connectors: &ALL,
        prevents: Prevents::Calls,
        test: |facts| facts.settings.problems.is_empty().into(),
    },
    Check {
        id: "tools",
        passed: "No tool lacks a variable, a binding, or the provider where users authorize it.",
        failed: "Some tools lack a variable or a binding, or the provider where users authorize them. Calls of these tools are \
                  rejected, unless the client sends the user's token.",
        fix: "The log names them and what they lack. So does /health for a valid API key with the scope *. \
              OAUTH_PROVIDERS lists the providers.",
        connectors: &ALL,
        prevents: Prevents::Nothing,
        test: |facts| {
            (!facts.context.pipeline.catalog.tools.iter().any(|it| facts.lacks(it))).into()
        },
    },
    Check {
        id: "public-url",
        passed: "PUBLIC_URL is set. Clients use it to find the sign-in of this server.",
        failed: "PUBLIC_URL is not set, or not valid. Without it, clients cannot find the sign-in of this server.",
        fix: "Set PUBLIC_URL to the address of the server, such as https://tools.example.com.",
        connectors: &ALL,
        prevents: Prevents::SignIn,
        test: |facts| facts.if_protected(|| Some(facts.settings.public_url.is_some())),
    },
    Check {
        id: "https",
        passed: "PUBLIC_URL is an https address. These clients call the server over the internet.",
        failed: "PUBLIC_URL is not an https address that the internet can reach. These clients call the server over \
                  the internet.",
        fix: "Deploy the Worker, and set PUBLIC_URL to its https address. An address of your own machine only works \
              for clients on it.",
        connectors: HOSTED,
        prevents: Prevents::Calls,
        test: |facts| match &facts.settings.public_url {
            None if facts.is_open() => Verdict::NotNeeded,
            None => Verdict::Failed,
            Some(url) => {
                url.strip_prefix("https://").is_some_and(|host| !is_localhost(host)).into()
            }
        },
    },
    Check {
        id: "address",
        passed: "You opened this report at PUBLIC_URL. Clients refuse to sign in at any other address.",
        failed: "You opened this report at an address other than PUBLIC_URL. Clients refuse to sign in there.",
        fix: "Use the address in PUBLIC_URL, or set PUBLIC_URL to the address that people use.",
        connectors: &ALL,
        prevents: Prevents::SignIn,
        test: |facts| {
            let url = facts.settings.public_url.as_deref().and_then(|url| url.split_once("://"));
            match (url, facts.context.headers.get("host")) {
                _ if !facts.issues_tokens() => Verdict::NotNeeded,
                (Some((_, expected)), Some(host)) => host.eq_ignore_ascii_case(expected).into(),
                (None, _) | (_, None) => Verdict::Unknown(
                    "This report does not know the address at which you opened it, or PUBLIC_URL.",
                ),
            }
        },
    },
    Check {
        id: "authorization",
        passed: "These clients can connect without an API key. Many accounts cannot make them send one.",
        failed: "People cannot sign in, and many accounts cannot make these clients send an API key.",
        fix: "Add sign-in to AUTH, or jwt with JWT_ISSUER. claude.ai sends an API key only from accounts with \
              access to its beta feature \"Request headers\".",
        connectors: HOSTED,
        prevents: Prevents::SignIn,
        test: |facts| (facts.is_open() || facts.has_issuer()).into(),
    },
    Check {
        id: "credentials",
        passed: "AUTH is set, so clients can call.",
        failed: "The server accepts no credentials, and no calls without them.",
        fix: "Set AUTH, for example to api-key.",
        connectors: &[CLAUDE_CODE, VS_CODE, CURSOR, INSPECTOR],
        prevents: Prevents::Calls,
        test: |facts| {
            let auth = &facts.settings.auth;
            let accepts = auth.sign_in || auth.jwt.is_some() || facts.accepts_keys();
            (facts.is_open() || accepts).into()
        },
    },
    Check {
        id: "resource",
        passed: "Clients ask for tokens for <PUBLIC_URL>/mcp, the address that people paste.",
        failed: "Clients cannot ask for tokens for <PUBLIC_URL>/mcp, the address that people paste.",
        fix: "Set PUBLIC_URL to an address without a path.",
        connectors: &ALL,
        prevents: Prevents::SignIn,
        test: |facts| {
            facts.if_protected(|| {
                let url = facts.settings.public_url.as_deref()?;
                let resource = facts.settings.mcp_resource.as_ref()?;
                Some(resource.identifier == format!("{url}/mcp"))
            })
        },
    },
    Check {
        id: "challenge-header",
        passed: "A request without credentials gets 401 and the address that describes how to sign in.",
        failed: "A request without credentials does not learn the address that describes how to sign in.",
        fix: "Set PUBLIC_URL, and add sign-in to AUTH, or jwt with JWT_ISSUER.",
        connectors: &ALL,
        prevents: Prevents::SignIn,
        test: |facts| {
            facts.if_protected(|| {
                let expected = &facts.settings.mcp_resource.as_ref()?.metadata_url;
                let expected = format!("resource_metadata=\"{expected}\"");
                Some(facts.challenge()?.contains(&expected))
            })
        },
    },
    Check {
        id: "allow",
        passed: "GET /mcp gets 405 with an Allow header that names POST. Without it, some clients wait forever.",
        failed: "GET /mcp does not get an Allow header that names POST. Without it, some clients wait forever.",
        fix: "Report a bug: this does not depend on the settings.",
        connectors: &ALL,
        prevents: Prevents::Calls,
        test: |_| {
            MCP.allow("", &|route| route.handler.is_listed())
                .split(", ")
                .any(|method| method == "POST")
                .into()
        },
    },
    Check {
        id: "client-documents",
        passed: "Clients can describe themselves in a document at an address of their own.",
        failed: "Clients cannot describe themselves in a document at an address of their own.",
        fix: "Look at the metadata of JWT_ISSUER. They need client_id_metadata_document_supported, and the \
              authentication method none.",
        connectors: &[CLAUDE, CHAT_GPT, CLAUDE_CODE, VS_CODE],
        prevents: Prevents::SignIn,
        test: |facts| {
            facts.of_own_server("The issuer decides whether clients can describe themselves in a document at an address of their own.")
        },
    },
    Check {
        id: "registration",
        passed: "Clients can register themselves, with a secret or without.",
        failed: "Clients cannot register themselves.",
        fix: "Look at the metadata of JWT_ISSUER. They need registration_endpoint, and the authentication methods \
              client_secret_post and none.",
        connectors: &[CLAUDE, CHAT_GPT, CURSOR, INSPECTOR],
        prevents: Prevents::SignIn,
        test: |facts| {
            facts.of_own_server("The issuer decides whether clients can register themselves.")
        },
    },
    Check {
        id: "refresh",
        passed: "Clients get refresh tokens, so people stay signed in when an access token expires.",
        failed: "A tool requires the scope offline_access, so clients cannot ask for refresh tokens with it, and \
                  people sign in again whenever an access token expires.",
        fix: "Look at the metadata of JWT_ISSUER: its scopes need offline_access. No tool may require that scope.",
        connectors: &[CLAUDE, CHAT_GPT, CLAUDE_CODE],
        prevents: Prevents::Nothing,
        test: |facts| {
            if facts.context.pipeline.catalog.scopes().contains(&"offline_access") {
                return Verdict::Failed;
            }
            facts.of_own_server("The issuer decides whether clients get refresh tokens. Without them, people sign in again whenever an access token expires.")
        },
    },
    Check {
        id: "redirect-scheme",
        passed: "People can also sign in with older versions of Cursor, which open cursor://… after sign-in. Newer \
                  versions open an address of the computer.",
        failed: "People cannot sign in with older versions of Cursor, which open cursor://… after sign-in. Newer \
                  versions open an address of the computer, and work.",
        fix: "Set SIGN_IN_REDIRECT_SCHEMES to cursor. With an issuer of your own, allow \
              cursor://anysphere.cursor-mcp/oauth/callback there.",
        connectors: &[CURSOR],
        prevents: Prevents::Nothing,
        test: |facts| facts.redirects_to_cursor(),
    },
    Check {
        id: "company",
        passed: "The identity providers in ENTERPRISE_ISSUERS can authorize their clients, so that people of the company \
                  see no consent page.",
        failed: "A part of ENTERPRISE_ISSUERS is not valid, so some people of the company cannot call without a consent page.",
        fix: "The log says which part, and so does /health for a valid API key with the scope *. Clients need a secret in \
              SIGN_IN_CLIENTS, or a document with keys.",
        connectors: &[CLAUDE, CLAUDE_CODE, VS_CODE],
        prevents: Prevents::Nothing,
        test: |facts| {
            let Settings { mcp_extensions, problems, rejected, .. } = facts.settings;
            let mut wrong = problems.iter().chain(rejected);
            match mcp_extensions.contains(&ENTERPRISE_EXTENSION) {
                _ if wrong.any(|it| it.starts_with(ENTERPRISE_ISSUERS)) => Verdict::Failed,
                true => Verdict::Passed,
                false => Verdict::NotNeeded,
            }
        },
    },
    Check {
        id: "per-tool-authorization",
        passed: "Callers without credentials see the tools that need a sign-in, and calling one asks for it in the form that each \
                 client understands.",
        failed: "Callers without credentials do not see the tools that need a sign-in, so nothing asks them to sign in.",
        fix: "Set MCP_PER_TOOL_AUTHORIZATION to true, or take none out of AUTH.",
        connectors: &ALL,
        prevents: Prevents::Nothing,
        test: |facts| {
            let needs_scopes = !facts.context.pipeline.catalog.scopes().is_empty();
            match facts.is_open() && facts.has_issuer() && needs_scopes {
                true => facts.settings.per_tool_authorization.into(),
                false => Verdict::NotNeeded,
            }
        },
    },
    Check {
        id: "web-page",
        passed: "The page of the MCP Inspector, at http://localhost:6274, may call this server.",
        failed: "The page of the MCP Inspector, at http://localhost:6274, may not call this server.",
        fix: "Add http://localhost:6274 to ALLOWED_ORIGINS.",
        connectors: &[INSPECTOR],
        prevents: Prevents::Calls,
        test: |facts| facts.settings.cors.origins(true).allow("http://localhost:6274").into(),
    },
    Check {
        id: "tasks",
        passed: "TASKS is bound, and STATE_KEY is set: long calls run as tasks.",
        failed: "TASKS is not bound, or STATE_KEY is not set. Long calls run within the request, as long as their client \
                 waits, and those that cannot are rejected.",
        fix: "Bind the Durable Object TASKS and set STATE_KEY, as docs/STORAGE.md#tasks says.",
        connectors: &ALL,
        prevents: Prevents::Nothing,
        test: |facts| match facts.context.pipeline.catalog.has_tasks() {
            true => facts.context.keeps_tasks().into(),
            false => Verdict::NotNeeded,
        },
    },
];

/// What the checks look at.
pub(super) struct Facts<'a> {
    pub(super) context: &'a RequestContext<'a>,
    pub(super) settings: &'a Settings,
}

impl Facts<'_> {
    /// `WWW-Authenticate` of a 401 at `/mcp`.
    fn challenge(&self) -> Option<Cow<'static, str>> {
        let rejection = Rejection::Unauthenticated { reason: "", sent: Sent::Nothing };
        let response = error::encode_rejection(&rejection, None, self.context.pipeline);
        let mut headers = response.headers.into_iter();
        headers.find_map(|(name, value)| (name == "www-authenticate").then_some(value))
    }

    /// Whether calls of a tool that is served need more than the server has.
    fn lacks(&self, tool: &'static Tool) -> bool {
        let RequestContext { pipeline, host, .. } = self.context;
        let grants = pipeline.grants.as_ref();
        let mut required = tool.authorization.iter();
        self.settings.permission(tool) != Permission::Denied
            && (self.settings.tools.disable(tool, *host)
                || !required.all(|it| grants.is_some_and(|grants| grants.has_provider(it.id))))
    }

    /// What people paste into the client.
    pub(super) fn url(&self) -> Option<&str> {
        self.settings.mcp_resource.as_ref().map(|resource| &*resource.identifier)
    }

    /// Whether callers need no credentials.
    fn is_open(&self) -> bool {
        self.settings.auth.anonymous.is_some()
    }

    fn has_issuer(&self) -> bool {
        self.settings.mcp_resource.is_some()
    }

    /// Whether clients can use an API key.
    pub(super) fn accepts_keys(&self) -> bool {
        self.settings.auth.api_keys.is_some()
    }

    /// Whether people get tokens, here or from an issuer.
    fn issues_tokens(&self) -> bool {
        let auth = &self.settings.auth;
        auth.sign_in || auth.jwt.as_ref().is_some_and(|jwt| jwt.issuer.is_some())
    }

    /// Whether a client gets in with an API key and not otherwise, as far as can be known here.
    pub(super) fn only_by_key(&self) -> bool {
        self.accepts_keys() && !self.is_open() && !self.issues_tokens()
    }

    /// A check of the metadata, which servers without an authorization server lack. It fails if the test finds nothing.
    fn if_protected(&self, test: impl FnOnce() -> Option<bool>) -> Verdict {
        if self.issues_tokens() { test().unwrap_or(false).into() } else { Verdict::NotNeeded }
    }

    /// A check of what only the authorization server can do: this server does it. Of another one nothing is known.
    fn of_own_server(&self, unknown: &'static str) -> Verdict {
        match (self.settings.auth.sign_in, self.has_issuer()) {
            (true, _) => Verdict::Passed,
            (false, true) => Verdict::Unknown(unknown),
            (false, false) => Verdict::NotNeeded,
        }
    }

    fn redirects_to_cursor(&self) -> Verdict {
        match &self.settings.redirect_schemes {
            Some(schemes) => schemes.iter().any(|it| it == "cursor").into(),
            None if self.settings.auth.sign_in => Verdict::Unknown(CURSOR_UNKNOWN),
            None => self.of_own_server(CURSOR_UNKNOWN),
        }
    }
}
