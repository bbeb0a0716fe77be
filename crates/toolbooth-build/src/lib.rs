//! Compiles tool definitions (JSON) into a Rust catalogue; build scripts call it.
//!
//! A catalogue crate has one folder per toolkit, each with `<Tool>@<version>.json` files and a
//! `mod.rs` with the functions. Its build script calls [`build`]; its `lib.rs` includes the result:
//!
//! ```text
//! include!(concat!(env!("OUT_DIR"), "/catalog.rs"));
//! ```
//!
//! A tool whose definition has the member `http` needs no function, and a toolkit of such tools no `mod.rs`; the file
//! `toolkit.json` in its folder declares their variables.
//!
//! The folder `skills` of a toolkit has a folder for each skill, with the file `SKILL.md`. Views of tools are files in
//! HTML or `.tsx`, which the command `toolbooth` bundles.
//!
//! This defines `CATALOG` and the module `types`, and expects `VARIABLES` in the same module. An invalid definition fails
//! the build with the file, the place in it, the problem and what was expected.
#![forbid(unsafe_code)]

mod bindings;
mod check;
mod completion;
mod cost;
mod entry;
mod handlers;
mod hosts;
mod http;
mod links;
mod listed;
mod lists;
mod mcp;
mod merge;
mod names;
mod patterns;
mod problem;
mod query;
mod recursion;
mod references;
mod render;
mod schema;
mod search;
mod server;
mod skills;
mod source;
mod types;
mod used;
mod views;

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use bindings::Wrangler;
pub use http::is_of_worker;
pub use problem::Problem;
pub use render::Rendered;
pub use server::Server;
pub use source::Source;
use toolbooth::catalog::SearchIndex;

/// Builds the catalogue of the crate whose build script calls it, with the default settings of [`Build`].
pub fn build() -> ExitCode {
    Build::default().run()
}

/// The environment variable with the file into which the build writes how far it is. The command `toolbooth` shows it, because
/// Cargo shows nothing of a build script that works.
const PROGRESS: &str = "TOOLBOOTH_PROGRESS";

/// How a catalogue is built. A build script that changes a setting:
///
/// ```no_run
/// fn main() -> std::process::ExitCode {
///     toolbooth_build::Build::default().max_description(4096).run()
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Build {
    max_description: usize,
}

impl Default for Build {
    fn default() -> Self {
        Self { max_description: DEFAULT_MAX_DESCRIPTION }
    }
}

/// The limit of the strictest model provider (2api.ai, 7.1).
const DEFAULT_MAX_DESCRIPTION: usize = 1024;
/// The highest limit that can be set (2api.ai, 7.1).
const HIGHEST_MAX_DESCRIPTION: usize = 4096;

impl Build {
    /// The maximum length of a tool's description in characters, 1 to 4096. Default: 1024. Model providers may reject
    /// longer descriptions than that, so their lists have a warning.
    #[must_use]
    pub fn max_description(self, characters: usize) -> Self {
        Self { max_description: characters }
    }

    /// Builds the catalogue of the crate whose build script calls it.
    ///
    /// Prints every problem as a Cargo error, so that one build shows all of them.
    pub fn run(self) -> ExitCode {
        println!("cargo::rerun-if-changed=.");
        let folder = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
        let progress = env::var_os(PROGRESS);
        // The build works without it.
        let say = |checked: usize, all: usize| {
            if let Some(file) = &progress {
                let _ = std::fs::write(file, format!("{checked} {all}"));
            }
        };
        let catalogue = folder("CARGO_MANIFEST_DIR");
        let built = Source::read(&catalogue)
            .and_then(|source| self.compile_with(&source, &say))
            .and_then(|rendered| write(rendered, &catalogue, &folder("OUT_DIR")));
        match built {
            Ok(warnings) => {
                report("warning", &warnings);
                ExitCode::SUCCESS
            }
            Err(problems) => {
                report("error", &problems);
                ExitCode::FAILURE
            }
        }
    }

    /// Compiles a catalogue from its files.
    ///
    /// # Errors
    /// All problems in the files and settings.
    pub fn compile(self, source: &Source) -> Result<Rendered, Vec<Problem>> {
        self.compile_with(source, &|_, _| {})
    }

