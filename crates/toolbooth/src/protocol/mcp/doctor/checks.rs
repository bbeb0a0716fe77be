//! The checks, each with what it means, how to fix it, and which clients it concerns.

use super::Connector::{self, ChatGpt, Claude, ClaudeCode, Cursor, Inspector, VsCode};
use crate::address::is_localhost;
use crate::call::{Rejection, RequestContext};
use crate::http::Method;
use crate::protocol::mcp::{MCP, error};
use crate::settings::Settings;

/// A check.
pub(super) struct Check {
    pub(super) id: &'static str,
    pub(super) meaning: &'static str,
    pub(super) fix: &'static str,
    pub(super) connectors: &'static [Connector],
    pub(super) test: fn(&Facts<'_>) -> Verdict,
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed,
    /// It depends on another server, which is not asked, or on a variable that is not valid.
    Unknown,
    /// The server does without what is checked: what the check means would be false.
    NotNeeded,
}

impl From<bool> for Verdict {
    fn from(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }
}

const ALL: &[Connector] = &Connector::ALL;
/// They call from servers of their own, so they cannot reach this machine.
const HOSTED: &[Connector] = &[Claude, ChatGpt];

/// All checks, the most fundamental first.
pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "configuration",
        meaning: "Every variable is valid. Otherwise all calls are rejected.",
        fix: "GET /health with credentials lists the problems; the log has them too.",
        connectors: ALL,
        test: |facts| facts.settings.problems.is_empty().into(),
    },
    Check {
        id: "public-url",
        meaning: "The server knows its own address, which tokens and metadata contain.",
        fix: "Set PUBLIC_URL to the origin where users reach the server.",
        connectors: ALL,
        test: |facts| match &facts.settings.public_url {
            Some(_) => Verdict::Passed,
            None => facts.without_public_url(),
        },
    },
    Check {
        id: "https",
        meaning: "Clients that run elsewhere can reach the server, over TLS.",
        fix: "Deploy the Worker and set PUBLIC_URL to its https address. An address of this machine only works for \
              clients on it.",
        connectors: HOSTED,
        test: |facts| {
            let Some(url) = &facts.settings.public_url else { return facts.without_public_url() };
            url.strip_prefix("https://").is_some_and(|host| !is_localhost(host)).into()
        },
    },
    Check {
        id: "address",
        meaning: "You have opened the server at PUBLIC_URL. Clients reject metadata of another address.",
        fix: "Use the address in PUBLIC_URL, or set PUBLIC_URL to the one that people use.",
        connectors: ALL,
        test: |facts| {
            let url = facts.settings.public_url.as_deref().and_then(|url| url.split_once("://"));
            match (url, &facts.host) {
                (Some((_, expected)), Some(host)) => host.eq_ignore_ascii_case(expected).into(),
                (None, _) if facts.is_open() => Verdict::NotNeeded,
                (None, _) | (_, None) => Verdict::Unknown,
            }
        },
    },
    Check {
        id: "authorization",
        meaning: "People can sign in: an authorization server is named, or callers need no credentials. Only some \
                  clients can send an API key.",
        fix: "Set AUTH to sign-in, or to jwt with JWT_ISSUER.",
        connectors: HOSTED,
        test: |facts| (facts.is_open() || facts.has_issuer()).into(),
    },
    Check {
        id: "credentials",
        meaning: "Some callers are accepted.",
        fix: "Set AUTH.",
        connectors: &[ClaudeCode, VsCode, Cursor, Inspector],
        test: |facts| {
            let auth = &facts.settings.auth;
            let accepts = auth.sign_in || auth.jwt.is_some() || auth.api_keys.is_some();
            (facts.is_open() || accepts).into()
        },
    },
    Check {
        id: "resource",
        meaning: "The metadata name <PUBLIC_URL>/mcp as the resource, which is what people paste into the client.",
        fix: "Set PUBLIC_URL, without a path.",
        connectors: ALL,
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
        meaning: "A request without credentials gets 401 with a WWW-Authenticate header that leads to the metadata.",
        fix: "Set PUBLIC_URL, and AUTH to sign-in or to jwt with JWT_ISSUER.",
        connectors: ALL,
        test: |facts| {
            facts.if_protected(|| {
                let expected = &facts.settings.mcp_resource.as_ref()?.metadata_url;
                Some(
                    facts
                        .challenge
                        .as_ref()?
                        .contains(&format!("resource_metadata=\"{expected}\"")),
                )
            })
        },
    },
    Check {
        id: "allow",
        meaning: "GET /mcp gets 405 with an Allow header that names POST. Without it, some clients wait forever.",
        fix: "Report a bug: this does not depend on the settings.",
        connectors: ALL,
        test: |facts| facts.allow.split(", ").any(|method| method == "POST").into(),
    },
    Check {
        id: "client-documents",
        meaning: "The authorization server accepts client ID metadata documents: it announces \
                  client_id_metadata_document_supported and the method none.",
        fix: "Set AUTH to sign-in, or look at the metadata of JWT_ISSUER.",
        connectors: &[Claude, ChatGpt, ClaudeCode, VsCode],
        test: |facts| facts.of_own_server(),
    },
    Check {
        id: "registration",
        meaning: "The authorization server lets clients register themselves, with client_secret_post and with none.",
        fix: "Set AUTH to sign-in, or look at the metadata of JWT_ISSUER.",
        connectors: &[Claude, ChatGpt, Cursor, Inspector],
        test: |facts| facts.of_own_server(),
    },
    Check {
        id: "refresh",
        meaning: "The authorization server has the scope offline_access, and the resource does not: so clients ask \
                  for refresh tokens, and people need not sign in again every hour.",
        fix: "Set AUTH to sign-in, or look at the metadata of JWT_ISSUER.",
        connectors: &[Claude, ChatGpt, ClaudeCode],
        test: |facts| {
            if facts.scopes.contains(&"offline_access") {
                return Verdict::Failed;
            }
            facts.of_own_server()
        },
    },
    Check {
        id: "redirect-scheme",
        meaning: "The authorization server redirects to the application itself, at cursor://…",
        fix: "Add cursor to SIGN_IN_REDIRECT_SCHEMES.",
        connectors: &[Cursor],
        test: |facts| facts.redirects_to_cursor(),
    },
    Check {
        id: "web-page",
        meaning: "The Inspector's page, at http://localhost:6274, may call from the browser.",
        fix: "Add http://localhost:6274 to ALLOWED_ORIGINS.",
        connectors: &[Inspector],
        test: |facts| facts.settings.cors.origins(true).allow("http://localhost:6274").into(),
    },
];

