//! What came of a task, as it is kept.

use serde::{Deserialize, Serialize};

use super::{KEPT, LONGEST};
use crate::call::ToolSelector;
use crate::call::outcome::Outcome;
use crate::call::rejection::Rejection;
use crate::catalog::{Catalog, Tool};
use crate::json;
use crate::seal::StateKeys;
use crate::tool::ToolError;

/// What came of a task.
#[derive(Serialize, Deserialize)]
pub(super) enum TaskEnd {
    /// The tool returned a value.
    Done { tool: String, call_id: Option<String>, duration_ms: u64, value: String },
    /// The tool failed, or its call was rejected after it had begun.
    Failed { tool: String, call_id: Option<String>, duration_ms: u64, error: ToolError },
    /// The server failed.
    Crashed,
}

impl TaskEnd {
    /// What is kept of an outcome of `tool`. Notifications are not.
    pub(super) fn new(tool: &str, outcome: Outcome) -> Self {
        let tool = tool.to_owned();
        match outcome {
            Outcome::Done { call_id, duration_ms, value, .. } => {
                Self::Done { tool, call_id, duration_ms, value: json::to_string(&value) }
            }
            Outcome::Failed { call_id, duration_ms, error, .. } => {
                Self::Failed { tool, call_id, duration_ms, error }
            }
            Outcome::Rejected(Rejection::Internal) => Self::Crashed,
            Outcome::InvalidInput(input) => Self::failed(tool, input.to_string()),
            Outcome::InputRequired { required, .. } => {
                Self::failed(tool, Rejection::from(required).describe().to_string())
            }
            Outcome::Rejected(rejection) => Self::failed(tool, rejection.describe().to_string()),
        }
    }

    pub(super) fn failed(tool: String, message: String) -> Self {
        let error = ToolError::new(message);
        Self::Failed { tool, call_id: None, duration_ms: 0, error }
    }

    /// Seals it. A value that is too large to be kept becomes an error.
    pub(super) fn seal(self, tool: &str, keys: &StateKeys, expires_ms: u64) -> String {
        let is_readable = match &self {
            Self::Done { value, .. } => json::parse(value).is_ok(),
            Self::Failed { .. } | Self::Crashed => true,
        };
        let sealed = keys.seal(KEPT, &self, expires_ms);
        if is_readable && sealed.len() <= LONGEST {
            return sealed;
        }
        let error = format!(
            "The result is too large to be kept: it may have {} bytes and 65536 values",
            LONGEST / 4 * 3
        );
        keys.seal(KEPT, &Self::failed(tool.to_owned(), error), expires_ms)
    }

    /// The outcome, and the tool, if the catalogue still has it.
    pub(super) fn into_outcome(self, catalog: &Catalog) -> (Option<&'static Tool>, Outcome) {
        let notifications = Vec::new();
        let (tool, outcome) = match self {
            Self::Done { tool, call_id, duration_ms, value } => {
                let Ok(value) = json::parse(&value) else {
                    return (None, Outcome::Rejected(Rejection::Internal));
                };
                let value = (&value).into();
                (tool, Outcome::Done { call_id, duration_ms, value, notifications })
            }
            Self::Failed { tool, call_id, duration_ms, error } => {
                (tool, Outcome::Failed { call_id, duration_ms, error, notifications })
            }
            Self::Crashed => return (None, Outcome::Rejected(Rejection::Internal)),
        };
        (ToolSelector::Id(tool.into()).resolve(catalog).ok(), outcome)
    }
}
