//! Percent-encoding, to build URLs from untrusted text.

use std::fmt::Display;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::tool::ToolError;

/// Everything except the unreserved characters (RFC 3986, 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Encodes `text` as exactly one segment of a URL's path.
///
/// Encoding alone is not enough: URL parsers resolve the segments `.` and `..` even if they are written as
/// `%2E%2E` (WHATWG URL, 4.4), so the request could go to another path than the tool intended. Some proxies decode
/// slashes before that, so no part between slashes may be one of them either. Any other text is safe, because a `%` in
/// `text` becomes `%25`.
///
/// ```
/// # use toolbooth::url::path_segment;
/// assert_eq!(path_segment("a/b c").unwrap(), "a%2Fb%20c");
/// assert!(path_segment("..").is_err());
/// ```
///
/// # Errors
/// `text` is empty, or a part of it between slashes is `.` or `..`. The error does not repeat it.
pub fn path_segment(text: &str) -> Result<String, ToolError> {
    let is_dots = |part: &str| matches!(part, "." | "..");
    if text.is_empty() || text.split(['/', '\\']).any(is_dots) {
        return Err(ToolError::new("A part of the address is not valid").developer_message(
            "A path segment must not be empty, nor have a part that is \".\" or \"..\".",
        ));
    }
    Ok(query_value(text).to_string())
}

/// Encodes `text` as the value of a query parameter.
pub fn query_value(text: &str) -> impl Display {
    utf8_percent_encode(text, RESERVED)
}

/// A part of a path without its escapes.
pub fn decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

/// The first field of a query with this name.
pub fn query_parameter(query: &str, name: &str) -> Option<String> {
    let mut fields = form_urlencoded::parse(query.as_bytes());
    fields.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_segment_stays_one_segment() {
        for (text, expected) in [
            ("hello-world", Some("hello-world")),
            ("A_b.c~9", Some("A_b.c~9")),
            ("a/b", Some("a%2Fb")),
            ("a\\b", Some("a%5Cb")),
            ("a?b#c&d=e;f@g:h", Some("a%3Fb%23c%26d%3De%3Bf%40g%3Ah")),
            ("a b\t\r\n\0", Some("a%20b%09%0D%0A%00")),
            ("ü", Some("%C3%BC")),
            ("...", Some("...")),
            (".git", Some(".git")),
            ("a/..b", Some("a%2F..b")),
            ("a//b", Some("a%2F%2Fb")),
            ("%2E%2E", Some("%252E%252E")),
            (".%2e", Some(".%252e")),
            // URL parsers remove tabs and line breaks, and trim the URL.
            (".\t.", Some(".%09.")),
            (".. ", Some("..%20")),
            ("", None),
            (".", None),
            ("..", None),
            ("../..", None),
            ("a/./b", None),
            ("a\\..", None),
        ] {
            assert_eq!(path_segment(text).ok().as_deref(), expected, "{text:?}");
        }
    }
}
