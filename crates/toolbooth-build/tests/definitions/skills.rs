//! Skills: their frontmatter, files, links and tools.

use serde_json::{Value, json};
use toolbooth_build::{Source, compile};

use crate::sample::{catalogue, define, problems, put, slugify};

const SKILL: &str = "text/skills/plan-a-trip/SKILL.md";
const VALID: &str = "---\nname: plan-a-trip\ndescription: Plans a trip.\n---\nSee [the list](countries.md#all), [this](https://a.example/b), [that](#here).\n";

fn with(text: &str) -> Source {
    let mut source = catalogue();
    put(&mut source, SKILL, text);
    put(&mut source, "text/skills/plan-a-trip/countries.md", "# All\n");
    source
}

/// The entry of the skill in a list, and the code that says who sees it.
fn rendered(source: &Source, list: &str) -> (Value, String) {
    let files = compile(source).unwrap().files;
    let file = |name: &str| {
        let (_, bytes) = files.iter().find(|(known, _)| known == name).unwrap();
        String::from_utf8(bytes.clone()).unwrap()
    };
    let items: Vec<Value> = serde_json::from_str(&file(&format!("{list}.json"))).unwrap();
    let rust = file("catalog.rs");
    let of_skill = rust.lines().find(|line| line.contains("skill://text/plan-a-trip/")).unwrap();
    let (_, needs) = of_skill.split_once("Needs::").unwrap();
    (items.last().unwrap().clone(), needs.split_once(", name").unwrap().0.to_owned())
}

#[test]
fn a_skill_is_rendered_with_its_digests() {
    let (skill, needs) = rendered(&with(VALID), "mcp-skills");
    let digest = "sha256:844a82547955792a52ed7e206683efa69b20472b32f82ed3e2ab1e1c37600196";
    let countries = &skill["resources"][1];
    assert_eq!(skill["uri"], "skill://text/plan-a-trip/SKILL.md");
    assert_eq!(
        skill["frontmatter"],
        json!({"name": "plan-a-trip", "description": "Plans a trip."})
    );
    assert_eq!(skill["resources"][0]["uri"], skill["uri"]);
    assert_eq!(
        *countries,
        json!({"uri": "skill://text/plan-a-trip/countries.md", "digest": digest, "size": 6})
    );
    assert_eq!(needs, "Toolkit");
    let (files, _) = rendered(&with(VALID), "mcp-files");
    assert_eq!(files[0], json!(["skill://text/plan-a-trip/SKILL.md", VALID]));
    let (prompt, _) = rendered(&with(VALID), "mcp-prompts");
    assert_eq!(
        prompt,
        json!({"name": "plan-a-trip", "description": "Plans a trip.", "arguments": []})
    );
}

#[test]
fn frontmatter_is_read_as_yaml_1_2() {
    let text = VALID.replace(
        "description",
        "metadata:\n  a: yes\n  b: 1_0\n  c: 2026-01-02\n  d: 1.5\n  e: true\ndescription",
    );
    let (skill, _) = rendered(&with(&text), "mcp-skills");
    let expected = json!({"a": "yes", "b": "1_0", "c": "2026-01-02", "d": 1.5, "e": true});
    assert_eq!(skill["frontmatter"]["metadata"], expected);
}

#[test]
fn a_skill_needs_the_tools_that_it_names() {
    for (named, expected) in [
        ("Text_Slugify", Ok("Tools(&[2])")),
        ("Text.Slugify", Ok("Tools(&[2])")),
        ("Text.Slugify@1.0.0", Ok("Tools(&[1])")),
        ("Text_Slugify,Calculator_Add  Text_Slugify", Ok("Tools(&[2, 0])")),
        ("[Calculator_Add]", Ok("Tools(&[0])")),
        ("\"\"", Ok("Toolkit")),
        ("Text.Slug", Err("names \"Text.Slug\", but there is no such tool")),
        ("Text.Slugify@3", Err("names \"Text.Slugify@3\", but there is no such tool")),
        ("Bash", Err("names \"Bash\", but there is no such tool")),
        ("[1]", Err("must be a string or a list of strings: names or ids of tools")),
    ] {
        let mut source =
            with(&VALID.replace("description", &format!("allowed-tools: {named}\ndescription")));
        define(&mut source, &slugify("2.0.0"));
        match expected {
            Ok(needs) => assert_eq!(rendered(&source, "mcp-skills").1, needs, "{named}"),
            Err(message) => {
                assert_eq!(problems(&source), [format!("tools/{SKILL}: allowed-tools: {message}")]);
            }
        }
    }
}

