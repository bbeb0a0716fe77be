//! The tools of a request.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use crate::gateway::conversation::request::{ClientTool, ServerEntry};
use crate::gateway::conversation::tool::{FunctionTool, Selection, Tool};
use crate::gateway::error::{GatewayError, Result};
use crate::gateway::fields::Fields;
use crate::gateway::format::adapter::names::portable_name;
use crate::gateway::notes::Notes;
use crate::gateway::raw_json::{raw_member, to_raw};
use crate::wire::{Json, Members};
use toolbooth::json::{self, Rendered, Value};
use toolbooth::schema::text::excerpt;

/// The name of `tool_search` as a function.
pub(super) const SEARCH: &str = "tool_search";

/// What `tool_search` needs if the request does not say so.
const SEARCH_PARAMETERS: &str =
    r#"{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}"#;

/// Types of tools that the client runs, in a form that only OpenAI's models know. So is a `shell` whose environment is `local`.
const ONLY_OPENAI: &[&str] = &["local_shell", "apply_patch", "computer", "computer_use_preview"];

/// The tools of a request, as they are read.
#[derive(Default)]
pub(super) struct Tools {
    pub(super) list: Vec<Tool>,
    pub(super) selections: Vec<Selection>,
    /// Those that the client knows in a form of Responses.
    pub(super) client: Vec<(String, ClientTool)>,
    /// Those that the client runs, and that are no functions: the JSON of each.
    pub(super) client_run: BTreeSet<String>,
    /// The types of these.
    pub(super) client_run_types: BTreeSet<String>,
    /// The position of each tool with a name in `list`, and how the client knows it.
    known: BTreeMap<String, (usize, Option<ClientTool>)>,
    /// Whether the tools are those of the conversation, which may repeat those of the request.
    pub(super) may_repeat: bool,
    /// Whether the conversation has a tool again with a different definition. The first one holds.
    pub(super) differ: bool,
    /// The longest description of a namespace: where it is, and how many characters it has.
    pub(super) longest_namespace: Option<(String, usize)>,
    /// Members that are lost if the request is translated.
    pub(super) lost: Vec<String>,
    pub(super) server: Option<ServerEntry>,
    /// The labels of other MCP servers.
    pub(super) other_servers: BTreeSet<String>,
}

/// The name of a tool of a namespace as a function: `namespace__name`, shortened if it is too long.
pub(super) fn flat_name(namespace: Option<&str>, name: &str) -> String {
    let Some(namespace) = namespace else { return name.to_owned() };
    portable_name(&format!("{namespace}__{name}"))
}

/// The name of a tool for models, and how the client knows it if that is not its name.
struct Name {
    name: String,
    client: Option<ClientTool>,
}

impl Name {
    fn of(tool: &mut Fields<'_>, namespace: Option<&str>) -> Result<Self> {
        let own = tool.name("name", "the tool's name")?;
        let name = flat_name(namespace, &own);
        let client = namespace
            .map(|namespace| ClientTool::Member { namespace: namespace.to_owned(), name: own });
        Ok(Self { name, client })
    }
}

impl Tools {
    /// Reads an array of tools at `path`.
    pub(super) fn read(
        &mut self,
        definitions: Option<Value<'_>>,
        json: Option<&RawValue>,
        path: &str,
        notes: &Notes,
    ) -> Result<()> {
        for tool in Fields::of_array(definitions, json, path, notes)? {
            let (tool, json) = tool?;
            self.tool(tool, json, None)?;
        }
        Ok(())
    }

    fn tool(
        &mut self,
        mut tool: Fields<'_>,
        json: &RawValue,
        namespace: Option<&str>,
    ) -> Result<()> {
        let kind = tool.name("type", "the type of a tool, such as \"function\"")?;
        if namespace.is_some() && !matches!(kind.as_str(), "function" | "custom") {
            return tool.expected("type", "\"function\" or \"custom\" in a namespace");
        }
        match kind.as_str() {
            "function" => self.function(tool, json, namespace),
            "custom" => self.custom(tool, namespace),
            "namespace" => {
                let name = tool.name("name", "the name of the namespace")?;
                if let Some(description) = tool.text("description")? {
                    let (path, length) = (tool.path_of("description"), description.chars().count());
                    self.lost.push(format!("{path} (namespace)"));
                    if self.longest_namespace.as_ref().is_none_or(|(_, most)| length > *most) {
                        self.longest_namespace = Some((path, length));
                    }
                }
                let path = tool.path_of("tools");
                let members = tool.take("tools");
                if !matches!(members, Some(Value::Array(_))) {
                    return tool.expected("tools", "an array of tools");
                }
                let json = raw_member(json, &["tools"]);
                for member in Fields::of_array(members, json, &path, tool.notes)? {
                    let (member, json) = member?;
                    self.tool(member, json, Some(&name))?;
                }
                self.finish(tool);
                Ok(())
            }
            SEARCH if tool.get("execution").and_then(Value::as_str) == Some("client") => {
                tool.take("execution");
                let parameters = match tool.take("parameters") {
                    Some(Value::Object(_)) => raw_member(json, &["parameters"]),
                    _ => None,
                };
                let parameters = parameters.map_or(SEARCH_PARAMETERS, RawValue::get);
                let description = tool.text("description")?;
                self.finish(tool);
                let name = Name { name: SEARCH.to_owned(), client: Some(ClientTool::Search) };
                self.add_function(name, description.as_deref(), Some(parameters), None)
            }
            "mcp" if tool.get("server_url").and_then(Value::as_str) == Some("toolbooth") => {
                self.server(tool)
            }
            it if ONLY_OPENAI.contains(&it) || it == "shell" && is_local(&tool) => {
                self.lost.push(format!("{} ({kind})", tool.path));
                self.client_run.insert(json.get().to_owned());
                self.client_run_types.insert(kind);
                Ok(())
            }
            _ => {
                if let Some(label) = tool.text("server_label")? {
                    self.other_servers.insert(label.into_owned());
                    self.check_labels(&tool.path)?;
                }
                self.list.push(Tool::Hosted { kind, json: json.to_owned() });
                Ok(())
            }
        }
    }

