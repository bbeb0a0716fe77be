//! Client ID metadata documents: the `client_id` is a URL, and the document there describes the client
//! (draft-ietf-oauth-client-id-metadata-document).

use serde::Deserialize;

use super::client::{Client, ClientOrigin, DocumentAuth, hash};
use super::registration::display_name;
use crate::oauth::is_temporary;
use crate::redirect_uri::{self, RedirectKind};
use crate::sign_in::login::Problem;
use toolbooth::auth::has_verification_key;
use toolbooth::expiring_map::ExpiringMap;
use toolbooth::host::{Host, HttpError, HttpRequest, Level};
use toolbooth::json::{self, Value};

/// The longest document that is read, in bytes.
const MAX_DOCUMENT: usize = 5 * 1024;
/// The most redirect URIs that a client may have.
const MAX_URIS: usize = 20;

/// The members that are used. Grant types other than the two that exist here are ignored.
#[derive(Deserialize)]
struct Document<'v> {
    client_id: &'v str,
    client_name: Option<&'v str>,
    redirect_uris: Vec<String>,
    #[serde(borrow)]
    grant_types: Option<Vec<&'v str>>,
    token_endpoint_auth_method: Option<&'v str>,
    /// All methods of the client, of which `token_endpoint_auth_method` is one. ChatGPT's document has it.
    #[serde(borrow)]
    token_endpoint_auth_methods_supported: Option<Vec<&'v str>>,
    jwks_uri: Option<&'v str>,
}

/// Whether a `client_id` is the URL of a document. On this machine (`is_local`), documents may be there too.
pub(super) fn is_client_id(id: &str, is_local: bool) -> bool {
    let rest = id.split_once("://").map_or("", |(_, rest)| rest);
    let path = rest.find(['/', '?']).and_then(|at| rest.get(at..)).unwrap_or_default();
    // The root path belongs to everyone at the host.
    let has_path = path.len() > 1 && path.starts_with('/');
    let dots = path.split(['/', '?']).any(|segment| {
        let segment = segment.to_ascii_lowercase().replace("%2e", ".");
        segment == "." || segment == ".."
    });
    has_path && !dots && is_fetchable(id, is_local)
}

/// Whether documents and keys may be fetched from a URL: from a public host or, if `is_local`, from this machine.
fn is_fetchable(url: &str, is_local: bool) -> bool {
    match redirect_uri::kind(url) {
        RedirectKind::Web => {
            url.starts_with("https:") && is_public_host(&redirect_uri::destination(url))
        }
        RedirectKind::Loopback => url.starts_with("http:") && is_local,
        RedirectKind::PrivateScheme | RedirectKind::Forbidden => false,
    }
}

/// Whether a host is a domain name of the public internet: no address, and no name of a private network. Only port 443, so
/// that no client can probe other ports through this server.
fn is_public_host(authority: &str) -> bool {
    let (host, port) = authority.split_once(':').unwrap_or((authority, "443"));
    let host = host.to_ascii_lowercase();
    let last = host.rsplit('.').next().unwrap_or_default();
    host.contains('.')
        && port == "443"
        && last.starts_with(|c: char| c.is_ascii_lowercase())
        && !["local", "localhost", "internal", "lan", "home", "corp", "arpa"].contains(&last)
}

/// How long a document is kept, in milliseconds, whatever its server says; and a failure.
const SHORTEST_MS: u64 = 60_000;
const LONGEST_MS: u64 = 86_400_000;
/// The documents that an instance has fetched, and its failures: anyone can make it fetch one.
#[derive(Debug)]
pub(super) struct DocumentCache(ExpiringMap<Result<Client, Problem>>);

impl DocumentCache {
    pub(super) fn new() -> Self {
        Self(ExpiringMap::new(64))
    }

    /// The client that the document at `id` describes.
    pub(super) async fn client(&self, id: &str, host: &dyn Host) -> Result<Client, Problem> {
        // A developer changes the documents of this machine, and reads them at once.
        if !id.starts_with("https:") {
            return fetch(id, host).await.map(|(client, _)| client);
        }
        let now_ms = host.now_ms();
        if let Some(known) = self.0.get(id, now_ms) {
            return known;
        }
        let (client, max_age_ms) = match fetch(id, host).await {
            Ok((client, max_age_ms)) => (Ok(client), max_age_ms),
            // A concurrent request may have fetched it.
            Err(problem) if matches!(self.0.get(id, now_ms), Some(Ok(_))) => return Err(problem),
            Err(problem) => (Err(problem), None),
        };
        let life_ms = max_age_ms.unwrap_or_default().clamp(SHORTEST_MS, LONGEST_MS);
        self.0.insert(id, client.clone(), now_ms, life_ms);
        client
    }
}

