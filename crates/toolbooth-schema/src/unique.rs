//! `uniqueItems`.

use std::cmp::Ordering;

use crate::Number;
use crate::json::Value;

/// Up to this many items are compared pairwise, which is faster than sorting and allocates nothing.
const FEW: usize = 16;

/// Whether no two items are equal.
///
/// Many items are sorted: n log n comparisons whatever the caller sends. Hashes could be made to collide.
pub fn is_unique(items: &[Value<'_>]) -> bool {
    if items.len() <= FEW {
        let mut rest = items;
        while let [first, others @ ..] = rest {
            if others.iter().any(|other| order(first, other).is_eq()) {
                return false;
            }
            rest = others;
        }
        return true;
    }
    let mut sorted: Vec<&Value<'_>> = items.iter().collect();
    sorted.sort_unstable_by(|a, b| order(a, b));
    sorted.windows(2).all(|pair| match pair {
        [a, b] => order(a, b).is_ne(),
        _ => true,
    })
}

/// A total order of values that agrees with JSON Schema about which values are equal.
pub fn order(a: &Value<'_>, b: &Value<'_>) -> Ordering {
    match (a, b) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => Number::from(a).order(b.into()),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Array(a), Value::Array(b)) => {
            let pairs = a.iter().zip(b).map(|(a, b)| order(a, b));
            a.len().cmp(&b.len()).then_with(|| first_difference(pairs))
        }
        // Members are sorted by name.
        (Value::Object(a), Value::Object(b)) => {
            let pairs = a
                .iter()
                .zip(b.iter())
                .map(|((name, a), (other, b))| name.cmp(other).then_with(|| order(a, b)));
            a.len().cmp(&b.len()).then_with(|| first_difference(pairs))
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

fn first_difference(mut pairs: impl Iterator<Item = Ordering>) -> Ordering {
    pairs.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

fn rank(value: &Value<'_>) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}
