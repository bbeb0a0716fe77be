//! Tests for the files that a catalogue compiles to.

use serde_json::{Value, json};
use toolbooth_build::{Source, compile};

use crate::sample::{ADD, GONE, add, catalogue, changed, define, put, slugify};

fn file(source: &Source, name: &str) -> String {
    let files = compile(source).unwrap().files;
    let (_, bytes) = files.into_iter().find(|(file, _)| *file == name).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn list(source: &Source) -> Vec<Value> {
    let list: Value = serde_json::from_str(&file(source, "oxp.json")).unwrap();
    let object = list.as_object().map(serde_json::Map::len);
    assert_eq!(object, Some(1), "items and nothing else: {list}");
    list["items"].as_array().unwrap().clone()
}

/// The string literals in the generated schema statics.
fn texts(rust: &str) -> Vec<String> {
    let file = syn::parse_file(rust).unwrap();
    let modules = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Mod(module) => module.content.map(|(_, items)| items),
        _ => None,
    });
    let mut texts = Texts(Vec::new());
    for item in modules.flatten() {
        syn::visit::visit_item(&mut texts, &item);
    }
    texts.0
}

struct Texts(Vec<String>);

impl syn::visit::Visit<'_> for Texts {
    fn visit_lit_str(&mut self, text: &syn::LitStr) {
        self.0.push(text.value());
    }
}

#[test]
fn the_list_has_the_fields_of_oxp_and_no_others() {
    let source = catalogue();
    let add = changed(
        add(),
        &json!({"/title": GONE, "/annotations": GONE, "/deprecated": GONE, "/examples": GONE,
            "/scopes": GONE, "/variables": GONE, "/bindings": GONE}),
    );
    let slugify = changed(slugify("1.0.0"), &json!({"/examples": GONE}));
    assert_eq!(list(&source), [add, slugify]);
    assert!(
        file(&source, "oxp.json").starts_with(
            r#"{"items":[{"id":"Calculator.Add@1.0.0","name":"Calculator_Add","description":"Adds two numbers.","version":"1.0.0","input_schema":{"#
        ),
        "in the order of the specification, without whitespace"
    );
}

#[test]
fn an_empty_catalogue_lists_an_empty_array() {
    let mut source = Source { name: "tools".to_owned(), ..Source::default() };
    put(&mut source, "lib.rs", "");
    assert_eq!(file(&source, "oxp.json"), r#"{"items":[]}"#, "X9");
    assert_eq!(file(&source, "examples.json"), "[]");
    assert!(!file(&source, "catalog.rs").contains("SCHEMA_"));
}

/// A function that names a variable which nothing declares would get an empty text.
#[test]
fn names_of_variables_in_functions_must_be_declared() {
    let mut source = catalogue();
    let code = r#"pub(crate) async fn add(_: I, context: &C) -> R {
    // context.variable("IN_A_COMMENT")
    let url = format!("{}/x", context.variable("SUMS_ULR"));
    let key = context.server_secret("SUMS_KEY").or(context.server_secret(KEY.name()));
    test.variable("OF_A_TEST", "value");
}"#;
    put(&mut source, "calculator/mod.rs", code);
    let rust = file(&source, "catalog.rs");
    let asserted: Vec<_> = rust.lines().filter(|line| line.contains("::declares(")).collect();
    let messages = [
        "tools/calculator/Add@1.0.0.json: variables: VARIABLES does not declare SUMS_URL",
        "tools/calculator/mod.rs:3: VARIABLES does not declare SUMS_ULR",
        "tools/calculator/mod.rs:4: VARIABLES does not declare SUMS_KEY",
    ];
    assert_eq!(asserted.len(), messages.len(), "{asserted:?}");
    for (line, message) in asserted.iter().zip(messages) {
        assert!(line.contains(message), "{line}");
    }
}

