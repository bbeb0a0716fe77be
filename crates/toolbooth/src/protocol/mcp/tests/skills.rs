//! Skills: lists, files, folders and prompts, for callers who may run their tools.

use super::*;
use crate::catalog::{Entry, List, ListBody, Lists, Needs, Skill, SkillFile};

fn skill(name: &str) -> Skill {
    let files = [("SKILL.md", "# {Plan}"), ("data/all.json", "{}"), ("data/more/a.csv", "é")];
    let file = |(path, text): (&str, &str)| SkillFile {
        path: path.to_owned(),
        text: text.to_owned(),
        sha256: "0".repeat(64),
    };
    let frontmatter = json!({"name": name, "description": "Plans."});
    Skill {
        toolkit: "echo".to_owned(),
        name: name.to_owned(),
        description: "Plans.".to_owned(),
        frontmatter: frontmatter.as_object().unwrap().clone(),
        files: files.into_iter().map(file).collect(),
    }
}

/// The catalogue of the tests with two skills: one needs a tool of the toolkit, the other Say and Scoped.
fn catalogue() -> &'static Catalog {
    let names = SKILL_FORMS.iter().map(|form| form.list);
    let others = CATALOG.lists.iter().flat_map(|it| it.lists).copied();
    let mut lists: Vec<List> =
        others.filter(|list| names.clone().all(|it| it != list.name)).collect();
    for form in SKILL_FORMS {
        let (mut body, mut entries) = ("[".to_owned(), Vec::new());
        for (name, needs) in [("plan", Needs::Toolkit), ("sell", Needs::Tools(&[5, 6]))] {
            body.push_str(if entries.is_empty() { "" } else { "," });
            let (skill, start) = (skill(name), body.len());
            body.push_str(&(form.entry)(&skill));
            let (name, end) = (skill.folder().leak(), body.len());
            entries.push(Entry {
                tool: 5,
                needs,
                name,
                start,
                end,
                unsupported: &[],
                warnings: &[],
            });
        }
        body.push(']');
        let body = ListBody::Plain(body.leak());
        lists.push(List { name: form.list, body, head: 1, entries: entries.leak(), etag: "" });
    }
    let lists = vec![Lists::all(lists.leak())].leak();
    Box::leak(Box::new(Catalog { lists, ..*CATALOG }))
}

#[test]
fn mc60_skills_are_for_callers_who_may_run_their_tools() {
    const ALL: &[(&str, &str)] = &[("ANONYMOUS_SCOPES", "*")];
    const WITHOUT: &[(&str, &str)] =
        &[("ANONYMOUS_SCOPES", "*"), ("TOOL_ALLOWLIST", "Echo.Scoped")];
    const NOTHING: &[(&str, &str)] = &[("TOOL_ALLOWLIST", "")];
    for (variables, expected) in
        [(ALL, &["plan", "sell"][..]), (&[], &["plan"]), (WITHOUT, &["plan"]), (NOTHING, &[])]
    {
        let host = FakeHost::with(variables);
        let result = |method: &str, params: Value| {
            let (_, answer) = send_modern(catalogue(), &host, &modern(method, params));
            answer
        };
        for (method, member, name) in [
            ("skills/list", "skills", "/frontmatter/name"),
            ("resources/list", "resources", "/name"),
            ("prompts/list", "prompts", "/name"),
        ] {
            let answer = result(method, json!({}));
            let items = answer["result"][member].as_array().unwrap();
            let names: Vec<_> = items.iter().map(|it| it.pointer(name).unwrap()).collect();
            assert_eq!(names, expected, "{method} {variables:?}");
        }
        for name in ["plan", "sell"] {
            let uri = format!("skill://echo/{name}/SKILL.md");
            let folder = format!("skill://echo/{name}");
            for (method, params) in [
                ("skills/get", json!({"uri": uri})),
                ("resources/read", json!({"uri": uri})),
                ("resources/directory/read", json!({"uri": folder})),
                ("prompts/get", json!({"name": name})),
            ] {
                let code = result(method, params)["error"]["code"].as_i64();
                let hidden = !expected.contains(&name);
                assert_eq!(code, hidden.then_some(-32602), "{method} {name} {variables:?}");
            }
        }
    }
}

