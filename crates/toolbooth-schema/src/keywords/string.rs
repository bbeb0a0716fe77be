//! Keywords for strings.

use super::count;
use crate::pattern::Pattern;

/// A keyword for strings.
#[derive(Debug, Clone, Copy)]
pub enum StringKeyword {
    /// `minLength`, in code points.
    MinLength(u64),
    /// `maxLength`, in code points.
    MaxLength(u64),
    /// `pattern`.
    Pattern(&'static Pattern),
    /// `format`: its name, and its check (see [`formats`](crate::formats)).
    Format(&'static str, fn(&str) -> bool),
}

impl StringKeyword {
    pub(super) fn is_valid(&self, text: &str) -> bool {
        match self {
            // A character has at most four bytes, so most strings need no counting.
            Self::MinLength(least) => text.len() as u64 / 4 >= *least || length(text) >= *least,
            Self::MaxLength(most) => text.len() as u64 <= *most || length(text) <= *most,
            Self::Pattern(pattern) => pattern.matches(text),
            Self::Format(_, is_valid) => is_valid(text),
        }
    }
}

fn length(text: &str) -> u64 {
    text.chars().count() as u64
}

/// Values of the formats that models often write without a part.
const EXAMPLES: [(&str, &str); 3] =
    [("date-time", "2026-01-31T12:00:00Z"), ("duration", "P1DT12H"), ("time", "12:00:00Z")];

impl StringKeyword {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::MinLength(limit) => format!("Must have at least {}", count(*limit, "character")),
            Self::MaxLength(limit) => format!("Must have at most {}", count(*limit, "character")),
            Self::Pattern(pattern) => format!("Must match the pattern {}", pattern.source),
            Self::Format(name, _) => {
                let example = EXAMPLES.iter().find(|(known, _)| known == name);
                let example = example.map(|(_, example)| format!(", such as {example}"));
                format!("Must be a valid {name}{}", example.unwrap_or_default())
            }
        }
    }
}

#[cfg(feature = "build")]
mod build {
    use super::*;
    use crate::codegen::Statics;
    use crate::compile::{SchemaObject, compile_pattern};
    use crate::formats::ALL;

    impl StringKeyword {
        pub(in crate::keywords) fn read(schema: &SchemaObject<'_>) -> Vec<Self> {
            let format = schema.text("format");
            let format = ALL.iter().find(|(known, _)| format == Some(known));
            let keywords = [
                schema.least("minLength").map(Self::MinLength),
                schema.count("maxLength").map(Self::MaxLength),
                schema.text("pattern").map(|it| Self::Pattern(compile_pattern(it))),
                format.map(|(_, keyword)| *keyword),
            ];
            keywords.into_iter().flatten().collect()
        }

        pub(in crate::keywords) fn codegen(&self, statics: &mut Statics) -> String {
            match self {
                Self::MinLength(_) | Self::MaxLength(_) => format!("StringKeyword::{self:?}"),
                Self::Pattern(pattern) => {
                    format!("StringKeyword::Pattern(&{})", statics.pattern(pattern))
                }
                Self::Format(name, _) => {
                    format!("formats::{}", name.to_ascii_uppercase().replace('-', "_"))
                }
            }
        }
    }
}
