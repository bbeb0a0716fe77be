//! Checks the schemas of a definition, and strips the keywords that do not affect validation.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value};
use toolbooth::protocol::keywords::{self, APPLICATORS, Subschemas};
use toolbooth_schema::text::nearest;

use crate::problem::Problem;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Keywords whose value is a schema that applies to the same instance.
const IN_PLACE: &[&str] = &["if", "then", "else", "not"];
/// Keywords whose value is a list of schemas that apply to the same instance.
const IN_PLACE_LISTS: &[&str] = &["allOf", "anyOf", "oneOf"];
/// A keyword of earlier drafts that is still accepted: it maps names to schemas or to lists of names.
const DEPENDENCIES: &str = "dependencies";
/// Keywords for references that are not supported, with what to use instead. `$ref`, `$defs` and `$anchor` are
/// resolved before.
const REFERENCES: &[(&str, &str)] = &[
    ("$dynamicAnchor", "use $defs and $ref"),
    ("$dynamicRef", "use $defs and $ref"),
    ("$id", "a definition is one document; refer to its parts by \"#/$defs/…\""),
    ("$recursiveRef", "schemas may not be recursive"),
    ("$vocabulary", "the vocabulary is that of JSON Schema 2020-12"),
    ("definitions", "use $defs"),
];
/// Keywords that contain no schemas.
const PLAIN: &[&str] = &[
    "$schema",
    "const",
    "contentEncoding",
    "contentMediaType",
    "dependentRequired",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxContains",
    "maximum",
    "maxItems",
    "maxLength",
    "maxProperties",
    "minContains",
    "minimum",
    "minItems",
    "minLength",
    "minProperties",
    "multipleOf",
    "pattern",
    "required",
    "type",
    "uniqueItems",
];
/// Words that other schema languages have, with what to write instead.
const FOREIGN: &[(&str, &str)] = &[
    ("nullable", "write \"type\": [\"string\", \"null\"] instead"),
    ("optional", "a property is optional if `required` does not list it"),
    ("example", "write \"examples\": [...] instead"),
    ("discriminator", "give the property a `const` in each schema of `oneOf` instead"),
];
const TYPES: &[&str] = &["array", "boolean", "integer", "null", "number", "object", "string"];
/// Keywords that do not affect which instances are valid.
pub(crate) const ANNOTATIONS: &[&str] = &[
    "$comment",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
    "x-mcp-header",
];

/// Where the value of a keyword has schemas.
fn subschemas(keyword: &str) -> Subschemas {
    if keyword == DEPENDENCIES { Subschemas::Map } else { keywords::subschemas(keyword) }
}

/// The schemas in the value of a keyword, each with its place there.
pub(crate) fn inner<'a>(keyword: &str, value: &'a Value) -> Vec<(String, &'a Value)> {
    match (subschemas(keyword), value) {
        (Subschemas::One, one) => vec![(String::new(), one)],
        (Subschemas::List, Value::Array(list)) => {
            list.iter().enumerate().map(|(index, one)| (format!("[{index}]"), one)).collect()
        }
        (Subschemas::Map, Value::Object(map)) => {
            map.iter().map(|(name, one)| (format!(".{name}"), one)).collect()
        }
        _ => Vec::new(),
    }
}

/// The same, to change them.
pub(crate) fn inner_mut<'a>(keyword: &str, value: &'a mut Value) -> Vec<(String, &'a mut Value)> {
    match (subschemas(keyword), value) {
        (Subschemas::One, one) => vec![(String::new(), one)],
        (Subschemas::List, Value::Array(list)) => {
            list.iter_mut().enumerate().map(|(index, one)| (format!("[{index}]"), one)).collect()
        }
        (Subschemas::Map, Value::Object(map)) => {
            map.iter_mut().map(|(name, one)| (format!(".{name}"), one)).collect()
        }
        _ => Vec::new(),
    }
}

/// Builds a `jsonschema` validator that accepts the same values as the compiled schema. It also checks
/// the schema itself and explains every error.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(true)
        .should_ignore_unknown_formats(false)
        .build(schema)
        .map_err(|error| format!("{}: {error}", error.instance_path()))
}

pub(crate) fn check(file: &str, place: &str, schema: &Map<String, Value>) -> Vec<Problem> {
    let mut problems = Vec::new();
    visit(schema, place, &[], &mut |place, schema, known| {
        rules(schema, known, &mut |below, message| {
            problems.push(Problem::new(file, format!("{place}{below}"), message));
        });
    });
    if problems.is_empty() {
        // Validate against the metaschema last: its message for a reference would be less helpful.
        if let Err(error) = validator(&Value::Object(schema.clone())) {
            let message = format!("is not JSON Schema 2020-12: {error}");
            problems.push(Problem::new(file, place, message));
        }
    }
    if problems.is_empty() {
        visit(schema, place, &[], &mut |place, schema, _| {
            let Some(default) = schema.get("default") else { return };
            let Ok(validator) = validator(&Value::Object(schema.clone())) else { return };
            if let Err(error) = validator.validate(default) {
                let message = format!("does not match its schema: {error}");
                problems.push(Problem::new(file, format!("{place}.default"), message));
            }
        });
    }
    problems
}

