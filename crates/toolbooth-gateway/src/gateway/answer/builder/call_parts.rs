//! Calls that arrive in parts, in any order. A call begins for the client once its name is known, with what came before.

use std::mem;

use crate::gateway::answer::builder::Builder;
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::gateway::answer::stream::Delta;
use crate::gateway::format::adapter::custom;
use crate::wire::{Arguments, ToolCall};
use toolbooth::json::{self, Object};

/// The most bytes of arguments in an answer. The limit of the gateway's settings is lower.
const MAX_ARGUMENT_BYTES: usize = 8 << 20;

/// A part of a call, or a whole one. What it lacks is empty.
#[derive(Default)]
pub(in crate::gateway) struct CallPart<'p> {
    pub(in crate::gateway) id: &'p str,
    pub(in crate::gateway) name: &'p str,
    pub(in crate::gateway) arguments: &'p str,
    pub(in crate::gateway) custom: bool,
    /// Further members.
    pub(in crate::gateway) extra: Object<'static>,
}

/// How far a call has come.
pub(in crate::gateway) enum CallProgress {
    /// Its name is not known, or not all of it.
    Draft(Draft),
    /// It is the call at this position.
    Begun(usize),
}

/// What has arrived of a call that has not begun.
#[derive(Default)]
pub(in crate::gateway) struct Draft {
    id: String,
    pub(in crate::gateway) name: String,
    pub(in crate::gateway) arguments: String,
    custom: bool,
    extra: Object<'static>,
}

impl Default for CallProgress {
    fn default() -> Self {
        Self::Draft(Draft::default())
    }
}

impl CallProgress {
    /// The position among the calls, if it has begun.
    pub(in crate::gateway) fn position(&self) -> Option<usize> {
        match self {
            Self::Draft(_) => None,
            Self::Begun(index) => Some(*index),
        }
    }
}

impl Draft {
    fn add(&mut self, part: CallPart<'_>) {
        if self.id.is_empty() {
            part.id.clone_into(&mut self.id);
        }
        // Some providers write the name in pieces, others repeat it.
        match part.name.starts_with(&*self.name) {
            true => part.name.clone_into(&mut self.name),
            false => self.name.push_str(part.name),
        }
        self.custom |= part.custom;
        match self.custom {
            true => self.arguments.push_str(part.arguments),
            false => append(&mut self.arguments, 0, part.arguments),
        }
        for (name, value) in part.extra {
            self.extra.insert(name, value);
        }
    }
}

impl Builder {
    /// Adds a part to a call, which may begin with it. The error: there are too many calls, or the arguments are too long.
    pub(in crate::gateway) fn add_part(
        &mut self,
        call: &mut CallProgress,
        part: CallPart<'_>,
    ) -> Read {
        let draft = match call {
            CallProgress::Begun(index) => return self.arguments(*index, part.arguments),
            CallProgress::Draft(draft) => draft,
        };
        self.keep(part.arguments)?;
        draft.add(part);
        let is_named = !draft.name.is_empty() && !self.names.is_piece(&draft.name);
        // An id that follows the name is still that of the provider.
        if is_named && !(draft.id.is_empty() && draft.arguments.is_empty()) {
            *call = self.begin(mem::take(draft))?;
        }
        Ok(())
    }

    /// A call has no further part. Without a name and arguments it is none, and left out with a warning. The error: it has arguments,
    /// but no name.
    pub(in crate::gateway) fn end_call(&mut self, call: &mut CallProgress) -> Read {
        if let CallProgress::Draft(draft) = call {
            if !draft.name.is_empty() {
                *call = self.begin(mem::take(draft))?;
            } else if is_blank(&draft.arguments) {
                self.warn("A call without a name and arguments is left out".to_owned());
            } else {
                return Err(UpstreamError::malformed("a tool call names no tool"));
            }
        }
        if let Some(index) = call.position() {
            self.complete_call(index);
        }
        Ok(())
    }

