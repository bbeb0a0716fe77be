//! The files `toolkit.json`: the variables and secrets of tools without functions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolbooth::address::{public_address, public_secure_address};
use toolbooth::catalog::{
    AuthDefinition, Definition, HttpDefinition, OAuthDefinition, ToolkitDefinition,
    VariableDefinition, VariableKind,
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
    /// The variables that are names and passwords of basic authentication, and nothing else: one of the two may be empty.
    basic: BTreeSet<String>,
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
        let http = entries.iter().filter_map(|entry| entry.definition.http.as_ref());
        let used: Vec<_> = http.flat_map(used).collect();
        let others: BTreeSet<_> = used.iter().filter(|it| !it.is_basic).map(|it| it.name).collect();
        let basic = used.iter().filter(|it| it.is_basic && !others.contains(it.name));
        all.basic = basic.map(|it| it.name.to_owned()).collect();
        all
    }

    /// Checks that the toolkit of a definition has the variables that its request uses.
    fn check(&self, entry: &Entry, source: &Source, problems: &mut Vec<Problem>) {
        let Some(http) = &entry.definition.http else { return };
        let folder = entry.toolkit.to_ascii_lowercase();
        let file = source.display(&format!("{folder}/{FILE}"));
        let declared = self.toolkits.get(&folder).map(|it| &it.variables);
        for Used { place, name, kinds, may_lack, .. } in used(http) {
            let variable = declared.and_then(|it| it.get(name));
            let (kind, example) = match kinds {
                [VariableKind::Base, ..] => ("base", r#"{"kind": "base", "default": "https://…"}"#),
                [VariableKind::Hosts, ..] => ("hosts", r#"{"kind": "hosts"}"#),
                [VariableKind::Url, ..] => ("url", r#"{"kind": "url", "default": "https://…"}"#),
                [VariableKind::Secret] => ("secret", r#"{"kind": "secret"}"#),
                _ => ("text or secret", r#"{"kind": "text"}"#),
            };
            match variable {
                Some(variable) if variable.optional && !may_lack => {
                    let message = format!(
                        "is {name:?}, which is optional in {file}; only the client of a user's grant may be"
                    );
                    problems.push(entry.problem(place, message));
                }
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
        let code = |(name, variable): (&String, &VariableDefinition)| {
            let VariableDefinition { kind, default, optional, .. } = variable;
            const VARIABLE: &str = "toolbooth::tool::Variable";
            const ADDRESS: &str = "toolbooth::address::service_address";
            const URL: &str = "toolbooth::address::secure_address";
            let or_empty = if self.basic.contains(name) { ".or_empty()" } else { "" };
            let optional = if *optional { ".optional()" } else { "" };
            match (kind, default) {
                (VariableKind::Base, Some(url)) => {
                    format!("{VARIABLE}::new({name:?}, {url:?}, {ADDRESS})")
                }
                (VariableKind::Base, None) => format!("{VARIABLE}::required({name:?}, {ADDRESS})"),
                (VariableKind::Url, Some(url)) => {
                    format!("{VARIABLE}::new({name:?}, {url:?}, {URL})")
                }
                (VariableKind::Url, None) => format!("{VARIABLE}::required({name:?}, {URL})"),
                (VariableKind::Hosts, _) => {
                    format!("{VARIABLE}::required({name:?}, toolbooth::address::hosts)")
                }
                (VariableKind::Secret, _) => {
                    format!("{VARIABLE}::secret({name:?}){or_empty}{optional}")
                }
                (VariableKind::Text, _) => {
                    let check = "toolbooth::private::not_empty";
                    format!("{VARIABLE}::required({name:?}, {check}){or_empty}{optional}")
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
    if variable.optional && !matches!(variable.kind, VariableKind::Secret | VariableKind::Text) {
        return Err((".optional", "is only for texts and secrets".to_owned()));
    }
    match (variable.kind, &variable.default) {
        (VariableKind::Base, Some(url)) => {
            public_address(url).map_err(|expected| (".default", format!("is {url:?}; {expected}")))
        }
        (VariableKind::Url, Some(url)) => public_secure_address(url)
            .map_err(|expected| (".default", format!("is {url:?}; {expected}"))),
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
    /// Whether it is the name or the password of basic authentication.
    is_basic: bool,
    /// Whether the request is possible without it.
    may_lack: bool,
}

fn used(http: &HttpDefinition) -> Vec<Used<'_>> {
    const TEXT: &[VariableKind] = &[VariableKind::Text, VariableKind::Secret];
    let kinds: &[VariableKind] = match http.url {
        Some(_) => &[VariableKind::Hosts],
        None => &[VariableKind::Base],
    };
    let plain =
        |place: String, name, kinds| Used { place, name, kinds, is_basic: false, may_lack: false };
    let mut used = vec![plain("http.base".to_owned(), &*http.base, kinds)];
    for (index, AuthDefinition { secret, basic, oauth2, .. }) in http.auth.iter().enumerate() {
        let at = auth_place(http, index);
        used.extend(
            secret.iter().map(|name| {
                plain(format!("http.{at}.secret"), name, &[VariableKind::Secret] as &[_])
            }),
        );
        for (member, name) in
            basic.iter().flat_map(|it| [("user", &it.user), ("password", &it.password)])
        {
            let place = format!("http.{at}.basic.{member}");
            used.push(Used { is_basic: true, ..plain(place, name, TEXT) });
        }
        if let Some(grant) = oauth2 {
            let OAuthDefinition { token_url, client_id, client_secret, username, password, .. } =
                grant;
            let place = |member| format!("http.{at}.oauth2.{member}");
            used.push(plain(place("token_url"), token_url, &[VariableKind::Url]));
            for (member, name) in [
                ("client_id", client_id),
                ("client_secret", client_secret),
                ("username", username),
                ("password", password),
            ] {
                let may_lack = username.is_some() && member.starts_with("client");
                let one = |name| Used { may_lack, ..plain(place(member), name, TEXT) };
                used.extend(name.iter().map(|name| one(name.as_str())));
            }
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
