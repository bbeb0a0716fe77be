//! Keywords for numbers.

use std::cmp::Ordering;

use crate::Number;

/// A keyword for numbers.
#[derive(Debug, Clone, Copy)]
pub enum NumberKeyword {
    /// `minimum`.
    Minimum(Number),
    /// `maximum`.
    Maximum(Number),
    /// `exclusiveMinimum`.
    ExclusiveMinimum(Number),
    /// `exclusiveMaximum`.
    ExclusiveMaximum(Number),
    /// `multipleOf`: the divisor, and [`is_multiple`](crate::is_multiple).
    MultipleOf(Number, fn(Number, Number) -> bool),
}

impl NumberKeyword {
    pub(super) fn is_valid(&self, number: Number) -> bool {
        match self {
            Self::Minimum(limit) => number.order(*limit) != Ordering::Less,
            Self::Maximum(limit) => number.order(*limit) != Ordering::Greater,
            Self::ExclusiveMinimum(limit) => number.order(*limit) == Ordering::Greater,
            Self::ExclusiveMaximum(limit) => number.order(*limit) == Ordering::Less,
            Self::MultipleOf(divisor, is_multiple) => is_multiple(number, *divisor),
        }
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Self::Minimum(limit) => format!("Must be at least {}", limit.describe()),
            Self::Maximum(limit) => format!("Must be at most {}", limit.describe()),
            Self::ExclusiveMinimum(limit) => format!("Must be greater than {}", limit.describe()),
            Self::ExclusiveMaximum(limit) => format!("Must be less than {}", limit.describe()),
            Self::MultipleOf(divisor, _) => {
                let divisor = divisor.describe();
                let divisor = divisor.strip_suffix(".0").unwrap_or(&divisor);
                format!("Must be a multiple of {divisor}")
            }
        }
    }
}

#[cfg(feature = "build")]
mod build {
    use super::*;
    use crate::compile::SchemaObject;
    use crate::is_multiple;

    impl NumberKeyword {
        pub(in crate::keywords) fn read(schema: &SchemaObject<'_>) -> Vec<Self> {
            let keywords = [
                schema.number("minimum").map(Self::Minimum),
                schema.number("maximum").map(Self::Maximum),
                schema.number("exclusiveMinimum").map(Self::ExclusiveMinimum),
                schema.number("exclusiveMaximum").map(Self::ExclusiveMaximum),
                schema.number("multipleOf").map(|of| Self::MultipleOf(of, is_multiple)),
            ];
            keywords.into_iter().flatten().collect()
        }

        pub(in crate::keywords) fn codegen(&self) -> String {
            let keyword = match self {
                Self::Minimum(limit) => format!("Minimum({})", limit.codegen()),
                Self::Maximum(limit) => format!("Maximum({})", limit.codegen()),
                Self::ExclusiveMinimum(limit) => format!("ExclusiveMinimum({})", limit.codegen()),
                Self::ExclusiveMaximum(limit) => format!("ExclusiveMaximum({})", limit.codegen()),
                Self::MultipleOf(of, _) => format!("MultipleOf({}, is_multiple)", of.codegen()),
            };
            format!("NumberKeyword::{keyword}")
        }
    }
}
