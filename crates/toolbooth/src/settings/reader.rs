//! Reads variables by rows of name, meaning, default and parser, and collects what is invalid.

use crate::budget::Budget;
use crate::host::Variables;

/// One variable of the server.
#[derive(Debug)]
pub struct Row<T> {
    /// The name, as in `wrangler.toml`.
    pub name: &'static str,
    /// Its row in docs/CONFIGURATION.md after the name: allowed values, default, what happens if it is invalid.
    pub doc: &'static str,
    /// The value if the variable is not set or invalid.
    pub default: T,
    /// Parses the text. The error completes the sentence that begins with the name.
    pub parse: fn(&str) -> Result<T, String>,
}

impl<T> Row<T> {
    /// A variable with these members, [`documented`].
    pub const fn new(
        name: &'static str,
        doc: &'static str,
        default: T,
        parse: fn(&str) -> Result<T, String>,
    ) -> Self {
        Self { name, doc: documented(doc), default, parse }
    }

    /// Its documentation.
    pub const fn doc(&self) -> VariableDoc {
        VariableDoc { name: self.name, doc: self.doc }
    }
}

/// The documentation of a variable of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VariableDoc {
    /// The name, as in `wrangler.toml`.
    pub name: &'static str,
    /// Its row in docs/CONFIGURATION.md after the name: allowed values, default, what happens if it is invalid.
    pub doc: &'static str,
}

impl VariableDoc {
    /// The documentation of a variable without a [`Row`].
    pub const fn new(name: &'static str, doc: &'static str) -> Self {
        Self { name, doc: documented(doc) }
    }
}

/// The text of a doc, which only tests and documentation read: the Worker does not contain it.
pub const fn documented(text: &'static str) -> &'static str {
    if cfg!(any(test, feature = "testing")) { text } else { "" }
}

/// The variables of a host, and the problems found in them so far.
pub struct VariableReader<'a> {
    source: &'a dyn Variables,
    /// The names and values of all that are set.
    texts: Vec<(String, String)>,
    pub(super) problems: Vec<String>,
    /// Problems of single entries.
    pub(super) rejected: Vec<String>,
    /// The entries that have budgets.
    pub(super) budgeted: Vec<String>,
}

impl<'a> VariableReader<'a> {
    /// A reader of these variables.
    pub fn new(source: &'a dyn Variables) -> Self {
        Self {
            source,
            texts: source.variables(),
            problems: Vec::new(),
            rejected: Vec::new(),
            budgeted: Vec::new(),
        }
    }

    /// The value of a variable; the default if it is not set or invalid.
    pub fn get<T: Clone>(&mut self, row: &Row<T>) -> T {
        match self.text(row.name) {
            Some(text) => self.parse(row, &text),
            None => row.default.clone(),
        }
    }

    // The first request waits for the code that it runs to be compiled, and few variables are set.
    #[inline(never)]
    fn parse<T: Clone>(&mut self, row: &Row<T>, text: &str) -> T {
        (row.parse)(text).unwrap_or_else(|expected| {
            self.problem(row.name, &expected);
            row.default.clone()
        })
    }

    /// Checks a variable.
    ///
    /// # Errors
    /// The problem, in full sentences.
    pub fn check<T>(&self, row: &Row<T>) -> Result<(), String> {
        let Some(text) = self.text(row.name) else { return Ok(()) };
        (row.parse)(&text).map(|_| ()).map_err(|expected| format!("{} {expected}", row.name))
    }

    /// The text of a variable; `None` if it is not set.
    pub fn text(&self, name: &str) -> Option<String> {
        let known = self.texts.iter().find(|(known, _)| known == name);
        known.map(|(_, text)| text.clone())
    }

    /// Whether the host has a binding with this name.
    pub fn has_binding(&self, name: &str) -> bool {
        self.source.has_binding(name)
    }

    /// The text of a variable; `None` if it is not set or empty.
    pub fn non_empty(&self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.is_empty())
    }

    /// Adds a problem: `expected` completes the sentence that begins with the name.
    pub fn problem(&mut self, name: &str, expected: &str) {
        self.problems.push(format!("{name} {expected}"));
    }

    /// Adds a problem in full sentences.
    pub fn sentence(&mut self, problem: String) {
        self.problems.push(problem);
    }

    /// Adds the problem of an entry that has no effect, in full sentences. Everything else is served.
    pub fn reject(&mut self, problem: String) {
        self.rejected.push(problem);
    }

    /// Adds an entry to those that have budgets, if it has some.
    pub(super) fn has_budgets(&mut self, budgets: &[Budget], entry: impl FnOnce() -> String) {
        if budgets.is_empty() {
            return;
        }
        let entry = entry();
        // AUTH may name a method twice.
        if !self.budgeted.contains(&entry) {
            self.budgeted.push(entry);
        }
    }

    /// Whether a variable has a problem already.
    pub fn has_problem(&self, name: &str) -> bool {
        let starts =
            |problem: &String| problem.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
        self.problems.iter().any(starts)
    }

    /// The problems of variables, and those of single entries.
    pub fn into_problems(self) -> (Vec<String>, Vec<String>) {
        (self.problems, self.rejected)
    }
}

/// A whole number from 1 to `most`.
///
/// # Errors
/// What was expected instead.
pub fn count(text: &str, most: usize, unit: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (1..=most).contains(&number) => Ok(number),
        _ => Err(format!("must be a whole number{unit} from 1 to {most}")),
    }
}

/// The items of a comma-separated list, without empty ones.
pub fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty())
}

/// `true` or `false`.
///
/// # Errors
/// What was expected instead.
pub fn truth(text: &str) -> Result<bool, String> {
    text.parse().map_err(|_| "must be true or false".to_owned())
}
