//! Media types, as clients write them, and the kinds that providers tell apart.

use std::borrow::Cow;

/// Names that clients use, and the registered ones (IANA's list of media types). Providers accept only the latter.
const ALIASES: [(&str, &str); 8] = [
    ("image/jpg", "image/jpeg"),
    ("image/pjpeg", "image/jpeg"),
    ("image/x-png", "image/png"),
    ("audio/mp3", "audio/mpeg"),
    ("audio/wave", "audio/wav"),
    ("audio/x-wav", "audio/wav"),
    ("audio/x-m4a", "audio/mp4"),
    ("application/x-pdf", "application/pdf"),
];

/// Types of texts that do not begin with `text/`.
const TEXTS: [&str; 10] = [
    "application/ecmascript",
    "application/javascript",
    "application/json",
    "application/sql",
    "application/toml",
    "application/x-javascript",
    "application/x-ndjson",
    "application/x-sh",
    "application/x-yaml",
    "application/yaml",
];

/// The registered name, without parameters.
pub(super) fn canonical(media_type: &str) -> Cow<'_, str> {
    let plain = media_type.split(';').next().unwrap_or_default().trim();
    let known = ALIASES.iter().find(|(alias, _)| plain.eq_ignore_ascii_case(alias));
    match known {
        Some((_, name)) => Cow::Borrowed(name),
        None if plain.bytes().any(|byte| byte.is_ascii_uppercase()) => {
            plain.to_ascii_lowercase().into()
        }
        None => Cow::Borrowed(plain),
    }
}

/// Whether it is that of a text.
pub(super) fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
        || TEXTS.contains(&media_type)
        || ["+json", "+xml", "/xml"].iter().any(|end| media_type.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_clients() {
        for (written, expected) in [
            ("image/jpg", "image/jpeg"),
            ("IMAGE/JPG", "image/jpeg"),
            ("image/png", "image/png"),
            ("Text/Plain; charset=utf-8", "text/plain"),
            ("audio/mp3", "audio/mpeg"),
            ("", ""),
        ] {
            assert_eq!(canonical(written), expected, "{written}");
        }
    }

    #[test]
    fn texts() {
        for (media_type, expected) in [
            ("text/csv", true),
            ("application/json", true),
            ("application/ld+json", true),
            ("image/svg+xml", true),
            ("application/pdf", false),
            ("application/octet-stream", false),
        ] {
            assert_eq!(is_text(media_type), expected, "{media_type}");
        }
    }
}
