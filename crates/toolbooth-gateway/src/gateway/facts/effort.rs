//! How much a model is asked to think.

use serde::Deserialize;

/// The efforts that the formats have words for, from least to most. No model has all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Effort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl Effort {
    const ALL: [Self; 7] =
        [Self::None, Self::Minimal, Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.as_str() == word)
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// The nearest of these efforts; of two that are as near, the lower one. A model that is asked to think is not told not to.
    pub(super) fn nearest(self, known: impl Iterator<Item = Self>) -> Option<Self> {
        let distance = |other: &Self| (*other as u8).abs_diff(self as u8);
        known
            .filter(|other| self == Self::None || *other != Self::None)
            .min_by_key(|other| (distance(other), *other))
    }
}

#[cfg(test)]
mod tests {
    use super::Effort::*;

    #[test]
    fn nearest() {
        for (wanted, known, expected) in [
            (Xhigh, &[Low, Medium, High, Max][..], Some(High)),
            (Xhigh, &[Low, Medium, High, Xhigh, Max], Some(Xhigh)),
            (Max, &[None, Low, Medium, High, Xhigh], Some(Xhigh)),
            (Minimal, &[None, Low, Medium, High], Some(Low)),
            (None, &[Minimal, Low], Some(Minimal)),
            (None, &[None, Low], Some(None)),
            (Low, &[High], Some(High)),
            (Low, &[None], Option::None),
            (Low, &[], Option::None),
        ] {
            assert_eq!(wanted.nearest(known.iter().copied()), expected, "{wanted:?} {known:?}");
        }
    }
}
