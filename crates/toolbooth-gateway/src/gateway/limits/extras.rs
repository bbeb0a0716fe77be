//! What a provider can charge for beyond tokens at their usual price: tools that it runs itself, and betas. A budget in dollars counts
//! tokens only, so its caller gets none of that, unless `MODELS` says that the price covers it.

use crate::gateway::conversation::request::ChatRequest;
use crate::gateway::notes::Notes;
use crate::gateway::relay::plan::Plan;
use toolbooth::budget::Unit;
use toolbooth::call::Purse;
use toolbooth::schema::text::excerpt;

/// The betas of Anthropic whose documentation says what they do, and by that neither raise the price of a token nor cause tokens beyond
/// the limit of the answer. Without their dates.
const USUAL_BETAS: [&str; 15] = [
    "advanced-tool-use",
    "computer-use",
    "context-management",
    "effort",
    "fine-grained-tool-streaming",
    "interleaved-thinking",
    "mcp-client",
    "model-context-window-exceeded",
    "prompt-caching",
    "structured-outputs",
    "thinking-token-count",
    "token-counting",
    "token-efficient-tools",
    "tool-examples",
    "tool-search-tool",
];

/// How the types begin of tools that have a type of the provider's and cost only tokens: the client runs them, or a search in the tools of
/// the request.
const USUAL_TOOLS: [&str; 5] = ["bash_", "computer_", "memory_", "text_editor_", "tool_search"];

/// What an operator can do about it.
pub(in crate::gateway) const REASON: &str = "can cost more than its tokens, and the caller has a budget in USD: price in MODELS must say \
                                 \"includes_extras\": true";

/// Whether the caller has a budget in dollars that could not count what one of the models charges beyond tokens.
pub(in crate::gateway) fn are_uncounted(plan: &Plan<'_>, purse: &Purse<'_>) -> bool {
    let covers = |target: &crate::gateway::relay::plan::Target<'_>| {
        target.is_paid_by_caller || target.price.is_some_and(|price| price.includes_extras)
    };
    purse.limits(Unit::Usd) && !plan.targets.iter().all(covers)
}

/// Whether a tool with this type costs tokens only.
pub(in crate::gateway) fn is_usual_tool(kind: &str) -> bool {
    USUAL_TOOLS.iter().any(|usual| kind.starts_with(usual))
}

/// Leaves out the betas that are not known to cost nothing.
pub(in crate::gateway) fn leave_out_betas(request: &mut ChatRequest, notes: &Notes) {
    let Some(native) = &mut request.native else { return };
    for (_, value) in native.headers.iter_mut().filter(|(name, _)| *name == "anthropic-beta") {
        let mut kept = Vec::new();
        for beta in value.split(',').map(str::trim).filter(|beta| !beta.is_empty()) {
            match is_usual_beta(beta) {
                true => kept.push(beta),
                false => {
                    notes.warn(format!("The beta {} was left out: it {REASON}", excerpt(beta)))
                }
            }
        }
        *value = kept.join(",");
    }
    native.headers.retain(|(_, value)| !value.is_empty());
}

/// Whether a beta is one of the usual ones, from any date: `name-2025-05-14`, or `name-20250514`.
fn is_usual_beta(beta: &str) -> bool {
    USUAL_BETAS.iter().any(|usual| {
        let date = beta.strip_prefix(usual).and_then(|rest| rest.strip_prefix('-'));
        date.is_some_and(|date| date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
    })
}
