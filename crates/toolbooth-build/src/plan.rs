//! Makes of a schema's JSON the data that the library walks.
//!
//! The data is leaked: the library wants it static, and a build script lives no longer than it.

use jsonschema_regex::to_rust_regex;
use serde_json::{Map, Value};
use toolbooth::schema::{
    Engine, Keyword, Literal, Matcher, Number, Pattern, Properties, Schema, Types, evaluated,
    formats, is_multiple, is_unique, regex,
};

use crate::automaton;

/// The data for a schema, which is one by the metaschema and has no references. What says nothing
/// about which values are valid is not in it.
///
/// ```
/// let schema = toolbooth_build::plan(&serde_json::json!({"type": "string", "maxLength": 2}));
/// assert!(schema.is_valid(&"ab".into()));
/// assert!(!schema.is_valid(&"abc".into()));
/// ```
pub fn plan(schema: &Value) -> Schema {
    let mut keywords = Vec::new();
    match schema {
        Value::Bool(false) => keywords.push(Keyword::False),
        Value::Object(members) => read(members, &mut keywords),
        _ => {}
    }
    Schema { keywords: leak(keywords) }
}

/// The keywords that apply to all values go first, those of objects last.
fn read(schema: &Map<String, Value>, keywords: &mut Vec<Keyword>) {
    let get = |keyword: &str| schema.get(keyword);
    let one = |keyword: &str| get(keyword).map(below);
    let list = |keyword: &str| get(keyword).and_then(Value::as_array);
    let map = |keyword: &str| get(keyword).and_then(Value::as_object);
    let count = |keyword: &str| get(keyword).and_then(whole);
    let number = |keyword: &str| get(keyword).and_then(Value::as_number).map(Number::from);

    // Of any value.
    keywords.extend(get("type").map(|names| Keyword::Type(types(names))));
    keywords.extend(get("const").map(|value| Keyword::Const(literal(value))));
    keywords.extend(list("enum").map(|values| Keyword::Enum(all(values, literal))));
    keywords.extend(list("allOf").map(|schemas| Keyword::AllOf(all(schemas, plan))));
    keywords.extend(list("anyOf").map(|schemas| Keyword::AnyOf(all(schemas, plan))));
    keywords.extend(list("oneOf").map(|schemas| Keyword::OneOf(all(schemas, plan))));
    keywords.extend(one("not").map(Keyword::Not));
    if let Some(condition) = one("if") {
        let any = || below(&Value::Bool(true));
        let (then, otherwise) = (one("then"), one("else"));
        keywords.push(Keyword::If(
            condition,
            then.unwrap_or_else(any),
            otherwise.unwrap_or_else(any),
        ));
    }

    // Of texts and numbers.
    keywords.extend(count("minLength").filter(|least| *least > 0).map(Keyword::MinLength));
    keywords.extend(count("maxLength").map(Keyword::MaxLength));
    let text = |keyword: &str| get(keyword).and_then(Value::as_str);
    keywords.extend(text("pattern").map(|source| Keyword::Pattern(pattern(source))));
    keywords.extend(text("format").and_then(format));
    keywords.extend(number("minimum").map(Keyword::Minimum));
    keywords.extend(number("maximum").map(Keyword::Maximum));
    keywords.extend(number("exclusiveMinimum").map(Keyword::ExclusiveMinimum));
    keywords.extend(number("exclusiveMaximum").map(Keyword::ExclusiveMaximum));
    keywords.extend(number("multipleOf").map(|of| Keyword::MultipleOf(of, is_multiple)));

    // Of arrays.
    keywords.extend(count("minItems").filter(|least| *least > 0).map(Keyword::MinItems));
    keywords.extend(count("maxItems").map(Keyword::MaxItems));
    if get("uniqueItems") == Some(&Value::Bool(true)) {
        keywords.push(Keyword::UniqueItems(is_unique));
    }
    let prefix = list("prefixItems");
    keywords.extend(prefix.map(|schemas| Keyword::PrefixItems(all(schemas, plan))));
    let from = prefix.map_or(0, Vec::len);
    keywords.extend(one("items").map(|schema| Keyword::Items(from, schema)));
    keywords.extend(one("contains").map(|schema| {
        Keyword::Contains(schema, count("minContains").unwrap_or(1), count("maxContains"))
    }));
    let rest = one("unevaluatedItems");
    keywords.extend(rest.map(|schema| Keyword::UnevaluatedItems(schema, evaluated)));

    // Of objects.
    keywords.extend(count("minProperties").filter(|least| *least > 0).map(Keyword::MinProperties));
    keywords.extend(count("maxProperties").map(Keyword::MaxProperties));
    let required = get("required").map(names).filter(|names| !names.is_empty());
    keywords.extend(required.map(Keyword::Required));
    keywords.extend(map("dependentRequired").map(|map| {
        Keyword::DependentRequired(leak(sorted(map).map(|(name, of)| (name, names(of))).collect()))
    }));
    let schemas = |map| leak(sorted(map).map(|(name, schema)| (name, plan(schema))).collect());
    keywords.extend(map("dependentSchemas").map(|map| Keyword::DependentSchemas(schemas(map))));
    // Of earlier drafts, and still taken: each is the one or the other of the two above.
    for (name, of) in map("dependencies").into_iter().flat_map(sorted) {
        keywords.push(match of {
            Value::Array(_) => Keyword::DependentRequired(leak(vec![(name, names(of))])),
            _ => Keyword::DependentSchemas(leak(vec![(name, plan(of))])),
        });
    }
    keywords.extend(one("propertyNames").map(Keyword::PropertyNames));
    let additional = one("additionalProperties");
    let (named, patterns) = (map("properties"), map("patternProperties"));
    if named.is_some() || patterns.is_some() || additional.is_some() {
        let empty = Map::new();
        let patterns = sorted(patterns.unwrap_or(&empty));
        keywords.push(Keyword::Properties(leak_one(Properties {
            named: schemas(named.unwrap_or(&empty)),
            patterns: leak(patterns.map(|(name, of)| (pattern(name), plan(of))).collect()),
            additional,
        })));
    }
    let rest = one("unevaluatedProperties");
    keywords.extend(rest.map(|schema| Keyword::UnevaluatedProperties(schema, evaluated)));
}

