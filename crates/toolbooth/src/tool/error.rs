//! How a tool fails.

use serde::Serialize;
use serde_json::Value;

use crate::json::Writer;

/// A tool's own failure (OXP `ToolError`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolError {
    /// What went wrong, for the user and the model.
    pub message: String,
    /// Detail for a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub developer_message: Option<String>,
    /// Whether the same call, or one with better input, may succeed.
    pub can_retry: bool,
    /// What would help the model to do better, such as the accepted values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_prompt_content: Option<String>,
    /// How many milliseconds to wait before the next try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
}

impl ToolError {
    /// A failure that trying again does not mend.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// With detail for a log.
    #[must_use]
    pub fn developer_message(mut self, detail: impl Into<String>) -> Self {
        self.developer_message = Some(detail.into());
        self
    }

    /// With words that help the model to mend its input; the call may then be tried again.
    #[must_use]
    pub fn prompt(mut self, content: impl Into<String>) -> Self {
        self.can_retry = true;
        self.additional_prompt_content = Some(content.into());
        self
    }

    /// May be tried again after `ms` milliseconds.
    #[must_use]
    pub fn retry_after_ms(mut self, ms: u64) -> Self {
        self.can_retry = true;
        self.retry_after_ms = Some(ms);
        self
    }

    /// What it says besides its message, by OXP's names.
    pub(crate) fn details(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let text = |text: &Option<String>| text.as_deref().map(Value::from);
        let all = [
            ("developer_message", text(&self.developer_message)),
            ("can_retry", Some(self.can_retry.into())),
            ("additional_prompt_content", text(&self.additional_prompt_content)),
            ("retry_after_ms", self.retry_after_ms.map(Value::from)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    /// Adds it to a text, in OXP's form.
    pub(crate) fn write(&self, json: &mut Writer) {
        json.json(r#"{"message":"#).string(&self.message);
        for (name, value) in self.details() {
            json.member(name).value(&value);
        }
        json.json("}");
    }
}
