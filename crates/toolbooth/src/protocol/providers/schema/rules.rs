//! The table of JSON Schema keywords: how each provider's tool list treats them.

use serde_json::Value;

/// How a target treats a keyword.
#[derive(Clone, Copy)]
pub(super) enum KeywordRule {
    /// Keeps it.
    Keep,
    /// Keeps it below the root. At the root it makes the tool incompatible.
    Below,
    /// Keeps the values that the provider accepts, and describes the others.
    If(fn(&Value) -> bool),
    /// Writes it as `anyOf`, which is how the provider treats it anyway.
    AnyOf,
    /// Writes its value as the only value of `enum`.
    Enum,
    /// Describes it in a sentence.
    Words,
    /// Drops it, because it does not restrict the values.
    Drop,
    /// Rejects it: the tool is incompatible.
    Reject,
}

/// Which schemas the value of a keyword contains.
#[derive(Clone, Copy)]
pub(super) enum Subschemas {
    /// None: the value is data.
    Data,
    /// The value is a schema.
    Schema,
    /// The value is a schema, or a boolean that is kept as it is.
    Rest,
    /// The value is an array of schemas.
    List,
    /// The value is an object of schemas.
    Named,
}

/// A keyword with its rule for each target, in the order of [`Target::column`](super::Target::column).
pub(super) struct KeywordEntry(
    pub(super) &'static str,
    pub(super) Subschemas,
    pub(super) [KeywordRule; 5],
);

use KeywordEntry as Entry;
use KeywordRule::{AnyOf, Below, Drop, Enum, If, Keep, Reject, Words};
use Subschemas::{Data, List, Named, Rest, Schema};

const F: KeywordRule = If(openai_format);
const G: KeywordRule = If(anthropic_format);

/// Every keyword of JSON Schema 2020-12 that a schema can have here. Only schemas of the gateway's clients have
/// references: the build rejects them. The columns are OpenAI, OpenAI
/// strict, Anthropic, Anthropic strict and Gemini. docs/PROVIDERS.md has the sources.
#[rustfmt::skip]
pub(super) const KEYWORDS: &[KeywordEntry] = &[
    Entry("type",                  Data,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Entry("properties",            Named,  [Keep,   Keep,   Keep,  Keep,             Keep]),
    Entry("required",              Data,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Entry("additionalProperties",  Rest,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Entry("items",                 Schema, [Keep,   Keep,   Keep,  Keep,             Keep]),
    Entry("enum",                  Data,   [Below,  Keep,   Keep,  If(scalars),      If(strings_or_numbers)]),
    Entry("const",                 Data,   [Below,  Keep,   Keep,  If(scalar),       Enum]),
    Entry("anyOf",                 List,   [Below,  Below,  Below, Below,            Keep]),
    Entry("oneOf",                 List,   [Below,  Reject, Below, AnyOf,            AnyOf]),
    Entry("allOf",                 List,   [Below,  Reject, Below, Reject,           Reject]),
    Entry("not",                   Schema, [Below,  Reject, Keep,  Reject,           Reject]),
    Entry("if",                    Schema, [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("then",                  Schema, [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("else",                  Schema, [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("dependentRequired",     Data,   [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("dependentSchemas",      Named,  [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("patternProperties",     Named,  [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("propertyNames",         Schema, [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("unevaluatedProperties", Rest,   [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("unevaluatedItems",      Rest,   [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("prefixItems",           List,   [Keep,   Reject, Keep,  Reject,           Keep]),
    Entry("contains",              Schema, [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("minContains",           Data,   [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("maxContains",           Data,   [Keep,   Reject, Keep,  Reject,           Reject]),
    Entry("format",                Data,   [Keep,   F,      Keep,  G,                Keep]),
    Entry("pattern",               Data,   [Keep,   Keep,   Keep,  Words,            Words]),
    Entry("minLength",             Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Entry("maxLength",             Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Entry("minimum",               Data,   [Keep,   Keep,   Keep,  Words,            Keep]),
    Entry("maximum",               Data,   [Keep,   Keep,   Keep,  Words,            Keep]),
    Entry("exclusiveMinimum",      Data,   [Keep,   Keep,   Keep,  Words,            Words]),
    Entry("exclusiveMaximum",      Data,   [Keep,   Keep,   Keep,  Words,            Words]),
    Entry("multipleOf",            Data,   [Keep,   Keep,   Keep,  Words,            Words]),
    Entry("minItems",              Data,   [Keep,   Keep,   Keep,  If(zero_or_one),  Keep]),
    Entry("maxItems",              Data,   [Keep,   Keep,   Keep,  Words,            Keep]),
    Entry("uniqueItems",           Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Entry("minProperties",         Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Entry("maxProperties",         Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Entry("contentEncoding",       Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Entry("contentMediaType",      Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Entry("contentSchema",         Schema, [Keep,   Drop,   Keep,  Drop,             Drop]),
    Entry("default",               Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Entry("examples",              Data,   [Keep,   Words,  Keep,  Words,            Words]),
    Entry("title",                 Data,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Entry("description",           Data,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Entry("deprecated",            Data,   [Keep,   Drop,   Keep,  Drop,             Drop]),
    Entry("readOnly",              Data,   [Keep,   Drop,   Keep,  Drop,             Drop]),
    Entry("writeOnly",             Data,   [Keep,   Drop,   Keep,  Drop,             Drop]),
    Entry("$ref",                  Data,   [Keep,   Keep,   Keep,  Keep,             Keep]),
    Entry("$defs",                 Named,  [Keep,   Keep,   Keep,  Keep,             Keep]),
    Entry("$schema",               Data,   [Keep,   Drop,   Keep,  Drop,             Drop]),
    Entry("$comment",              Data,   [Drop,   Drop,   Drop,  Drop,             Drop]),
];

fn openai_format(format: &Value) -> bool {
    const FORMATS: [&str; 9] =
        ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];
    format.as_str().is_some_and(|format| FORMATS.contains(&format))
}

fn anthropic_format(format: &Value) -> bool {
    openai_format(format) || format == "uri"
}

fn scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn scalars(values: &Value) -> bool {
    values.as_array().is_some_and(|values| values.iter().all(scalar))
}

pub(super) fn string_or_number(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

fn strings_or_numbers(values: &Value) -> bool {
    values.as_array().is_some_and(|values| values.iter().all(string_or_number))
}

fn zero_or_one(value: &Value) -> bool {
    value.as_u64().is_some_and(|count| count <= 1)
}