    /// As [`compile`](Self::compile). Of a large catalogue, `progress` gets how many definitions are checked, and how many there are.
    ///
    /// # Errors
    /// All problems in the files and settings.
    pub fn compile_with(
        self,
        source: &Source,
        progress: &dyn Fn(usize, usize),
    ) -> Result<Rendered, Vec<Problem>> {
        let Self { max_description } = self;
        let source = &*source.without_marks();
        let mut problems = Vec::new();
        let entries = check::definitions(source, max_description, progress, &mut problems);
        if !(1..=HIGHEST_MAX_DESCRIPTION).contains(&max_description) {
            let message = format!("is {max_description}; expected 1 to {HIGHEST_MAX_DESCRIPTION}");
            problems.push(Problem::new(source.display("build.rs"), "max_description", message));
        }
        problems.extend(check::catalogue(source, &entries));
        problems.extend(search::check(&entries));
        let unbound = bindings::catalogue(source.wrangler.as_ref(), &entries, &mut problems);
        problems.extend(source.server.problem());
        let toolkits = http::Toolkits::read(source, &entries, &mut problems);
        let handlers = handlers::find(source, &entries, &mut problems);
        let skills = skills::read(source, &entries, &mut problems);
        let views = views::catalogue(source, &entries, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut rendered =
            render::catalogue(source, &entries, (&skills, &views), &handlers, &toolkits);
        rendered.warnings.extend(unbound);
        rendered.warnings.extend(views::unserved(source.wrangler.as_ref(), &views));
        let is_shipped =
            |path: &str| path.split_once('/').is_some_and(|(it, _)| source.shipped.contains(it));
        rendered.types.retain(|(path, _)| !is_shipped(path));
        if entries.iter().any(|entry| !entry.definition.bindings.is_empty()) {
            rendered
                .depends_on
                .extend(source.wrangler.iter().map(|wrangler| wrangler.path.clone()));
        }
        Ok(rendered)
    }
}

/// Compiles the catalogue in a folder, with the default settings.
///
/// # Errors
/// All problems in its files.
pub fn compile_folder(folder: &Path) -> Result<Rendered, Vec<Problem>> {
    compile(&Source::read(folder)?)
}

/// Compiles a catalogue from its files, with the default settings.
///
/// # Errors
/// All problems in the files.
pub fn compile(source: &Source) -> Result<Rendered, Vec<Problem>> {
    Build::default().compile(source)
}

/// The index of the search in the valid definitions of a catalogue, with the ids of the tools in their order: to measure what
/// queries find.
pub fn search_index(source: &Source) -> (SearchIndex, Vec<String>) {
    let entries = check::definitions(source, DEFAULT_MAX_DESCRIPTION, &|_, _| {}, &mut Vec::new());
    let ids = entries.iter().map(|entry| entry.definition.id.clone()).collect();
    (search::index(&entries), ids)
}

/// Prints problems as Cargo's messages, each of which is a line.
fn report(severity: &str, problems: &[Problem]) {
    for problem in problems {
        for line in problem.to_string().lines() {
            println!("cargo::{severity}={line}");
        }
    }
}

fn write(rendered: Rendered, folder: &Path, out: &Path) -> Result<Vec<Problem>, Vec<Problem>> {
    // After a failure, Cargo runs the build script again anyway.
    for path in &rendered.depends_on {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    let failed = |path: &Path, error: std::io::Error| {
        vec![Problem::new(path.display(), "", format!("cannot be written: {error}"))]
    };
    for (name, bytes) in &rendered.files {
        let path = out.join(name);
        std::fs::write(&path, bytes).map_err(|error| failed(&path, error))?;
    }
    for (name, text) in &rendered.types {
        let path = folder.join(name);
        write_old(&path, text).map_err(|error| failed(&path, error))?;
    }
    Ok(rendered.warnings)
}

/// Writes a file into the folder that Cargo watches, unless it has this text already. The file is old, so that Cargo does not
/// run the build script again because of it.
fn write_old(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    std::fs::write(path, text)?;
    std::fs::File::options().write(true).open(path)?.set_modified(std::time::UNIX_EPOCH)
}
