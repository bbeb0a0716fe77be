//! Tests for how the server names itself.

use serde_json::{Value, json};
use toolbooth_build::{Server, compile};

use crate::sample::{catalogue, messages};

#[test]
fn the_package_of_the_project_has_the_names() {
    let inherited = "[workspace.package]\nversion = \"3.0.0\"\n[package]\nname = \"shop\"\nversion.workspace = true";
    let titled = "[package]\nname = \"shop\"\nversion = \"1.2.3\"\n[package.metadata.toolbooth]\ntitle = \"The <shop>\"";
    let own = env!("CARGO_PKG_VERSION");
    for (manifest, name, title, version) in [
        (titled, "shop", "The <shop>", "1.2.3"),
        (inherited, "shop", "shop", "3.0.0"),
        // The version is inherited from a file elsewhere: Cargo tells it.
        ("[package]\nname = \"shop\"\nversion.workspace = true", "shop", "shop", own),
        ("[workspace]", "toolbooth-build", "toolbooth-build", own),
        ("", "toolbooth-build", "toolbooth-build", own),
    ] {
        let got = Server::of(manifest);
        assert_eq!((&*got.name, &*got.title, &*got.version), (name, title, version), "{manifest}");
    }
}

#[test]
fn every_document_has_the_title_and_the_version() {
    let manifest = "[package]\nname = \"shop\"\nversion = \"1.2.3\"\n[package.metadata.toolbooth]\ntitle = \"The shop\"";
    let mut source = catalogue();
    source.server = Server::of(manifest);
    let files = compile(&source).unwrap().files;
    let text = |name: &str| {
        let file = files.iter().find(|(file, _)| file == name);
        String::from_utf8(file.unwrap().1.clone()).unwrap()
    };
    let json = |name| serde_json::from_str::<Value>(&text(name)).unwrap();
    for name in ["openrpc.json", "opentool.json", "openapi.json"] {
        let info = &json(name)["info"];
        assert_eq!(
            (&info["title"], &info["version"]),
            (&json!("The shop"), &json!("1.2.3")),
            "{name}"
        );
    }
    assert_eq!(json("utcp.json")["manual_version"], "1.2.3");
    for name in ["llms.json", "llms-full.json"] {
        assert!(text(name).starts_with("# The shop\n"), "{name}");
    }
    let server = r#"ServerInfo { name: "shop", title: "The shop", version: "1.2.3" }"#;
    assert!(text("catalog.rs").contains(server));
    for (name, _) in &files {
        assert!(!text(name).contains("{server."), "{name}");
    }
}

#[test]
fn a_title_that_no_document_can_have() {
    for title in ["", " ", "a \"b\"", "a\\b", "a\nb"] {
        let mut source = catalogue();
        source.server.title = title.to_owned();
        let expected = format!(
            "Cargo.toml: package.metadata.toolbooth.title: is {title:?}; expected a line of text without quotation marks and backslashes"
        );
        assert_eq!(messages(compile(&source)), [expected]);
    }
}
