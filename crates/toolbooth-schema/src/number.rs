//! JSON numbers, compared without rounding.

use std::cmp::Ordering;

use crate::json::to_string;

/// A number, as `serde_json` stores it.
#[derive(Debug, Clone, Copy)]
pub enum Number {
    /// A whole number that is not negative.
    Unsigned(u64),
    /// A negative whole number.
    Negative(i64),
    /// Any other number.
    Float(f64),
}

impl From<&serde_json::Number> for Number {
    fn from(number: &serde_json::Number) -> Self {
        match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => Self::Unsigned(whole),
            (None, Some(whole)) => Self::Negative(whole),
            // Every number is one of the three.
            (None, None) => Self::Float(number.as_f64().unwrap_or_default()),
        }
    }
}

impl From<Number> for serde_json::Number {
    fn from(number: Number) -> Self {
        match number {
            Number::Unsigned(whole) => whole.into(),
            Number::Negative(whole) => whole.into(),
            // JSON has no infinite number, so a table has none.
            Number::Float(float) => Self::from_f64(float).unwrap_or_else(|| 0.into()),
        }
    }
}

impl Number {
    pub(crate) fn describe(self) -> String {
        to_string(&serde_json::Number::from(self))
    }

    #[cfg(feature = "build")]
    pub(crate) fn codegen(self) -> String {
        format!("Number::{self:?}")
    }

    /// Compares exactly: 1 equals 1.0, and 2^53 + 1 is greater than 2^53.
    pub(crate) fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Unsigned(a), Self::Unsigned(b)) => a.cmp(&b),
            (Self::Negative(a), Self::Negative(b)) => a.cmp(&b),
            (Self::Unsigned(_), Self::Negative(_)) => Ordering::Greater,
            (Self::Negative(_), Self::Unsigned(_)) => Ordering::Less,
            // JSON has no NaN.
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Self::Float(float), whole) => against_whole(float, whole),
            (whole, Self::Float(float)) => against_whole(float, whole).reverse(),
        }
    }
}

/// Compares a float with a whole number.
fn against_whole(float: f64, whole: Number) -> Ordering {
    /// The first double beyond `u64`.
    const BEYOND: f64 = 18_446_744_073_709_551_616.0;
    let whole = match whole {
        Number::Unsigned(whole) => i128::from(whole),
        Number::Negative(whole) => i128::from(whole),
        Number::Float(_) => return Ordering::Equal,
    };
    if float >= BEYOND {
        return Ordering::Greater;
    }
    if float <= -BEYOND {
        return Ordering::Less;
    }
    let floor = float.floor();
    let fraction = if floor < float { Ordering::Greater } else { Ordering::Equal };
    // A whole number within i128: the conversion is exact.
    (floor as i128).cmp(&whole).then(fraction)
}
