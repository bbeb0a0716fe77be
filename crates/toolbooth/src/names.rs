//! Names, compared.
//!
//! Where the target is WebAssembly, the `memcmp` behind `str`'s own comparisons goes byte by byte at
//! some twenty instructions each. Names of members are compared hundreds of times a call.

use std::cmp::Ordering;

/// The order of `str`: that of the bytes. Quickest where names differ soon: [`same`] is quicker where
/// they do not.
pub(crate) fn order(a: &str, b: &str) -> Ordering {
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
    // One of them has ended, or both.
    a.len().cmp(&b.len())
}

/// Whether two names are one. Most that are not have another length.
#[inline(always)]
pub fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && equal(a.as_bytes(), b.as_bytes())
}

/// Compares names of one length.
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

/// The last bytes of a name. The standard library's `last_chunk` is not inlined.
#[inline(always)]
fn end<const N: usize>(name: &[u8]) -> Option<&[u8; N]> {
    name.get(name.len().checked_sub(N)?..)?.first_chunk()
}

/// Whether a character cannot be seen, or changes how the text around it is shown: control characters, those
/// that Unicode calls ignorable (`Default_Ignorable_Code_Point`, which includes all bidirectional controls),
/// separators of lines and paragraphs, annotation marks, and the blank Braille pattern. With them one name could look like another.
pub(crate) fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
            | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_stand_in_the_order_of_texts(
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
