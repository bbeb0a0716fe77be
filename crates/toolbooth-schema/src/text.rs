//! Strings: excerpts of what a caller sent, the name that was probably meant, and fast comparison of names.

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

/// The known name that was probably meant by `name`: the one that needs the fewest corrections, if they are few.
/// The case of ASCII letters does not count. No known name is suggested for a very long one, which bounds the time.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_EXCERPT {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let corrections = |known: &'a str| {
        corrections(&name, &known.to_ascii_lowercase()).map(|corrections| (corrections, known))
    };
    let nearest = known.into_iter().filter_map(corrections);
    nearest.min_by_key(|(corrections, _)| *corrections).map(|(_, known)| known)
}

/// How many characters of `name` to insert, remove, replace or swap with the next one to get `known`; `None` if that
/// is more than a third of the longer name, or more than three. Words at the start that both have are not counted, because
/// the last word of `Calculator_Add` distinguishes it from `Calculator_Sub`.
fn corrections(name: &str, known: &str) -> Option<usize> {
    let bytes = name.bytes().zip(known.bytes());
    let common = bytes.enumerate().take_while(|(_, (a, b))| a == b);
    let separators = common.filter(|(_, (byte, _))| matches!(byte, b'_' | b'-' | b'.'));
    let start = separators.last().map_or(0, |(at, _)| at + 1);
    let (name, known) = (name.get(start..)?, known.get(start..)?);
    let most = (name.len().max(known.len()) / 3).min(3);
    if name.len().abs_diff(known.len()) > most {
        return None;
    }
    Some(strsim::osa_distance(name, known)).filter(|corrections| *corrections <= most)
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
pub fn is_equal(a: &str, b: &str) -> bool {
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

    #[test]
    fn the_name_that_was_meant() {
        const NAMES: [&str; 8] = [
            "city",
            "unit",
            "max_items",
            "max_pages",
            "Calculator_Add",
            "Calculator.Add",
            "x",
            "größe",
        ];
        let long = "a".repeat(64);
        for (name, expected) in [
            ("citty", Some("city")),
            ("ciyt", Some("city")),
            ("City", Some("city")),
            ("town", None),
            ("units", Some("unit")),
            ("", None),
            ("y", None),
            ("X", Some("x")),
            ("max_itmes", Some("max_items")),
            ("max_page", Some("max_pages")),
            ("max_", None),
            ("calculator_add", Some("Calculator_Add")),
            ("Calculator_Ad", Some("Calculator_Add")),
            ("calculator-add", Some("Calculator_Add")),
            ("Calculater.Add", Some("Calculator.Add")),
            ("CalculatorAdd", Some("Calculator_Add")),
            ("Calculator_Sub", None),
            ("grösse", Some("größe")),
            ("größen", Some("größe")),
            (&long, None),
            (&format!("{long}a"), None),
        ] {
            assert_eq!(nearest(name, NAMES), expected, "{name}");
        }
        assert_eq!(nearest(&format!("{long}a"), [&*long]), None);
        assert_eq!(nearest("a", []), None);
    }

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
                prop_assert_eq!(is_equal(a, b), a == b, "{:?} {:?}", a, b);
            }
        }
    }
}
