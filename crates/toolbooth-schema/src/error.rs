//! Errors of a value, as data: where, and which keyword.

use std::ops::ControlFlow;

use crate::Keyword;
use crate::json::Value;

/// The place of a value: the steps from the root.
#[derive(Debug, Clone, Copy)]
pub enum Path<'a> {
    /// The root.
    Root,
    /// A member of the object at a path.
    Member(&'a Path<'a>, &'a str),
    /// An item of the array at a path.
    Item(&'a Path<'a>, usize),
}

/// What is wrong with the value at a path.
#[derive(Debug, Clone, Copy)]
pub enum ValidationError<'a> {
    /// The value breaks this keyword.
    Keyword(Keyword, &'a Value<'a>),
    /// A required member is missing.
    Missing(&'a str),
    /// No schema allows a member of this name.
    Unknown {
        /// The name.
        name: &'a str,
        /// The absent property that was probably meant.
        meant: Option<&'static str>,
    },
}

/// Receives each error; `Break` stops the walk.
pub type ErrorSink<'a> = dyn FnMut(&Path<'_>, ValidationError<'_>) -> ControlFlow<()> + 'a;
