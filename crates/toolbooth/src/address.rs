//! Checks of URLs: origins, base URLs, and whether secrets may be sent to them.

/// Accepts an absolute `http` or `https` URL without query or trailing slash.
///
/// # Errors
/// What was expected instead.
pub fn base_address(value: &str) -> Result<(), &'static str> {
    let host = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    match host {
        Some(rest)
            if !rest.is_empty()
                && !rest.ends_with('/')
                && !rest.contains(|c: char| c.is_whitespace() || c == '?' || c == '#') =>
        {
            Ok(())
        }
        _ => Err("must be an http or https URL without query or trailing slash"),
    }
}

/// Whether two URLs are equal in their canonical form: the case of scheme and host does not count, nor the port that the scheme has
/// by default (RFC 3986, 6.2).
pub fn is_same_url(one: &str, other: &str) -> bool {
    let one = canonical(one);
    one.is_some() && one == canonical(other)
}

/// The scheme, the host with the port, and the rest of a URL.
fn canonical(url: &str) -> Option<(String, String, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let scheme = scheme.to_ascii_lowercase();
    let default = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(default).unwrap_or(host).to_ascii_lowercase();
    Some((scheme, host, if path.is_empty() { "/" } else { path }))
}

/// Accepts a [`base_address`] to which tokens may be sent: `https`, or `http` on localhost.
///
/// # Errors
/// What was expected instead.
pub fn secure_base_address(value: &str) -> Result<(), &'static str> {
    match base_address(value) {
        Ok(()) if is_secure(value) => Ok(()),
        _ => Err("must be an https URL (http for localhost only) without query or trailing slash"),
    }
}

/// Accepts the address of a service, which only an operator chooses: `http` or `https`, a host, perhaps a port and a path;
/// without user, query, fragment and trailing slash. Whatever is added to it stays at that host.
///
/// # Errors
/// What was expected instead.
pub fn service_address(value: &str) -> Result<(), &'static str> {
    if is_service(value, is_authority) {
        return Ok(());
    }
    Err("must be an http or https URL without user, query or trailing slash")
}

/// Accepts an address to which credentials may be sent as it is: `https`, or `http` on localhost, without user and fragment.
///
/// # Errors
/// What was expected instead.
pub fn secure_address(value: &str) -> Result<(), &'static str> {
    if is_secure(value) && value.bytes().all(|byte| matches!(byte, b'!'..=b'~')) {
        return Ok(());
    }
    Err("must be an https URL (http for localhost only), without a user")
}

/// Accepts the [`secure_address`] that a definition may contain, at a public host as in [`public_address`].
///
/// # Errors
/// What was expected instead.
pub fn public_secure_address(value: &str) -> Result<(), &'static str> {
    secure_address(value)?;
    let path = value.split('?').next().unwrap_or_default();
    public_address(path.strip_suffix('/').unwrap_or(path))
}

/// Whether a text is the [`service_address`] of such a host.
fn is_service(value: &str, is_host: fn(&str) -> bool) -> bool {
    let rest = value.strip_prefix("https://").or_else(|| value.strip_prefix("http://"));
    let (authority, path) =
        rest.map_or(("", ""), |rest| rest.split_at(rest.find('/').unwrap_or(rest.len())));
    let is_in_path =
        |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:@".contains(&byte);
    is_host(authority) && path.bytes().all(is_in_path) && !path.ends_with('/')
}

/// Accepts hosts that are separated by commas, each perhaps with a port: `api.example.com`, or `*.example.com` for all below it.
///
/// # Errors
/// What was expected instead.
pub fn hosts(value: &str) -> Result<(), &'static str> {
    let is_host = |entry: &str| {
        let host = entry.trim();
        let name = host.strip_prefix("*.").unwrap_or(host);
        let has_levels = name.len() == host.len() || name.contains('.');
        has_levels && is_authority(name) && !name.contains(|c: char| c.is_ascii_uppercase())
    };
    if value.split(',').all(is_host) {
        return Ok(());
    }
    Err("must be hosts in lower case, separated by commas, such as api.example.com, *.example.com")
}

