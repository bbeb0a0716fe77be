//! Checks the views of tools (`ui`), and collects each view once.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toml::Table;
use toolbooth::catalog::{Csp, Definition, Ui};
use toolbooth::protocol::VIEW_FORM;

use crate::bindings::{FILE, Wrangler};
use crate::entry::Entry;
use crate::names::consists_of;
use crate::problem::{Problem, Problems};
use crate::source::{Source, VIEW_ENDS};

/// A view with the tools that it belongs to.
#[derive(Debug)]
pub(crate) struct BuiltView {
    /// Its address.
    pub(crate) uri: String,
    /// The indexes of the tools.
    pub(crate) tools: Vec<usize>,
    /// The settings of its resource.
    pub(crate) meta: Value,
}

impl BuiltView {
    /// Its entry in the list of resources.
    pub(crate) fn entry(&self, entries: &[Entry]) -> String {
        let tools = self.tools.iter().filter_map(|at| entries.get(*at));
        let ids: Vec<_> = tools.map(|entry| entry.definition.id.as_str()).collect();
        (VIEW_FORM.entry)(&self.uri, &ids, &self.meta).to_string()
    }

    /// The code of its row.
    pub(crate) fn rust(&self) -> String {
        let Self { uri, tools, meta } = self;
        let meta = meta.to_string();
        format!("toolbooth::catalog::View {{ uri: {uri:?}, tools: &{tools:?}, meta: {meta:?} }}, ")
    }
}

/// Checks the member `ui` of one definition.
pub(crate) fn check(definition: &Definition, problems: &mut Problems<'_>) {
    let Some(ui) = &definition.ui else { return };
    let mut problems = problems.within("ui");
    if ui.file.is_none() {
        for (name, value) in settings(ui) {
            if value.is_some() {
                problems.add(format!(".{name}"), "is for a view, but there is no file");
            }
        }
        if definition.is_for_models() {
            problems.add(
                "",
                "changes nothing; expected a file, or \"visibility\": [\"app\"] for a tool that only views call",
            );
        }
    }
    if let Some(file) = &ui.file
        && !VIEW_ENDS
            .iter()
            .any(|end| file.strip_suffix(end).is_some_and(|name| consists_of(name, b"-_")))
    {
        let message = format!(
            "is {file:?}; expected a file in the folder of the toolkit, such as chart.html or chart.tsx"
        );
        problems.add(".file", message);
    }
    if let Some(domain) = ui.domain.as_ref().filter(|domain| !is_host(domain)) {
        let message = format!(
            "is {domain:?}; expected the name of a host in the form of those that show the view, such as www-example-com.oaiusercontent.com"
        );
        problems.add(".domain", message);
    }
    if ui.visibility.is_empty() {
        problems.add(".visibility", "is empty; expected \"model\", \"app\" or both");
    }
    for (index, one) in ui.visibility.iter().enumerate() {
        if ui.visibility.iter().take(index).any(|earlier| earlier == one) {
            problems.add(format!(".visibility[{index}]"), "is listed twice");
        }
    }
    for (list, origins) in ui.csp.iter().flat_map(Csp::lists) {
        for (index, origin) in origins.iter().enumerate().filter(|(_, origin)| !is_origin(origin)) {
            let message = format!(
                "is {origin:?}; expected an origin without a path, such as https://api.example.com, https://*.example.com or http://localhost:3000"
            );
            problems.add(format!(".csp.{list}[{index}]"), message);
        }
    }
    if ui.file.is_some() && definition.output_schema.as_ref().is_some_and(looks_wrapped) {
        problems.add(
            ".file",
            "shows an object in which \"result\" may be the only member: views would take it for MCP's wrapper of values that are not objects; \
             expected a different name, or another member in `required` of the output_schema",
        );
    }
}

