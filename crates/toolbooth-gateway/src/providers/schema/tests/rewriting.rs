//! What becomes of keywords that are written with others.

use super::*;

fn object(properties: Value) -> Value {
    json!({"type": "object", "properties": properties})
}

/// The schema for Gemini, and the features that it has lost.
fn for_gemini(schema: &Value) -> (Value, Vec<String>) {
    let adapted = adapt(schema, &gemini::PLAIN).unwrap();
    (adapted.schema, adapted.loosened)
}

#[test]
fn all_of_is_merged() {
    for (what, schema, expected) in [
        (
            "patterns, in words",
            json!({"type": "string", "allOf": [{"pattern": "a"}, {"pattern": "b"}]}),
            json!({"type": "string", "description": "Matches /a/. Matches /b/."}),
        ),
        (
            "a reference alone",
            json!({"description": "D.", "title": "T", "default": null, "allOf": [{"$ref": "#/$defs/a"}]}),
            json!({
                "type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"], "title": "T",
                "description": "D. Default: null."
            }),
        ),
        (
            "objects",
            json!({"allOf": [
                {"$ref": "#/$defs/a"},
                {"type": "object", "properties": {"y": {"type": "integer"}, "x": {"maxLength": 9}}, "required": ["y"]}
            ]}),
            json!({
                "type": "object", "required": ["x", "y"],
                "properties": {"x": {"type": "string", "description": "At most 9 characters."}, "y": {"type": "integer"}}
            }),
        ),
        (
            "within each other",
            json!({"allOf": [{"allOf": [{"minimum": 1}, {"minimum": 3}]}, {"type": ["integer", "null"]}, {"type": "number"}, true]}),
            json!({"type": "integer", "minimum": 3}),
        ),
        (
            "values",
            json!({"enum": ["a", "b", "c"], "allOf": [{"enum": ["b", "c", "d"]}, {"title": "T"}]}),
            json!({"enum": ["b", "c"], "title": "T"}),
        ),
        (
            "several unions",
            json!({"anyOf": [{"type": "string"}], "allOf": [{"anyOf": [{"minLength": 1}]}]}),
            json!({"anyOf": [{"type": "string"}], "description": "anyOf: [{\"minLength\":1}]."}),
        ),
        (
            "a definition that extends itself",
            json!({"allOf": [{"$ref": "#/$defs/list"}, {"description": "D."}]}),
            json!({
                "type": "object", "description": "D.",
                "properties": {"next": {"$ref": "#/$defs/list"}, "rest": {"$ref": "#/$defs/list"}}
            }),
        ),
    ] {
        let mut whole = object(json!({"p": schema}));
        whole["$defs"] = json!({
            "a": {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
            "list": {"type": "object", "properties": {
                "next": {"$ref": "#/$defs/list"},
                "rest": {"allOf": [{"$ref": "#/$defs/list"}], "description": "R."}
            }}
        });
        let (got, loosened) = for_gemini(&whole);
        assert_eq!(got["properties"]["p"], expected, "{what}");
        assert!(loosened.contains(&"allOf".to_owned()), "{what}");
    }
}

/// Definitions that only their own definitions have in common are in each other without end.
#[test]
fn schemas_that_grow_without_end_are_left_out() {
    let mut definitions = Schema::new();
    for level in 0..60 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        let twice = json!({"properties": {"a": {"allOf": [next, {"title": "x"}]}, "b": {"allOf": [next, {"title": "y"}]}}});
        definitions.insert(format!("d{level}"), twice);
    }
    let mut schema =
        object(json!({"p": {"allOf": [{"$ref": "#/$defs/d0"}, {"minProperties": 1}]}}));
    schema["$defs"] = definitions.into();
    let (got, _) = for_gemini(&schema);
    assert!(got.to_string().len() < 8 * ROOM_FOR_REFERENCED);
}