/// Fetches the document of a client, and for how many milliseconds it may be kept. Failures are logged.
async fn fetch(id: &str, host: &dyn Host) -> Result<(Client, Option<u64>), Problem> {
    let request = HttpRequest {
        headers: vec![("accept", "application/json".into())],
        max_bytes: MAX_DOCUMENT,
        ..HttpRequest::get(id)
    };
    let response = host.send(request).await;
    let response = response.map_err(|error| {
        log(&error.to_string(), host);
        match error {
            HttpError::TooLarge => Problem::INVALID_DOCUMENT,
            _ => Problem::DOCUMENT_UNREACHABLE,
        }
    })?;
    if response.status != 200 {
        log(&format!("its status is {}", response.status), host);
        return Err(match is_temporary(response.status) {
            true => Problem::DOCUMENT_UNREACHABLE,
            false => Problem::INVALID_DOCUMENT,
        });
    }
    let client = json::parse_bytes(&response.body).and_then(|document| read(id, &document));
    let client = client.ok_or_else(|| {
        log("it does not describe a client that can sign people in", host);
        Problem::INVALID_DOCUMENT
    });
    Ok((client?, response.max_age_ms))
}

fn log(problem: &str, host: &dyn Host) {
    host.log(Level::Warn, "client_document", &[("problem", problem)]);
}

