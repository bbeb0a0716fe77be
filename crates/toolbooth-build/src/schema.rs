//! Checks the schemas of a definition, and strips the keywords that do not affect validation.

use jsonschema::{PatternOptions, Validator};
use serde_json::{Map, Value, json};
use toolbooth::protocol::keywords::{self, APPLICATORS, Subschemas};
use toolbooth_schema::text::nearest;
use toolbooth_schema::{StringKeyword, formats};

use crate::patterns;
use crate::problem::Problem;

const DRAFT: &str = "https://json-schema.org/draft/2020-12/schema";
/// Keywords whose value is a schema that applies to the same instance.
const IN_PLACE: &[&str] = &["if", "then", "else", "not"];
/// Keywords whose value is a list of schemas that apply to the same instance.
const IN_PLACE_LISTS: &[&str] = &["allOf", "anyOf", "oneOf"];
/// Keywords whose value maps names to schemas that apply to the same instance if it has a member of this name.
const CONDITIONAL: &[&str] = &[DEPENDENCIES, "dependentSchemas"];
/// A keyword of earlier drafts that is still accepted: it maps names to schemas or to lists of names.
const DEPENDENCIES: &str = "dependencies";
/// Keywords for references that are not supported, with what to use instead. `$ref`, `$defs` and `$anchor` are
/// resolved before.
const REFERENCES: &[(&str, &str)] = &[
    ("$dynamicAnchor", "use $defs and $ref"),
    ("$dynamicRef", "use $defs and $ref"),
    ("$id", "a definition is one document; refer to its parts by \"#/$defs/…\""),
    ("$recursiveRef", "use $ref"),
    ("$vocabulary", "the vocabulary is that of JSON Schema 2020-12"),
    ("definitions", "use $defs, and \"#/$defs/…\" in references"),
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
    (
        "additionalItems",
        "write \"prefixItems\" for the first items and \"items\" for the others instead",
    ),
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

/// Whether the schemas in the value of a keyword apply to the same value as the schema with the keyword.
pub(crate) fn is_in_place(keyword: &str) -> bool {
    IN_PLACE.contains(&keyword)
        || IN_PLACE_LISTS.contains(&keyword)
        || CONDITIONAL.contains(&keyword)
}

/// Builds a `jsonschema` validator that accepts the same values as the compiled schema. It also checks
/// the schema itself and explains every error.
pub(crate) fn validator(schema: &Value) -> Result<Validator, String> {
    let mut options = jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true);
    for (name, keyword) in formats::ALL {
        if let StringKeyword::Format(_, is_valid) = keyword {
            options = options.with_format(*name, *is_valid);
        }
    }
    options.build(schema).map_err(|error| format!("{}: {error}", error.instance_path()))
}

