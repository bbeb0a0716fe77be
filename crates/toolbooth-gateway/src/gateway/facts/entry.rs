//! What an operator says of a model: `facts` of an entry of `MODELS`.

use crate::gateway::facts::Facts;
use toolbooth::json::{self, Object, Value};

const TRUTH: &str = "true or false";
const REJECTED: &str = "an array of frequency_penalty, logit_bias, logprobs, presence_penalty, seed, stop, temperature, top_k, \
                        top_logprobs, top_p";
const EFFORTS: &str = "an array of none, minimal, low, medium, high, xhigh, max";

/// The members, and what each must be. What a model writes at most is a member of the entry itself.
const MEMBERS: [(&str, &str); 13] = [
    ("like", "the name of a model"),
    ("api", "chat, responses, responses_for_tools or responses_for_tools_with_effort"),
    ("rejects", REJECTED),
    ("rejects_thinking", REJECTED),
    (
        "thinking",
        "an array of adaptive, enabled, disabled, between_tools (Anthropic), effort (OpenAI), budget, level (Gemini)",
    ),
    ("thinks_by_default", TRUTH),
    ("efforts", EFFORTS),
    ("responses_efforts", EFFORTS),
    ("budgets", "an array of the least and the most tokens for thinking"),
    ("display", "summarized or omitted"),
    ("signatures", TRUTH),
    ("forced_calls", TRUTH),
    ("prefill", TRUTH),
];

impl Facts {
    /// Reads the facts of the entry at `place`. The error says which member is wrong.
    pub(crate) fn read(value: &Value<'_>, place: &str) -> Result<Self, String> {
        let known = MEMBERS.map(|(name, _)| name);
        let members = value.as_object().filter(|members| members.has_only(&known));
        let Some(members) = members else {
            return Err(format!("{place}.facts must be an object with {}", known.join(", ")));
        };
        for (name, expected) in MEMBERS {
            let Some(member) = members.get(name) else { continue };
            let mut alone = Object::default();
            alone.insert(name.into(), member.clone());
            let read: Option<Self> = json::read_value(&Value::Object(alone));
            let is_reversed = |facts: Self| facts.budgets.is_some_and(|[least, most]| least > most);
            if read.is_none_or(is_reversed) {
                return Err(format!("{place}.facts.{name} must be {expected}"));
            }
        }
        Ok(json::read_value(value).unwrap_or_default())
    }
}
