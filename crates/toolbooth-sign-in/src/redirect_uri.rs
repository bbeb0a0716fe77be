//! Where a client may receive codes (RFC 6749, 3.1.2; RFC 8252, 7; RFC 9700, 2.1).

use std::net::Ipv6Addr;

use toolbooth::address::is_localhost;

/// The longest redirect URI, in bytes.
const MAX_URI: usize = 512;

/// Schemes that run code or show data in the browser.
const DANGEROUS: [&str; 8] =
    ["javascript", "data", "vbscript", "file", "blob", "about", "filesystem", "view-source"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    /// An `https` URL of a web application.
    Web,
    /// An `http` URL of this machine, of a native application. Its port may differ from request to request.
    Loopback,
    /// A scheme that a native application has registered with the operating system.
    PrivateScheme,
    /// It must not be registered.
    Forbidden,
}

/// Whether a text is a scheme (RFC 3986, 3.1).
fn is_scheme(text: &str) -> bool {
    let mut bytes = text.bytes();
    let starts = bytes.next().is_some_and(|it| it.is_ascii_alphabetic());
    starts && bytes.all(|it| it.is_ascii_alphanumeric() || b"+-.".contains(&it))
}

/// Whether a scheme, in lower case, can be that of a native application.
pub(crate) fn is_private_scheme(scheme: &str) -> bool {
    is_scheme(scheme) && !["https", "http"].contains(&scheme) && !DANGEROUS.contains(&scheme)
}

/// What a URI is, its scheme in lower case, and its host with the port.
fn parse(uri: &str) -> (RedirectKind, String, &str) {
    // Other characters must be encoded. A browser would drop or change some of them.
    let is_plain = uri.len() <= MAX_URI
        && uri.bytes().all(|it| it.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&it));
    let (scheme, rest) = uri.split_once(':').unwrap_or_default();
    let scheme = scheme.to_ascii_lowercase();
    let host = rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?']).next());
    let host = host.unwrap_or_default();
    let kind = match &*scheme {
        _ if !is_plain => RedirectKind::Forbidden,
        "https" | "http" if !is_authority(host) => RedirectKind::Forbidden,
        "https" => RedirectKind::Web,
        "http" if is_localhost(host) => RedirectKind::Loopback,
        scheme if is_private_scheme(scheme) => RedirectKind::PrivateScheme,
        _ => RedirectKind::Forbidden,
    };
    (kind, scheme, host)
}

/// Whether a text is a host, perhaps with a port, that every browser reads in the same way.
fn is_authority(text: &str) -> bool {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port),
        _ => (text, "443"),
    };
    let is_name = !host.is_empty()
        && host.bytes().all(|it| it.is_ascii_alphanumeric() || b"-._".contains(&it));
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_address = address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    let is_port =
        port.bytes().all(|it| it.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|it| it > 0);
    (is_name || is_address) && is_port
}

pub(crate) fn kind(uri: &str) -> RedirectKind {
    parse(uri).0
}

/// Whether codes may be sent to a URI. `schemes` are those of native applications that the operator allows.
pub(crate) fn is_allowed(uri: &str, schemes: &[String]) -> bool {
    match parse(uri) {
        (RedirectKind::Web | RedirectKind::Loopback, ..) => true,
        (RedirectKind::PrivateScheme, scheme, _) => schemes.contains(&scheme),
        (RedirectKind::Forbidden, ..) => false,
    }
}

/// Whether two URIs are equal, except for the port of a URL of this machine (RFC 8252, 7.3).
pub(crate) fn matches(registered: &str, requested: &str) -> bool {
    registered == requested
        || (kind(registered) == RedirectKind::Loopback
            && kind(requested) == RedirectKind::Loopback
            && without_port(registered) == without_port(requested))
}

/// The host of a loopback URL, and what follows the port.
fn without_port(uri: &str) -> Option<(&str, &str)> {
    let rest = uri.get("http://".len()..)?;
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end)?;
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|it| it.is_ascii_digit()) => host,
        _ => authority,
    };
    // No path and an empty one are the same (RFC 3986, 6.2.3).
    Some((host, if path.is_empty() { "/" } else { path }))
}

