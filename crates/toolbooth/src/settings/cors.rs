//! Which web pages may call: `ALLOWED_ORIGINS` and the server's own origin.

use super::reader::{Row, VariableDoc, VariableReader, list};
use crate::http::Origins;

/// Which web pages may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorsSettings {
    /// The pages of `ALLOWED_ORIGINS` and of `PUBLIC_URL`.
    listed: Origins,
    /// These, and the pages of well-known web clients.
    with_clients: Origins,
    /// The names of further request headers that they may send, separated by commas.
    pub headers: String,
}

static ALLOWED_ORIGINS: Row<Origins> = Row::new(
    "ALLOWED_ORIGINS",
    "the web pages that may call from a browser: `*`, or origins such as `https://app.example`, \
     separated by commas. An origin on this machine may have `*` as its port: `http://localhost:*` \
     | none | the default applies",
    Origins::Listed(Vec::new()),
    |text| Origins::parse(text).map_err(str::to_owned),
);

static ALLOWED_HEADERS: Row<String> = Row::new(
    "ALLOWED_HEADERS",
    "further request headers that these pages may send, separated by commas, such as `x-tenant` of a proxy before the Worker. \
     Those of the protocols, and of tracing with OpenTelemetry, Sentry, Datadog and B3, are allowed anyway | none | the default applies",
    String::new(),
    |text| {
        let is_special = |byte: u8| b"!#$%&'*+-.^_`|~".contains(&byte);
        let is_token =
            |name: &&str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || is_special(byte));
        let names: Vec<_> = list(text).collect();
        if names.iter().all(is_token) {
            Ok(names.join(", ").to_ascii_lowercase())
        } else {
            Err("must be names of headers, separated by commas".to_owned())
        }
    },
);

pub(super) static DOCS: &[VariableDoc] = &[ALLOWED_ORIGINS.doc(), ALLOWED_HEADERS.doc()];

impl CorsSettings {
    pub(super) fn read(reader: &mut VariableReader<'_>, public_url: Option<&str>) -> Self {
        let listed = reader.get(&ALLOWED_ORIGINS).with(public_url);
        let headers = reader.get(&ALLOWED_HEADERS);
        Self { with_clients: listed.with_clients(), listed, headers }
    }

    /// Which pages may call; `web_clients` adds those of well-known web clients.
    pub fn origins(&self, web_clients: bool) -> &Origins {
        if web_clients { &self.with_clients } else { &self.listed }
    }
}
