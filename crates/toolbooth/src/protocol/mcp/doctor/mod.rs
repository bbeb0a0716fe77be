//! `GET /doctor`: what each MCP client with a connector still needs, from the settings alone.
//!
//! Everybody may read it: it contains only what a visitor could find out from the metadata, from a request without
//! credentials, and from `/health`. What exactly is wrong with a variable is for callers with credentials, at `/health`.
//!
//! - `checks`: the checks, as a table.

mod checks;

use serde::Serialize;

use crate::call::RequestContext;
use crate::json;
use crate::protocol::{Page, PageError};
use checks::{CHECKS, Check, Facts, Verdict};

/// A client with which people connect to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Connector {
    Claude,
    #[serde(rename = "chatgpt")]
    ChatGpt,
    ClaudeCode,
    #[serde(rename = "vscode")]
    VsCode,
    Cursor,
    Inspector,
}

impl Connector {
    const ALL: [Self; 6] = [
        Self::Claude,
        Self::ChatGpt,
        Self::ClaudeCode,
        Self::VsCode,
        Self::Cursor,
        Self::Inspector,
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Claude => "claude.ai, Claude Desktop and Claude for mobile",
            Self::ChatGpt => "ChatGPT",
            Self::ClaudeCode => "Claude Code",
            Self::VsCode => "VS Code",
            Self::Cursor => "Cursor",
            Self::Inspector => "MCP Inspector",
        }
    }
}

/// The response.
#[derive(Serialize)]
struct Report<'a> {
    /// What people paste into the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    connectors: Vec<ConnectorReport>,
    /// Those that apply to the settings.
    checks: Vec<CheckReport>,
}

/// What one client needs.
#[derive(Serialize)]
struct ConnectorReport {
    id: Connector,
    title: &'static str,
    /// Whether nothing is missing, as far as that can be known here.
    ok: bool,
    /// The ids of the checks that failed.
    missing: Vec<&'static str>,
}

/// The result of a check.
#[derive(Serialize)]
struct CheckReport {
    id: &'static str,
    /// `null`: it depends on another server, which is not asked, or on a variable that is not valid.
    ok: Option<bool>,
    /// What the check means.
    meaning: &'static str,
    /// What to do if it failed, or what to look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'static str>,
    /// The clients that it concerns.
    connectors: &'static [Connector],
}

impl CheckReport {
    /// `None` if the check does not apply to the settings.
    fn new(check: &'static Check, facts: &Facts<'_>) -> Option<Self> {
        let Check { id, meaning, fix, connectors, test } = check;
        let ok = match test(facts) {
            Verdict::Passed => Some(true),
            Verdict::Failed => Some(false),
            Verdict::Unknown => None,
            Verdict::NotNeeded => return None,
        };
        Some(Self { id, ok, meaning, fix: (ok != Some(true)).then_some(*fix), connectors })
    }
}

/// `GET /doctor`.
pub(super) fn page(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let facts = Facts::new(context);
    let checks: Vec<_> =
        CHECKS.iter().filter_map(|check| CheckReport::new(check, &facts)).collect();
    let connectors = Connector::ALL.into_iter().map(|id| {
        let failed = checks.iter().filter(|it| it.ok == Some(false) && it.connectors.contains(&id));
        let missing: Vec<_> = failed.map(|check| check.id).collect();
        ConnectorReport { id, title: id.title(), ok: missing.is_empty(), missing }
    });
    let connectors = connectors.collect();
    Ok(Page::new(json::to_string(&Report { url: facts.url(), connectors, checks })))
}

#[cfg(test)]
mod tests;