/// The client that the document at `id` describes.
fn read(id: &str, document: &Value<'_>) -> Option<Client> {
    let jwks = document.get("jwks");
    let document: Document<'_> = json::read_value(document)?;
    let Document { client_id, client_name, redirect_uris, grant_types, jwks_uri, .. } = document;
    if client_id != id {
        return None;
    }
    let is_usable = |uri: &String| redirect_uri::kind(uri) != RedirectKind::Forbidden;
    if !(1..=MAX_URIS).contains(&redirect_uris.len()) || !redirect_uris.iter().all(is_usable) {
        return None;
    }
    let (single, several) =
        (document.token_endpoint_auth_method, document.token_endpoint_auth_methods_supported);
    let names = |method: &str| {
        single == Some(method) || several.iter().flatten().any(|supported| *supported == method)
    };
    // A client with a document has no secret, so the default of RFC 7591 (basic) makes no sense for it.
    let none = names("none") || (single.is_none() && several.is_none());
    let signs = names("private_key_jwt");
    let jwks_uri = jwks_uri.filter(|uri| signs && is_fetchable(uri, id.starts_with("http:")));
    // One or the other (RFC 7591, 2).
    let jwks = jwks.filter(|set| signs && jwks_uri.is_none() && has_verification_key(set));
    if !none && jwks_uri.is_none() && jwks.is_none() {
        return None;
    }
    let (jwks_uri, by_value) = (jwks_uri.map(str::to_owned), jwks.is_some());
    Some(Client {
        hash: hash(id),
        name: display_name(client_name?)?,
        origin: ClientOrigin::Document { domain: redirect_uri::destination(id) },
        redirect_uris,
        // Like registrations, a document without grant types may belong to a client that uses refresh tokens.
        refreshes: grant_types.is_none_or(|all| all.contains(&"refresh_token")),
        document: Some(DocumentAuth { none, jwks_uri, by_value }),
        jwks: jwks.map(json::to_string),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn client_ids_that_are_urls() {
        for (id, expected) in [
            ("https://claude.ai/oauth/mcp-oauth-client-metadata", true),
            ("https://a.example/client.json?v=1", true),
            ("https://a.example:443/c", true),
            ("https://a.example:8443/c", false),
            ("https://a.example:22/c", false),
            ("https://a.example/", false),
            ("https://a.example", false),
            ("https://a.example?x=/y", false),
            ("https://a.example/c#f", false),
            ("https://u@a.example/c", false),
            ("https://a.example/../c", false),
            ("https://a.example/a/./c", false),
            ("https://a.example/a/%2E%2e/c", false),
            ("https://a.example/ c", false),
            ("http://a.example/c", false),
            ("http://localhost:3000/c", false),
            ("https://127.0.0.1/c", false),
            ("https://[::1]/c", false),
            ("https://10.0.0.1/c", false),
            ("https://0x7f.1/c", false),
            ("https://localhost/c", false),
            ("https://printer/c", false),
            ("https://metadata.google.internal/c", false),
            ("https://router.home.arpa/c", false),
            ("https://printer.local/c", false),
            ("https://printer.l%6fcal/c", false),
            ("https://a.example:/c", false),
            ("https://a.example:80:90/c", false),
            ("ftp://a.example/c", false),
            ("a.example/c", false),
        ] {
            assert_eq!(is_client_id(id, false), expected, "{id}");
        }
        assert!(is_client_id("http://localhost:3000/c", true));
        assert!(is_client_id("http://127.0.0.1:3000/c", true));
        assert!(!is_client_id("http://a.example/c", true));
    }

    const ID: &str = "https://a.example/client.json";

    fn client(changes: serde_json::Value) -> Option<Client> {
        let mut document = json!({
            "client_id": ID, "client_name": "A", "redirect_uris": ["https://a.example/cb"],
        });
        for (name, value) in changes.as_object().unwrap() {
            document[name] = value.clone();
        }
        read(ID, &json::parse(&document.to_string()).unwrap())
    }

    #[test]
    fn documents() {
        const KEYS: &str = "https://a.example/jwks.json";
        let auth = |none, keys: Option<&str>| {
            Some(DocumentAuth { none, jwks_uri: keys.map(str::to_owned), by_value: false })
        };
        let by_value = |none| Some(DocumentAuth { none, jwks_uri: None, by_value: true });
        let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
        let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
        let set = json!({"keys": [{"kty": "EC", "crv": "P-256", "x": x, "y": y}]});
        let symmetric = json!({"keys": [{"kty": "oct", "k": "c2VjcmV0", "alg": "HS256"}]});
        for (changes, expected) in [
            (json!({}), auth(true, None)),
            (json!({"token_endpoint_auth_method": "none"}), auth(true, None)),
            // ChatGPT's offers both.
            (
                json!({"token_endpoint_auth_method": "private_key_jwt",
                    "token_endpoint_auth_methods_supported": ["none", "private_key_jwt"], "jwks_uri": KEYS}),
                auth(true, Some(KEYS)),
            ),
            // No downgrade.
            (
                json!({"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": KEYS}),
                auth(false, Some(KEYS)),
            ),
            (json!({"token_endpoint_auth_method": "private_key_jwt"}), None),
            (
                json!({"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "http://a.example/j"}),
                None,
            ),
            (
                json!({"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://10.0.0.1/j"}),
                None,
            ),
            (
                json!({"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://a.example:6379/j"}),
                None,
            ),
            // Keys by value.
            (
                json!({"token_endpoint_auth_method": "private_key_jwt", "jwks": set}),
                by_value(false),
            ),
            (
                json!({"token_endpoint_auth_method": "private_key_jwt",
                    "token_endpoint_auth_methods_supported": ["none"], "jwks": set}),
                by_value(true),
            ),
            (
                json!({"token_endpoint_auth_method": "private_key_jwt", "jwks": set, "jwks_uri": KEYS}),
                auth(false, Some(KEYS)),
            ),
            (json!({"jwks": set}), auth(true, None)),
            (json!({"token_endpoint_auth_method": "private_key_jwt", "jwks": symmetric}), None),
            (json!({"token_endpoint_auth_method": "private_key_jwt", "jwks": {"keys": []}}), None),
            (json!({"token_endpoint_auth_method": "private_key_jwt", "jwks": []}), None),
            (json!({"token_endpoint_auth_method": "private_key_jwt", "jwks": KEYS}), None),
            (json!({"token_endpoint_auth_method": "client_secret_basic"}), None),
            (json!({"token_endpoint_auth_methods_supported": ["tls_client_auth"]}), None),
            // Another grant type does not matter, as in Claude's.
            (
                json!({"grant_types": ["authorization_code", "urn:ietf:params:oauth:grant-type:jwt-bearer"]}),
                auth(true, None),
            ),
            (json!({"client_id": "https://a.example/other.json"}), None),
            (json!({"client_id": "https://A.example/client.json"}), None),
            (json!({"client_name": ""}), None),
            (json!({"client_name": null}), None),
            (json!({"redirect_uris": []}), None),
            (json!({"redirect_uris": ["javascript:alert(1)"]}), None),
            (json!({"redirect_uris": ["https://a.example/cb", "data:,x"]}), None),
            (json!({"redirect_uris": ["https://a.example/cb", "cursor://a/cb"]}), auth(true, None)),
        ] {
            let got = client(changes.clone());
            assert_eq!(got.and_then(|client| client.document), expected, "{changes}");
        }
        let refreshes =
            |grants: serde_json::Value| client(json!({"grant_types": grants})).unwrap().refreshes;
        assert!(refreshes(json!(["authorization_code", "refresh_token"])));
        assert!(!refreshes(json!(["authorization_code"])));
    }
}
