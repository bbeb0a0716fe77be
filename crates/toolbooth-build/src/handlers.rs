//! Finds the function that runs each tool. A missing one gets a better message here than from rustc.

use std::collections::BTreeMap;

use syn::{FnArg, GenericParam, Item, ItemFn, ReturnType, Type, UseTree, Visibility};

use crate::entry::Entry;
use crate::names::{escaped, snake_case};
use crate::problem::Problem;
use crate::source::Source;

/// The function that runs a tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Handler {
    /// In Rust.
    Rust {
        /// The module of the toolkit, as in `lib.rs`.
        module: String,
        /// The name of the function, as in the file: `r#match` for `match`.
        function: String,
    },
    /// In TypeScript: the default export of the file with this path, without `.ts`.
    TypeScript(String),
    /// In another Worker: the one that is bound by this name.
    Service(String),
}

/// Returns the handler of each entry, in the order of the entries; none for a tool that only sends a request. Reports Rust files that do not parse, toolkits that
/// `lib.rs` does not declare, tools without a function or with two, and functions with the wrong signature.
///
/// The function has the tool's name in snake case; one in TypeScript has a file of that name. A version may have its own:
/// version 1.1.0 runs the first that exists of `slugify_1_1_0`, `slugify_1_1`, `slugify_1` and `slugify`.
pub(crate) fn find(
    source: &Source,
    entries: &[Entry],
    problems: &mut Vec<Problem>,
) -> Vec<Option<Handler>> {
    let library = Names::of(source, "lib.rs", problems);
    let mut toolkits = BTreeMap::new();
    let mut handlers = Vec::new();
    for entry in entries {
        if entry.definition.http.is_some() {
            handlers.push(None);
            continue;
        }
        if let Some(binding) = &entry.definition.service {
            handlers.push(Some(Handler::Service(binding.clone())));
            continue;
        }
        let folder = entry.toolkit.to_ascii_lowercase();
        let code = format!("{folder}/mod.rs");
        let candidates = candidates(entry);
        let script = |name: &String| source.scripts.contains(&format!("{folder}/{name}.ts"));
        let scripted = candidates.iter().position(script);
        let plain = escaped(candidates.last().map_or("", String::as_str));
        let no_handler = || {
            let code = source.display(&code);
            let script = source.display(&format!("{folder}/{}.ts", bare(&plain)));
            entry.problem("", format!("has no handler; expected `pub(crate) async fn {plain}` in {code}, or the file {script}"))
        };
        // A toolkit may have no Rust at all.
        if !source.files.contains_key(&code) {
            match scripted.and_then(|at| candidates.get(at)) {
                Some(name) => {
                    handlers.push(Some(Handler::TypeScript(format!("{folder}/{name}"))));
                }
                None => problems.push(no_handler()),
            }
            continue;
        }
        let (module, names) = toolkits.entry(folder.clone()).or_insert_with(|| {
            let module = library.modules.iter().find(|name| bare(name) == folder).cloned();
            if module.is_none() && library.is_rust {
                let expected = escaped(&folder);
                let message = format!("does not declare the toolkit; expected `mod {expected};`");
                problems.push(Problem::new(source.display("lib.rs"), "", message));
            }
            (module.unwrap_or_default(), Names::of(source, &code, problems))
        });
        let in_rust = candidates.iter().position(|name| names.find(name).is_some());
        // The more specific name counts.
        if let Some((at, name)) = scripted.and_then(|at| Some((at, candidates.get(at)?)))
            && in_rust.is_none_or(|rust| at <= rust)
        {
            if in_rust == Some(at) {
                let script = source.display(&format!("{folder}/{name}.ts"));
                let code = source.display(&code);
                let message =
                    format!("has two functions, {script} and `{name}` in {code}; expected one");
                problems.push(entry.problem("", message));
            }
            handlers.push(Some(Handler::TypeScript(format!("{folder}/{name}"))));
            continue;
        }
        let found = in_rust.and_then(|at| names.find(candidates.get(at)?));
        if let Some(found) = found {
            if let Some((line, wrong)) = &found.wrong {
                let name = &found.name;
                let message = format!(
                    "`{name}` {wrong}; expected `pub(crate) async fn {name}(input: {name}::Input, context: &Context<'_>) -> Result<{name}::Output, ToolError>`"
                );
                let place = format!("{}:{line}", source.display(&code));
                let problem = Problem::new(place, "", message);
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            let (module, function) = (module.clone(), found.name.clone());
            handlers.push(Some(Handler::Rust { module, function }));
        } else if names.is_rust {
            problems.push(no_handler());
        }
    }
    handlers
}

/// The name without `r#`.
fn bare(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Function names from the most specific to the plain one.
fn candidates(entry: &Entry) -> Vec<String> {
    let plain = snake_case(&entry.tool);
    let version = &entry.definition.version;
    vec![
        format!("{plain}_{}_{}_{}", version.major, version.minor, version.patch),
        format!("{plain}_{}_{}", version.major, version.minor),
        format!("{plain}_{}", version.major),
        plain,
    ]
}

struct Function {
    name: String,
    /// Whether the crate can see it.
    visible: bool,
    /// The line, and what is wrong with the signature. Unknown for a re-export.
    wrong: Option<(usize, &'static str)>,
}

/// The names in a Rust file.
#[derive(Default)]
struct Names {
    /// Whether the file parses. If not, that is the only problem to report: what it lacks is unknown.
    is_rust: bool,
    modules: Vec<String>,
    /// Functions, and visible re-exports that may be functions.
    functions: Vec<Function>,
}

impl Names {
    fn of(source: &Source, path: &str, problems: &mut Vec<Problem>) -> Self {
        let text = source.files.get(path).map(String::as_str).unwrap_or_default();
        let mut names = Self::default();
        let file = match syn::parse_file(text) {
            Ok(file) => file,
            Err(error) => {
                let message = format!("is not valid Rust: {error}");
                let place = format!("{}:{}", source.display(path), error.span().start().line);
                problems.push(Problem::new(place, "", message));
                return names;
            }
        };
        names.is_rust = true;
        for item in &file.items {
            match item {
                Item::Fn(function) => names.functions.push(Function::of(function)),
                Item::Mod(module) => names.modules.push(module.ident.to_string()),
                Item::Use(import) if !matches!(import.vis, Visibility::Inherited) => {
                    imported(&import.tree, &mut names.functions);
                }
                _ => {}
            }
        }
        names
    }

    /// The function `wanted`; a private one only counts if there is no other.
    fn find(&self, wanted: &str) -> Option<&Function> {
        let named = || self.functions.iter().filter(|function| bare(&function.name) == wanted);
        named().find(|function| function.visible).or_else(|| named().next())
    }
}

impl Function {
    fn of(function: &ItemFn) -> Self {
        let signature = &function.sig;
        let visible = !matches!(function.vis, Visibility::Inherited);
        let types: Vec<&Type> = signature.inputs.iter().filter_map(type_of).collect();
        let takes_types = types.iter().any(|it| matches!(it, Type::ImplTrait(_)))
            || signature.generics.params.iter().any(|it| !matches!(it, GenericParam::Lifetime(_)));
        let is_future = signature.asyncness.is_some()
            || match &signature.output {
                ReturnType::Type(_, output) => match &**output {
                    Type::ImplTrait(_) => true,
                    Type::Path(path) => {
                        let last = path.path.segments.last();
                        last.is_some_and(|last| last.ident.to_string().contains("Future"))
                    }
                    _ => false,
                },
                ReturnType::Default => false,
            };
        let wrong = if !visible {
            Some("is private")
        } else if !is_future {
            Some("is not async")
        } else if signature.inputs.len() != 2 {
            Some("must have two arguments")
        } else if !matches!(types.last(), Some(Type::Reference(_))) {
            Some("must take `&Context<'_>` as its second argument")
        } else if matches!(signature.output, ReturnType::Default) {
            Some("returns nothing")
        } else if takes_types {
            Some("has type parameters")
        } else {
            None
        };
        let line = signature.ident.span().start().line;
        let wrong = wrong.map(|wrong| (line, wrong));
        Self { name: signature.ident.to_string(), visible, wrong }
    }
}

fn type_of(argument: &FnArg) -> Option<&Type> {
    match argument {
        FnArg::Typed(argument) => Some(&argument.ty),
        FnArg::Receiver(_) => None,
    }
}

fn imported(tree: &UseTree, names: &mut Vec<Function>) {
    let function =
        |name: &syn::Ident| Function { name: name.to_string(), visible: true, wrong: None };
    match tree {
        UseTree::Path(path) => imported(&path.tree, names),
        UseTree::Name(name) => names.push(function(&name.ident)),
        UseTree::Rename(rename) => names.push(function(&rename.rename)),
        UseTree::Group(group) => group.items.iter().for_each(|tree| imported(tree, names)),
        UseTree::Glob(_) => {}
    }
}
