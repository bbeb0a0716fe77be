//! What the generated code of a catalogue uses. Not part of the API.

pub use {serde, serde_json};

use crate::names::is_same;
use crate::tool::Variable;

/// Accepts any text but an empty one.
///
/// # Errors
/// The text is empty.
pub fn not_empty(text: &str) -> Result<(), &'static str> {
    if text.is_empty() { Err("must not be empty") } else { Ok(()) }
}

/// The variables of functions and those of `toolkit.json`, whose number is `N` in total.
pub const fn all_variables<const N: usize>(
    mut functions: &[Variable],
    mut toolkits: &[Variable],
) -> [Variable; N] {
    let mut all = [Variable::secret(""); N];
    let mut rest: &mut [Variable] = &mut all;
    while let [next, others @ ..] = rest {
        if let [first, more @ ..] = functions {
            (*next, functions) = (*first, more);
        } else if let [first, more @ ..] = toolkits {
            (*next, toolkits) = (*first, more);
        }
        rest = others;
    }
    all
}

/// Whether `variables` has one with this name.
pub const fn declares(mut variables: &[Variable], name: &str) -> bool {
    while let [first, rest @ ..] = variables {
        if is_same(first.name(), name) {
            return true;
        }
        variables = rest;
    }
    false
}

/// The test that the input types of a catalogue's functions accept what the schemas allow; nothing without the
/// feature `testing`.
#[cfg(feature = "testing")]
#[doc(hidden)]
#[macro_export]
macro_rules! type_checks {
    ($(($id:literal, $handler:expr, $inputs:literal),)*) => {
        #[cfg(test)]
        #[test]
        fn input_types_match_the_schemas() {
            let wrong: &[Vec<String>] = &[$($crate::testing::check_input_type($id, $handler, $inputs)),*];
            let wrong: Vec<_> = wrong.iter().flatten().map(String::as_str).collect();
            assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        }
    };
}

/// See the other definition.
#[cfg(not(feature = "testing"))]
#[doc(hidden)]
#[macro_export]
macro_rules! type_checks {
    ($($checks:tt)*) => {};
}
