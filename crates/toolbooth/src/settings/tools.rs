//! The variables that tools declare.

use super::reader::VariableReader;

/// A variable that a tool reads.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// The name, as in `wrangler.toml`.
    pub name: &'static str,
    /// The value if it is not set.
    pub default: &'static str,
    /// Checks a value. The error completes the sentence that begins with the name.
    pub check: fn(&str) -> Result<(), &'static str>,
}

/// The values of the variables that tools declare.
#[derive(Debug, Clone, Default)]
pub struct ToolVariables(Vec<(&'static str, String)>);

impl ToolVariables {
    pub(super) fn read(reader: &mut VariableReader<'_>, declared: &[Variable]) -> Self {
        let mut values = Vec::with_capacity(declared.len());
        for variable in declared {
            let value = reader.text(variable.name).unwrap_or_else(|| variable.default.to_owned());
            if let Err(expected) = (variable.check)(&value) {
                reader.problem(variable.name, expected);
            }
            values.push((variable.name, value));
        }
        Self(values)
    }

    /// The value of the variable `name`; empty if no tool declares it.
    pub fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }
}
