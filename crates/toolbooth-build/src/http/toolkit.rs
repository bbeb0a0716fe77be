//! The files `toolkit.json`: the variables and secrets of tools without functions.

use std::collections::BTreeMap;

use serde_json::Value;
use toolbooth::address::public_address;
use toolbooth::catalog::{
    AuthDefinition, Definition, HttpDefinition, ToolkitDefinition, VariableDefinition, VariableKind,
};
use toolbooth::json;

use super::check::auth_place;
use super::reserved::is_of_worker;
use crate::entry::Entry;
use crate::names::{consists_of, starts_with_letter};
use crate::problem::Problem;
use crate::source::Source;

/// The name of the file in a toolkit's folder.
const FILE: &str = "toolkit.json";

/// The variables of all toolkits.
#[derive(Debug, Default)]
pub(crate) struct Toolkits {
    /// By folder.
    toolkits: BTreeMap<String, ToolkitDefinition>,
}

impl Toolkits {
    /// Reads the files of all toolkits, and checks the definitions that use them.
    pub(crate) fn read(source: &Source, entries: &[Entry], problems: &mut Vec<Problem>) -> Self {
        let mut all = Self::default();
        let mut first: BTreeMap<String, (String, VariableDefinition)> = BTreeMap::new();
        for (path, text) in &source.files {
            let Some((folder, FILE)) = path.split_once('/') else { continue };
            let file = source.display(path);
            let toolkit = match read(&file, text) {
                Ok(toolkit) => toolkit,
                Err(problem) => {
                    problems.push(problem);
                    continue;
                }
            };
            for (name, variable) in &toolkit.variables {
                if let Err((place, message)) = check(name, variable) {
                    problems.push(Problem::new(&file, format!("variables.{name}{place}"), message));
                }
                let known =
                    first.entry(name.clone()).or_insert_with(|| (file.clone(), variable.clone()));
                if known.1 != *variable {
                    let message =
                        format!("differs from the variable of the same name in {}", known.0);
                    problems.push(Problem::new(&file, format!("variables.{name}"), message));
                }
            }
            all.toolkits.insert(folder.to_owned(), toolkit);
        }
        for entry in entries {
            all.check(entry, source, problems);
        }
        all
    }

    /// Checks that the toolkit of a definition has the variables that its request uses.
    fn check(&self, entry: &Entry, source: &Source, problems: &mut Vec<Problem>) {
        let Some(http) = &entry.definition.http else { return };
        let folder = entry.toolkit.to_ascii_lowercase();
        let file = source.display(&format!("{folder}/{FILE}"));
        let declared = self.toolkits.get(&folder).map(|it| &it.variables);
        for Used { place, name, kinds } in used(http) {
            let variable = declared.and_then(|it| it.get(name));
            let (kind, example) = match kinds {
                [VariableKind::Base, ..] => ("base", r#"{"kind": "base", "default": "https://…"}"#),
                [VariableKind::Hosts, ..] => ("hosts", r#"{"kind": "hosts"}"#),
                [VariableKind::Secret] => ("secret", r#"{"kind": "secret"}"#),
                _ => ("text or secret", r#"{"kind": "text"}"#),
            };
            match variable {
                Some(variable) if kinds.contains(&variable.kind) => {}
                Some(_) => {
                    let message = format!("is {name:?}, which {file} does not declare as {kind}");
                    problems.push(entry.problem(place, message));
                }
                None => {
                    let message = format!(
                        "is {name:?}, which {file} does not declare; add {name:?}: {example} to its variables"
                    );
                    problems.push(entry.problem(place, message));
                }
            }
        }
    }

    /// The Rust code of each variable.
    pub(crate) fn rust(&self) -> Vec<String> {
        let variables: BTreeMap<_, _> =
            self.toolkits.values().flat_map(|toolkit| &toolkit.variables).collect();
        let code = |(name, VariableDefinition { kind, default, .. }): (_, &VariableDefinition)| {
            const VARIABLE: &str = "toolbooth::tool::Variable";
            const ADDRESS: &str = "toolbooth::address::service_address";
            match (kind, default) {
                (VariableKind::Base, Some(url)) => {
                    format!("{VARIABLE}::new({name:?}, {url:?}, {ADDRESS})")
                }
                (VariableKind::Base, None) => format!("{VARIABLE}::required({name:?}, {ADDRESS})"),
                (VariableKind::Hosts, _) => {
                    format!("{VARIABLE}::required({name:?}, toolbooth::address::hosts)")
                }
                (VariableKind::Secret, _) => format!("{VARIABLE}::secret({name:?})"),
                (VariableKind::Text, _) => {
                    format!("{VARIABLE}::required({name:?}, toolbooth::private::not_empty)")
                }
            }
        };
        variables.into_iter().map(code).collect()
    }
}

fn read(file: &str, text: &str) -> Result<ToolkitDefinition, Problem> {
    let value = json::parse(text)
        .map_err(|error| Problem::new(file, "", format!("is not JSON: {error}")))?;
    serde_path_to_error::deserialize(Value::from(&value)).map_err(|error| {
        let place = error.path().to_string();
        let place = if place == "." { "" } else { &place };
        Problem::new(file, place, error.inner().to_string())
    })
}

fn check(name: &str, variable: &VariableDefinition) -> Result<(), (&'static str, String)> {
    if name.contains(|c: char| c.is_ascii_lowercase())
        || !consists_of(name, b"_")
        || !starts_with_letter(name)
    {
        return Err(("", format!("is {name:?}; expected capital letters, digits and _")));
    }
    if is_of_worker(name) {
        return Err((
            "",
            "is a name that the Worker itself uses; choose a different one".to_owned(),
        ));
    }
    match (variable.kind, &variable.default) {
        (VariableKind::Base, Some(url)) => {
            public_address(url).map_err(|expected| (".default", format!("is {url:?}; {expected}")))
        }
        (VariableKind::Hosts | VariableKind::Secret | VariableKind::Text, Some(_)) => {
            Err((".default", "is only for addresses; the operator sets this variable".to_owned()))
        }
        (_, None) => Ok(()),
    }
}

/// A variable that a request uses.
struct Used<'a> {
    place: String,
    name: &'a str,
    /// What it may be.
    kinds: &'static [VariableKind],
}

fn used(http: &HttpDefinition) -> Vec<Used<'_>> {
    const BASIC: &[VariableKind] = &[VariableKind::Text, VariableKind::Secret];
    let kinds: &[VariableKind] = match http.url {
        Some(_) => &[VariableKind::Hosts],
        None => &[VariableKind::Base],
    };
    let mut used = vec![Used { place: "http.base".to_owned(), name: &http.base, kinds }];
    for (index, AuthDefinition { secret, basic, .. }) in http.auth.iter().enumerate() {
        let at = auth_place(http, index);
        used.extend(secret.iter().map(|name| Used {
            place: format!("http.{at}.secret"),
            name,
            kinds: &[VariableKind::Secret],
        }));
        for (member, name) in
            basic.iter().flat_map(|it| [("user", &it.user), ("password", &it.password)])
        {
            let place = format!("http.{at}.basic.{member}");
            used.push(Used { place, name, kinds: BASIC });
        }
    }
    used
}

/// The variables and secrets of the operator that a tool reads: those that it lists, and those of its request.
pub(crate) fn variables(definition: &Definition) -> Vec<&str> {
    let mut names: Vec<&str> = definition.variables.iter().map(String::as_str).collect();
    for Used { name, .. } in definition.http.iter().flat_map(used) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
