//! Reads the files of a catalogue into memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::bindings::Wrangler;
use crate::problem::Problem;
use crate::server::Server;

/// The file of a catalogue with the names of the shipped toolkits that it has: `["github", "weather"]`.
const ENABLED: &str = "toolkits.json";
/// The folder with the shipped toolkits.
const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/toolkits");

/// The byte order mark, as UTF-8 has it.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// How the names of files that can be views end.
pub(crate) const VIEW_ENDS: [&str; 2] = [".html", ".tsx"];

/// The files of a catalogue, read into memory.
#[derive(Debug, Clone, Default)]
pub struct Source {
    /// The name of the catalogue's folder in messages, such as `tools`.
    pub name: String,
    /// Contents by path relative to the folder, separated by `/`: `calculator/Add@1.0.0.json`.
    pub files: BTreeMap<String, String>,
    /// The paths of files in TypeScript that may have functions of tools. esbuild and `tsc` read them.
    pub scripts: BTreeSet<String>,
    /// The paths of files that may be views of tools. esbuild reads them.
    pub views: BTreeSet<String>,
    /// The shipped toolkits that the catalogue enables. Their files are not in its folder.
    pub shipped: BTreeSet<String>,
    /// The configuration of the Worker, if the project has a `wrangler.toml`.
    pub wrangler: Option<Wrangler>,
    /// How the server names itself.
    pub server: Server,
}

/// The most folders below `skills`: a link could lead to a folder above itself.
const MAX_DEPTH: usize = 8;

impl Source {
    /// Reads `lib.rs`, the `.json` and `.rs` files of each toolkit's folder and the files of its skills, and the project's `wrangler.toml` and
    /// `Cargo.toml`.
    ///
    /// # Errors
    /// A folder or file that cannot be read, or is not UTF-8.
    pub fn read(folder: &Path) -> Result<Self, Vec<Problem>> {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
        let wrangler = Wrangler::find(folder);
        let project = wrangler.as_ref().and_then(|wrangler| wrangler.path.parent());
        let server = Server::read(project.unwrap_or(folder));
        let name = name.unwrap_or_default();
        let mut source = Self { name, wrangler, server, ..Self::default() };
        source.add(folder, "lib.rs")?;
        for toolkit in list(folder)? {
            let files = if folder.join(&toolkit).is_dir() {
                list(&folder.join(&toolkit))?
            } else {
                Vec::new()
            };
            // A toolkit has code or definitions; ignore every other folder.
            if !files.iter().any(|file| file == "mod.rs" || is_definition(file)) {
                continue;
            }
            for file in files {
                if file.ends_with(".json") || file.ends_with(".rs") {
                    source.add(folder, &format!("{toolkit}/{file}"))?;
                } else if file == "skills" {
                    source.add_all(folder, &format!("{toolkit}/{file}"), MAX_DEPTH)?;
                } else if file.ends_with(".ts") {
                    source.scripts.insert(format!("{toolkit}/{file}"));
                } else {
                    source.add_view(&format!("{toolkit}/"), &file);
                }
            }
        }
        if folder.join(ENABLED).exists() {
            source.add_enabled(folder)?;
        }
        Ok(source)
    }

    /// Adds the shipped toolkits that the catalogue enables.
    fn add_enabled(&mut self, folder: &Path) -> Result<(), Vec<Problem>> {
        let shipped = Path::new(SHIPPED);
        let file = self.display(ENABLED);
        let wrong = |message: String| vec![Problem::new(&file, "", message)];
        let text = fs::read_to_string(folder.join(ENABLED))
            .map_err(|error| wrong(format!("cannot be read: {error}")))?;
        let text = text.trim_start_matches(BYTE_ORDER_MARK);
        let names: Vec<String> = serde_json::from_str(text).map_err(|error| {
            wrong(format!("is not a list of names, such as [\"github\"]: {error}"))
        })?;
        let mut known = list(shipped)?;
        known.sort();
        for toolkit in names {
            if !known.contains(&toolkit) {
                let known = known.join(", ");
                return Err(wrong(format!("has {toolkit:?}; expected some of: {known}")));
            }
            let own = format!("{toolkit}/");
            self.shipped.insert(toolkit.clone());
            if self.files.keys().any(|path| path.starts_with(&own)) {
                let message =
                    "is here twice, or the catalogue has a folder of this name; remove one";
                return Err(wrong(format!("has {toolkit:?}, which {message}")));
            }
            for file in list(&shipped.join(&toolkit))? {
                if file.ends_with(".json") {
                    self.add(shipped, &format!("{own}{file}"))?;
                } else if file == "skills" {
                    self.add_all(shipped, &format!("{own}{file}"), MAX_DEPTH)?;
                } else {
                    self.add_view(&own, &file);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, folder: &Path, path: &str) -> Result<(), Vec<Problem>> {
        let text = fs::read_to_string(folder.join(path)).map_err(|error| {
            vec![Problem::new(self.display(path), "", format!("cannot be read: {error}"))]
        })?;
        self.files.insert(path.to_owned(), text);
        Ok(())
    }

    /// Adds a file that may be a view.
    fn add_view(&mut self, folder: &str, file: &str) {
        if VIEW_ENDS.iter().any(|end| file.ends_with(end)) {
            self.views.insert(format!("{folder}{file}"));
        }
    }

    /// Adds the files in a folder and in those below it. Names that begin with a dot are those of other programs.
    fn add_all(&mut self, folder: &Path, path: &str, depth: usize) -> Result<(), Vec<Problem>> {
        for name in list(&folder.join(path))?.iter().filter(|name| !name.starts_with('.')) {
            let path = format!("{path}/{name}");
            if !folder.join(&path).is_dir() {
                self.add(folder, &path)?;
            } else if depth > 0 {
                self.add_all(folder, &path, depth - 1)?;
            } else {
                let message = format!("is more than {MAX_DEPTH} folders deep");
                return Err(vec![Problem::new(self.display(&path), "", message)]);
            }
        }
        Ok(())
    }

    /// The same without the byte order marks with which some editors begin definitions and skills. Other files of a skill
    /// stay as they are.
    pub(crate) fn without_marks(&self) -> Cow<'_, Self> {
        let is_read = |path: &str| {
            path.ends_with(".json") && !path.contains("/skills/") || path.ends_with("/SKILL.md")
        };
        let is_marked = |path: &str, text: &str| is_read(path) && text.starts_with(BYTE_ORDER_MARK);
        if !self.files.iter().any(|(path, text)| is_marked(path, text)) {
            return Cow::Borrowed(self);
        }
        let mut source = self.clone();
        for (path, text) in &mut source.files {
            if is_marked(path, text) {
                text.remove(0);
            }
        }
        Cow::Owned(source)
    }

    /// A path for messages, such as `tools/text/mod.rs`.
    pub(crate) fn display(&self, path: &str) -> String {
        format!("{}/{path}", self.name)
    }
}

fn is_definition(file: &str) -> bool {
    file.contains('@') && file.ends_with(".json")
}

fn list(folder: &Path) -> Result<Vec<String>, Vec<Problem>> {
    let failed = |error: std::io::Error| {
        vec![Problem::new(folder.display(), "", format!("cannot be read: {error}"))]
    };
    fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| {
            entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).map_err(failed)
        })
        .collect()
}
