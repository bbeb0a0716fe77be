//! Tool ids: `Toolkit.Tool[@version]` (OXP `ToolId`, `ToolVersion`).

use std::fmt;

use semver::Version;

/// A parsed tool id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRef<'a> {
    /// The part before the dot.
    pub toolkit: &'a str,
    /// The part after the dot.
    pub tool: &'a str,
    /// The version after `@`, with `x` expanded to `x.0.0`; `None` means the latest.
    pub version: Option<Version>,
}

/// The text is not a tool id. Displays the expected format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidToolId;

impl fmt::Display for InvalidToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a tool id has the form Toolkit.Tool, Toolkit.Tool@1 or Toolkit.Tool@1.0.0, \
             with letters, digits and _ in its names",
        )
    }
}

impl std::error::Error for InvalidToolId {}

impl<'a> ToolRef<'a> {
    /// Parses an id (`^[A-Za-z0-9_]+\.[A-Za-z0-9_]+(@([0-9]+|[0-9]+\.[0-9]+\.[0-9]+))?$`).
    ///
    /// # Errors
    /// [`InvalidToolId`] for any other text.
    pub fn parse(text: &'a str) -> Result<Self, InvalidToolId> {
        Self::read(text).ok_or(InvalidToolId)
    }

    fn read(text: &'a str) -> Option<Self> {
        let (toolkit, rest) = word(text, in_name)?;
        let (tool, rest) = word(rest.strip_prefix('.')?, in_name)?;
        let version = match rest.strip_prefix('@') {
            Some(version) => Some(parse_version(version)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        Some(Self { toolkit, tool, version })
    }
}

impl fmt::Display for ToolRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.toolkit, self.tool)?;
        match &self.version {
            None => Ok(()),
            Some(version) => write!(f, "@{version}"),
        }
    }
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Splits off the longest non-empty prefix of matching ASCII characters.
fn word(text: &str, matches: impl Fn(u8) -> bool) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !matches(byte)).unwrap_or(text.len());
    text.split_at_checked(end).filter(|(word, _)| !word.is_empty())
}

/// Parses `x.y.z`, or `x` as `x.0.0`.
///
/// The parts are integers, so `01` is 1. A part that is too large for 64 bits becomes `u64::MAX`, which no
/// definition has, so the lookup fails as it should.
pub fn parse_version(text: &str) -> Option<Version> {
    let (major, rest) = number(text)?;
    if rest.is_empty() {
        return Some(Version::new(major, 0, 0));
    }
    let (minor, rest) = number(rest.strip_prefix('.')?)?;
    let (patch, rest) = number(rest.strip_prefix('.')?)?;
    rest.is_empty().then(|| Version::new(major, minor, patch))
}

fn number(text: &str) -> Option<(u64, &str)> {
    let (digits, rest) = word(text, |byte| byte.is_ascii_digit())?;
    let value = digits.bytes().fold(0_u64, |value, digit| {
        value.saturating_mul(10).saturating_add(digit.saturating_sub(b'0').into())
    });
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids() {
        for (text, expected) in [
            ("Calculator.Add", Some("Calculator.Add")),
            ("Calculator.Add@1", Some("Calculator.Add@1.0.0")),
            ("Calculator.Add@1.2.3", Some("Calculator.Add@1.2.3")),
            ("A.B@01", Some("A.B@1.0.0")),
            ("A.B@01.02.03", Some("A.B@1.2.3")),
            ("a_1.b_2@0.0.0", Some("a_1.b_2@0.0.0")),
            ("9.9", Some("9.9")),
            ("Calculator.Add@1.0", None),
            ("Calculator.Add@", None),
            ("Calculator.Add@x", None),
            ("Calculator.Add@1.0.0.0", None),
            ("Calculator.Add@1..0", None),
            ("Calculator.Add@1.0.", None),
            ("Calculator.Add@+1", None),
            ("Calculator.Add@-1", None),
            ("Calculator.Add@1.0.0-rc", None),
            ("Calculator.Add@1@1", None),
            ("Calculator_Add", None),
            ("Add", None),
            ("A.B.C", None),
            (".B", None),
            ("A.", None),
            ("", None),
            ("@1", None),
            ("Calc-x.Add", None),
            ("Calculator.Add ", None),
            ("Calculator.Ädd", None),
            ("A.B@\u{0661}", None),
        ] {
            let got = ToolRef::parse(text).ok().map(|id| id.to_string());
            assert_eq!(got.as_deref(), expected, "{text}");
        }
    }
}
