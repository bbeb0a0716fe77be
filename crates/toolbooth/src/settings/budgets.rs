//! The member `budgets` of an API key and of a rule of sign-in.

use crate::budget::{Budget, NANO_DOLLARS, Unit, Window};
use crate::json::Value;

/// The highest limit in dollars.
const MOST_DOLLARS: u32 = 1_000_000;
/// The highest limit of other units.
const MOST_UNITS: u64 = 1_000_000_000;

const EXPECTED: &str = ".budgets must be a non-empty array of objects with window (1m, 1h, 1d or 30d) and one of usd \
                        (above 0, at most 1000000), requests and tool_calls (whole numbers from 1 to 1000000000)";
const UNIQUE: &str = ".budgets must not have two entries with the same window and unit";

/// Parses a list of budgets.
///
/// # Errors
/// What was expected instead, after the place of the key or rule.
pub fn parse_budgets(value: &Value<'_>) -> Result<Vec<Budget>, &'static str> {
    let entries = value.as_array().filter(|entries| !entries.is_empty()).ok_or(EXPECTED)?;
    let mut budgets: Vec<Budget> = Vec::new();
    for entry in entries {
        let budget = budget(entry).ok_or(EXPECTED)?;
        let is_same = |it: &Budget| it.window == budget.window && it.unit == budget.unit;
        if budgets.iter().any(is_same) {
            return Err(UNIQUE);
        }
        budgets.push(budget);
    }
    Ok(budgets)
}

/// Adds the budgets of a further rule about the same person: of two with the same window and unit, the larger one counts.
pub fn add_budgets(budgets: &mut Vec<Budget>, further: &[Budget]) {
    for budget in further {
        let same =
            budgets.iter_mut().find(|it| it.window == budget.window && it.unit == budget.unit);
        match same {
            Some(known) => known.limit = known.limit.max(budget.limit),
            None => budgets.push(*budget),
        }
    }
}

fn budget(entry: &Value<'_>) -> Option<Budget> {
    let members = entry.as_object().filter(|members| members.len() == 2)?;
    let window = members.get("window").and_then(Value::as_str)?;
    let window = Window::ALL.into_iter().find(|it| it.name() == window)?;
    let unit = Unit::ALL.into_iter().find(|unit| members.contains(unit.name()))?;
    let limit = members.get(unit.name())?;
    let limit = match unit {
        Unit::Usd => nano_dollars(limit, MOST_DOLLARS)?,
        Unit::Requests | Unit::ToolCalls => {
            limit.as_number().and_then(|it| it.as_u64()).filter(|it| *it <= MOST_UNITS)?
        }
    };
    (limit > 0).then_some(Budget { window, unit, limit })
}

/// An amount of dollars from 0 to `most`, at most a million, in nano-dollars.
pub fn nano_dollars(value: &Value<'_>, most: u32) -> Option<u64> {
    let dollars = value.as_f64().filter(|it| (0.0..=f64::from(most)).contains(it))?;
    // A double is exact to a nano-dollar for up to nine million dollars.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )]
    return Some((dollars * NANO_DOLLARS as f64).round() as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    fn parsed(text: &str) -> Result<Vec<Budget>, &'static str> {
        parse_budgets(&json::parse(text).unwrap())
    }

    #[test]
    fn entries() {
        for (entry, window, unit, limit) in [
            (r#"{"window":"1d","usd":5}"#, Window::Day, Unit::Usd, 5_000_000_000),
            (r#"{"usd":0.000000001,"window":"1h"}"#, Window::Hour, Unit::Usd, 1),
            (r#"{"window":"30d","usd":1e6}"#, Window::ThirtyDays, Unit::Usd, 1_000_000_000_000_000),
            (r#"{"window":"1d","usd":1234.567891234}"#, Window::Day, Unit::Usd, 1_234_567_891_234),
            (r#"{"window":"1m","requests":60}"#, Window::Minute, Unit::Requests, 60),
            (r#"{"window":"1m","tool_calls":1}"#, Window::Minute, Unit::ToolCalls, 1),
        ] {
            let expected = Ok(vec![Budget { window, unit, limit }]);
            assert_eq!(parsed(&format!("[{entry}]")), expected, "{entry}");
        }
        let several =
            r#"[{"window":"1d","usd":5},{"window":"1m","usd":1},{"window":"1d","requests":1}]"#;
        assert_eq!(parsed(several).map(|it| it.len()), Ok(3));
    }

    #[test]
    fn invalid_entries() {
        for entry in [
            "1",
            "{}",
            r#"{"window":"1d"}"#,
            r#"{"usd":5}"#,
            r#"{"window":"1w","usd":5}"#,
            r#"{"window":60,"usd":5}"#,
            r#"{"window":"1d","usd":0}"#,
            r#"{"window":"1d","usd":1e-10}"#,
            r#"{"window":"1d","usd":-1}"#,
            r#"{"window":"1d","usd":"5"}"#,
            r#"{"window":"1d","usd":1000000.1}"#,
            r#"{"window":"1d","requests":0}"#,
            r#"{"window":"1d","requests":1.5}"#,
            r#"{"window":"1d","requests":1000000001}"#,
            r#"{"window":"1d","tokens":5}"#,
            r#"{"window":"1d","usd":5,"requests":5}"#,
            r#"{"window":"1d","usd":5,"name":"x"}"#,
        ] {
            assert_eq!(parsed(&format!("[{entry}]")), Err(EXPECTED), "{entry}");
        }
        for list in ["[]", "{}", "null", r#"{"window":"1d","usd":5}"#] {
            assert_eq!(parsed(list), Err(EXPECTED), "{list}");
        }
        let twice = r#"[{"window":"1d","usd":5},{"window":"1d","usd":6}]"#;
        assert_eq!(parsed(twice), Err(UNIQUE));
    }

    #[test]
    fn of_several_rules_the_larger_budget_counts() {
        let of = |text| parsed(text).unwrap();
        let mut budgets = of(r#"[{"window":"1d","usd":5},{"window":"1m","requests":9}]"#);
        add_budgets(
            &mut budgets,
            &of(
                r#"[{"window":"1d","usd":2},{"window":"1m","requests":10},{"window":"1h","usd":1}]"#,
            ),
        );
        let expected = of(
            r#"[{"window":"1d","usd":5},{"window":"1m","requests":10},{"window":"1h","usd":1}]"#,
        );
        assert_eq!(budgets, expected);
    }
}
