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

/// The arguments that can be completed, of the name of a prompt or the URI of a template.
pub(super) const LIST: ListForm = array("mcp-completions", |it| latest(it, render));

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
        let is = |item: &Value<'_>, member: &str, text: &str| {
            item.get(member).and_then(Value::as_str) == Some(text)
        };
        let mut items = pagination::items(context, LIST.name)?;
        let item = items.find(|it| is(it, "of", reference) && is(it, "argument", argument));
        let item = item.unwrap_or_default();
        if let Some(tool) = item.get("tool").and_then(Value::as_str) {
            let input = input(&item, typed, &request);
            let tool = ToolSelector::Id(tool.to_owned().into());
            return call::of_tool(request, context, tool, input, CallTarget::Completion);
        }
        item.get("values").and_then(Value::texts).unwrap_or_default()
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
fn input<'t>(item: &Value<'_>, typed: &str, request: &McpRequest<'_>) -> Value<'t> {
    let text = |text: &str| Value::String(text.to_owned().into());
    let sent = request.params.get("context").and_then(|context| context.get("arguments"));
    let mut input = Object::default();
    input.insert("value".into(), text(typed));
    for name in item.get("with").and_then(Value::texts).unwrap_or_default() {
        if let Some(value) = sent.and_then(|sent| sent.get(&name)).and_then(Value::as_str) {
            input.insert(name.into(), text(value));
        }
    }
    Value::Object(input)
}

fn render(listed: &Listed<'_>) -> Rendering {
    let Definition { prompts, resources, input_schema, .. } = listed.definition;
    let item = |of: &str, argument: &str, values: Vec<String>, tool: Option<&Completion>| match tool
    {
        Some(Completion { tool, with, .. }) => Some(
            json!({"of": of, "argument": argument, "values": values, "tool": tool, "with": with}),
        ),
        None if values.is_empty() => None,
        None => Some(json!({"of": of, "argument": argument, "values": values})),
    };
    let of_prompts = prompts.iter().flat_map(|prompt| {
        let arguments = prompt.arguments.iter();
        arguments
            .filter_map(|it| item(&prompt.name, &it.name, it.values.clone(), it.complete.as_ref()))
    });
    let of_resources = resources.iter().flat_map(|resource| {
        resource.parameters().filter_map(|name| {
            let parameter = input_schema.get("properties").and_then(|all| all.get(name));
            let values = parameter.and_then(|it| it.get("enum")?.as_array());
            let values = values.into_iter().flatten().filter_map(|value| value.as_str());
            let values = values.map(str::to_owned).collect();
            item(&resource.uri, name, values, resource.complete.get(name))
        })
    });
    pagination::render_array(of_prompts.chain(of_resources))
}
