//! Base64 with `+`, `/` and padding (RFC 4648, 4), by way of the alphabet for URLs (RFC 4648, 5),
//! which everything else here is in: the code for a second alphabet would weigh more.

use base64ct::{Base64UrlUnpadded, Encoding};

/// Bytes in base64.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let letter = |letter| match letter {
        '-' => '+',
        '_' => '/',
        other => other,
    };
    let mut text: String = Base64UrlUnpadded::encode_string(bytes).chars().map(letter).collect();
    while !text.len().is_multiple_of(4) {
        text.push('=');
    }
    text
}

/// The bytes that base64 stands for; `None` when it is none.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let letter = |letter| match letter {
        '+' => '-',
        '/' => '_',
        // Of the other alphabet, or padding where none belongs.
        '-' | '_' => '=',
        other => other,
    };
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let plain = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    Base64UrlUnpadded::decode_vec(&plain.chars().map(letter).collect::<String>()).ok()
}

#[cfg(test)]
mod tests {
    use base64ct::Base64;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes(bytes: Vec<u8>) {
            let text = Base64::encode_string(&bytes);
            prop_assert_eq!(encode(&bytes), text.as_str());
            prop_assert_eq!(decode(&text), Some(bytes));
        }

        #[test]
        fn any_text(text in "[A-D+/_=-]{0,9}|\\PC{0,9}") {
            prop_assert_eq!(decode(&text), Base64::decode_vec(&text).ok());
        }
    }
}