#[test]
fn mc60_a_skill_with_its_files() {
    let host = FakeHost::default();
    let sha256 = format!("sha256:{}", "0".repeat(64));
    let file = |path: &str, size: u8| json!({"uri": format!("skill://echo/plan/{path}"), "digest": sha256, "size": size});
    let plan = json!({
        "uri": "skill://echo/plan/SKILL.md",
        "frontmatter": {"name": "plan", "description": "Plans."},
        "resources": [file("SKILL.md", 8), file("data/all.json", 2), file("data/more/a.csv", 2)],
    });
    let child = |name: &str, path: &str, kind: &str| json!({"uri": format!("skill://echo{path}/{name}"), "name": name, "mimeType": kind});
    const FOLDER: &str = "inode/directory";
    let text = |path: &str, kind: &str, text: &str| json!([{"uri": format!("skill://echo/plan/{path}"), "mimeType": kind, "text": text}]);
    let read = "resources/read";
    let directory = "resources/directory/read";
    for (method, uri, expected) in [
        ("skills/get", "skill://echo/plan/SKILL.md", Some(("/skill", plan))),
        ("skills/get", "skill://echo/plan/data/all.json", None),
        ("skills/get", "skill://echo/plan", None),
        (
            read,
            "skill://echo/plan/SKILL.md",
            Some(("/contents", text("SKILL.md", "text/markdown", "# {Plan}"))),
        ),
        (
            read,
            "skill://echo/plan/data/more/a.csv",
            Some(("/contents", text("data/more/a.csv", "text/csv", "é"))),
        ),
        (read, "skill://echo/plan/data/../SKILL.md", None),
        (read, "skill://echo/plan/", None),
        (
            directory,
            "skill://echo/plan",
            Some((
                "/resources",
                json!([
                    child("SKILL.md", "/plan", "text/markdown"),
                    child("data", "/plan", FOLDER),
                ]),
            )),
        ),
        (
            directory,
            "skill://echo/plan/data",
            Some((
                "/resources",
                json!([
                    child("all.json", "/plan/data", "application/json"),
                    child("more", "/plan/data", FOLDER),
                ]),
            )),
        ),
        (directory, "skill://echo", Some(("/resources", json!([child("plan", "", FOLDER)])))),
        (directory, "skill://echo/plan/", None),
        (directory, "skill://echo/plan/SKILL.md", None),
        (directory, "skill://echo/pla", None),
        (directory, "", None),
    ] {
        let (_, answer) = send_modern(catalogue(), &host, &modern(method, json!({"uri": uri})));
        let Some((place, expected)) = expected else {
            assert_eq!(answer["error"]["code"], -32602, "{method} {uri}");
            continue;
        };
        let result = &answer["result"];
        assert_eq!(result.pointer(place), Some(&expected), "{method} {uri}: {answer}");
        assert_eq!(result["cacheScope"], "public");
    }
    let (_, answer) =
        send_modern(catalogue(), &host, &modern("prompts/get", json!({"name": "plan"})));
    assert_eq!(answer["result"]["messages"][0]["content"]["text"], "# {Plan}", "braces stay");
    for method in ["skills/get", "resources/directory/read"] {
        let (_, answer) = send_modern(catalogue(), &host, &modern(method, json!({"uri": 1})));
        assert_eq!(answer["error"]["message"], "uri must be a string");
    }
}

#[test]
fn mc61_the_extension_is_declared_if_there_are_skills() {
    let host = FakeHost::default();
    let extensions = json!({"io.modelcontextprotocol/skills": {"directoryRead": true}});
    for (catalog, declared) in [(catalogue(), Some(&extensions)), (CATALOG, None)] {
        let (_, modern_answer) = send_modern(catalog, &host, &modern("server/discover", json!({})));
        let (_, legacy_answer) =
            send(catalog, &host, ("/mcp", &[]), &legacy("initialize", json!({})));
        for answer in [modern_answer, legacy_answer] {
            assert_eq!(answer["result"]["capabilities"].get("extensions"), declared, "{answer}");
        }
        let (_, answer) = send(catalog, &host, ("/mcp", &[]), &legacy("skills/list", json!({})));
        let unknown = declared.is_none().then_some(-32601);
        assert_eq!(answer["error"]["code"].as_i64(), unknown, "{answer}");
    }
}