#[test]
fn skills_that_are_not_valid() {
    let start = "must begin with frontmatter: a line ---, YAML, and a line ---";
    let words = "must say in 1 to 1024 characters what the skill does and when to use it";
    let description = |text: &str| VALID.replace("Plans a trip.", text);
    for (text, expected) in [
        ("# Plan".to_owned(), start.to_owned()),
        ("---\nname: plan-a-trip\n".to_owned(), start.to_owned()),
        (
            "---\n- a\n---\n".to_owned(),
            "must have an object as frontmatter, such as name: plan-a-trip".to_owned(),
        ),
        (
            VALID.replace("plan-a-trip", "plan"),
            "name: must be \"plan-a-trip\", the name of the folder".to_owned(),
        ),
        (description("\"\""), format!("description: {words}")),
        (description(&"x".repeat(1025)), format!("description: {words}")),
        (
            VALID.replace("countries.md", "./cities.md"),
            "has a link to \"cities.md\", which is not a file of the skill".to_owned(),
        ),
        (
            VALID.replace("countries.md", "/countries.md"),
            "has a link to \"/countries.md\", which is not a file of the skill".to_owned(),
        ),
        (
            VALID.replace("countries.md", "../other/SKILL.md"),
            "has a link to \"../other/SKILL.md\", which is not a file of the skill".to_owned(),
        ),
        (
            VALID.replace("countries.md#all", "<all countries.md#all>"),
            "has a link to \"all countries.md\", which is not a file of the skill".to_owned(),
        ),
    ] {
        assert_eq!(problems(&with(&text)), [format!("tools/{SKILL}: {expected}")], "{text}");
    }
    let found = problems(&with("---\nname: [\n---\n"));
    assert!(found[0].contains("has frontmatter that is not valid YAML"), "{found:?}");
    let twice = problems(&with(&VALID.replace("description", "name: plan-a-trip\ndescription")));
    assert!(twice[0].contains("has frontmatter that is not valid YAML"), "{twice:?}");
}

#[test]
fn links_may_name_files_in_every_form() {
    let links = "[a](<a b.md>) [a](a%20b.md) [a](a(1).md) `[a](nope.md)`\n\n```md\n[a](nope.md)\n```\n<!-- [a](nope.md) -->\n";
    let mut source = with(&format!("{VALID}{links}"));
    for name in ["a b.md", "a(1).md"] {
        put(&mut source, &format!("text/skills/plan-a-trip/{name}"), "");
    }
    assert_eq!(problems(&source), [""; 0]);
}

#[test]
fn skills_that_do_not_fit_the_catalogue() {
    let mut source = with(VALID);
    put(&mut source, "text/skills/README.md", "");
    put(&mut source, "text/skills/empty/notes.md", "");
    put(&mut source, "calculator/skills/plan-a-trip/SKILL.md", VALID);
    put(&mut source, "calculator/skills/plan-a-trip/countries.md", "");
    put(
        &mut source,
        "text/skills/Big--One/SKILL.md",
        &VALID.replace("plan-a-trip", "Big--One").replace("countries.md", "#"),
    );
    assert_eq!(
        problems(&source),
        [
            "tools/text/skills/README.md: is not in the folder of a skill; expected skills/<name>/SKILL.md",
            "tools/text/skills/Big--One/SKILL.md: name: is \"Big--One\"; expected 1 to 64 lowercase letters and digits, in words with single hyphens",
            "tools/text/skills/empty/SKILL.md: is missing; a skill needs it",
            "tools/text/skills/plan-a-trip/SKILL.md: name: is \"plan-a-trip\", which another skill already has",
        ]
    );
    let mut large = with(VALID);
    put(&mut large, "text/skills/plan-a-trip/all.txt", &"x".repeat(1024 * 1024));
    for number in 0..510 {
        put(&mut large, &format!("text/skills/plan-a-trip/{number}.txt"), "");
    }
    let found = problems(&large);
    assert!(found[0].starts_with("tools: the skills have 1048"), "{found:?}");
    assert_eq!(found[1..], [format!("tools/{SKILL}: has 513 files; the limit is 512")]);
}

#[test]
fn the_name_of_a_skill_is_not_that_of_a_prompt() {
    let mut definition = slugify("1.0.0");
    definition["prompts"] = json!([{"name": "plan-a-trip", "description": "d", "text": "t"}]);
    let mut source = with(VALID);
    define(&mut source, &definition);
    let message = "name: is \"plan-a-trip\", which is the name of a prompt of a tool";
    assert_eq!(problems(&source), [format!("tools/{SKILL}: {message}")]);
}
