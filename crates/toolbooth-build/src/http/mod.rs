//! Checks the member `http` of definitions, and compiles it into a table for the interpreter.

mod body;
mod check;
mod fields;
mod path;
mod render;
mod reserved;
mod select;
mod sent;
mod template;
mod toolkit;

pub(crate) use check::check;
pub(crate) use render::call;
pub use reserved::is_of_worker;
pub(crate) use toolkit::{Toolkits, variables};
