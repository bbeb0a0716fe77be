//! JSON-Schema-Test-Suite, draft 2020-12: all of its cases for schemas that a definition may contain.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolbooth_schema::compile;

use crate::reference;

/// Files without a case for such schemas, and why.
const LEFT_OUT: [(&str, &str); 14] = [
    ("anchor", "references"),
    ("defs", "references"),
    ("dynamicRef", "references"),
    ("infinite-loop-detection", "references"),
    ("ref", "references"),
    ("refRemote", "references"),
    ("vocabulary", "another metaschema"),
    ("format", "we check formats, these cases treat them as annotations"),
    ("optional/anchor", "references"),
    ("optional/cross-draft", "references"),
    ("optional/dynamicRef", "references"),
    ("optional/id", "references"),
    ("optional/refOfUnknownKeyword", "references"),
    ("optional/unknownKeyword", "references"),
];

/// Groups whose schema no definition may contain: references, other metaschemas, unknown formats.
const EXCLUDED: [(&str, &str); 16] = [
    ("items", "items and subitems"),
    (
        "optional/format-assertion",
        "schema that uses custom metaschema with format-assertion: false",
    ),
    ("optional/format-assertion", "schema that uses custom metaschema with format-assertion: true"),
    ("optional/format/idn-email", "validation of an internationalized e-mail addresses"),
    ("optional/format/idn-hostname", "validation of internationalized host names"),
    ("optional/format/idn-hostname", "validation of separators in internationalized host names"),
    ("optional/format/unknown", "unknown format"),
    ("unevaluatedItems", "unevaluatedItems with $ref"),
    ("unevaluatedItems", "unevaluatedItems before $ref"),
    ("unevaluatedItems", "unevaluatedItems with $dynamicRef"),
    ("unevaluatedProperties", "unevaluatedProperties with $ref"),
    ("unevaluatedProperties", "unevaluatedProperties before $ref"),
    ("unevaluatedProperties", "unevaluatedProperties with $dynamicRef"),
    ("unevaluatedProperties", "unevaluatedProperties + single cyclic ref"),
    ("unevaluatedProperties", "unevaluatedProperties + ref inside allOf / oneOf"),
    ("unevaluatedProperties", "dynamic evalation inside nested refs"),
];

/// The number of cases that remain; all of them pass.
const PASSED: usize = 1_447;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/suite/tests/draft2020-12")
}

/// Whether this is the published package, to which Cargo adds this file and which has no suite.
fn published() -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml.orig").exists()
}

/// The files of a folder, by their path in the suite without the extension.
fn files(below: &str, files: &mut BTreeMap<String, Value>) {
    let folder = folder().join(below);
    let list = fs::read_dir(&folder).unwrap_or_else(|error| {
        panic!("{}: {error}; `make .tools/suite/.done` installs the suite", folder.display())
    });
    for entry in list {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(stem) = name.strip_suffix(".json") {
            let text = fs::read(folder.join(&name)).unwrap();
            files.insert(format!("{below}{stem}"), serde_json::from_slice(&text).unwrap());
        }
    }
}

/// Whether a schema has a keyword that the build rejects in definitions.
fn refers(schema: &Value) -> bool {
    const REFERENCES: [&str; 6] = ["$ref", "$dynamicRef", "$defs", "$anchor", "$id", "definitions"];
    match schema {
        Value::Object(members) => members.iter().any(|(name, schema)| {
            REFERENCES.contains(&name.as_str())
                || (name != "const" && name != "enum" && refers(schema))
        }),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}

#[test]
fn every_case_for_schemas_of_definitions_passes() {
    if published() {
        return;
    }
    let mut suite = BTreeMap::new();
    for below in ["", "optional/", "optional/format/"] {
        files(below, &mut suite);
    }
    for (file, _) in LEFT_OUT {
        assert!(suite.remove(file).is_some(), "{file} is not in the suite");
    }
    let (mut passed, mut excluded, mut different) = (0, Vec::new(), Vec::new());
    for (file, groups) in &suite {
        for group in groups.as_array().unwrap() {
            let (what, schema) = (group["description"].as_str().unwrap(), &group["schema"]);
            if refers(schema) || reference(schema).is_err() {
                excluded.push((file.as_str(), what));
                continue;
            }
            let table = compile(schema);
            for case in group["tests"].as_array().unwrap() {
                if table.is_valid(&(&case["data"]).into()) == case["valid"].as_bool().unwrap() {
                    passed += 1;
                } else {
                    different.push((file.as_str(), what, case["description"].as_str().unwrap()));
                }
            }
        }
    }
    assert_eq!(different, [("", "", ""); 0]);
    assert_eq!(excluded, EXCLUDED);
    assert_eq!(passed, PASSED);
}
