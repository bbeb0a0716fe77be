//! Tests that read a catalogue from a real folder.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use toolbooth_build::{Source, compile, compile_folder};

use crate::sample::{ADD, GONE, add, catalogue, changed, messages, put};

/// A temporary folder, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    /// Creates a folder called `tools` with these files.
    fn of(test: &str, source: &Source) -> Self {
        let root = std::env::temp_dir().join(format!("toolbooth-{}-{test}", std::process::id()));
        let folder = Self(root);
        for (path, text) in &source.files {
            folder.put(path, text.as_bytes());
        }
        folder
    }

    fn tools(&self) -> PathBuf {
        self.0.join("tools")
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.tools().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_folder_is_read_and_compiled() {
    let expected = catalogue();
    let folder = Folder::of("read", &expected);
    // None of these is part of a catalogue.
    folder.put("README.md", b"# Tools");
    folder.put("package.json", b"not a definition");
    folder.put("notes/todo.json", b"a folder that is no toolkit");
    folder.put("text/README.md", b"# Text");
    folder.put("text/old/Slugify.md", b"deeper");

    let read = Source::read(&folder.tools()).unwrap();
    assert_eq!(read.name, "tools");
    assert_eq!(read.files, expected.files);
    let (from_folder, from_memory) =
        (compile_folder(&folder.tools()).unwrap(), compile(&expected).unwrap());
    assert_eq!(from_folder.files, from_memory.files);
}

#[test]
fn the_nearest_wrangler_toml_of_the_project() {
    let folder = Folder::of("wrangler", &catalogue());
    let found = || Source::read(&folder.tools()).unwrap().wrangler.map(|wrangler| wrangler.text);
    assert_eq!(found(), None);
    folder.put("../wrangler.toml", b"above");
    assert_eq!(found().as_deref(), Some("above"));
    folder.put("wrangler.toml", b"next to it");
    assert_eq!(found().as_deref(), Some("next to it"));
    fs::remove_file(folder.tools().join("wrangler.toml")).unwrap();
    folder.put("Cargo.lock", b"");
    assert_eq!(found(), None, "another project's");
}

#[test]
fn shipped_toolkits() {
    let folder = Folder::of("shipped", &catalogue());
    folder.put("toolkits.json", b"[\"weather\"]");
    let rendered = compile_folder(&folder.tools()).unwrap();
    let rust = String::from_utf8(rendered.files[0].1.clone()).unwrap();
    assert!(rust.contains("name: \"Weather_GetForecast\""), "{rust}");
    assert!(!rust.contains("triage-issues"), "{rust}");
    assert!(rust.contains("uri: \"ui://weather/chart.tsx\""), "{rust}");
    assert_eq!(rendered.types, [], "the folder of the toolkit is not the catalogue's");
    folder.put("toolkits.json", b"[\"calendar\", \"github\"]");
    let rendered = compile_folder(&folder.tools()).unwrap();
    let rust = String::from_utf8(rendered.files[0].1.clone()).unwrap();
    assert!(rust.contains("plan-a-meeting") && rust.contains("triage-issues"), "{rust}");
    for (list, expected) in [
        (
            "{}",
            "is not a list of names, such as [\"github\"]: invalid type: map, expected a sequence",
        ),
        ("[\"../x\"]", "has \"../x\"; expected some of: calendar, drive, "),
        ("[\"weather\", \"weather\"]", "has \"weather\", which is here twice, or the catalogue"),
    ] {
        folder.put("toolkits.json", list.as_bytes());
        let messages = messages(compile_folder(&folder.tools()));
        let [message] = &messages[..] else { panic!("{messages:?}") };
        let expected = format!("tools/toolkits.json: {expected}");
        assert!(message.starts_with(&expected), "{message}");
    }
    folder.put("toolkits.json", b"[\"weather\"]");
    folder.put("weather/mod.rs", b"");
    let messages = messages(compile_folder(&folder.tools()));
    assert!(messages[0].contains("the catalogue has a folder of this name"), "{messages:?}");
}

#[test]
fn unreadable_files_are_reported() {
    let folder = Folder::of("unreadable", &catalogue());
    folder.put("text/Bad@1.0.0.json", b"\xff");
    assert_eq!(
        messages(compile_folder(&folder.tools())),
        ["tools/text/Bad@1.0.0.json: cannot be read: stream did not contain valid UTF-8"]
    );
    fs::remove_file(folder.tools().join("lib.rs")).unwrap();
    assert_eq!(
        messages(compile_folder(&folder.tools())),
        ["tools/lib.rs: cannot be read: No such file or directory (os error 2)"]
    );
}

#[test]
fn problems_name_files_relative_to_the_catalogue() {
    let folder = Folder::of("faults", &catalogue());
    folder.put("text/Slugify@2.0.0.json", b"{}");
    assert_eq!(
        messages(compile_folder(&folder.tools())),
        ["tools/text/Slugify@2.0.0.json: missing field `id`"]
    );
}

#[test]
fn a_toolkit_without_mod_rs_is_an_error() {
    // Rust also accepts text.rs as the module; the build expects text/mod.rs.
    for module in [None, Some("text.rs")] {
        let mut source = catalogue();
        let add = changed(add(), &json!({"/deprecated": GONE}));
        put(&mut source, ADD, &add.to_string());
        let folder = Folder::of("half", &source);
        fs::remove_file(folder.tools().join("text/mod.rs")).unwrap();
        if let Some(module) = module {
            folder.put(module, b"pub async fn slugify(_: I, _: &C) -> R {}");
        }
        let messages = messages(compile_folder(&folder.tools()));
        assert!(
            messages.iter().any(|problem| problem.contains("tools/text/")),
            "with {module:?} Text.Slugify is left out without an error: {messages:?}"
        );
    }
}
