//! The server card (SEP-2127): what the server is and where MCP clients call it, for directories and for clients that know only
//! its host. It says what `server/discover` and `server.json` say, and nothing that needs credentials.

use serde::Serialize;

use super::about::{self, Implementation};
use super::message::{LEGACY, MODERN};
use crate::call::{Rejection, RequestContext};
use crate::json::{self, Rendered};
use crate::protocol::oxp;
use crate::route::{Cors, Document, Page, PageError, Policy, Protocol, Route};
use crate::settings::Settings;

/// At the path of the specification, `/mcp/server-card`.
pub(super) static CARD: Protocol = Protocol {
    routes: &[Route::get("", Policy::PUBLIC, &Document(page))],
    ..protocol("server-card")
};

/// Where clients and directories look that know only the host.
pub(super) static WELL_KNOWN_CARD: Protocol = Protocol {
    routes: &[
        Route::get("/server-card.json", Policy::PUBLIC, &Document(page)),
        Route::get("/server-card", Policy::PUBLIC, &Document(page)),
    ],
    ..protocol("well-known-card")
};

const fn protocol(name: &'static str) -> Protocol {
    Protocol {
        listed: false,
        cors: Cors::AnyPage,
        ..Protocol::new(name, "MCP's server card", oxp::FLAT_ERRORS)
    }
}

const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
const MEDIA_TYPE: &str = "application/mcp-server-card+json";
/// The specification demands these headers of the response itself, and recommends the hour.
const HEADERS: [(&str, &str); 3] = [
    ("cache-control", "public, max-age=3600"),
    ("access-control-allow-methods", "GET"),
    ("access-control-allow-headers", "Content-Type"),
];

/// The most characters of a title and of a description.
const MAX_TEXT: usize = 100;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerCard<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    name: String,
    version: &'a str,
    title: String,
    description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    website_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icons: Option<Rendered<'a>>,
    remotes: [Remote; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Remote {
    r#type: &'static str,
    url: String,
    supported_protocol_versions: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<[KeyHeader; 1]>,
}

/// The header with an API key, as `server.json` describes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyHeader {
    name: &'static str,
    description: &'static str,
    value: &'static str,
    is_required: bool,
    is_secret: bool,
    variables: KeyVariables,
}

#[derive(Serialize)]
struct KeyVariables {
    api_key: KeyVariable,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyVariable {
    description: &'static str,
    is_required: bool,
    is_secret: bool,
}

impl KeyHeader {
    /// The header, if keys are accepted. It is not required where there is another way in.
    fn of(settings: &Settings) -> Option<Self> {
        let auth = &settings.auth;
        auth.api_keys.as_ref()?;
        let is_required = auth.anonymous.is_none() && settings.mcp_resource.is_none();
        let description = "The key that the operator of the server gave you";
        Some(Self {
            name: "Authorization",
            description: "An API key of this server",
            value: "Bearer {api_key}",
            is_required,
            is_secret: true,
            variables: KeyVariables {
                api_key: KeyVariable { description, is_required, is_secret: true },
            },
        })
    }
}

/// The card; 404 if the server does not know its address.
fn page(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let origin = context.origin();
    let (_, host) = origin.split_once("://").ok_or(Rejection::NOT_FOUND)?;
    let Implementation { title, version, website_url, icons, .. } = Implementation::of(context);
    let shorten = |text: &str| text.chars().take(MAX_TEXT).collect::<String>();
    let (name, description) = about::listing(context);
    let mut versions = vec![MODERN];
    // The oldest had another transport.
    versions.extend(LEGACY.into_iter().filter(|version| *version != "2024-11-05"));
    let card = ServerCard {
        schema: SCHEMA,
        name: name.map_or_else(|| name_at(host), str::to_owned),
        version,
        title: shorten(title),
        description: shorten(description.unwrap_or(title)),
        website_url,
        icons,
        remotes: [Remote {
            r#type: "streamable-http",
            url: format!("{origin}/mcp"),
            supported_protocol_versions: versions,
            headers: KeyHeader::of(&context.pipeline.settings).map(|header| [header]),
        }],
    };
    let mut page = Page::of_type(MEDIA_TYPE, json::to_string(&card));
    page.headers.extend(HEADERS.map(|(name, value)| (name, value.into())));
    Ok(page)
}

/// The name of a server that has none: its host, reversed, with a name after the slash.
fn name_at(host: &str) -> String {
    let host = match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, _)) => address,
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b".-".contains(&byte);
    let is_number = host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let mut labels: Vec<_> = host.split('.').collect();
    if !is_number {
        labels.reverse();
    }
    let mut name = labels.join(".");
    // Such as the colons of an address.
    name.retain(|character| u8::try_from(character).is_ok_and(is_name));
    name.truncate(190);
    if name.is_empty() {
        name.push_str("localhost");
    }
    name + "/mcp"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts() {
        let long = format!("{}.example", "a".repeat(250));
        for (host, expected) in [
            ("tools.example.com", "com.example.tools/mcp"),
            ("tools.example.com:8443", "com.example.tools/mcp"),
            ("localhost:8787", "localhost/mcp"),
            ("127.0.0.1:8787", "127.0.0.1/mcp"),
            ("[::1]:8787", "1/mcp"),
            ("[::]", "localhost/mcp"),
            (&long, &format!("example.{}/mcp", "a".repeat(182))),
        ] {
            assert_eq!(name_at(host), expected);
        }
    }
}
