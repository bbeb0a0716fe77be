//! Makes one schema of several: of a reference and what is beside it, and of parts that were cut.

use serde_json::{Map, Value, json};

use crate::schema::{ANNOTATIONS, is_in_place};

/// A resolved schema.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) schema: Value,
    /// Whether it accepts the same values as the schema as written; otherwise more.
    pub(crate) is_exact: bool,
}

impl Part {
    pub(crate) fn exact(schema: Value) -> Self {
        Self { schema, is_exact: true }
    }

    /// What stands for a recursive schema that was repeated often enough.
    pub(crate) fn cut(target: &Value) -> Self {
        let Value::Object(members) = target else { return Self::exact(target.clone()) };
        let kept = ["type", "description"].into_iter();
        let kept = kept.filter_map(|name| Some((name.to_owned(), members.get(name)?.clone())));
        Self { schema: Value::Object(kept.collect()), is_exact: false }
    }
}

/// Removes or replaces the keywords that would accept less because these, or parts of them, accept more.
pub(crate) fn widen(schema: &mut Map<String, Value>, inexact: &[&str]) {
    for keyword in inexact {
        match *keyword {
            "not" => {
                schema.remove("not");
            }
            "if" => ["if", "then", "else"].iter().for_each(|keyword| {
                schema.remove(*keyword);
            }),
            "contains" => {
                schema.remove("maxContains");
            }
            // Several may match now.
            "oneOf" => {
                if let Some(list) = schema.remove("oneOf") {
                    add(schema, Map::from_iter([("anyOf".to_owned(), list)]));
                }
            }
            _ => {}
        }
    }
    if inexact.iter().any(|keyword| is_in_place(keyword)) {
        forget_evaluated(schema);
    }
}

/// Removes the keywords that depend on which members and items other schemas know: what was cut knows fewer.
fn forget_evaluated(schema: &mut Map<String, Value>) {
    schema.remove("unevaluatedItems");
    schema.remove("unevaluatedProperties");
}

/// The schema of a reference and the keywords next to it. Annotations replace those of the target.
pub(crate) fn beside(target: Part, own: Part) -> Part {
    let is_exact = target.is_exact && own.is_exact;
    let Value::Object(mut own) = own.schema else { return target };
    if !target.is_exact {
        forget_evaluated(&mut own);
    }
    let schema = match target.schema {
        schema if own.is_empty() => schema,
        Value::Object(members) => {
            let mut schema = members;
            add_beside(&mut schema, own);
            Value::Object(schema)
        }
        Value::Bool(true) => Value::Object(own),
        _ => {
            add(&mut own, Map::from_iter([("not".to_owned(), json!({}))]));
            Value::Object(own)
        }
    };
    Part { schema, is_exact }
}

/// Adds rules to a schema. They become keywords of it if they mean the same there, otherwise a schema of `allOf`.
fn add_beside(target: &mut Map<String, Value>, own: Map<String, Value>) {
    let (annotations, rules): (Map<_, _>, Map<_, _>) =
        own.into_iter().partition(|(keyword, _)| ANNOTATIONS.contains(&keyword.as_str()));
    if rules.is_empty() {
        target.extend(annotations);
    } else if mean_the_same_together(target, &rules) {
        for (keyword, value) in rules {
            match (target.get_mut(&keyword), value) {
                (Some(Value::Array(names)), Value::Array(more)) if keyword == "required" => {
                    for name in more {
                        if !names.contains(&name) {
                            names.push(name);
                        }
                    }
                }
                (_, value) => {
                    target.insert(keyword, value);
                }
            }
        }
        target.extend(annotations);
    } else {
        let refers_to = std::mem::replace(target, rules);
        target.extend(annotations);
        add(target, refers_to);
    }
}

/// Adds a schema that must match, too.
pub(crate) fn add(schema: &mut Map<String, Value>, other: Map<String, Value>) {
    if other.keys().all(|keyword| !schema.contains_key(keyword))
        && mean_the_same_together(schema, &other)
    {
        schema.extend(other);
        return;
    }
    match schema.get_mut("allOf").and_then(Value::as_array_mut) {
        Some(list) => list.push(Value::Object(other)),
        None => {
            schema.insert("allOf".to_owned(), json!([other]));
        }
    }
}

/// Whether the keywords of both schemas mean in one schema what they mean in two.
fn mean_the_same_together(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let clash = |(keyword, value): (&String, &Value)| {
        let family = family(keyword);
        let is_plain = !matches!(family, "properties" | "items" | "if");
        other.iter().any(|(keyword, other)| {
            family == self::family(keyword)
                && !(is_plain && (keyword == "required" || value == other))
        })
    };
    // Schemas that apply to the same value decide what is unevaluated.
    let unevaluated = |schema: &Map<String, Value>| {
        schema.keys().any(|keyword| keyword.starts_with("unevaluated"))
    };
    !one.iter().any(clash) && !unevaluated(one) && !unevaluated(other)
}