/// G15: what stands beside `$ref`, for providers that take little there.
#[test]
fn keywords_beside_a_reference() {
    let (reference, plain) = (json!("#/$defs/a"), json!({"type": "string"}));
    let described = json!({"type": "string", "description": "An a."});
    for (what, beside, definition, gemini, compatible) in [
        ("nothing", json!({}), &plain, json!({"$ref": reference}), json!({"$ref": reference})),
        (
            "a title",
            json!({"title": "T"}),
            &plain,
            json!({"$ref": reference}),
            json!({"$ref": reference}),
        ),
        (
            "a description and a title",
            json!({"description": "D.", "title": "T"}),
            &described,
            json!({"type": "string", "title": "T", "description": "D. An a."}),
            json!({"type": "string", "title": "T", "description": "D. An a."}),
        ),
        (
            "a default",
            json!({"default": "x"}),
            &plain,
            json!({"type": "string", "description": "Default: \"x\"."}),
            json!({"type": "string", "default": "x"}),
        ),
        (
            "what narrows it",
            json!({"type": "string", "minLength": 2}),
            &described,
            json!({"type": "string", "description": "An a. At least 2 characters."}),
            json!({"type": "string", "description": "An a. At least 2 characters."}),
        ),
    ] {
        let mut property = beside.clone();
        property["$ref"] = reference.clone();
        let mut schema = object(json!({"p": property}));
        schema["$defs"] = json!({"a": definition});
        for (target, expected) in [(&gemini::PLAIN, gemini), (&openai::COMPATIBLE, compatible)] {
            let adapted = adapt(&schema, target).unwrap();
            assert_eq!(adapted.schema["properties"]["p"], expected, "{what}");
            let is_dropped = expected.get("title").is_none() && beside.get("title").is_some();
            assert_eq!(adapted.dropped.contains(&"title".to_owned()), is_dropped, "{what}");
            assert!(adapted.loosened.is_empty(), "{what}: {adapted:?}");
        }
    }
}

/// MCP servers list such schemas, and Gemini and Groq reject the whole request because of one.
#[test]
fn required_members_that_are_not_declared() {
    for (what, schema, expected) in [
        (
            "one of two",
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a", "b"]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "description": "required: [\"b\"]."}),
        ),
        (
            "within an array",
            json!({"type": "array", "items": {"type": "object", "required": ["b"]}}),
            json!({"type": "array", "items": {"type": "object", "properties": {}, "required": [], "description": "required: [\"b\"]."}}),
        ),
    ] {
        for target in [&gemini::PLAIN, &openai::COMPATIBLE] {
            let adapted = adapt(&object(json!({"p": schema})), target).unwrap();
            let mut got = adapted.schema["properties"]["p"].clone();
            // Gemini needs none.
            let items = got.get_mut("items").and_then(Value::as_object_mut);
            items.into_iter().for_each(|it| {
                it.entry("properties").or_insert(json!({}));
            });
            assert_eq!(got, expected, "{what}");
            assert_eq!(adapted.loosened, ["required"], "{what}");
        }
    }
}

