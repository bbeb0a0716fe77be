//! JSON: what `toolbooth-schema` reads and writes, and pieces of the older writer.

mod object;
mod writer;

pub use toolbooth_schema::json::*;

pub(crate) use object::object;
pub(crate) use writer::Writer;
pub use writer::text;

/// The JSON of a value: the same as [`to_string`].
pub fn write(value: &impl serde::Serialize) -> String {
    to_string(value)
}
