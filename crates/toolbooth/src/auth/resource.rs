//! The OAuth resource that the server is to MCP's clients (RFC 9728): what tells them whom to ask for
//! a token.

use crate::catalog::Catalog;
use crate::host::Variables;
use crate::json::Writer;

/// Where the protocol is mounted that is an OAuth resource.
const PATH: &str = "/mcp";

/// The identifier of the resource, which the `aud` of its tokens names (RFC 8707), where the server
/// knows its own address: `PUBLIC_URL` and the path.
pub(super) fn identifier(source: &dyn Variables) -> Option<String> {
    let origin = source.variable("PUBLIC_URL").filter(|origin| !origin.is_empty())?;
    Some(format!("{origin}{PATH}"))
}

/// The scopes that some tool requires, each once, sorted.
pub fn scopes(catalog: &Catalog) -> Vec<&'static str> {
    // Neither a set nor a sorting algorithm is worth its room here.
    let mut scopes: Vec<&'static str> = Vec::new();
    for scope in catalog.tools.iter().flat_map(|tool| tool.scopes) {
        if let Err(at) = scopes.binary_search(scope) {
            scopes.insert(at, scope);
        }
    }
    scopes
}

/// An OAuth resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// The origin of the server.
    origin: String,
    /// Who issues tokens for it.
    issuer: String,
}

impl Resource {
    /// The resource, where tokens let callers in and both `origin` (`PUBLIC_URL`) and their issuer's
    /// address (`JWT_ISSUER`) are known. Without either a client cannot be told whom to ask.
    pub(crate) fn read(origin: Option<String>, source: &dyn Variables) -> Option<Self> {
        let ways = source.variable("AUTH").unwrap_or_default();
        let tokens = ways.split(',').any(|way| way.trim() == "jwt");
        let issuer = source.variable("JWT_ISSUER").unwrap_or_default();
        let is_address = issuer.starts_with("https://") || issuer.starts_with("http://");
        Some(Self { origin: origin?, issuer }).filter(|_| tokens && is_address)
    }

    /// The metadata document (RFC 9728, 2).
    pub(crate) fn metadata(&self, catalog: &Catalog) -> String {
        let mut json = Writer::new();
        json.json("{").member("resource").string(&format!("{}{PATH}", self.origin));
        json.member("resource_name").string("Toolbooth");
        json.member("authorization_servers").json("[").string(&self.issuer).json("]");
        json.member("bearer_methods_supported").json(r#"["header"]"#);
        let scopes = scopes(catalog);
        if !scopes.is_empty() {
            json.member("scopes_supported").strings(&scopes);
        }
        json.json("}");
        json.end()
    }

    /// What a `WWW-Authenticate` header says besides (RFC 9728, 5.1): where the metadata are, and
    /// `scopes` to ask for if it does not name any yet.
    pub(crate) fn pointer(&self, scopes: &[&str]) -> String {
        let scope = match scopes {
            [] => String::new(),
            scopes => format!(", scope=\"{}\"", scopes.join(" ")),
        };
        let origin = &self.origin;
        format!(
            "{scope}, resource_metadata=\"{origin}/.well-known/oauth-protected-resource{PATH}\""
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::tests::CATALOG;
    use crate::testing::FakeHost;

    const JWT: (&str, &str) = ("AUTH", "api-key, jwt");
    const URL: &str = "https://tools.example";
    const ISSUER: (&str, &str) = ("JWT_ISSUER", "https://login.example");

    #[test]
    fn it_is_told_of_where_clients_can_be_told_whom_to_ask() {
        for (variables, origin, there) in [
            (&[JWT, ISSUER][..], Some(URL), true),
            (&[JWT, ISSUER], None, false),
            (&[JWT], Some(URL), false),
            (&[JWT, ("JWT_ISSUER", "login")], Some(URL), false),
            (&[("AUTH", "api-key"), ISSUER], Some(URL), false),
            (&[("AUTH", ""), ISSUER], Some(URL), false),
        ] {
            let origin = origin.map(str::to_owned);
            let read = Resource::read(origin, &FakeHost::with(variables));
            assert_eq!(read.is_some(), there, "{variables:?}");
        }
    }

    #[test]
    fn metadata_and_where_they_are() {
        let origin = Some(URL.to_owned());
        let resource = Resource::read(origin, &FakeHost::with(&[JWT, ISSUER])).unwrap();
        assert_eq!(
            resource.metadata(CATALOG),
            r#"{"resource":"https://tools.example/mcp","resource_name":"Toolbooth","authorization_servers":["https://login.example"],"bearer_methods_supported":["header"],"scopes_supported":["echo:a","echo:b"]}"#
        );
        let place = r#", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp""#;
        assert_eq!(resource.pointer(&[]), place);
        assert_eq!(resource.pointer(&["a", "b"]), format!(r#", scope="a b"{place}"#));
    }
}
