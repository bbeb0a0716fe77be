//! `GET /providers`: what each provider's interface can do, with sources (2api.ai, 6 "Provider
//! Capability Matrix", as of the date in the file). docs/PROVIDERS.md shows the same as a table.

use std::sync::LazyLock;

use crate::http::Response;
use crate::protocol::{ListRequest, Page};

const CAPABILITIES: &str = include_str!("capabilities.json");

/// The page.
pub(super) fn page(_: &ListRequest<'_>) -> Result<Page, Response> {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::of(CAPABILITIES));
    Ok(PAGE.lend())
}

#[cfg(test)]
mod tests;
