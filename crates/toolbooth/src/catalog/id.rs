//! Tool ids: `Toolkit.Tool[@version]` (OXP `ToolId`, `ToolVersion`).

use std::fmt;

use semver::Version;

/// A tool id as a caller writes it, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRef<'a> {
    /// The part before the dot.
    pub toolkit: &'a str,
    /// The part after the dot.
    pub tool: &'a str,
    /// The version after `@`, with the shorthand `x` already meaning `x.0.0`; `None` means latest.
    pub version: Option<Version>,
}

/// The text is not a tool id. Displays the form that was expected.
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
    /// Takes an id apart (`^[A-Za-z0-9_]+\.[A-Za-z0-9_]+(@([0-9]+|[0-9]+\.[0-9]+\.[0-9]+))?$`).
    ///
    /// # Errors
    /// [`InvalidToolId`] for any other text.
    pub fn parse(text: &'a str) -> Result<Self, InvalidToolId> {
        let (id, version) = match text.split_once('@') {
            None => (text, None),
            Some((id, version)) => (id, Some(parse_version(version).ok_or(InvalidToolId)?)),
        };
        let (toolkit, tool) = id.split_once('.').ok_or(InvalidToolId)?;
        if is_name(toolkit) && is_name(tool) {
            Ok(Self { toolkit, tool, version })
        } else {
            Err(InvalidToolId)
        }
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

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Reads `x` as `x.0.0`, or `x.y.z`.
///
/// The parts are integers, so `01` is 1. One too large for 64 bits becomes the largest: no
/// definition has that version, so it is not found, as it should be.
pub fn parse_version(text: &str) -> Option<Version> {
    let mut parts = text.split('.').map(|part| {
        let number = part.bytes().try_fold(0_u64, |number, byte| {
            let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
            Some(number.saturating_mul(10).saturating_add(digit.into()))
        });
        number.filter(|_| !part.is_empty())
    });
    let major = parts.next()??;
    let (minor, patch) = match parts.next() {
        None => (0, 0),
        Some(minor) => (minor?, parts.next()??),
    };
    parts.next().is_none().then(|| Version::new(major, minor, patch))
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
