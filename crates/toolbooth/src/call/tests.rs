//! Tests of the pipeline with a small handwritten catalogue.

mod budget;
mod dialogue;
mod input;
mod names;
mod rejection;
mod serve;

use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::catalog::{Catalog, Run, Tool, ToolFn, run};
use crate::principal::Principal;
use crate::schema::{Keyword, ObjectKeyword, Properties, Schema, check};
use crate::testing::echo::{CATALOG, NOTHING, OBJECT, OBJECTS, every_rejection, of, private};
use crate::testing::{FakeHost, call_tool, ready};
use crate::tool::{
    ClientCapabilities, ClientCapability, Context, InputRequest, InputRequired, InputResponse,
    LoggingLevel, Notification, Secret, ToolError,
};

fn outcome(tool_id: &str, input: Value, credentials: Credentials) -> (Outcome, Vec<String>) {
    let host = FakeHost::default();
    let call = ToolRequest {
        credentials,
        ..ToolRequest::new(ToolSelector::Id(tool_id.into()), (&input).into())
    };
    let outcome = call_tool(call, CATALOG, &Principal::ANONYMOUS, &host);
    (outcome, host.log.into_inner())
}

fn credentials(user_id: Option<&str>, tokens: &[&str], secrets: &[&str]) -> Credentials {
    let map = |ids: &[&str]| {
        ids.iter().map(|id| ((*id).to_owned(), Secret::new(format!("{id}-value")))).collect()
    };
    Credentials { user_id: user_id.map(str::to_owned), tokens: map(tokens), secrets: map(secrets) }
}
