//! Tests for which tools accept their input as a query.

use serde_json::{Value, json};
use toolbooth_build::compile;

use crate::sample::{GONE, add, catalogue, changed, define};

/// The parameters that the compiled `Calculator.Add` has: `a:Number`, or `None`.
fn parameters(change: &Value) -> String {
    let mut source = catalogue();
    define(&mut source, &changed(add(), change));
    let files = compile(&source).unwrap().files;
    let rust = String::from_utf8(files[0].1.clone()).unwrap();
    let (_, query) = rust.split_once("query: ").unwrap();
    let (query, _) = query.split_once("        content: ").unwrap();
    let short = query
        .trim()
        .trim_end_matches(',')
        .replace("toolbooth::catalog::QueryParameter { name: ", "")
        .replace(", value: toolbooth::catalog::QueryValue::", ":")
        .replace(" }", "");
    short.replace('"', "")
}

#[test]
fn read_only_tools_with_flat_input_accept_a_query() {
    let b = "/input_schema/properties/b";
    for (change, expected) in [
        (json!({}), "Some(&[a:Number, b:Number])"),
        (json!({"/annotations/read_only": false}), "None"),
        (json!({"/annotations": GONE}), "None"),
        (json!({b: {"type": "string"}}), "Some(&[a:Number, b:Text])"),
        (json!({b: {"type": "integer"}}), "Some(&[a:Number, b:Number])"),
        (json!({b: {"type": "boolean", "default": true}}), "Some(&[a:Number, b:Boolean])"),
        (json!({b: {"type": ["number", "null"]}}), "Some(&[a:Number, b:Number])"),
        (json!({b: {"type": ["integer", "number"]}}), "Some(&[a:Number, b:Number])"),
        (json!({b: {"type": ["string", "number"]}}), "None"),
        (json!({b: {"type": "null"}}), "None"),
        (json!({b: {"enum": ["x", "y", null]}}), "Some(&[a:Number, b:Text])"),
        (json!({b: {"enum": ["x", 1]}}), "None"),
        (json!({b: {"const": 2}}), "Some(&[a:Number, b:Number])"),
        (json!({b: {"type": "array", "items": {"type": "number"}}}), "None"),
        (json!({b: {"type": "object"}}), "None"),
        (json!({b: {}}), "None"),
        (json!({"/input_schema/maxProperties": 1}), "None"),
        (json!({"/input_schema/dependentRequired": {"a": ["b"]}}), "None"),
        (json!({"/input_schema/additionalProperties": GONE}), "Some(&[a:Number, b:Number])"),
        (json!({"/input_schema": {"type": "object", "additionalProperties": false}}), "Some(&[])"),
    ] {
        // The examples of the sample have both numbers.
        let mut change = change;
        let changes = change.as_object_mut().unwrap();
        changes.insert("/examples".to_owned(), json!([{"input": {}, "error": {"message": "x"}}]));
        changes.entry("/input_schema/required").or_insert(json!([]));
        assert_eq!(parameters(&change), expected, "{change}");
    }
}
