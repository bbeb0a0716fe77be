//! Tests for finding the function that runs each tool.

use toolbooth_build::compile;

use crate::sample::{ADD, add, catalogue, changed, define, problems, put, slugify};
use serde_json::json;

const NO_HANDLER: &str = "tools/calculator/Add@1.0.0.json: has no handler; expected `pub(crate) async fn add` in tools/calculator/mod.rs, or the file tools/calculator/add.ts";

#[test]
fn toolkits_and_handlers_that_are_not_found() {
    for (what, path, text, expected) in [
        ("no handler", "calculator/mod.rs", "", vec![NO_HANDLER]),
        (
            "another name",
            "calculator/mod.rs",
            "pub async fn sum(_: I, _: &C) -> R {}",
            vec![NO_HANDLER],
        ),
        (
            "another version's",
            "calculator/mod.rs",
            "pub async fn add_2(_: I, _: &C) -> R {}",
            vec![NO_HANDLER],
        ),
        (
            "a private import",
            "calculator/mod.rs",
            "use crate::text::slugify as add;",
            vec![NO_HANDLER],
        ),
        ("a struct", "calculator/mod.rs", "pub struct add;", vec![NO_HANDLER]),
        (
            "a function of a type",
            "calculator/mod.rs",
            "pub struct A; impl A { pub fn add() {} }",
            vec![NO_HANDLER],
        ),
        (
            "not Rust",
            "calculator/mod.rs",
            "pub async fn add( {",
            vec![
                "tools/calculator/mod.rs:1: is not valid Rust: cannot parse string into token stream",
            ],
        ),
        (
            "lib.rs is not Rust",
            "lib.rs",
            "mod calculator; mod text",
            vec![
                "tools/lib.rs:1: is not valid Rust: unexpected end of input, expected `;` or curly braces",
            ],
        ),
        (
            "no mod line",
            "lib.rs",
            "mod text; // mod calculator;",
            vec!["tools/lib.rs: does not declare the toolkit; expected `mod calculator;`"],
        ),
    ] {
        let mut source = catalogue();
        put(&mut source, path, text);
        assert_eq!(problems(&source), expected, "{what}");
    }
}

#[test]
fn a_module_is_not_a_handler_and_a_function_is_not_a_toolkit() {
    for (path, text, expected) in [
        ("calculator/mod.rs", "mod add;", NO_HANDLER),
        ("calculator/mod.rs", "pub mod add { pub async fn add(_: I, _: &C) -> R {} }", NO_HANDLER),
        (
            "lib.rs",
            "mod text; pub fn calculator() {}",
            "tools/lib.rs: does not declare the toolkit; expected `mod calculator;`",
        ),
    ] {
        let mut source = catalogue();
        put(&mut source, path, text);
        assert_eq!(problems(&source), [expected], "{path}: {text}");
    }
}

#[test]
fn handlers_that_are_found() {
    for (what, text) in [
        ("public", "pub async fn add(_: I, _: &C) -> R {}"),
        ("visible to the crate", "pub(crate) async fn add(_: I, _: &C) -> R {}"),
        ("for one major version", "pub async fn add_1(_: I, _: &C) -> R {}"),
        ("for one minor version", "pub async fn add_1_0(_: I, _: &C) -> R {}"),
        ("for one version", "pub async fn add_1_0_0(_: I, _: &C) -> R {}"),
        (
            "a future by another name",
            "pub fn add(_: I, _: &C) -> impl Future<Output = R> { async {} }",
        ),
        ("re-exported", "mod sums; pub(crate) use sums::add;"),
        ("re-exported in a group", "mod sums; pub use sums::{other, deep::add};"),
        ("re-exported under its name", "mod sums; pub use sums::sum as add;"),
    ] {
        let mut source = catalogue();
        put(&mut source, "calculator/mod.rs", text);
        assert_eq!(problems(&source), [""; 0], "{what}");
    }
}