/// The text of a list that is compressed with the text `like`, and how many bytes and blocks it has.
fn decompressed(source: &Source, name: &str, like: &str) -> (String, usize, usize) {
    let rust = file(source, "catalog.rs");
    let (_, rest) = rust.split_once(&format!("/{name}.lz4\")), blocks: &[")).unwrap();
    let (blocks, _) = rest.split_once(']').unwrap();
    let numbers = blocks.split(|one: char| !one.is_ascii_digit());
    let numbers: Vec<usize> = numbers.filter_map(|it| it.parse().ok()).collect();
    let files = compile(source).unwrap().files;
    let (_, bytes) = files.into_iter().find(|(file, _)| *file == format!("{name}.lz4")).unwrap();
    let (mut text, mut start) = (Vec::new(), 0);
    for block in numbers.chunks(4) {
        let &[end, length, from, to] = block else { panic!("{blocks}") };
        let dictionary = &like.as_bytes()[from..to];
        let block = &bytes[start..end];
        text.extend(lz4_flex::block::decompress_with_dict(block, length, dictionary).unwrap());
        start = end;
    }
    assert_eq!(start, bytes.len(), "all blocks of {name}");
    (String::from_utf8(text).unwrap(), bytes.len(), numbers.len() / 4)
}

#[test]
fn long_lists_are_compressed() {
    let mut source = catalogue();
    for minor in 1..200 {
        define(&mut source, &slugify(&format!("1.{minor}.0")));
    }
    let (oxp, bytes, blocks) = decompressed(&source, "oxp", "");
    assert!(blocks == 1 && bytes < oxp.len() / 4, "{bytes} of {} bytes", oxp.len());
    let list: Value = serde_json::from_str(&oxp).unwrap();
    assert_eq!(list["items"].as_array().unwrap().len(), 201);
    // With the text of that one, which every Worker has.
    for (name, member) in [("otc", "tools"), ("oxp-envelope", "items")] {
        let (text, bytes, blocks) = decompressed(&source, name, &oxp);
        let list: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(list[member].as_array().unwrap().len(), 201, "{name}");
        assert!(blocks > 1 && bytes < text.len() / 10, "{name}: {bytes} of {} bytes", text.len());
    }
}

#[test]
fn tools_are_sorted_with_versions_compared_as_numbers() {
    let mut source = catalogue();
    for version in ["1.10.0", "1.2.0", "10.0.0", "9.0.0", "1.2.10", "1.2.9"] {
        define(&mut source, &slugify(version));
    }
    let ids = |list: Vec<Value>| -> Vec<String> {
        list.iter().map(|tool| tool["id"].as_str().unwrap().to_owned()).collect()
    };
    let expected = [
        "Calculator.Add@1.0.0",
        "Text.Slugify@1.0.0",
        "Text.Slugify@1.2.0",
        "Text.Slugify@1.2.9",
        "Text.Slugify@1.2.10",
        "Text.Slugify@1.10.0",
        "Text.Slugify@9.0.0",
        "Text.Slugify@10.0.0",
    ];
    assert_eq!(ids(list(&source)), expected);

    let rust = file(&source, "catalog.rs");
    let places: Vec<_> =
        ["1, 0, 0", "1, 2, 0", "1, 2, 9", "1, 2, 10", "1, 10, 0", "9, 0, 0", "10, 0, 0"]
            .iter()
            .map(|version| rust.rfind(&format!("Version::new({version})")))
            .collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "the table too: {places:?}");
}

#[test]
fn output_schemas_of_every_kind() {
    // output_schema, value of an example, keywords of the static
    for (output, value, expected) in [
        (json!(null), json!(null), "Keyword::Any(AnyKeyword::Type(Types(1)))"),
        (json!({}), json!({"any": ["thing"]}), ""),
        (
            json!({"type": "string", "title": "T"}),
            json!("s"),
            "Keyword::Any(AnyKeyword::Type(Types(16)))",
        ),
    ] {
        let mut source = catalogue();
        source.files.remove("text/Slugify@1.0.0.json");
        let changes = json!({
            "/output_schema": output, "/deprecated": GONE,
            "/examples": [{"input": {"a": 1, "b": 2}, "value": value}]
        });
        put(&mut source, ADD, &changed(add(), &changes).to_string());
        assert_eq!(list(&source)[0]["output_schema"], output, "listed as written");
        assert!(list(&source)[0].get("output_schema").is_some(), "listed also when it is null");
        let expected = format!("static SCHEMA_1: Schema = Schema {{ keywords: &[{expected}] }};");
        assert!(file(&source, "catalog.rs").contains(&expected), "{output}");
    }
}

