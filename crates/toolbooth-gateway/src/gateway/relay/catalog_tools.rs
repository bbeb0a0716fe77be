//! The compiled-in tools that a request gives the model: which ones, and their calls.

use std::borrow::Cow;
use std::ptr;

use crate::gateway::conversation::ToolResult;
use crate::gateway::conversation::request::{ChatRequest, ModelTool};
use crate::gateway::conversation::tool::{Selection, Tool};
use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::format::adapter::Format;
use crate::gateway::notes::Notes;
use crate::gateway::relay::report::{RanCall, Report, ReportedChallenge};
use crate::providers::{for_model, tool_request};
use crate::wire::{Arguments, ToolCall};
use toolbooth::call::{Outcome, Rejection, RequestContext, Search, ToolRequest, ToolSelector};
use toolbooth::catalog::{self, Catalog, List};
use toolbooth::json::{self, Value};
use toolbooth::schema::text::excerpt;
use toolbooth::settings::{Allowlist, Permission};
use toolbooth::tool::Credentials;

/// The compiled-in tools of a request. The gateway runs their calls.
#[derive(Default)]
pub(in crate::gateway) struct CatalogTools {
    selected: Vec<Selected>,
    /// With which the model finds and calls the tools whose definitions it does not get, if there are any.
    search: Option<ModelSearch>,
}

struct Selected {
    tool: &'static catalog::Tool,
    /// Whether the user must approve its calls, so that the client gets them.
    needs_approval: bool,
    /// Whether the model gets its definition. Otherwise it must search for it.
    is_listed: bool,
}

#[derive(Clone, Copy)]
struct ModelSearch {
    search: Search,
    /// Where the names of tools that the model has found are looked up.
    catalog: &'static Catalog,
}