/// Checks a schema. `required` may also have `names`, which stand elsewhere.
pub(crate) fn check(
    file: &str,
    place: &str,
    schema: &Map<String, Value>,
    names: &[String],
) -> Vec<Problem> {
    let mut problems = Vec::new();
    visit(schema, place, &mut |place, schema, together| {
        let is_known = |name: &str| names.iter().any(|it| it == name) || declares(together, name);
        rules(schema, &is_known, &mut |below, message| {
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
        visit(schema, place, &mut |place, schema, _| {
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

/// Removes each `default` that is null although the schema does not allow null: some generators write it for optional
/// parameters, and mean none.
pub(crate) fn remove_null_defaults(
    schema: &mut Map<String, Value>,
    place: &str,
    removed: &mut dyn FnMut(&str),
) {
    if schema.get("default").is_some_and(Value::is_null)
        && validator(&Value::Object(schema.clone())).is_ok_and(|it| !it.is_valid(&Value::Null))
    {
        schema.remove("default");
        removed(&format!("{place}.default"));
    }
    for (keyword, value) in schema {
        for (below, inner) in inner_mut(keyword, value) {
            if let Value::Object(inner) = inner {
                remove_null_defaults(inner, &format!("{place}.{keyword}{below}"), removed);
            }
        }
    }
}

/// Warns about formats that are not checked, each at its first place.
pub(crate) fn unchecked_formats(
    file: &str,
    place: &str,
    schema: &Map<String, Value>,
) -> Vec<Problem> {
    let (mut problems, mut known) = (Vec::new(), Vec::new());
    let checked = || formats::ALL.iter().map(|(name, _)| *name);
    visit(schema, place, &mut |place, schema, _| {
        let Some(format) = schema.get("format").and_then(Value::as_str) else { return };
        if checked().any(|name| name == format) || known.iter().any(|it| it == format) {
            return;
        }
        known.push(format.to_owned());
        let hint = did_you_mean(format, checked());
        let message = format!(
            "is {format:?}, which is not checked: it only tells clients what is meant; the formats that are checked are {}{hint}",
            checked().collect::<Vec<_>>().join(", ")
        );
        problems.push(Problem::new(file, format!("{place}.format"), message));
    });
    problems
}

pub(crate) fn undescribed(file: &str, place: &str, schema: &Map<String, Value>) -> Vec<Problem> {
    let mut problems = Vec::new();
    visit(schema, place, &mut |place, schema, _| {
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

/// Checks one schema object; `is_known` says which names `required` may contain.
fn rules(
    schema: &Map<String, Value>,
    is_known: &dyn Fn(&str) -> bool,
    problem: &mut dyn FnMut(&str, String),
) {
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
    older_drafts(schema, problem);
    let pattern = schema.get("pattern").and_then(Value::as_str).map(|it| (".pattern", it));
    let names = schema.get("patternProperties").and_then(Value::as_object);
    let names = names.into_iter().flat_map(Map::keys).map(|it| (".patternProperties", it.as_str()));
    for (place, pattern) in pattern.into_iter().chain(names) {
        if let Some(why) = patterns::unsupported(pattern) {
            problem(place, format!("has {pattern:?} with {why}"));
        }
    }
    if schema.get("$schema").is_some_and(|draft| draft != DRAFT) {
        problem(".$schema", format!("is not the supported draft; expected {DRAFT:?}, or omit it"));
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str).filter(|name| !is_known(name)) {
        problem(".required", format!("names {name:?}, which is not among the properties"));
    }
}

/// Names what earlier drafts wrote in another form.
fn older_drafts(schema: &Map<String, Value>, problem: &mut dyn FnMut(&str, String)) {
    if schema.get("items").is_some_and(Value::is_array) {
        let message = "is a list, as in earlier drafts; write \"prefixItems\" for the first items, and \"items\" for the others, instead";
        problem(".items", message.to_owned());
    }
    for (limit, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if schema.get(exclusive).is_some_and(Value::is_boolean) {
            let message = format!(
                "is true or false, as in draft 4; write the limit itself instead of {limit:?}, such as \"{exclusive}\": 5"
            );
            problem(&format!(".{exclusive}"), message);
        }
    }
    if schema.get("required").is_some_and(Value::is_boolean) {
        let message = "is true or false, as in draft 3; write the list of names in the schema of the object instead";
        problem(".required", message.to_owned());
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

pub(crate) type Visitor<'a> = dyn FnMut(&str, &Map<String, Value>, &[&Map<String, Value>]) + 'a;

/// Visits a schema and its subschemas, each with the schemas that apply to the same value.
pub(crate) fn visit(schema: &Map<String, Value>, place: &str, visitor: &mut Visitor<'_>) {
    visit_within(schema, place, &[], visitor);
}

fn visit_within(
    schema: &Map<String, Value>,
    place: &str,
    outer: &[&Map<String, Value>],
    visitor: &mut Visitor<'_>,
) {
    let mut together = outer.to_vec();
    collect_in_place(schema, &mut together);
    visitor(place, schema, &together);
    for (keyword, value) in schema {
        let outer = if is_in_place(keyword) { &*together } else { &[] };
        for (below, schema) in inner(keyword, value) {
            if let Value::Object(schema) = schema {
                visit_within(schema, &format!("{place}.{keyword}{below}"), outer, visitor);
            }
        }
    }
}

/// Collects a schema and the schemas in it that apply to the same value.
fn collect_in_place<'a>(schema: &'a Map<String, Value>, found: &mut Vec<&'a Map<String, Value>>) {
    // A schema within one of them finds it in the list.
    if found.iter().any(|known| std::ptr::eq(*known, schema)) {
        return;
    }
    found.push(schema);
    let in_place = schema.iter().filter(|(keyword, _)| is_in_place(keyword));
    for (_, inner) in in_place.flat_map(|(keyword, value)| inner(keyword, value)) {
        if let Value::Object(inner) = inner {
            collect_in_place(inner, found);
        }
    }
}

/// Whether one of the schemas of a value declares a member of this name. Whoever writes no `additionalProperties` has most
/// likely misspelt a name that no other keyword has.
fn declares(schemas: &[&Map<String, Value>], name: &str) -> bool {
    let accepts = |schema: Value| validator(&schema).is_ok_and(|it| it.is_valid(&name.into()));
    schemas.iter().any(|schema| {
        let map = |keyword: &str| schema.get(keyword).and_then(Value::as_object);
        let mut others = ["additionalProperties", "unevaluatedProperties"].iter();
        map("properties").is_some_and(|properties| properties.contains_key(name))
            || others.any(|keyword| schema.get(*keyword).is_some_and(|others| others != false))
            || map("propertyNames").is_some_and(|names| accepts(Value::Object(names.clone())))
            || map("patternProperties").is_some_and(|patterns| {
                patterns.keys().any(|pattern| accepts(json!({ "pattern": pattern })))
            })
    })
}

/// Collects the names of all properties in a schema that was not resolved.
pub(crate) fn declared_names(schema: &Map<String, Value>, names: &mut Vec<String>) {
    if let Some(Value::Object(properties)) = schema.get("properties") {
        names.extend(properties.keys().cloned());
    }
    for (_, inner) in schema.iter().flat_map(|(keyword, value)| inner(keyword, value)) {
        if let Value::Object(inner) = inner {
            declared_names(inner, names);
        }
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
mod tests;
