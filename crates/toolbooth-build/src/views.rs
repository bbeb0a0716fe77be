//! Checks the views of tools (`ui`), and collects each view once.

use std::collections::BTreeMap;

use serde_json::Value;
use toml::Table;
use toolbooth::catalog::{Csp, Definition};
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
        if ui.csp.is_some() {
            problems.add(".csp", "is for a view, but there is no file");
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
    if ui.visibility.is_empty() {
        problems.add(".visibility", "is empty; expected \"model\", \"app\" or both");
    }
    for (index, one) in ui.visibility.iter().enumerate() {
        if ui.visibility.iter().take(index).any(|earlier| earlier == one) {
            problems.add(format!(".visibility[{index}]"), "is there twice");
        }
    }
    for (list, origins) in ui.csp.iter().flat_map(Csp::lists) {
        for (index, origin) in origins.iter().enumerate().filter(|(_, origin)| !is_origin(origin)) {
            let message = format!(
                "is {origin:?}; expected an origin without a path, such as https://api.example.com or https://*.example.com"
            );
            problems.add(format!(".csp.{list}[{index}]"), message);
        }
    }
}

/// Whether a text is an origin of the web, which may have a wildcard for its subdomains. Without TLS, only one on the same machine.
fn is_origin(text: &str) -> bool {
    let Some((scheme, authority)) = text.split_once("://") else { return false };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let is_local = matches!(host, "localhost" | "127.0.0.1");
    let is_scheme = match scheme {
        "https" | "wss" => true,
        "http" | "ws" => is_local,
        _ => false,
    };
    let is_label = |label: &str| {
        let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && label.bytes().all(fits)
    };
    let host = host.strip_prefix("*.").unwrap_or(host);
    // A wildcard for a whole top-level domain would allow everybody.
    let is_host = host.split('.').all(is_label) && (is_local || host.contains('.'));
    is_scheme && is_host && port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port > 0))
}

/// The views of the catalogue, sorted by address. Reports missing files, and tools that do not agree on the origins of their view.
pub(crate) fn catalogue(
    source: &Source,
    entries: &[Entry],
    problems: &mut Vec<Problem>,
) -> Vec<BuiltView> {
    let mut views: BTreeMap<String, (&Entry, Vec<usize>)> = BTreeMap::new();
    for (at, entry) in entries.iter().enumerate() {
        let Some(uri) = entry.definition.view_uri() else { continue };
        let path = uri.trim_start_matches("ui://");
        if !source.views.contains(path) {
            let message = format!("names {}, which does not exist", source.display(path));
            problems.push(entry.problem("ui.file", message));
        }
        let (first, tools) = views.entry(uri).or_insert_with(|| (entry, Vec::new()));
        if csp(first) != csp(entry) {
            let message =
                format!("is not that of {}, which has the same view; repeat it", first.file);
            problems.push(entry.problem("ui.csp", message));
        }
        tools.push(at);
    }
    let built = |(uri, (first, tools)): (_, (&Entry, _))| BuiltView {
        uri,
        tools,
        meta: (VIEW_FORM.meta)(csp(first)),
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

fn csp(entry: &Entry) -> Option<&Csp> {
    entry.definition.ui.as_ref()?.csp.as_ref()
}
