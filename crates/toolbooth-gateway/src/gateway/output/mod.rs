//! Where answers go: into a body, or into a stream.

mod body;
mod stream;

pub(super) use body::BodyOutput;
pub(super) use stream::StreamOutput;
