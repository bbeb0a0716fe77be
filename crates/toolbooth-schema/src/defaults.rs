//! The defaults of a schema, which are filled in before a tool runs.

use std::borrow::Cow;

use crate::Literal;
use crate::json::Value;

/// The defaults in a value: those of its members, and of the values in it.
#[derive(Debug, Clone, Copy)]
pub struct Defaults {
    /// The members to add if they are absent.
    pub members: &'static [(&'static str, Literal)],
    /// The defaults in members.
    pub within: &'static [(&'static str, Defaults)],
    /// The defaults in members without a schema of their own (`additionalProperties`).
    pub rest: Option<&'static Defaults>,
    /// The defaults in the items of an array.
    pub items: Option<&'static Defaults>,
}

impl Defaults {
    /// No defaults.
    pub const NONE: Self = Self { members: &[], within: &[], rest: None, items: None };

    /// Adds the members of a valid value that are absent and have a default.
    pub fn fill(&self, value: &mut Value<'_>) {
        match value {
            Value::Object(members) => {
                for (name, default) in self.members {
                    if !members.contains(name) {
                        members.insert(Cow::Borrowed(name), (*default).into());
                    }
                }
                if self.within.is_empty() && self.rest.is_none() {
                    return;
                }
                members.retain(|name, member| {
                    let within = self.within.iter().find(|(known, _)| *known == name);
                    if let Some(defaults) = within.map(|(_, within)| within).or(self.rest) {
                        defaults.fill(member);
                    }
                    true
                });
            }
            Value::Array(items) => {
                if let Some(defaults) = self.items {
                    items.iter_mut().for_each(|item| defaults.fill(item));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const POINT: Defaults =
        Defaults { members: &[("x", Literal::String("here"))], ..Defaults::NONE };
    const ALL: Defaults = Defaults {
        members: &[("flag", Literal::Bool(true)), ("point", Literal::Object(&[]))],
        within: &[("point", POINT), ("points", Defaults { items: Some(&POINT), ..Defaults::NONE })],
        rest: Some(&POINT),
        ..Defaults::NONE
    };

    #[test]
    fn absent_members_get_their_default() {
        let here = json!({"x": "here"});
        for (value, expected) in [
            (json!({}), json!({"flag": true, "point": here})),
            (json!({"flag": false}), json!({"flag": false, "point": here})),
            (json!({"flag": null}), json!({"flag": null, "point": here})),
            (json!({"point": {"x": 1}}), json!({"flag": true, "point": {"x": 1}})),
            (
                json!({"points": [{}, {"x": 1}], "flag": 1, "point": 1}),
                json!({"points": [here, {"x": 1}], "flag": 1, "point": 1}),
            ),
            (json!({"other": {}}), json!({"other": here, "flag": true, "point": here})),
            (json!([{}]), json!([{}])),
            (json!("text"), json!("text")),
        ] {
            let mut filled = Value::from(&value);
            ALL.fill(&mut filled);
            assert_eq!(serde_json::Value::from(&filled), expected, "{value}");
        }
    }
}
