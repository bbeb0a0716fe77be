//! Tests for the Rust types that a catalogue's schemas become.

use serde_json::{Value, json};
use toolbooth_build::{Source, compile};

use crate::sample::{ADD, GONE, add, catalogue, changed, define, put, slugify};

fn types(source: &Source) -> String {
    let files = compile(source).unwrap().files;
    let (_, bytes) = files.into_iter().find(|(file, _)| file == "types.rs").unwrap();
    let rust = String::from_utf8(bytes).unwrap();
    syn::parse_file(&rust).unwrap_or_else(|error| panic!("{error}: {rust}"));
    rust
}

/// The types of Add with these schemas.
fn types_of(input: &Value, output: &Value) -> String {
    let mut source = catalogue();
    let example = json!([{"input": {}, "error": {"message": "m"}}]);
    let changes = json!({"/input_schema": input, "/output_schema": output, "/examples": example});
    put(&mut source, ADD, &changed(add(), &changes).to_string());
    types(&source)
}

fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties})
}

#[test]
fn the_type_of_each_schema() {
    let d = "d";
    for (schema, expected) in [
        (json!({"type": "string"}), "Option<String>"),
        (json!({"type": "boolean"}), "Option<bool>"),
        (json!({"type": "number"}), "Option<f64>"),
        (json!({"type": ["integer", "number"]}), "Option<f64>"),
        (json!({"type": "integer"}), "Option<i64>"),
        (json!({"type": "integer", "minimum": 0}), "Option<u64>"),
        (json!({"type": "integer", "exclusiveMinimum": -1, "maximum": 9}), "Option<u32>"),
        (json!({"type": "integer", "minimum": -1, "maximum": 9}), "Option<i32>"),
        (json!({"type": "integer", "minimum": 0, "maximum": 4_294_967_296_u64}), "Option<u64>"),
        (json!({"type": "integer", "minimum": 0, "default": 3}), "u64"),
        (json!({"type": ["string", "null"]}), "Option<String>"),
        (json!({"type": ["string", "null"], "default": "x"}), "Option<String>"),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "Option<String>"),
        (json!({"allOf": [{"type": "string"}, {"minLength": 1}]}), "Option<String>"),
        (json!({"anyOf": [{"type": "string"}, {"type": "number"}]}), "Option<Value>"),
        (json!({"type": ["string", "number"]}), "Option<Value>"),
        (json!({}), "Option<Value>"),
        (json!({"type": "null"}), "Option<()>"),
        (json!({"enum": ["a", "b-c"]}), "Option<P>"),
        (json!({"const": "a"}), "Option<P>"),
        (json!({"enum": ["a", null]}), "Option<P>"),
        (json!({"enum": ["-", "_"]}), "Option<String>"),
        (json!({"enum": [1, 2]}), "Option<Value>"),
        (json!({"type": "array"}), "Option<Vec<Value>>"),
        (json!({"type": "array", "items": {"type": "number"}}), "Option<Vec<f64>>"),
        (json!({"type": "array", "prefixItems": [true]}), "Option<Value>"),
        (json!({"type": "object"}), "Option<Map<String, Value>>"),
        (
            json!({"type": "object", "additionalProperties": {"type": "number"}}),
            "Option<BTreeMap<String, f64>>",
        ),
        (object(&json!({"x": {"type": "number", "description": d}})), "Option<P>"),
        (
            json!({"type": "array", "items": object(&json!({"x": {"description": d}}))}),
            "Option<Vec<PItem>>",
        ),
    ] {
        let mut described = schema.clone();
        described["description"] = json!(d);
        let rust = types_of(&object(&json!({"p": described})), &json!({}));
        assert!(rust.contains(&format!("pub p: {expected},\n")), "{schema}: {rust}");
    }
}

