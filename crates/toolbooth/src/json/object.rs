//! Objects written member by member.

use serde_json::{Map, Value};

/// The object of these members.
///
/// `json!` writes out at each place how its values are made and what happens when that fails; here
/// they are values already, moved and not copied.
pub(crate) fn object<const N: usize>(mut members: [(&str, Value); N]) -> Value {
    filled(&mut members)
}

// One function for all numbers of members.
fn filled(members: &mut [(&str, Value)]) -> Value {
    let mut object = Map::new();
    for (name, value) in members {
        object.insert((*name).to_owned(), value.take());
    }
    Value::Object(object)
}
