//! Validates the arguments of calls against the schemas of a request (2api.ai, 7.3).
//!
//! `toolbooth_schema` compiles schemas when the Worker is built, into tables that live as long as the program. These
//! schemas arrive with a request, so a small interpreter reads them as they are. It shares the comparison of values.
//!
//! The tables could not serve them as they are. A table has no references, which may be endless here; it knows each
//! keyword, and here some are not checked ([`UNCHECKED`]), so that arguments are rejected only if they are invalid whatever
//! those say; and nothing counts its steps, because the build has seen each schema. All three would be in the loop that
//! checks each call of a compiled-in tool. They are 220 of the 335 lines here, and stay in any case. The other 115 are the
//! keywords; to borrow tables instead, the Worker would get the 176 lines that read a schema into tables, which only the
//! build has now. To check `pattern` as well, it would get an engine for regular expressions: 265 KB compressed, beside 481
//! KB for a Worker with the gateway (docs/SIZE.md, November 2026).

use std::cell::Cell;

use crate::gateway::conversation::tool::{FunctionTool, Tool};
use crate::gateway::error::{ErrorKind, GatewayError, Result};
use crate::gateway::notes::Notes;
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
/// The most work on the calls of an answer, in steps of about the same time: a keyword that is applied, or a value that is compared.
/// `$ref` may repeat a schema without end.
const MAX_STEPS: usize = 1_000_000;
/// How much of a text is a step, in bytes.
const TEXT_STEP: usize = 64;
const MAX_DEPTH: usize = 128;
/// The most JSON values in the arguments of a call: as many as 256 KiB can have, and more.
const MAX_VALUES: usize = 262_144;

pub(in crate::gateway) struct Schemas(Vec<(String, String)>);

impl Schemas {
    /// The schemas of these tools. The notes get a warning for each with keywords that are not checked.
    pub(in crate::gateway) fn of(tools: &[Tool], notes: &Notes) -> Self {
        let mut schemas = Vec::new();
        for tool in tools {
            let Tool::Function(FunctionTool { name, parameters: Some(schema), .. }) = tool else {
                continue;
            };
            let parsed = json::parse(schema.get()).unwrap_or_default();
            let unchecked: Vec<_> =
                UNCHECKED.into_iter().filter(|keyword| uses(&parsed, keyword)).collect();
            if !unchecked.is_empty() {
                notes.warn(format!(
                    "validate_tool_arguments does not check {} of tool '{}'",
                    unchecked.join(", "),
                    excerpt(name)
                ));
            }
            schemas.push((name.clone(), schema.get().to_owned()));
        }
        Self(schemas)
    }

    /// Checks that the arguments of calls are JSON, and match the schema of their tool. If that takes too many steps, the rest is
    /// not checked.
    pub(in crate::gateway) fn check<'c>(
        &self,
        calls: impl Iterator<Item = &'c ToolCall<'static>>,
    ) -> Result<()> {
        let steps = Cell::new(MAX_STEPS);
        for call in calls.filter(|call| !call.custom) {
            if let Err(reason) = self.check_one(call, &steps) {
                let name = excerpt(&call.name);
                let message =
                    format!("The model called tool '{name}' with invalid arguments: {reason}");
                return Err(GatewayError::new(ErrorKind::InvalidArguments, message));
            }
        }
        Ok(())
    }

    fn check_one(&self, call: &ToolCall<'_>, steps: &Cell<usize>) -> Result<(), String> {
        let text = call.arguments.text();
        let arguments = json::parse_within(&text, &mut { MAX_VALUES });
        let arguments = arguments.map_err(|error| error.to_string())?;
        let schema = self.0.iter().find(|(name, _)| *name == call.name);
        let Some((_, schema)) = schema else { return Err("there is no such tool".to_owned()) };
        // A schema that cannot be read was accepted by the provider: nothing is known to be invalid.
        let Ok(root) = json::parse(schema) else { return Ok(()) };
        let check = Check { root: &root, steps };
        match check.verdict(&root, &arguments, 0) {
            Some(false) => Err(check.place(&root, &arguments, &mut String::new())),
            Some(true) | None => Ok(()),
        }
    }
}

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

