//! Skills: instructions for models, in a folder with the file `SKILL.md`.

use serde_json::{Map, Value};

/// A skill, as the build reads it: the folder `<toolkit>/skills/<name>`.
#[derive(Debug, Clone)]
pub struct Skill {
    /// The name of the toolkit's folder.
    pub toolkit: String,
    /// Its name, which is that of its folder.
    pub name: String,
    /// What it is for, from the frontmatter.
    pub description: String,
    /// The frontmatter of `SKILL.md`, as JSON.
    pub frontmatter: Map<String, Value>,
    /// Its files, of which `SKILL.md` is the first.
    pub files: Vec<SkillFile>,
}

/// A file of a skill.
#[derive(Debug, Clone)]
pub struct SkillFile {
    /// The path in the folder of the skill, such as `references/countries.md`.
    pub path: String,
    /// The text.
    pub text: String,
    /// The SHA-256 of the text: 64 hexadecimal digits.
    pub sha256: String,
}

impl Skill {
    /// The address of its folder, with a slash at the end.
    pub fn folder(&self) -> String {
        format!("skill://{}/{}/", self.toolkit, self.name)
    }

    /// The address of a file.
    pub fn address(&self, file: &SkillFile) -> String {
        format!("{}{}", self.folder(), file.path)
    }

    /// The text of `SKILL.md`.
    pub fn text(&self) -> &str {
        self.files.first().map_or("", |file| &file.text)
    }
}

/// How a list of tools or of resources renders a skill.
#[derive(Debug, Clone, Copy)]
pub struct SkillForm {
    /// The name of the list.
    pub list: &'static str,
    /// Renders a skill. Runs at build time only.
    pub entry: fn(&Skill) -> String,
}
