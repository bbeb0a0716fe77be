//! Builds JSON objects from values.

use serde_json::{Map, Value};

/// An object with these members.
///
/// Smaller than `json!`, which generates code for the conversion of each value and for its failure.
pub(crate) fn object<const N: usize>(mut members: [(&str, Value); N]) -> Value {
    build(&mut members)
}

// Not generic, so that there is one copy of the code.
fn build(members: &mut [(&str, Value)]) -> Value {
    let mut object = Map::new();
    for (name, value) in members {
        object.insert((*name).to_owned(), value.take());
    }
    Value::Object(object)
}
