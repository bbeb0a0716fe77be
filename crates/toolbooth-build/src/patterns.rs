//! Finds what regular expressions of other engines have and ours has not.

/// The parts of patterns that need more than linear time, each with its name and what to write instead.
const UNSUPPORTED: [(&str, &str, &str); 5] = [
    ("(?=", "a look-ahead, (?=…)", ALL),
    ("(?!", "a look-ahead, (?!…)", NOT),
    ("(?<=", "a look-behind, (?<=…)", ALL),
    ("(?<!", "a look-behind, (?<!…)", NOT),
    ("\\k<", "a back-reference", "list the values, or check them in the tool"),
];
const ALL: &str = "write \"allOf\" with a pattern for each condition";
const NOT: &str = "write \"not\": {\"pattern\": …} for what may not match";

/// What a pattern has that is not supported, and what to write instead.
pub(crate) fn unsupported(pattern: &str) -> Option<String> {
    let (mut rest, mut in_class) = (pattern, false);
    while let Some(first) = rest.chars().next() {
        let found = UNSUPPORTED.iter().find(|(start, ..)| !in_class && rest.starts_with(start));
        // `\1` is the text of the first group. `\0` is a character.
        let is_number = |it: &str| it.starts_with(|c: char| matches!(c, '1'..='9'));
        let is_group = !in_class && rest.strip_prefix('\\').is_some_and(is_number);
        if let Some((_, what, instead)) = found.or(UNSUPPORTED.last().filter(|_| is_group)) {
            return Some(format!(
                "{what}, which is not supported: texts are matched in linear time; {instead} instead"
            ));
        }
        match first {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        let mut rest_of = rest.chars();
        rest_of.next();
        if first == '\\' {
            rest_of.next();
        }
        rest = rest_of.as_str();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_more_than_linear_time_is_named() {
        for (pattern, expected) in [
            ("^(?!admin).*$", Some("a look-ahead, (?!…)")),
            ("a(?=b)", Some("a look-ahead, (?=…)")),
            ("(?<!a)b", Some("a look-behind, (?<!…)")),
            ("(?<=a)b", Some("a look-behind, (?<=…)")),
            ("(a)\\1", Some("a back-reference")),
            ("(?<n>a)\\k<n>", Some("a back-reference")),
            ("^(?:a|b)(c)$", None),
            ("(?<name>a)", None),
            ("\\(?=a", None),
            ("[(?=]", None),
            ("[\\](?!]", None),
            ("[^]]\\\\", None),
            ("\\0\\x41", None),
            ("[\\1]", None),
            ("\\\\1", None),
            ("é", None),
            ("", None),
            ("\\", None),
        ] {
            let found = unsupported(pattern);
            let matches =
                expected.map(|it| found.as_ref().is_some_and(|found| found.starts_with(it)));
            assert_eq!(matches, found.as_ref().map(|_| true), "{pattern}: {found:?}");
        }
    }
}
