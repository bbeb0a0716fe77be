//! `pattern` and the names of `patternProperties`.

use std::fmt;
use std::sync::OnceLock;

use super::Automaton;

/// A pattern that is looked for in texts.
#[derive(Debug, Clone, Copy)]
pub struct Pattern {
    /// The pattern as the definition has it.
    pub source: &'static str,
    /// What looks for it. Linear in the text's length, either of them.
    pub matcher: Matcher,
}

/// What looks for a pattern.
#[derive(Debug, Clone, Copy)]
pub enum Matcher {
    /// An automaton that was made at build time.
    Automaton(&'static Automaton),
    /// The engine of the `regex` crate, for what makes no automaton of reasonable size.
    Engine(&'static Engine),
}

impl Pattern {
    /// Whether the pattern is found anywhere in `text`.
    pub(crate) fn matches(&self, text: &str) -> bool {
        match self.matcher {
            Matcher::Automaton(automaton) => automaton.finds(text),
            Matcher::Engine(engine) => engine.finds(text),
        }
    }
}

type Finds = Box<dyn Fn(&str) -> bool + Send + Sync>;

/// A pattern that is compiled when it is first looked for.
pub struct Engine {
    /// The pattern in the syntax of the `regex` crate.
    source: &'static str,
    /// [`regex`]: named in the data, so that the crate is linked where a pattern needs it.
    compile: fn(&str) -> Finds,
    compiled: OnceLock<Finds>,
}

impl Engine {
    /// An engine that has compiled nothing yet. `compile` is [`regex`].
    pub const fn new(source: &'static str, compile: fn(&str) -> Finds) -> Self {
        Self { source, compile, compiled: OnceLock::new() }
    }

    fn finds(&self, text: &str) -> bool {
        self.compiled.get_or_init(|| (self.compile)(self.source))(text)
    }

    /// The pattern in the syntax of the `regex` crate.
    pub fn source(&self) -> &'static str {
        self.source
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Engine").field(&self.source).finish()
    }
}

/// Compiles a pattern with the `regex` crate. The build has compiled it too: one that does not
/// compile is found nowhere.
pub fn regex(source: &str) -> Finds {
    match regex::Regex::new(source) {
        Ok(regex) => Box::new(move |text| regex.is_match(text)),
        Err(_) => Box::new(|_| false),
    }
}
