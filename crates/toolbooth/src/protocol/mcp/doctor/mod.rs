//! `GET /doctor`: what each MCP client with a connector still needs, from the settings alone.
//!
//! Everyone may read it: it contains only what a visitor could find out from the metadata, from a request without
//! credentials, and from `/health`. What exactly is wrong with a variable is for the operator, at `/health`.
//!
//! - `checks`: the checks, as a table.

mod checks;

use serde::Serialize;

use crate::call::RequestContext;
use crate::json;
use crate::route::{Page, PageError};
use checks::{CHECKS, Check, Facts, Prevents, Verdict};

/// A client with which people connect to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Connector {
    id: &'static str,
    title: &'static str,
    /// Whether everyone can configure it to send an API key.
    sends_keys: bool,
}

impl Connector {
    const fn new(id: &'static str, title: &'static str, sends_keys: bool) -> Self {
        Self { id, title, sends_keys }
    }
}

const CLAUDE: Connector =
    Connector::new("claude", "claude.ai, Claude Desktop and Claude for mobile", false);
const CHAT_GPT: Connector = Connector::new("chatgpt", "ChatGPT", false);
const CLAUDE_CODE: Connector = Connector::new("claude-code", "Claude Code", true);
const VS_CODE: Connector = Connector::new("vscode", "VS Code", true);
const CURSOR: Connector = Connector::new("cursor", "Cursor", true);
const INSPECTOR: Connector = Connector::new("inspector", "MCP Inspector", true);
const ALL: [Connector; 6] = [CLAUDE, CHAT_GPT, CLAUDE_CODE, VS_CODE, CURSOR, INSPECTOR];

#[derive(Serialize)]
struct Report<'a> {
    /// What people paste into the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    connectors: [ConnectorReport; 6],
    /// Those that apply to the settings.
    checks: Vec<CheckReport>,
}

/// What one client needs.
#[derive(Serialize)]
struct ConnectorReport {
    id: &'static str,
    title: &'static str,
    /// Whether it can work, as far as that can be known here.
    ok: bool,
    /// The ids of the checks that failed and without which it cannot work.
    missing: Vec<&'static str>,
    /// How it works, if people cannot sign in with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

impl ConnectorReport {
    fn new(client: Connector, failed: &[&'static Check], facts: &Facts<'_>) -> Self {
        let required = failed.iter().filter(|check| check.is_required_by(client, facts));
        let missing: Vec<_> = required.map(|check| check.id).collect();
        let prevents_sign_in =
            |it: &&Check| it.prevents == Prevents::SignIn && it.connectors.contains(&client);
        let by_key = facts.only_by_key() || failed.iter().any(prevents_sign_in);
        let note = (missing.is_empty() && by_key).then_some("works with an API key");
        let Connector { id, title, .. } = client;
        Self { id, title, ok: missing.is_empty(), missing, note }
    }
}

#[derive(Serialize)]
struct CheckReport {
    id: &'static str,
    /// `passed`; `failed`, and some client cannot work; `info` if it failed and every client can work; or `unknown`.
    state: &'static str,
    meaning: &'static str,
    /// What to do if it failed, or what to look at.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'static str>,
    /// The clients that it concerns.
    connectors: Vec<&'static str>,
}

impl CheckReport {
    /// `None` if the check does not apply to the settings.
    fn new(check: &'static Check, verdict: Verdict, facts: &Facts<'_>) -> Option<Self> {
        let Check { id, passed, failed, fix, connectors, .. } = check;
        let is_required = || connectors.iter().any(|it| check.is_required_by(*it, facts));
        let (state, meaning) = match verdict {
            Verdict::Passed => ("passed", *passed),
            Verdict::Failed if is_required() => ("failed", *failed),
            Verdict::Failed => ("info", *failed),
            Verdict::Unknown(meaning) => ("unknown", meaning),
            Verdict::NotNeeded => return None,
        };
        let fix = (state != "passed").then_some(*fix);
        let connectors = connectors.iter().map(|it| it.id).collect();
        Some(Self { id, state, meaning, fix, connectors })
    }
}

pub(super) fn page(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let facts = Facts { context, settings: &context.pipeline.settings };
    let verdicts: Vec<_> = CHECKS.iter().map(|check| (check, (check.test)(&facts))).collect();
    let failed = verdicts.iter().filter(|(_, verdict)| *verdict == Verdict::Failed);
    let failed: Vec<_> = failed.map(|(check, _)| *check).collect();
    let checks = verdicts.iter().filter_map(|(it, verdict)| CheckReport::new(it, *verdict, &facts));
    Ok(Page::new(json::to_string(&Report {
        url: facts.url(),
        connectors: ALL.map(|client| ConnectorReport::new(client, &failed, &facts)),
        checks: checks.collect(),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_check_says_the_same_whether_it_passes_or_fails() {
        for check in CHECKS {
            assert_ne!(check.passed, check.failed, "{}", check.id);
        }
    }
}
