//! What a schema says about the shape of a value, as far as a Rust type can express it.

use serde_json::{Map, Value};

/// The shape of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shape {
    /// Whether the value may be `null` instead.
    pub(super) nullable: bool,
    /// The shape of a value that is not `null`.
    pub(super) kind: Kind,
}

/// The shape of a value that is not `null`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    /// Only `null`.
    Null,
    /// `true` or `false`.
    Bool,
    /// A whole number of this Rust type.
    Integer(&'static str),
    /// A number.
    Number,
    /// A string.
    Text,
    /// One of these strings.
    Enum(Vec<String>),
    /// An array of such items.
    List(Value),
    /// An object.
    Object {
        properties: Vec<Property>,
        /// The schema of further members; `None` if they have no explicit one.
        rest: Option<Value>,
    },
    /// Anything else.
    Any,
}

/// A property of an object.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) schema: Value,
    pub(super) required: bool,
}

impl Property {
    /// The default that is filled in if the property is absent.
    pub(super) fn default(&self) -> Option<&Value> {
        self.schema.get("default").filter(|default| !default.is_null() && !self.required)
    }
}

pub(super) fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// Reads the shape of a schema without references.
pub(super) fn shape(schema: &Value) -> Shape {
    let parts = parts(schema);
    let mut nullable = false;
    let mut types: Option<Vec<&str>> = None;
    for part in &parts {
        let listed: Vec<_> = match part.get("type") {
            Some(Value::String(one)) => vec![one.as_str()],
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            _ => continue,
        };
        types = Some(match types {
            None => listed,
            Some(earlier) => earlier.into_iter().filter(|one| listed.contains(one)).collect(),
        });
    }
    let values = parts.iter().find_map(|part| match (part.get("enum"), part.get("const")) {
        (Some(Value::Array(values)), _) => Some(values.iter().collect::<Vec<_>>()),
        (_, Some(value)) => Some(vec![value]),
        _ => None,
    });
    if types.is_none() && values.is_none() {
        return of_alternatives(&parts);
    }
    if let Some(types) = &mut types {
        let all = types.len();
        types.retain(|one| *one != "null");
        nullable = types.len() < all && !types.is_empty();
        if types.is_empty() && all > 0 {
            return Shape { nullable: false, kind: Kind::Null };
        }
    }
    if let Some(values) = values {
        let null_listed = values.iter().any(|value| value.is_null());
        let nullable = null_listed && (nullable || types.is_none());
        let texts: Option<Vec<_>> =
            values.iter().filter(|value| !value.is_null()).map(|value| value.as_str()).collect();
        if let Some(texts) = texts.filter(|texts| !texts.is_empty()) {
            let texts = texts.into_iter().map(str::to_owned).collect();
            return Shape { nullable, kind: Kind::Enum(texts) };
        }
    }
    let kind = match types.as_deref().unwrap_or_default() {
        ["boolean"] => Kind::Bool,
        ["integer"] => Kind::Integer(integer(&parts)),
        ["number"] | ["integer", "number"] | ["number", "integer"] => Kind::Number,
        ["string"] => Kind::Text,
        ["array"] if parts.iter().all(|part| !part.contains_key("prefixItems")) => {
            let items = parts.iter().find_map(|part| part.get("items"));
            Kind::List(items.cloned().unwrap_or(Value::Bool(true)))
        }
        ["object"] => object(&parts),
        _ => Kind::Any,
    };
    Shape { nullable, kind }
}

/// A schema without a type: the only alternative that is not `null`, or anything.
fn of_alternatives(parts: &[&Map<String, Value>]) -> Shape {
    let any = Shape { nullable: false, kind: Kind::Any };
    let lists = parts.iter().flat_map(|part| [part.get("anyOf"), part.get("oneOf")]).flatten();
    let mut lists = lists.filter_map(Value::as_array);
    let (Some(list), None) = (lists.next(), lists.next()) else { return any };
    let shapes: Vec<_> = list.iter().map(shape).collect();
    let mut others = shapes.iter().filter(|shape| shape.kind != Kind::Null);
    match (others.next(), others.next()) {
        (Some(one), None) => {
            Shape { nullable: one.nullable || shapes.len() > 1, kind: one.kind.clone() }
        }
        _ => any,
    }
}

/// The schema and those of `allOf`, nested ones included.
fn parts(schema: &Value) -> Vec<&Map<String, Value>> {
    let Value::Object(schema) = schema else { return Vec::new() };
    let all = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
    [schema].into_iter().chain(all.flat_map(parts)).collect()
}

/// The Rust type of an integer: of 32 bits if the bounds allow it, and unsigned without negative values.
fn integer(parts: &[&Map<String, Value>]) -> &'static str {
    let bound = |keyword: &str| parts.iter().find_map(|part| part.get(keyword)?.as_f64());
    let least = bound("minimum").or(bound("exclusiveMinimum").map(|bound| bound + 1.0));
    let most = bound("maximum").or(bound("exclusiveMaximum").map(|bound| bound - 1.0));
    let within = |low: f64, high: f64| {
        least.is_some_and(|least| least >= low) && most.is_some_and(|most| most <= high)
    };
    if within(0.0, u32::MAX.into()) {
        "u32"
    } else if least.is_some_and(|least| least >= 0.0) {
        "u64"
    } else if within(i32::MIN.into(), i32::MAX.into()) {
        "i32"
    } else {
        "i64"
    }
}

fn object(parts: &[&Map<String, Value>]) -> Kind {
    let mut properties: Vec<Property> = Vec::new();
    for part in parts {
        collect(part, &mut properties);
    }
    let required = |name: &str| {
        let mut all = parts.iter().filter_map(|part| part.get("required")?.as_array()).flatten();
        all.any(|one| one == name)
    };
    // Properties that only alternatives or conditions have are optional.
    for part in parts {
        let lists = ["anyOf", "oneOf"].iter().filter_map(|keyword| part.get(*keyword)?.as_array());
        let singles = ["if", "then", "else"].iter().filter_map(|keyword| part.get(*keyword));
        let named = part.get("dependentSchemas").and_then(Value::as_object);
        let named = named.into_iter().flat_map(Map::values);
        for alternative in lists.flatten().chain(singles).chain(named) {
            for part in self::parts(alternative) {
                collect(part, &mut properties);
            }
        }
    }
    for property in &mut properties {
        property.required = required(&property.name);
    }
    let rest = parts.iter().find_map(|part| part.get("additionalProperties"));
    Kind::Object { properties, rest: rest.filter(|rest| rest.is_object()).cloned() }
}

/// Adds the properties of a schema. One that is already there must hold for both, so it can only be `any` if the
/// shapes differ.
fn collect(schema: &Map<String, Value>, properties: &mut Vec<Property>) {
    let named = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in named.into_iter().flatten() {
        match properties.iter_mut().find(|known| known.name == *name) {
            None => properties.push(Property {
                name: name.clone(),
                schema: schema.clone(),
                required: false,
            }),
            Some(known) => {
                let (one, other) = (shape(&known.schema), shape(schema));
                if one != other && other.kind != Kind::Any {
                    let same_kind = std::mem::discriminant(&one.kind)
                        == std::mem::discriminant(&other.kind)
                        && !matches!(one.kind, Kind::Object { .. } | Kind::List(_));
                    if one.kind == Kind::Any {
                        known.schema = schema.clone();
                    } else if !same_kind {
                        known.schema = Value::Bool(true);
                    }
                }
            }
        }
    }
}
