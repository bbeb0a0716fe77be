//! Checks the tools that complete the arguments of prompts and the names in the URIs of resources.

use serde_json::Value;
use toolbooth::catalog::{Completion, Definition};

use crate::entry::Entry;
use crate::problem::{Problem, Problems};

/// Checks that a completion receives only arguments `of` the same prompt or URI.
pub(crate) fn check(completion: &Completion, of: &[&str], mut problems: Problems<'_>) {
    for name in completion.with.iter().filter(|name| !of.contains(&name.as_str())) {
        problems.add(".with", format!("contains {name:?}, which is not an argument here"));
    }
}

/// Checks across definitions: what completes an argument must be a tool that can.
pub(crate) fn catalogue(entries: &[Entry]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in entries {
        for (place, completion) in completions(&entry.definition) {
            let tool = entries
                .iter()
                .rev()
                .find(|it| Some(it.tool_id()) == completion.tool.split_once('.'));
            let found =
                match tool {
                    None => Err("is not a tool of the catalogue; expected an id without a version"
                        .to_owned()),
                    Some(tool) => completes(&tool.definition, &completion.with),
                };
            if let Err(message) = found {
                let tool = &completion.tool;
                problems
                    .push(entry.problem(format!("{place}.tool"), format!("{tool:?} {message}")));
            }
        }
    }
    let hidden = entries.iter().filter(|entry| !entry.definition.is_listed());
    problems.extend(hidden.filter_map(|entry| unused(entry, entries)));
    problems
}

/// A tool in no list that does something else than to complete arguments, or nothing at all.
fn unused(hidden: &Entry, entries: &[Entry]) -> Option<Problem> {
    let Definition { prompts, resources, ui, .. } = &hidden.definition;
    let is_of_hidden = |it: &Completion| Some(hidden.tool_id()) == it.tool.split_once('.');
    let completes = |entry: &Entry| completions(&entry.definition).any(|(_, it)| is_of_hidden(it));
    let message = if !prompts.is_empty() || !resources.is_empty() || ui.is_some() {
        "is \"never\", but the tool has prompts, resources or a view; expected a tool that only completes arguments"
    } else if !entries.iter().any(completes) {
        "is \"never\", but the tool completes no argument: nobody would find it"
    } else {
        return None;
    };
    Some(hidden.problem("listed", message))
}

/// The completions of a definition, with their places.
fn completions(definition: &Definition) -> impl Iterator<Item = (String, &Completion)> {
    let resources = definition.resources.iter().enumerate().flat_map(|(at, resource)| {
        let all = resource.complete.iter();
        all.map(move |(name, completion)| (format!("resources[{at}].complete.{name}"), completion))
    });
    let prompts = definition.prompts.iter().enumerate().flat_map(|(at, prompt)| {
        let all = prompt.arguments.iter().enumerate();
        all.filter_map(move |(argument, it)| {
            Some((format!("prompts[{at}].arguments[{argument}].complete"), it.complete.as_ref()?))
        })
    });
    resources.chain(prompts)
}

/// Whether a tool can complete arguments: it takes `value` and the names in `with`, and returns a list of strings.
fn completes(tool: &Definition, with: &[String]) -> Result<(), String> {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object);
    let is_string = |name: &str| {
        let parameter = properties.and_then(|all| all.get(name));
        parameter.and_then(|it| it.get("type")).is_some_and(|kind| kind == "string")
    };
    for name in ["value"].into_iter().chain(with.iter().map(String::as_str)) {
        if !is_string(name) {
            return Err(format!("does not complete: it needs the parameter {name:?}, a string"));
        }
    }
    let required =
        tool.input_schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str) {
        if name != "value" && !with.iter().any(|it| it == name) {
            return Err(format!("does not complete: it requires {name:?}, which is not in `with`"));
        }
    }
    let output = tool.output_schema.as_ref();
    let items = output.and_then(|it| it.get("items")?.get("type"));
    let kind = output.and_then(|it| it.get("type"));
    if kind.is_none_or(|kind| kind != "array") || items.is_none_or(|kind| kind != "string") {
        return Err("does not complete: its output_schema must be a list of strings".to_owned());
    }
    if !tool.annotations.read_only {
        return Err("does not complete: it must be read_only, because it runs while a user types"
            .to_owned());
    }
    Ok(())
}
