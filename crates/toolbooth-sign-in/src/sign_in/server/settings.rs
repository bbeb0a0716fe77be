//! Which clients people may connect, and for how long.

use crate::redirect_uri;
use serde::{Deserialize, Deserializer};
use toolbooth::json::{self, Value};
use toolbooth::settings::{Row, VariableDoc, VariableReader, count, list};

/// A client that the operator has registered. Unknown members are rejected: a misspelt `secret_hash` would make the client
/// public.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClientSettings {
    /// Its `client_id`.
    pub(crate) id: String,
    /// Its name, for the consent page.
    pub(crate) name: String,
    pub(crate) redirect_uris: Vec<String>,
    /// The SHA-256 of its secret, in hexadecimal digits; a public client has none.
    #[serde(default, deserialize_with = "secret_hash")]
    pub(crate) secret_hash: Option<String>,
}

/// `null` is not a hash.
fn secret_hash<'de, D: Deserializer<'de>>(hash: D) -> Result<Option<String>, D::Error> {
    String::deserialize(hash).map(|hash| Some(hash.to_ascii_lowercase()))
}

impl ClientSettings {
    fn is_valid(&self) -> bool {
        let is_hash =
            |hash: &String| hash.len() == 64 && hash.bytes().all(|it| it.is_ascii_hexdigit());
        let is_named = !self.id.is_empty() && !self.name.is_empty();
        is_named && !self.redirect_uris.is_empty() && self.secret_hash.as_ref().is_none_or(is_hash)
    }
}

#[derive(Debug)]
pub(crate) struct ServerSettings {
    /// `SIGN_IN_CLIENTS`: the clients that the operator has registered.
    pub(crate) clients: Vec<ClientSettings>,
    /// The ids of its invalid entries. They must not mean any other client.
    pub(crate) rejected_clients: Vec<String>,
    /// `SIGN_IN_REDIRECT_SCHEMES`: schemes of native apps that may be redirected to.
    pub(crate) redirect_schemes: Vec<String>,
    /// `SIGN_IN_REGISTRATION`: how other clients may describe themselves.
    pub(crate) registration: RegistrationMode,
    /// `SIGN_IN_CLIENT_DOMAINS`: where those clients may have their documents and receive codes; empty: anywhere.
    pub(crate) client_domains: Vec<String>,
    /// `SIGN_IN_TOKEN_SECONDS`: how long access tokens are valid.
    pub(crate) token_seconds: u64,
    /// `SIGN_IN_CONNECTION_DAYS`: how long a client stays connected.
    pub(crate) connection_ms: u64,
}

/// How clients that the operator has not registered may describe themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RegistrationMode {
    /// By a metadata document at the URL that is their id, or by registering.
    Open,
    /// By a metadata document.
    Documents,
    /// Not at all.
    None,
}

pub(crate) static DOCS: &[VariableDoc] = &[
    TOKEN_SECONDS.doc(),
    CONNECTION_DAYS.doc(),
    REGISTRATION.doc(),
    CLIENT_DOMAINS.doc(),
    CLIENTS_DOC,
    SCHEMES.doc(),
];

const CLIENTS: &str = "SIGN_IN_CLIENTS";

const CLIENTS_DOC: VariableDoc = VariableDoc::new(
    CLIENTS,
    "clients that you have registered: a JSON array of `{\"id\", \"name\", \"redirect_uris\", \
     \"secret_hash\"}`. `secret_hash` is the SHA-256 of the secret as 64 hexadecimal digits; a \
     public client has none. Redirect URIs are `https`, `http` on this machine, or of a scheme in \
     `SIGN_IN_REDIRECT_SCHEMES`. Other members are not allowed | none | the client of the invalid \
     entry is rejected; the others may connect",
);

/// The length of a day, in milliseconds.
const DAY_MS: u64 = 86_400_000;
/// The longest lifetime of an access token, in seconds: a day.
const MAX_TOKEN_SECONDS: usize = 86_400;

static TOKEN_SECONDS: Row<u64> = Row::new(
    "SIGN_IN_TOKEN_SECONDS",
    "how long access tokens are valid, in seconds from 60 to 86400. They end earlier if their person disconnects the client, or \
     may no longer sign in, by `SIGN_IN_ALLOWED`, `SIGN_IN_DENIED` or `API_KEYS` | `3600` | the \
     default applies",
    3600,
    |text| match count(text, MAX_TOKEN_SECONDS, " of seconds") {
        Ok(seconds) if seconds >= 60 => Ok(seconds as u64),
        _ => Err("must be a whole number of seconds from 60 to 86400".to_owned()),
    },
);

