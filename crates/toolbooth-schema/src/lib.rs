//! JSON Schema 2020-12 as static tables, checked by one walk.
//!
//! A [`Schema`] is a list of [`Keyword`]s: all of JSON Schema 2020-12; of references, only those to `$defs` at the root. At build time,
//! `compile` reads a schema's JSON and `codegen` writes it as Rust statics. At run time nothing is parsed or
//! compiled: [`Schema::is_valid`] walks the tables, and [`check`] describes what is wrong in English. Another
//! schema adds a few hundred bytes of data and no code.
//!
//! Keywords that few schemas use and that need code (`multipleOf`, `uniqueItems`, `unevaluated…`, `format`, the
//! largest patterns) store a pointer to their function in the table. The linker drops the functions that no
//! schema uses.
//!
//! [`json`] has the values that are checked: strict JSON, read without copying strings.
#![forbid(unsafe_code)]

mod automaton;
mod branches;
#[cfg(feature = "build")]
mod codegen;
#[cfg(feature = "build")]
mod compile;
mod defaults;
mod describe;
pub mod formats;
pub mod json;
mod keywords;
mod literal;
mod multiple;
mod nulls;
mod number;
mod pattern;
mod reference;
pub mod text;
mod unevaluated;
mod unique;

#[cfg(test)]
mod tests;

pub use automaton::Automaton;
pub use branches::Discriminator;
#[cfg(feature = "build")]
pub use codegen::{Statics, literal};
#[cfg(feature = "build")]
pub use compile::{compile, compile_pattern};
pub use defaults::Defaults;
pub use describe::{
    ErrorSink, InvalidInput, ParameterError, Path, ValidationError, check, describe, describe_as,
};
pub use keywords::{
    AnyKeyword, ArrayKeyword, Keyword, NumberKeyword, ObjectKeyword, Properties, StringKeyword,
    Types,
};
pub use literal::Literal;
pub use multiple::is_multiple;
pub use number::Number;
pub use pattern::{Engine, Matcher, Pattern, regex};
pub use reference::Reference;
pub use unevaluated::{EVALUATED, Evaluated};
pub use unique::{is_unique, order};

use std::ops::ControlFlow;

use json::Value;

/// A schema: all of its keywords must hold. The schema `true` has no keywords.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    /// The keywords, in the order in which their errors are reported.
    pub keywords: &'static [Keyword],
}

impl Schema {
    /// Whether `value` is valid. Allocates nothing, except to check property names, `uniqueItems` of many
    /// items, and `unevaluated…`.
    pub fn is_valid(&self, value: &Value<'_>) -> bool {
        for keyword in self.keywords {
            if !keyword.is_valid(self, value) {
                return false;
            }
        }
        true
    }

    /// Reports each error of `value`, which is at `path`: keyword by keyword, and within a keyword in the
    /// order of the value.
    pub fn visit_errors(
        &self,
        value: &Value<'_>,
        path: &Path<'_>,
        sink: &mut ErrorSink<'_>,
    ) -> ControlFlow<()> {
        for keyword in self.keywords {
            if !keyword.is_valid(self, value) {
                keyword.visit_errors(self, value, path, sink)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn is_false(&self) -> bool {
        matches!(self.keywords, [Keyword::Any(AnyKeyword::False)])
    }
}