/// The host that a redirect goes to, or the scheme of a native application, for people.
pub(crate) fn destination(uri: &str) -> String {
    match parse(uri) {
        (RedirectKind::Web | RedirectKind::Loopback, _, host) => host.to_owned(),
        (_, scheme, _) => format!("{scheme}:"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        use RedirectKind::{Forbidden, Loopback, PrivateScheme, Web};
        for (uri, expected) in [
            ("https://claude.ai/api/mcp/auth_callback", Web),
            ("https://a.example:8443/cb?x=1", Web),
            ("HTTPS://a.example/cb", Web),
            ("http://localhost/callback", Loopback),
            ("http://localhost:3000/callback", Loopback),
            ("http://127.0.0.1:6274/oauth/callback", Loopback),
            ("http://[::1]:1234", Loopback),
            ("cursor://anysphere.cursor-mcp/oauth/callback", PrivateScheme),
            ("com.example.app:/cb", PrivateScheme),
            ("http://a.example/cb", Forbidden),
            ("http://localhost.a.example/cb", Forbidden),
            ("http://localhost@a.example/cb", Forbidden),
            ("https://a@b.example/cb", Forbidden),
            ("https:///cb", Forbidden),
            ("https://[2001:db8::1]:8443/cb", Web),
            ("https://xn--bcher-kva.example/cb", Web),
            ("https://b%c3%bccher.example/cb", Forbidden),
            ("https://a.example:/cb", Forbidden),
            ("https://a.example:0/cb", Forbidden),
            ("https://a.example:65536/cb", Forbidden),
            ("https://a.example:+80/cb", Forbidden),
            ("https://a.example:x/cb", Forbidden),
            ("https://a.example:80:90/cb", Forbidden),
            ("https://a.example,b.example/cb", Forbidden),
            ("https://[::1/cb", Forbidden),
            ("https://[zz]/cb", Forbidden),
            ("http://localhost:x/cb", Forbidden),
            ("http://[::1]:/cb", Forbidden),
            ("https:a.example", Forbidden),
            ("https://a.example/cb#f", Forbidden),
            ("https://a.example/c b", Forbidden),
            ("https://a.example\\@b.example/", Forbidden),
            ("https://a.example/\u{e9}", Forbidden),
            ("https://a.example/\n", Forbidden),
            ("javascript:alert(1)", Forbidden),
            ("JavaScript:alert(1)", Forbidden),
            ("java\tscript:alert(1)", Forbidden),
            ("data:text/html,x", Forbidden),
            ("/callback", Forbidden),
            ("", Forbidden),
            (":", Forbidden),
        ] {
            assert_eq!(kind(uri), expected, "{uri}");
        }
        let long = format!("https://a.example/{}", "a".repeat(MAX_URI));
        assert_eq!(kind(&long), Forbidden);
    }

    #[test]
    fn schemes_of_native_applications() {
        for (scheme, expected) in [
            ("cursor", true),
            ("com.example.app", true),
            ("vscode-insiders", true),
            ("http", false),
            ("https", false),
            ("javascript", false),
            ("data", false),
            ("vbscript", false),
            ("file", false),
            ("blob", false),
            ("about", false),
            ("filesystem", false),
            ("view-source", false),
            ("1password", false),
            ("a b", false),
            ("", false),
        ] {
            assert_eq!(is_private_scheme(scheme), expected, "{scheme}");
            let uri = format!("{scheme}://callback/cb");
            assert_eq!(
                is_allowed(&uri, &[scheme.to_owned()]),
                expected || scheme == "https",
                "{uri}"
            );
            assert_eq!(is_allowed(&uri, &[]), scheme == "https", "{uri}");
        }
    }

    #[test]
    fn only_the_port_of_a_loopback_url_may_differ() {
        for (registered, requested, expected) in [
            ("https://a.example/cb", "https://a.example/cb", true),
            ("https://a.example/cb", "https://a.example:8443/cb", false),
            ("https://a.example/cb", "https://a.example/cb/", false),
            ("https://a.example/cb", "https://a.example/cb?x=1", false),
            ("https://a.example/cb", "https://A.example/cb", false),
            ("http://localhost/cb", "http://localhost:3000/cb", true),
            ("http://localhost:3000/cb", "http://localhost/cb", true),
            ("http://localhost:1/cb", "http://localhost:2/cb", true),
            ("http://127.0.0.1/cb", "http://127.0.0.1:9/cb", true),
            ("http://[::1]/cb", "http://[::1]:9/cb", true),
            ("http://[::1]:1", "http://[::1]:9/", true),
            ("http://localhost/cb", "http://127.0.0.1/cb", false),
            ("http://localhost/cb", "http://localhost:3000/other", false),
            ("http://localhost/cb", "https://localhost/cb", false),
            ("http://localhost/cb", "http://localhost:3000/cb?x=1", false),
            ("http://localhost/cb", "http://localhost.a.example/cb", false),
            ("http://localhost/cb", "http://localhost:80@a.example/cb", false),
            ("cursor://a/cb", "cursor://a/cb", true),
            ("cursor://a/cb", "cursor://a:1/cb", false),
        ] {
            assert_eq!(matches(registered, requested), expected, "{registered} {requested}");
        }
    }
}
