//! The chat gateway: any model behind the formats of OpenAI's Chat Completions (2api.ai, "Tool Calling") and Responses.
//!
//! A [`ChatRequest`] is translated into the [`Format`] of a provider, and the provider's answer into a [`Completion`]
//! or, event by event, into a stream of [`StreamEvent`]s. In the order of a request:
//!
//! - `routes`, with `model_list` (what callers may use), `embeddings`, `count_tokens`, and `background` (answers that clients ask for
//!   later); `settings`, with `dialect` (what providers with OpenAI's format accept of it);
//! - `front`: the formats of clients. They read requests with `fields` (member by member), `raw_json` (JSON as it was written), `notes`
//!   (what is lost) and `open_calls` (calls without a result) into a `request` with its `tool`s;
//! - `chat`: what is known before the first round, with `access` and `plan` (which models the caller may use, and which to ask), `limits`,
//!   `catalog_tools` (the server's own tools in it) and `continuation` (rounds that clients continue);
//! - `rounds`: the loop; `upstream`: asks a model, with `optional_members` (what it can answer without); `cost`, `extras` and `units`: what
//!   that costs, and takes from limits;
//! - `adapter`: the formats of providers, over `wire`, with `facts` (what each model accepts); `sse`, `stream`, `builder` and
//!   `completion`: what has arrived, with `ids` for calls; `arguments`: checks those of calls;
//! - `output`: into a body or a stream, which a `front` writes; `report`: what the answer and the log say about it; `error`.

mod access;
mod adapter;
mod arguments;
mod background;
mod builder;
mod catalog_tools;
mod chat;
mod completion;
mod continuation;
mod conversation;
mod cost;
mod count_tokens;
mod dialect;
mod embeddings;
mod error;
mod extras;
mod facts;
mod fields;
mod front;
mod ids;
mod limits;
mod media_type;
mod model_list;
mod notes;
mod open_calls;
mod optional_members;
mod output;
mod plan;
mod provider_state;
mod raw_json;
mod report;
mod request;
mod rounds;
pub(crate) mod routes;
mod settings;
mod sse;
mod stream;
mod tool;
mod units;
mod upstream;

#[cfg(test)]
mod tests;
