//! JSON: re-exports `toolbooth_schema::json`, and builds objects.

mod object;

pub use toolbooth_schema::json::*;

pub(crate) use object::object;
