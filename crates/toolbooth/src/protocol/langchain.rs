//! The tool server that LangChain's clients expect: PyPI `universal-tool-client`, `langchain-tool-client` and `o2mcp`.
//!
//! It is OTC with three differences: the list is an array, the result of a call has no envelope, and `tool_id` is
//! the name of a tool. docs/PROTOCOLS.md explains the clauses LC1 to LC7.

use super::envelope::{self, OTC_1_0};
use super::health::HEALTH;
use super::opentool;
use super::oxp::{self, Format};
use super::sample;
use crate::call::{RequestContext, ToolRequest, ToolSelector};
use crate::route::{
    CallResponse, Calls, Document, Page, PageError, Policy, PostRequest, Protocol, Route, for_tests,
};

pub(crate) static LANGCHAIN: Protocol = Protocol {
    routes: &[
        HEALTH,
        Route::get("/info", Policy::CALLER, &Document(opentool::version)),
        Route::get("/tools", Policy::CALLER, &Document(list)),
        Route::post("/tools/call", Policy::CALLS, &Calls(call)),
    ],
    samples: for_tests(&[(&["/tools/call"], &sample::LANGCHAIN)]),
    ..Protocol::new("langchain", "LangChain tool server", oxp::FLAT_ERRORS)
};

/// `GET /tools`: the tools of OXP's list, only the latest version of each, because clients keep one tool of each name.
fn list(context: &RequestContext<'_>) -> Result<Page, PageError> {
    let list = context.list(oxp::LIST.name)?;
    let tools = context.pipeline.catalog.tools;
    // Older versions have a versioned name.
    let entries = context.selected_entries(list, &|_| true)?;
    let latest = entries
        .into_iter()
        .filter(|entry| tools.get(entry.tool).is_some_and(|tool| tool.name == entry.name));
    Ok(Page::new(format!("[{}]", list.join(latest, ","))))
}

/// `POST /tools/call`. Names are accepted as ids.
fn call(request: PostRequest<'_>) -> CallResponse<'_> {
    let PostRequest { body, context } = request;
    let (_, call) = envelope::decode(body, OTC_1_0);
    let call = call.map(|call| match call.tool {
        ToolSelector::Id(id) => ToolRequest { tool: ToolSelector::Name(id), ..call },
        ToolSelector::Name(_) | ToolSelector::Resolved(_) => call,
    });
    Box::pin(async move { Ok(oxp::encode(Format::Flat, context.call(call).await?)) })
}

#[cfg(test)]
mod tests;
