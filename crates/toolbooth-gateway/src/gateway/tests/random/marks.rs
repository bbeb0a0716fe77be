//! The marks that a request has, by which a test finds what became of its parts.

use base64ct::{Base64, Encoding};
use serde_json::{Value, json};

use crate::gateway::tests::random::talk::{Call, Talk, Thought, Tool};

/// What a request says, in its order.
#[derive(Debug, Default)]
pub(super) struct Marks {
    count: usize,
    /// Of texts that users and assistants say, and of calls, in their order.
    pub(super) said: Vec<String>,
    pub(super) system: Vec<String>,
    /// Texts whose place may be another one.
    pub(super) moved: Vec<String>,
    /// The users' texts as they are.
    pub(super) exact: Vec<String>,
    pub(super) calls: Vec<CallMark>,
    /// Of parts that a provider may lack: one of the texts by which each is found.
    pub(super) media: Vec<Vec<String>>,
    /// Of reasoning that only one format has.
    pub(super) thoughts: Vec<(Thought, String)>,
    /// What no provider but the client's knows.
    pub(super) unknown: Vec<String>,
    /// Whether the request is an error, because a call has no result.
    pub(super) is_invalid: bool,
}

#[derive(Debug, Default)]
pub(super) struct CallMark {
    pub(super) call: String,
    /// Those of its result.
    pub(super) result: Vec<String>,
    pub(super) is_error: bool,
}

impl Marks {
    /// A mark that is part of no other one.
    pub(super) fn new_mark(&mut self, kind: char) -> String {
        self.count += 1;
        format!("{kind}{:03}q", self.count)
    }

    /// A text with its mark, if it has one.
    pub(super) fn text(&mut self, kind: char, pattern: &str) -> (String, Option<String>) {
        if !pattern.contains('@') {
            return (pattern.to_owned(), None);
        }
        let mark = self.new_mark(kind);
        (pattern.replace('@', &mark), Some(mark))
    }

    pub(super) fn user(&mut self, pattern: &str) -> String {
        let (text, mark) = self.text('u', pattern);
        if let Some(mark) = mark {
            self.said.push(mark);
            self.exact.push(text.clone());
        }
        text
    }

    pub(super) fn assistant(&mut self, pattern: &str) -> String {
        let (text, mark) = self.text('a', pattern);
        self.said.extend(mark);
        text
    }

    pub(super) fn system(&mut self, pattern: &str) -> String {
        let (text, mark) = self.text('s', pattern);
        self.system.extend(mark);
        text
    }

    pub(super) fn moved(&mut self, pattern: &str) -> String {
        let (text, mark) = self.text('m', pattern);
        self.moved.extend(mark);
        text
    }

    /// A part that may be left out.
    pub(super) fn media(&mut self) -> String {
        let mark = self.new_mark('i');
        self.media.push(vec![mark.clone()]);
        mark
    }

    /// The base64 of such a part.
    pub(super) fn data(&mut self) -> String {
        format!("AAA{}", self.media())
    }

    /// The base64 of a text, which can also be found as a text.
    pub(super) fn text_data(&mut self) -> String {
        let mark = self.new_mark('i');
        let base64 = Base64::encode_string(format!("a,{mark}").as_bytes());
        self.media.push(vec![mark, base64.clone()]);
        base64
    }

    pub(super) fn thought(&mut self, kind: Thought) -> String {
        let mark = self.new_mark('t');
        self.thoughts.push((kind, mark.clone()));
        mark
    }

    /// The arguments of a call.
    pub(super) fn call(&mut self, pattern: &str) -> String {
        let mark = self.new_mark('c');
        self.said.push(mark.clone());
        self.calls.push(CallMark { call: mark.clone(), ..CallMark::default() });
        pattern.replace('@', &mark)
    }

    /// A text of the result of the call with this number.
    pub(super) fn result(&mut self, at: usize, pattern: &str) -> String {
        let (text, mark) = self.text('r', pattern);
        self.calls[at].result.extend(mark);
        text
    }
}

/// The name of a tool, which no other one of the request has.
pub(super) fn name(tool: &Tool, at: usize, is_long: bool) -> String {
    let name = match tool.name {
        0 => "w".to_owned(),
        1 => "get_weather-now".to_owned(),
        2 => format!("mcp__{}__read", "files_".repeat(5)),
        3 => "A".repeat(if is_long { 120 } else { 60 }),
        4 => "input".to_owned(),
        _ => "_x".to_owned(),
    };
    format!("{name}{at}")
}

