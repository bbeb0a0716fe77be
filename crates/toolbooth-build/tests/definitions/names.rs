//! Tests for the version, the id and the name of a definition.

use serde_json::json;

use crate::sample::{assert_problems, catalogue, changed, define, problems, slugify};

#[test]
fn versions_ids_and_names() {
    let file = |message: &str| format!("tools/calculator/Add@1.0.0.json: {message}");
    let bad_id = "a tool id has the form Toolkit.Tool, Toolkit.Tool@1 or Toolkit.Tool@1.0.0, \
                  with letters, digits and _ in its names";
    for (what, changes, expected) in [
        (
            "two parts",
            json!({"/version": "1.0"}),
            vec!["version: unexpected end of input while parsing minor version number".to_owned()],
        ),
        (
            "a leading zero",
            json!({"/version": "01.0.0"}),
            vec!["version: invalid leading zero in major version number".to_owned()],
        ),
        (
            "a pre-release",
            json!({"/version": "1.0.0-rc.1"}),
            vec![
                "version: is 1.0.0-rc.1; expected x.y.z with whole numbers".to_owned(),
                "id: is \"Calculator.Add@1.0.0\"; expected \"Calculator.Add@1.0.0-rc.1\"".to_owned(),
                "id: does not match the file name; expected the file calculator/Add@1.0.0-rc.1.json".to_owned(),
            ],
        ),
        (
            "a pre-release in id and version",
            json!({"/version": "1.0.0-rc.1", "/id": "Calculator.Add@1.0.0-rc.1"}),
            vec![
                "version: is 1.0.0-rc.1; expected x.y.z with whole numbers".to_owned(),
                format!("id: is \"Calculator.Add@1.0.0-rc.1\"; {bad_id}"),
            ],
        ),
        (
            "build metadata",
            json!({"/version": "1.0.0+7"}),
            vec![
                "version: is 1.0.0+7; expected x.y.z with whole numbers".to_owned(),
                "id: is \"Calculator.Add@1.0.0\"; expected \"Calculator.Add@1.0.0+7\"".to_owned(),
                "id: does not match the file name; expected the file calculator/Add@1.0.0+7.json".to_owned(),
            ],
        ),
        ("no dot", json!({"/id": "Calculator_Add@1.0.0"}), vec![format!("id: is \"Calculator_Add@1.0.0\"; {bad_id}")]),
        ("a hyphen", json!({"/id": "Calc-x.Add@1.0.0"}), vec![format!("id: is \"Calc-x.Add@1.0.0\"; {bad_id}")]),
        ("empty id", json!({"/id": ""}), vec![format!("id: is \"\"; {bad_id}")]),
        (
            "an id without version",
            json!({"/id": "Calculator.Add"}),
            vec!["id: is \"Calculator.Add\"; expected \"Calculator.Add@1.0.0\"".to_owned()],
        ),
        (
            "an id with a short version",
            json!({"/id": "Calculator.Add@1"}),
            vec!["id: is \"Calculator.Add@1\"; expected \"Calculator.Add@1.0.0\"".to_owned()],
        ),
        (
            "the id has another version",
            json!({"/id": "Calculator.Add@1.0.1"}),
            vec!["id: is \"Calculator.Add@1.0.1\"; expected \"Calculator.Add@1.0.0\"".to_owned()],
        ),
        (
            "the file has another version than both",
            json!({"/id": "Calculator.Add@1.0.1", "/version": "1.0.1"}),
            vec!["id: does not match the file name; expected the file calculator/Add@1.0.1.json".to_owned()],
        ),
        (
            "the file has another tool",
            json!({"/id": "Calculator.Plus@1.0.0"}),
            vec!["id: does not match the file name; expected the file calculator/Plus@1.0.0.json".to_owned()],
        ),
        (
            "the tool in another case",
            json!({"/id": "Calculator.add@1.0.0"}),
            vec!["id: does not match the file name; expected the file calculator/add@1.0.0.json".to_owned()],
        ),
        (
            "the file is in another toolkit's folder",
            json!({"/id": "Maths.Add@1.0.0"}),
            vec!["id: does not match the file name; expected the file maths/Add@1.0.0.json".to_owned()],
        ),
        (
            "a toolkit that cannot be a module",
            json!({"/id": "4Function.Add@1.0.0"}),
            vec![
                "id: does not match the file name; expected the file 4function/Add@1.0.0.json".to_owned(),
                "id: must have names that begin with a letter, because they name a Rust module and a function".to_owned(),
            ],
        ),
        ("empty name", json!({"/name": ""}), vec!["name: is \"\"; expected 1 to 64 letters, digits, _ or -, the first a letter or _".to_owned()]),
        (
            "a dot in the name",
            json!({"/name": "Calculator.Add"}),
            vec!["name: is \"Calculator.Add\"; expected 1 to 64 letters, digits, _ or -, the first a letter or _".to_owned()],
        ),
        ("beyond ASCII", json!({"/name": "Añadir"}), vec!["name: is \"Añadir\"; expected 1 to 64 letters, digits, _ or -, the first a letter or _".to_owned()]),
        (
            "65 characters",
            json!({"/name": "n".repeat(65)}),
            vec![format!("name: is \"{}\"; expected 1 to 64 letters, digits, _ or -, the first a letter or _", "n".repeat(65))],
        ),
        ("a digit first", json!({"/name": "1st"}), vec!["name: is \"1st\"; expected 1 to 64 letters, digits, _ or -, the first a letter or _".to_owned()]),
        ("a dash first", json!({"/name": "-a"}), vec!["name: is \"-a\"; expected 1 to 64 letters, digits, _ or -, the first a letter or _".to_owned()]),
        ("64 characters", json!({"/name": "n".repeat(64)}), vec![]),
    ] {
        let expected: Vec<_> = expected.iter().map(|message| file(message)).collect();
        let expected: Vec<_> = expected.iter().map(String::as_str).collect();
        assert_problems(what, &changes, &expected);
    }
}

#[test]
fn a_name_needs_space_for_the_version_if_there_is_a_later_one() {
    for (name, problem) in [("n-_".repeat(19), None), ("n-_".repeat(19) + "9", Some(()))] {
        let mut source = catalogue();
        for version in ["1.0.0", "1.10.0"] {
            let id = format!("Text.Slugify@{version}");
            let changes = json!({"/id": id, "/version": version, "/name": name});
            define(&mut source, &changed(slugify("1.0.0"), &changes));
        }
        let expected: Vec<String> = problem
            .map(|()| {
                format!(
                    "tools/text/Slugify@1.0.0.json: name: is too long: next to the later version, this one becomes \
                     \"{name}__1_0_0\"; model providers accept at most 64 characters"
                )
            })
            .into_iter()
            .collect();
        assert_eq!(problems(&source), expected, "{name}");
    }
}
