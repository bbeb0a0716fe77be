//! Patterns of `pattern` and `patternProperties`.

use std::fmt;
use std::sync::OnceLock;

use crate::Automaton;

/// A pattern that is searched for in strings.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    /// The pattern as the schema has it.
    pub source: &'static str,
    /// What finds it, in time linear in the string's length.
    pub matcher: Matcher,
}

/// What finds a pattern.
#[derive(Debug, Clone, Copy)]
pub enum Matcher {
    /// An automaton that was built at build time.
    Automaton(&'static Automaton),
    /// The `regex` crate, for patterns whose automaton would be too large.
    Engine(&'static Engine),
}

impl Pattern {
    /// Whether the pattern occurs anywhere in `text`.
    pub(crate) fn matches(&self, text: &str) -> bool {
        match self.matcher {
            Matcher::Automaton(automaton) => automaton.finds(text),
            Matcher::Engine(engine) => engine.finds(text),
        }
    }
}

type Finds = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// A pattern that is compiled when it is first needed.
pub struct Engine {
    /// The pattern in the syntax of the `regex` crate.
    pub(crate) source: &'static str,
    /// [`regex`]: a pointer in the table, so that the crate is linked only if a pattern needs it.
    compile: fn(&str) -> Finds,
    compiled: OnceLock<Finds>,
}

impl Engine {
    /// An engine that has not compiled its pattern yet. `compile` is [`regex()`].
    pub const fn new(source: &'static str, compile: fn(&str) -> Finds) -> Self {
        Self { source, compile, compiled: OnceLock::new() }
    }

    fn finds(&self, text: &str) -> bool {
        self.compiled.get_or_init(|| (self.compile)(self.source))(text)
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engine").field(&self.source).finish()
    }
}

/// Compiles a pattern with the `regex` crate. The build has already compiled it, so this does not fail; if it
/// did, the pattern would never match.
pub fn regex(source: &str) -> Finds {
    match regex::Regex::new(source) {
        Ok(regex) => Box::new(move |text| regex.is_match(text)),
        Err(_) => Box::new(|_| false),
    }
}