/// Whether a text is a host, perhaps with a port.
fn is_authority(text: &str) -> bool {
    match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, port)) => address.parse::<std::net::Ipv6Addr>().is_ok() && is_port(port),
        None => is_named(text),
    }
}

/// Whether a text is a host, perhaps with a port, and no IPv6 address: the parser of those adds 2 KB to the Worker.
fn is_named(text: &str) -> bool {
    let (host, port) = text.split_at(text.find(':').unwrap_or(text.len()));
    let is_in_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    !host.is_empty() && host.bytes().all(is_in_host) && is_port(port)
}

/// Whether a text is a port after its colon, or empty.
fn is_port(text: &str) -> bool {
    let is_number =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    text.is_empty() || text.strip_prefix(':').is_some_and(is_number)
}

/// Accepts the [`service_address`] that a definition may contain: `https` and the name of a public host, so that a
/// definition leads to no machine of the operator's network.
///
/// # Errors
/// What was expected instead.
pub fn public_address(value: &str) -> Result<(), &'static str> {
    let rest = value.strip_prefix("https://").unwrap_or_default();
    let host = rest.split(['/', ':']).next().unwrap_or_default().trim_end_matches('.');
    let last = host.rsplit_once('.').map_or("", |(_, last)| last).to_ascii_lowercase();
    const PRIVATE: [&str; 7] = ["local", "localhost", "internal", "lan", "home", "corp", "arpa"];
    // Parsers of addresses read a host whose last label is a number as an IPv4 address, in any notation.
    let is_name = last.starts_with(|first: char| first.is_ascii_alphabetic());
    if is_service(value, is_named) && is_name && !PRIVATE.contains(&last.as_str()) {
        return Ok(());
    }
    Err(
        "must be an https URL with the name of a public host, without user, query or trailing slash",
    )
}

/// Accepts `https://host[:port]`, and `http://` for localhost.
pub(crate) fn is_origin(text: &str) -> Result<(), &'static str> {
    let rest = text.split_once("://").map_or("", |(_, rest)| rest);
    if is_secure(text) && !rest.contains(['/', '?']) {
        Ok(())
    } else {
        Err("must be the origin where users reach the server, such as https://tools.example.com")
    }
}

/// Whether secrets may be sent to a URL and keys fetched from it: without TLS others can read and
/// answer, except on localhost.
pub fn is_secure(address: &str) -> bool {
    let plain = !address.contains(|c: char| c.is_whitespace() || c.is_control() || c == '#');
    let host = |rest: &str| rest.split(['/', '?']).next().unwrap_or_default().to_owned();
    let https = address.strip_prefix("https://").map(host);
    let http = address.strip_prefix("http://").map(host);
    let here = http.is_some_and(|host| is_localhost(&host));
    plain && (here || https.is_some_and(|host| !host.is_empty() && !host.contains(['@', '\\'])))
}

