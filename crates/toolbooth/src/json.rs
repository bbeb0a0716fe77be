//! JSON: re-exports `toolbooth_schema::json`, and keeps [`Writer`] until its last user derives `Serialize`.

mod object;
mod writer;

pub use toolbooth_schema::json::*;

pub(crate) use object::object;
pub(crate) use writer::Writer;
pub use writer::text;
