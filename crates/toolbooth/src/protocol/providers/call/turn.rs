//! What a model answered, as far as tools go, whatever its provider.

use std::borrow::Cow;
use std::fmt;

use crate::json::{self, JsonError, Object, Value};
use crate::text::excerpt;

/// A place in what was posted. It is put together only where something is wrong there.
pub(super) type Place<'a> = fmt::Arguments<'a>;

/// An answer of a model.
#[derive(Debug, Default)]
pub(super) struct Turn<'t> {
    /// The calls of functions, in order.
    pub(super) calls: Vec<ToolCall<'t>>,
    /// How many things the answer consists of, calls and others.
    pub(super) length: usize,
    /// Other things that wait for the client to do them, by kind or name.
    pub(super) others: Vec<String>,
    /// Things that the provider itself did, by kind.
    pub(super) hosted: Vec<String>,
    /// Whether the answer has alternatives, of which only the first was read.
    pub(super) alternatives: bool,
    /// How the answer ended.
    pub(super) ending: Ending,
}

/// A call of a function.
#[derive(Debug)]
pub(super) struct ToolCall<'t> {
    /// Its place among the things that the answer consists of.
    pub(super) place: usize,
    /// The id that pairs it with its result. A call should have one that is not empty.
    pub(super) id: Option<Cow<'t, str>>,
    /// The function; empty when the call names none.
    pub(super) name: Cow<'t, str>,
    /// The arguments.
    pub(super) arguments: Arguments<'t>,
}

/// The arguments of a call.
#[derive(Debug)]
pub(super) enum Arguments<'t> {
    /// JSON that the model wrote as a text. An empty text means no arguments.
    Text(Cow<'t, str>),
    /// JSON that the provider read.
    Json(Value<'t>),
    /// Not arguments. Says why, to the model.
    Unreadable(&'static str),
}

/// How a model's answer ended, where it says.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// It does not say, or the model was done.
    #[default]
    Regular,
    /// At a limit of tokens: what came last may lack its end.
    CutOff,
    /// Because a call went wrong; says how, and what to do.
    Failed(&'static str),
    /// For a reason that does not go with calls of tools.
    Other,
}

impl<'t> Arguments<'t> {
    /// Arguments that may lack their end.
    pub(super) const CUT_OFF: Self = Self::Unreadable(
        "The call was cut off at the limit of tokens and did not run. \
         Please retry with shorter arguments or a higher limit.",
    );

    /// The arguments in a member that is an object where there are any.
    pub(super) fn object(member: Option<Value<'t>>) -> Self {
        Self::Json(member.unwrap_or_else(empty))
    }

    /// The arguments in a member that is a text of JSON where there are any.
    pub(super) fn text(member: Option<Value<'t>>) -> Self {
        match member {
            None => Self::Json(empty()),
            Some(Value::String(text)) => Self::Text(text),
            Some(_) => Self::Unreadable("The arguments must be a string of JSON."),
        }
    }

    /// Reads the arguments: at most `limit` bytes of JSON, and in a text at most `left` values.
    ///
    /// # Errors
    /// What is wrong with them, for the model: the place, never a value.
    pub(super) fn read(self, limit: usize, left: &mut usize) -> Result<Value<'t>, String> {
        let size = match &self {
            Self::Text(text) => text.len(),
            Self::Json(value) => value.text().len(),
            Self::Unreadable(_) => 0,
        };
        if size > limit {
            return Err(format!(
                "The arguments have {size} bytes of JSON; at most {limit} are taken."
            ));
        }
        match self {
            Self::Text(text) if text.is_empty() => Ok(empty()),
            Self::Text(Cow::Borrowed(text)) => json::parse_within(text, left).map_err(invalid),
            // Most have quotes in them, and so an escape or two.
            Self::Text(Cow::Owned(text)) => {
                json::parse_within(&text, left).map(Value::into_owned).map_err(invalid)
            }
            Self::Json(value) => Ok(value),
            Self::Unreadable(why) => Err(why.to_owned()),
        }
    }
}

fn empty<'t>() -> Value<'t> {
    Value::Object(Object::default())
}

fn invalid(error: JsonError) -> String {
    format!("Invalid JSON in arguments. Please retry with valid JSON. Found: {error}.")
}

impl Turn<'_> {
    /// Keeps a call from running that came last in an answer that was cut off: it may not be
    /// whole. Arguments that lack their end can look complete where a provider repairs them.
    pub(super) fn stop_cut_call(&mut self) {
        if self.ending == Ending::CutOff
            && let Some(call) = self.calls.last_mut()
            && call.place + 1 == self.length
        {
            call.arguments = Arguments::CUT_OFF;
        }
    }

    /// Leaves calls to the client by the name of their function.
    pub(super) fn leave(&mut self, wanted: impl Fn(&str) -> bool) {
        let calls = std::mem::take(&mut self.calls);
        let (left, kept): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| wanted(&call.name));
        self.calls = kept;
        self.others.extend(left.into_iter().map(|call| call.name.into_owned()));
    }

    /// What the client should know of the answer. `no_calls` says whether it had none from the
    /// beginning.
    pub(super) fn warnings(&self, no_calls: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.others.is_empty() {
            warnings.push(format!(
                "Response contains tool_calls that are not run here. Client must execute tools and \
                 send results to continue conversation: {}",
                listed(&self.others)
            ));
        }
        if !self.hosted.is_empty() {
            warnings.push(format!(
                "The provider runs these itself; they have no result here: {}",
                listed(&self.hosted)
            ));
        }
        if no_calls && self.others.is_empty() {
            warnings.push("There are no tool calls to run".to_owned());
        }
        if self.alternatives {
            warnings.push("Only the first choice was read".to_owned());
        }
        match self.ending {
            Ending::Regular => {}
            Ending::CutOff => warnings.push("The model's answer was cut off".to_owned()),
            Ending::Failed(why) => warnings.push(why.to_owned()),
            Ending::Other if no_calls => {}
            Ending::Other => warnings.push(
                "The model's answer has tool calls but did not end in order to make them"
                    .to_owned(),
            ),
        }
        warnings
    }
}

