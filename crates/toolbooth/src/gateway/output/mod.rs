//! Where answers go: into a body, or into a stream.

mod streamed;
mod whole;

pub(super) use streamed::Streamed;
pub(super) use whole::Whole;
