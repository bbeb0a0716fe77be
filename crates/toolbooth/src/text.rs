//! A caller's own words in what a caller is told.

/// The beginning of a word that a caller sent (a name, a field, a property), fit to stand in an error.
///
/// At most 64 characters are kept, and `…` stands for the rest: an answer must not grow with what
/// was sent. Quotes become `’`, so that the word cannot end the quotes that it stands in; characters
/// that show nothing, end lines or turn the direction of a text become `�`.
pub(crate) fn excerpt(word: &str) -> String {
    // Nearly every word is short and plain.
    let plain = |byte: u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\'' | b'`');
    if word.len() <= LONGEST && word.bytes().all(plain) {
        return word.to_owned();
    }
    cut(&word.chars().take(LONGEST + 1).map(harmless).collect::<String>(), LONGEST)
}

const LONGEST: usize = 64;

/// A text of at most `most` characters, and `…` where there were more.
pub(crate) fn cut(text: &str, most: usize) -> String {
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