struct Check<'s> {
    root: &'s Value<'s>,
    /// What is left for all calls of the answer.
    steps: &'s Cell<usize>,
}

/// Whether a value is valid; `None` if a keyword that is not checked decides it.
type Verdict = Option<bool>;

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
        self.take(1).filter(|()| depth < MAX_DEPTH)?;
        let members = match schema {
            Value::Bool(truth) => return Some(*truth),
            Value::Object(members) => members,
            _ => return None,
        };
        all(members
            .iter()
            .map(|(keyword, expected)| self.keyword(keyword, expected, members, value, depth)))
    }

    /// Takes steps; `None` if there are not so many left.
    fn take(&self, steps: usize) -> Option<()> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.unwrap_or_default());
        left.map(|_| ())
    }

    fn equals(&self, expected: &Value<'_>, value: &Value<'_>) -> Verdict {
        self.take(steps_of(expected, value))?;
        Some(order(expected, value).is_eq())
    }

    /// Whether a keyword holds, which may restrict only values of one type. `members` are those of its schema.
    fn keyword(
        &self,
        keyword: &str,
        expected: &'s Value<'s>,
        members: &'s Object<'s>,
        value: &Value<'_>,
        depth: usize,
    ) -> Verdict {
        let inner =
            |schema: &'s Value<'s>, value: &Value<'_>| self.verdict(schema, value, depth + 1);
        let each = || list(expected).iter().map(|schema| inner(schema, value));
        // Whether a number is at least, or at most, the one that is expected.
        let least = |size: usize| Some(count(Some(expected)).is_none_or(|least| size >= least));
        let most = |size: usize| Some(count(Some(expected)).is_none_or(|most| size <= most));
        self.take(1 + length(expected))?;
        match (keyword, value) {
            ("$ref", _) => inner(self.resolve(expected)?, value),
            ("allOf", _) => all(each()),
            ("anyOf", _) => count_in(each(), 1, usize::MAX),
            ("oneOf", _) => count_in(each(), 1, 1),
            ("not", _) => inner(expected, value).map(|holds| !holds),
            ("if", _) => {
                let branch = |name| members.get(name).map_or(Some(true), |it| inner(it, value));
                match inner(expected, value) {
                    Some(true) => branch("then"),
                    Some(false) => branch("else"),
                    None => Some(branch("then")).filter(|then| *then == branch("else"))?,
                }
            }
            ("type", _) => Some(match expected {
                Value::String(name) => is_type(name, value),
                other => names(other).any(|name| is_type(name, value)),
            }),
            ("enum", _) => {
                for one in list(expected) {
                    if self.equals(one, value)? {
                        return Some(true);
                    }
                }
                Some(false)
            }
            ("const", _) => self.equals(expected, value),
            (keyword, _) if UNCHECKED.contains(&keyword) => None,

            ("prefixItems", Value::Array(items)) => {
                let pairs = list(expected).iter().zip(items);
                all(pairs.map(|(schema, item)| inner(schema, item)))
            }
            ("items", Value::Array(items)) => {
                let prefix = members.get("prefixItems").map_or(0, |prefix| list(prefix).len());
                all(items.iter().skip(prefix).map(|item| inner(expected, item)))
            }
            ("contains", Value::Array(items)) => {
                let least = count(members.get("minContains")).unwrap_or(1);
                let most = count(members.get("maxContains")).unwrap_or(usize::MAX);
                count_in(items.iter().map(|item| inner(expected, item)), least, most)
            }
            ("minItems", Value::Array(items)) => least(items.len()),
            ("maxItems", Value::Array(items)) => most(items.len()),
            ("uniqueItems", Value::Array(items)) => {
                if *expected != Value::Bool(true) {
                    return Some(true);
                }
                // They are sorted.
                let rounds = items.len().checked_ilog2().unwrap_or_default() as usize + 1;
                self.take(items.iter().map(|item| steps_of(item, item)).sum::<usize>() * rounds)?;
                Some(is_unique(items))
            }

            ("properties", Value::Object(it)) => {
                all(named(expected, it).map(|(schema, member)| inner(schema, member)))
            }
            ("dependentSchemas", Value::Object(it)) => {
                all(named(expected, it).map(|(schema, _)| inner(schema, value)))
            }
            ("dependentRequired", Value::Object(it)) => {
                all(named(expected, it).map(|(others, _)| {
                    self.take(length(others))?;
                    Some(has_all(others, it))
                }))
            }
            ("required", Value::Object(it)) => Some(has_all(expected, it)),
            ("additionalProperties", Value::Object(_)) if members.contains("patternProperties") => {
                None
            }
            ("additionalProperties", Value::Object(it)) => {
                self.take(it.len())?;
                let declared = members.get("properties").and_then(Value::as_object);
                let is_declared = |name: &str| declared.is_some_and(|it| it.contains(name));
                let others = it.iter().filter(|(name, _)| !is_declared(name));
                all(others.map(|(_, member)| inner(expected, member)))
            }
            ("propertyNames", Value::Object(it)) => {
                all(it.iter().map(|(name, _)| inner(expected, &Value::from(&**name))))
            }
            ("minProperties", Value::Object(it)) => least(it.len()),
            ("maxProperties", Value::Object(it)) => most(it.len()),

            ("minLength" | "maxLength", Value::String(text)) => {
                self.take(length(value))?;
                let size = text.chars().count();
                if keyword == "minLength" { least(size) } else { most(size) }
            }
            (keyword, Value::Number(number)) => {
                let Some(limit) = expected.as_number() else { return Some(true) };
                Some(match keyword {
                    "minimum" => order(value, expected).is_ge(),
                    "maximum" => order(value, expected).is_le(),
                    "exclusiveMinimum" => order(value, expected).is_gt(),
                    "exclusiveMaximum" => order(value, expected).is_lt(),
                    "multipleOf" => {
                        limit.as_f64().is_some_and(|it| it <= 0.0)
                            || is_multiple(number.into(), limit.into())
                    }
                    _ => true,
                })
            }
            _ => Some(true),
        }
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

/// The steps to look at all parts of a value, without what is within them.
fn length(value: &Value<'_>) -> usize {
    match value {
        Value::String(text) => text.len() / TEXT_STEP,
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        _ => 0,
    }
}

/// The steps to compare two values, as [`order`] does: those of different lengths are not equal.
fn steps_of(a: &Value<'_>, b: &Value<'_>) -> usize {
    match (a, b) {
        (Value::String(a), Value::String(b)) => 1 + a.len().min(b.len()) / TEXT_STEP,
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            1 + a.iter().zip(b).map(|(a, b)| steps_of(a, b)).sum::<usize>()
        }
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b.iter());
            1 + pairs
                .map(|((name, a), (_, b))| 1 + name.len() / TEXT_STEP + steps_of(a, b))
                .sum::<usize>()
        }
        _ => 1,
    }
}

/// The members of an object that a keyword names, each with what it says about them.
fn named<'s, 'v>(
    expected: &'s Value<'s>,
    object: &'v Object<'v>,
) -> impl Iterator<Item = (&'s Value<'s>, &'v Value<'v>)> {
    let named = expected.as_object().into_iter().flat_map(Object::iter);
    named.filter_map(|(name, expected)| Some((expected, object.get(name)?)))
}

fn has_all(expected: &Value<'_>, object: &Object<'_>) -> bool {
    names(expected).all(|name| object.contains(name))
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
    let number = value?.as_f64().filter(|number| number.fract() == 0.0 && *number >= 0.0)?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Some(number as usize)
}
