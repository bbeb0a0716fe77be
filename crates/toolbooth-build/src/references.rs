//! Resolves the references of a schema: each `$ref` is replaced by the schema that it refers to.
//!
//! The server and all lists know no references. What refers to itself is repeated a few times and then cut: the result
//! accepts every value that the schema as written accepts. [`merge`](crate::merge) has how schemas become one.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use crate::merge::{Part, beside, widen};
use crate::schema::{inner, inner_mut, is_in_place};

/// The most schemas that a schema may become: references to references grow exponentially.
const MAX_SCHEMAS: usize = 10_000;
/// The same if it is recursive. Models read all of it.
const MAX_RECURSIVE: usize = 500;
/// How deep recursive schemas are shown, from the deepest. The first is taken whose result is not larger than it allows.
const LIMITS: [Limit; 6] = [
    Limit { repetitions: 3, references: usize::MAX, schemas: MAX_RECURSIVE },
    Limit { repetitions: 2, references: usize::MAX, schemas: MAX_RECURSIVE },
    Limit { repetitions: 1, references: usize::MAX, schemas: MAX_RECURSIVE },
    Limit { repetitions: 1, references: 4, schemas: MAX_RECURSIVE },
    Limit { repetitions: 1, references: 2, schemas: MAX_RECURSIVE },
    Limit { repetitions: 1, references: 1, schemas: MAX_SCHEMAS },
];

/// A problem: the place below the schema, and the message.
type Problems = Vec<(String, String)>;

/// A schema without `$ref` and `$defs`.
#[derive(Debug, PartialEq)]
pub(crate) struct Resolved {
    pub(crate) schema: Map<String, Value>,
    /// The schemas in its `$defs` that have an `$anchor`, which is a name for other documents.
    pub(crate) anchored: Map<String, Value>,
    /// Whether it accepts the same values as the schema as written; otherwise, that is recursive, and this accepts more.
    pub(crate) is_exact: bool,
}

/// Resolves the references of a schema.
///
/// # Errors
/// References to other documents, to nothing, or to a schema that means itself.
pub(crate) fn resolve(schema: &Map<String, Value>) -> Result<Resolved, Problems> {
    let root = Value::Object(schema.clone());
    for limit in LIMITS {
        let mut resolver = Resolver::new(&root, limit);
        let resolved = resolver.root();
        if !resolver.is_too_large() {
            let problems = resolver.problems.into_iter();
            let problems: Problems = problems.map(|(_, place, it)| (place, it)).collect();
            return if problems.is_empty() { Ok(resolved) } else { Err(problems) };
        }
        // Only recursive schemas may be cut.
        if !resolver.is_recursive {
            break;
        }
    }
    let message =
        format!("becomes more than {MAX_SCHEMAS} schemas when its references are resolved");
    Err(vec![(String::new(), message)])
}

#[derive(Debug, Clone, Copy)]
struct Limit {
    /// How often a schema may be within itself.
    repetitions: usize,
    /// How many references may be within each other.
    references: usize,
    /// How many schemas there may be.
    schemas: usize,
}

/// A schema that is being resolved because a reference leads there.
struct Open<'a> {
    target: &'a Value,
    /// How many steps into a value lead there.
    depth: usize,
}

struct Resolver<'a> {
    root: &'a Value,
    limit: Limit,
    open: Vec<Open<'a>>,
    depth: usize,
    count: usize,
    is_recursive: bool,
    /// The references that lead nowhere, each at its first place.
    problems: Vec<(&'a Value, String, String)>,
}

impl<'a> Resolver<'a> {
    fn new(root: &'a Value, limit: Limit) -> Self {
        let open = vec![Open { target: root, depth: 0 }];
        Self { root, limit, open, depth: 0, count: 0, is_recursive: false, problems: Vec::new() }
    }

    /// Whether there are too many schemas, so that the result is of no use.
    fn is_too_large(&self) -> bool {
        let most = if self.is_recursive { self.limit.schemas } else { MAX_SCHEMAS };
        self.count > most
    }

