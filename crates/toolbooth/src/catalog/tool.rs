//! A compiled tool: its schemas, its requirements and its function.

use std::future::Future;

use semver::Version;
use serde::{Deserialize, Serialize};

use super::TaskSupport;
use crate::host::BoxFuture;
use crate::json::{self, Value};
use crate::schema::{Defaults, Schema};
use crate::tool::http::HttpCall;
use crate::tool::{Context, ToolError};

/// One version of a tool.
#[derive(Debug)]
pub struct Tool {
    /// The part of the id before the dot.
    pub toolkit: &'static str,
    /// The part of the id after the dot.
    pub tool: &'static str,
    /// The version.
    pub version: Version,
    /// The name that models see.
    pub name: &'static str,
    /// The name for people, if the definition has one.
    pub title: Option<&'static str>,
    /// The scopes that the caller's credentials must have.
    pub scopes: &'static [&'static str],
    /// Providers whose token a call needs.
    pub authorization: &'static [Authorization],
    /// Secrets that a call needs.
    pub secrets: &'static [&'static str],
    /// The variables and secrets of the operator that the tool reads.
    pub variables: &'static [&'static str],
    /// The resources of the host's platform without which the tool cannot run.
    pub bindings: &'static [&'static str],
    /// Whether a call must have a user id.
    pub user_id: bool,
    /// The parameters that MCP clients repeat in headers.
    pub headers: &'static [HeaderParameter],
    /// The parameters of calls with `GET`; `None` unless the tool is read-only and its input is flat.
    pub query: Option<&'static [QueryParameter]>,
    /// Whether the value is a list of content blocks.
    pub content: bool,
    /// Whether a call changes nothing.
    pub read_only: bool,
    /// Whether a repeated call changes nothing more.
    pub idempotent: bool,
    /// Whether a call can or must run as a task.
    pub task: Option<TaskSupport>,
    /// The schema of the input.
    pub input: &'static Schema,
    /// The schema of the value.
    pub output: &'static Schema,
    /// The defaults that are filled in before the function runs.
    pub defaults: &'static Defaults,
    /// How it runs.
    pub run: Run,
}

/// A provider whose token a call needs.
#[derive(Debug, Clone, Copy)]
pub struct Authorization {
    /// The provider, such as `github`.
    pub id: &'static str,
    /// The OAuth 2 scopes that the token must have.
    pub scopes: &'static [&'static str],
}

/// A parameter that MCP clients repeat in a header, for proxies that route requests.
#[derive(Debug, Clone, Copy)]
pub struct HeaderParameter {
    /// The header's name, in lower case: `mcp-param-…`.
    pub header: &'static str,
    /// The path of the parameter in the input: names of properties.
    pub path: &'static [&'static str],
}

/// A parameter of the input that a query can carry.
#[derive(Debug, Clone, Copy)]
pub struct QueryParameter {
    /// Its name.
    pub name: &'static str,
    /// How its text becomes a value.
    pub value: QueryValue,
}

/// How the text of a query parameter becomes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryValue {
    /// It is the value.
    Text,
    /// It is a number in JSON.
    Number,
    /// It is `true` or `false`.
    Boolean,
}

impl Tool {
    /// `Toolkit.Tool@x.y.z`.
    pub fn id(&self) -> String {
        format!("{}.{}@{}", self.toolkit, self.tool, self.version)
    }

    /// Whether it runs without this variable, or without the token of this provider: the request of a tool without a function
    /// may be anonymous.
    pub(crate) fn is_optional(&self, name: &str) -> bool {
        matches!(self.run, Run::Http(call, _) if call.auth_optional && call.base != name)
    }

    /// What people read: `List issues (GitHub.ListIssues)`, or only the id if the tool has no title.
    pub fn label(&self) -> String {
        let Self { toolkit, tool, .. } = self;
        match self.title {
            Some(title) => format!("{title} ({toolkit}.{tool})"),
            None => format!("{toolkit}.{tool}"),
        }
    }
}

