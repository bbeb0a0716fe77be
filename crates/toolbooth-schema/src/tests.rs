//! Numbers and equality. `tests/schemas` tests whole schemas against the official suite.

use std::cmp::Ordering;

use serde_json::{Value, json};

use crate::unique::order;
use crate::{
    AnyKeyword, Keyword, Number, ObjectKeyword, Properties, Reference, Schema, Statics, Types,
    check, is_multiple, is_unique, json,
};

/// In ascending order; values in a row are equal.
fn ladder() -> Vec<Vec<Value>> {
    vec![
        vec![json!(null)],
        vec![json!(false)],
        vec![json!(true)],
        vec![json!(-1e300)],
        vec![json!(-18_446_744_073_709_551_616.0)],
        vec![json!(i64::MIN), json!(-9_223_372_036_854_775_808.0)],
        vec![json!(i64::MIN + 1)],
        vec![json!(-1.5)],
        vec![json!(-1), json!(-1.0)],
        vec![json!(-0.5)],
        vec![json!(0), json!(0.0), json!(-0.0)],
        vec![json!(5e-324)],
        vec![json!(1), json!(1.0)],
        vec![json!(1.5)],
        vec![json!(9_007_199_254_740_992_u64), json!(9_007_199_254_740_992.0)],
        vec![json!(9_007_199_254_740_993_u64)],
        vec![json!(u64::MAX)],
        vec![json!(18_446_744_073_709_551_616.0)],
        vec![json!(1e300)],
        vec![json!("")],
        vec![json!("1")],
        vec![json!([])],
        vec![json!([[]])],
        vec![json!([{}])],
        vec![json!([0, 1]), json!([0.0, 1.0])],
        vec![json!([0, 2])],
        vec![json!({})],
        vec![json!({"a": 1}), json!({"a": 1.0})],
        vec![json!({"a": 2})],
        vec![json!({"b": 0})],
        vec![json!({"a": 1, "b": 2}), json!({"b": 2, "a": 1})],
    ]
}

#[test]
fn the_order_of_values_agrees_with_their_equality() {
    let steps = ladder();
    for (at, step) in steps.iter().enumerate() {
        for (other_at, other) in steps.iter().enumerate() {
            for (a, b) in step.iter().flat_map(|a| other.iter().map(move |b| (a, b))) {
                assert_eq!(order(&a.into(), &b.into()), at.cmp(&other_at), "{a} and {b}");
            }
        }
    }
}

fn unique(items: &[Value]) -> bool {
    is_unique(&items.iter().map(json::Value::from).collect::<Vec<_>>())
}

#[test]
fn few_and_many_items_are_unique() {
    let steps = ladder();
    let different: Vec<_> = steps.iter().map(|step| step[0].clone()).collect();
    for count in 0..different.len() {
        assert!(unique(&different[..count]), "{count}");
        for twin in steps[..count].iter().flatten() {
            let with = |at: usize| {
                let mut items = different[..count].to_vec();
                items.insert(at, twin.clone());
                items
            };
            assert!(!unique(&with(0)) && !unique(&with(count)), "{twin} in {count}");
        }
    }
}

#[test]
fn multiples_are_exact() {
    for (number, divisor, expected) in [
        (json!(0), json!(3), true),
        (json!(-0.0), json!(0.1), true),
        (json!(9), json!(3), true),
        (json!(-9), json!(3), true),
        (json!(10), json!(3), false),
        (json!(9.0), json!(3), true),
        (json!(4.5), json!(1.5), true),
        (json!(0.3), json!(0.1), true),
        (json!(0.35), json!(0.1), false),
        (json!(19.99), json!(0.01), true),
        (json!(1.1), json!(0.1), true),
        (json!(0.0075), json!(0.0001), true),
        (json!(0.00751), json!(0.0001), false),
        (json!(0.05), json!(0.1), false),
        (json!(1_070_468.14), json!(0.01), true),
        (json!(12_391_239_123_u64), json!(1e-8), true),
        (json!(1e308), json!(0.123_456_789), false),
        (json!(1e308), json!(0.5), true),
        (json!(1e308), json!(5e-324), true),
        (json!(5e-324), json!(1e308), false),
        (json!(1e22), json!(7), false),
        (json!(7e22), json!(7), true),
        (json!(9_007_199_254_740_993_u64), json!(2), false),
        (json!(u64::MAX), json!(3), true),
        (json!(u64::MAX), json!(u64::MAX), true),
        (json!(i64::MIN), json!(2), true),
    ] {
        let (a, b) = (number.as_number().unwrap(), divisor.as_number().unwrap());
        assert_eq!(is_multiple(a.into(), b.into()), expected, "{number} of {divisor}");
    }
    assert!(
        !is_multiple(Number::Unsigned(1), Number::Unsigned(0)),
        "the metaschema requires more than 0"
    );
}

#[test]
fn numbers_compare_both_ways() {
    for (a, b) in ladder().iter().flatten().zip(ladder().iter().flatten().skip(1)) {
        let (Value::Number(a), Value::Number(b)) = (a, b) else { continue };
        let (a, b) = (Number::from(a), Number::from(b));
        assert_eq!(a.order(b), b.order(a).reverse(), "{a:?} {b:?}");
        assert_ne!(a.order(b), Ordering::Greater, "{a:?} {b:?}");
    }
}

/// As [`Statics`] writes it, below.
static TARGET_0: Schema = Schema {
    keywords: &[
        Keyword::Any(AnyKeyword::Type(Types(64))),
        Keyword::Object(ObjectKeyword::Properties(&Properties {
            named: &[(
                "next",
                Schema { keywords: &[Keyword::Any(AnyKeyword::Ref(Reference::Static(&TARGET_0)))] },
            )],
            patterns: &[],
            additional: None,
        })),
    ],
};

#[test]
fn a_static_may_refer_to_itself() {
    let mut statics = Statics::default();
    let node = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}});
    statics.add(&json!({"$defs": {"node": node}, "$ref": "#/$defs/node"}));
    let expected = "    static TARGET_0: Schema = Schema { keywords: &[Keyword::Any(AnyKeyword::Type(Types(64))), Keyword::Object(ObjectKeyword::Properties(&Properties { named: &[(\"next\", Schema { keywords: &[Keyword::Any(AnyKeyword::Ref(Reference::Static(&TARGET_0)))] })], patterns: &[], additional: None }))] };
    pub(super) static SCHEMA_0: Schema = Schema { keywords: &[Keyword::Any(AnyKeyword::Ref(Reference::Static(&TARGET_0)))] };
";
    assert_eq!(statics.rust, expected);
    let nested = |inner: Value| json!({"next": {"next": {"next": {"next": {"next": inner}}}}});
    assert!(TARGET_0.is_valid(&(&nested(json!({}))).into()));
    let errors = check(&TARGET_0, &(&nested(json!(1))).into()).unwrap_err().to_string();
    assert_eq!(errors, "next.next.next.next.next: Must be an object");
}