impl CatalogTools {
    /// Selects the tools that a request asks for, and those that the operator adds, among those that the caller may run. The
    /// error: an entry of the request selects nothing, or a tool has the name of one of the client's.
    pub(in crate::gateway) fn select<'s>(
        request: &ChatRequest,
        added: impl Iterator<Item = &'s String>,
        context: &RequestContext<'_>,
    ) -> Result<Self> {
        let mut all = Self::default();
        for selection in &request.selections {
            all.add_selection(selection, context)?;
        }
        if all.selected.iter().any(|it| !it.is_listed) {
            let catalog = context.pipeline.catalog;
            all.search = context.pipeline.search.map(|search| ModelSearch { search, catalog });
        }
        for tool in &request.tools {
            let Tool::Function(function) = tool else { continue };
            if all.has(&function.name) {
                let message = format!(
                    "Tool '{}' is also one of this server's tools; rename it, or narrow allowed",
                    excerpt(&function.name)
                );
                return Err(GatewayError::invalid("tools", message));
            }
        }
        for name in added {
            all.add_for_operator(name, &request.tools, context);
        }
        Ok(all)
    }

    /// Adds the tools of an entry of the request.
    fn add_selection(&mut self, selection: &Selection, context: &RequestContext<'_>) -> Result<()> {
        let catalog = context.pipeline.catalog;
        let search = match (&selection.search, context.pipeline.search) {
            (None, _) => None,
            (Some(_), Some(search)) => Some(search),
            (Some(path), None) => {
                let message = format!("{path}: this server does not serve the search in its tools");
                return Err(GatewayError::invalid(path.as_str(), message));
            }
        };
        let invalid = |message: String| {
            Err(GatewayError::invalid(format!("{}.allowed", selection.path), message))
        };
        // A misspelled name could be one whose calls the user must approve.
        let is_unknown = |name: &&String| {
            let only = Allowlist::only(vec![(*name).clone()]);
            !latest(catalog).any(|tool| tool.permission_in(&only) == Permission::Given)
        };
        if let Some(unknown) = selection.allowed.iter().flatten().find(is_unknown) {
            return invalid(format!(
                "allowed names \"{}\", which selects no tool of this server: name ids, names, or Toolkit.*",
                excerpt(unknown)
            ));
        }
        let allowed = selection.allowed.clone().map(Allowlist::only);
        let is_allowed = |tool: &&catalog::Tool| {
            let permission = allowed.as_ref().map(|allowed| tool.permission_in(allowed));
            permission.is_none_or(|it| it == Permission::Given) && context.allows(tool)
        };
        let mut tools = latest(catalog).filter(is_allowed).peekable();
        if tools.peek().is_none() {
            let message = "allowed must name tools of this server that the caller may call: \
                           ids, names, or Toolkit.*";
            return invalid(message.to_owned());
        }
        for tool in tools {
            let needs_approval = selection.approval.is_needed(tool.name, tool.read_only);
            let is_listed = search.is_none_or(|search| is_pinned(tool, search, catalog));
            // Of several entries, the strictest decides.
            match self.selected.iter_mut().find(|it| it.tool.name == tool.name) {
                Some(selected) => {
                    selected.needs_approval |= needs_approval;
                    selected.is_listed |= is_listed;
                }
                None => self.selected.push(Selected { tool, needs_approval, is_listed }),
            }
        }
        Ok(())
    }

    /// Adds the tools that a name of the operator selects, unless the client has a tool of that name, or has asked for it itself: these
    /// stay as they are.
    fn add_for_operator(&mut self, name: &str, clients: &[Tool], context: &RequestContext<'_>) {
        // The client cannot approve calls of tools that it has not named. By the name of a tool, the operator does.
        let is_approved = |tool: &catalog::Tool| tool.read_only || !name.ends_with(".*");
        let only = Allowlist::only(vec![name.to_owned()]);
        let is_added = |tool: &&catalog::Tool| {
            tool.permission_in(&only) == Permission::Given
                && is_approved(tool)
                && context.allows(tool)
                && self.tool(tool.name).is_none()
                && clients.iter().all(|own| own.name() != Some(tool.name))
        };
        let tools: Vec<_> = latest(context.pipeline.catalog).filter(is_added).collect();
        let select = |tool| Selected { tool, needs_approval: false, is_listed: true };
        self.selected.extend(tools.into_iter().map(select));
    }

    pub(in crate::gateway) fn is_empty(&self) -> bool {
        self.selected.is_empty()
    }

    /// The definitions in `format`, with a warning for each tool that it does not support.
    pub(in crate::gateway) fn definitions(
        &self,
        format: Format,
        context: &RequestContext<'_>,
        notes: &Notes,
    ) -> Result<Vec<Cow<'static, str>>> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let list = list_in(format, context)?;
        let mut definitions = Vec::new();
        for entry in list.entries {
            if !self.tool(entry.name).is_some_and(|it| it.is_listed) {
                continue;
            }
            if !entry.unsupported.is_empty() {
                let way = if entry.is_listed() { "wider for the provider" } else { "left out" };
                notes.warn(format!(
                    "Tool '{}' is {way}, which does not support {}",
                    entry.name,
                    entry.unsupported.join(", ")
                ));
            }
            if entry.is_listed() {
                definitions.push(list.json(entry).into());
            }
        }
        let of_search = self.search.iter().flat_map(|it| it.definitions(format));
        definitions.extend(of_search.map(|(_, json)| Cow::from(json)));
        Ok(definitions)
    }

    /// The tools, each as a function of Responses.
    pub(in crate::gateway) fn listed(
        &self,
        context: &RequestContext<'_>,
    ) -> Result<Vec<ModelTool>> {
        let list = list_in(Format::Responses, context)?;
        let tools = list.entries.iter().filter_map(|entry| {
            let definition = self.tool(entry.name)?.is_listed.then(|| list.json(entry).into());
            Some(ModelTool { name: entry.name, definition })
        });
        let of_search = self.search.iter().flat_map(|it| it.definitions(Format::Responses));
        let of_search =
            of_search.map(|(name, json)| ModelTool { name, definition: Some(json.into()) });
        Ok(tools.chain(of_search).collect())
    }

    /// Checks that a call which the user has approved is one of these tools.
    pub(in crate::gateway) fn check_approved(&self, call: &ToolCall<'_>) -> Result<()> {
        if self.target(call).is_some() {
            return Ok(());
        }
        let message = format!(
            "The call of \"{}\" was approved, but no entry of tools selects that tool",
            excerpt(&call.name)
        );
        Err(GatewayError::invalid("tools", message))
    }

    fn tool(&self, name: &str) -> Option<&Selected> {
        self.selected.iter().find(|it| it.tool.name == name)
    }

    /// The tool of the search with this name, if the model has it.
    fn of_search(&self, name: &str) -> Option<&'static catalog::Tool> {
        let ModelSearch { search, .. } = self.search?;
        [search.search_tool, search.call_tool].into_iter().find(|tool| tool.name == name)
    }

    /// Whether a tool of the model has this name.
    fn has(&self, name: &str) -> bool {
        self.tool(name).is_some() || self.of_search(name).is_some()
    }

    /// The tool that a call runs: its own, or the one that `call_tool` names, as the pipeline looks it up.
    fn target(&self, call: &ToolCall<'_>) -> Option<&Selected> {
        let catalog = match self.search {
            Some(it) if it.search.call_tool.name == call.name => it.catalog,
            _ => return self.tool(&call.name),
        };
        let arguments = input(call, &mut { json::MAX_VALUES }).ok()?;
        let name = arguments.get("name").and_then(Value::as_str)?;
        let tool = ToolSelector::Name(name.into()).resolve(catalog).ok()?;
        self.selected.iter().find(|it| ptr::eq(it.tool, tool))
    }

    /// Whether the gateway runs this call. The others are for the client, with those that the user must approve.
    pub(in crate::gateway) fn runs(&self, call: &ToolCall<'_>) -> bool {
        let runs = match self.target(call) {
            Some(target) => !target.needs_approval,
            // A search; or `call_tool` with the name of no such tool, which is an error for the model.
            None => self.of_search(&call.name).is_some(),
        };
        runs && !call.custom
    }

    /// Runs calls side by side, unless the caller's rate limit is reached; the results are in the order of the calls. The
    /// report gets the calls, and what the user must do before one of the tools can run.
    pub(in crate::gateway) async fn run(
        &self,
        calls: &[ToolCall<'static>],
        user: Option<&str>,
        context: &RequestContext<'_>,
        report: &mut Report,
    ) -> Result<Vec<ToolResult>> {
        // All argument strings of an answer share one limit.
        let mut values_left = json::MAX_VALUES;
        let requests = calls.iter().map(|call| self.request(call, user, &mut values_left));
        // Neither the search nor `call_tool` knows other tools.
        let only: Vec<_> = self.selected.iter().map(|it| it.tool).collect();
        let context = RequestContext { only: Some(&only), ..*context };
        let outcomes = context.call_all(requests.collect()).await?;
        let mut results = Vec::new();
        for (call, outcome) in calls.iter().zip(outcomes) {
            if let Outcome::Rejected(Rejection::MissingRequirements(missing)) = &outcome
                && let Some(challenge) = missing.challenges.first()
            {
                report.challenge.get_or_insert_with(|| ReportedChallenge {
                    provider: challenge.provider.clone(),
                    url: challenge.url.clone(),
                    check_url: challenge.check_url.clone(),
                });
            }
            let ms = match outcome {
                Outcome::Done { duration_ms, .. } | Outcome::Failed { duration_ms, .. } => {
                    duration_ms
                }
                _ => 0,
            };
            let name = self.target(call).map_or(&*call.name, |it| it.tool.name);
            let result = for_model(outcome, name);
            let is_error = result.is_err();
            let content = match result {
                Ok(serde_json::Value::String(text)) | Err(text) => text,
                Ok(value) => json::to_string(&value),
            };
            report.ran.push(RanCall {
                id: call.id.to_string(),
                tool: name.to_owned(),
                called: call.name.to_string(),
                arguments: call.arguments.text().into_owned(),
                output: content.clone(),
                ms,
                error: is_error.then(|| excerpt(&content)),
            });
            results.push(ToolResult {
                call_id: call.id.to_string(),
                name: call.name.to_string(),
                is_error,
                content: content.into(),
            });
        }
        Ok(results)
    }

    fn request<'t>(
        &self,
        call: &'t ToolCall<'static>,
        user: Option<&str>,
        values_left: &mut usize,
    ) -> Result<ToolRequest<'t>, Rejection> {
        let tool = match (self.of_search(&call.name), self.tool(&call.name)) {
            // The pipeline makes a call of `call_tool` one of the tool that it names.
            (Some(tool), _) => ToolSelector::Name(tool.name.into()),
            (None, Some(selected)) => ToolSelector::Resolved(selected.tool),
            (None, None) => return Err(Rejection::InvalidToolId { meant: None }),
        };
        let request = tool_request(tool, input(call, values_left)?);
        let credentials =
            Credentials { user_id: user.map(str::to_owned), ..Credentials::default() };
        Ok(ToolRequest { credentials, ..request })
    }
}