    fn root(&mut self) -> Resolved {
        let Part { schema, is_exact } = self.schema(self.root, "");
        let definitions = self.root.get("$defs").and_then(Value::as_object);
        let anchored = definitions.into_iter().flatten().filter_map(|(name, definition)| {
            let anchor = definition.get("$anchor")?;
            let Value::Object(mut schema) =
                self.schema(definition, &format!(".$defs.{name}")).schema
            else {
                return None;
            };
            schema.insert("$anchor".to_owned(), anchor.clone());
            Some((name.clone(), Value::Object(schema)))
        });
        let anchored = anchored.collect();
        let schema = match schema {
            Value::Object(members) => members,
            Value::Bool(false) => Map::from_iter([("not".to_owned(), Value::Object(Map::new()))]),
            _ => Map::new(),
        };
        Resolved { schema, anchored, is_exact }
    }

    fn schema(&mut self, schema: &'a Value, place: &str) -> Part {
        let Value::Object(members) = schema else { return Part::exact(schema.clone()) };
        // What a reference leads to is counted there.
        self.count += usize::from(!members.contains_key("$ref"));
        if self.is_too_large() {
            return Part::exact(Value::Bool(true));
        }
        let (mut resolved, mut inexact) = (Map::new(), Vec::new());
        for (keyword, value) in members {
            let keyword = keyword.as_str();
            if matches!(keyword, "$ref" | "$defs" | "$anchor") {
                continue;
            }
            let mut value_resolved = value.clone();
            let steps = usize::from(!is_in_place(keyword));
            self.depth += steps;
            let pairs =
                inner(keyword, value).into_iter().zip(inner_mut(keyword, &mut value_resolved));
            for ((below, one), (_, new)) in pairs {
                let part = self.schema(one, &format!("{place}.{keyword}{below}"));
                if !part.is_exact && !inexact.contains(&keyword) {
                    inexact.push(keyword);
                }
                *new = part.schema;
            }
            self.depth -= steps;
            resolved.insert(keyword.to_owned(), value_resolved);
        }
        widen(&mut resolved, &inexact);
        let own = Part { schema: Value::Object(resolved), is_exact: inexact.is_empty() };
        match members.get("$ref") {
            None => own,
            Some(reference) => beside(self.reference(reference, place), own),
        }
    }

    /// The resolved schema that a reference refers to.
    fn reference(&mut self, reference: &'a Value, place: &str) -> Part {
        let target = match self.target(reference) {
            Ok(target) => target,
            Err(message) => {
                self.report(reference, format!("{place}.$ref"), message);
                return Part::exact(Value::Bool(true));
            }
        };
        let same = |open: &&Open<'_>| std::ptr::eq(open.target, target);
        let repetitions = self.open.iter().filter(same).count();
        self.is_recursive |= repetitions > 0;
        let Limit { repetitions: most, references, .. } = self.limit;
        // The root is open, too.
        if repetitions >= most || self.open.len() > references {
            self.count += 1;
            return Part::cut(target);
        }
        self.open.push(Open { target, depth: self.depth });
        let resolved = self.schema(target, place);
        self.open.pop();
        resolved
    }

    /// The schema that a reference refers to; otherwise what is wrong with it.
    fn target(&self, reference: &Value) -> Result<&'a Value, String> {
        let reference = reference.as_str().ok_or("is not a string")?;
        let fragment = reference.strip_prefix('#').ok_or_else(|| {
            format!(
                "refers to {reference:?}, which is another document; put the schema under $defs and refer to \"#/$defs/…\""
            )
        })?;
        let target = found(self.root, fragment).ok_or_else(|| {
            format!("refers to {reference:?}, which is not a schema of this document")
        })?;
        let is_here =
            |open: &Open<'_>| std::ptr::eq(open.target, target) && open.depth == self.depth;
        if self.open.iter().any(is_here) {
            return Err(format!(
                "refers to {reference:?}, which contains it and applies to the same value; a recursive schema refers to itself for a part of the value, such as in properties or items"
            ));
        }
        Ok(target)
    }

    /// Reports a reference, which may be met again in what refers to a schema around it.
    fn report(&mut self, reference: &'a Value, place: String, message: String) {
        let known = self.problems.iter_mut().find(|(known, ..)| std::ptr::eq(*known, reference));
        match known {
            Some((_, known, _)) if known.len() <= place.len() => {}
            Some((_, known, _)) => *known = place,
            None => self.problems.push((reference, place, message)),
        }
    }
}

/// The schema that a reference within `root` leads to.
pub(crate) fn target<'a>(root: &'a Value, reference: &Value) -> Option<&'a Value> {
    found(root, reference.as_str()?.strip_prefix('#')?)
}

