//! Arithmetic tools.

use serde::Deserialize;
use serde_json::Number;
use toolbooth::{Context, ToolError};

#[derive(Deserialize)]
pub(crate) struct Add {
    a: Number,
    b: Number,
}

/// Adds two numbers.
///
/// The sum of integers is exact if it fits in 64 bits. Otherwise both are converted to IEEE 754
/// doubles, as in JavaScript: 0.1 + 0.2 is 0.30000000000000004. A whole result is written as an
/// integer if that is exact: 0.5 + 0.5 is 1.
pub(crate) async fn add(input: Add, _: &Context<'_>) -> Result<Number, ToolError> {
    let integers = input.a.as_i128().zip(input.b.as_i128());
    if let Some(sum) = integers.and_then(|(a, b)| Number::from_i128(a + b)) {
        return Ok(sum);
    }
    let sum = input.a.as_f64().zip(input.b.as_f64()).map(|(a, b)| a + b);
    sum.and_then(number).ok_or_else(|| ToolError::new("The sum is too large for a number"))
}

/// The largest double below which every integer is exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

fn number(value: f64) -> Option<Number> {
    if value.fract() == 0.0 && value.abs() < EXACT {
        // The check above guarantees the range.
        #[allow(clippy::cast_possible_truncation)]
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}
