//! Sample inputs of a schema, to test that a function's type accepts them.

use serde_json::{Map, Value, json};

use super::shape::{Kind, Property, shape};
use crate::entry::Entry;
use crate::schema;

const MAX_SAMPLES: usize = 256;

/// Valid inputs of a tool: every property absent and present, the values of enums, the bounds of numbers, and the
/// inputs of the examples.
pub(crate) fn samples(entry: &Entry) -> Vec<Value> {
    let schema = Value::Object(entry.definition.input_schema.clone());
    let Ok(validator) = schema::validator(&schema) else { return Vec::new() };
    let examples: Vec<_> = entry.definition.examples.iter().map(|one| &one.input).collect();
    let mut samples: Vec<Value> = Vec::new();
    for value in variants(&schema, &examples).into_iter().chain(examples.into_iter().cloned()) {
        if validator.is_valid(&value) && !samples.contains(&value) {
            samples.push(value);
        }
    }
    samples.truncate(MAX_SAMPLES);
    samples
}

/// Values that a schema may allow; `examples` are values at the same place.
fn variants(schema: &Value, examples: &[&Value]) -> Vec<Value> {
    let shape = shape(schema);
    let mut values = match &shape.kind {
        Kind::Null => vec![Value::Null],
        Kind::Bool => vec![true.into(), false.into()],
        Kind::Integer(rust) => integers(schema, rust),
        Kind::Number => vec![json!(0.5), json!(1), json!(-1)],
        Kind::Text => {
            let length = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0).min(1_000);
            vec![json!("text"), json!("x".repeat(usize::try_from(length).unwrap_or(0)))]
        }
        Kind::Enum(values) => values.iter().map(|value| json!(value)).collect(),
        Kind::Any => Vec::new(),
        Kind::List(items) => {
            let inner: Vec<_> =
                examples.iter().filter_map(|one| one.as_array()).flatten().collect();
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(16);
            let lists = variants(items, &inner)
                .into_iter()
                .map(|item| json!(vec![item; usize::try_from(least.max(1)).unwrap_or(1)]));
            [json!([])].into_iter().chain(lists).collect()
        }
        Kind::Object { properties, rest: _ } => objects(properties, examples),
    };
    let listed = schema.get("examples").and_then(Value::as_array).into_iter().flatten();
    values.extend(listed.chain(schema.get("default")).chain(examples.iter().copied()).cloned());
    if shape.nullable {
        values.push(Value::Null);
    }
    // Without a pattern or format, this sorts out nothing.
    if let Ok(validator) = schema::validator(schema) {
        values.retain(|value| validator.is_valid(value));
    }
    values
}

fn integers(schema: &Value, rust: &str) -> Vec<Value> {
    let bounds = ["minimum", "maximum"].iter().filter_map(|keyword| schema.get(*keyword)).cloned();
    let wide = match rust {
        "u32" | "i32" => json!(0),
        _ => json!(9_007_199_254_740_991_u64),
    };
    bounds.chain([json!(1), json!(-1), json!(1.0), wide]).collect()
}

/// Objects with the required properties, with all of them, and with each value of each property.
fn objects(properties: &[Property], examples: &[&Value]) -> Vec<Value> {
    let values: Vec<_> = properties
        .iter()
        .map(|property| {
            let inner: Vec<_> = examples.iter().filter_map(|one| one.get(&property.name)).collect();
            (property, variants(&property.schema, &inner))
        })
        .collect();
    let of = |all: bool| -> Map<String, Value> {
        let chosen = values.iter().filter(|(property, _)| all || property.required);
        chosen
            .filter_map(|(property, values)| Some((property.name.clone(), values.first()?.clone())))
            .collect()
    };
    let (least, full) = (of(false), of(true));
    let mut objects = vec![Value::Object(least.clone()), Value::Object(full.clone())];
    for (property, values) in &values {
        for value in values {
            for base in [&full, &least] {
                let mut object = base.clone();
                object.insert(property.name.clone(), value.clone());
                objects.push(Value::Object(object));
            }
        }
    }
    objects
}
