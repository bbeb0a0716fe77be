//! Views: which tools name them, who may read them, and what hosts learn about them.

use super::*;
use crate::catalog::{Definition, Listed, Rendering, View, Views};
use crate::host::boxed;

const URI: &str = "ui://echo/chart.tsx";

/// The catalogue of the tests with a view of Say and Scoped, whose text is its path, and one whose file is missing.
fn catalogue() -> &'static Catalog {
    const VIEWS: Views = Views {
        all: &[
            View {
                uri: URI,
                tools: &[5, 6],
                meta: r#"{"csp":{"connectDomains":["https://a.example"]}}"#,
            },
            View { uri: "ui://echo/gone.html", tools: &[5], meta: "{}" },
        ],
        read: Some(|path, _| {
            boxed(async move {
                if path.contains("gone") { Err("it is gone".to_owned()) } else { Ok(path) }
            })
        }),
    };
    Box::leak(Box::new(Catalog { views: VIEWS, ..*CATALOG }))
}

#[test]
fn mc90_a_tool_names_its_view_in_both_forms() {
    let rendered = |ui: Value| {
        let definition: Definition = serde_json::from_value(json!({
            "id": "Echo.Say@2.0.0", "name": "Echo_Say", "description": "Says it.", "version": "2.0.0",
            "input_schema": {"type": "object"}, "output_schema": null, "ui": ui
        }))
        .unwrap();
        let listed = Listed { definition: &definition, name: "Echo_Say", latest: true };
        let Rendering::Supported { json, .. } = (TOOLS.entry)(&listed) else { panic!() };
        let tool: Value = serde_json::from_str(&json).unwrap();
        let meta = &tool["_meta"];
        (meta.get("ui").cloned(), meta.get("ui/resourceUri").cloned())
    };
    for (ui, expected) in [
        (json!(null), (None, None)),
        (
            json!({"file": "chart.tsx", "csp": {"connectDomains": ["https://a.example"]}}),
            (Some(json!({"resourceUri": URI, "visibility": ["model", "app"]})), Some(json!(URI))),
        ),
        (json!({"visibility": ["app"]}), (Some(json!({"visibility": ["app"]})), None)),
    ] {
        assert_eq!(rendered(ui.clone()), expected, "{ui}");
    }
}

#[test]
fn mc90_a_view_in_the_list_of_resources() {
    let meta_of = |ui: Value| (VIEW_FORM.meta)(&serde_json::from_value(ui).unwrap());
    let all = json!({
        "csp": {"frameDomains": ["https://a.example"]}, "permissions": {"camera": {}, "clipboardWrite": {}},
        "prefersBorder": false, "domain": "a.example",
    });
    assert_eq!(meta_of(all.clone()), all);
    assert_eq!(meta_of(json!({"file": "chart.tsx"})), json!({"csp": {}}));
    let meta = meta_of(json!({"csp": {"frameDomains": ["https://a.example"]}}));
    let expected = json!({
        "uri": URI, "name": "chart.tsx", "description": "The view of Echo.Say@2.0.0, Echo.Scoped@1.0.0",
        "mimeType": "text/html;profile=mcp-app", "_meta": {"ui": meta}
    });
    assert_eq!((VIEW_FORM.entry)(URI, &["Echo.Say@2.0.0", "Echo.Scoped@1.0.0"], &meta), expected);
}

#[test]
fn mc91_views_are_for_callers_who_may_run_one_of_their_tools() {
    let content = json!([{
        "uri": URI,
        "mimeType": "text/html;profile=mcp-app",
        "text": "/views/echo/chart.tsx",
        "_meta": {"ui": {"csp": {"connectDomains": ["https://a.example"]}}}
    }]);
    const OTHERS: &[(&str, &str)] = &[("TOOL_ALLOWLIST", "Echo.Private")];
    const ONE: &[(&str, &str)] = &[("TOOL_ALLOWLIST", "Echo.Say")];
    for (variables, uri, expected) in [
        (&[][..], URI, Ok(())),
        (ONE, URI, Ok(())),
        (OTHERS, URI, Err(-32602)),
        (&[], "ui://echo/chart", Err(-32602)),
        (&[], "ui://echo/../chart.tsx", Err(-32602)),
        (&[], "ui://echo/gone.html", Err(-32603)),
    ] {
        let host = FakeHost::with(variables);
        let (status, answer) =
            send_modern(catalogue(), &host, &modern("resources/read", json!({"uri": uri})));
        assert_eq!(status, 200, "{uri} {variables:?}");
        match expected {
            Ok(()) => {
                assert_eq!(answer["result"]["contents"], content, "{variables:?}");
                assert_eq!(answer["result"]["ttlMs"], 3_600_000, "{variables:?}");
            }
            Err(code) => assert_eq!(answer["error"]["code"], code, "{uri} {variables:?}"),
        }
        let is_logged = host.printed().contains("it is gone");
        assert_eq!(is_logged, expected == Err(-32603), "only the log says why");
        assert!(!answer.to_string().contains("it is gone"));
    }
}

#[test]
fn mc92_the_extension_is_declared_if_there_are_views() {
    let host = FakeHost::default();
    let extensions = json!({"io.modelcontextprotocol/ui": {}});
    for (catalog, declared) in [(catalogue(), Some(&extensions)), (CATALOG, None)] {
        let (_, modern_answer) = send_modern(catalog, &host, &modern("server/discover", json!({})));
        let (_, legacy_answer) =
            send(catalog, &host, ("/mcp", &[]), &legacy("initialize", json!({})));
        for answer in [modern_answer, legacy_answer] {
            assert_eq!(answer["result"]["capabilities"].get("extensions"), declared, "{answer}");
        }
    }
}
