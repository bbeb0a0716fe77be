//! Checks the bindings of definitions, first each on its own, then against `wrangler.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use toolbooth::catalog::{Binding, Definition};

use crate::entry::Entry;
use crate::names::{consists_of, starts_with_letter};
use crate::problem::{Problem, Problems};

pub(crate) const FILE: &str = "wrangler.toml";

/// The kind of a binding to another Worker.
const SERVICE: &str = "service";

/// A `wrangler.toml`, read into memory.
#[derive(Debug, Clone)]
pub struct Wrangler {
    /// Its path.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

impl Wrangler {
    /// Reads the file that belongs to the catalogue in `folder`: the nearest one in the folder or above, up to the
    /// folder of `Cargo.lock`, which is the root of the project.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        for folder in folder.ancestors() {
            let path = folder.join(FILE);
            if let Ok(text) = fs::read_to_string(&path) {
                return Some(Self { path, text });
            }
            if folder.join("Cargo.lock").exists() {
                break;
            }
        }
        None
    }
}

/// A kind of binding: its name in definitions, where `wrangler.toml` has it, and its other members with an example.
struct Kind {
    name: &'static str,
    /// The keys that lead to it.
    path: &'static [&'static str],
    /// Whether there can be several.
    list: bool,
    /// The member that is the name of the binding.
    member: &'static str,
    /// The other members that it needs. The value is the name of the binding in lower case, and that of the environment, unless it is given.
    others: &'static [(&'static str, Option<&'static str>)],
}

const fn kind(name: &'static str, path: &'static [&'static str]) -> Kind {
    Kind { name, path, list: true, member: "binding", others: &[] }
}

const KINDS: &[Kind] = &[
    Kind { list: false, ..kind("ai", &["ai"]) },
    Kind {
        others: &[("dataset", None)],
        ..kind("analytics_engine", &["analytics_engine_datasets"])
    },
    Kind { others: &[("database_name", None)], ..kind("d1", &["d1_databases"]) },
    Kind {
        member: "name",
        others: &[
            ("class_name", Some("<class>")),
            ("script_name", Some("<the Worker with the class>")),
        ],
        ..kind("durable_object", &["durable_objects", "bindings"])
    },
    kind("kv", &["kv_namespaces"]),
    Kind { others: &[("queue", None)], ..kind("queue", &["queues", "producers"]) },
    Kind { others: &[("bucket_name", None)], ..kind("r2", &["r2_buckets"]) },
    Kind { member: "name", ..kind("send_email", &["send_email"]) },
    Kind { others: &[("service", Some("<Worker>"))], ..kind(SERVICE, &["services"]) },
    Kind { others: &[("index_name", None)], ..kind("vectorize", &["vectorize"]) },
];

impl Kind {
    fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Whether a part of `wrangler.toml` has a binding of this kind with this name.
    fn is_in(&self, part: &Table, binding: &str) -> bool {
        let mut value = None;
        let mut table = Some(part);
        for key in self.path {
            value = table.and_then(|table| table.get(*key));
            table = value.and_then(Value::as_table);
        }
        let list = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut all = list.iter().filter_map(Value::as_table).chain(table);
        all.any(|one| one.get(self.member).and_then(Value::as_str) == Some(binding))
    }

    /// The lines that add a binding to an environment, or to the top level.
    fn lines(&self, binding: &str, environment: Option<&str>) -> String {
        let prefix = environment.map(|name| format!("env.{name}.")).unwrap_or_default();
        let path = format!("{prefix}{}", self.path.join("."));
        let head = if self.list { format!("[[{path}]]") } else { format!("[{path}]") };
        // Environments must not share their data.
        let suffix = environment.map(|name| format!("-{name}")).unwrap_or_default();
        let resource = binding.to_ascii_lowercase().replace('_', "-") + &suffix;
        let others =
            self.others.iter().map(|(member, value)| (*member, value.unwrap_or(&resource)));
        let members = [(self.member, binding)].into_iter().chain(others);
        members.fold(head, |lines, (member, value)| format!("{lines}\n{member} = {value:?}"))
    }
}

/// Adds the binding of a tool's `service` to the others.
pub(crate) fn add_service(definition: &mut Definition) {
    let Some(name) = definition.service.clone() else { return };
    if definition.bindings.iter().all(|binding| binding.name != name) {
        definition.bindings.push(Binding { name, kind: SERVICE.to_owned(), optional: false });
    }
}

pub(crate) fn check(definition: &Definition, problems: &mut Problems<'_>) {
    if let Some(name) = &definition.service {
        let own = definition.bindings.iter().find(|binding| binding.name == *name);
        if !starts_with_letter(name) || !consists_of(name, b"_") {
            problems.add("service", format!("is {name:?}; expected letters, digits and _"));
        } else if own.is_some_and(|own| own.kind != SERVICE || own.optional) {
            problems.add(
                "service",
                format!("needs {name} as a required service, which bindings declare differently"),
            );
        }
        if definition.http.is_some() {
            problems.add("service", "and http are two ways to run a tool; expected one");
        }
    }
    for (index, binding) in definition.bindings.iter().enumerate() {
        let mut problems = problems.within(format!("bindings[{index}]"));
        let name = &binding.name;
        if !starts_with_letter(name) || !consists_of(name, b"_") {
            problems.add(".name", format!("is {name:?}; expected letters, digits and _"));
        } else if definition.bindings.iter().take(index).any(|earlier| earlier.name == *name) {
            problems.add(".name", format!("repeats {name:?}"));
        }
        if Kind::named(&binding.kind).is_none() {
            let kinds: Vec<_> = KINDS.iter().map(|kind| kind.name).collect();
            let message = format!("is {:?}; expected one of {}", binding.kind, kinds.join(", "));
            problems.add(".kind", message);
        }
    }
}

/// A binding that definitions declare.
struct Declared<'a> {
    /// The definition that declares it first, and the place there.
    entry: &'a Entry,
    place: String,
    kind: &'static Kind,
    /// Whether a tool cannot run without it.
    required: bool,
}

