//! Times for people, in UTC; lifetimes.

use crate::json::{self, Value};

/// The day of a time in milliseconds since the Unix epoch, as in RFC 3339: `2026-11-22`.
pub fn day(ms: u64) -> String {
    let days = ms / 86_400_000;
    // Years begin in March here, so that the leap day is the last one; eras are 400 years long.
    let shifted = days.saturating_add(719_468);
    let (era, day) = (shifted / 146_097, shifted % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{}-{month:02}-{day:02}", era.saturating_mul(400) + year + next)
}

/// The minute of a time in milliseconds since the Unix epoch: `23:59`.
pub fn minute(ms: u64) -> String {
    let minutes = ms / 60_000 % 1_440;
    format!("{:02}:{:02}", minutes / 60, minutes % 60)
}

/// A time in milliseconds since the Unix epoch, as in RFC 3339, to the second: `2026-11-22T23:59:07Z`.
pub fn utc(ms: u64) -> String {
    format!("{}T{}:{:02}Z", day(ms), minute(ms), ms / 1000 % 60)
}

/// A lifetime in seconds, as servers write it: a number, or a number in a string. Rounds down to milliseconds. A
/// negative lifetime has ended; anything that is not a number counts as absent.
pub fn lifetime_ms(expires_in: &Value<'_>) -> Option<u64> {
    let seconds = match expires_in {
        Value::Number(number) => number.as_f64(),
        // `str::parse` would link another 10 KB of tables.
        Value::String(text) => json::read(text.trim().as_bytes()),
        _ => None,
    };
    // The cast saturates.
    seconds.filter(|it: &f64| it.is_finite()).map(|seconds| (seconds * 1000.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_minutes() {
        for (ms, expected) in [
            (0, "1970-01-01"),
            (86_399_999, "1970-01-01"),
            (86_400_000, "1970-01-02"),
            (951_782_400_000, "2000-02-29"),
            (951_868_800_000, "2000-03-01"),
            (1_709_164_800_000, "2024-02-29"),
            (1_735_689_599_999, "2024-12-31"),
            (1_735_689_600_000, "2025-01-01"),
            (4_107_542_400_000, "2100-03-01"),
        ] {
            assert_eq!(day(ms), expected, "{ms}");
        }
        assert!(!day(u64::MAX).is_empty());
        for (ms, expected) in [(0, "00:00"), (86_399_999, "23:59"), (1_735_693_260_000, "01:01")] {
            assert_eq!(minute(ms), expected, "{ms}");
        }
    }
}
