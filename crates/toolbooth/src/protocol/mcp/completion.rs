//! `completion/complete`: the values of an argument that begin with what the user has typed.

use serde_json::json;

use super::call::{self, Action};
use super::error::McpError;
use super::message::McpRequest;
use super::outcome::CallTarget;
use super::response::CompleteResult;
use super::{documentation, pagination, prompts};
use crate::call::{RequestContext, ToolSelector};
use crate::catalog::{Completion, Definition, ListForm, Listed, Rendering};
use crate::json::{Object, Value};
use crate::protocol::definition::{array, latest};

/// The arguments that can be completed: `[reference, argument, values, tool]`, where the reference is the name of a prompt or
/// the URI of a template.
pub(super) const LIST: ListForm = array("mcp-completions", |it| latest(it, render));

/// The items of [`LIST`].
type Item = (String, String, Vec<String>, Option<Completion>);

/// Completes an argument of a prompt or of a template, by its values or by a tool; or a tool's id in the address of its
/// documentation.
#[inline(never)]
pub(super) fn complete<'t>(
    request: McpRequest<'t>,
    context: &RequestContext<'_>,
) -> Result<Action<'t>, McpError> {
    let string = |object: &str, member: &str| {
        let value = request.params.get(object).and_then(|value| value.get(member));
        let value = value.and_then(Value::as_str);
        value.ok_or_else(|| McpError::invalid_params(format!("{object}.{member} must be a string")))
    };
    let (argument, typed) = (string("argument", "name")?, string("argument", "value")?);
    let reference = match string("ref", "type")? {
        "ref/prompt" => {
            let name = string("ref", "name")?;
            prompts::find(name, context)?;
            name
        }
        "ref/resource" => string("ref", "uri")?,
        _ => return Err(McpError::invalid_params("ref.type must be ref/prompt or ref/resource")),
    };
    let values = if reference == documentation::TEMPLATE && argument == "id" {
        let allowed = context.pipeline.catalog.tools.iter();
        allowed.filter(|tool| context.allows(tool)).map(|tool| tool.id()).collect()
    } else {
        let mut items = pagination::items::<Item>(context, LIST.name)?;
        match items.find(|(of, name, ..)| of == reference && name == argument) {
            None => Vec::new(),
            Some((.., values, None)) => values,
            Some((.., Some(completion))) => {
                let input = input(&completion, typed, &request);
                let tool = ToolSelector::Id(completion.tool.into());
                return call::of_tool(request, context, tool, input, CallTarget::Completion);
            }
        }
    };
    // Ids and names are ASCII.
    let matches = |value: &String| {
        value.get(..typed.len()).is_some_and(|start| start.eq_ignore_ascii_case(typed))
    };
    let values = values.into_iter().filter(matches).collect();
    Ok(Action::Respond(request.result(&CompleteResult::of(values))))
}

/// The input of the tool that completes: what the user has typed, and the arguments that it declares of those which the
/// client has sent.
fn input<'t>(completion: &Completion, typed: &str, request: &McpRequest<'_>) -> Value<'t> {
    let text = |text: &str| Value::String(text.to_owned().into());
    let sent = request.params.get("context").and_then(|context| context.get("arguments"));
    let mut input = Object::default();
    input.insert("value".into(), text(typed));
    for name in &completion.with {
        if let Some(value) = sent.and_then(|sent| sent.get(name)).and_then(Value::as_str) {
            input.insert(name.clone().into(), text(value));
        }
    }
    Value::Object(input)
}

fn render(listed: &Listed<'_>) -> Rendering {
    let Definition { prompts, resources, input_schema, .. } = listed.definition;
    let none = |values: &[String], tool: &Option<Completion>| values.is_empty() && tool.is_none();
    let of_prompts = prompts.iter().flat_map(|prompt| {
        let arguments = prompt.arguments.iter().filter(|it| !none(&it.values, &it.complete));
        arguments.map(|it| json!([prompt.name, it.name, it.values, it.complete]))
    });
    let of_resources = resources.iter().flat_map(|resource| {
        let parameters = resource.parameters().map(|name| {
            let parameter = input_schema.get("properties").and_then(|all| all.get(name));
            let values = parameter.and_then(|it| it.get("enum")?.as_array());
            let values = values.into_iter().flatten().filter_map(|value| value.as_str());
            let values: Vec<_> = values.map(str::to_owned).collect();
            (name, values, resource.complete.get(name).cloned())
        });
        let parameters = parameters.filter(|(_, values, tool)| !none(values, tool));
        parameters.map(|(name, values, tool)| json!([resource.uri, name, values, tool]))
    });
    pagination::render_items(of_prompts.chain(of_resources))
}
