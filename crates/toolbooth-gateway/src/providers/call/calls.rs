//! Which calls of an answer run here, and what the client should know about the others.

use std::collections::BTreeMap;

use crate::wire::{Arguments, Finish, FinishReason, Item, ModelAnswer, ToolCall};
use toolbooth::schema::text::excerpt;

#[derive(Debug, Default)]
pub(super) struct Calls<'t> {
    /// Those of functions, in order.
    pub(super) functions: Vec<ToolCall<'t>>,
    /// Those that the client must run itself, by kind or function name.
    client_calls: Vec<String>,
    /// Tools that the provider has run itself, by kind.
    hosted: Vec<String>,
    has_alternatives: bool,
    finish_reason: Option<FinishReason>,
    /// How the model failed, if it did.
    failure: Option<String>,
}

impl<'t> Calls<'t> {
    pub(super) fn of(mut answer: ModelAnswer<'t>) -> Self {
        let mut calls = Self {
            has_alternatives: answer.has_alternatives,
            failure: answer.finish.as_ref().and_then(Finish::failure),
            finish_reason: answer.finish.map(|finish| finish.reason),
            ..Self::default()
        };
        // The last call of a truncated answer must not run. Its arguments may look complete although they are not,
        // because some providers repair the JSON.
        if calls.finish_reason == Some(FinishReason::Length)
            && let Some(Item::Call(call)) = answer.items.last_mut()
        {
            call.arguments = Arguments::TRUNCATED;
        }
        // Where the last result of each id is. A list has room for very many.
        let mut results = BTreeMap::new();
        for (at, item) in answer.items.iter().enumerate() {
            if let Item::Result(Some(id)) = item {
                results.insert(id.clone(), at);
            }
        }
        for (at, item) in answer.items.into_iter().enumerate() {
            match item {
                Item::Call(call) if call.custom => calls.client_calls.push("custom".to_owned()),
                // The call belongs to an earlier answer, and must not run again.
                Item::Call(call) if results.get(&call.id).is_some_and(|result| *result > at) => {}
                Item::Call(call) => calls.functions.push(call),
                Item::Hosted(kind) => calls.hosted.push(kind.into_owned()),
                Item::ClientCall(kind) => calls.client_calls.push(kind.into_owned()),
                Item::Text(_)
                | Item::Refusal(_)
                | Item::Reasoning(_)
                | Item::Signature(_)
                | Item::Result(_)
                | Item::Media(_)
                | Item::Other(_) => {}
            }
        }
        calls
    }

    /// How many calls the model made, here and at the provider.
    pub(super) fn count(&self) -> usize {
        self.functions.len() + self.client_calls.len()
    }

    /// Leaves the calls of some functions to the client.
    pub(super) fn leave_to_client(&mut self, is_clients: impl Fn(&str) -> bool) {
        let calls = std::mem::take(&mut self.functions);
        let (left, kept): (Vec<_>, Vec<_>) =
            calls.into_iter().partition(|call| is_clients(&call.name));
        self.functions = kept;
        self.client_calls.extend(left.into_iter().map(|call| call.name.into_owned()));
    }

    /// What the client should know. `had_calls` is whether there were function calls, including those that were left
    /// to the client.
    pub(super) fn warnings(&self, had_calls: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.client_calls.is_empty() {
            warnings.push(format!(
                "Response contains tool_calls that are not run here. Client must execute tools and \
                 send results to continue conversation: {}",
                list_names(&self.client_calls)
            ));
        }
        if !self.hosted.is_empty() {
            warnings.push(format!(
                "The provider runs these itself, so they have no result here: {}",
                list_names(&self.hosted)
            ));
        }
        if !had_calls && self.client_calls.is_empty() {
            warnings.push("There are no tool calls to run".to_owned());
        }
        if self.has_alternatives {
            warnings.push("Only the first choice was read".to_owned());
        }
        match self.finish_reason {
            Some(FinishReason::Length) => {
                warnings.push("The model's response was cut off".to_owned());
            }
            Some(FinishReason::Failed(_)) => warnings.extend(self.failure.clone()),
            Some(FinishReason::Stop | FinishReason::ContentFilter | FinishReason::Other)
                if had_calls =>
            {
                warnings.push(
                    "The model's response has tool calls, but its finish reason is a different one"
                        .to_owned(),
                );
            }
            _ => {}
        }
        warnings
    }
}

/// The distinct names, up to as many as a person reads.
fn list_names(names: &[String]) -> String {
    const MAX_NAMES: usize = 8;
    let mut distinct: Vec<_> = Vec::new();
    for name in names.iter().map(|name| excerpt(name)) {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    if distinct.len() > MAX_NAMES {
        distinct.truncate(MAX_NAMES);
        distinct.push("…".to_owned());
    }
    distinct.join(", ")
}
