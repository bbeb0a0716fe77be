//! How each provider's lists treat each keyword.

use super::*;

/// 3.1 and 5.4: the type of a property, its keywords, and the result for each provider. `K` is unchanged, `W` becomes
/// a sentence, `-` is dropped, `E` is an enum, `A` is anyOf, and any other text is the incompatible features.
const ROWS: &[(&str, &str, [&str; 5])] = &[
    ("string", r#""title":"T""#, ["K", "K", "K", "K", "K"]),
    ("string", r#""format":"date""#, ["K", "K", "K", "K", "K"]),
    ("string", r#""format":"uri""#, ["K", "W", "K", "K", "K"]),
    ("string", r#""format":"regex""#, ["K", "W", "K", "W", "K"]),
    ("string", r#""pattern":"^a$""#, ["K", "K", "K", "W", "W"]),
    ("string", r#""minLength":1"#, ["K", "W", "K", "W", "W"]),
    ("string", r#""maxLength":2"#, ["K", "W", "K", "W", "W"]),
    ("number", r#""minimum":1"#, ["K", "K", "K", "W", "K"]),
    ("number", r#""maximum":1"#, ["K", "K", "K", "W", "K"]),
    ("number", r#""exclusiveMinimum":1"#, ["K", "K", "K", "W", "W"]),
    ("number", r#""exclusiveMaximum":1"#, ["K", "K", "K", "W", "W"]),
    ("number", r#""multipleOf":2"#, ["K", "K", "K", "W", "W"]),
    ("string", r#""enum":["a","b"]"#, ["K", "K", "K", "E", "K"]),
    ("integer", r#""enum":[1,2]"#, ["K", "K", "K", "E", "K"]),
    ("boolean", r#""enum":[true]"#, ["K", "K", "K", "E", "W"]),
    ("array", r#""items":{"type":"null"},"enum":[[1]]"#, ["K", "K", "K", "W", "W"]),
    ("string", r#""const":"a""#, ["K", "K", "K", "E", "E"]),
    ("boolean", r#""const":true"#, ["K", "K", "K", "E", "W"]),
    ("string", r#""not":{"const":"a"}"#, ["K", "not", "K", "not", "not"]),
    ("string", r#""if":{"const":"a"}"#, ["K", "if", "K", "if", "if"]),
    ("string", r#""then":{"const":"a"}"#, ["K", "then", "K", "then", "then"]),
    ("string", r#""else":{"const":"a"}"#, ["K", "else", "K", "else", "else"]),
    ("string", r#""oneOf":[{"minLength":1}]"#, ["K", "oneOf", "K", "anyOf untyped", "A"]),
    ("string", r#""allOf":[{"minLength":1}]"#, ["K", "allOf", "K", "allOf", "allOf"]),
    ("string", r#""contentEncoding":"base64""#, ["K", "W", "K", "W", "W"]),
    ("string", r#""contentMediaType":"text/html""#, ["K", "W", "K", "W", "W"]),
    ("string", r#""contentSchema":{"type":"string"}"#, ["K", "-", "K", "-", "-"]),
    ("string", r#""default":"a""#, ["K", "W", "K", "W", "W"]),
    ("string", r#""examples":["a"]"#, ["K", "W", "K", "W", "W"]),
    ("string", r#""deprecated":true"#, ["K", "-", "K", "-", "-"]),
    ("string", r#""readOnly":true"#, ["K", "-", "K", "-", "-"]),
    ("string", r#""writeOnly":true"#, ["K", "-", "K", "-", "-"]),
    ("string", r#""$comment":"c""#, ["-", "-", "-", "-", "-"]),
    (
        "string",
        r#""$schema":"https://json-schema.org/draft/2020-12/schema""#,
        ["K", "-", "K", "-", "-"],
    ),
    ("string", r##""$ref":"#/$defs/a""##, ["K", "K", "K", "K", "K"]),
    ("string", r#""$defs":{"a":{"type":"string"}}"#, ["K", "K", "K", "K", "K"]),
    ("string", r#""x-own":{"a":1}"#, ["K", "-", "K", "-", "-"]),
    ("array", r#""items":{"type":"string"}"#, ["K", "K", "K", "K", "K"]),
    ("array", r#""items":{"type":"string"},"minItems":1"#, ["K", "K", "K", "K", "K"]),
    ("array", r#""items":{"type":"string"},"minItems":2"#, ["K", "K", "K", "W", "K"]),
    ("array", r#""items":{"type":"string"},"maxItems":2"#, ["K", "K", "K", "W", "K"]),
    ("array", r#""items":{"type":"string"},"uniqueItems":true"#, ["K", "W", "K", "W", "W"]),
    ("array", r#""items":{"type":"string"},"uniqueItems":false"#, ["K", "-", "K", "-", "-"]),
    (
        "array",
        r#""items":{"type":"string"},"prefixItems":[]"#,
        ["K", "prefixItems", "K", "prefixItems", "K"],
    ),
    (
        "array",
        r#""items":{"type":"string"},"contains":{}"#,
        ["K", "contains", "K", "contains", "contains"],
    ),
    (
        "array",
        r#""items":{"type":"string"},"minContains":1"#,
        ["K", "minContains", "K", "minContains", "minContains"],
    ),
    (
        "array",
        r#""items":{"type":"string"},"maxContains":1"#,
        ["K", "maxContains", "K", "maxContains", "maxContains"],
    ),
    (
        "array",
        r#""items":{"type":"string"},"unevaluatedItems":false"#,
        ["K", "unevaluatedItems", "K", "unevaluatedItems", "unevaluatedItems"],
    ),
    ("object", r#""properties":{},"additionalProperties":false"#, ["K", "K+", "K", "K", "K"]),
    (
        "object",
        r#""properties":{},"additionalProperties":true"#,
        ["K", "additionalProperties", "K", "additionalProperties", "K"],
    ),
    (
        "object",
        r#""properties":{},"additionalProperties":{"type":"string"}"#,
        ["K", "additionalProperties", "K", "additionalProperties", "K"],
    ),
    (
        "object",
        r#""properties":{},"additionalProperties":false,"minProperties":1"#,
        ["K", "W", "K", "W", "W"],
    ),
    (
        "object",
        r#""properties":{},"additionalProperties":false,"maxProperties":1"#,
        ["K", "W", "K", "W", "W"],
    ),
    (
        "object",
        r#""properties":{},"patternProperties":{"a":{}}"#,
        ["K", "patternProperties", "K", "patternProperties", "patternProperties"],
    ),
    (
        "object",
        r#""properties":{},"propertyNames":{"type":"string"}"#,
        ["K", "propertyNames", "K", "propertyNames", "propertyNames"],
    ),
    (
        "object",
        r#""properties":{},"unevaluatedProperties":false"#,
        ["K", "unevaluatedProperties", "K", "unevaluatedProperties", "unevaluatedProperties"],
    ),
    (
        "object",
        r#""properties":{},"dependentRequired":{}"#,
        ["K", "dependentRequired", "K", "dependentRequired", "dependentRequired"],
    ),
    (
        "object",
        r#""properties":{},"dependentSchemas":{}"#,
        ["K", "dependentSchemas", "K", "dependentSchemas", "dependentSchemas"],
    ),
];

#[test]
fn every_keyword_with_every_provider() {
    let known = KEYWORDS;
    let mut seen = vec!["type", "description", "required", "anyOf"]; // other tests cover these
    for (kind, rest, expected) in ROWS {
        let text = format!(r#"{{"type":"{kind}","description":"D.",{rest}}}"#);
        let schema: Value = serde_json::from_str(&text).unwrap();
        let keywords = schema.as_object().unwrap().keys();
        seen.extend(known.iter().filter(|known| keywords.clone().any(|one| one == *known)));
        for ((name, _), (got, expected)) in
            TARGETS.iter().zip(property(&schema).iter().zip(expected))
        {
            let what = format!("{name}: {text} became {got}");
            let description = got["description"].as_str().unwrap_or_default();
            match *expected {
                "K" => assert_eq!(got, &schema, "{what}"),
                "K+" => assert_eq!(got["required"], json!([]), "{what}"),
                "W" => {
                    assert!(description.starts_with("D. ") && description.ends_with('.'), "{what}");
                    assert!(
                        got.as_object().unwrap().len() <= 2 + rest.matches(',').count() + 2,
                        "{what}"
                    );
                }
                "-" => {
                    assert_eq!(description, "D.", "{what}");
                    assert_ne!(got, &schema, "{what}");
                }
                "E" => assert!(got.get("enum").or(got.get("const")).is_some(), "{what}"),
                "A" => assert!(got.get("anyOf").is_some(), "{what}"),
                features => {
                    let features: Vec<&str> = features.split(' ').collect();
                    assert_eq!(got, &json!(features), "{what}");
                }
            }
        }
    }
    seen.sort_unstable();
    seen.dedup();
    let missing: Vec<_> = known.iter().filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "no row has {missing:?}");
}