/// How long a client stays connected, in days.
static CONNECTION_DAYS: Row<u64> = Row::new(
    "SIGN_IN_CONNECTION_DAYS",
    "how many days a client stays connected, 1 to 365, however often it refreshes its tokens. Then \
     the person must sign in again | `180` | the default applies",
    180,
    |text| count(text, 365, " of days").map(|days| days as u64),
);

/// How clients that the operator has not registered may describe themselves.
static REGISTRATION: Row<RegistrationMode> = Row::new(
    "SIGN_IN_REGISTRATION",
    "which clients may connect, beside those of `SIGN_IN_CLIENTS`: `open` (those that have a metadata \
     document or register themselves), `documents` (those that have a document) or `none` | `open` | \
     the default applies",
    RegistrationMode::Open,
    |text| match text {
        "open" => Ok(RegistrationMode::Open),
        "documents" => Ok(RegistrationMode::Documents),
        "none" => Ok(RegistrationMode::None),
        _ => Err("must be open, documents or none".to_owned()),
    },
);

/// The schemes of native applications that may be redirected to.
static SCHEMES: Row<Vec<String>> = Row::new(
    "SIGN_IN_REDIRECT_SCHEMES",
    "schemes of native applications that may receive codes, such as `cursor`, separated by commas. \
     MCP requires `https` or an address of this machine, which always work | none | the default \
     applies",
    Vec::new(),
    |text| {
        let schemes: Vec<String> = list(text).map(str::to_ascii_lowercase).collect();
        match schemes.iter().all(|scheme| redirect_uri::is_private_scheme(scheme)) {
            true => Ok(schemes),
            false => Err("must be schemes of native apps, such as cursor".to_owned()),
        }
    },
);

/// The domains of clients that the operator has not registered.
static CLIENT_DOMAINS: Row<Vec<String>> = Row::new(
    "SIGN_IN_CLIENT_DOMAINS",
    "the domains, with their subdomains, where clients may have their documents and receive codes, such as `claude.ai`, \
     separated by commas. Those of `SIGN_IN_CLIENTS`, and programs on the user's computer, may always | all | the default \
     applies",
    Vec::new(),
    |text| {
        let domains: Vec<String> = list(text).map(str::to_ascii_lowercase).collect();
        let is_domain = |it: &String| {
            let is_part = |it: u8| it.is_ascii_alphanumeric() || b"-.".contains(&it);
            it.contains('.') && !it.starts_with('.') && it.bytes().all(is_part)
        };
        match domains.iter().all(is_domain) {
            true => Ok(domains),
            false => Err("must be domains, such as claude.ai".to_owned()),
        }
    },
);

impl ServerSettings {
    /// Reads the variables. `machines` are the names of `API_KEYS`, which are the ids of other clients.
    pub(crate) fn read(machines: Vec<&str>, reader: &mut VariableReader<'_>) -> Self {
        let redirect_schemes = reader.get(&SCHEMES);
        let (clients, rejected_clients) = read_clients(reader, &redirect_schemes, &machines);
        Self {
            clients,
            rejected_clients,
            redirect_schemes,
            registration: reader.get(&REGISTRATION),
            client_domains: reader.get(&CLIENT_DOMAINS),
            token_seconds: reader.get(&TOKEN_SECONDS),
            connection_ms: reader.get(&CONNECTION_DAYS).saturating_mul(DAY_MS),
        }
    }
}