#[test]
fn references_to_other_places() {
    for (what, schema, property, definition) in [
        (
            "a property",
            json!({"type": "object", "properties": {"a": {"type": "string"}, "p": {"$ref": "#/properties/a"}}}),
            json!({"$ref": "#/$defs/a"}),
            ("a", json!({"type": "string"})),
        ),
        (
            "an anchor",
            json!({"type": "object", "properties": {"p": {"$ref": "#x"}}, "$defs": {"a": {"$anchor": "x", "type": "string"}}}),
            json!({"$ref": "#/$defs/x"}),
            ("x", json!({"type": "string"})),
        ),
        (
            "an encoded name",
            json!({"type": "object", "properties": {"p": {"$ref": "#/x/a%20b"}}, "x": {"a b": {"type": "string"}}}),
            json!({"$ref": "#/$defs/part"}),
            ("part", json!({"type": "string"})),
        ),
        (
            "older definitions beside newer ones",
            json!({
                "type": "object", "properties": {"p": {"$ref": "#/definitions/a"}},
                "definitions": {"a": {"type": "string"}}, "$defs": {"a": {"type": "null"}}
            }),
            json!({"$ref": "#/$defs/a_2"}),
            ("a_2", json!({"type": "string"})),
        ),
        (
            "the whole schema",
            json!({"type": "object", "properties": {"p": {"$ref": "#"}}}),
            json!({"$ref": "#/$defs/part"}),
            ("part", object(json!({"p": {"$ref": "#/$defs/part"}}))),
        ),
    ] {
        let (got, loosened) = for_gemini(&schema);
        assert_eq!(got["properties"]["p"], property, "{what}");
        let mut found = got["$defs"][definition.0].clone();
        found.as_object_mut().unwrap().remove("$anchor");
        assert_eq!(found, definition.1, "{what}");
        assert_eq!(loosened, [""; 0], "{what}");
    }
    // Nobody knows what these mean.
    for reference in ["https://example.com/x", "other.json#/a", "#/$defs/missing", "#missing"] {
        let (got, loosened) = for_gemini(&object(json!({"p": {"$ref": reference, "title": "T"}})));
        let words = json!({"title": "T", "description": format!("$ref: \"{reference}\".")});
        assert_eq!(got["properties"]["p"], words);
        assert_eq!(loosened, ["$ref"]);
        let root = adapt(&json!({"$ref": reference}), &gemini::PLAIN);
        assert_eq!(root.unwrap_err(), ["$ref"]);
    }
}

/// Gemini rejects circles of members that must be there.
#[test]
fn circles_of_required_members() {
    let node = |member: Value, required: Value| {
        json!({
            "type": "object", "properties": {"p": {"$ref": "#/$defs/n"}},
            "$defs": {"n": {"type": "object", "properties": {"next": member, "v": {"type": "string"}}, "required": required}}
        })
    };
    let next = json!({"$ref": "#/$defs/n"});
    for (what, member, required, expected) in [
        ("optional", next.clone(), json!(["v"]), None),
        ("required", next.clone(), json!(["next", "v"]), Some(json!(["v"]))),
        ("nullable", json!({"anyOf": [next, {"type": "null"}]}), json!(["next"]), Some(json!([]))),
        ("a list", json!({"type": "array", "items": next}), json!(["next"]), None),
        (
            "a list with items",
            json!({"type": "array", "items": next, "minItems": 1}),
            json!(["next"]),
            Some(json!([])),
        ),
        ("within", json!({"type": "object", "properties": {"n": next}}), json!(["next"]), None),
    ] {
        let schema = node(member, required.clone());
        let (got, loosened) = for_gemini(&schema);
        let definition = &got["$defs"]["n"];
        assert_eq!(definition["required"], expected.clone().unwrap_or(required), "{what}");
        let words = expected.is_some().then_some("Required: next.");
        assert_eq!(definition["description"].as_str(), words, "{what}");
        assert_eq!(!loosened.is_empty(), expected.is_some(), "{what}");
        let [openai, _, anthropic, ..] = fitted(&schema);
        assert_eq!((openai.unwrap().loosened, anthropic.unwrap().loosened), (vec![], vec![]));
    }
}

