//! Validates the arguments of calls against the schemas of a request (2api.ai, 7.3).
//!
//! `toolbooth_schema` compiles schemas when the Worker is built, into tables that live as long as the program; these
//! schemas arrive with a request. A small interpreter reads them as they are. It does not check the keywords of
//! [`UNCHECKED`]: arguments are rejected only if they are invalid whatever those keywords say.

use std::cell::Cell;

use super::completion::ToolCall;
use super::error::{ErrorKind, GatewayError};
use super::request::Tool;
use crate::json::{self, Object, Value};
use crate::schema::{is_multiple, is_unique, order};
use crate::text::excerpt;

/// Keywords that need an engine for regular expressions, or the results of other keywords.
const UNCHECKED: [&str; 6] = [
    "$dynamicRef",
    "format",
    "pattern",
    "patternProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// The most schemas that are applied to the arguments of one call. `$ref` may repeat a schema without end.
const MAX_STEPS: u32 = 100_000;
/// The deepest nesting of schemas.
const MAX_DEPTH: usize = 128;

/// The schemas of a request's tools.
#[derive(Debug)]
pub(super) struct Schemas(Vec<(String, String)>);

impl Schemas {
    pub(super) fn of(tools: &[Tool]) -> Self {
        let schemas = tools.iter().filter_map(|tool| match tool {
            Tool::Function(function) => {
                Some((function.name.clone(), function.parameters.as_ref()?.get().to_owned()))
            }
            Tool::Other { .. } => None,
        });
        Self(schemas.collect())
    }

    /// A warning for each tool with keywords that are not checked.
    pub(super) fn warnings(&self) -> Vec<String> {
        let warning = |(name, schema): &(String, String)| {
            let schema = json::parse(schema).ok()?;
            let unchecked: Vec<_> =
                UNCHECKED.into_iter().filter(|keyword| uses(&schema, keyword)).collect();
            (!unchecked.is_empty()).then(|| {
                format!(
                    "validate_tool_arguments does not check {} of tool '{}'",
                    unchecked.join(", "),
                    excerpt(name)
                )
            })
        };
        self.0.iter().filter_map(warning).collect()
    }

    /// Checks the arguments of calls.
    ///
    /// # Errors
    /// The first arguments that are not JSON, or do not match the schema of their tool.
    pub(super) fn check<'c>(
        &self,
        mut calls: impl Iterator<Item = &'c ToolCall>,
    ) -> Result<(), GatewayError> {
        calls.try_for_each(|call| {
            if call.custom {
                return Ok(());
            }
            self.check_one(call).map_err(|reason| {
                let name = excerpt(&call.name);
                let message =
                    format!("The model called tool '{name}' with invalid arguments: {reason}");
                GatewayError::new(ErrorKind::InvalidArguments, message)
            })
        })
    }

    fn check_one(&self, call: &ToolCall) -> Result<(), String> {
        let arguments = json::parse(&call.arguments).map_err(|error| error.to_string())?;
        let schema = self.0.iter().find(|(name, _)| *name == call.name);
        let Some((_, schema)) = schema else { return Err("there is no such tool".to_owned()) };
        // A schema that cannot be read was accepted by the provider: nothing is known to be invalid.
        let Ok(root) = json::parse(schema) else { return Ok(()) };
        let check = Check { root: &root, steps: Cell::new(MAX_STEPS) };
        if check.holds(&root, &arguments, true, 0) {
            return Ok(());
        }
        Err(check.place(&root, &arguments, &mut String::new()))
    }
}

/// Whether a schema uses a keyword anywhere.
fn uses(schema: &Value<'_>, keyword: &str) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(|item| uses(item, keyword)),
        Value::Object(members) => members.iter().any(|(name, value)| match &**name {
            name if name == keyword => true,
            // Their members are names of the arguments, not keywords.
            "properties" => {
                value.as_object().is_some_and(|all| all.iter().any(|(_, it)| uses(it, keyword)))
            }
            "enum" | "const" | "default" | "examples" => false,
            _ => uses(value, keyword),
        }),
        _ => false,
    }
}

/// A check of one value against a root schema.
struct Check<'s> {
    root: &'s Value<'s>,
    steps: Cell<u32>,
}

