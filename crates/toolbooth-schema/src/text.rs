//! Strings: excerpts of what a caller sent, and fast comparison of names.

use std::cmp::Ordering;

/// The beginning of a name that a caller sent, safe to quote in an error message.
///
/// At most 64 characters are kept, followed by `…`: a response must not grow with the request. Quotes become
/// `’`, so that they cannot end the quotation; invisible characters, line breaks and bidirectional controls
/// become `�`.
pub fn excerpt(word: &str) -> String {
    // Nearly every name is short and plain.
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\'' | b'`');
    if word.len() <= MAX_EXCERPT && word.bytes().all(plain) {
        return word.to_owned();
    }
    cut(&word.chars().take(MAX_EXCERPT + 1).map(harmless).collect::<String>(), MAX_EXCERPT)
}

const MAX_EXCERPT: usize = 64;

/// At most `most` characters of a string, followed by `…` if there were more.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn harmless(character: char) -> char {
    match character {
        '"' | '\'' | '`' => '’',
        '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => char::REPLACEMENT_CHARACTER,
        other if other.is_control() => char::REPLACEMENT_CHARACTER,
        other => other,
    }
}

/// Compares two names, like `str::cmp`.
///
/// On WebAssembly the `memcmp` behind `str` compares byte by byte, at about twenty instructions each. Names of
/// members are compared hundreds of times per call. Use `==` and `cmp` outside hot loops.
pub fn order(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a.as_bytes(), b.as_bytes());
    while let ([x, ..], [y, ..]) = (a, b) {
        if x != y {
            return x.cmp(y);
        }
        let words = (a.split_first_chunk::<8>(), b.split_first_chunk::<8>());
        (a, b) = match words {
            (Some((x, rest)), Some((y, others))) if x == y => (rest, others),
            _ => (a.get(1..).unwrap_or_default(), b.get(1..).unwrap_or_default()),
        };
    }
    a.len().cmp(&b.len())
}

/// Whether two names are equal. Most that differ have different lengths.
#[inline(always)]
pub fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && equal(a.as_bytes(), b.as_bytes())
}

/// Compares names of equal length.
fn equal(a: &[u8], b: &[u8]) -> bool {
    if a.len() >= 8 {
        let (mut rest, mut others) = (a, b);
        while let (Some((x, more)), Some((y, further))) =
            (rest.split_first_chunk::<8>(), others.split_first_chunk::<8>())
        {
            if x != y {
                return false;
            }
            (rest, others) = (more, further);
        }
        return end::<8>(a) == end::<8>(b);
    }
    if a.len() >= 4 {
        return a.first_chunk::<4>() == b.first_chunk::<4>() && end::<4>(a) == end::<4>(b);
    }
    let (mut rest, mut others) = (a, b);
    while let ([x, more @ ..], [y, further @ ..]) = (rest, others) {
        if x != y {
            return false;
        }
        (rest, others) = (more, further);
    }
    true
}

/// The last bytes of a name; the standard library's `last_chunk` is not inlined.
#[inline(always)]
fn end<const N: usize>(name: &[u8]) -> Option<&[u8; N]> {
    name.get(name.len().checked_sub(N)?..)?.first_chunk()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_compare_like_strings(
            begin in "[ab\u{0}é\u{10ffff}]{0,9}",
            a in "[ab\u{7f}\u{80}\u{1f600}]{0,9}",
            b in "[ab\u{7f}\u{80}\u{1f600}]{0,9}",
        ) {
            let (a, b) = (format!("{begin}{a}"), format!("{begin}{b}"));
            for (a, b) in [(&a, &b), (&a, &a), (&a, &begin)] {
                prop_assert_eq!(order(a, b), a.cmp(b), "{:?} {:?}", a, b);
                prop_assert_eq!(order(b, a), b.cmp(a), "{:?} {:?}", a, b);
                prop_assert_eq!(same(a, b), a == b, "{:?} {:?}", a, b);
            }
        }
    }
}
