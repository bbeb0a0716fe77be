//! Skills (the extension `io.modelcontextprotocol/skills`): instructions for models, with the tools that they need.
//!
//! They are listed to callers who may run these tools. Their files are resources, and each skill is also a prompt.

use serde::Serialize;
use serde_json::json;

use super::error::McpError;
use super::message::McpRequest;
use super::pagination;
use super::response::CacheScope;
use crate::call::RequestContext;
use crate::catalog::{Entry, List, ListForm, Rendering, Skill, SkillForm};
use crate::http::Response;
use crate::json::{self, Rendered, Value};
use crate::protocol::definition::array;

/// The skills, for `skills/list`.
pub(super) const LIST: ListForm = array("mcp-skills", |_| Rendering::Omitted);

/// The texts of their files, for `resources/read`.
pub(super) const FILES: ListForm = array("mcp-files", |_| Rendering::Omitted);

/// What the lists have of each skill, at build time.
pub(crate) const FORMS: &[SkillForm] = &[
    SkillForm { list: LIST.name, entry: render },
    SkillForm { list: FILES.name, entry: render_files },
    SkillForm { list: super::resources::LIST.name, entry: render_resource },
    SkillForm { list: super::prompts::LIST.name, entry: render_prompt },
];

/// The settings of the extension, if the catalogue has skills.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SkillSettings {
    directory_read: bool,
}

impl SkillSettings {
    pub(super) fn of(context: &RequestContext<'_>) -> Option<Self> {
        are_served(context).then_some(Self { directory_read: true })
    }
}

/// Whether the catalogue has skills.
pub(super) fn are_served(context: &RequestContext<'_>) -> bool {
    context.pipeline.catalog.list(LIST.name).is_some_and(|list| !list.entries.is_empty())
}

/// The methods of the extension; `None` for every other method.
#[inline(never)]
pub(super) fn respond(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Option<Result<Response, McpError>> {
    Some(match &*request.method {
        "skills/list" => pagination::list("skills", LIST.name, request, context),
        "skills/get" => get(request, context),
        "resources/directory/read" => read_directory(request, context),
        _ => return None,
    })
}

/// `skills/get`: a skill by the address of its `SKILL.md`.
fn get(request: &McpRequest<'_>, context: &RequestContext<'_>) -> Result<Response, McpError> {
    #[derive(Serialize)]
    struct GetSkillResult<'a> {
        skill: Rendered<'a>,
    }
    let uri = address(request)?;
    let mut skills = entries(LIST, context);
    let found = skills.find(|(_, it)| uri.strip_prefix(it.name) == Some("SKILL.md"));
    let Some((list, entry)) = found else {
        return Err(McpError::invalid_params(
            "uri is not the SKILL.md of a skill; skills/list returns the available ones",
        ));
    };
    let result = GetSkillResult { skill: Rendered(list.json(entry)) };
    Ok(request.cacheable_result(&result, CacheScope::of(context)))
}

/// `resources/directory/read`: the files and folders in a folder, which is that of a skill, or above or below it.
fn read_directory(
    request: &McpRequest<'_>,
    context: &RequestContext<'_>,
) -> Result<Response, McpError> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Child<'a> {
        uri: String,
        name: &'a str,
        mime_type: &'static str,
    }
    pagination::check_no_cursor(request)?;
    let folder = format!("{}/", address(request)?);
    let files: Vec<String> = entries(FILES, context)
        .filter(|(_, it)| it.name.starts_with(&folder) || folder.starts_with(it.name))
        .flat_map(|(list, entry)| texts(list, entry))
        .map(|(uri, _)| uri)
        .collect();
    let mut children: Vec<Child<'_>> = Vec::new();
    for path in files.iter().filter_map(|uri| uri.strip_prefix(&folder)) {
        let (name, mime_type) = match path.split_once('/') {
            Some((name, _)) => (name, "inode/directory"),
            None => (path, media_type(path)),
        };
        if !children.iter().any(|child| child.name == name) {
            children.push(Child { uri: format!("{folder}{name}"), name, mime_type });
        }
    }
    if children.is_empty() {
        return Err(McpError::invalid_params("uri is not the folder of a skill, or in one"));
    }
    Ok(pagination::respond("resources", &json::to_string(&children), None, request, context))
}

/// The text and the media type of a file of a skill.
pub(super) fn file(uri: &str, context: &RequestContext<'_>) -> Option<(&'static str, String)> {
    let (list, entry) = entries(FILES, context).find(|(_, it)| uri.starts_with(it.name))?;
    let (_, text) = texts(list, entry).into_iter().find(|(known, _)| known == uri)?;
    Some((media_type(uri), text))
}

/// The skill of this name as a prompt without arguments.
pub(super) fn prompt(name: &str, context: &RequestContext<'_>) -> Option<Value<'static>> {
    let is_named =
        |entry: &Entry| entry.name.trim_end_matches('/').rsplit('/').next() == Some(name);
    let (list, entry) = entries(super::prompts::LIST, context).find(|(_, it)| is_named(it))?;
    let Ok(Value::Object(mut prompt)) = json::parse(list.json(entry)) else { return None };
    let (_, text) = file(&format!("{}SKILL.md", entry.name), context)?;
    prompt.insert("text".into(), Value::String(text.into()));
    Some(Value::Object(prompt))
}

/// The skills in a list whose tools the caller may run.
fn entries(
    form: ListForm,
    context: &RequestContext<'_>,
) -> impl Iterator<Item = (&'static List, &'static Entry)> {
    let list = context.pipeline.catalog.list(form.name);
    list.into_iter().flat_map(|list| context.allowed_entries(list).map(move |entry| (list, entry)))
}

/// The addresses and the texts of the files of a skill. The build has serialized them, so they deserialize.
fn texts(list: &List, entry: &Entry) -> Vec<(String, String)> {
    json::read(list.json(entry).as_bytes()).unwrap_or_default()
}

fn address<'r>(request: &'r McpRequest<'_>) -> Result<&'r str, McpError> {
    let uri = request.params.get("uri").and_then(Value::as_str);
    uri.ok_or_else(|| McpError::invalid_params("uri must be a string"))
}

/// The media type of a file, by the end of its name.
fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, end)| end) {
        "md" => super::documentation::MARKDOWN,
        "json" => "application/json",
        "yaml" | "yml" => "application/yaml",
        "csv" => "text/csv",
        "html" => "text/html",
        "js" => "text/javascript",
        "py" => "text/x-python",
        _ => "text/plain",
    }
}

fn render(skill: &Skill) -> String {
    let resources = skill.files.iter().map(|file| {
        json!({
            "uri": skill.address(file),
            "digest": format!("sha256:{}", file.sha256),
            "size": file.text.len(),
        })
    });
    let resources: Vec<_> = resources.collect();
    let uri = format!("{}SKILL.md", skill.folder());
    json!({"uri": uri, "frontmatter": skill.frontmatter, "resources": resources}).to_string()
}

fn render_files(skill: &Skill) -> String {
    let files = skill.files.iter().map(|file| (skill.address(file), &file.text));
    json!(files.collect::<Vec<_>>()).to_string()
}

fn render_resource(skill: &Skill) -> String {
    json!({
        "uri": format!("{}SKILL.md", skill.folder()),
        "name": skill.name,
        "description": skill.description,
        "mimeType": super::documentation::MARKDOWN,
    })
    .to_string()
}

fn render_prompt(skill: &Skill) -> String {
    json!({"name": skill.name, "description": skill.description, "arguments": []}).to_string()
}