    /// More arguments of a call. The error: there is no such call, or they are too long.
    pub(in crate::gateway) fn arguments(&mut self, index: usize, fragment: &str) -> Read {
        if fragment.is_empty() {
            return Ok(());
        }
        self.argument_bytes = self.argument_bytes.saturating_add(fragment.len());
        if self.argument_bytes > MAX_ARGUMENT_BYTES {
            return Err(UpstreamError::malformed("the arguments of the tool calls are too long"));
        }
        let call = self.completion.message.tool_calls.get_mut(index);
        let (Some(ToolCall { arguments: Arguments::Text(text), custom, .. }), Some(sent)) =
            (call, self.sent.get_mut(index))
        else {
            return Err(UpstreamError::malformed("arguments belong to no tool call"));
        };
        let text = text.to_mut();
        let is_sendable = match (self.wrapped.contains(&index), *custom) {
            (false, true) => {
                text.push_str(fragment);
                true
            }
            (is_wrapped, _) => {
                append(text, *sent, fragment);
                !is_wrapped && !may_be_placeholder(text)
            }
        };
        if is_sendable {
            self.deltas.extend(unsent(index, *custom, text, sent));
        }
        Ok(())
    }

    /// If the arguments of a call are an empty object, they are no placeholder.
    pub(in crate::gateway) fn complete_empty(&mut self, index: usize) {
        let is_empty = |it: &ToolCall<'_>| !it.custom && is_empty_object(&it.arguments.text());
        if self.calls().get(index).is_some_and(is_empty) {
            self.complete_call(index);
        }
    }

    /// The arguments of a call are all there. Without any, it gets an empty object, because clients parse the text; one of a custom
    /// tool gets its text.
    pub(in crate::gateway) fn complete_call(&mut self, index: usize) {
        let call = self.completion.message.tool_calls.get_mut(index);
        let (Some(call), Some(sent)) = (call, self.sent.get_mut(index)) else { return };
        if let Some(at) = self.wrapped.iter().position(|it| *it == index) {
            self.wrapped.remove(at);
            let input = custom::input(&call.arguments.text());
            call.arguments = Arguments::Text(input.into());
        } else if !call.custom && *sent == 0 && lacks_object(&call.arguments.text()) {
            call.arguments = Arguments::Text("{}".into());
        }
        self.deltas.extend(unsent(index, call.custom, &call.arguments.text(), sent));
    }

    fn begin(&mut self, draft: Draft) -> Read<CallProgress> {
        let index = self.calls().len();
        self.call(&draft.id, &draft.name, draft.custom, draft.extra)?;
        self.arguments(index, &draft.arguments)?;
        Ok(CallProgress::Begun(index))
    }
}

/// Adds a part to the arguments of a function, of which the client has got the first `sent` bytes. A placeholder gives way to what
/// follows, and a repetition of all arguments is none.
fn append(arguments: &mut String, sent: usize, part: &str) {
    let is_held = sent < arguments.len();
    if is_held
        && is_placeholder(arguments)
        && let Some(rest) = part.trim_start().strip_prefix('{')
    {
        arguments.truncate(sent);
        // What has been sent of a placeholder is its brace.
        arguments.push_str(if sent == 0 { part } else { rest });
    } else if arguments != part || !is_complete(arguments) {
        arguments.push_str(part);
    }
}

/// Whether more arguments may replace these, so that the client must not get them yet.
fn may_be_placeholder(arguments: &str) -> bool {
    let begun = arguments.trim_start();
    "null".starts_with(begun) || "\"\"".starts_with(begun) || is_placeholder(arguments)
}

/// Whether there are no arguments.
fn is_blank(arguments: &str) -> bool {
    arguments.trim().is_empty() || is_placeholder(arguments)
}

/// Whether the arguments of a function are blank and no object.
fn lacks_object(arguments: &str) -> bool {
    is_blank(arguments) && !is_empty_object(arguments)
}

/// Whether the arguments of a function can have no further part.
pub(in crate::gateway) fn is_complete(arguments: &str) -> bool {
    arguments.ends_with('}') && !is_placeholder(arguments) && json::parse(arguments).is_ok()
}

/// Whether these are what some providers write before the arguments: an empty value.
fn is_placeholder(arguments: &str) -> bool {
    let arguments = arguments.trim();
    matches!(arguments, "null" | "\"\"") || is_empty_object(arguments)
}

/// Whether the arguments are an object without members.
fn is_empty_object(arguments: &str) -> bool {
    let inner = arguments.trim().strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    inner.is_some_and(|it| it.trim().is_empty())
}

/// The part of a call's arguments that is not among the deltas yet.
fn unsent(index: usize, custom: bool, arguments: &str, sent: &mut usize) -> Option<Delta> {
    let fragment = arguments.get(*sent..).filter(|rest| !rest.is_empty())?.to_owned();
    *sent = arguments.len();
    Some(Delta::Arguments { index, custom, fragment })
}
