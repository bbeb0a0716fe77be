//! Validates the arguments of calls against the schemas of a request (2api.ai, 7.3).
//!
//! `toolbooth_schema` compiles schemas when the Worker is built, into tables that live as long as the program; these
//! schemas arrive with a request. A small interpreter reads them as they are. It does not check the keywords of
//! [`UNCHECKED`]: arguments are rejected only if they are invalid whatever those keywords say.

use std::cell::Cell;

use super::error::{ErrorKind, GatewayError, Result};
use super::request::Tool;
use crate::wire::ToolCall;
use toolbooth::json::{self, Object, Value};
use toolbooth::schema::text::excerpt;
use toolbooth::schema::{is_multiple, is_unique, order};

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

    /// Checks that the arguments of calls are JSON, and match the schema of their tool.
    pub(super) fn check<'c>(
        &self,
        calls: impl Iterator<Item = &'c ToolCall<'static>>,
    ) -> Result<()> {
        for call in calls.filter(|call| !call.custom) {
            if let Err(reason) = self.check_one(call) {
                let name = excerpt(&call.name);
                let message =
                    format!("The model called tool '{name}' with invalid arguments: {reason}");
                return Err(GatewayError::new(ErrorKind::InvalidArguments, message));
            }
        }
        Ok(())
    }

    fn check_one(&self, call: &ToolCall<'_>) -> Result<(), String> {
        let text = call.arguments.text();
        let arguments = json::parse(&text).map_err(|error| error.to_string())?;
        let schema = self.0.iter().find(|(name, _)| *name == call.name);
        let Some((_, schema)) = schema else { return Err("there is no such tool".to_owned()) };
        // A schema that cannot be read was accepted by the provider: nothing is known to be invalid.
        let Ok(root) = json::parse(schema) else { return Ok(()) };
        let check = Check { root: &root, steps: Cell::new(MAX_STEPS) };
        match check.verdict(&root, &arguments, 0) {
            Some(false) => Err(check.place(&root, &arguments, &mut String::new())),
            Some(true) | None => Ok(()),
        }
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

/// Whether a value is valid; `None` if a keyword that is not checked decides it.
type Verdict = Option<bool>;

/// Whether all hold.
fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let mut all = Some(true);
    for verdict in verdicts {
        match verdict {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

fn not(verdict: Verdict) -> Verdict {
    verdict.map(|holds| !holds)
}

/// Whether the number of those that hold is in a range.
fn count_in(verdicts: impl IntoIterator<Item = Verdict>, least: usize, most: usize) -> Verdict {
    let (mut certain, mut possible) = (0, 0);
    for verdict in verdicts {
        certain += usize::from(verdict == Some(true));
        possible += usize::from(verdict != Some(false));
    }
    if certain > most || possible < least {
        Some(false)
    } else {
        (certain >= least && possible <= most).then_some(true)
    }
}

impl<'s> Check<'s> {
    fn verdict(&self, schema: &'s Value<'s>, value: &Value<'_>, depth: usize) -> Verdict {
        let members = match schema {
            Value::Bool(truth) => return Some(*truth),
            Value::Object(members) => members,
            _ => return None,
        };
        let left = self.steps.get().checked_sub(1).filter(|_| depth < MAX_DEPTH)?;
        self.steps.set(left);
        let inner =
            |schema: &'s Value<'s>, value: &Value<'_>| self.verdict(schema, value, depth + 1);
        let inner: Inner<'_, 's> = &inner;
        let each =
            |schemas: &'s Value<'s>| list(schemas).iter().map(move |schema| inner(schema, value));
        all(members.iter().map(|(keyword, expected)| match &**keyword {
            "$ref" => inner(self.resolve(expected)?, value),
            "allOf" => all(each(expected)),
            "anyOf" => count_in(each(expected), 1, usize::MAX),
            "oneOf" => count_in(each(expected), 1, 1),
            "not" => not(inner(expected, value)),
            "if" => {
                let branch = |name| members.get(name).map_or(Some(true), |it| inner(it, value));
                match inner(expected, value) {
                    Some(true) => branch("then"),
                    Some(false) => branch("else"),
                    None => Some(branch("then")).filter(|then| *then == branch("else"))?,
                }
            }
            keyword if UNCHECKED.contains(&keyword) => None,
            keyword => match value {
                Value::Array(items) => array(keyword, expected, members, items, inner),
                Value::Object(it) => object(keyword, expected, members, it, value, inner),
                _ => None,
            }
            .unwrap_or_else(|| Some(plain(keyword, expected, value))),
        }))
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
            if self.verdict(inner, member, 0) == Some(false) {
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

/// Applies a schema.
type Inner<'a, 's> = &'a dyn Fn(&'s Value<'s>, &Value<'_>) -> Verdict;

/// Whether a keyword for arrays holds; `None` for others.
fn array<'s>(
    keyword: &str,
    expected: &'s Value<'s>,
    members: &'s Object<'s>,
    items: &[Value<'_>],
    inner: Inner<'_, 's>,
) -> Option<Verdict> {
    let prefix = members.get("prefixItems").map_or(&[][..], list);
    let each = || items.iter().map(|item| inner(expected, item));
    Some(match keyword {
        "prefixItems" => all(prefix.iter().zip(items).map(|(schema, item)| inner(schema, item))),
        "items" => all(each().skip(prefix.len())),
        "contains" => {
            let least = count(members.get("minContains")).unwrap_or(1);
            count_in(each(), least, count(members.get("maxContains")).unwrap_or(usize::MAX))
        }
        "minItems" => Some(count(Some(expected)).is_none_or(|least| items.len() >= least)),
        "maxItems" => Some(count(Some(expected)).is_none_or(|most| items.len() <= most)),
        "uniqueItems" => Some(*expected != Value::Bool(true) || is_unique(items)),
        _ => return None,
    })
}

/// Whether a keyword for objects holds; `None` for others. `whole` is the object of these members.
fn object<'s>(
    keyword: &str,
    expected: &'s Value<'s>,
    members: &'s Object<'s>,
    value: &Object<'_>,
    whole: &Value<'_>,
    inner: Inner<'_, 's>,
) -> Option<Verdict> {
    // The members that the keyword names, each with what it says about them.
    let named = expected.as_object().into_iter().flat_map(Object::iter);
    let mut named = named.filter_map(|(name, expected)| Some((expected, value.get(name)?)));
    let has_all = |expected: &Value<'_>| names(expected).all(|name| value.contains(name));
    Some(match keyword {
        "properties" => all(named.map(|(schema, member)| inner(schema, member))),
        "dependentSchemas" => all(named.map(|(schema, _)| inner(schema, whole))),
        "dependentRequired" => Some(named.all(|(others, _)| has_all(others))),
        "required" => Some(has_all(expected)),
        "additionalProperties" if members.contains("patternProperties") => None,
        "additionalProperties" => {
            let declared = members.get("properties").and_then(Value::as_object);
            let is_declared = |name: &str| declared.is_some_and(|it| it.contains(name));
            let others = value.iter().filter(|(name, _)| !is_declared(name));
            all(others.map(|(_, member)| inner(expected, member)))
        }
        "propertyNames" => {
            all(value.iter().map(|(name, _)| inner(expected, &Value::from(&**name))))
        }
        "minProperties" => Some(count(Some(expected)).is_none_or(|least| value.len() >= least)),
        "maxProperties" => Some(count(Some(expected)).is_none_or(|most| value.len() <= most)),
        _ => return None,
    })
}

/// Whether a keyword for values of any type, strings or numbers holds. Others restrict nothing.
fn plain(keyword: &str, expected: &Value<'_>, value: &Value<'_>) -> bool {
    let text = |holds: &dyn Fn(usize, usize) -> bool| {
        let (text, limit) = (value.as_str(), count(Some(expected)));
        text.zip(limit).is_none_or(|(text, limit)| holds(text.chars().count(), limit))
    };
    let number = |holds: &dyn Fn(std::cmp::Ordering) -> bool| {
        let both = value.as_number().is_some() && expected.as_number().is_some();
        !both || holds(order(value, expected))
    };
    match keyword {
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
        _ => true,
    }
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
