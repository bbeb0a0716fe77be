//! Compiles a schema's JSON into tables, at build time.
//!
//! The tables are leaked: they have to be `'static`, and a build script ends soon after.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema_regex::to_rust_regex;
use serde_json::{Map, Value};

use crate::pattern::{Engine, Matcher, Pattern, regex};
use crate::{AnyKeyword, Automaton, Keyword, Number, Reference, Schema};

/// The tables of a schema, which must satisfy the metaschema and have no references except those to `$defs` at its
/// root, such as `#/$defs/node`. Annotations such as `title` are left out.
///
/// ```
/// let schema = toolbooth_schema::compile(&serde_json::json!({"type": "string", "maxLength": 2}));
/// assert!(schema.is_valid(&"ab".into()));
/// assert!(!schema.is_valid(&"abc".into()));
/// ```
pub fn compile(schema: &Value) -> Schema {
    let all = schema.get("$defs").and_then(Value::as_object);
    let late = || -> &'static OnceLock<Schema> { leak_one(OnceLock::new()) };
    let definitions: Definitions<'_> =
        all.into_iter().flatten().map(|(name, _)| (name.as_str(), late())).collect();
    for (name, definition) in all.into_iter().flatten() {
        if let Some(late) = definitions.get(name.as_str()) {
            late.get_or_init(|| compile_in(definition, &definitions));
        }
    }
    compile_in(schema, &definitions)
}

/// The schemas in `$defs`, by name. Each is set when it is compiled.
type Definitions<'a> = BTreeMap<&'a str, &'static OnceLock<Schema>>;

fn compile_in(schema: &Value, definitions: &Definitions<'_>) -> Schema {
    let keywords = match schema {
        Value::Bool(false) => vec![Keyword::Any(AnyKeyword::False)],
        Value::Object(members) => Keyword::read(&SchemaObject { members, definitions }),
        _ => Vec::new(),
    };
    Schema { keywords: leak(keywords) }
}

/// A pattern, as an automaton if one of reasonable size finds it.
pub fn compile_pattern(source: &str) -> &'static Pattern {
    // The metaschema has rejected those that cannot be translated.
    let translated = to_rust_regex(source).unwrap_or_default();
    let matcher = match Automaton::build(&translated) {
        Some(automaton) => Matcher::Automaton(leak_one(automaton)),
        None => Matcher::Engine(leak_one(Engine::new(leak_text(&translated), regex))),
    };
    leak_one(Pattern { source: leak_text(source), matcher })
}

/// A schema's JSON, read keyword by keyword. A keyword with a value of another type is absent.
pub(crate) struct SchemaObject<'a> {
    members: &'a Map<String, Value>,
    definitions: &'a Definitions<'a>,
}

impl<'a> SchemaObject<'a> {
    pub(crate) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.members.get(keyword)
    }

    pub(crate) fn list(&self, keyword: &str) -> Option<&'a Vec<Value>> {
        self.get(keyword)?.as_array()
    }

    pub(crate) fn map(&self, keyword: &str) -> Option<&'a Map<String, Value>> {
        self.get(keyword)?.as_object()
    }

    pub(crate) fn text(&self, keyword: &str) -> Option<&'a str> {
        self.get(keyword)?.as_str()
    }

    pub(crate) fn number(&self, keyword: &str) -> Option<Number> {
        self.get(keyword)?.as_number().map(Number::from)
    }

    /// A count, which may be written as 2.0.
    pub(crate) fn count(&self, keyword: &str) -> Option<u64> {
        let value = self.get(keyword)?;
        let whole = |float: &f64| float.fract() == 0.0;
        value.as_u64().or_else(|| value.as_f64().filter(whole).map(|float| float as u64))
    }

    /// A count that must be reached; 0 always is.
    pub(crate) fn least(&self, keyword: &str) -> Option<u64> {
        self.count(keyword).filter(|least| *least > 0)
    }

    pub(crate) fn schema(&self, keyword: &str) -> Option<&'static Schema> {
        self.get(keyword).map(|schema| leak_one(self.compile(schema)))
    }

    /// A schema within this one.
    pub(crate) fn compile(&self, schema: &Value) -> Schema {
        compile_in(schema, self.definitions)
    }

    /// What `$ref` leads to.
    pub(crate) fn reference(&self) -> Option<Reference> {
        let name = self.text("$ref")?.strip_prefix("#/$defs/")?;
        self.definitions.get(name).map(|late| Reference::Late(late))
    }

    pub(crate) fn schemas(&self, keyword: &str) -> Option<&'static [Schema]> {
        self.list(keyword).map(|schemas| leak_all(schemas, |schema| self.compile(schema)))
    }

    /// Schemas by name, sorted.
    pub(crate) fn named_schemas(&self, keyword: &str) -> Option<&'static [(&'static str, Schema)]> {
        let schemas = sorted(self.map(keyword)?);
        Some(leak(schemas.map(|(name, schema)| (name, self.compile(schema))).collect()))
    }
}

/// The strings of an array.
pub(crate) fn names(list: &Value) -> &'static [&'static str] {
    let names = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    leak(names.map(leak_text).collect())
}

/// Members sorted by name, whatever order the map has.
pub(crate) fn sorted(map: &Map<String, Value>) -> impl Iterator<Item = (&'static str, &Value)> {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members.into_iter().map(|(name, value)| (leak_text(name), value))
}

/// What `read` makes of each value.
pub(crate) fn leak_all<T>(values: &[Value], read: impl Fn(&Value) -> T) -> &'static [T] {
    leak(values.iter().map(read).collect())
}

pub(crate) fn leak<T>(list: Vec<T>) -> &'static [T] {
    Box::leak(list.into_boxed_slice())
}

pub(crate) fn leak_one<T>(one: T) -> &'static T {
    Box::leak(Box::new(one))
}

pub(crate) fn leak_text(text: &str) -> &'static str {
    Box::leak(text.into())
}
