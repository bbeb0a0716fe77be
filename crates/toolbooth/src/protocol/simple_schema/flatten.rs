//! Resolves the combinations of a schema: `allOf`, `anyOf` and `oneOf`.

use serde_json::{Map, Value, json};

use super::{noun_with_description, reduce, rule};
use crate::protocol::keywords::{list, type_names};

/// Resolves `allOf`, `anyOf` and `oneOf` as far as the result is still one schema. Returns the rest as rules.
pub(super) fn flatten(schema: &Value) -> (Map<String, Value>, Vec<String>) {
    let mut schema = match schema {
        Value::Object(schema) => schema.clone(),
        Value::Bool(false) => {
            let schema = Map::from_iter([("type".to_owned(), "string".into())]);
            return (schema, vec!["No value is allowed".to_owned()]);
        }
        _ => return (Map::new(), Vec::new()),
    };
    let mut rules = Vec::new();
    if let Some(Value::Array(all)) = schema.remove("allOf") {
        for part in &all {
            let (part, more) = flatten(part);
            rules.extend(more);
            merge(&mut schema, part, &mut rules);
        }
    }
    for keyword in ["anyOf", "oneOf"] {
        let Some(Value::Array(branches)) = schema.remove(keyword) else { continue };
        let is_null = |branch: &&Value| branch.get("type").is_some_and(|kind| kind == "null");
        let nullable = branches.iter().any(|branch| is_null(&branch));
        let others: Vec<&Value> = branches.iter().filter(|branch| !is_null(branch)).collect();
        match others.as_slice() {
            [] if nullable => {
                let null = Map::from_iter([("type".to_owned(), "null".into())]);
                merge(&mut schema, null, &mut rules);
                continue;
            }
            [] => {}
            [only] => {
                let (only, more) = flatten(only);
                rules.extend(more);
                merge(&mut schema, only, &mut rules);
            }
            several => {
                rules.push(format!("Must match one of: {}", describe_alternatives(several)));
                let types: Vec<Value> = several.iter().flat_map(|one| types_of(one)).collect();
                if !schema.contains_key("type") && !types.is_empty() {
                    schema.insert("type".to_owned(), types.into());
                }
            }
        }
        if nullable {
            rules.push("May be null".to_owned());
        }
    }
    (schema, rules)
}

/// Adds the keywords of `part`. If both schemas have one, the two are combined, or that of `part` becomes a rule.
fn merge(schema: &mut Map<String, Value>, part: Map<String, Value>, rules: &mut Vec<String>) {
    for (keyword, value) in part {
        match (keyword.as_str(), schema.get_mut(&keyword), value) {
            (_, None, value) => {
                schema.insert(keyword, value);
            }
            (_, Some(known), value) if *known == value => {}
            ("properties", Some(Value::Object(known)), Value::Object(more)) => {
                for (name, property) in more {
                    match known.get_mut(&name) {
                        Some(known) => *known = all_of(known.take(), property),
                        None => {
                            known.insert(name, property);
                        }
                    }
                }
            }
            ("items", Some(known), more) => *known = all_of(known.take(), more),
            ("type", Some(known), more) => match common_types(known, &more) {
                Some(common) => *known = common,
                None => rules.push(format!("Must be of type {more} too")),
            },
            ("enum", Some(Value::Array(known)), Value::Array(more)) => {
                if known.iter().any(|option| more.contains(option)) {
                    known.retain(|option| more.contains(option));
                } else {
                    rules.push(format!("Must be one of: {}", list(&more)));
                }
            }
            ("const", Some(_), other) => rules.push(format!("Must be {other}")),
            ("description", Some(_), Value::String(other)) => rules.push(other),
            ("required", Some(Value::Array(known)), Value::Array(more)) => {
                more.into_iter().for_each(|name| {
                    if !known.contains(&name) {
                        known.push(name);
                    }
                });
            }
            ("title", Some(_), _) => {}
            (keyword, Some(_), value) => rules.extend(rule(keyword, &value)),
        }
    }
}

/// A schema for values that match both.
fn all_of(one: Value, other: Value) -> Value {
    json!({ "allOf": [one, other] })
}

/// The types that two values of `type` have in common. An integer is also a number.
fn common_types(one: &Value, other: &Value) -> Option<Value> {
    let (one, other) = (type_names(one), type_names(other));
    let allows = |names: &[&str], kind: &str| {
        names.contains(&kind) || kind == "integer" && names.contains(&"number")
    };
    let common = one.iter().filter(|kind| allows(&other, kind));
    let narrower = other.iter().filter(|kind| !one.contains(kind) && allows(&one, kind));
    let common: Vec<&str> = common.chain(narrower).copied().collect();
    match common.as_slice() {
        [] => None,
        [only] => Some((*only).into()),
        several => Some(several.into()),
    }
}

/// The types of a schema, including those of its alternatives.
fn types_of(schema: &Value) -> Vec<Value> {
    let (schema, _) = flatten(schema);
    match schema.get("type") {
        Some(Value::Array(types)) => types.clone(),
        Some(kind) => vec![kind.clone()],
        None => Vec::new(),
    }
}

fn describe_alternatives(branches: &[&Value]) -> String {
    let describe = |branch: &&Value| {
        // A branch without a type only adds to the schema around it. Its JSON describes it best.
        if types_of(branch).is_empty() && options(&flatten(branch).0).is_empty() {
            return branch.to_string();
        }
        noun_with_description(&reduce(branch))
    };
    branches.iter().map(describe).collect::<Vec<_>>().join("; ")
}

/// The values of `const` or `enum`.
pub(super) fn values(schema: &Map<String, Value>) -> Vec<Value> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => vec![only.clone()],
        (None, Some(Value::Array(listed))) => listed.clone(),
        _ => Vec::new(),
    }
}

/// The same without null.
pub(super) fn options(schema: &Map<String, Value>) -> Vec<Value> {
    values(schema).into_iter().filter(|value| !value.is_null()).collect()
}
