//! Sample calls: how to write a call in a protocol, and how to read the response.
//!
//! The tests that compare protocols iterate over them, so they include a new protocol without a change.
//! `site/src/protocols.json` has the same samples for the playground and the tests in Node.

use serde_json::{Value, json};

/// The paths below a protocol's mount that accept calls, with what they accept; `{name}` is the name of the tool. A
/// sample without paths only shows the format of rejections.
pub type PathSample = (&'static [&'static str], &'static Sample);

/// The samples of a protocol, for tests: the Worker does not contain them.
pub const fn for_tests(samples: &'static [PathSample]) -> &'static [PathSample] {
    if cfg!(any(test, feature = "testing")) { samples } else { &[] }
}

/// How to write a call in a protocol, and how to read the response.
#[derive(Debug)]
pub struct Sample {
    /// The name of the protocol in reports.
    pub title: &'static str,
    /// Writes one call.
    pub call: fn(&SampleCall<'_>) -> Value,
    /// Puts calls into a body.
    pub body: fn(Vec<Value>) -> Value,
    /// Whether a body can have several calls.
    pub batches: bool,
    /// Whether a call can carry a user, tokens and secrets.
    pub carries_context: bool,
    /// Where a response has the value of the first call: a JSON pointer.
    pub value: &'static str,
    /// How the value is written.
    pub value_form: ValueForm,
    /// Whether a response has no value for the first call.
    pub is_error: fn(&Value) -> bool,
    /// Where a response may describe the error of the first call: JSON pointers.
    pub error: &'static [&'static str],
    /// Where the response to a rejected request describes the error: JSON pointers.
    pub rejection: &'static [&'static str],
    /// Further members of the response to a rejected request, as JSON.
    pub rejection_members: &'static str,
    /// The status of a call without the scope that the tool requires.
    pub missing_scope_status: u16,
    /// The status of a call without the token that the tool requires.
    pub missing_requirements_status: u16,
    /// The query of lists that leave out incompatible tools.
    pub list_query: &'static str,
}

/// How a protocol writes the value of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueForm {
    /// As it is.
    Json,
    /// As an object: any other value is its member `result`.
    Object,
    /// As a text for a model: a string as it is, anything else as JSON.
    Text,
}

/// What a call contains.
#[derive(Debug, Clone, Copy)]
pub struct SampleCall<'a> {
    /// The id of the call.
    pub id: &'a str,
    /// The tool: `Toolkit.Tool`, with or without version.
    pub tool_id: &'a str,
    /// The same tool by its name.
    pub name: &'a str,
    /// The input.
    pub input: &'a Value,
    /// The user, tokens and secrets, if the test has any.
    pub context: Option<&'a Value>,
}

impl Sample {
    /// A protocol whose calls are one by one and alone in their bodies, without context, and whose values are as they are.
    pub const fn new(title: &'static str, call: fn(&SampleCall<'_>) -> Value) -> Self {
        Self {
            title,
            call,
            body: only,
            batches: false,
            carries_context: false,
            value: "",
            value_form: ValueForm::Json,
            is_error: |_| false,
            error: &[],
            rejection: &[],
            rejection_members: "{}",
            missing_scope_status: 403,
            missing_requirements_status: 400,
            list_query: "",
        }
    }

    /// A body with one call.
    pub fn request(&self, call: &SampleCall<'_>) -> Value {
        (self.body)(vec![(self.call)(call)])
    }

    /// The value of a call.
    ///
    /// # Errors
    /// The description of the error.
    pub fn read(&self, response: &Value) -> Result<Value, String> {
        if !(self.is_error)(response) {
            return Ok(response.pointer(self.value).cloned().unwrap_or_default());
        }
        let texts = self.error.iter().filter_map(|pointer| response.pointer(pointer));
        let texts = texts.filter(|text| !text.is_null()).map(|text| match text {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        });
        Err(texts.collect::<Vec<_>>().join(": "))
    }

    /// Whether `written` is how the protocol writes `value`.
    pub fn is(&self, written: &Value, value: &Value) -> bool {
        match (self.value_form, value) {
            (ValueForm::Json, _) | (ValueForm::Object, Value::Object(_)) => written == value,
            (ValueForm::Object, Value::Null) => {
                *written == json!({}) || *written == json!({"result": null})
            }
            (ValueForm::Object, _) => *written == json!({ "result": value }),
            (ValueForm::Text, Value::String(_)) => written == value,
            // A sentence says that there is no value.
            (ValueForm::Text, Value::Null) => written.as_str().is_some_and(|text| !text.is_empty()),
            (ValueForm::Text, _) => written
                .as_str()
                .is_some_and(|text| serde_json::from_str(text).is_ok_and(|it: Value| it == *value)),
        }
    }
}

/// The JSON of a response: the body, or the data of the second event of a stream. Any other text is a string.
pub fn response_json(body: &[u8]) -> Value {
    let text = str::from_utf8(body).unwrap_or_default();
    let event = text.split("\n\n").nth(1).and_then(|event| event.split_once("\ndata:"));
    let json = event.map_or(text, |(_, data)| data);
    serde_json::from_str(json).unwrap_or_else(|_| json.into())
}

/// The body of a protocol without batches.
pub(crate) fn only(calls: Vec<Value>) -> Value {
    calls.into_iter().next().unwrap_or_default()
}
