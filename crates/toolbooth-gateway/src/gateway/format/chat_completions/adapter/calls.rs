//! The calls of a stream: which call each part belongs to, whatever its provider writes into it.

use std::borrow::Cow;

use crate::gateway::answer::builder::{Builder, CallPart, CallProgress, is_complete};
use crate::gateway::answer::completion::{Read, UpstreamError};
use crate::gateway::answer::stream::Delta;
use crate::gateway::conversation::open_calls::MAX_CALLS;
use crate::wire::fields::{count, text};
use crate::wire::openai::argument_of;
use toolbooth::json::{Object, Value};

/// The calls that have begun to arrive, in order.
#[derive(Default)]
pub(super) struct Calls {
    known: Vec<Known>,
    /// How many there were before this event.
    before_event: usize,
    /// Whether they are those of OpenAI itself, which writes no placeholders before the arguments.
    is_openai: bool,
}

#[derive(Default)]
struct Known {
    /// The provider's index, and its id.
    index: Option<u64>,
    id: String,
    progress: CallProgress,
}

/// A part as a provider has sent it.
struct Part<'p> {
    index: Option<u64>,
    id: Option<Cow<'p, str>>,
    kind: Option<&'p str>,
    name: Option<&'p str>,
    arguments: Cow<'p, str>,
    /// Whether its members are strings, as far as they are there. SDKs take `null` for a value.
    has_texts: bool,
    custom: bool,
}

impl<'p> Part<'p> {
    /// Reads a part; `written` has its arguments as the provider wrote them.
    fn of(call: &'p Object<'_>, written: impl Fn() -> Option<String>) -> Self {
        let kind = text(call.get("type"));
        let custom = kind == Some("custom") || call.get("custom").is_some_and(|it| !it.is_null());
        let (member, argument) = argument_of(custom);
        let called = call.get(member).and_then(Value::as_object);
        let of_function = |name| called.and_then(|called| called.get(name));
        let members =
            [call.get("id"), call.get("type"), of_function("name"), of_function(argument)];
        let has_texts = members.into_iter().flatten().all(|member| member.as_str().is_some());
        let arguments = match of_function(argument) {
            None | Some(Value::Null) => "".into(),
            Some(Value::String(text)) => Cow::Borrowed(&**text),
            // Some providers send an object.
            Some(value) => written().unwrap_or_else(|| value.text()).into(),
        };
        let id = match call.get("id") {
            Some(Value::Number(number)) => Some(number.to_string().into()),
            id => text(id).map(Cow::Borrowed),
        };
        let (index, name) = (count(call.get("index")), text(of_function("name")));
        Self { index, id, kind, name, arguments, has_texts, custom }
    }
}

impl Calls {
    pub(super) fn of_openai() -> Self {
        Self { is_openai: true, ..Self::default() }
    }

    /// An event may have several parts.
    pub(super) fn begin_event(&mut self) {
        self.before_event = self.known.len();
    }

    /// Adds a part. Returns whether clients could not join it with the others as it was sent.
    pub(super) fn add(
        &mut self,
        call: &Object<'_>,
        written: impl Fn() -> Option<String>,
        builder: &mut Builder,
    ) -> Read<bool> {
        let part = Part::of(call, written);
        let found = self.find(&part, builder);
        let Some(known) = self.known_at(found, part.index)? else { return Ok(true) };
        let id = part.id.as_deref().unwrap_or_default();
        if known.id.is_empty() {
            id.clone_into(&mut known.id);
        }
        let was_begun = known.progress.position().is_some();
        let extra = match was_begun {
            true => Object::default(),
            false => further_members(call, part.custom),
        };
        let (name, before) = (part.name.unwrap_or_default(), builder.deltas.len());
        let (arguments, custom) = (&*part.arguments, part.custom);
        builder.add_part(&mut known.progress, CallPart { id, name, arguments, custom, extra })?;
        let Some(index) = known.progress.position() else { return Ok(true) };
        if self.is_openai && !arguments.is_empty() {
            builder.complete_empty(index);
        }
        let has_own_id = || builder.calls().get(index).is_some_and(|call| call.id == id);
        let is_joined = match (found, was_begun) {
            (None, _) => part.kind.is_some() && has_own_id(),
            // The strings of all parts are joined, so these must not be repeated.
            (Some(_), true) => part.id.is_none() && part.kind.is_none() && part.name.is_none(),
            (Some(_), false) => false,
        };
        let is_sent = |delta: &Delta| match delta {
            Delta::Arguments { fragment, .. } => *fragment == *arguments,
            _ => false,
        };
        let has_arguments = arguments.is_empty() || builder.deltas.iter().skip(before).any(is_sent);
        let has_place = part.index == Some(index as u64);
        Ok(!(is_joined && has_arguments && has_place && part.has_texts))
    }