/// Providers that have no union at the root get one object.
#[test]
fn unions_at_the_root() {
    let kind = |name: &str, rest: Value| {
        let mut properties = rest;
        properties["kind"] = json!({"const": name, "type": "string"});
        json!({
            "type": "object", "properties": properties, "required": ["kind", name], "additionalProperties": false
        })
    };
    for (what, schema, expected) in [
        (
            "variants",
            json!({"type": "object", "oneOf": [
                kind("circle", json!({"circle": {"type": "number"}})),
                kind("square", json!({"square": {"type": "number"}}))
            ]}),
            json!({
                "type": "object", "additionalProperties": false, "required": ["kind"],
                "properties": {
                    "kind": {"enum": ["circle", "square"], "type": "string"},
                    "circle": {"type": "number"}, "square": {"type": "number"}
                },
                "description": concat!(
                    r#"oneOf: [{"properties":{"kind":{"const":"circle"}},"required":["circle"]},"#,
                    r#"{"properties":{"kind":{"const":"square"}},"required":["square"]}]."#
                )
            }),
        ),
        (
            "which members must be there",
            json!({
                "type": "object", "description": "D.", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "anyOf": [{"required": ["a"]}, {"required": ["b"]}]
            }),
            json!({
                "type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "description": r#"D. anyOf: [{"required":["a"]},{"required":["b"]}]."#
            }),
        ),
        (
            "references, unions in unions, and what no arguments are",
            json!({
                "type": "object", "anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}, {"type": "string"}],
                "$defs": {"a": {"oneOf": [
                    {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]},
                    {"properties": {"x": {"type": "integer"}}, "required": ["x"]}
                ]}}
            }),
            json!({
                "type": "object", "required": ["x"],
                "properties": {"x": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}
            }),
        ),
    ] {
        let [openai, _, anthropic, _, gemini, compatible] = fitted(&schema);
        for (name, adapted) in
            [("OpenAI", openai), ("Anthropic", anthropic), ("compatible", compatible)]
        {
            let adapted = adapted.unwrap();
            let mut got = adapted.schema;
            got.as_object_mut().unwrap().remove("$defs");
            assert_eq!(got, expected, "{name}: {what}");
            assert_eq!(adapted.loosened.len(), 1, "{name}: {what}");
        }
        assert!(gemini.unwrap().schema.get("anyOf").is_some(), "{what}");
    }
}

#[test]
fn keywords_about_some_members_and_others() {
    let text = json!({"type": "string"});
    let number = json!({"type": "number"});
    let both = json!({"anyOf": [text, number]});
    for (schema, keyword, expected) in [
        (
            json!({"patternProperties": {"^x": text}, "additionalProperties": false}),
            "additionalProperties",
            text.clone(),
        ),
        (
            json!({"patternProperties": {"^x": text}, "additionalProperties": number}),
            "additionalProperties",
            both.clone(),
        ),
        (
            json!({"patternProperties": {"^x": text}, "additionalProperties": true}),
            "additionalProperties",
            json!(true),
        ),
        (json!({"patternProperties": {"^x": text}}), "additionalProperties", json!(null)),
        (json!({"prefixItems": [text, number], "items": false}), "items", both.clone()),
        (json!({"prefixItems": [text], "items": number}), "items", both.clone()),
        (json!({"items": [text, number], "additionalItems": false}), "items", both.clone()),
        (json!({"prefixItems": [text, number], "minItems": 2, "maxItems": 2}), "items", both),
        (json!({"prefixItems": [text]}), "items", json!(null)),
    ] {
        let [.., compatible] = fitted(&object(json!({"p": schema})));
        let got = &compatible.unwrap().schema["properties"]["p"];
        assert_eq!(got[keyword], expected, "{schema}");
    }
}

/// What OpenAI's format means is not the same to all that have it.
#[test]
fn compatible_providers() {
    for (what, schema, expected) in [
        (
            "a type beside a union",
            json!({"type": "string", "anyOf": [{"enum": ["a"]}, {"type": "string", "title": "T"}]}),
            json!({"anyOf": [{"enum": ["a"], "type": "string"}, {"type": "string", "title": "T"}]}),
        ),
        (
            "required members that the object does not declare",
            json!({"type": "object", "required": ["a"]}),
            json!({"type": "object", "properties": {}, "required": [], "description": "required: [\"a\"]."}),
        ),
    ] {
        let [.., compatible] = fitted(&object(json!({"p": schema})));
        assert_eq!(compatible.unwrap().schema["properties"]["p"], expected, "{what}");
    }
}