/// The latest version of each tool, which has its plain name.
fn latest(catalog: &'static Catalog) -> impl Iterator<Item = &'static catalog::Tool> {
    let is_latest = move |tool: &&catalog::Tool| {
        catalog.named(tool.name).is_some_and(|latest| latest.version == tool.version)
    };
    catalog.tools.iter().filter(is_latest)
}

/// The list of this server's tools in a format.
fn list_in(format: Format, context: &RequestContext<'_>) -> Result<&'static List> {
    context.list(format.adapter().list).map_err(|rejection| {
        GatewayError::new(ErrorKind::NotConfigured, rejection.describe().to_string())
    })
}

/// Whether the search always lists a tool.
fn is_pinned(tool: &catalog::Tool, search: Search, catalog: &Catalog) -> bool {
    let mut pinned = search.index.pinned.iter().filter_map(|at| catalog.tools.get(*at));
    pinned.any(|one| ptr::eq(one, tool))
}

/// The input of a call, whose size has been checked.
fn input<'t>(call: &'t ToolCall<'_>, values_left: &mut usize) -> Result<Value<'t>, Rejection> {
    let text = match &call.arguments {
        Arguments::Text(text) => text.trim(),
        _ => "",
    };
    Arguments::Text(text.into()).parse(usize::MAX, values_left).map_err(Rejection::Malformed)
}

impl ModelSearch {
    /// `search_tools` and `call_tool` as tools of `format`: their names, and their JSON.
    fn definitions(self, format: Format) -> Vec<(&'static str, String)> {
        let [before, schema, after] = format.adapter().function;
        let Self { search, .. } = self;
        let listed = format!("[{}]", search.listed);
        let listed = json::parse(&listed).unwrap_or_default();
        let tools = [search.search_tool, search.call_tool].into_iter();
        let tools = tools.zip(listed.as_array().unwrap_or_default()).map(|(tool, listed)| {
            let member = |name: &str| json::to_string(&listed.get(name));
            let [name, description] = ["name", "description"].map(member);
            let parameters = member("inputSchema");
            let json = format!(
                r#"{before}"name":{name},"description":{description},"{schema}":{parameters}{after}"#
            );
            (tool.name, json)
        });
        tools.collect()
    }
}