impl<'s> Check<'s> {
    /// Whether `value` matches `schema`, where a keyword that is not checked holds if `assume`. So a result of false
    /// with `assume`, or of true without it, is certain.
    fn holds(&self, schema: &'s Value<'s>, value: &Value<'_>, assume: bool, depth: usize) -> bool {
        let members = match schema {
            Value::Bool(truth) => return *truth,
            Value::Object(members) => members,
            _ => return assume,
        };
        let Some(left) = self.steps.get().checked_sub(1).filter(|_| depth < MAX_DEPTH) else {
            return assume;
        };
        self.steps.set(left);
        let inner =
            |schema: &'s Value<'s>, value: &Value<'_>| self.holds(schema, value, assume, depth + 1);
        for (keyword, expected) in members.iter() {
            let holds = match &**keyword {
                "$ref" => match self.resolve(expected) {
                    Some(schema) => inner(schema, value),
                    None => assume,
                },
                "allOf" => list(expected).iter().all(|schema| inner(schema, value)),
                "anyOf" => list(expected).iter().any(|schema| inner(schema, value)),
                "oneOf" => self.one_of(list(expected), value, assume, depth),
                "not" => !self.holds(expected, value, !assume, depth + 1),
                "if" => self.condition(members, expected, value, assume, depth),
                keyword => match value {
                    Value::Array(items) => self.array(keyword, expected, members, items, &inner),
                    Value::Object(it) => self.object(keyword, expected, members, it, &inner),
                    _ => None,
                }
                .or_else(|| plain(keyword, expected, value))
                .unwrap_or(assume || !UNCHECKED.contains(&keyword)),
            };
            if !holds {
                return false;
            }
        }
        true
    }