pub(crate) fn undescribed(file: &str, place: &str, schema: &Map<String, Value>) -> Vec<Problem> {
    let mut problems = Vec::new();
    visit(schema, place, &[], &mut |place, schema, _| {
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, property) in properties.into_iter().flatten() {
            let description = property.get("description").and_then(Value::as_str);
            if description.is_none_or(|text| text.trim().is_empty()) {
                let message = "has no description; people and models need one";
                problems.push(Problem::new(file, format!("{place}.properties.{name}"), message));
            }
        }
    });
    problems
}

/// Checks one schema object; `known` are the names that `required` may contain.
fn rules(schema: &Map<String, Value>, known: &[&str], problem: &mut dyn FnMut(&str, String)) {
    for keyword in schema.keys() {
        unknown(keyword, problem);
    }
    let types = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().collect(),
        one => Vec::from_iter(one),
    };
    for name in types.into_iter().filter_map(Value::as_str).filter(|name| !TYPES.contains(name)) {
        let hint = did_you_mean(name, TYPES.iter().copied());
        problem(".type", format!("is {name:?}; the types are {}{hint}", TYPES.join(", ")));
    }
    if schema.get("$schema").is_some_and(|draft| draft != DRAFT) {
        problem(".$schema", format!("is not the supported draft; expected {DRAFT:?}, or omit it"));
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str).filter(|name| !known.contains(name)) {
        problem(".required", format!("names {name:?}, which is not among the properties"));
    }
}

/// Rejects a keyword that has no meaning, because it is most likely misspelt.
fn unknown(keyword: &str, problem: &mut dyn FnMut(&str, String)) {
    let named = |list: &[(&str, &'static str)]| {
        list.iter().find(|(name, _)| *name == keyword).map(|(_, instead)| *instead)
    };
    if let Some(instead) = named(REFERENCES) {
        problem("", format!("uses {keyword}, which is not supported; {instead}"));
        return;
    }
    // Extensions, such as those of OpenAPI, are annotations.
    let is_known = subschemas(keyword) != Subschemas::None || keyword.starts_with("x-");
    if is_known || PLAIN.contains(&keyword) || ANNOTATIONS.contains(&keyword) {
        return;
    }
    let applicators = APPLICATORS.iter().map(|(name, _)| *name);
    let others = PLAIN.iter().chain(ANNOTATIONS).chain(&[DEPENDENCIES, "$ref"]).copied();
    let is_usable = |name: &&str| !REFERENCES.iter().any(|(it, _)| it == name);
    let all = applicators.chain(others).filter(is_usable);
    let hint = match named(FOREIGN) {
        Some(instead) => format!("; {instead}"),
        None => did_you_mean(keyword, all),
    };
    problem("", format!("has {keyword:?}, which is not a keyword of JSON Schema 2020-12{hint}"));
}

fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(name, known).map(|known| format!("; did you mean {known:?}?")).unwrap_or_default()
}

pub(crate) type Visitor<'a> = dyn FnMut(&str, &Map<String, Value>, &[&str]) + 'a;

/// Visits a schema and its subschemas, each with the property names that are known there.
pub(crate) fn visit(
    schema: &Map<String, Value>,
    place: &str,
    outer: &[&str],
    visitor: &mut Visitor<'_>,
) {
    let mut known = outer.to_vec();
    property_names(schema, &mut known);
    visitor(place, schema, &known);
    for (keyword, value) in schema {
        let keyword = keyword.as_str();
        let in_place = IN_PLACE.contains(&keyword) || IN_PLACE_LISTS.contains(&keyword);
        let outer = if in_place || keyword == "dependentSchemas" { &*known } else { &[] };
        for (below, schema) in inner(keyword, value) {
            if let Value::Object(schema) = schema {
                visit(schema, &format!("{place}.{keyword}{below}"), outer, visitor);
            }
        }
    }
}

/// The property names in a schema and in the schemas that apply to the same instance.
fn property_names<'a>(schema: &'a Map<String, Value>, names: &mut Vec<&'a str>) {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        names.extend(properties.keys().map(String::as_str));
    }
    let lists =
        IN_PLACE_LISTS.iter().filter_map(|keyword| schema.get(*keyword)?.as_array()).flatten();
    let singles = IN_PLACE.iter().filter_map(|keyword| schema.get(*keyword));
    for inner in lists.chain(singles).filter_map(Value::as_object) {
        property_names(inner, names);
    }
}

/// Removes the annotations. Schemas that differ only in annotations share one static.
pub(crate) fn without_annotations(schema: &Value) -> Value {
    let mut schema = schema.clone();
    remove_annotations(&mut schema);
    schema
}