fn below(schema: &Value) -> &'static Schema {
    leak_one(plan(schema))
}

/// A count may be written as 2.0.
fn whole(value: &Value) -> Option<u64> {
    let float = || value.as_f64().filter(|float| float.fract() == 0.0).map(|float| float as u64);
    value.as_u64().or_else(float)
}

fn types(names: &Value) -> Types {
    let one = std::slice::from_ref(names);
    let names = names.as_array().map_or(one, Vec::as_slice);
    let bit = |name: &Value| Types::NAMES.iter().position(|known| name == known);
    Types(names.iter().filter_map(bit).fold(0, |set, bit| set | 1 << bit))
}

fn literal(value: &Value) -> Literal {
    match value {
        Value::Null => Literal::Null,
        Value::Bool(flag) => Literal::Bool(*flag),
        Value::Number(number) => Literal::Number(number.into()),
        Value::String(text) => Literal::String(leak_text(text)),
        Value::Array(items) => Literal::Array(all(items, literal)),
        Value::Object(members) => {
            Literal::Object(leak(sorted(members).map(|(name, of)| (name, literal(of))).collect()))
        }
    }
}

fn format(name: &str) -> Option<Keyword> {
    formats::ALL.iter().find(|(known, _)| *known == name).map(|(_, keyword)| *keyword)
}

/// A pattern by an automaton where one of reasonable size finds it.
pub(crate) fn pattern(source: &str) -> &'static Pattern {
    // One that cannot be translated does not get past the metaschema.
    let translated = to_rust_regex(source).unwrap_or_default();
    let matcher = match automaton::build(&translated) {
        Some(automaton) => Matcher::Automaton(leak_one(automaton)),
        None => Matcher::Engine(leak_one(Engine::new(leak_text(&translated), regex))),
    };
    leak_one(Pattern { source: leak_text(source), matcher })
}

fn names(list: &Value) -> &'static [&'static str] {
    let names = list.as_array().into_iter().flatten().filter_map(Value::as_str);
    leak(names.map(leak_text).collect())
}

/// Members by name, as the library looks for them.
fn sorted(map: &Map<String, Value>) -> impl Iterator<Item = (&'static str, &Value)> {
    let mut members: Vec<_> = map.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members.into_iter().map(|(name, value)| (leak_text(name), value))
}

fn all<T>(values: &[Value], read: fn(&Value) -> T) -> &'static [T] {
    leak(values.iter().map(read).collect())
}

pub(crate) fn leak<T>(list: Vec<T>) -> &'static [T] {
    Box::leak(list.into_boxed_slice())
}

fn leak_one<T>(one: T) -> &'static T {
    Box::leak(Box::new(one))
}

fn leak_text(text: &str) -> &'static str {
    Box::leak(text.into())
}