    fn one_of(
        &self,
        schemas: &'s [Value<'s>],
        value: &Value<'_>,
        assume: bool,
        depth: usize,
    ) -> bool {
        let count = |assume| {
            let holds = |schema: &&'s Value<'s>| self.holds(schema, value, assume, depth + 1);
            schemas.iter().filter(holds).count()
        };
        let (certain, possible) = (count(false), count(true));
        if assume { certain <= 1 && possible >= 1 } else { certain == 1 && possible == 1 }
    }

    fn condition(
        &self,
        members: &'s Object<'s>,
        condition: &'s Value<'s>,
        value: &Value<'_>,
        assume: bool,
        depth: usize,
    ) -> bool {
        let branch = |name| {
            let schema = members.get(name);
            schema.is_none_or(|schema| self.holds(schema, value, assume, depth + 1))
        };
        if self.holds(condition, value, false, depth + 1) {
            branch("then")
        } else if !self.holds(condition, value, true, depth + 1) {
            branch("else")
        } else if assume {
            branch("then") || branch("else")
        } else {
            branch("then") && branch("else")
        }
    }

    /// Whether a keyword for arrays holds; `None` for others.
    fn array(
        &self,
        keyword: &str,
        expected: &'s Value<'s>,
        members: &'s Object<'s>,
        items: &[Value<'_>],
        inner: &dyn Fn(&'s Value<'s>, &Value<'_>) -> bool,
    ) -> Option<bool> {
        let prefix = members.get("prefixItems").map_or(&[][..], list);
        Some(match keyword {
            "prefixItems" => prefix.iter().zip(items).all(|(schema, item)| inner(schema, item)),
            "items" => items.iter().skip(prefix.len()).all(|item| inner(expected, item)),
            "contains" => {
                let least = count(members.get("minContains")).unwrap_or(1);
                let most = count(members.get("maxContains")).unwrap_or(usize::MAX);
                let matches = items.iter().filter(|item| inner(expected, item)).count();
                // Too many are only certain if all keywords are checked.
                let most = if has_unchecked(expected) { usize::MAX } else { most };
                (least..=most).contains(&matches)
            }
            "minItems" => count(Some(expected)).is_none_or(|least| items.len() >= least),
            "maxItems" => count(Some(expected)).is_none_or(|most| items.len() <= most),
            "uniqueItems" => *expected != Value::Bool(true) || is_unique(items),
            _ => return None,
        })
    }

    /// Whether a keyword for objects holds; `None` for others.
    fn object(
        &self,
        keyword: &str,
        expected: &'s Value<'s>,
        members: &'s Object<'s>,
        value: &Object<'_>,
        inner: &dyn Fn(&'s Value<'s>, &Value<'_>) -> bool,
    ) -> Option<bool> {
        let each = |holds: &dyn Fn(&'s Value<'s>, &Value<'_>) -> bool| {
            let mut named = expected.as_object().into_iter().flat_map(Object::iter);
            named.all(|(name, schema)| value.get(name).is_none_or(|member| holds(schema, member)))
        };
        Some(match keyword {
            "properties" => each(inner),
            "required" => names(expected).all(|name| value.contains(name)),
            "additionalProperties" => {
                let declared = members.get("properties").and_then(Value::as_object);
                let by_pattern = members.get("patternProperties").is_some();
                let mut others = value.iter().filter(|(name, _)| {
                    !by_pattern && !declared.is_some_and(|declared| declared.contains(name))
                });
                others.all(|(_, member)| inner(expected, member))
            }
            "propertyNames" => value.iter().all(|(name, _)| inner(expected, &Value::from(&**name))),
            "minProperties" => count(Some(expected)).is_none_or(|least| value.len() >= least),
            "maxProperties" => count(Some(expected)).is_none_or(|most| value.len() <= most),
            "dependentRequired" => {
                each(&|others, _| names(others).all(|name| value.contains(name)))
            }
            "dependentSchemas" => {
                let whole = Value::Object(value.clone());
                each(&|schema, _| inner(schema, &whole))
            }
            _ => return None,
        })
    }

    /// The schema that a reference within the root names.
    fn resolve(&self, reference: &Value<'_>) -> Option<&'s Value<'s>> {
        let pointer = reference.as_str()?.strip_prefix('#')?;
        let mut schema = self.root;
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            schema = match schema {
                Value::Object(members) => members.get(&part)?,
                Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        (pointer.is_empty() || pointer.starts_with('/')).then_some(schema)
    }

    /// Where the value is invalid: the path of the innermost member.
    fn place(&self, schema: &'s Value<'s>, value: &Value<'_>, path: &mut String) -> String {
        let declared = schema.get("properties").and_then(Value::as_object);
        for (name, inner) in declared.into_iter().flat_map(Object::iter) {
            let Some(member) = value.get(name) else { continue };
            if !self.holds(inner, member, true, 0) {
                path.push('/');
                path.push_str(&excerpt(name));
                return self.place(inner, member, path);
            }
        }
        let required = schema.get("required").into_iter().flat_map(names);
        let missing = required.into_iter().find(|name| value.get(name).is_none());
        match (missing.filter(|_| value.as_object().is_some()), path.is_empty()) {
            (Some(name), _) => format!("{path}/{} is missing", excerpt(name)),
            (None, true) => "they do not match the schema".to_owned(),
            (None, false) => format!("{path} does not match the schema"),
        }
    }
}

/// Whether a keyword for values of any type, strings or numbers holds; `None` for others.
fn plain(keyword: &str, expected: &Value<'_>, value: &Value<'_>) -> Option<bool> {
    let text = |holds: &dyn Fn(usize, usize) -> bool| {
        let (text, limit) = (value.as_str(), count(Some(expected)));
        text.zip(limit).is_none_or(|(text, limit)| holds(text.chars().count(), limit))
    };
    let number = |holds: &dyn Fn(std::cmp::Ordering) -> bool| {
        let both = value.as_number().is_some() && expected.as_number().is_some();
        !both || holds(order(value, expected))
    };
    Some(match keyword {
        "type" => match expected {
            Value::String(name) => is_type(name, value),
            other => names(other).any(|name| is_type(name, value)),
        },
        "enum" => list(expected).iter().any(|allowed| order(allowed, value).is_eq()),
        "const" => order(expected, value).is_eq(),
        "minLength" => text(&|length, limit| length >= limit),
        "maxLength" => text(&|length, limit| length <= limit),
        "minimum" => number(&|order| order.is_ge()),
        "maximum" => number(&|order| order.is_le()),
        "exclusiveMinimum" => number(&|order| order.is_gt()),
        "exclusiveMaximum" => number(&|order| order.is_lt()),
        "multipleOf" => value.as_number().zip(expected.as_number()).is_none_or(|(it, divisor)| {
            divisor.as_f64().is_some_and(|it| it <= 0.0) || is_multiple(it.into(), divisor.into())
        }),
        _ => return None,
    })
}

fn is_type(name: &str, value: &Value<'_>) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => matches!(value, Value::Bool(_)),
        "string" => matches!(value, Value::String(_)),
        "number" => matches!(value, Value::Number(_)),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "array" => matches!(value, Value::Array(_)),
        "object" => matches!(value, Value::Object(_)),
        _ => true,
    }
}

fn has_unchecked(schema: &Value<'_>) -> bool {
    UNCHECKED.iter().any(|keyword| uses(schema, keyword))
}

fn list<'v>(value: &'v Value<'v>) -> &'v [Value<'v>] {
    value.as_array().unwrap_or_default()
}

fn names<'v>(value: &'v Value<'_>) -> impl Iterator<Item = &'v str> {
    value.as_array().unwrap_or_default().iter().filter_map(Value::as_str)
}

fn count(value: Option<&Value<'_>>) -> Option<usize> {
    let number = value?.as_number()?;
    let whole = number.as_u64().or_else(|| {
        let float = number.as_f64().filter(|it| it.fract() == 0.0 && *it >= 0.0)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        Some(float as u64)
    });
    usize::try_from(whole?).ok()
}
