//! JSON: `toolbooth_schema::json` under the library's own name.

mod object;

pub use toolbooth_schema::json::*;

pub(crate) use object::object;
