//! The defaults of a schema, as a tree that mirrors the value.

use std::collections::BTreeMap;

use serde_json::Value;

use super::shape::{Kind, shape};

/// The defaults in a value: see [`toolbooth_schema::Defaults`].
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Defaults {
    members: BTreeMap<String, Value>,
    within: BTreeMap<String, Defaults>,
    rest: Option<Box<Defaults>>,
    items: Option<Box<Defaults>>,
}

impl Defaults {
    /// The defaults of a schema without references.
    pub(crate) fn of(schema: &Value) -> Self {
        let mut defaults = Self::default();
        let some = |defaults: Self| (defaults != Self::default()).then(|| Box::new(defaults));
        match shape(schema).kind {
            Kind::List(items) => defaults.items = some(Self::of(&items)),
            Kind::Object { properties, rest } => {
                defaults.rest = rest.and_then(|rest| some(Self::of(&rest)));
                for property in properties {
                    if let Some(value) = property.default() {
                        defaults.members.insert(property.name.clone(), value.clone());
                    }
                    // Without an entry, a property would get the defaults of further members.
                    let within = Self::of(&property.schema);
                    if within != Self::default() || defaults.rest.is_some() {
                        defaults.within.insert(property.name, within);
                    }
                }
            }
            _ => {}
        }
        defaults
    }

    /// Adds the defaults that only the newest version has, whose type the function takes.
    pub(crate) fn complete(&mut self, newest: &Self) {
        for (name, value) in &newest.members {
            self.members.entry(name.clone()).or_insert_with(|| value.clone());
        }
        for (name, within) in &newest.within {
            self.within.entry(name.clone()).or_default().complete(within);
        }
        for (own, newest) in [(&mut self.rest, &newest.rest), (&mut self.items, &newest.items)] {
            if let Some(newest) = newest {
                own.get_or_insert_default().complete(newest);
            }
        }
    }

    /// Fills them in, as the server does.
    pub(crate) fn fill(&self, value: &mut Value) {
        match value {
            Value::Object(members) => {
                for (name, default) in &self.members {
                    members.entry(name.clone()).or_insert_with(|| default.clone());
                }
                for (name, member) in members {
                    if let Some(defaults) = self.within.get(name).or(self.rest.as_deref()) {
                        defaults.fill(member);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(defaults) = &self.items {
                    items.iter_mut().for_each(|item| defaults.fill(item));
                }
            }
            _ => {}
        }
    }

    /// The Rust code. It needs `use toolbooth_schema::*` in scope.
    pub(crate) fn codegen(&self) -> String {
        if *self == Self::default() {
            return "Defaults::NONE".to_owned();
        }
        let member = |(name, value)| format!("({name:?}, {}), ", toolbooth_schema::literal(value));
        let members: String = self.members.iter().map(member).collect();
        let inside = |(name, within): (_, &Self)| format!("({name:?}, {}), ", within.codegen());
        let within: String = self.within.iter().map(inside).collect();
        let inner = |defaults: &Option<Box<Self>>| match defaults {
            None => "None".to_owned(),
            Some(defaults) => format!("Some(&{})", defaults.codegen()),
        };
        let (rest, items) = (inner(&self.rest), inner(&self.items));
        format!(
            "Defaults {{ members: &[{members}], within: &[{within}], rest: {rest}, items: {items} }}"
        )
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_version_completes_an_older_one() {
        let schema = |properties: Value| json!({"type": "object", "properties": properties});
        let mut older = Defaults::of(&schema(json!({"a": {"type": "integer", "default": 1}})));
        let newer = Defaults::of(&schema(json!({
            "a": {"type": "integer", "default": 2},
            "b": {"type": ["object", "null"], "default": {}, "properties": {
                "c": {"type": "string", "default": "x"}
            }},
            "d": {"anyOf": [{"type": "null"}, {"type": "array", "items": schema(json!({
                "e": {"type": "boolean", "default": true}
            }))}]},
            "f": {"type": "string", "default": null}
        })));
        older.complete(&newer);
        let mut value = json!({"d": [{}, {"e": false}]});
        older.fill(&mut value);
        assert_eq!(value, json!({"a": 1, "b": {"c": "x"}, "d": [{"e": true}, {"e": false}]}));
    }
}