/// The different ones of some names, as many as a person reads.
fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    let mut different: Vec<_> = Vec::new();
    for name in names.iter().map(|name| excerpt(name)) {
        if !different.contains(&name) {
            different.push(name);
        }
    }
    if different.len() > MOST {
        different.truncate(MOST);
        different.push("…".to_owned());
    }
    different.join(", ")
}

/// Takes a text out of an object; `None` where it is absent, empty or not a text.
pub(super) fn text<'t>(object: &mut Object<'t>, names: &[&str]) -> Option<Cow<'t, str>> {
    match take(object, names) {
        Some(Value::String(text)) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Takes the member that has one of these names out of an object.
pub(super) fn take<'t>(object: &mut Object<'t>, names: &[&str]) -> Option<Value<'t>> {
    names.iter().find_map(|name| object.take(name))
}

/// Takes a list out of an object, where it may be absent.
///
/// # Errors
/// What it must be.
pub(super) fn list<'t>(
    object: &mut Object<'t>,
    names: &[&'static str],
    place: Place<'_>,
) -> Result<Vec<Value<'t>>, String> {
    match take(object, names) {
        None => Ok(Vec::new()),
        Some(Value::Array(items)) => Ok(items),
        Some(_) => {
            Err(format!("{place}{} must be an array", names.first().copied().unwrap_or_default()))
        }
    }
}

/// An object of a provider's format.
///
/// # Errors
/// What it must be.
pub(super) fn object<'t>(value: Value<'t>, place: Place<'_>) -> Result<Object<'t>, String> {
    match value {
        Value::Object(object) => Ok(present(object)),
        _ => Err(format!("{place} must be an object")),
    }
}

/// An object of a provider's format without its members that are null, which count as absent: the
/// providers' libraries write all members. Do not use it for a call's arguments: there the tool's schema decides.
pub(super) fn present(mut object: Object<'_>) -> Object<'_> {
    object.retain(|_, value| !value.is_null());
    object
}
