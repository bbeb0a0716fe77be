//! Reads and checks skills: the folders `<toolkit>/skills/<name>`.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use toolbooth::catalog::{Skill, SkillFile, ToolRef};

use crate::entry::{Entry, is_latest};
use crate::links::targets;
use crate::problem::{Problem, Problems};
use crate::source::Source;

/// The most files of a skill (the Skills extension, "Limits").
pub(crate) const MAX_FILES: usize = 512;
/// The most bytes of all skills: they are part of the Worker, whose size is limited.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;
/// Those of the specification of Agent Skills.
const MAX_NAME: usize = 64;
const MAX_DESCRIPTION: usize = 1024;

/// A valid skill with the tools that it needs.
#[derive(Debug)]
pub(crate) struct CheckedSkill {
    pub(crate) skill: Skill,
    /// The index of a tool of its toolkit.
    pub(crate) tool: usize,
    /// The tools that its frontmatter names.
    pub(crate) tools: Vec<usize>,
}

impl CheckedSkill {
    /// The code that says which tools a caller must be allowed to run.
    pub(crate) fn needs(&self) -> String {
        match self.tools.as_slice() {
            [] => "Toolkit".to_owned(),
            tools => format!("Tools(&{tools:?})"),
        }
    }
}

/// Reads and checks every skill, sorted by toolkit and name.
pub(crate) fn read(
    source: &Source,
    entries: &[Entry],
    problems: &mut Vec<Problem>,
) -> Vec<CheckedSkill> {
    let mut folders: BTreeMap<(&str, &str), Vec<(&str, &str)>> = BTreeMap::new();
    let mut bytes = 0;
    for (path, text) in &source.files {
        let Some((toolkit, rest)) = path.split_once("/skills/") else { continue };
        bytes += text.len();
        let Some((name, file)) = rest.split_once('/') else {
            let message = "is not in the folder of a skill; expected skills/<name>/SKILL.md";
            problems.push(Problem::new(source.display(path), "", message));
            continue;
        };
        folders.entry((toolkit, name)).or_default().push((file, text));
    }
    if bytes > MAX_BYTES {
        let message = format!("the skills have {bytes} bytes; the limit for all is {MAX_BYTES}");
        problems.push(Problem::new(&source.name, "", message));
    }
    let mut skills: Vec<CheckedSkill> = Vec::new();
    for ((toolkit, name), files) in folders {
        let file = source.display(&format!("{toolkit}/skills/{name}/SKILL.md"));
        let mut problems = Problems { file: &file, place: String::new(), found: problems };
        let Some(checked) = skill(toolkit, name, files, entries, &mut problems) else { continue };
        if skills.iter().any(|other| other.skill.name == name) {
            problems.add("name", format!("is {name:?}, which another skill already has"));
        }
        let mut prompts = entries.iter().flat_map(|entry| &entry.definition.prompts);
        if prompts.any(|prompt| prompt.name == name) {
            problems.add("name", format!("is {name:?}, which is the name of a prompt of a tool"));
        }
        skills.push(checked);
    }
    skills
}