fn remove_annotations(schema: &mut Value) {
    let Value::Object(members) = schema else { return };
    members.retain(|keyword, _| !ANNOTATIONS.contains(&keyword.as_str()));
    for (keyword, value) in members {
        inner_mut(keyword, value).into_iter().for_each(|(_, schema)| remove_annotations(schema));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn without_annotations_keeps_what_affects_validity() {
        let annotated = json!({
            "title": "T", "description": "d", "type": "object", "default": {}, "examples": [{}],
            "properties": {
                "title": {"type": "string", "description": "A property called title."},
                "list": {"description": "d", "prefixItems": [{"title": "x", "const": {"title": 1}}],
                         "items": {"enum": ["description"], "description": "d"}}
            },
            "anyOf": [{"required": ["title"], "$comment": "c"}]
        });
        let bare = json!({
            "type": "object",
            "properties": {
                "title": {"type": "string"},
                "list": {"prefixItems": [{"const": {"title": 1}}], "items": {"enum": ["description"]}}
            },
            "anyOf": [{"required": ["title"]}]
        });
        assert_eq!(without_annotations(&annotated), bare);
    }

    #[test]
    fn problems_of_schemas() {
        for (schema, expected) in [
            (json!({"properties": {"a": {"description": "d"}}, "required": ["a"]}), vec![]),
            (
                json!({"properties": {"a": {"description": "d"}, "b": {"description": "d"}},
                       "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
                vec![],
            ),
            (
                json!({"allOf": [{"properties": {"a": {"description": "d"}}}], "required": ["a"]}),
                vec![],
            ),
            (
                json!({"required": ["a"]}),
                vec!["s.required: names \"a\", which is not among the properties"],
            ),
            (
                json!({"properties": {"a": {"description": "d", "required": ["a"]}}}),
                vec!["s.properties.a.required: names \"a\", which is not among the properties"],
            ),
            (
                json!({"oneOf": [{"$id": "x"}]}),
                vec![
                    "s.oneOf[0]: uses $id, which is not supported; a definition is one document; refer to its parts by \"#/$defs/…\"",
                ],
            ),
            (
                json!({"definitions": {}}),
                vec!["s: uses definitions, which is not supported; use $defs"],
            ),
            (
                json!({"minLenght": 1, "items": {"additionalproperties": false, "title ": "t", "x-mine": 1}}),
                vec![
                    "s: has \"minLenght\", which is not a keyword of JSON Schema 2020-12; did you mean \"minLength\"?",
                    "s.items: has \"additionalproperties\", which is not a keyword of JSON Schema 2020-12; did you mean \"additionalProperties\"?",
                    "s.items: has \"title \", which is not a keyword of JSON Schema 2020-12; did you mean \"title\"?",
                ],
            ),
            (
                json!({"nullable": true, "prose": "p"}),
                vec![
                    "s: has \"nullable\", which is not a keyword of JSON Schema 2020-12; write \"type\": [\"string\", \"null\"] instead",
                    "s: has \"prose\", which is not a keyword of JSON Schema 2020-12",
                ],
            ),
            (
                json!({"type": "sting", "not": {"type": ["null", "list"]}}),
                vec![
                    "s.type: is \"sting\"; the types are array, boolean, integer, null, number, object, string; did you mean \"string\"?",
                    "s.not.type: is \"list\"; the types are array, boolean, integer, null, number, object, string",
                ],
            ),
            (json!({"const": {"$ref": "a value, not a keyword"}}), vec![]),
            (
                json!({"pattern": "a(?=b)"}),
                vec!["s: is not JSON Schema 2020-12: /pattern: \"a(?=b)\" is not a \"regex\""],
            ),
            (
                json!({"minimum": "one"}),
                vec!["s: is not JSON Schema 2020-12: /minimum: \"one\" is not of type \"number\""],
            ),
        ] {
            let got: Vec<_> = check("f", "s", schema.as_object().unwrap())
                .iter()
                .map(|problem| format!("{}: {}", problem.place, problem.message))
                .collect();
            assert_eq!(got, expected, "{schema}");
        }
        for (schema, expected) in [
            (json!({"properties": {"a": {"description": "d"}}}), vec![]),
            (
                json!({"properties": {"a": {}, "b": {"description": " "}}}),
                vec!["s.properties.a", "s.properties.b"],
            ),
            (json!({"items": {"properties": {"a": true}}}), vec!["s.items.properties.a"]),
        ] {
            let found = undescribed("f", "s", schema.as_object().unwrap());
            let places: Vec<_> = found.iter().map(|problem| problem.place.as_str()).collect();
            assert_eq!(places, expected, "{schema}");
            assert_eq!(check("f", "s", schema.as_object().unwrap()), [], "{schema}");
        }
        let unknown_format = json!({"format": "no-such-format"});
        assert_eq!(check("f", "s", unknown_format.as_object().unwrap()).len(), 1);
    }
}
