//! The subset of JSON Schema that each provider accepts, as `tests/support/schemas.mjs` has it with its sources.

use serde_json::{Map, Value};

const ONE: &str = "items additionalProperties not if then else contains propertyNames unevaluatedItems unevaluatedProperties contentSchema";
const LIST: &str = "anyOf oneOf allOf prefixItems";
const MAP: &str = "properties patternProperties dependentSchemas $defs definitions";
const FORMATS: &str = "date-time time date duration email hostname ipv4 ipv6 uuid";

struct Subset {
    name: &'static str,
    /// The keywords; all if empty.
    keywords: &'static str,
    /// Those that the root may not have.
    root: &'static str,
    rules: &'static [fn(&Part<'_>) -> bool],
}

/// A schema, and how deep it is.
struct Part<'s> {
    schema: &'s Map<String, Value>,
    level: usize,
}

const GEMINI: &str = "type properties required additionalProperties items prefixItems enum anyOf oneOf $ref $defs $id $anchor \
                      format minimum maximum minItems maxItems title description propertyOrdering";

const SUBSETS: &[Subset] = &[
    Subset {
        name: "an OpenAI schema",
        keywords: "",
        root: "oneOf anyOf allOf not enum const $ref",
        rules: &[itemized, |part| part.level > 1 || complete(part)],
    },
    Subset {
        name: "a strict OpenAI schema",
        keywords: "type properties required additionalProperties items enum const anyOf $ref $defs pattern format minimum \
                   maximum multipleOf exclusiveMinimum exclusiveMaximum minLength maxLength minItems maxItems default title \
                   description examples",
        root: "anyOf $ref",
        rules: &[
            itemized,
            complete,
            closed,
            local,
            |part| {
                ["type", "anyOf", "allOf", "$ref"].iter().any(|it| part.schema.contains_key(*it))
            },
            |part| part.text("format").is_none_or(|it| has(FORMATS, it)),
            |part| {
                let known = part.schema.get("properties").and_then(Value::as_object);
                let required = part.schema.get("required").and_then(Value::as_array);
                known.map_or(0, Map::len) == required.map_or(0, Vec::len)
            },
        ],
    },
    Subset {
        name: "a strict schema",
        keywords: "type properties required additionalProperties items enum const anyOf allOf $ref $defs pattern format \
                   minItems default title description examples",
        root: "anyOf allOf $ref",
        rules: &[
            closed,
            local,
            |part| part.text("format").is_none_or(|it| has(FORMATS, it) || it == "uri"),
            |part| part.values().all(|it| !it.is_object() && !it.is_array()),
            |part| part.schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) <= 1,
        ],
    },
    Subset { name: "a Gemini schema", keywords: GEMINI, root: "$ref", rules: &[local, of_gemini] },
    Subset {
        name: "a Gemini schema of answers",
        keywords: GEMINI,
        root: "",
        rules: &[local, of_gemini],
    },
];

fn has(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

impl Part<'_> {
    fn text(&self, name: &str) -> Option<&str> {
        self.schema.get(name).and_then(Value::as_str)
    }

    fn is_a(&self, kind: &str) -> bool {
        match self.schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(|it| it == kind),
            found => found.is_some_and(|it| it == kind),
        }
    }

    /// The values that it lists.
    fn values(&self) -> impl Iterator<Item = &Value> {
        let listed = self.schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        listed.chain(self.schema.get("const"))
    }
}

fn itemized(part: &Part<'_>) -> bool {
    !part.is_a("array") || part.schema.contains_key("items")
}

fn complete(part: &Part<'_>) -> bool {
    !part.is_a("object") || part.schema.contains_key("properties")
}

fn closed(part: &Part<'_>) -> bool {
    !part.is_a("object") || part.schema.get("additionalProperties") == Some(&Value::Bool(false))
}

fn local(part: &Part<'_>) -> bool {
    part.text("$ref").is_none_or(|it| it.starts_with('#'))
}

fn of_gemini(part: &Part<'_>) -> bool {
    part.values().all(|it| it.is_string() || it.is_number())
}

/// Whether a schema is not in a subset; `None` if there is none of this name.
pub(super) fn is_outside(name: &str, schema: &Value) -> Option<bool> {
    let subset = SUBSETS.iter().find(|subset| subset.name == name)?;
    let must_be_object = name != "a Gemini schema of answers";
    if must_be_object && schema["type"] != "object" && schema["type"] != "OBJECT" {
        return Some(true);
    }
    Some(breaks(subset, schema, 1))
}

fn breaks(subset: &Subset, schema: &Value, level: usize) -> bool {
    let Value::Object(members) = schema else { return false };
    let part = Part { schema: members, level };
    let is_unknown = |name: &String| {
        (!subset.keywords.is_empty() && !has(subset.keywords, name))
            || (level == 1 && has(subset.root, name))
    };
    let inner = |(name, value): (&String, &Value)| match value {
        value if has(ONE, name) => breaks(subset, value, level + 1),
        Value::Array(items) if has(LIST, name) => {
            items.iter().any(|it| breaks(subset, it, level + 1))
        }
        Value::Object(all) if has(MAP, name) => {
            all.values().any(|it| breaks(subset, it, level + 1))
        }
        _ => false,
    };
    members.keys().any(is_unknown)
        || subset.rules.iter().any(|rule| !rule(&part))
        || members.iter().any(inner)
}
