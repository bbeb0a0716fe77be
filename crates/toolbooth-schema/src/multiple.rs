//! `multipleOf`, exact.

use crate::Number;

/// `digits` times ten to the power of `exponent`: the absolute value of a number, as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal {
    digits: u64,
    exponent: i32,
}

impl From<Number> for Decimal {
    /// A double means its shortest decimal form: 0.1 is one tenth, as the author meant.
    fn from(number: Number) -> Self {
        let float = match number {
            Number::Unsigned(whole) => return Self { digits: whole, exponent: 0 },
            Number::Negative(whole) => return Self { digits: whole.unsigned_abs(), exponent: 0 },
            Number::Float(float) => float,
        };
        let text = Number::Float(float).describe();
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mut decimal = Self { digits: 0, exponent: exponent.parse().unwrap_or_default() };
        let mut fraction = 0;
        for byte in mantissa.bytes() {
            if byte == b'.' {
                fraction = 1;
            } else if byte.is_ascii_digit() {
                // A double has at most 17 significant digits, and few zeros before the point.
                decimal.digits =
                    decimal.digits.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
                decimal.exponent -= fraction;
            }
        }
        decimal
    }
}

/// Whether a number is a multiple of `divisor`, which is greater than 0.
pub fn is_multiple(number: Number, divisor: Number) -> bool {
    let (number, divisor) = (Decimal::from(number), Decimal::from(divisor));
    let of = u128::from(divisor.digits);
    if of == 0 {
        return false;
    }
    let shift = number.exponent - divisor.exponent;
    let power = shift.unsigned_abs();
    if shift < 0 {
        // digits / (of * 10^power): a divisor beyond u128 is greater than any digits.
        let scaled = 10_u128.checked_pow(power).and_then(|scale| scale.checked_mul(of));
        return number.digits == 0
            || scaled.is_some_and(|scaled| u128::from(number.digits) % scaled == 0);
    }
    // digits * 10^power modulo `of`; every factor is below 2^64.
    let mut rest = u128::from(number.digits) % of;
    for _ in 0..power {
        if rest == 0 {
            break;
        }
        rest = rest * 10 % of;
    }
    rest == 0
}
