//! Names, compared.
//!
//! Where the target is WebAssembly, the `memcmp` behind `str`'s own comparisons goes byte by byte at
//! some twenty instructions each. Names of members are compared hundreds of times a call.

use std::cmp::Ordering;

/// The order of `str`: that of the bytes.
pub(crate) fn order(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let both = a.len().min(b.len());
    let (mut at, last) = (0, both.saturating_sub(8));
    loop {
        let (x, y) = (bytes(a, at, both), bytes(b, at, both));
        if x != y {
            // The lowest bit that differs is one of the first byte that does.
            let first = (x ^ y).trailing_zeros() & !7;
            return ((x >> first) & 0xff).cmp(&((y >> first) & 0xff));
        }
        if at == last {
            return a.len().cmp(&b.len());
        }
        // The last eight may have been looked at in part: there they are the same.
        at = last.min(at + 8);
    }
}

/// Eight bytes of a name from `at` on, the first the lowest; of one that is looked at as far as
/// `end`, and is shorter than that, all of them, some perhaps twice.
#[inline(always)]
fn bytes(name: &[u8], at: usize, end: usize) -> u64 {
    if end >= 8 {
        return name
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .map_or(0, |all| u64::from_le_bytes(*all));
    }
    if end >= 4 {
        let four = |at: usize| {
            let four = name.get(at..).and_then(<[u8]>::first_chunk);
            four.map_or(0, |four| u64::from(u32::from_le_bytes(*four)))
        };
        return four(0) | four(end - 4) << 32;
    }
    let one = |at: usize| name.get(at).map_or(0, |one| u64::from(*one));
    if end == 0 { 0 } else { one(0) | one(end / 2) << 8 | one(end - 1) << 16 }
}

/// Whether two names are one. Most that are not have another length.
pub(crate) fn same(a: &str, b: &str) -> bool {
    a.len() == b.len() && order(a, b).is_eq()
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