    fn function(
        &mut self,
        mut tool: Fields<'_>,
        json: &RawValue,
        namespace: Option<&str>,
    ) -> Result<()> {
        let name = Name::of(&mut tool, namespace)?;
        let parameters = match tool.take("parameters") {
            None => None,
            Some(Value::Object(_)) => raw_member(json, &["parameters"]).map(RawValue::get),
            Some(_) => return tool.expected("parameters", "a JSON Schema object"),
        };
        let description = tool.text("description")?;
        let strict = tool.boolean("strict")?;
        self.finish(tool);
        self.add_function(name, description.as_deref(), parameters, strict)
    }

    fn add_function(
        &mut self,
        name: Name,
        description: Option<&str>,
        parameters: Option<&str>,
        strict: Option<bool>,
    ) -> Result<()> {
        let Name { name, client } = name;
        let description = description.map(str::to_owned);
        let parameters = parameters.map(|json| to_raw(&Rendered(json))).transpose()?;
        let tool = FunctionTool {
            name: name.clone(),
            description,
            parameters,
            strict,
            cache_control: None,
            written: None,
        };
        self.add(name, Tool::Function(tool), client)
    }

    fn custom(&mut self, mut tool: Fields<'_>, namespace: Option<&str>) -> Result<()> {
        let Name { name, client } = Name::of(&mut tool, namespace)?;
        let description = tool.text("description")?;
        let format = match tool.fields("format")? {
            None => None,
            Some(mut format) => Some(match format.required_text("type")?.as_ref() {
                "text" => Json::Text(r#"{"type":"text"}"#.into()),
                "grammar" => {
                    let mut grammar = Members::default();
                    for name in ["syntax", "definition"] {
                        grammar.add(name, Some(Value::String(format.required_text(name)?)));
                    }
                    Json::from(&grammar.of_type("grammar"))
                }
                _ => return format.expected("type", "\"text\" or \"grammar\""),
            }),
        };
        let mut custom = Members::default();
        custom.add("name", Some(Value::from(name.as_str())));
        custom.add("description", description.as_deref().map(Value::from));
        custom.add("format", format);
        let json = to_raw(&custom.of_type("custom"))?;
        self.finish(tool);
        let description = description.map(Cow::into_owned);
        self.add(name.clone(), Tool::Custom { name, description, json }, client)
    }

    /// Adds a tool, unless it is known already.
    fn add(&mut self, name: String, tool: Tool, client: Option<ClientTool>) -> Result<()> {
        let Some((position, known)) = self.known.get(&name) else {
            self.client.extend(client.clone().map(|client| (name.clone(), client)));
            self.known.insert(name, (self.list.len(), client));
            self.list.push(tool);
            return Ok(());
        };
        if !self.may_repeat {
            return Err(Tool::repeated(&name));
        }
        let is_same =
            |first: &Tool| json::to_string(&first.json()) == json::to_string(&tool.json());
        if *known != client || !self.list.get(*position).is_some_and(is_same) {
            self.lost.push(format!("tools[] ({}, defined again)", excerpt(&name)));
            self.differ = true;
        }
        Ok(())
    }

    /// What is left of a tool is lost in a translation.
    fn finish(&mut self, tool: Fields<'_>) {
        let path = tool.path.clone();
        for (name, _) in tool.into_object() {
            self.lost.push(format!("{path}.{}", excerpt(&name)));
        }
    }

    /// An entry that selects compiled-in tools. Members that are not known are an error: one of them could be a misspelled
    /// `require_approval`.
    fn server(&mut self, mut entry: Fields<'_>) -> Result<()> {
        let label = entry.name("server_label", "a name for this server")?;
        for ignored in ["server_url", "server_description"] {
            entry.take(ignored);
        }
        let allowed = entry.tool_names("allowed_tools")?;
        let approval = entry.approval()?;
        let search = entry.search("defer_loading")?;
        let path = entry.path.clone();
        entry.reject_others("server_label, allowed_tools, require_approval and defer_loading")?;
        self.selections.push(Selection { path: path.clone(), allowed, approval, search });
        self.server.get_or_insert(ServerEntry { label, is_listed: false, tools: Vec::new() });
        self.check_labels(&path)
    }

    /// Items name a server by its label alone, so that none may have that of this server.
    fn check_labels(&self, path: &str) -> Result<()> {
        let own = self.server.as_ref().map(|server| &server.label);
        if !own.is_some_and(|own| self.other_servers.contains(own)) {
            return Ok(());
        }
        let path = format!("{path}.server_label");
        let message = format!("{path}: a different server must have a different label");
        Err(GatewayError::invalid(path, message))
    }

    /// What this server is called in items.
    pub(super) fn label(&self) -> &str {
        const USUAL: &str = "toolbooth";
        match &self.server {
            Some(server) => &server.label,
            None if self.other_servers.contains(USUAL) => "toolbooth-gateway",
            None => USUAL,
        }
    }
}

/// Whether the client runs the commands of a `shell`. Otherwise OpenAI does, in a container.
fn is_local(shell: &Fields<'_>) -> bool {
    let environment = shell.get("environment").and_then(|it| it.get("type"));
    environment.and_then(Value::as_str) == Some("local")
}