#[test]
fn names_and_docs() {
    let unit = json!({"enum": ["km", "mi"], "description": "The unit."});
    let input = object(&json!({
        "type": {"type": "string", "description": "First line\nSecond\r\u{7}."},
        "maxLength": {"type": "integer", "default": 5, "description": "How long."},
        "max_length": {"type": "integer", "description": "Another."},
        "unit": unit,
        "input": object(&json!({"unit": {"enum": ["m"], "description": "d"}})),
        "string": object(&json!({"unit": unit})),
    }));
    let mut described = input;
    for name in ["input", "string"] {
        described["properties"][name]["description"] = json!("d");
    }
    let rust = types_of(
        &described,
        &json!({"type": "object", "properties": {"unit": unit}, "required": ["unit"]}),
    );
    for expected in [
        "/// First line\n            /// Second  .\n            #[serde(default, skip_serializing_if = \"Option::is_none\")]\n            pub r#type: Option<String>,",
        "/// How long.\n            ///\n            /// Default: `5`.\n            #[serde(rename = \"maxLength\")]\n            pub max_length: i64,",
        "pub max_length_: Option<i64>,",
        "pub input: Option<InputInput>,",
        "pub string: Option<InputString>,",
        "pub unit: Option<StringUnit>,",
        // In the output.
        "pub unit: StringUnit,",
    ] {
        assert!(rust.contains(expected), "{expected}: {rust}");
    }
    assert_eq!(rust.matches("pub enum ").count(), 2, "both sides share a type: {rust}");
}

#[test]
fn versions_with_one_function_have_the_types_of_the_newest() {
    let mut source = catalogue();
    let newer = json!({"/input_schema/properties/size": {
        "type": "integer", "description": "d", "default": 3, "minimum": 0, "maximum": 9
    }});
    define(&mut source, &changed(slugify("1.1.0"), &newer));
    let rust = types(&source);
    assert!(
        rust.contains("from `Text.Slugify@1.1.0`") && rust.contains("pub size: u32,"),
        "{rust}"
    );
    assert!(!rust.contains("Text.Slugify@1.0.0"), "{rust}");
    let files = compile(&source).unwrap().files;
    let catalog = String::from_utf8(files[0].1.clone()).unwrap();
    let filled = "members: &[(\"size\", Literal::Number(Number::Unsigned(3))), ]";
    assert_eq!(catalog.matches(filled).count(), 1, "the versions share their defaults: {catalog}");
    assert_eq!(catalog.matches("defaults: &catalog_schemas::DEFAULTS_1,").count(), 2, "{catalog}");
}

#[test]
fn functions_of_a_toolkit_share_equal_types() {
    let unit = json!({"enum": ["km", "mi"], "description": "The unit."});
    let with = |id: &str, name: &str| {
        changed(
            slugify("1.0.0"),
            &json!({"/id": id, "/name": name, "/input_schema/properties/unit": unit}),
        )
    };
    let mut source = catalogue();
    define(&mut source, &with("Text.Slugify@1.0.0", "Text_Slugify"));
    define(&mut source, &with("Text.Trim@1.0.0", "Text_Trim"));
    put(
        &mut source,
        "text/mod.rs",
        "pub async fn slugify(_: I, _: &C) -> R {} pub async fn trim(_: I, _: &C) -> R {}",
    );
    let rust = types(&source);
    assert_eq!(rust.matches("pub enum Unit").count(), 1, "{rust}");
    assert!(rust.contains("pub use super::slugify::Unit;"), "{rust}");
}

#[test]
fn the_output_of_each_kind() {
    for (output, expected) in [
        (json!(null), "pub type Output = ();"),
        (json!({}), "pub type Output = Value;"),
        (json!({"type": "array", "items": {"type": "string"}}), "pub type Output = Vec<String>;"),
        (json!({"type": ["number", "null"]}), "pub type Output = Option<f64>;"),
        (json!({"type": "object"}), "pub type Output = Map<String, Value>;"),
        (object(&json!({"a": {"type": "null", "description": "d"}})), "pub struct Output {"),
    ] {
        let rust = types_of(&json!({"type": "object"}), &output);
        assert!(rust.contains(expected), "{output}: {rust}");
        assert!(rust.contains("pub struct Input {\n        }"), "{rust}");
    }
    let mut source = catalogue();
    let blocks = json!({"/content": true, "/output_schema": GONE, "/examples": [
        {"input": {"a": 1, "b": 2}, "value": [{"type": "text", "text": "3"}]}
    ]});
    let mut definition = add();
    definition["content"] = json!(false);
    put(&mut source, ADD, &changed(definition, &blocks).to_string());
    assert!(types(&source).contains("pub type Output = Vec<toolbooth::tool::ContentBlock>;"));
}

#[test]
fn defaults_must_be_valid() {
    let mut source = catalogue();
    let changes = json!({"/input_schema/properties/a/default": "one"});
    put(&mut source, ADD, &changed(add(), &changes).to_string());
    assert_eq!(
        crate::sample::problems(&source),
        [
            "tools/calculator/Add@1.0.0.json: input_schema.properties.a.default: does not match its schema: \"one\" is not of type \"number\""
        ]
    );
}
