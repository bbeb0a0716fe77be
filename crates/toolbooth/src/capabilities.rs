//! The capabilities of this crate, which a Worker lists in `serve!`. What it does not list is not linked: docs/SIZE.md says
//! how large each is.

/// The protocols of OXP, OTC, OpenTool and JSON-RPC. `serve!` adds them.
pub use crate::protocol::CORE;
/// The Model Context Protocol.
pub use crate::protocol::mcp::CAPABILITY as MCP;
/// Plain REST, with OpenAPI and other documents about the tools.
pub use crate::protocol::rest::CAPABILITY as REST;
/// The search in the catalogue.
pub use crate::protocol::search::CAPABILITY as SEARCH;
/// Calls that run as tasks, and requests in the background. `serve!` adds it if a tool can run as a task.
pub use crate::protocol::tasks::CAPABILITY as TASKS;
/// `GET /usage`: the budgets of callers.
pub use crate::protocol::usage::CAPABILITY as USAGE;
/// Xaibo's tool providers.
pub use crate::protocol::xaibo::CAPABILITY as XAIBO;
