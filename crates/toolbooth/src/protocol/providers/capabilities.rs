//! `GET /providers`: what each provider's interface can do, with sources (2api.ai, 6 "Provider
//! Capability Matrix", as of the date in the file). docs/PROVIDERS.md shows the same as a table.

use std::sync::LazyLock;

use crate::call::RequestContext;
use crate::protocol::{Page, PageError};

const CAPABILITIES: &str = include_str!("capabilities.json");

/// The page.
pub(super) fn page(_: &RequestContext<'_>) -> Result<Page, PageError> {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::new(CAPABILITIES));
    Ok(PAGE.borrowed())
}

#[cfg(test)]
mod tests;
