//! The capabilities of this crate, which a Worker lists in `serve!`. What it does not list is not linked: docs/SIZE.md says
//! how large each is.

/// The page of an account, where people see and take back what they have allowed. Needs [`SIGN_IN`].
pub use crate::account::routes::CAPABILITY as ACCOUNT;
/// Users authorize tools at OAuth providers, and the server stores their grants.
pub use crate::challenge::routes::CAPABILITY as CHALLENGES;
/// The chat gateway: any model behind one endpoint.
pub use crate::gateway::routes::CAPABILITY as GATEWAY;
/// The protocols of OXP, OTC, OpenTool and JSON-RPC. `serve!` adds them.
pub use crate::protocol::CORE;
/// The Model Context Protocol.
pub use crate::protocol::mcp::CAPABILITY as MCP;
/// The function-calling formats of OpenAI, Anthropic and Gemini.
pub use crate::protocol::providers::CAPABILITY as PROVIDERS;
/// Plain REST, with OpenAPI and other documents about the tools.
pub use crate::protocol::rest::CAPABILITY as REST;
/// Xaibo's tool providers.
pub use crate::protocol::xaibo::CAPABILITY as XAIBO;
/// People sign in to the server itself: an OAuth authorization server for MCP clients.
pub use crate::sign_in::routes::CAPABILITY as SIGN_IN;
