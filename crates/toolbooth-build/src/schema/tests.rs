//! The problems and warnings of schemas.

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
            vec![
                "s: uses definitions, which is not supported; use $defs, and \"#/$defs/…\" in references",
            ],
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
            json!({"pattern": "a(?=b)", "items": {"patternProperties": {"^(?!x)": true}}}),
            vec![
                "s.pattern: has \"a(?=b)\" with a look-ahead, (?=…), which is not supported: texts are matched in linear time; write \"allOf\" with a pattern for each condition instead",
                "s.items.patternProperties: has \"^(?!x)\" with a look-ahead, (?!…), which is not supported: texts are matched in linear time; write \"not\": {\"pattern\": …} for what may not match instead",
            ],
        ),
        (
            json!({"items": [{}], "additionalItems": false}),
            vec![
                "s: has \"additionalItems\", which is not a keyword of JSON Schema 2020-12; write \"prefixItems\" for the first items and \"items\" for the others instead",
                "s.items: is a list, as in earlier drafts; write \"prefixItems\" for the first items, and \"items\" for the others, instead",
            ],
        ),
        (
            json!({"minimum": 1, "exclusiveMinimum": true, "properties": {"a": {"required": true}}}),
            vec![
                "s.exclusiveMinimum: is true or false, as in draft 4; write the limit itself instead of \"minimum\", such as \"exclusiveMinimum\": 5",
                "s.properties.a.required: is true or false, as in draft 3; write the list of names in the schema of the object instead",
            ],
        ),
        (
            json!({"minimum": "one"}),
            vec!["s: is not JSON Schema 2020-12: /minimum: \"one\" is not of type \"number\""],
        ),
    ] {
        let got: Vec<_> = check("f", "s", schema.as_object().unwrap(), &[])
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
        assert_eq!(check("f", "s", schema.as_object().unwrap(), &[]), [], "{schema}");
    }
}

#[test]
fn what_declares_a_name_that_required_has() {
    for (schema, expected) in [
        (json!({"patternProperties": {"^x-": {}}, "required": ["x-a"]}), true),
        (json!({"patternProperties": {"^x-": {}}, "required": ["y"]}), false),
        (json!({"additionalProperties": {"type": "number"}, "required": ["y"]}), true),
        (json!({"additionalProperties": true, "required": ["y"]}), true),
        (json!({"additionalProperties": false, "required": ["y"]}), false),
        (json!({"unevaluatedProperties": {"type": "number"}, "required": ["y"]}), true),
        (json!({"unevaluatedProperties": false, "required": ["y"]}), false),
        (json!({"propertyNames": {"enum": ["x", "y"]}, "required": ["x", "y"]}), true),
        (json!({"propertyNames": {"enum": ["x"]}, "required": ["y"]}), false),
        (json!({"propertyNames": {"pattern": "^y"}, "required": ["y"]}), true),
        (json!({"additionalProperties": {}, "anyOf": [{"required": ["y"]}]}), true),
        (
            json!({"dependentSchemas": {"x": {"properties": {"y": {"description": "d"}}}}, "required": ["y"]}),
            true,
        ),
        (
            json!({"dependencies": {"x": {"properties": {"y": {"description": "d"}}}}, "required": ["y"]}),
            true,
        ),
        (json!({"items": {"additionalProperties": {}}, "required": ["y"]}), false),
    ] {
        let found = check("f", "s", schema.as_object().unwrap(), &[]);
        assert_eq!(found.is_empty(), expected, "{schema}: {found:?}");
    }
    let schema = json!({"allOf": [{"required": ["y"]}]});
    assert_eq!(check("f", "s", schema.as_object().unwrap(), &["y".to_owned()]), []);
}

#[test]
fn null_as_a_default_of_what_is_not_null_is_none() {
    for (schema, places) in [
        (
            json!({"properties": {"a": {"type": "string", "default": null}}}),
            vec!["s.properties.a.default"],
        ),
        (
            json!({"properties": {"a": {"enum": ["x"], "default": null}}}),
            vec!["s.properties.a.default"],
        ),
        (
            json!({"items": {"anyOf": [{"type": "string", "default": null}, {"type": "null"}], "default": null}}),
            vec!["s.items.anyOf[0].default"],
        ),
        (json!({"type": ["string", "null"], "default": null}), vec![]),
        (json!({"default": null}), vec![]),
        (
            json!({"properties": {"default": {"type": "null"}}, "const": {"type": "string", "default": null}}),
            vec![],
        ),
    ] {
        let (mut changed, mut found) = (schema.as_object().unwrap().clone(), Vec::new());
        remove_null_defaults(&mut changed, "s", &mut |place| found.push(place.to_owned()));
        assert_eq!(found, places, "{schema}");
        found.clear();
        remove_null_defaults(&mut changed, "s", &mut |place| found.push(place.to_owned()));
        assert_eq!(found, [""; 0], "{schema}");
    }
}

#[test]
fn formats_that_are_not_checked() {
    for (schema, expected) in [
        (json!({"format": "date"}), vec![]),
        (
            json!({"format": "emial", "items": {"format": "int32"}, "not": {"format": "int32"}}),
            vec![("s.format", Some("email")), ("s.items.format", None)],
        ),
        (json!({"properties": {"format": {"const": {"format": "x"}}}}), vec![]),
    ] {
        let schema = schema.as_object().unwrap();
        assert_eq!(check("f", "s", schema, &[]), []);
        let found = unchecked_formats("f", "s", schema);
        let found: Vec<_> = found
            .iter()
            .map(|it| {
                (
                    it.place.as_str(),
                    it.message
                        .split_once("did you mean \"")
                        .map(|(_, it)| it.trim_end_matches("\"?")),
                )
            })
            .collect();
        assert_eq!(found, expected);
    }
}
