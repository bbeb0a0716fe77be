//! How each provider's lists treat each keyword.

use super::*;

/// 3.1 and 5.4: the type of a property, its keywords, and the result for each provider. `K` is unchanged, `W` becomes
/// a sentence, `L` too, so that the schema is wider, `-` is dropped, `E` is an enum, `A` is anyOf, and any other text is the
/// incompatible features.
#[rustfmt::skip]
const ROWS: &[(&str, &str, [&str; 6])] = &[
    ("string", r#""title":"T""#, ["K", "K", "K", "K", "K", "K"]),
    ("string", r#""format":"date""#, ["K", "K", "K", "K", "K", "K"]),
    ("string", r#""format":"uri""#, ["K", "W", "K", "K", "K", "W"]),
    ("string", r#""format":"regex""#, ["K", "W", "K", "W", "K", "W"]),
    ("string", r#""pattern":"^a$""#, ["K", "K", "K", "W", "W", "W"]),
    ("string", r#""minLength":1"#, ["K", "W", "K", "W", "W", "W"]),
    ("string", r#""maxLength":2"#, ["K", "W", "K", "W", "W", "W"]),
    ("number", r#""minimum":1"#, ["K", "K", "K", "W", "K", "K"]),
    ("number", r#""maximum":1"#, ["K", "K", "K", "W", "K", "K"]),
    ("number", r#""exclusiveMinimum":1"#, ["K", "K", "K", "W", "W", "W"]),
    ("number", r#""exclusiveMaximum":1"#, ["K", "K", "K", "W", "W", "W"]),
    ("number", r#""multipleOf":2"#, ["K", "K", "K", "W", "W", "W"]),
    ("string", r#""enum":["a","b"]"#, ["K", "K", "K", "E", "K", "K"]),
    ("integer", r#""enum":[1,2]"#, ["K", "K", "K", "E", "K", "K"]),
    ("string", r#""enum":["a",1]"#, ["K", "K", "K", "E", "K", "W"]),
    ("boolean", r#""enum":[true]"#, ["K", "K", "K", "E", "W", "W"]),
    ("array", r#""items":{"type":"null"},"enum":[[1]]"#, ["K", "K", "K", "W", "W", "W"]),
    ("string", r#""const":"a""#, ["K", "K", "K", "E", "E", "E"]),
    ("boolean", r#""const":true"#, ["K", "K", "K", "E", "W", "W"]),
    ("string", r#""not":{"const":"a"}"#, ["K", "L", "K", "L", "L", "L"]),
    ("string", r#""if":{"const":"a"}"#, ["K", "L", "K", "L", "L", "L"]),
    ("string", r#""then":{"const":"a"}"#, ["K", "L", "K", "L", "L", "L"]),
    ("string", r#""else":{"const":"a"}"#, ["K", "L", "K", "L", "L", "L"]),
    ("string", r#""oneOf":[{"minLength":1}]"#, ["K", "anyOf,untyped", "K", "anyOf,untyped", "A", "A"]),
    ("string", r#""allOf":[{"minLength":1}]"#, ["K", "L", "K", "L", "L", "L"]),
    ("string", r#""contentEncoding":"base64""#, ["K", "W", "K", "W", "W", "W"]),
    ("string", r#""contentMediaType":"text/html""#, ["K", "W", "K", "W", "W", "W"]),
    ("string", r#""contentSchema":{"type":"string"}"#, ["K", "-", "K", "-", "-", "-"]),
    ("string", r#""default":"a""#, ["K", "W", "K", "W", "W", "K"]),
    ("string", r#""examples":["a"]"#, ["K", "W", "K", "W", "W", "W"]),
    ("string", r#""deprecated":true"#, ["K", "-", "K", "-", "-", "-"]),
    ("string", r#""readOnly":true"#, ["K", "-", "K", "-", "-", "-"]),
    ("string", r#""writeOnly":true"#, ["K", "-", "K", "-", "-", "-"]),
    ("string", r#""$comment":"c""#, ["-", "-", "-", "-", "-", "-"]),
    ("string", r#""$schema":"https://json-schema.org/draft/2020-12/schema""#, ["K", "-", "K", "-", "-", "-"]),
    ("string", r##""$dynamicRef":"#a""##, ["K", "L", "K", "L", "L", "L"]),
    ("string", r#""$defs":{"a":{"type":"string"}}"#, ["K", "K", "K", "K", "K", "K"]),
    ("string", r#""x-own":{"a":1}"#, ["K", "-", "K", "-", "-", "-"]),
    ("array", r#""items":{"type":"string"}"#, ["K", "K", "K", "K", "K", "K"]),
    ("array", r#""items":{"type":"string"},"minItems":1"#, ["K", "K", "K", "K", "K", "W"]),
    ("array", r#""items":{"type":"string"},"minItems":2"#, ["K", "K", "K", "W", "K", "W"]),
    ("array", r#""items":{"type":"string"},"maxItems":2"#, ["K", "K", "K", "W", "K", "W"]),
    ("array", r#""items":{"type":"string"},"uniqueItems":true"#, ["K", "W", "K", "W", "W", "W"]),
    ("array", r#""items":{"type":"string"},"uniqueItems":false"#, ["K", "-", "K", "-", "-", "-"]),
    ("array", r#""items":{"type":"string"},"prefixItems":[{"type":"null"}]"#, ["K", "L", "K", "L", "K", "L"]),
    ("array", r#""items":{"type":"string"},"contains":{"const":"a"}"#, ["K", "L", "K", "L", "L", "L"]),
    ("array", r#""items":{"type":"string"},"minContains":1"#, ["K", "L", "K", "L", "L", "L"]),
    ("array", r#""items":{"type":"string"},"maxContains":1"#, ["K", "L", "K", "L", "L", "L"]),
    ("array", r#""items":{"type":"string"},"unevaluatedItems":false"#, ["K", "L", "K", "L", "L", "L"]),
    ("object", r#""properties":{},"additionalProperties":false"#, ["K", "K+", "K", "K", "K", "K"]),
    ("object", r#""properties":{},"additionalProperties":true"#, ["K", "additionalProperties", "K", "additionalProperties", "K", "K"]),
    ("object", r#""properties":{},"additionalProperties":{"type":"string"}"#, ["K", "additionalProperties", "K", "additionalProperties", "K", "K"]),
    ("object", r#""properties":{},"additionalProperties":false,"minProperties":1"#, ["K", "W", "K", "W", "W", "W"]),
    ("object", r#""properties":{},"additionalProperties":false,"maxProperties":1"#, ["K", "W", "K", "W", "W", "W"]),
    ("object", r#""properties":{},"patternProperties":{"a":{"type":"string"}}"#, ["K", "L", "K", "L", "L", "L"]),
    ("object", r#""properties":{},"propertyNames":{"maxLength":9}"#, ["K", "L", "K", "L", "L", "L"]),
    ("object", r#""properties":{},"unevaluatedProperties":false"#, ["K", "L", "K", "L", "L", "L"]),
    ("object", r#""properties":{},"dependentRequired":{"a":["b"]}"#, ["K", "L", "K", "L", "L", "L"]),
    ("object", r#""properties":{},"dependentSchemas":{"a":{"required":["b"]}}"#, ["K", "L", "K", "L", "L", "L"]),
];

#[test]
fn every_keyword_with_every_provider() {
    // Other tests cover these.
    let mut seen = vec!["type", "description", "required", "anyOf", "$ref"];
    for (kind, rest, expected) in ROWS {
        let text = format!(r#"{{"type":"{kind}","description":"D.",{rest}}}"#);
        let schema: Value = serde_json::from_str(&text).unwrap();
        let keywords = schema.as_object().unwrap().keys();
        seen.extend(KEYWORDS.iter().filter(|known| keywords.clone().any(|one| one == *known)));
        for (((name, _), got), expected) in TARGETS.iter().zip(property(&schema)).zip(expected) {
            let what = format!("{name}: {text} became {got:?}");
            let (got, loosened) = match got {
                Ok(got) => got,
                Err(features) => {
                    assert_eq!(features, Vec::from_iter(expected.split(',')), "{what}");
                    continue;
                }
            };
            let last = rest.rsplit(",\"").next().unwrap();
            let last = last.trim_matches('"').split('"').next().unwrap();
            let is_loosened = loosened.iter().any(|it| it == last);
            assert_eq!(is_loosened, *expected == "L", "{what}");
            let description = got["description"].as_str().unwrap_or_default();
            match *expected {
                "K" => assert_eq!(got, schema, "{what}"),
                "K+" => assert_eq!(got["required"], json!([]), "{what}"),
                "W" | "L" => {
                    assert!(description.starts_with("D. ") && description.ends_with('.'), "{what}");
                    assert!(got.get(last).is_none(), "{what}");
                }
                "-" => {
                    assert_eq!(description, "D.", "{what}");
                    assert_ne!(got, schema, "{what}");
                }
                "E" => assert!(got.get("enum").or(got.get("const")).is_some(), "{what}"),
                "A" => assert!(got.get("anyOf").is_some(), "{what}"),
                other => panic!("{what}, and not {other}"),
            }
        }
    }
    let missing: Vec<_> = KEYWORDS.iter().filter(|name| !seen.contains(name)).collect();
    assert!(missing.is_empty(), "no row has {missing:?}");
}
