//! Budgets: how much a caller may use in a period of time.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How many nano-dollars a dollar has. Money is counted in whole nano-dollars.
pub const NANO_DOLLARS: u64 = 1_000_000_000;

/// How much a caller may use of one unit in each window of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// The window.
    pub window: Window,
    /// What is counted.
    pub unit: Unit,
    /// The most that may be used in a window: a number of units; of [`Unit::Usd`] in nano-dollars.
    pub limit: u64,
}

/// What a budget counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// What models cost, in nano-dollars.
    Usd,
    /// Chat requests.
    Requests,
    /// Calls of tools.
    ToolCalls,
}

/// A period that budgets are about. Windows are fixed: they follow each other from the Unix epoch (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Window {
    /// `1m`
    #[serde(rename = "1m")]
    Minute,
    /// `1h`
    #[serde(rename = "1h")]
    Hour,
    /// `1d`: from midnight to midnight, UTC.
    #[serde(rename = "1d")]
    Day,
    /// `30d`: 30 days, not a month of the calendar.
    #[serde(rename = "30d")]
    ThirtyDays,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Self; 3] = [Self::Usd, Self::Requests, Self::ToolCalls];

    /// Its name, as in configuration and in `GET /usage`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usd => "usd",
            Self::Requests => "requests",
            Self::ToolCalls => "tool_calls",
        }
    }

    /// An amount for people, such as `4.2 USD`.
    pub fn describe(self, amount: u64) -> String {
        match self {
            Self::Usd => format!("{} USD", Dollars(amount)),
            Self::Requests if amount == 1 => "1 chat request".to_owned(),
            Self::Requests => format!("{amount} chat requests"),
            Self::ToolCalls if amount == 1 => "1 call of a tool".to_owned(),
            Self::ToolCalls => format!("{amount} calls of tools"),
        }
    }
}

impl Window {
    /// Every window.
    pub const ALL: [Self; 4] = [Self::Minute, Self::Hour, Self::Day, Self::ThirtyDays];

    /// Its name, as in configuration and in `GET /usage`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Minute => "1m",
            Self::Hour => "1h",
            Self::Day => "1d",
            Self::ThirtyDays => "30d",
        }
    }

    /// Its length in milliseconds.
    pub fn length_ms(self) -> u64 {
        match self {
            Self::Minute => 60_000,
            Self::Hour => 3_600_000,
            Self::Day => 86_400_000,
            Self::ThirtyDays => 30 * 86_400_000,
        }
    }

    /// When the window that contains a time begins, in milliseconds since the Unix epoch.
    pub fn start_ms(self, now_ms: u64) -> u64 {
        now_ms - now_ms % self.length_ms()
    }

    /// When the window that contains a time ends, and the next one begins.
    pub fn end_ms(self, now_ms: u64) -> u64 {
        self.start_ms(now_ms).saturating_add(self.length_ms())
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} per {}", self.unit.describe(self.limit), self.window.name())
    }
}

/// Whose budgets they are: a person has one account, whatever client calls for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Account {
    /// The holder of the API key with this name, or of a token that one has got with it.
    Key(String),
    /// The person with this `sub` in tokens of this server.
    Person(String),
    /// The tenant that tokens of others name.
    Tenant(String),
    /// The team with this name: what all its members use, beside their own accounts.
    Team(String),
}

impl Account {
    /// The account with this name in the ledger.
    pub fn named(name: &str) -> Option<Self> {
        let (kind, name) = name.split_once(':')?;
        match kind {
            "key" => Some(Self::Key(name.to_owned())),
            "person" => Some(Self::Person(name.to_owned())),
            "tenant" => Some(Self::Tenant(name.to_owned())),
            "team" => Some(Self::Team(name.to_owned())),
            _ => None,
        }
    }
}

/// Its name in the ledger.
impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(name) => write!(f, "key:{name}"),
            Self::Person(subject) => write!(f, "person:{subject}"),
            Self::Tenant(name) => write!(f, "tenant:{name}"),
            Self::Team(name) => write!(f, "team:{name}"),
        }
    }
}

/// An amount of nano-dollars. Displays as dollars, without zeros at the end.
#[derive(Debug, Clone, Copy)]
pub struct Dollars(pub u64);

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dollars, rest) = (self.0 / NANO_DOLLARS, self.0 % NANO_DOLLARS);
        if rest == 0 {
            return write!(f, "{dollars}");
        }
        let digits = format!("{rest:09}");
        write!(f, "{dollars}.{}", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    #[test]
    fn json_has_the_same_names() {
        assert_eq!(json::to_string(&Unit::ALL), json::to_string(&Unit::ALL.map(Unit::name)));
        assert_eq!(json::to_string(&Window::ALL), json::to_string(&Window::ALL.map(Window::name)));
    }

    #[test]
    fn amounts_for_people() {
        for (unit, amount, expected) in [
            (Unit::Usd, 0, "0 USD"),
            (Unit::Usd, 1, "0.000000001 USD"),
            (Unit::Usd, 4_200_000_000, "4.2 USD"),
            (Unit::Usd, 5 * NANO_DOLLARS, "5 USD"),
            (Unit::Requests, 1, "1 chat request"),
            (Unit::Requests, 60, "60 chat requests"),
            (Unit::ToolCalls, 1, "1 call of a tool"),
            (Unit::ToolCalls, 20, "20 calls of tools"),
        ] {
            assert_eq!(unit.describe(amount), expected);
        }
        let budget = Budget { window: Window::Day, unit: Unit::Usd, limit: 5 * NANO_DOLLARS };
        assert_eq!(budget.to_string(), "5 USD per 1d");
    }

    #[test]
    fn windows_follow_each_other_from_the_epoch() {
        // 2026-03-01T12:34:56.789Z
        const NOW: u64 = 1_772_368_496_789;
        for (window, start, end) in [
            (Window::Minute, 1_772_368_440_000, 1_772_368_500_000),
            (Window::Hour, 1_772_366_400_000, 1_772_370_000_000),
            (Window::Day, 1_772_323_200_000, 1_772_409_600_000),
            (Window::ThirtyDays, 1_770_336_000_000, 1_772_928_000_000),
        ] {
            assert_eq!((window.start_ms(NOW), window.end_ms(NOW)), (start, end), "{window:?}");
            assert_eq!(window.start_ms(end), end, "{window:?}");
            assert_eq!(window.end_ms(end - 1), end, "{window:?}");
        }
        assert_eq!(Window::Day.start_ms(0), 0);
        assert_eq!(Window::ThirtyDays.end_ms(u64::MAX), u64::MAX);
    }
}
