//! Tests for rules across definitions, and for several problems at once.

use serde_json::json;
use toolbooth_build::Source;

use crate::sample::{ADD, GONE, add, catalogue, changed, define, problems, put, slugify};

/// A catalogue with `Slugify` in several versions, each with these changes.
fn with_slugify(versions: &[(&str, serde_json::Value)]) -> Source {
    let mut source = catalogue();
    for (version, changes) in versions {
        define(&mut source, &changed(slugify(version), changes));
    }
    source
}

#[test]
fn one_id_has_one_file() {
    // The id determines the path, so a second file with the same id always has the wrong path, and
    // the build reports that.
    for path in [
        "calculator/Add@1.0.1.json",
        "calculator/add@1.0.0.json",
        "calculator/Add.json",
        "text/Add@1.0.0.json",
        "Calculator/Add@1.0.0.json",
        "Add@1.0.0.json",
    ] {
        let mut source = catalogue();
        put(&mut source, path, &add().to_string());
        let expected = format!(
            "tools/{path}: id: does not match the file name; expected the file calculator/Add@1.0.0.json"
        );
        assert_eq!(problems(&source), [expected]);
    }
}

#[test]
fn toolkits_that_differ_only_in_case_share_a_folder_but_not_an_id() {
    let shouted = changed(add(), &json!({"/id": "CALCULATOR.Add@1.0.0", "/name": "Shout"}));
    let mut source = catalogue();
    put(&mut source, "calculator/Add@1.0.0 .json", &shouted.to_string());
    assert_eq!(
        problems(&source),
        ["tools/calculator/Add@1.0.0 .json: id: does not match the file name; \
          expected the file calculator/Add@1.0.0.json"]
    );
}

#[test]
fn names_belong_to_one_tool_and_tools_have_one_name() {
    let same = json!({});
    let named = |name: &str| json!({ "/name": name });
    for (what, source, expected) in [
        (
            "versions of one name",
            with_slugify(&[("1.1.0", same.clone()), ("2.0.0", same.clone())]),
            vec![],
        ),
        (
            "two tools with one name",
            with_slugify(&[("1.0.0", named("Calculator_Add"))]),
            vec![
                "tools/text/Slugify@1.0.0.json: name: is \"Calculator_Add\", which is already the name of the tool in tools/calculator/Add@1.0.0.json",
            ],
        ),
        (
            "versions with different names",
            with_slugify(&[("1.1.0", same.clone()), ("2.0.0", named("Text_Slug"))]),
            vec![
                "tools/text/Slugify@2.0.0.json: name: is \"Text_Slug\", but tools/text/Slugify@1.0.0.json names the tool \"Text_Slugify\"; all versions of a tool must have the same name",
            ],
        ),
        (
            "a name that means a version of another tool",
            with_slugify(&[("1.0.0", named("Calculator_Add__1_0_0"))]),
            vec![
                "tools/text/Slugify@1.0.0.json: name: is \"Calculator_Add__1_0_0\", which also names version 1.0.0 of the tool in tools/calculator/Add@1.0.0.json",
            ],
        ),
        (
            "a later version takes another tool's name",
            with_slugify(&[("2.0.0", named("Calculator_Add"))]),
            vec![
                "tools/text/Slugify@2.0.0.json: name: is \"Calculator_Add\", which is already the name of the tool in tools/calculator/Add@1.0.0.json",
                "tools/text/Slugify@2.0.0.json: name: is \"Calculator_Add\", but tools/text/Slugify@1.0.0.json names the tool \"Text_Slugify\"; all versions of a tool must have the same name",
            ],
        ),
    ] {
        assert_eq!(problems(&source), expected, "{what}");
    }
}

#[test]
fn a_replacement_may_be_any_definition() {
    let to = |id: &str| json!({"/deprecated": {"message": "Old.", "replacement": id}});
    let source = with_slugify(&[("1.0.0", to("Text.Slugify@2.0.0")), ("2.0.0", json!({}))]);
    assert_eq!(problems(&source), [""; 0]);
}

#[test]
fn one_build_reports_all_problems() {
    let mut source = catalogue();
    let changes = json!({
        "/name": "no spaces please", "/description": "", "/input_schema/required": ["z"],
        "/output_schema/$id": "x", "/deprecated/message": "", "/deprecated/sunset": "soon"
    });
    put(&mut source, ADD, &changed(add(), &changes).to_string());
    define(&mut source, &changed(slugify("2.0.0"), &json!({"/examples": GONE})));
    put(&mut source, "text/Slugify@3.0.0.json", "{");
    define(&mut source, &changed(slugify("4.0.0"), &json!({"/name": "Other"})));
    put(&mut source, "lib.rs", "mod calculator;");
    put(&mut source, "text/mod.rs", "");
    assert_eq!(
        problems(&source),
        [
            "tools/calculator/Add@1.0.0.json: name: is \"no spaces please\"; expected 1 to 64 letters, digits, _ or -, the first a letter or _",
            "tools/calculator/Add@1.0.0.json: description: is empty; expected a description for people and models",
            "tools/calculator/Add@1.0.0.json: deprecated.message: is empty; give the reason and what to use instead",
            "tools/calculator/Add@1.0.0.json: deprecated.sunset: is not a date; expected YYYY-MM-DD",
            "tools/calculator/Add@1.0.0.json: input_schema.required: names \"z\", which is not among the properties",
            "tools/calculator/Add@1.0.0.json: output_schema: uses $id, which is not supported; a definition is one document; refer to its parts by \"#/$defs/…\"",
            "tools/text/Slugify@2.0.0.json: examples: is empty; expected at least one example, which the tests run",
            "tools/text/Slugify@3.0.0.json: is not JSON: EOF while parsing an object at line 1 column 1",
            "tools/text/Slugify@4.0.0.json: name: is \"Other\", but tools/text/Slugify@1.0.0.json names the tool \"Text_Slugify\"; all versions of a tool must have the same name",
            "tools/lib.rs: does not declare the toolkit; expected `mod text;`",
            "tools/text/Slugify@1.0.0.json: has no handler; expected `pub(crate) async fn slugify` in tools/text/mod.rs, or the file tools/text/slugify.ts",
            "tools/text/Slugify@4.0.0.json: has no handler; expected `pub(crate) async fn slugify` in tools/text/mod.rs, or the file tools/text/slugify.ts",
        ]
    );
}

#[test]
fn a_problem_is_reported_once_and_in_its_own_file() {
    // Slugify@2.0.0 exists although it is invalid, so Add may name it as its replacement.
    let mut source = catalogue();
    let changes = json!({"/deprecated/replacement": "Text.Slugify@2.0.0"});
    put(&mut source, ADD, &changed(add(), &changes).to_string());
    define(&mut source, &changed(slugify("2.0.0"), &json!({"/description": ""})));
    assert_eq!(
        problems(&source),
        [
            "tools/text/Slugify@2.0.0.json: description: is empty; expected a description for people and models"
        ]
    );
}