    /// The call at this position, or else a new one. The error: there are too many.
    fn known_at(&mut self, found: Option<usize>, index: Option<u64>) -> Read<Option<&mut Known>> {
        if let Some(at) = found {
            return Ok(self.known.get_mut(at));
        }
        if self.known.len() >= MAX_CALLS {
            return Err(UpstreamError::malformed("there are too many tool calls"));
        }
        self.known.push(Known { index, ..Known::default() });
        Ok(self.known.last_mut())
    }

    /// No part follows: calls whose name is incomplete begin.
    pub(super) fn end(&mut self, builder: &mut Builder) -> Read {
        self.known.iter_mut().try_for_each(|known| builder.end_call(&mut known.progress))
    }

    /// The call that a part continues; `None` if it begins one. Some providers give several calls the same index, others send none:
    /// then the id tells them apart.
    fn find(&self, part: &Part<'_>, builder: &Builder) -> Option<usize> {
        let last = self.known.len().checked_sub(1)?;
        let has_id = |known: &Known| Some(&*known.id) == part.id.as_deref();
        let at = match part.index {
            Some(index) => {
                let has_index = |known: &Known| known.index == Some(index);
                // The first part may have had none.
                let by_order = || usize::try_from(index).ok().filter(|at| self.lacks_index(*at));
                let found = self.known.iter().rposition(has_index);
                found.or_else(|| by_order().filter(|_| part.name.is_none()))
            }
            None if part.id.is_none() => Some(last),
            None => {
                let lacks_id = self.known.last().is_some_and(|known| known.id.is_empty());
                self.known.iter().rposition(has_id).or(lacks_id.then_some(last))
            }
        }?;
        self.continues(at, part, builder).then_some(at)
    }

    fn lacks_index(&self, at: usize) -> bool {
        self.known.get(at).is_some_and(|known| known.index.is_none())
    }

    /// Whether a part can belong to the call at this position. Some providers repeat id and name in each part, or give a second call
    /// the id of the first; the ids of others differ from part to part.
    fn continues(&self, at: usize, part: &Part<'_>, builder: &Builder) -> bool {
        let Some(Known { id, progress, .. }) = self.known.get(at) else { return false };
        let (name, arguments) = match progress {
            CallProgress::Draft(draft) if draft.name.is_empty() => return true,
            CallProgress::Draft(draft) => (None, Cow::Borrowed(&*draft.arguments)),
            CallProgress::Begun(index) => {
                let Some(call) = builder.calls().get(*index) else { return false };
                (Some(&*call.name), call.arguments.text())
            }
        };
        let is_complete = || !part.custom && is_complete(&arguments);
        let has_other_id = !id.is_empty() && part.id.as_ref().is_some_and(|it| it != id);
        match part.name {
            None => !(has_other_id && is_complete()),
            Some(_) if has_other_id || at >= self.before_event => false,
            Some(new) if name.is_some_and(|name| name != builder.names.original(new)) => false,
            Some(_) => {
                let is_repeated = part.id.as_deref() == Some(id) && part.arguments == arguments;
                part.arguments.is_empty() || is_repeated || !is_complete()
            }
        }
    }
}

fn further_members(call: &Object<'_>, custom: bool) -> Object<'static> {
    let (member, _) = argument_of(custom);
    let mut extra = call.clone();
    extra.retain(|name, value| {
        !matches!(name, "id" | "type" | "index") && name != member && !value.is_null()
    });
    extra.into_owned()
}