#[test]
fn functions_that_cannot_run_a_tool() {
    let expected = "expected `pub(crate) async fn add(input: add::Input, context: &Context<'_>) -> Result<add::Output, ToolError>`";
    for (text, wrong) in [
        ("async fn add(_: I, _: &C) -> R {}", "is private"),
        ("pub fn add(_: I, _: &C) -> R {}", "is not async"),
        ("pub async fn add() -> R {}", "must have two arguments"),
        ("pub async fn add(_: I) -> R {}", "must have two arguments"),
        ("pub async fn add(_: I, _: &C, _: u8) -> R {}", "must have two arguments"),
        ("pub async fn add(_: I, _: C) -> R {}", "must take `&Context<'_>` as its second argument"),
        ("pub async fn add(_: I, _: &C) {}", "returns nothing"),
        ("pub async fn add<T>(_: T, _: &C) -> R {}", "has type parameters"),
        ("pub async fn add(_: impl Sized, _: &C) -> R {}", "has type parameters"),
    ] {
        let mut source = catalogue();
        // A second version has the same function.
        define(
            &mut source,
            &changed(
                add(),
                &json!({
                    "/id": "Calculator.Add@1.1.0", "/version": "1.1.0", "/deprecated": null
                }),
            ),
        );
        put(&mut source, "calculator/mod.rs", &format!("//! Sums.\n\n{text}"));
        assert_eq!(
            problems(&source),
            [format!("tools/calculator/mod.rs:3: `add` {wrong}; {expected}")],
            "{text}"
        );
    }
    for text in [
        "pub async fn add<'a>(_: I, _: &'a C) -> R {}",
        "pub fn add<'a>(_: I, _: &'a C) -> BoxFuture<'a, R> {}",
        "async fn add() {} pub use other::add;",
    ] {
        let mut source = catalogue();
        put(&mut source, "calculator/mod.rs", text);
        assert_eq!(problems(&source), [""; 0], "{text}");
    }
}

#[test]
fn a_toolkit_without_mod_rs_has_no_handler() {
    let mut source = catalogue();
    source.files.remove("calculator/mod.rs");
    assert_eq!(problems(&source), [NO_HANDLER]);
    // Nor need `lib.rs` declare it: the function may be meant to be in TypeScript.
    put(&mut source, "lib.rs", "mod text;");
    assert_eq!(problems(&source), [NO_HANDLER]);
}

#[test]
fn the_most_specific_function_runs_a_version() {
    // existing functions, version, the function that runs it
    for (functions, version, expected) in [
        ("slugify_1_1_0 slugify_1_1 slugify_1 slugify", "1.1.0", "slugify_1_1_0"),
        ("slugify_1_1 slugify_1 slugify", "1.1.0", "slugify_1_1"),
        ("slugify_1 slugify", "1.1.0", "slugify_1"),
        ("slugify", "1.1.0", "slugify"),
        ("slugify slugify_1 slugify_1_1", "1.1.0", "slugify_1_1"),
        ("slugify_1_1_0 slugify_1", "1.1.1", "slugify_1"),
        ("slugify_1 slugify", "2.0.0", "slugify"),
        ("slugify_1 slugify_10", "10.0.0", "slugify_10"),
    ] {
        let mut source = catalogue();
        source.files.remove("text/Slugify@1.0.0.json");
        let rust: String = functions
            .split(' ')
            .map(|name| format!("pub async fn {name}(_: I, _: &C) -> R {{}}"))
            .collect();
        put(&mut source, "text/mod.rs", &rust);
        define(&mut source, &slugify(version));
        put(&mut source, ADD, &changed(add(), &json!({"/deprecated": null})).to_string());
        let rendered = compile(&source).unwrap();
        let catalog = String::from_utf8(rendered.files[0].1.clone()).unwrap();
        let call = format!("toolbooth::catalog::run(input, context, crate::text::{expected}))");
        assert!(catalog.contains(&call), "{functions} for {version}: {catalog}");
    }
}