#[test]
fn scopes_and_requirements_reach_the_table() {
    let rust = file(&catalogue(), "catalog.rs");
    assert!(
        rust.contains(
            "scopes: &[\"sums:add\", \"sums:all\"],\n        authorization: &[toolbooth::catalog::Authorization { id: \"bank\", scopes: &[\"read\"] }],\n        secrets: &[\"KEY\"],\n        variables: &[\"SUMS_URL\"],\n        bindings: &[\"SUMS\"],\n        user_id: true,"
        ),
        "{rust}"
    );
    assert!(
        rust.contains("scopes: &[],\n        authorization: &[],\n        secrets: &[],\n        variables: &[],\n        bindings: &[],\n        user_id: false,"),
        "{rust}"
    );
}

#[test]
fn schemas_that_differ_only_in_annotations_share_a_static() {
    let count = |source: &Source| file(source, "catalog.rs").matches("static SCHEMA_").count();
    assert_eq!(count(&catalogue()), 4, "two tools, an input and an output each");

    let wordy = json!({
        "/input_schema": {
            "title": "Another title",
            "properties": {"text": {
                "description": "The words.", "type": "string", "default": "x", "examples": ["y"],
                "title": "Text", "deprecated": true, "readOnly": false, "$comment": "c"
            }},
            "description": "The same.",
            "type": "object"
        }
    });
    let mut source = catalogue();
    define(&mut source, &changed(slugify("1.1.0"), &wordy));
    assert_eq!(count(&source), 4, "a second version that differs only in annotations adds none");

    for (what, changes) in [
        ("a limit", json!({"/input_schema/properties/text/maxLength": 9})),
        (
            "a property named like an annotation",
            json!({"/input_schema/properties/title": {"description": "d", "type": "string"}}),
        ),
        ("a requirement", json!({"/input_schema/required": ["text"]})),
    ] {
        let mut source = catalogue();
        define(&mut source, &changed(slugify("1.1.0"), &changes));
        assert_eq!(count(&source), 5, "{what} affects validity");
    }
}

#[test]
fn no_list_has_references() {
    let mut source = catalogue();
    let number = json!({"type": "number", "description": "A number."});
    let changes = json!({
        "/input_schema/$defs": {"n": number},
        "/input_schema/properties/a": {"$ref": "#/$defs/n"},
        "/output_schema": {"$defs": {"n": number}, "$ref": "#/$defs/n"}
    });
    put(&mut source, ADD, &changed(add(), &changes).to_string());
    let listed = &list(&source)[0];
    assert_eq!(listed["input_schema"]["properties"]["a"], number);
    assert_eq!(listed["input_schema"].get("$defs"), None);
    assert_eq!(listed["output_schema"], number);
    for name in ["mcp-tools.json", "search.json"] {
        let list: Value = serde_json::from_str(&file(&source, name)).unwrap();
        assert_eq!(list[0]["inputSchema"], listed["input_schema"], "{name}");
        assert_eq!(list[0]["outputSchema"]["properties"]["result"], number, "{name}");
    }
}

#[test]
fn lists_for_mcp_have_what_every_client_takes() {
    let mut source = catalogue();
    let changes = json!({
        "/input_schema/properties/a": {"type": "array", "description": "d", "prefixItems": [true]},
        "/input_schema/properties/b": true,
        "/output_schema": {"type": "object", "properties": {"x": {"not": true}, "y": {"items": {"type": ["array", "null"]}}}},
        "/examples": [{"input": {"a": [], "b": 1}, "value": {}}]
    });
    put(&mut source, ADD, &changed(add(), &changes).to_string());
    for name in ["mcp-tools.json", "search.json"] {
        let list: Value = serde_json::from_str(&file(&source, name)).unwrap();
        assert_eq!(
            list[0]["inputSchema"]["properties"],
            json!({"a": {"type": "array", "description": "d", "prefixItems": [{}], "items": {}}, "b": {}}),
            "{name}"
        );
        assert_eq!(list[0]["inputSchema"]["additionalProperties"], false, "{name}");
        assert_eq!(
            list[0]["outputSchema"]["properties"],
            json!({"x": {"not": {}}, "y": {"items": {"type": ["array", "null"], "items": {}}}}),
            "{name}"
        );
    }
    assert_eq!(
        list(&source)[0]["input_schema"]["properties"]["b"],
        true,
        "others know JSON Schema"
    );
}

