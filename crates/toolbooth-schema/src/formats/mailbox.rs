//! `email`: `Mailbox` of RFC 5321, 4.1.2. It has no display name, no comment, and no character that would end a header.

use std::net::{Ipv4Addr, Ipv6Addr};

/// The limits of RFC 5321, 4.5.3.1, and of RFC 1035 for a label.
const MAX_LOCAL_PART: usize = 64;
const MAX_DOMAIN: usize = 255;
const MAX_LABEL: usize = 63;

/// Whether a text is a mailbox.
pub(super) fn is_mailbox(text: &str) -> bool {
    // A domain has no @, a quoted local part may have several.
    let Some((local_part, domain)) = text.rsplit_once('@') else { return false };
    local_part.len() <= MAX_LOCAL_PART && is_local_part(local_part) && is_domain(domain)
}

fn is_local_part(text: &str) -> bool {
    match text.strip_prefix('"') {
        Some(quoted) => is_quoted(quoted),
        None => text.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atext)),
    }
}

/// `atext` of RFC 5322, 3.2.3.
fn is_atext(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte)
}

/// Whether a text is the rest of a `Quoted-string` after the first quote.
fn is_quoted(text: &str) -> bool {
    let mut bytes = text.bytes();
    loop {
        match bytes.next() {
            Some(b'"') => return bytes.next().is_none(),
            Some(b'\\') if bytes.next().is_some_and(is_printable) => {}
            Some(byte) if byte != b'\\' && is_printable(byte) => {}
            _ => return false,
        }
    }
}

fn is_printable(byte: u8) -> bool {
    matches!(byte, b' '..=b'~')
}

fn is_domain(text: &str) -> bool {
    if let Some(literal) = text.strip_prefix('[') {
        return literal.strip_suffix(']').is_some_and(is_address);
    }
    let is_label = |label: &str| {
        let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=MAX_LABEL).contains(&label.len())
            && label.bytes().all(is_inside)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= MAX_DOMAIN && text.split('.').all(is_label)
}

/// An `address-literal` without its brackets. IPv6 is the only tag that IANA has registered.
fn is_address(text: &str) -> bool {
    match text.split_once(':') {
        Some((tag, address)) => {
            tag.eq_ignore_ascii_case("IPv6") && address.parse::<Ipv6Addr>().is_ok()
        }
        None => text.parse::<Ipv4Addr>().is_ok(),
    }
}