/// A tool's function with a uniform signature; [`run`] calls a typed function.
pub type ToolFn = for<'a> fn(&'a Value<'a>, &'a Context<'a>) -> ToolFuture<'a>;

/// How a tool runs.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// By a function of the catalogue.
    Function(ToolFn),
    /// By the request that its definition describes. The function is [`http::run`](crate::tool::http::run): a pointer, so
    /// that its code is linked only if a catalogue has such a tool.
    Http(&'static HttpCall, HttpFn),
    /// By a function outside of this program, which the host calls by this name: [`Catalog::external`](super::Catalog::external).
    External(&'static str),
}

/// How the names of functions begin that another Worker runs; the name of its binding follows.
pub const SERVICE: &str = "service:";

impl Run {
    /// Whether a function runs that says itself when its call goes on as a task.
    pub(crate) fn begins_task(self) -> bool {
        match self {
            Self::Function(_) => true,
            Self::Http(..) => false,
            Self::External(name) => !name.starts_with(SERVICE),
        }
    }
}

/// A function that sends the request of a tool.
pub type HttpFn = for<'a> fn(&'static HttpCall, &'a Value<'a>, &'a Context<'a>) -> ToolFuture<'a>;

/// A function of the host that calls functions outside of this program by their names.
pub type ExternalFn = for<'a> fn(&'static str, &'a Value<'a>, &'a Context<'a>) -> ToolFuture<'a>;

/// The result of a tool: its value as JSON.
pub type ToolFuture<'a> = BoxFuture<'a, Result<serde_json::Value, RunError>>;

/// A limit of the values that functions outside of this program return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// [`json::MAX_DEPTH`], for the value and the report of the function with it.
    Depth,
    /// [`json::MAX_VALUES`], likewise.
    Values,
}

impl Limit {
    /// What is wrong with the value.
    pub(crate) fn exceeded(self) -> &'static str {
        match self {
            Self::Depth => {
                "its value is nested too deeply: the limit is 64 levels, one of which is the server's own"
            }
            Self::Values => {
                "its value has too many values: the limit is 65,536, a few of which are the server's own"
            }
        }
    }
}

const _: () = assert!(json::MAX_DEPTH == 64 && json::MAX_VALUES == 65_536, "the messages say so");

/// Why a tool returned no value.
#[derive(Debug)]
pub enum RunError {
    /// The tool returned an error.
    Tool(ToolError),
    /// The function's types do not match the definition's schemas, which is a bug of the tool. The text is for
    /// the log.
    Mismatch(&'static str),
    /// The function's value exceeds this limit.
    TooLarge(Limit),
    /// The function ended without a result, such as one in TypeScript that throws something other than an error of the
    /// tool. The host has logged why.
    Crashed,
}

/// Runs a typed function: it deserializes the input and serializes the value. Strings of the input may be
/// borrowed from the request (`&str`, `Cow<str>` with `#[serde(borrow)]`).
pub fn run<'a, I, O, F, R>(
    input: &'a Value<'a>,
    context: &'a Context<'a>,
    handler: F,
) -> ToolFuture<'a>
where
    I: Deserialize<'a>,
    O: Serialize,
    F: FnOnce(I, &'a Context<'a>) -> R,
    R: Future<Output = Result<O, ToolError>> + 'a,
{
    let started = json::read_value(input).map(|input| handler(input, context));
    // Each tool has its own copy of this future, so it does little.
    Box::pin(async move {
        match started {
            Some(future) => serialized(future.await),
            None => Err(RunError::Mismatch(
                "the function's input type does not accept what input_schema allows",
            )),
        }
    })
}

/// The result of a typed function as JSON. Functions with the same output type share it.
#[inline(never)]
fn serialized<O: Serialize>(result: Result<O, ToolError>) -> Result<serde_json::Value, RunError> {
    serde_json::to_value(result.map_err(RunError::Tool)?)
        .map_err(|_| RunError::Mismatch("the function's output is not JSON"))
}
