//! Writes the samples for the tests in Node.

use std::{env, fs};

use serde_json::{Value, json};

use crate::samples;
use toolbooth::capability::ProtocolSample;
use toolbooth::route::{Sample, SampleCall, ValueForm};
use toolbooth::testing::repository;

/// A sample as JSON. `{tool_id}`, `{name}`, `{id}`, `{input}`, `{context}` and `{call}` are replaced by values.
fn exported(sample: &Sample) -> Value {
    let (input, context) = (&json!("{input}"), Some(&json!("{context}")));
    let call = SampleCall { id: "{id}", tool_id: "{tool_id}", name: "{name}", input, context };
    let body = |count| (sample.body)(vec![json!("{call}"); count]);
    let members: Value = serde_json::from_str(sample.rejection_members).unwrap();
    json!({
        "title": sample.title,
        "call": (sample.call)(&call),
        "body": body(1),
        "batch": if sample.batches { body(2) } else { Value::Null },
        "carries_context": sample.carries_context,
        "value": sample.value,
        "value_in_object": sample.value_form == ValueForm::Object,
        "error": sample.error,
        "rejection": sample.rejection,
        "rejection_members": members,
        "missing_scope_status": sample.missing_scope_status,
        "missing_requirements_status": sample.missing_requirements_status,
        "list_query": sample.list_query,
    })
}

#[test]
fn the_tests_in_node_have_the_same_samples() {
    let rows = samples().map(|ProtocolSample { protocol, paths, sample, .. }| {
        let mut exported = exported(sample);
        exported["protocol"] = protocol.name.into();
        exported["paths"] = paths.into();
        exported
    });
    let expected = serde_json::to_string_pretty(&rows.collect::<Vec<_>>()).unwrap() + "\n";
    let Some(file) = repository::path("site/src/protocols.json") else { return };
    if env::var_os("UPDATE_SAMPLES").is_some() {
        fs::write(&file, &expected).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == expected,
        "site/src/protocols.json is out of date: run the test with UPDATE_SAMPLES=1"
    );
}