/// The keywords that depend on each other, by one of them.
fn family(keyword: &str) -> &str {
    match keyword {
        "additionalProperties" | "patternProperties" => "properties",
        "contains" | "maxContains" | "minContains" | "prefixItems" => "items",
        "else" | "then" => "if",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(schema: &Value) -> Map<String, Value> {
        schema.as_object().unwrap().clone()
    }

    #[test]
    fn a_reference_and_what_is_beside_it() {
        for (target, own, expected) in [
            (json!({"type": "string"}), json!({}), json!({"type": "string"})),
            (
                json!({"type": "string", "description": "a"}),
                json!({"description": "b", "x-mcp-header": "H"}),
                json!({"type": "string", "description": "b", "x-mcp-header": "H"}),
            ),
            (
                json!({"type": "string"}),
                json!({"minLength": 1, "x-mcp-header": "H"}),
                json!({"type": "string", "minLength": 1, "x-mcp-header": "H"}),
            ),
            (
                json!({"type": "string", "minLength": 2}),
                json!({"type": "string", "minLength": 1, "title": "t"}),
                json!({"type": "string", "minLength": 1, "title": "t", "allOf": [{"type": "string", "minLength": 2}]}),
            ),
            (
                json!({"properties": {"a": {}}, "required": ["a"]}),
                json!({"required": ["b", "a"]}),
                json!({"properties": {"a": {}}, "required": ["a", "b"]}),
            ),
            // Each knows only its own properties.
            (
                json!({"properties": {"a": {}}, "additionalProperties": false}),
                json!({"patternProperties": {"b": {}}}),
                json!({"patternProperties": {"b": {}}, "allOf": [{"properties": {"a": {}}, "additionalProperties": false}]}),
            ),
            (
                json!({"prefixItems": [true]}),
                json!({"items": false}),
                json!({"items": false, "allOf": [{"prefixItems": [true]}]}),
            ),
            (
                json!({"contains": {"type": "null"}}),
                json!({"maxContains": 1}),
                json!({"maxContains": 1, "allOf": [{"contains": {"type": "null"}}]}),
            ),
            (
                json!({"if": {}, "then": false}),
                json!({"if": {}, "else": false}),
                json!({"if": {}, "else": false, "allOf": [{"if": {}, "then": false}]}),
            ),
            (
                json!({"unevaluatedProperties": false}),
                json!({"properties": {"a": {}}}),
                json!({"properties": {"a": {}}, "allOf": [{"unevaluatedProperties": false}]}),
            ),
            (
                json!({"allOf": [{"minimum": 1}]}),
                json!({"allOf": [{"maximum": 2}]}),
                json!({"allOf": [{"maximum": 2}, {"allOf": [{"minimum": 1}]}]}),
            ),
            (json!(true), json!({"maximum": 2}), json!({"maximum": 2})),
            (json!(false), json!({}), json!(false)),
            (json!(false), json!({"maximum": 2}), json!({"maximum": 2, "not": {}})),
            (
                json!(false),
                json!({"not": {"maximum": 2}}),
                json!({"not": {"maximum": 2}, "allOf": [{"not": {}}]}),
            ),
        ] {
            let merged = beside(Part::exact(target.clone()), Part::exact(own.clone()));
            assert_eq!(merged.schema, expected, "{target} {own}");
            assert!(merged.is_exact);
        }
    }

    #[test]
    fn what_would_reject_more_because_a_part_accepts_more() {
        for (inexact, schema, expected) in [
            (&["not"][..], json!({"not": {}, "type": "null"}), json!({"type": "null"})),
            (&["if"], json!({"if": {}, "then": {}, "else": {}}), json!({})),
            (&["then"], json!({"if": {}, "then": {}}), json!({"if": {}, "then": {}})),
            (&["oneOf"], json!({"oneOf": [{}, {}]}), json!({"anyOf": [{}, {}]})),
            (
                &["oneOf"],
                json!({"oneOf": [{}, {}], "anyOf": [false]}),
                json!({"anyOf": [false], "allOf": [{"anyOf": [{}, {}]}]}),
            ),
            (
                &["contains"],
                json!({"contains": {}, "minContains": 1, "maxContains": 2}),
                json!({"contains": {}, "minContains": 1}),
            ),
            (
                &["items"],
                json!({"items": {}, "unevaluatedItems": false}),
                json!({"items": {}, "unevaluatedItems": false}),
            ),
            (
                &["allOf"],
                json!({"allOf": [{}], "unevaluatedProperties": false}),
                json!({"allOf": [{}]}),
            ),
            (&["anyOf"], json!({"anyOf": [{}], "unevaluatedItems": false}), json!({"anyOf": [{}]})),
        ] {
            let mut widened = object(&schema);
            widen(&mut widened, inexact);
            assert_eq!(Value::Object(widened), expected, "{inexact:?} {schema}");
        }
        let mut cut = Part::cut(&json!({"type": "object", "description": "d", "required": ["a"]}));
        assert_eq!(cut.schema, json!({"type": "object", "description": "d"}));
        assert!(!cut.is_exact);
        cut = beside(cut, Part::exact(json!({"unevaluatedProperties": false, "minProperties": 1})));
        assert_eq!(cut.schema, json!({"type": "object", "description": "d", "minProperties": 1}));
        assert!(!cut.is_exact);
    }
}