/// The schema that the fragment of a reference names. RFC 6901, 6: what is percent-encoded is decoded before.
fn found<'a>(root: &'a Value, fragment: &str) -> Option<&'a Value> {
    let fragment = percent_decode_str(fragment).decode_utf8().ok()?;
    let found = match &*fragment {
        "" => Some(root),
        pointer if pointer.starts_with('/') => root.pointer(pointer),
        anchor => anchored(root, anchor),
    };
    found.filter(|target| target.is_object() || target.is_boolean())
}

/// The schema with an `$anchor`.
fn anchored<'a>(schema: &'a Value, anchor: &str) -> Option<&'a Value> {
    let members = schema.as_object()?;
    if members.get("$anchor").is_some_and(|name| name == anchor) {
        return Some(schema);
    }
    let mut inner = members.iter().flat_map(|(keyword, value)| inner(keyword, value));
    inner.find_map(|(_, schema)| anchored(schema, anchor))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolved(schema: &Value) -> Result<Value, Vec<String>> {
        let resolved = resolve(schema.as_object().unwrap());
        resolved.map(|it| Value::Object(it.schema)).map_err(|problems| {
            problems.into_iter().map(|(place, message)| format!("{place}: {message}")).collect()
        })
    }

    #[test]
    fn references_are_replaced() {
        let text = json!({"type": "string", "description": "A text."});
        for (schema, expected) in [
            (
                json!({"$defs": {"t": text}, "properties": {"a": {"$ref": "#/$defs/t"}}}),
                json!({"properties": {"a": text}}),
            ),
            (
                json!({"$defs": {"t": {"$anchor": "t", "type": "string"}}, "items": {"$ref": "#t"}}),
                json!({"items": {"type": "string"}}),
            ),
            (
                json!({"$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": true},
                       "properties": {"x": {"$ref": "#/$defs/a"}, "y": {"$ref": "#/$defs/b"}}}),
                json!({"properties": {"x": {"items": true}, "y": true}}),
            ),
            (
                json!({"$defs": {"t": text}, "anyOf": [{"$ref": "#/$defs/t", "description": "Mine."}]}),
                json!({"anyOf": [{"type": "string", "description": "Mine."}]}),
            ),
            (
                json!({"$defs": {"t": text}, "not": {"$ref": "#/$defs/t", "maxLength": 3}}),
                json!({"not": {"type": "string", "description": "A text.", "maxLength": 3}}),
            ),
            (
                json!({"properties": {"a": {"type": "null"}, "b": {"$ref": "#/properties/a"}}}),
                json!({"properties": {"a": {"type": "null"}, "b": {"type": "null"}}}),
            ),
            (json!({"const": {"$ref": "#/x"}}), json!({"const": {"$ref": "#/x"}})),
            // RFC 6901, 6.
            (
                json!({"$defs": {"Page<User>": text}, "items": {"$ref": "#/$defs/Page%3CUser%3E"}}),
                json!({"items": text}),
            ),
            (
                json!({"$defs": {"My Type": text}, "items": {"$ref": "#/%24defs/My%20Type"}}),
                json!({"items": text}),
            ),
            (
                json!({"$defs": {"a/b~c%d": text}, "items": {"$ref": "#/$defs/a~1b~0c%25d"}}),
                json!({"items": text}),
            ),
            (
                json!({"$defs": {"größe": text}, "items": {"$ref": "#/$defs/gr%C3%B6%C3%9Fe"}}),
                json!({"items": text}),
            ),
            (
                json!({"$defs": {"x": {"$anchor": "a-b", "const": 1}}, "items": {"$ref": "#a%2Db"}}),
                json!({"items": {"const": 1}}),
            ),
            // The root.
            (json!({"$defs": {"t": text}, "$ref": "#/$defs/t"}), text.clone()),
            (json!({"$defs": {"n": true}, "$ref": "#/$defs/n"}), json!({})),
            (json!({"$defs": {"n": false}, "$ref": "#/$defs/n"}), json!({"not": {}})),
            (
                json!({"$defs": {"n": false}, "$ref": "#/$defs/n", "type": "object"}),
                json!({"type": "object", "not": {}}),
            ),
            (
                json!({"$defs": {"n": false}, "properties": {"a": {"$ref": "#/$defs/n"}}}),
                json!({"properties": {"a": false}}),
            ),
        ] {
            assert_eq!(resolved(&schema), Ok(expected), "{schema}");
        }
    }

    #[test]
    fn recursive_schemas_are_cut_where_they_repeat() {
        let node = json!({
            "type": "object", "description": "A node.",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
            "required": ["children"], "additionalProperties": false
        });
        let below = |inner: Value| {
            let mut node = node.clone();
            node["properties"]["children"]["items"] = inner;
            node
        };
        let cut = json!({"type": "object", "description": "A node."});
        let schema =
            json!({"$defs": {"node": node}, "properties": {"root": {"$ref": "#/$defs/node"}}});
        let expected = below(below(below(cut.clone())));
        assert_eq!(resolved(&schema), Ok(json!({"properties": {"root": expected}})));
        assert!(!resolve(schema.as_object().unwrap()).unwrap().is_exact);
        // The root contains itself, too.
        let root = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
        let below = |inner: Value| json!({"type": "object", "properties": {"a": inner}});
        let expected = below(below(below(json!({"type": "object"}))));
        assert_eq!(resolved(&root), Ok(expected));
        // What is cut accepts more: what would then reject more is removed.
        let tree = json!({
            "type": "object",
            "properties": {"a": {"not": {"$ref": "#"}}, "b": {"oneOf": [{"$ref": "#"}, {"type": "null"}]}}
        });
        let all = resolved(&tree).unwrap().to_string();
        assert!(
            all.contains("\"anyOf\"") && !all.contains("\"not\"") && !all.contains("oneOf"),
            "{all}"
        );
    }

    #[test]
    fn recursive_schemas_have_a_bounded_size() {
        let all: Map<String, Value> = (0..20)
            .map(|at| {
                let other =
                    |to: usize| (format!("p{to}"), json!({"$ref": format!("#/$defs/d{to}")}));
                let properties: Map<String, Value> = (0..20).map(other).collect();
                (format!("d{at}"), json!({"type": "object", "properties": properties}))
            })
            .collect();
        let schema = json!({"$defs": all, "properties": {"x": {"$ref": "#/$defs/d0"}}});
        let found = resolved(&schema).unwrap();
        let mut count = 0;
        toolbooth::protocol::keywords::walk(&found, &mut |_| count += 1);
        assert!((20..MAX_RECURSIVE).contains(&count), "{count}");
        assert_eq!(
            found["properties"]["x"]["properties"]["p7"]["properties"]["p3"],
            json!({"type": "object"})
        );
    }

    #[test]
    fn references_that_cannot_be_resolved() {
        let same = "which contains it and applies to the same value; a recursive schema refers to itself for a part of the value, such as in properties or items";
        for (schema, expected) in [
            (
                json!({"items": {"$ref": "https://a.example/b"}}),
                ".items.$ref: refers to \"https://a.example/b\", which is another document; put the schema under $defs and refer to \"#/$defs/…\"".to_owned(),
            ),
            (
                json!({"properties": {"a": {"$ref": "#/$defs/a"}}}),
                ".properties.a.$ref: refers to \"#/$defs/a\", which is not a schema of this document".to_owned(),
            ),
            (
                json!({"$defs": {"a%20b": {}}, "items": {"$ref": "#/$defs/a%20b"}}),
                ".items.$ref: refers to \"#/$defs/a%20b\", which is not a schema of this document".to_owned(),
            ),
            (
                json!({"$defs": {"a": {}}, "items": {"$ref": "#/$defs/a%FF"}}),
                ".items.$ref: refers to \"#/$defs/a%FF\", which is not a schema of this document".to_owned(),
            ),
            (json!({"allOf": [{"$ref": "#"}]}), format!(".allOf[0].$ref: refers to \"#\", {same}")),
            (
                json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "items": {"$ref": "#/$defs/a"}}),
                format!(".items.anyOf[0].$ref: refers to \"#/$defs/a\", {same}"),
            ),
            (json!({"items": {"$ref": 1}}), ".items.$ref: is not a string".to_owned()),
        ] {
            assert_eq!(resolved(&schema), Err(vec![expected]), "{schema}");
        }
        let mut bomb =
            json!({"$defs": {"d0": {"type": "string"}}, "items": {"$ref": "#/$defs/d9"}});
        for level in 1..10 {
            let inner = json!({"$ref": format!("#/$defs/d{}", level - 1)});
            bomb["$defs"][format!("d{level}")] = json!({"anyOf": vec![inner; 4]});
        }
        let problem = ": becomes more than 10000 schemas when its references are resolved";
        assert_eq!(resolved(&bomb), Err(vec![problem.to_owned()]));
    }
}