/// Reads `SIGN_IN_CLIENTS`: the clients, and the ids of invalid entries, which are reported by their index. `schemes`
/// are those of native applications that may be redirected to, and `machines` ids that other clients have.
fn read_clients(
    reader: &mut VariableReader<'_>,
    schemes: &[String],
    machines: &[&str],
) -> (Vec<ClientSettings>, Vec<String>) {
    let (mut clients, mut rejected) = (Vec::<ClientSettings>::new(), Vec::new());
    let Some(text) = reader.non_empty(CLIENTS) else { return (clients, rejected) };
    let Ok(Value::Array(entries)) = json::parse(&text) else {
        reader.problem(CLIENTS, "must be a JSON array of objects with id, name and redirect_uris");
        return (clients, rejected);
    };
    for (index, entry) in entries.iter().enumerate() {
        let client = json::read_value(entry).filter(|new: &ClientSettings| {
            new.is_valid() && clients.iter().all(|old| old.id != new.id)
        });
        let uris = client.iter().flat_map(|client| &client.redirect_uris);
        let forbidden = uris.enumerate().find(|(_, uri)| !redirect_uri::is_allowed(uri, schemes));
        let is_machine = client.as_ref().is_some_and(|client| machines.contains(&&*client.id));
        let problem = match (&client, forbidden) {
            (Some(_), _) if is_machine => {
                ".id must not be the name of an entry of API_KEYS, which is a client too".to_owned()
            }
            (Some(_), None) => {
                clients.extend(client);
                continue;
            }
            (Some(_), Some((at, _))) => format!(
                ".redirect_uris[{at}] must be an https URL, an http URL of this machine, or of a scheme in \
                 SIGN_IN_REDIRECT_SCHEMES"
            ),
            (None, _) => " must have a unique id, a name, redirect_uris, perhaps secret_hash, the SHA-256 of its \
                          secret as 64 hexadecimal digits, and nothing else"
                .to_owned(),
        };
        rejected.extend(entry.get("id").and_then(Value::as_str).map(str::to_owned));
        reader.reject(format!("{CLIENTS}[{index}]{problem}"));
    }
    (clients, rejected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbooth::testing::FakeHost;

    #[test]
    fn clients_of_the_operator() {
        const HASH: &str = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
        let entry = |uri: &str, more: &str| {
            format!(
                r#"[{{"id":"a","name":"A","redirect_uris":["https://a.example/cb","{uri}"]{more}}}]"#
            )
        };
        let secret = |member: &str| format!(r#","{member}":"{HASH}""#);
        let web = "https://b.example/cb";
        let (entry_problem, uri_problem) =
            ("SIGN_IN_CLIENTS[0] must have", "SIGN_IN_CLIENTS[0].redirect_uris[1] must be");
        let machine_problem = "SIGN_IN_CLIENTS[0].id must not be the name of an entry of API_KEYS";
        for (clients, schemes, expected) in [
            (entry(web, ""), "", None),
            (entry(web, &secret("secret_hash")), "", None),
            (entry("http://localhost/cb", ""), "", None),
            (entry("cursor://a/cb", ""), "cursor", None),
            (entry(web, &secret("secretHash")), "", Some(entry_problem)),
            (entry(web, &secret("secret")), "", Some(entry_problem)),
            (entry(web, r#","secret_hash":"x""#), "", Some(entry_problem)),
            (entry(web, r#","secret_hash":null"#), "", Some(entry_problem)),
            (entry("http://b.example/cb", ""), "", Some(uri_problem)),
            (entry("javascript:alert(1)", ""), "", Some(uri_problem)),
            (entry("b.example/cb", ""), "", Some(uri_problem)),
            (entry("cursor://a/cb", ""), "", Some(uri_problem)),
            (entry("cursor://a/cb", ""), "vscode", Some(uri_problem)),
            (entry(web, "").replace(r#""id":"a""#, r#""id":"Robot""#), "", Some(machine_problem)),
        ] {
            let variables = [("SIGN_IN_CLIENTS", &*clients), ("SIGN_IN_REDIRECT_SCHEMES", schemes)];
            let host = FakeHost::with(&variables);
            let mut reader = VariableReader::new(&host);
            let schemes = reader.get(&SCHEMES);
            let (registered, rejected) = read_clients(&mut reader, &schemes, &["Robot"]);
            let (problems, entries) = reader.into_problems();
            assert_eq!(problems, [""; 0], "other clients are served: {clients}");
            match expected {
                None => assert_eq!((registered.len(), entries), (1, vec![]), "{clients}"),
                Some(start) => {
                    assert_eq!((registered.len(), rejected.len()), (0, 1), "{clients}");
                    assert_eq!(entries.len(), 1, "{clients} {entries:?}");
                    assert!(entries[0].starts_with(start), "{clients} {entries:?}");
                }
            }
        }
    }

    #[test]
    fn how_long_tokens_and_connections_last() {
        for (row, text, expected) in [
            (&TOKEN_SECONDS, "60", Some(60)),
            (&TOKEN_SECONDS, "86400", Some(86_400)),
            (&TOKEN_SECONDS, "59", None),
            (&TOKEN_SECONDS, "86401", None),
            (&TOKEN_SECONDS, "1h", None),
            (&CONNECTION_DAYS, "1", Some(1)),
            (&CONNECTION_DAYS, "365", Some(365)),
            (&CONNECTION_DAYS, "0", None),
            (&CONNECTION_DAYS, "366", None),
        ] {
            assert_eq!((row.parse)(text).ok(), expected, "{text}");
            let host = FakeHost::with(&[(row.name, text)]);
            let mut reader = VariableReader::new(&host);
            reader.get(row);
            assert_eq!(reader.into_problems().0.len(), usize::from(expected.is_none()), "{text}");
        }
    }

    #[test]
    fn schemes_that_run_code_are_not_redirected_to() {
        for (schemes, expected) in [
            ("cursor, VSCode", true),
            ("http", false),
            ("cursor, javascript", false),
            ("about", false),
            ("filesystem", false),
            ("view-source", false),
            ("1a", false),
        ] {
            assert_eq!((SCHEMES.parse)(schemes).is_ok(), expected, "{schemes}");
        }
    }
}