#[test]
fn a_tool_may_be_named_like_a_rust_keyword() {
    let mut source = catalogue();
    let named = json!({"/id": "Text.Match@1.0.0", "/name": "Text_Match"});
    define(&mut source, &changed(slugify("1.0.0"), &named));
    put(
        &mut source,
        "text/mod.rs",
        "pub async fn slugify(_: I, _: &C) -> R {}\npub async fn r#match(_: I, _: &C) -> R {}",
    );
    assert_eq!(problems(&source), [""; 0], "`pub async fn match` is not Rust, r#match is");
    let rendered = compile(&source).unwrap();
    let catalog = String::from_utf8(rendered.files[0].1.clone()).unwrap();
    assert!(catalog.contains("crate::text::r#match)"), "{catalog}");
}

#[test]
fn the_build_never_asks_for_an_invalid_function_name() {
    let mut source = catalogue();
    let named = json!({"/id": "Text.2Upper@1.0.0", "/name": "Text_2Upper"});
    define(&mut source, &changed(slugify("1.0.0"), &named));
    let messages = problems(&source);
    assert!(!messages.is_empty(), "no Rust function can be called 2_upper");
    assert!(!messages.iter().any(|problem| problem.contains("pub async fn 2")), "{messages:?}");
}

#[test]
fn functions_in_typescript() {
    let mod_rs = "calculator/mod.rs";
    let both = "tools/calculator/Add@1.0.0.json: has two functions, tools/calculator/add.ts and `add` in tools/calculator/mod.rs; expected one";
    for (what, rust, scripts, expected) in [
        ("without Rust", None, vec!["add.ts"], Ok("External(\"calculator/add\")")),
        ("of a version", None, vec!["add_1.ts", "add.ts"], Ok("External(\"calculator/add_1\")")),
        ("more specific", Some("add"), vec!["add_1.ts"], Ok("External(\"calculator/add_1\")")),
        ("less specific", Some("add_1"), vec!["add.ts"], Ok("crate::calculator::add_1")),
        ("beside others", Some("sub"), vec!["add.ts"], Ok("External(\"calculator/add\")")),
        ("twice", Some("add"), vec!["add.ts"], Err(both)),
        ("types and tests", Some("sub"), vec!["add.types.ts", "add.test.ts"], Err(NO_HANDLER)),
    ] {
        let mut source = catalogue();
        let signature = "(input: Input, context: &Context<'_>) -> Result<Output, ToolError> {}";
        match rust {
            Some(name) => put(&mut source, mod_rs, &format!("pub async fn {name}{signature}")),
            None => drop(source.files.remove(mod_rs)),
        }
        source.scripts = scripts.iter().map(|name| format!("calculator/{name}")).collect();
        match expected {
            Err(problem) => assert_eq!(problems(&source), [problem], "{what}"),
            Ok(code) => {
                let rendered = compile(&source).expect(what);
                let (_, rust) = rendered.files.first().expect("a file");
                let rust = String::from_utf8(rust.clone()).expect("UTF-8");
                assert!(rust.contains(code), "{what}: {rust}");
                let types: Vec<_> = rendered.types.iter().map(|(name, _)| &**name).collect();
                let script = code.contains("External").then(|| code.split('"').nth(1)).flatten();
                let beside: Vec<_> =
                    script.map(|name| format!("{name}.types.ts")).into_iter().collect();
                assert_eq!(types, beside, "{what}");
            }
        }
    }
}

#[test]
fn the_types_of_functions_in_typescript() {
    let mut source = catalogue();
    source.files.remove("calculator/mod.rs");
    source.scripts.insert("calculator/add.ts".to_owned());
    let input = json!({"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
        "a": {"type": "integer", "description": "A number."},
        "b": {"type": "string", "default": "x"},
        "c": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {"d": {"enum": [1, 2], "default": 1}}}},
    }});
    let changes = json!({"/input_schema": input, "/output_schema": null, "/examples": [{"input": {"a": 1}, "value": null}]});
    put(&mut source, ADD, &changed(add(), &changes).to_string());
    let rendered = compile(&source).expect("a catalogue");
    let (_, types) = rendered.types.first().expect("a file");
    let expected = r#"
export type Input = {
  /** A number. */
  "a": number;
  "b": string;
  "c"?: Array<{
    "d": 1 | 2;
  }>;
};

/** The value of `Calculator.Add@1.0.0`. */
export type Output = void;
"#;
    assert!(types.ends_with(expected), "{types}");
}
