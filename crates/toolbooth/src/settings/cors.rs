//! Which web pages may call: `ALLOWED_ORIGINS` and the server's own origin.

use super::reader::{Row, VariableDoc, VariableReader};
use crate::http::Origins;

/// Which web pages may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorsSettings {
    /// The pages of `ALLOWED_ORIGINS` and of `PUBLIC_URL`.
    listed: Origins,
    /// These, and the pages of well-known web clients.
    with_clients: Origins,
}

static ALLOWED_ORIGINS: Row<Origins> = Row::new(
    "ALLOWED_ORIGINS",
    "the web pages that may call from a browser: `*`, or origins such as `https://app.example`, \
     separated by commas. An origin on this machine may have `*` as its port: `http://localhost:*` \
     | none | the default applies",
    Origins::Listed(Vec::new()),
    |text| Origins::parse(text).map_err(str::to_owned),
);

pub(super) static DOCS: &[VariableDoc] = &[ALLOWED_ORIGINS.doc()];

impl CorsSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>, public_url: Option<&str>) -> Self {
        let listed = reader.get(&ALLOWED_ORIGINS).with(public_url);
        Self { with_clients: listed.with_clients(), listed }
    }

    /// Which pages may call; `web_clients` adds those of well-known web clients.
    pub fn origins(&self, web_clients: bool) -> &Origins {
        if web_clients { &self.with_clients } else { &self.listed }
    }
}
