//! Says with the keywords of one schema what several schemas say together.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::Schema;
use toolbooth::protocol::keywords::types;

/// Keywords that mean something only together.
const GROUPS: [&[&str]; 2] = [&["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// A schema, and the keywords that must hold too but have no place in it.
#[derive(Debug, Default)]
pub(super) struct Conjunction {
    pub(super) schema: Schema,
    pub(super) rest: Vec<(String, Value)>,
}

impl Conjunction {
    /// Adds all that another schema says.
    pub(super) fn add_all(&mut self, other: Schema) {
        let taken: Vec<&[&str]> = GROUPS
            .into_iter()
            .filter(|group| group.iter().any(|keyword| self.schema.contains_key(*keyword)))
            .collect();
        for (keyword, value) in other {
            if taken.iter().any(|group| group.contains(&keyword.as_str())) {
                if self.schema.get(&keyword) != Some(&value) {
                    self.rest.push((keyword, value));
                }
            } else {
                self.add(keyword, value);
            }
        }
    }

    pub(super) fn add(&mut self, keyword: String, value: Value) {
        let Some(known) = self.schema.get(&keyword) else {
            self.schema.insert(keyword, value);
            return;
        };
        match both(&keyword, known, &value) {
            Some(value) => {
                self.schema.insert(keyword, value);
            }
            None => self.rest.push((keyword, value)),
        }
    }
}

/// One value of a keyword that says what both say; `None` if there is none. Of annotations, the first counts.
fn both(keyword: &str, first: &Value, second: &Value) -> Option<Value> {
    if first == second {
        return Some(first.clone());
    }
    match (keyword, first, second) {
        ("description", Value::String(one), Value::String(other)) => {
            let known = one.contains(other.as_str());
            Some(if known { one.clone() } else { format!("{one} {other}") }.into())
        }
        (
            "title" | "default" | "examples" | "deprecated" | "readOnly" | "writeOnly" | "$schema"
            | "$comment" | "$id" | "$anchor",
            ..,
        ) => Some(first.clone()),
        ("type", ..) => common_types(first, second),
        ("$defs", Value::Object(one), Value::Object(other)) => {
            let mut all = other.clone();
            all.extend(one.clone());
            Some(all.into())
        }
        (
            "properties" | "patternProperties" | "dependentSchemas",
            Value::Object(one),
            Value::Object(other),
        ) => {
            let mut all = one.clone();
            for (name, schema) in other {
                let schema = match one.get(name) {
                    Some(known) => both_schemas(known, schema),
                    None => schema.clone(),
                };
                all.insert(name.clone(), schema);
            }
            Some(all.into())
        }
        ("required", Value::Array(one), Value::Array(other)) => {
            let new = other.iter().filter(|name| !one.contains(name));
            Some(one.iter().chain(new).cloned().collect())
        }
        (
            "items"
            | "additionalProperties"
            | "propertyNames"
            | "unevaluatedItems"
            | "unevaluatedProperties",
            ..,
        ) => Some(both_schemas(first, second)),
        ("enum", Value::Array(one), Value::Array(other)) => {
            let common: Vec<Value> = one.iter().filter(|it| other.contains(it)).cloned().collect();
            (!common.is_empty()).then(|| common.into())
        }
        ("minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties", ..) => {
            let second_is_more = second.as_f64()? > first.as_f64()?;
            Some(if second_is_more { second } else { first }.clone())
        }
        ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties", ..) => {
            let second_is_less = second.as_f64()? < first.as_f64()?;
            Some(if second_is_less { second } else { first }.clone())
        }
        _ => None,
    }
}

/// A schema that says what both say.
fn both_schemas(first: &Value, second: &Value) -> Value {
    match (first, second) {
        (Value::Bool(false), _) | (_, Value::Bool(false)) => false.into(),
        (Value::Bool(true), other) | (other, Value::Bool(true)) => other.clone(),
        _ if first == second => first.clone(),
        _ => object("allOf", vec![first.clone(), second.clone()].into()),
    }
}

fn common_types(first: &Value, second: &Value) -> Option<Value> {
    let names = |value: &Value| -> Vec<String> {
        match value {
            Value::String(one) => vec![one.clone()],
            Value::Array(all) => all.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    };
    let (one, other) = (names(first), names(second));
    let has = |all: &[String], name: &str| {
        all.iter().any(|it| it == name) || name == "integer" && all.iter().any(|it| it == "number")
    };
    let mut common: Vec<&String> = one.iter().filter(|name| has(&other, name)).collect();
    common.extend(other.iter().filter(|name| has(&one, name) && !one.contains(name)));
    match common[..] {
        [] => None,
        [name] => Some(name.as_str().into()),
        _ => Some(common.into_iter().map(String::as_str).collect()),
    }
}

/// A schema for what one of these is for.
pub(super) fn either(schemas: Vec<Value>) -> Value {
    let mut distinct: Vec<Value> = Vec::new();
    for schema in schemas {
        if !distinct.contains(&schema) {
            distinct.push(schema);
        }
    }
    if let [one] = &distinct[..] {
        return one.clone();
    }
    one_enum(&distinct).unwrap_or_else(|| object("anyOf", distinct.into()))
}

/// Schemas that each list values, such as the names of the variants of a union, as one.
fn one_enum(schemas: &[Value]) -> Option<Value> {
    const KNOWN: [&str; 5] = ["const", "description", "enum", "title", "type"];
    let (mut values, mut kinds, mut texts) = (Vec::new(), Vec::new(), Vec::new());
    for schema in schemas {
        let schema = schema.as_object()?;
        if schema.keys().any(|keyword| !KNOWN.contains(&keyword.as_str())) {
            return None;
        }
        let listed = match (schema.get("const"), schema.get("enum")) {
            (Some(value), None) => vec![value.clone()],
            (None, Some(Value::Array(values))) => values.clone(),
            _ => return None,
        };
        let new: Vec<Value> = listed.into_iter().filter(|it| !values.contains(it)).collect();
        values.extend(new);
        kinds.push(schema.get("type"));
        texts.extend(schema.get("description").and_then(Value::as_str));
    }
    texts.dedup();
    let mut one = Map::new();
    one.insert("enum".to_owned(), values.into());
    if let [Some(kind), rest @ ..] = &kinds[..]
        && rest.iter().all(|it| *it == Some(*kind))
    {
        one.insert("type".to_owned(), (*kind).clone());
    }
    if !texts.is_empty() {
        one.insert("description".to_owned(), texts.join(" ").into());
    }
    Some(one.into())
}

pub(super) fn object(keyword: &str, value: Value) -> Value {
    let mut schema = Schema::new();
    schema.insert(keyword.to_owned(), value);
    schema.into()
}

/// Several objects as one, for providers without unions of them: a value that is right for one of them is right for this.
/// The members of all are there, and those are required that each requires. `known` are members that the schema declares already.
/// The second schema says in short which members belong together.
pub(super) fn unite(objects: &[Schema], known: &Schema) -> (Schema, Vec<Value>) {
    let declared = known.get("properties").and_then(Value::as_object);
    let mut members: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (name, schema) in objects.iter().flat_map(members_of) {
        // Some tell objects apart by what they must not have.
        let is_new = declared.is_none_or(|declared| !declared.contains_key(name));
        if is_new && *schema != Value::Bool(false) {
            members.entry(name).or_default().push(schema.clone());
        }
    }
    let all = members.into_iter();
    let members: Schema = all.map(|(name, schemas)| (name.to_owned(), either(schemas))).collect();
    let mut common: BTreeSet<&str> = objects.first().map(required).unwrap_or_default();
    for schema in objects {
        let own = required(schema);
        common.retain(|name| own.contains(name));
    }
    let is_closed = |schema: &Schema| schema.get("additionalProperties") == Some(&false.into());
    let mut united = Schema::new();
    if objects.iter().all(is_closed) && !known.contains_key("additionalProperties") {
        united.insert("additionalProperties".to_owned(), false.into());
    }
    if !members.is_empty() {
        united.insert("properties".to_owned(), members.into());
    }
    if !common.is_empty() {
        united.insert("required".to_owned(), common.iter().copied().collect());
    }
    (united, objects.iter().map(|schema| in_short(schema, &common)).collect())
}

fn members_of(schema: &Schema) -> impl Iterator<Item = (&str, &Value)> {
    let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    members.map(|(name, schema)| (name.as_str(), schema))
}

fn required(schema: &Schema) -> BTreeSet<&str> {
    let all = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    all.filter_map(Value::as_str).collect()
}

/// What tells an object from others: the values that it lists, and what only it requires.
fn in_short(schema: &Schema, common: &BTreeSet<&str>) -> Value {
    let named = members_of(schema);
    let named = named.filter_map(|(name, schema)| Some((name.to_owned(), named_value(schema)?)));
    let named: Schema = named.collect();
    let own: Vec<&str> = required(schema).difference(common).copied().collect();
    let mut short = Schema::new();
    if !named.is_empty() {
        short.insert("properties".to_owned(), named.into());
    }
    if !own.is_empty() {
        short.insert("required".to_owned(), own.into());
    }
    short.into()
}

/// What a schema says about values that it lists.
fn named_value(schema: &Value) -> Option<Value> {
    let found = ["const", "enum"].into_iter().find_map(|it| Some((it, schema.get(it)?)));
    found.map(|(keyword, value)| object(keyword, value.clone()))
}

/// Whether a value of the schema can be an object.
pub(super) fn may_be_object(schema: &Schema) -> bool {
    let names = types(schema);
    names.is_empty() || names.contains(&"object")
}
