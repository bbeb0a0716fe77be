//! Names of models, as providers and routers write them: `claude-opus-4-8`, `claude-3-7-sonnet-20250219`,
//! `us.anthropic.claude-opus-4-6-v1:0`, `gpt-5.4-mini-2026-03-17`, `o3-pro`.

use serde::Deserialize;

/// A version of two numbers at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Version(u32, u32);

impl TryFrom<String> for Version {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let (major, minor) = text.split_once('.').unwrap_or((&text, "0"));
        Ok(Self(major.parse()?, minor.parse()?))
    }
}

/// A name in its words and numbers.
pub(super) struct Name<'m>(Vec<&'m str>);

impl<'m> Name<'m> {
    pub(super) fn of(model: &'m str) -> Self {
        let mut parts = Vec::new();
        for run in model.split(|c: char| !c.is_ascii_alphanumeric()) {
            let mut rest = run;
            while let Some(first) = rest.chars().next() {
                let is_number = first.is_ascii_digit();
                let end = rest.find(|c: char| c.is_ascii_digit() != is_number);
                let (part, others) = rest.split_at(end.unwrap_or(rest.len()));
                parts.push(part);
                rest = others;
            }
        }
        Self(parts)
    }

    /// Whether these words are in the name in this order, and its version is `from` or later. A name without a version is that of the
    /// newest model.
    pub(super) fn fits(&self, words: &str, from: Option<Version>) -> bool {
        let mut parts = self.0.iter();
        let mut after_first = None;
        let has_words = words.split(' ').all(|word| {
            let found = parts.any(|part| part.eq_ignore_ascii_case(word));
            after_first.get_or_insert(parts.as_slice());
            found
        });
        let version = version(after_first.unwrap_or_default());
        has_words && (from.is_none() || version.is_none() || version >= from)
    }
}

/// The first number, and one that follows it. A longer number is a date, or a size.
fn version(parts: &[&str]) -> Option<Version> {
    let number = |part: &&str| if part.len() > 2 { None } else { part.parse().ok() };
    let is_number = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
    let mut numbers = parts.iter().skip_while(|part| !is_number(part)).map_while(number);
    let major = numbers.next()?;
    Some(Version(major, numbers.next().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        for (model, expected) in [
            ("claude-opus-4-8", Some((4, 8))),
            ("claude-opus-4.8:thinking", Some((4, 8))),
            ("claude-sonnet-4-20250514", Some((4, 0))),
            ("claude-3-7-sonnet-20250219", Some((3, 7))),
            ("us.anthropic.claude-opus-4-6-v1:0", Some((4, 6))),
            ("claude-haiku-4-5@20251001", Some((4, 5))),
            ("anthropic/Claude-Fable-5", Some((5, 0))),
            ("claude-mythos-preview", None),
            ("claude-sonnet-20260101-v1", None),
        ] {
            let name = Name::of(model);
            let from = |(major, minor): (u32, u32)| Some(Version(major, minor));
            assert!(name.fits("claude", expected.and_then(from)), "{model}");
            let later = expected.map_or((99, 0), |(major, minor)| (major, minor + 1));
            assert_eq!(name.fits("claude", from(later)), expected.is_none(), "{model}");
        }
    }

    #[test]
    fn words() {
        for (model, words, expected) in [
            ("o3-deep-research", "o deep research", true),
            ("gpt-4o", "o pro", false),
            ("gpt-5.1-codex-mini", "gpt codex mini", true),
            ("gpt-5-mini", "gpt codex mini", false),
            ("gemini-3.1-flash-lite", "gemini flash lite", true),
            ("gemini-3-flash", "gemini flash lite", false),
            ("chatgpt-4o-latest", "gpt", false),
            ("", "gpt", false),
        ] {
            assert_eq!(Name::of(model).fits(words, None), expected, "{model} {words}");
        }
    }
}
