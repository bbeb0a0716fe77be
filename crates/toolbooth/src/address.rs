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