/// Whether a host, with or without a port, is this machine.
pub fn is_localhost(authority: &str) -> bool {
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| match authority.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix(':').is_some_and(is_port),
        None => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_urls() {
        let own = "https://Tools.example/mcp";
        for (other, expected) in [
            ("https://tools.example/mcp", true),
            ("HTTPS://TOOLS.EXAMPLE/mcp", true),
            ("https://tools.example:443/mcp", true),
            ("https://tools.example:80/mcp", false),
            ("https://tools.example:8443/mcp", false),
            ("http://tools.example/mcp", false),
            ("https://tools.example/MCP", false),
            ("https://tools.example/mcp/", false),
            ("https://tools.example/mcp?a", false),
            ("https://tools.example/mcp#a", false),
            ("https://tools.example//mcp", false),
            ("https://tools.example", false),
            ("https://a@tools.example/mcp", false),
            ("https://tools.example.evil.example/mcp", false),
            ("https://tools.example@evil.example/mcp", false),
            (" https://tools.example/mcp", false),
            ("https:/tools.example/mcp", false),
            ("tools.example/mcp", false),
            ("", false),
        ] {
            assert_eq!(is_same_url(own, other), expected, "{other}");
            assert_eq!(is_same_url(other, own), expected, "{other}");
        }
        assert!(is_same_url("http://localhost:8787", "HTTP://LOCALHOST:8787/"));
        assert!(!is_same_url("mcp", "mcp"));
    }

    #[test]
    fn addresses_of_services() {
        for (address, service, public) in [
            ("https://api.example.com", true, true),
            ("https://api.example.com:8443/v1/a%20b", true, true),
            ("http://api.example.com", true, false),
            ("https://localhost", true, false),
            ("http://localhost:8787/a", true, false),
            ("https://10.0.0.1", true, false),
            ("https://127.1", true, false),
            ("https://0x7f.0x1", true, false),
            ("https://a.0x7f", true, false),
            ("https://2130706433", true, false),
            ("https://[::1]:80", true, false),
            ("https://[fd00::1]", true, false),
            ("https://printer.local", true, false),
            ("https://metadata.google.internal", true, false),
            ("https://metadata.google.internal.", true, false),
            ("https://A.LOCALHOST", true, false),
            ("https://intranet", true, false),
            ("https://api.example.com/", false, false),
            ("https://api.example.com?a=b", false, false),
            ("https://api.example.com#a", false, false),
            ("https://user@api.example.com", false, false),
            ("https://api.example.com:a@b.example", false, false),
            ("https://api.example.com\\@b.example", false, false),
            ("https://api.example.com:99999", false, false),
            ("https://api.example.com:", false, false),
            ("https://[::1", false, false),
            ("https://[::1]a", false, false),
            ("https://é.example", false, false),
            ("https://a b.example", false, false),
            ("https:///a", false, false),
            ("ftp://api.example.com", false, false),
            ("", false, false),
        ] {
            assert_eq!(service_address(address).is_ok(), service, "{address}");
            assert_eq!(public_address(address).is_ok(), public, "{address}");
        }
    }

    #[test]
    fn lists_of_hosts() {
        for (value, good) in [
            ("api.example.com", true),
            ("api.example.com, *.example.org:8443,localhost:8801,[::1]:80", true),
            ("", false),
            ("api.example.com,", false),
            ("*", false),
            ("*.com", false),
            ("a.*.example.com", false),
            ("API.example.com", false),
            ("https://api.example.com", false),
            ("api.example.com/a", false),
            ("a@api.example.com", false),
        ] {
            assert_eq!(hosts(value).is_ok(), good, "{value}");
        }
    }

    #[test]
    fn secure_addresses() {
        for (address, good) in [
            ("https://a.example", true),
            ("https://a.example:8443/path?x=1", true),
            ("http://localhost:9000/a", true),
            ("http://127.0.0.1", true),
            ("http://[::1]:9000/a", true),
            ("http://[::2]", false),
            ("http://localhost:", false),
            ("http://a.example", false),
            ("http://localhost.example", false),
            ("http://localhost:x@a.example", false),
            ("http://127.0.0.1@a.example", false),
            ("https://a.example@b.example", false),
            ("https://", false),
            ("http://localhost\\@a.example", false),
            ("https://a.example\\@b.example", false),
            ("http://127.0.0.1.", false),
            ("http://localhost:80a", false),
            ("https://a.example/ b", false),
            ("https://a.example/#b", false),
            ("javascript:alert(1)", false),
            ("", false),
        ] {
            assert_eq!(is_secure(address), good, "{address}");
            let base = good && !address.contains('?');
            assert_eq!(secure_base_address(address).is_ok(), base, "{address}");
        }
    }
}