#[test]
fn any_string_survives_code_generation() {
    for text in [
        "\"#",
        "\"##",
        "\"###x\"#",
        "#",
        "\\\"#",
        "\\",
        "{}",
        "{0}",
        "\r\n\u{0}\u{2028}",
        "r#\"",
        "😀",
        "*/ //",
    ] {
        let mut source = catalogue();
        source.files.remove("text/Slugify@1.0.0.json");
        let changes = json!({
            "/deprecated": GONE,
            "/input_schema/properties": {
                "a": {"description": text, "enum": [1, 1e308, text]},
                "b": {"description": "d", "const": {text: [text]}},
            },
            "/requirements": {"secrets": [{"id": text}], "authorization": [{"id": text}]},
            "/examples": [{"title": text, "input": {"a": text, "b": {text: [text]}}, "value": 1}]
        });
        let definition = changed(add(), &changes);
        put(&mut source, ADD, &definition.to_string());
        let rust = file(&source, "catalog.rs");
        let texts: Vec<_> = texts(&rust).into_iter().filter(|other| other == text).collect();
        assert_eq!(texts.len(), 3, "{text:?}: in the enum, and twice in the constant");
        let examples: Value = serde_json::from_str(&file(&source, "examples.json")).unwrap();
        let expected = json!([
            {"id": "Calculator.Add@1.0.0", "bindings": ["SUMS", "CACHE"], "http": false, "external": false, "examples": definition["examples"]},
        ]);
        assert_eq!(examples, expected, "{text:?}");
        assert_eq!(list(&source)[0]["requirements"]["secrets"][0]["id"], text);
    }
}

#[test]
fn the_entity_tag_changes_with_the_list_and_only_with_it() {
    let etag = |source: &Source| {
        let rust = file(source, "catalog.rs");
        let line = rust.lines().find_map(|line| line.trim().strip_prefix("etag: ")).unwrap();
        syn::parse_str::<syn::LitStr>(line.trim_end_matches(',')).unwrap().value()
    };
    let with = |changes: &Value| {
        let mut source = catalogue();
        put(&mut source, ADD, &changed(add(), changes).to_string());
        etag(&source)
    };
    let first = etag(&catalogue());
    let inner = first.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')).unwrap();
    assert!(
        inner.len() == 16 && inner.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "strong and quoted: {first}"
    );
    assert_eq!(first, etag(&catalogue()), "built twice, the same");
    assert_eq!(first, with(&json!({"/title": "Sum"})), "the title is not listed");
    assert_ne!(first, with(&json!({"/description": "Sums."})), "the description is");
}

#[test]
fn values_of_recursive_schemas_are_checked_as_written() {
    let node = |more: Value| {
        let mut node = json!({"type": "object", "description": "A node.", "properties": {"next": {"$ref": "#/$defs/node"}}});
        node.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"/input_schema/$defs": {"node": node}, "/input_schema/properties/node": {"$ref": "#/$defs/node", "description": "d"}})
    };
    for (changes, targets) in [
        (node(json!({})), 1),
        // Each level would double the time.
        (node(json!({"unevaluatedProperties": false})), 0),
        (node(json!({"anyOf": [{"properties": {"next": {"$ref": "#/$defs/node"}}}]})), 0),
    ] {
        let mut source = catalogue();
        put(&mut source, ADD, &changed(add(), &changes).to_string());
        let rust = file(&source, "catalog.rs");
        assert_eq!(rust.matches("static TARGET_").count(), targets, "{changes}");
        assert!(!rust.contains("$ref") && !file(&source, "oxp.json").contains("$ref"), "{changes}");
    }
}
