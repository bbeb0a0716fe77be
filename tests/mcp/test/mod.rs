//! The tools that MCP's conformance suite calls; docs/PROTOCOLS.md names its release.

mod ask;

use serde::{Deserialize, Serialize};
use toolbooth::tool::{ContentBlock, LoggingLevel};
use toolbooth::{Context, ToolError};

use crate::types::test::json_schema_2020_12_tool::{self, ContactMethod};
use crate::types::test::template_data;

pub(crate) use ask::{
    form, input_required_result_capabilities, input_required_result_elicitation,
    input_required_result_list_roots, input_required_result_multi_round,
    input_required_result_multiple_inputs, input_required_result_request_state,
    input_required_result_sampling, input_required_result_tampered_state, missing_capability, name,
    prompt_of_answer, streaming_elicitation, user_name,
};

pub(crate) type Blocks = Result<Vec<ContentBlock>, ToolError>;

const PNG: &[u8] = include_bytes!("dot.png");
const WAV: &[u8] = include_bytes!("silence.wav");

#[derive(Deserialize)]
pub(crate) struct Nothing {}

pub(crate) fn text(text: impl Into<String>) -> Blocks {
    Ok(vec![ContentBlock::text(text)])
}

fn png() -> ContentBlock {
    ContentBlock::image(PNG, "image/png")
}

pub(crate) async fn simple_text(_: Nothing, _: &Context<'_>) -> Blocks {
    text("This is a simple text response for testing.")
}

pub(crate) async fn image_content(_: Nothing, _: &Context<'_>) -> Blocks {
    Ok(vec![png()])
}

pub(crate) async fn audio_content(_: Nothing, _: &Context<'_>) -> Blocks {
    Ok(vec![ContentBlock::audio(WAV, "audio/wav")])
}

pub(crate) async fn embedded_resource(_: Nothing, _: &Context<'_>) -> Blocks {
    let text = "This is an embedded resource content.";
    Ok(vec![ContentBlock::document("test://embedded-resource", "text/plain", text)])
}

pub(crate) async fn multiple_content_types(_: Nothing, _: &Context<'_>) -> Blocks {
    let json = r#"{"test":"data","value":123}"#;
    Ok(vec![
        ContentBlock::text("Multiple content types test:"),
        png(),
        ContentBlock::document("test://mixed-content-resource", "application/json", json),
    ])
}

pub(crate) async fn error_handling(_: Nothing, _: &Context<'_>) -> Blocks {
    Err(ToolError::new("This tool intentionally returns an error for testing"))
}

pub(crate) async fn tool_with_progress(_: Nothing, context: &Context<'_>) -> Blocks {
    for done in [0.0, 50.0, 100.0] {
        context.progress(done, Some(100.0), "");
    }
    text("All steps are done.")
}

pub(crate) async fn tool_with_logging(_: Nothing, context: &Context<'_>) -> Blocks {
    for note in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        context.note(LoggingLevel::Info, note);
    }
    text("All messages are sent.")
}

pub(crate) async fn logging_tool(input: Nothing, context: &Context<'_>) -> Blocks {
    tool_with_logging(input, context).await
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OfResource {
    resource_uri: String,
}

pub(crate) async fn prompt_of_resource(input: OfResource, _: &Context<'_>) -> Blocks {
    let document = "Embedded resource content for testing.";
    Ok(vec![
        ContentBlock::document(input.resource_uri, "text/plain", document),
        ContentBlock::text("Please process the embedded resource above."),
    ])
}

pub(crate) async fn prompt_of_image(_: Nothing, _: &Context<'_>) -> Blocks {
    Ok(vec![png(), ContentBlock::text("Please analyze the image above.")])
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Data {
    id: String,
    template_test: bool,
    data: String,
}

pub(crate) async fn template_data(
    input: template_data::Input,
    _: &Context<'_>,
) -> Result<Data, ToolError> {
    let data = format!("Data for ID: {}", input.id);
    Ok(Data { id: input.id, template_test: true, data })
}

#[derive(Deserialize)]
pub(crate) struct Typed {
    value: String,
    kind: String,
}

pub(crate) async fn find_ids(input: Typed, _: &Context<'_>) -> Result<Vec<String>, ToolError> {
    let Typed { value, kind } = input;
    Ok((1..=2).map(|number| format!("{kind}/{value}/{number}")).collect())
}

#[derive(Deserialize)]
pub(crate) struct Region {
    region: String,
}

pub(crate) async fn x_mcp_header(input: Region, _: &Context<'_>) -> Blocks {
    text(format!("Region: {}", input.region))
}

pub(crate) async fn json_schema_2020_12_tool(
    input: json_schema_2020_12_tool::Input,
    _: &Context<'_>,
) -> Result<json_schema_2020_12_tool::Output, ToolError> {
    let method = input.contact_method.unwrap_or(ContactMethod::Email);
    let contact = match method {
        ContactMethod::Phone => input.phone,
        ContactMethod::Email => input.email,
    };
    let city = input.address.and_then(|address| address.city);
    let who: Vec<_> = [input.name, city].into_iter().flatten().collect();
    let who = if who.is_empty() { String::new() } else { format!("{}: ", who.join(", ")) };
    text(format!("{who}{} {}", method.as_str(), contact.unwrap_or_default()))
}