/// The settings of the view itself, with the names of the members: all of its tools have the same.
fn settings(ui: &Ui) -> [(&'static str, Option<Value>); 4] {
    let Ui { csp, permissions, prefers_border, domain, .. } = ui;
    [
        ("csp", csp.as_ref().map(|it| json!(it))),
        ("permissions", permissions.as_ref().map(|it| json!(it))),
        ("prefersBorder", prefers_border.map(Value::from)),
        ("domain", domain.as_ref().map(|it| json!(it))),
    ]
}

/// Whether views misread some values of a tool: MCP wraps a value that is no object in one with the member `result`, and hosts pass on
/// nothing that would tell the two apart.
fn looks_wrapped(output: &Map<String, Value>) -> bool {
    let is_object = output.get("type").is_some_and(|kind| kind == "object");
    let has_result = output.get("properties").is_some_and(|it| it.get("result").is_some());
    let required = output.get("required").and_then(Value::as_array);
    let is_other = |name: &Value| name != "result";
    is_object && has_result && !required.is_some_and(|names| names.iter().any(is_other))
}

/// Whether a text is a name of a host on the web, such as `www-example-com.oaiusercontent.com`.
fn is_host(text: &str) -> bool {
    text.split('.').all(is_label) && text.contains('.')
}

fn is_label(label: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !label.is_empty() && label.bytes().all(fits)
}

/// Whether a text is an origin of the web, which may have a wildcard for its subdomains. Without TLS, only one of the user's own machine, as
/// in development. A policy cannot have other addresses of IP.
fn is_origin(text: &str) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else { return false };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let name = host.strip_prefix("*.").unwrap_or(host);
    let is_named_local = name == "localhost" || name.ends_with(".localhost") && is_host(name);
    let is_local = is_named_local || host == "127.0.0.1";
    let is_scheme = match scheme {
        "https" | "wss" => true,
        "http" | "ws" => is_local,
        _ => false,
    };
    // A wildcard for a whole top-level domain would allow everybody.
    is_scheme
        && (is_local || is_host(name))
        && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// The views of the catalogue, sorted by address. Reports missing files, and tools that do not agree on the settings of their view.
pub(crate) fn catalogue(
    source: &Source,
    entries: &[Entry],
    problems: &mut Vec<Problem>,
) -> Vec<BuiltView> {
    let mut views: BTreeMap<String, (&Entry, &Ui, Vec<usize>)> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let Definition { ui, .. } = &entry.definition;
        let (Some(ui), Some(uri)) = (ui, entry.definition.view_uri()) else { continue };
        let path = uri.trim_start_matches("ui://");
        if !source.views.contains(path) {
            let message = format!("names {}, which does not exist", source.display(path));
            problems.push(entry.problem("ui.file", message));
        }
        let (first, first_ui, tools) = views.entry(uri).or_insert_with(|| (entry, ui, Vec::new()));
        for ((name, value), (_, others)) in settings(ui).into_iter().zip(settings(first_ui)) {
            if value != others {
                let message = format!(
                    "differs from that of {}, which has the same view; they must be equal",
                    first.file
                );
                problems.push(entry.problem(format!("ui.{name}"), message));
            }
        }
        tools.push(at);
    }
    let built = |(uri, (_, ui, tools)): (_, (&Entry, &Ui, _))| BuiltView {
        uri,
        tools,
        meta: (VIEW_FORM.meta)(ui),
    };
    views.into_iter().map(built).collect()
}

/// A warning if the Worker has no static assets, where the pages of views are.
pub(crate) fn unserved(wrangler: Option<&Wrangler>, views: &[BuiltView]) -> Option<Problem> {
    let view = views.first()?;
    let config: Table = wrangler?.text.parse().ok()?;
    let binding = config.get("assets").and_then(|assets| assets.get("binding"));
    let message = format!(
        "has no binding ASSETS, so that no client can read {}; expected [assets] with binding = \"ASSETS\"",
        view.uri
    );
    let is_bound = binding.and_then(toml::Value::as_str) == Some("ASSETS");
    (!is_bound).then(|| Problem::new(FILE, "assets", message))
}
