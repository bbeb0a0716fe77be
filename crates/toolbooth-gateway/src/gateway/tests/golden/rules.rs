//! The rules of `stand-ins/`, with which requests to providers are checked: `stand-ins/README.md` says what they mean.

use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use crate::gateway::tests::Sent;
use crate::gateway::tests::golden::checks;

const MODELS: &str = include_str!("../../../../stand-ins/models.json");

/// The tables, with a part of the addresses that they are for. The first that fits counts.
const TABLES: &[(&str, &str, &str)] = &[
    ("deepseek", "api.deepseek.com", include_str!("../../../../stand-ins/deepseek.json")),
    ("qwen", "vllm.example", include_str!("../../../../stand-ins/qwen.json")),
    ("mistral", "api.mistral.ai", include_str!("../../../../stand-ins/mistral.json")),
    ("compatible", "models.example", include_str!("../../../../stand-ins/compatible.json")),
    ("anthropic", "api.anthropic.com", include_str!("../../../../stand-ins/anthropic.json")),
    ("gemini", "generativelanguage", include_str!("../../../../stand-ins/gemini.json")),
    ("responses", "/v1/responses", include_str!("../../../../stand-ins/responses.json")),
    ("chat", "/v1/chat/completions", include_str!("../../../../stand-ins/chat.json")),
];

static READ: LazyLock<Vec<Vec<Rule>>> = LazyLock::new(|| {
    let rules = TABLES.iter().map(|(_, _, text)| {
        let table: Value = serde_json::from_str(text).unwrap();
        table["rules"].as_array().unwrap().iter().cloned().map(Rule::of).collect()
    });
    rules.collect()
});
/// What models accept, with the pattern of their names.
static FACTS: LazyLock<Vec<(String, Validator)>> = LazyLock::new(|| {
    let facts: Vec<Value> = serde_json::from_str(MODELS).unwrap();
    let pattern = |fact: &Value| compiled(&json!({"pattern": fact["models"]}));
    facts.iter().map(|fact| (fact["fact"].as_str().unwrap().to_owned(), pattern(fact))).collect()
});

/// A rule, whose schemas are read once.
struct Rule {
    json: Value,
    /// Which values are meant; all if absent.
    meant: Option<Validator>,
    schema: Option<Validator>,
}

impl Rule {
    fn of(json: Value) -> Self {
        Self {
            meant: json.get("where").map(compiled),
            schema: json.get("schema").map(compiled),
            json,
        }
    }
}

fn compiled(schema: &Value) -> Validator {
    jsonschema::draft202012::new(schema).unwrap()
}

/// The first rule that a request breaks, with its table.
pub(in crate::gateway::tests) fn broken(sent: &Sent) -> Option<String> {
    let at = TABLES.iter().position(|(_, part, _)| sent.url.contains(part))?;
    let (table, ..) = TABLES[at];
    let request = Request { table, body: normal(table, &sent.body), sent };
    let rule = READ[at].iter().find(|rule| request.breaks(rule))?;
    Some(format!("{table}: {}", rule.json["id"].as_str().unwrap()))
}

pub(super) struct Request<'s> {
    pub(super) table: &'static str,
    pub(super) body: Value,
    pub(super) sent: &'s Sent,
}

impl Request<'_> {
    /// The model that it asks. Gemini's is part of the address.
    fn model(&self) -> &str {
        let path = self.sent.url.rsplit_once('/').map_or("", |(_, last)| last);
        let of_path = path.split_once(':').map(|(model, _)| model);
        self.body["model"].as_str().or(of_path).unwrap_or_default()
    }

    fn breaks(&self, Rule { json: rule, meant, schema }: &Rule) -> bool {
        let models = rule["models"].as_str();
        if models.is_some_and(|fact| !holds(fact, self.model())) || rule["only"] == "count_tokens" {
            return false;
        }
        let pointers = match &rule["at"] {
            Value::Array(pointers) => pointers.iter().map(|it| it.as_str().unwrap()).collect(),
            pointer => vec![pointer.as_str().unwrap_or_default()],
        };
        let found = pointers.into_iter().flat_map(|pointer| places(&self.body, pointer));
        let mut found =
            found.filter(|(_, value)| meant.as_ref().is_none_or(|it| it.is_valid(value)));
        found.any(|(path, value)| {
            if let Some(members) = rule["members"].as_str() {
                let mut names = value.as_object().into_iter().flat_map(Map::keys);
                names.any(|name| members.split(' ').all(|known| known != name))
            } else if let Some(check) = rule["check"].as_str() {
                checks::is_broken(check, self, &path, value)
            } else {
                !schema.as_ref().is_some_and(|it| it.is_valid(value))
            }
        })
    }
}

/// Whether a model belongs to those of which a fact is known.
fn holds(fact: &str, model: &str) -> bool {
    let mut known = FACTS.iter().filter(|(known, _)| known == fact);
    known.any(|(_, pattern)| pattern.is_valid(&model.into()))
}

pub(super) fn fits(schema: &Value, value: &Value) -> bool {
    jsonschema::draft202012::is_valid(schema, value)
}

/// The values at a JSON Pointer in which `*` is every item, with their positions in lists.
pub(super) fn places<'v>(value: &'v Value, pointer: &str) -> Vec<(Vec<usize>, &'v Value)> {
    let mut found = vec![(Vec::new(), value)];
    for token in pointer.split('/').skip(1) {
        let inner = |(path, value): (Vec<usize>, &'v Value)| match value {
            Value::Array(items) if token == "*" => {
                let inner = items.iter().enumerate();
                inner.map(|(at, item)| ([path.as_slice(), &[at]].concat(), item)).collect()
            }
            value => {
                let item = token.parse().ok().and_then(|at: usize| value.get(at));
                let one = item.or_else(|| value.get(token));
                one.into_iter().map(|item| (path.clone(), item)).collect::<Vec<_>>()
            }
        };
        found = found.into_iter().flat_map(inner).collect();
    }
    found
}

/// Texts in requests to Anthropic as blocks.
fn normal(table: &str, body: &Value) -> Value {
    let mut body = body.clone();
    if table == "anthropic" {
        for message in body["messages"].as_array_mut().into_iter().flatten() {
            if let Value::String(text) = &message["content"] {
                message["content"] = json!([{"type": "text", "text": text}]);
            }
        }
    }
    body
}