/// What the checks look at.
pub(super) struct Facts<'a> {
    settings: &'a Settings,
    /// The scopes of the resource.
    scopes: Vec<&'static str>,
    /// The host that the request was sent to.
    host: Option<String>,
    /// `Allow` of a 405 at `/mcp`.
    allow: String,
    /// `WWW-Authenticate` of a 401 at `/mcp`.
    challenge: Option<String>,
}

impl<'a> Facts<'a> {
    pub(super) fn new(context: &'a RequestContext<'_>) -> Self {
        let pipeline = context.pipeline;
        let route = MCP.routes.iter().find(|route| route.handler(Method::Post).is_some());
        let rejection = Rejection::Unauthenticated { reason: "", sent: false };
        let response = error::encode_rejection(&rejection, None, pipeline);
        let mut headers = response.headers.into_iter();
        let challenge = headers.find(|(name, _)| *name == "www-authenticate");
        Self {
            settings: &pipeline.settings,
            scopes: pipeline.catalog.scopes(),
            host: context.headers.get("host"),
            allow: route.map(|route| route.allow()).unwrap_or_default(),
            challenge: challenge.map(|(_, value)| value.into_owned()),
        }
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

    /// A check of the address of a server that does not know it. Nothing names it if callers need no credentials.
    fn without_public_url(&self) -> Verdict {
        if self.is_open() { Verdict::NotNeeded } else { Verdict::Failed }
    }

    /// A check of the metadata, which servers without an authorization server do not have. It fails if the test finds
    /// nothing.
    fn if_protected(&self, test: impl FnOnce() -> Option<bool>) -> Verdict {
        let auth = &self.settings.auth;
        let issues = auth.sign_in || auth.jwt.as_ref().is_some_and(|jwt| jwt.issuer.is_some());
        if issues { test().unwrap_or(false).into() } else { Verdict::NotNeeded }
    }

    /// A check of what only the authorization server can do: this server does it. Of another one nothing is known.
    fn of_own_server(&self) -> Verdict {
        match (self.settings.auth.sign_in, self.has_issuer()) {
            (true, _) => Verdict::Passed,
            (false, true) => Verdict::Unknown,
            (false, false) => Verdict::NotNeeded,
        }
    }

    #[cfg(feature = "sign-in")]
    fn redirects_to_cursor(&self) -> Verdict {
        match &self.settings.sign_in {
            Some(sign_in) => sign_in.redirect_schemes.iter().any(|it| it == "cursor").into(),
            None if self.settings.auth.sign_in => Verdict::Unknown,
            None => self.of_own_server(),
        }
    }

    #[cfg(not(feature = "sign-in"))]
    fn redirects_to_cursor(&self) -> Verdict {
        self.of_own_server()
    }
}