/// The tool that a call calls.
pub(super) fn called(talk: &Talk, call: &Call, is_long: bool) -> (String, bool) {
    match call.tool.checked_rem(talk.tools.len()) {
        Some(at) => (name(&talk.tools[at], at, is_long), talk.tools[at].custom),
        // Models call functions by names that nobody has given them.
        None => (["gone", "functions.gone", "gone für x"][call.tool % 3].to_owned(), false),
    }
}

/// An id, which no other call of the message has. In conversations, ids may come again.
pub(super) fn id(form: usize, at: usize, count: usize) -> String {
    match form {
        0 => format!("call_{at}"),
        1 => format!("call_{count}x"),
        2 => format!("functions.w:{at}"),
        3 => format!("toolu_01AbCdEfGhIjKlMnOpQrStU{at}"),
        4 => format!("chatcmpl-tool-{count:032}-{at}"),
        5 => format!("{at}"),
        _ => format!("é {at}|x"),
    }
}

/// A schema of parameters: the keywords of JSON Schema, alone and together.
pub(super) fn schema(seed: usize) -> Value {
    const MEMBERS: &[fn() -> Value] = &[
        || json!({"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^[a-z]+$"}),
        || json!({"type": "number", "minimum": 0, "exclusiveMaximum": 10, "multipleOf": 0.5}),
        || json!({"type": ["string", "null"], "default": null, "examples": ["a"]}),
        || json!({"type": "array", "items": {"type": "integer"}, "minItems": 1, "uniqueItems": true}),
        || json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}),
        || json!({"enum": ["a", "b", null]}),
        || json!({"const": "a"}),
        || json!({"anyOf": [{"type": "string"}, {"type": "object", "properties": {"a": {"type": "string"}}}]}),
        || json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        || json!({"allOf": [{"type": "string"}, {"minLength": 2}]}),
        || json!({"not": {"type": "null"}}),
        || json!({"$ref": "#/$defs/node"}),
        || json!({"$ref": "#/$defs/node", "description": "D", "title": "T"}),
        || json!({"type": "object", "properties": {"a": {"type": "string"}}, "propertyNames": {"pattern": "^a"}}),
        || json!({"type": "object", "additionalProperties": {"type": "string"}}),
        || json!({"type": "object", "patternProperties": {"^x": {"type": "string"}}}),
        || json!({"type": "array", "contains": {"const": 1}, "minContains": 1}),
        || json!({"if": {"type": "string"}, "then": {"minLength": 1}, "else": {"type": "integer"}}),
        || json!({"type": "string", "format": "date-time", "contentEncoding": "base64", "x-own": 1}),
        || json!({"type": "object", "properties": {"a": {}, "b": true}, "dependentRequired": {"a": ["b"]}}),
        || json!({}),
        || json!(true),
        || json!({"type": "string", "nullable": true, "deprecated": true, "readOnly": true}),
    ];
    let mut schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    if seed.is_multiple_of(7) {
        return schema;
    }
    for (at, name) in ["a", "b"].into_iter().enumerate() {
        schema["properties"][name] = MEMBERS[(seed >> (8 * at)) % MEMBERS.len()]();
    }
    schema["$defs"] = json!({"node": {"type": "object", "properties":
        {"next": {"$ref": "#/$defs/node"}, "value": {"type": "string"}}}});
    let bit = |at: usize| seed >> (16 + at) & 1 == 1;
    for (at, (name, value)) in [
        ("required", json!(["city"])),
        ("additionalProperties", json!(false)),
        ("$schema", json!("http://json-schema.org/draft-07/schema#")),
        ("title", json!("T")),
        ("minProperties", json!(1)),
        ("dependentRequired", json!({"a": ["city"]})),
    ]
    .into_iter()
    .enumerate()
    {
        if bit(at) {
            schema[name] = value;
        }
    }
    if bit(6) && bit(7) {
        schema["anyOf"] = json!([{"required": ["a"]}, {"required": ["b"]}]);
    }
    if bit(8) && bit(9) {
        schema.as_object_mut().unwrap().remove("type");
    }
    schema
}
