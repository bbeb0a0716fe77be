//! Cookies that bind a browser to a challenge or a sign-in: `state` travels through the provider, a cookie stays.

use super::flow::FLOW_LIFE_MS;
use toolbooth::http::Headers;

const PREFIX: &str = "__Host-toolbooth-";

/// The `Set-Cookie` header of a flow.
pub(crate) fn set(id: &str, value: &str) -> String {
    set_for(id, value, FLOW_LIFE_MS / 1000)
}

/// A `Set-Cookie` header. `__Host-` binds it to this host; with `Lax` browsers send it when a provider redirects them.
pub(crate) fn set_for(name: &str, value: &str, seconds: u64) -> String {
    format!("{PREFIX}{name}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite=Lax")
}

pub(crate) fn read(headers: &dyn Headers, name: &str) -> Option<String> {
    let all = headers.get("cookie")?;
    // Not `trim`: browsers let other hosts of the domain set a cookie whose name begins with a Unicode space, because to
    // them it has no prefix.
    let mut pairs =
        all.split(';').filter_map(|pair| pair.trim_matches([' ', '\t']).split_once('='));
    let (_, value) = pairs.find(|(known, _)| known.strip_prefix(PREFIX) == Some(name))?;
    Some(value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use toolbooth::testing::Pairs;

    #[test]
    fn only_cookies_that_this_host_has_set_are_read() {
        let own = format!("{PREFIX}session=own");
        let tossed = |space: char| format!("{space}{PREFIX}session=tossed; {own}");
        let spaces =
            ['\u{a0}', '\u{85}', '\u{1680}', '\u{2000}', '\u{2009}', '\u{2028}', '\u{3000}'];
        let all = spaces.map(tossed);
        let plain = [own.clone(), format!("a=b;\t {own} "), format!("session=tossed; {own}")];
        for cookies in all.iter().chain(&plain) {
            let headers = Pairs(&[("cookie", cookies)]);
            assert_eq!(read(&headers, "session").as_deref(), Some("own"), "{cookies}");
        }
    }
}
