//! Resolves the references of a schema: each `$ref` is replaced by the schema that it refers to.
//!
//! The server and most lists know no references. Lists for MCP keep them.

use serde_json::{Map, Value, json};

use crate::schema::{ANNOTATIONS, inner, inner_mut};

/// The most schemas that a schema may become: references to references grow exponentially.
const MAX_SCHEMAS: usize = 10_000;

/// A problem: the place below the schema, and the message.
type Problems = Vec<(String, String)>;

/// The schema without `$ref` and `$defs`.
///
/// # Errors
/// References to other documents, to nothing, or to a schema that contains them.
pub(crate) fn resolve(schema: &Map<String, Value>) -> Result<Map<String, Value>, Problems> {
    let root = Value::Object(schema.clone());
    let mut resolver = Resolver { root: &root, stack: Vec::new(), count: 0, problems: Vec::new() };
    match resolver.schema(&root, "") {
        Value::Object(resolved) if resolver.problems.is_empty() => Ok(resolved),
        Value::Bool(_) if resolver.problems.is_empty() => Ok(Map::new()),
        _ => Err(resolver.problems),
    }
}

struct Resolver<'a> {
    root: &'a Value,
    /// The references that are being resolved.
    stack: Vec<String>,
    count: usize,
    problems: Problems,
}

impl<'a> Resolver<'a> {
    fn problem(&mut self, place: &str, message: String) -> Value {
        self.problems.push((place.to_owned(), message));
        Value::Bool(true)
    }

    fn schema(&mut self, schema: &Value, place: &str) -> Value {
        let Value::Object(members) = schema else { return schema.clone() };
        self.count += 1;
        if self.count > MAX_SCHEMAS {
            if self.count == MAX_SCHEMAS + 1 {
                let message = format!(
                    "becomes more than {MAX_SCHEMAS} schemas when its references are resolved"
                );
                self.problem("", message);
            }
            return Value::Bool(true);
        }
        let mut resolved = members.clone();
        resolved.retain(|keyword, _| !matches!(keyword.as_str(), "$ref" | "$defs" | "$anchor"));
        for (keyword, value) in &mut resolved {
            for (below, one) in inner_mut(keyword, value) {
                *one = self.schema(one, &format!("{place}.{keyword}{below}"));
            }
        }
        let Some(reference) = members.get("$ref") else { return Value::Object(resolved) };
        let target = match reference.as_str() {
            Some(reference) => self.target(reference, place),
            None => self.problem(&format!("{place}.$ref"), "is not a string".to_owned()),
        };
        merge(target, resolved)
    }

    /// The resolved schema that a reference refers to.
    fn target(&mut self, reference: &str, place: &str) -> Value {
        let Some(fragment) = reference.strip_prefix('#') else {
            let message = format!(
                "refers to {reference:?}, which is another document; put the schema under $defs and refer to \"#/$defs/…\""
            );
            return self.problem(&format!("{place}.$ref"), message);
        };
        if fragment.is_empty() || self.stack.iter().any(|earlier| earlier == reference) {
            let message =
                format!("refers to {reference:?}, which contains it; schemas may not be recursive");
            return self.problem(&format!("{place}.$ref"), message);
        }
        let found = if fragment.starts_with('/') {
            self.root.pointer(fragment)
        } else {
            anchored(self.root, fragment)
        };
        match found {
            Some(target @ (Value::Object(_) | Value::Bool(_))) => {
                self.stack.push(reference.to_owned());
                let resolved = self.schema(target, place);
                self.stack.pop();
                resolved
            }
            _ => {
                let message =
                    format!("refers to {reference:?}, which is not a schema of this document");
                self.problem(&format!("{place}.$ref"), message)
            }
        }
    }
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

/// The schema of a reference and the keywords next to it. Annotations replace those of the target.
fn merge(target: Value, beside: Map<String, Value>) -> Value {
    let only_annotations = beside.keys().all(|keyword| ANNOTATIONS.contains(&keyword.as_str()));
    match target {
        target if beside.is_empty() => target,
        Value::Object(mut target) if only_annotations => {
            target.extend(beside);
            Value::Object(target)
        }
        target => {
            let mut all = beside;
            match all.get_mut("allOf").and_then(Value::as_array_mut) {
                Some(list) => list.push(target),
                None => {
                    all.insert("allOf".to_owned(), json!([target]));
                }
            }
            Value::Object(all)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(schema: &Value) -> Result<Value, Vec<String>> {
        let resolved = resolve(schema.as_object().unwrap());
        resolved.map(Value::Object).map_err(|problems| {
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
                json!({"not": {"allOf": [text], "maxLength": 3}}),
            ),
            (
                json!({"properties": {"a": {"type": "null"}, "b": {"$ref": "#/properties/a"}}}),
                json!({"properties": {"a": {"type": "null"}, "b": {"type": "null"}}}),
            ),
            (json!({"const": {"$ref": "#/x"}}), json!({"const": {"$ref": "#/x"}})),
        ] {
            assert_eq!(resolved(&schema), Ok(expected), "{schema}");
        }
    }

    #[test]
    fn references_that_cannot_be_resolved() {
        for (schema, expected) in [
            (
                json!({"items": {"$ref": "https://a.example/b"}}),
                ".items.$ref: refers to \"https://a.example/b\", which is another document; put the schema under $defs and refer to \"#/$defs/…\"",
            ),
            (
                json!({"properties": {"a": {"$ref": "#/$defs/a"}}}),
                ".properties.a.$ref: refers to \"#/$defs/a\", which is not a schema of this document",
            ),
            (
                json!({"items": {"$ref": "#"}}),
                ".items.$ref: refers to \"#\", which contains it; schemas may not be recursive",
            ),
            (
                json!({"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}, "items": {"$ref": "#/$defs/n"}}),
                ".items.properties.next.$ref: refers to \"#/$defs/n\", which contains it; schemas may not be recursive",
            ),
            (json!({"items": {"$ref": 1}}), ".items.$ref: is not a string"),
        ] {
            assert_eq!(resolved(&schema), Err(vec![expected.to_owned()]), "{schema}");
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