/// Checks the bindings of all definitions, each of which is valid, against each other and against `wrangler.toml`.
/// Returns the warnings.
pub(crate) fn catalogue(
    wrangler: Option<&Wrangler>,
    entries: &[Entry],
    problems: &mut Vec<Problem>,
) -> Vec<Problem> {
    let mut warnings = Vec::new();
    let mut declared: BTreeMap<&str, Declared<'_>> = BTreeMap::new();
    for entry in entries {
        for (index, binding) in entry.definition.bindings.iter().enumerate() {
            let Some(kind) = Kind::named(&binding.kind) else { continue };
            let is_service = entry.definition.service.as_ref() == Some(&binding.name);
            let place =
                if is_service { "service".to_owned() } else { format!("bindings[{index}]") };
            let first = declared.entry(&binding.name).or_insert_with(|| Declared {
                entry,
                place: place.clone(),
                kind,
                required: false,
            });
            first.required |= !binding.optional;
            if first.kind.name != kind.name {
                let message = format!(
                    "declares {} as {}, but {} declares it as {}",
                    binding.name, kind.name, first.entry.file, first.kind.name
                );
                problems.push(entry.problem(place, message));
            }
        }
    }
    let Some(wrangler) = wrangler.filter(|_| !declared.is_empty()) else { return warnings };
    match wrangler.text.parse() {
        Ok(config) => {
            for (name, declared) in &declared {
                compare(&config, name, declared, problems, &mut warnings);
            }
        }
        Err(error) => {
            problems.push(Problem::new(FILE, "", format!("is not TOML: {}", error.message())));
        }
    }
    warnings
}

/// Compares a declared binding with each environment: wrangler does not inherit bindings.
fn compare(
    config: &Table,
    name: &str,
    declared: &Declared<'_>,
    problems: &mut Vec<Problem>,
    warnings: &mut Vec<Problem>,
) {
    let Declared { entry, place, kind, required } = declared;
    let environments = config.get("env").and_then(Value::as_table).into_iter().flatten();
    let environments =
        environments.filter_map(|(name, part)| Some((Some(&**name), part.as_table()?)));
    let parts: Vec<_> = [(None, config)].into_iter().chain(environments).collect();
    let mut is_other = false;
    for (environment, part) in &parts {
        let mut others = KINDS.iter().filter(|other| other.name != kind.name);
        if let Some(other) = others.find(|other| other.is_in(part, name)) {
            let (kind, at, other) = (kind.name, place_of(*environment), other.name);
            let message = format!("declares {name} as {kind}, but {at} has it as {other}");
            problems.push(entry.problem(place, message));
            is_other = true;
        }
    }
    let missing: Vec<_> = parts.iter().filter(|(_, part)| !kind.is_in(part, name)).collect();
    if is_other || !required {
        return;
    }
    let lines = |environment: &Option<&str>| kind.lines(name, *environment);
    if missing.len() == parts.len() {
        let lines: Vec<_> = parts.iter().map(|(environment, _)| lines(environment)).collect();
        let (kind, lines) = (kind.name, lines.join("\n\n"));
        let message = format!("{FILE} has no {kind} binding {name}. Add:\n{lines}");
        problems.push(entry.problem(place, message));
        return;
    }
    for (environment, _) in missing {
        let (at, kind, lines) = (place_of(*environment), kind.name, lines(environment));
        let message = format!(
            "{at} has no {kind} binding {name}, so the tools that need it are disabled there. Add:\n{lines}"
        );
        warnings.push(entry.problem(place, message));
    }
}

fn place_of(environment: Option<&str>) -> String {
    match environment {
        None => format!("the top level of {FILE}"),
        Some(name) => format!("[env.{name}] of {FILE}"),
    }
}
