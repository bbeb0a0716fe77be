//! Views: their files, origins and visibility, and the lists that name them.

use serde_json::{Value, json};
use toolbooth_build::{Source, Wrangler, compile};

use crate::sample::{GONE, add, assert_problems, catalogue, changed, define, problems, slugify};

/// The catalogue with these members `ui` of Add and Slugify, and the files of two views.
fn with(of_add: Value, of_slugify: Value) -> Source {
    let mut source = catalogue();
    source.views.extend(["calculator/sum.tsx".to_owned(), "text/slug.html".to_owned()]);
    let add = changed(add(), &json!({"/bindings": GONE}));
    for (definition, ui) in [(add, of_add), (slugify("1.0.0"), of_slugify)] {
        define(&mut source, &changed(definition, &json!({"/ui": ui})));
    }
    source
}

fn file(source: &Source, name: &str) -> String {
    let files = compile(source).unwrap().files;
    let (_, bytes) = files.into_iter().find(|(known, _)| known == name).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_view_is_a_resource_and_its_tools_name_it() {
    let source = with(json!({"file": "sum.tsx"}), json!({"file": "slug.html"}));
    let tools: Vec<Value> = serde_json::from_str(&file(&source, "mcp-tools.json")).unwrap();
    assert_eq!(tools[0]["_meta"]["ui"]["resourceUri"], "ui://calculator/sum.tsx");
    let resources: Vec<Value> = serde_json::from_str(&file(&source, "mcp-resources.json")).unwrap();
    let uris: Vec<_> = resources.iter().map(|it| it["uri"].as_str().unwrap()).collect();
    assert_eq!(uris[uris.len() - 2..], ["ui://calculator/sum.tsx", "ui://text/slug.html"]);
    let rust = file(&source, "catalog.rs");
    let row = r#"View { uri: "ui://calculator/sum.tsx", tools: &[0], meta: "{\"csp\":{}}" }, "#;
    assert!(rust.contains(row), "{rust}");
    assert!(
        rust.contains(
            "needs: toolbooth::catalog::Needs::AnyOf(&[1]), name: \"ui://text/slug.html\""
        )
    );
}

#[test]
fn the_tools_of_a_toolkit_with_a_component_have_types_in_typescript() {
    let names = |source: &Source| {
        let types = compile(source).unwrap().types;
        types.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    let source = with(json!({"file": "sum.tsx"}), json!({"file": "slug.html"}));
    assert_eq!(names(&source), ["calculator/add.types.ts"]);
    assert_eq!(names(&catalogue()), [""; 0]);
}

#[test]
fn a_tool_for_views_is_in_no_list_for_models() {
    let source = with(json!({"file": "sum.tsx"}), json!({"visibility": ["app"]}));
    let has = |name: &str| file(&source, name).contains("Text_Slugify");
    for list in ["mcp-tools.json", "search.json"] {
        assert!(has(list), "{list}: hosts of views need it, and hide it");
    }
    let lists: Vec<String> = compile(&source).unwrap().files.into_iter().map(|it| it.0).collect();
    let of_models = lists.iter().filter(|name| {
        name.ends_with(".json")
            && !name.starts_with("mcp-")
            && !["search.json", "examples.json"].contains(&name.as_str())
    });
    let mut count = 0;
    for list in of_models {
        assert!(!has(list), "{list}");
        count += 1;
    }
    assert!(count > 8, "{lists:?}");
    let (index, ids) = toolbooth_build::search_index(&source);
    assert_eq!(ids[1], "Text.Slugify@1.0.0");
    assert!(index.words.iter().all(|(word, _)| *word != "slug"), "no query finds it");
    assert_eq!(index.pinned, [1], "a short list has it");
}

#[test]
fn views_that_are_not_valid() {
    let file = "expected a file in the folder of the toolkit, such as chart.html or chart.tsx";
    let origin = "expected an origin without a path, such as https://api.example.com, https://*.example.com or http://localhost:3000";
    for (ui, expected) in [
        (json!({"file": "chart.js"}), format!("ui.file: is \"chart.js\"; {file}")),
        (json!({"file": ".html"}), format!("ui.file: is \".html\"; {file}")),
        (json!({"file": "../chart.html"}), format!("ui.file: is \"../chart.html\"; {file}")),
        (json!({"file": "a b.tsx"}), format!("ui.file: is \"a b.tsx\"; {file}")),
        (
            json!({"file": "none.tsx"}),
            "ui.file: names tools/calculator/none.tsx, which does not exist".to_owned(),
        ),
        (
            json!({}),
            "ui: changes nothing; expected a file, or \"visibility\": [\"app\"] for a tool that only views call".to_owned(),
        ),
        (
            json!({"visibility": ["app"], "csp": {}}),
            "ui.csp: is for a view, but there is no file".to_owned(),
        ),
        (
            json!({"visibility": ["app"], "prefersBorder": true}),
            "ui.prefersBorder: is for a view, but there is no file".to_owned(),
        ),
        (
            json!({"file": "sum.tsx", "permissions": {"usb": {}}}),
            "ui.permissions.usb: unknown field `usb`, expected one of `camera`, `microphone`, `geolocation`, `clipboardWrite`".to_owned(),
        ),
        (
            json!({"file": "sum.tsx", "permissions": {"camera": true}}),
            "ui.permissions.camera: invalid type: boolean `true`, expected an empty object".to_owned(),
        ),
        (
            json!({"file": "sum.tsx", "domain": "https://a.example"}),
            "ui.domain: is \"https://a.example\"; expected the name of a host in the form of those that show the view, such as www-example-com.oaiusercontent.com".to_owned(),
        ),
        (
            json!({"file": "sum.tsx", "visibility": []}),
            "ui.visibility: is empty; expected \"model\", \"app\" or both".to_owned(),
        ),
        (
            json!({"file": "sum.tsx", "visibility": ["app", "app"]}),
            "ui.visibility[1]: is listed twice".to_owned(),
        ),
        (
            json!({"file": "sum.tsx", "visibility": ["user"]}),
            "ui.visibility[0]: unknown variant `user`, expected `model` or `app`".to_owned(),
        ),
        (
            json!({"file": "sum.tsx", "csp": {"connect_domains": []}}),
            "ui.csp.connect_domains: unknown field `connect_domains`, expected one of `connectDomains`, `resourceDomains`, `frameDomains`, `baseUriDomains`".to_owned(),
        ),
        (json!([]), "ui: is an array; expected an object".to_owned()),
        (json!({"file": "sum.tsx", "csp": []}), "ui.csp: is an array; expected an object".to_owned()),
    ] {
        let found = problems(&with(ui.clone(), json!({"file": "slug.html"})));
        assert_eq!(found, [format!("tools/calculator/Add@1.0.0.json: {expected}")], "{ui}");
    }
    for (text, is_valid) in [
        ("https://a.example", true),
        ("https://*.a.example:8443", true),
        ("wss://a.example", true),
        ("http://localhost:3000", true),
        ("http://localhost", true),
        ("ws://127.0.0.1:3000", true),
        ("http://api.localhost:3000", true),
        ("http://*.localhost:3000", true),
        ("http://localhost.example", false),
        ("http://notlocalhost", false),
        ("http://.localhost", false),
        ("http://*.127.0.0.1", false),
        ("http://127.0.0.2", false),
        ("http://[::1]:3000", false),
        ("http://192.168.0.1:3000", false),
        ("http://localhost/path", false),
        ("http://a.example", false),
        ("https://a.example/", false),
        ("https://a.example/path", false),
        ("https://*", false),
        ("https://*.com", false),
        ("https://a.*.example", false),
        ("https://a.example; script-src *", false),
        ("https://a.example:0", false),
        ("https://a.example:x", false),
        ("https://", false),
        ("data:", false),
        ("*", false),
        ("'unsafe-eval'", false),
        ("", false),
    ] {
        for list in ["connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"] {
            let ui = json!({"file": "sum.tsx", "csp": {list: [text]}});
            let found = problems(&with(ui, json!({"file": "slug.html"})));
            let place = "tools/calculator/Add@1.0.0.json: ui.csp";
            let expected = (!is_valid).then(|| format!("{place}.{list}[0]: is {text:?}; {origin}"));
            assert_eq!(found, Vec::from_iter(expected), "{text}");
        }
    }
}

#[test]
fn the_settings_of_a_view_are_those_of_its_resource() {
    let settings = json!({
        "csp": {"connectDomains": ["https://a.example"]},
        "permissions": {"camera": {}, "clipboardWrite": {}},
        "prefersBorder": false,
        "domain": "www-example-com.oaiusercontent.com",
    });
    let mut ui = settings.clone();
    ui["file"] = json!("sum.tsx");
    let source = with(ui, json!({"file": "slug.html"}));
    let resources: Vec<Value> = serde_json::from_str(&file(&source, "mcp-resources.json")).unwrap();
    let listed = resources.iter().find(|it| it["uri"] == "ui://calculator/sum.tsx").unwrap();
    assert_eq!(listed["_meta"]["ui"], settings);
    let meta = format!("meta: {:?}", settings.to_string());
    assert!(file(&source, "catalog.rs").contains(&meta), "what resources/read returns");
    let tools: Vec<Value> = serde_json::from_str(&file(&source, "mcp-tools.json")).unwrap();
    let ui = tools[0]["_meta"]["ui"].as_object().unwrap();
    assert_eq!(ui.keys().collect::<Vec<_>>(), ["resourceUri", "visibility"]);
}

#[test]
fn a_value_that_views_would_misread_is_named() {
    let output = |required: Value, names: &[&str]| {
        let properties: serde_json::Map<_, _> = names
            .iter()
            .map(|name| ((*name).to_owned(), json!({"type": "number", "description": "It."})))
            .collect();
        json!({"type": "object", "properties": properties, "required": required})
    };
    for (output, is_misread) in [
        (output(json!(["result"]), &["result"]), true),
        (output(json!([]), &["result", "unit"]), true),
        (output(json!(["result", "unit"]), &["result", "unit"]), false),
        (output(json!(["sum"]), &["sum"]), false),
        (json!({"type": "number"}), false),
    ] {
        let mut source = with(json!({"file": "sum.tsx"}), json!({"file": "slug.html"}));
        let ui = json!({"/ui": {"file": "sum.tsx"}, "/output_schema": output, "/bindings": GONE});
        define(&mut source, &changed(add(), &ui));
        let found =
            problems(&source).into_iter().filter(|it| it.contains("views would take it for"));
        assert_eq!(found.count(), usize::from(is_misread), "{output}");
    }
}

#[test]
fn tools_with_the_same_view_agree_on_its_settings() {
    let mut source = with(json!({"file": "sum.tsx"}), json!({"file": "slug.html"}));
    let ui = |ui: Value| changed(slugify("2.0.0"), &json!({"/ui": ui}));
    define(&mut source, &ui(json!({"file": "slug.html", "visibility": ["app"]})));
    assert_eq!(problems(&source), [""; 0]);
    for (name, value) in [
        ("csp", json!({"connectDomains": ["https://a.example"]})),
        ("permissions", json!({"camera": {}})),
        ("prefersBorder", json!(true)),
        ("domain", json!("a.example")),
    ] {
        define(&mut source, &ui(json!({"file": "slug.html", name: value})));
        let message = format!(
            "ui.{name}: differs from that of tools/text/Slugify@1.0.0.json, which has the same view; they must be equal"
        );
        assert_eq!(problems(&source), [format!("tools/text/Slugify@2.0.0.json: {message}")]);
    }
    assert_problems("a view needs its file", &json!({"/ui": {"file": "sum.tsx"}}), &[
        "ui.file",
    ].map(|place| format!("tools/calculator/Add@1.0.0.json: {place}: names tools/calculator/sum.tsx, which does not exist")).each_ref().map(String::as_str));
}

#[test]
fn a_worker_without_assets_has_a_warning() {
    let mut source = with(json!({"file": "sum.tsx"}), json!({"file": "slug.html"}));
    let expected = "wrangler.toml: assets: has no binding ASSETS, so that no client can read ui://calculator/sum.tsx; \
                    expected [assets] with binding = \"ASSETS\"";
    for (text, is_served) in [
        (Some("[assets]\nbinding = \"ASSETS\""), true),
        (Some("[assets]\nbinding = \"FILES\""), false),
        (Some("name = \"a\""), false),
        (None, true),
    ] {
        source.wrangler =
            text.map(|text| Wrangler { path: "wrangler.toml".into(), text: text.into() });
        let warnings = compile(&source).map(|it| it.warnings);
        let warnings = warnings.unwrap_or_else(|problems| problems);
        let found = warnings.iter().any(|it| it.to_string() == expected);
        assert_eq!(found, !is_served, "{text:?}: {warnings:?}");
    }
}
