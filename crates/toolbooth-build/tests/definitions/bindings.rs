//! Tests for bindings: their declarations, and the comparison with `wrangler.toml`.

use std::path::PathBuf;

use serde_json::{Value, json};
use toolbooth_build::{Wrangler, compile};

use crate::sample::{
    ADD, add, assert_problems, catalogue, changed, define, messages, problems, slugify,
};

#[test]
fn invalid_declarations() {
    let kinds =
        "ai, analytics_engine, d1, durable_object, kv, queue, r2, send_email, service, vectorize";
    let d1 = json!({"name": "NOTES", "kind": "d1"});
    for (what, bindings, expected) in [
        ("none", json!([]), None),
        ("two", json!([d1, {"name": "files2_X", "kind": "r2", "optional": true}]), None),
        (
            "unknown member",
            json!([{"name": "A", "kind": "d1", "id": "x"}]),
            Some(
                "bindings[0].id: unknown field `id`, expected one of `name`, `kind`, `optional`"
                    .to_owned(),
            ),
        ),
        ("no kind", json!([{"name": "A"}]), Some("bindings[0]: missing field `kind`".to_owned())),
        (
            "unknown kind",
            json!([{"name": "A", "kind": "D1"}]),
            Some(format!("bindings[0].kind: is \"D1\"; expected one of {kinds}")),
        ),
        (
            "empty name",
            json!([{"name": "", "kind": "d1"}]),
            Some("bindings[0].name: is \"\"; expected letters, digits and _".to_owned()),
        ),
        (
            "a digit first",
            json!([{"name": "1A", "kind": "d1"}]),
            Some("bindings[0].name: is \"1A\"; expected letters, digits and _".to_owned()),
        ),
        (
            "a hyphen",
            json!([{"name": "A-B", "kind": "d1"}]),
            Some("bindings[0].name: is \"A-B\"; expected letters, digits and _".to_owned()),
        ),
        ("twice", json!([d1, d1]), Some("bindings[1].name: repeats \"NOTES\"".to_owned())),
    ] {
        let changes: Value = json!({"/bindings": bindings});
        let expected = expected.map(|message| format!("tools/{ADD}: {message}"));
        assert_problems(what, &changes, &expected.as_deref().into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn tools_of_other_workers() {
    let http = json!({"method": "GET", "base": "A_URL", "path": "/"});
    for (what, changes, expected) in [
        ("valid", json!({"/service": "PYTHON"}), None),
        (
            "also listed",
            json!({"/service": "PYTHON", "/bindings": [{"name": "PYTHON", "kind": "service"}]}),
            None,
        ),
        (
            "no name",
            json!({"/service": "py-thon"}),
            Some("service: is \"py-thon\"; expected letters, digits and _"),
        ),
        (
            "another kind",
            json!({"/service": "DB", "/bindings": [{"name": "DB", "kind": "d1"}]}),
            Some("service: needs DB as a required service, which bindings declare differently"),
        ),
        (
            "optional",
            json!({"/service": "A", "/bindings": [{"name": "A", "kind": "service", "optional": true}]}),
            Some("service: needs A as a required service, which bindings declare differently"),
        ),
        (
            "also http",
            json!({"/service": "PYTHON", "/http": http}),
            Some("service: and http are two ways to run a tool; expected one"),
        ),
    ] {
        let expected = expected.map(|message| format!("tools/{ADD}: {message}"));
        let mut source = catalogue();
        define(&mut source, &changed(add(), &changes));
        let found = problems(&source);
        match expected {
            Some(expected) => assert!(found.contains(&expected), "{what}: {found:?}"),
            None => assert_eq!(found, [""; 0], "{what}"),
        }
    }
    let mut source = catalogue();
    define(&mut source, &changed(add(), &json!({"/service": "PYTHON"})));
    let rendered = compile(&source).unwrap();
    let rust = String::from_utf8(rendered.files[0].1.clone()).unwrap();
    assert!(rust.contains("run: toolbooth::catalog::Run::External(\"service:PYTHON\")"));
    assert!(rust.contains("bindings: &[\"SUMS\", \"PYTHON\"]"));
}

#[test]
fn tools_that_disagree() {
    let mut source = catalogue();
    define(&mut source, &changed(add(), &json!({"/bindings": [{"name": "X", "kind": "d1"}]})));
    define(
        &mut source,
        &changed(slugify("1.0.0"), &json!({"/bindings": [{"name": "X", "kind": "r2"}]})),
    );
    assert_eq!(
        messages(compile(&source)),
        [
            "tools/text/Slugify@1.0.0.json: bindings[0]: declares X as r2, but tools/calculator/Add@1.0.0.json declares it as d1"
        ]
    );
}

/// The problems and the warnings about a binding and a `wrangler.toml`, without the file.
fn compared(binding: &Value, wrangler: &str) -> (Vec<String>, Vec<String>) {
    let mut source = catalogue();
    define(&mut source, &changed(add(), &json!({"/bindings": [binding]})));
    source.wrangler = Some(Wrangler { path: "wrangler.toml".into(), text: wrangler.to_owned() });
    let short = |text: &dyn ToString| {
        text.to_string().replace("tools/calculator/Add@1.0.0.json: bindings[0]: ", "")
    };
    match compile(&source) {
        Ok(rendered) => {
            assert_eq!(rendered.depends_on, [PathBuf::from("wrangler.toml")]);
            (Vec::new(), rendered.warnings.iter().map(|warning| short(warning)).collect())
        }
        Err(problems) => (problems.iter().map(|problem| short(problem)).collect(), Vec::new()),
    }
}

#[test]
fn a_missing_binding_fails_with_the_lines_to_add() {
    for (kind, lines) in [
        ("ai", "[ai]\nbinding = \"MY_X\""),
        (
            "analytics_engine",
            "[[analytics_engine_datasets]]\nbinding = \"MY_X\"\ndataset = \"my-x\"",
        ),
        ("d1", "[[d1_databases]]\nbinding = \"MY_X\"\ndatabase_name = \"my-x\""),
        (
            "durable_object",
            "[[durable_objects.bindings]]\nname = \"MY_X\"\nclass_name = \"<class>\"\nscript_name = \"<the Worker with the class>\"",
        ),
        ("kv", "[[kv_namespaces]]\nbinding = \"MY_X\""),
        ("queue", "[[queues.producers]]\nbinding = \"MY_X\"\nqueue = \"my-x\""),
        ("r2", "[[r2_buckets]]\nbinding = \"MY_X\"\nbucket_name = \"my-x\""),
        ("send_email", "[[send_email]]\nname = \"MY_X\""),
        ("service", "[[services]]\nbinding = \"MY_X\"\nservice = \"<Worker>\""),
        ("vectorize", "[[vectorize]]\nbinding = \"MY_X\"\nindex_name = \"my-x\""),
    ] {
        let binding = json!({"name": "MY_X", "kind": kind});
        let (problems, _) = compared(&binding, "name = \"a\"");
        assert_eq!(problems, [format!("wrangler.toml has no {kind} binding MY_X. Add:\n{lines}")]);
        // The lines are what is missing.
        assert_eq!(compared(&binding, lines), (vec![], vec![]), "{kind}");
        let optional = json!({"name": "MY_X", "kind": kind, "optional": true});
        assert_eq!(compared(&optional, "name = \"a\""), (vec![], vec![]), "{kind}");
    }
}

#[test]
fn bindings_of_environments() {
    let binding = json!({"name": "NOTES", "kind": "d1"});
    let d1 = "[[d1_databases]]\nbinding = \"NOTES\"\n";
    let staging = "[[env.staging.d1_databases]]\nbinding = \"NOTES\"\n";
    let other = "[[d1_databases]]\nbinding = \"OTHER\"\n";
    let kv = "[[kv_namespaces]]\nbinding = \"NOTES\"\n";
    let add = |(prefix, name): (&str, &str)| {
        format!("[[{prefix}d1_databases]]\nbinding = \"NOTES\"\ndatabase_name = \"{name}\"")
    };
    let top = ("", "notes");
    let of_production = ("env.production.", "notes-production");
    let of_staging = ("env.staging.", "notes-staging");
    let missing = |place: &str, lines| {
        format!(
            "{place} of wrangler.toml has no d1 binding NOTES, so the tools that need it are disabled there. Add:\n{}",
            add(lines)
        )
    };
    for (what, wrangler, problems, warnings) in [
        ("both", format!("{d1}{staging}"), vec![], vec![]),
        ("after another one", format!("{other}{d1}"), vec![], vec![]),
        (
            "not in staging",
            format!("{d1}[env.staging]\n"),
            vec![],
            vec![missing("[env.staging]", of_staging)],
        ),
        (
            "only in staging",
            format!("{staging}[env.production]\nname = \"a\""),
            vec![],
            vec![missing("the top level", top), missing("[env.production]", of_production)],
        ),
        (
            "nowhere",
            format!("{other}[env.staging]\n[env.production]\n"),
            vec![format!(
                "wrangler.toml has no d1 binding NOTES. Add:\n{}",
                [top, of_production, of_staging].map(add).join("\n\n")
            )],
            vec![],
        ),
        (
            "as another kind",
            format!("{kv}{staging}"),
            vec![
                "declares NOTES as d1, but the top level of wrangler.toml has it as kv".to_owned(),
            ],
            vec![],
        ),
    ] {
        assert_eq!(compared(&binding, &wrangler), (problems, warnings), "{what}");
    }
}

#[test]
fn a_file_that_is_not_toml() {
    let (problems, _) = compared(&json!({"name": "A", "kind": "d1"}), "name = ");
    assert_eq!(problems.len(), 1);
    assert!(problems[0].starts_with("wrangler.toml: is not TOML: "), "{problems:?}");
}

#[test]
fn a_catalogue_without_bindings_does_not_depend_on_the_file() {
    let mut source = catalogue();
    define(&mut source, &changed(add(), &json!({"/bindings": []})));
    source.wrangler = Some(Wrangler { path: "wrangler.toml".into(), text: "not TOML".to_owned() });
    assert_eq!(compile(&source).map(|rendered| rendered.depends_on), Ok(vec![]));
}
