//! A chat from its request to its answer: which model is asked, the rounds of compiled-in tools, and what the client gets.

pub(in crate::gateway) mod arguments;
pub(in crate::gateway) mod background;
pub(in crate::gateway) mod catalog_tools;
pub(in crate::gateway) mod chat;
pub(in crate::gateway) mod continuation;
pub(in crate::gateway) mod optional_members;
pub(in crate::gateway) mod output;
pub(in crate::gateway) mod plan;
pub(in crate::gateway) mod report;
pub(in crate::gateway) mod rounds;
pub(in crate::gateway) mod upstream;