fn skill(
    toolkit: &str,
    name: &str,
    mut files: Vec<(&str, &str)>,
    entries: &[Entry],
    problems: &mut Problems<'_>,
) -> Option<CheckedSkill> {
    files.sort_by_key(|(path, _)| (*path != "SKILL.md", path.to_owned()));
    let Some(("SKILL.md", text)) = files.first() else {
        problems.add("", "is missing; a skill needs it");
        return None;
    };
    if files.len() > MAX_FILES {
        problems.add("", format!("has {} files; the limit is {MAX_FILES}", files.len()));
    }
    let (frontmatter, body) = match frontmatter(text) {
        Ok(parts) => parts,
        Err(message) => {
            problems.add("", message);
            return None;
        }
    };
    if frontmatter.get("name").and_then(Value::as_str) != Some(name) {
        problems.add("name", format!("must be {name:?}, the name of the folder"));
    }
    let is_word = |word: &str| {
        !word.is_empty() && word.bytes().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
    };
    if name.len() > MAX_NAME || !name.split('-').all(is_word) {
        let expected =
            "expected 1 to 64 lowercase letters and digits, in words with single hyphens";
        problems.add("name", format!("is {name:?}; {expected}"));
    }
    let description = frontmatter.get("description").and_then(Value::as_str).unwrap_or_default();
    if description.trim().is_empty() || description.chars().count() > MAX_DESCRIPTION {
        let message = format!(
            "must say in 1 to {MAX_DESCRIPTION} characters what the skill does and when to use it"
        );
        problems.add("description", message);
    }
    for target in
        targets(body).iter().filter(|target| !files.iter().any(|(path, _)| path == target))
    {
        problems.add("", format!("has a link to {target:?}, which is not a file of the skill"));
    }
    let of_toolkit = |entry: &Entry| entry.toolkit.eq_ignore_ascii_case(toolkit);
    let Some(tool) = entries.iter().position(of_toolkit) else {
        problems.add("", "is in a folder without tools".to_owned());
        return None;
    };
    let tools = tools(frontmatter.get("allowed-tools"), entries, problems);
    let (description, toolkit) = (description.to_owned(), toolkit.to_owned());
    let files = files.into_iter().map(|(path, text)| SkillFile {
        path: path.to_owned(),
        text: text.to_owned(),
        sha256: Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect(),
    });
    let files = files.collect();
    let skill = Skill { toolkit, name: name.to_owned(), description, frontmatter, files };
    Some(CheckedSkill { skill, tool, tools })
}

/// The frontmatter as JSON, and the text after it.
fn frontmatter(text: &str) -> Result<(Map<String, Value>, &str), String> {
    let expected = "must begin with frontmatter: a line ---, YAML, and a line ---";
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"));
    let rest = rest.ok_or(expected)?;
    let mut end = 0;
    let line = rest.split_inclusive('\n').find(|line| {
        let is_end = line.trim_end() == "---";
        end += if is_end { 0 } else { line.len() };
        is_end
    });
    let (yaml, body) = rest.split_at_checked(end).ok_or(expected)?;
    let body = body.get(line.ok_or(expected)?.len()..).unwrap_or_default();
    // As YAML 1.2 and the clients read it: yes and 1_000 are texts.
    let options = serde_saphyr::options! {
        strict_booleans: true,
        underscored_numbers_as_strings: true,
    };
    match serde_saphyr::from_str_with_options(yaml, options) {
        Ok(Value::Object(members)) => Ok((members, body)),
        Ok(_) => Err("must have an object as frontmatter, such as name: plan-a-trip".to_owned()),
        Err(error) => Err(format!("has frontmatter that is not valid YAML: {error}")),
    }
}

/// The indexes of the tools that `allowed-tools` names, by name or by id: a list, or a text with commas or spaces.
fn tools(named: Option<&Value>, entries: &[Entry], problems: &mut Problems<'_>) -> Vec<usize> {
    const PLACE: &str = "allowed-tools";
    let names: Vec<&str> = match named {
        None => Vec::new(),
        Some(Value::String(text)) => {
            text.split([',', ' ', '\n']).map(str::trim).filter(|name| !name.is_empty()).collect()
        }
        Some(Value::Array(items)) if items.iter().all(Value::is_string) => {
            items.iter().filter_map(Value::as_str).collect()
        }
        Some(_) => {
            problems.add(PLACE, "must be a string or a list of strings: names or ids of tools");
            Vec::new()
        }
    };
    let mut found = Vec::new();
    for name in names {
        let id = ToolRef::parse(name).ok();
        let is_named = |at: usize, entry: &Entry| match &id {
            Some(id) => {
                entry.tool_id() == (id.toolkit, id.tool)
                    && id.version.as_ref().map_or(is_latest(entries, at), |version| {
                        *version == entry.definition.version
                    })
            }
            None => entry.definition.name == name && is_latest(entries, at),
        };
        let place = entries.iter().enumerate().position(|(at, entry)| is_named(at, entry));
        match place {
            Some(at) if !found.contains(&at) => found.push(at),
            Some(_) => {}
            None => problems.add(PLACE, format!("names {name:?}, but there is no such tool")),
        }
    }
    found
}
