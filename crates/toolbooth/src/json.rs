//! JSON: re-exports `toolbooth_schema::json`, builds objects, and writes numbers as text.

use serde_json::Map;

pub use toolbooth_schema::json::*;

/// An object with these members.
///
/// Smaller than `json!`, which generates code for the conversion of each value and for its failure.
pub(crate) fn object<const N: usize>(
    mut members: [(&str, serde_json::Value); N],
) -> serde_json::Value {
    build(&mut members)
}

// Not generic, so that there is one copy of the code.
fn build(members: &mut [(&str, serde_json::Value)]) -> serde_json::Value {
    let mut object = Map::new();
    for (name, value) in members {
        object.insert((*name).to_owned(), value.take());
    }
    object.into()
}

/// A number as text: whole ones have no fraction, others are as in JSON.
pub(crate) fn number_text(number: f64) -> String {
    if number.trunc() == number && number.abs() < EXACT_BELOW {
        #[allow(clippy::cast_possible_truncation)]
        return (number as i64).to_string();
    }
    to_string(&number)
}
