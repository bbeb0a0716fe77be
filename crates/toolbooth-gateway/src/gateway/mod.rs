//! The chat gateway: any model behind the formats of OpenAI's Chat Completions (2api.ai, "Tool Calling") and Responses, and of Anthropic's
//! Messages.
//!
//! A client's request is read into types of `conversation`, translated into the format of a provider, and the provider's answer is
//! read event by event. The rooms:
//!
//! - `routes`, with `model_list` (what callers may use), `embeddings` and `count_tokens`; `settings`;
//! - `conversation`: a request, its messages and its tools, whatever the format;
//! - `format`: the formats. In the folder of each, `front` reads requests and writes answers for clients, and `adapter` writes requests
//!   and reads answers for providers, over the types of `wire`; what all share is in `format/front` and `format/adapter`;
//! - `answer`: what has arrived of an answer, and the whole of it;
//! - `relay`: a chat from its request to its answer: which model is asked, the rounds of compiled-in tools, and what the client gets;
//! - `limits`: what a caller may ask for, and what it costs;
//! - `facts`: what each model accepts, and `dialect`, what each provider with the format of Chat Completions does, as data with their
//!   sources;
//! - `fields` and `raw_json` read JSON, `notes` has what a request loses, `ids` those of calls, and `error` what clients are told.

mod answer;
mod conversation;
mod count_tokens;
mod dialect;
mod embeddings;
mod error;
mod facts;
mod fields;
mod format;
mod ids;
mod limits;
mod media_type;
mod model_list;
mod notes;
mod provider_state;
mod raw_json;
mod relay;
pub(crate) mod routes;
mod settings;

#[cfg(test)]
mod tests;
