//! Types of many kinds are read as `serde_json` reads them.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value, json};

use crate::json::read_value;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Flat {
    a: i8,
    #[serde(default)]
    b: Option<f32>,
    c: (bool, char),
}

#[derive(Debug, PartialEq, Deserialize)]
enum Kind {
    Unit,
    New(u64),
    Tuple(i64, f64),
    Struct { a: String },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Tagged {
    Number { of: Number },
    Other(Rest),
}

#[derive(Debug, PartialEq, Deserialize)]
struct Rest {
    id: Id,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Id(String);

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Either {
    Text(String),
    Numbers(Vec<u16>),
    Nothing(()),
}

fn same<T: DeserializeOwned + Debug + PartialEq>(values: &[Value]) {
    let mut fits = 0;
    for value in values {
        let expected = serde_json::from_value::<T>(value.clone()).ok();
        fits += usize::from(expected.is_some());
        assert_eq!(read_value::<T>(&value.into()), expected, "{value}");
    }
    assert!(0 < fits && fits < values.len(), "{fits} of {} fit", values.len());
}

#[test]
fn a_struct_is_read_from_an_object_alone() {
    assert!(read_value::<Flat>(&(&json!([1, null, [true, "x"]])).into()).is_none());
}

#[test]
fn types_are_read_as_serde_json_reads_them() {
    let values = [
        json!(null),
        json!(true),
        json!("x"),
        json!("Unit"),
        json!("Other"),
        json!([]),
        json!([1, 2]),
        json!([1, 65536]),
        json!([1, null]),
        json!([-1, 0.5]),
        json!([1, 2, 3]),
        json!({}),
        json!({"a": 1, "c": [true, "x"]}),
        json!({"a": 1, "b": 0.5, "c": [true, "x"]}),
        json!({"a": 1, "b": null, "c": [true, "x"]}),
        json!({"a": 128, "c": [true, "x"]}),
        json!({"a": 1, "c": [true, "xy"]}),
        json!({"a": 1, "c": [true, "x", 1]}),
        json!({"a": 1, "c": [true, "x"], "d": 1}),
        json!({"Unit": null}),
        json!({"Unit": 1}),
        json!({"New": 18_446_744_073_709_551_615_u64}),
        json!({"New": -1}),
        json!({"New": 1, "Unit": null}),
        json!({"Tuple": [-1, 1]}),
        json!({"Tuple": [-1]}),
        json!({"Struct": {"a": "x"}}),
        json!({"Struct": ["x"]}),
        json!({"Struct": "x"}),
        json!({"type": "number", "of": 1.5}),
        json!({"type": "number"}),
        json!({"type": "other", "id": "x", "more": [{"y": null}]}),
        json!({"type": "other", "id": 1}),
        json!({"1": true, "-2": false}),
        json!({"1": true, "2": false}),
    ];
    same::<Flat>(&values);
    same::<Kind>(&values);
    same::<Option<Kind>>(&values);
    same::<Tagged>(&values);
    same::<Either>(&values);
    same::<Number>(&[json!(1), json!(-1), json!(0.1), json!(1e300), json!("1")]);
    same::<BTreeMap<i8, bool>>(&values);
    same::<BTreeMap<u64, bool>>(&values);
    same::<BTreeMap<String, Value>>(&values);
    same::<Vec<Option<f64>>>(&values);
    let all = Value::from(values.to_vec());
    assert_eq!(read_value::<Value>(&(&all).into()).unwrap(), all);
}
