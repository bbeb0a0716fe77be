//! Addresses of other servers, and of this one.

/// Accepts an absolute `http` or `https` address without query or trailing slash.
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
        _ => Err("must be an http or https address without query or trailing slash"),
    }
}

/// Accepts a [`base_address`] to which tokens may be sent: `https`, or `http` on the machine itself.
///
/// # Errors
/// What was expected instead.
pub fn secure_base_address(value: &str) -> Result<(), &'static str> {
    match base_address(value) {
        Ok(()) if is_secure(value) => Ok(()),
        _ => Err("must be an https address, or an http one of this machine, without query or \
                  trailing slash"),
    }
}

/// Accepts `https://host[:port]`, and `http://` of this machine.
pub(crate) fn is_origin(text: &str) -> Result<(), &'static str> {
    let rest = text.split_once("://").map_or("", |(_, rest)| rest);
    if is_secure(text) && !rest.contains(['/', '?']) {
        Ok(())
    } else {
        Err(
            "must be the address under which users reach the server, such as https://tools.example.com",
        )
    }
}

/// Whether secrets may be sent to an address, and keys be taken from there: only TLS keeps others
/// from listening in and from answering, except on the machine itself.
pub(crate) fn is_secure(address: &str) -> bool {
    let plain = !address.contains(|c: char| c.is_whitespace() || c.is_control() || c == '#');
    let host = |rest: &str| rest.split(['/', '?']).next().unwrap_or_default().to_owned();
    let https = address.strip_prefix("https://").map(host);
    let http = address.strip_prefix("http://").map(host);
    let here = http.is_some_and(|host| is_here(&host));
    plain && (here || https.is_some_and(|host| !host.is_empty() && !host.contains(['@', '\\'])))
}

/// Whether a host, with or without a port, is this machine.
pub(crate) fn is_here(authority: &str) -> bool {
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
