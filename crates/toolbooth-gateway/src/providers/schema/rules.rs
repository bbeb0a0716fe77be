//! How a provider treats the keywords of JSON Schema. Each provider's file has the function that decides it.

use serde_json::Value;

/// How a target treats a keyword.
#[derive(Clone, Copy)]
pub(crate) enum KeywordRule {
    Keep,
    /// Keeps it below the root. At the root it is as if it was [`Self::Loosen`].
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
    /// Leaves it out, so that more values are valid, and describes it with its JSON. For callers who ask for it, the tool is
    /// incompatible.
    Loosen,
}

/// Every keyword of JSON Schema 2020-12 that a schema can have here, in the order of the sentences that describe them.
/// Only schemas of the gateway's clients have references: the build rejects them. docs/PROVIDERS.md has the rules of all
/// providers, with the sources.
#[rustfmt::skip]
pub(super) const KEYWORDS: &[&str] = &[
    "type", "properties", "required", "additionalProperties", "items", "enum", "const", "anyOf", "oneOf", "allOf", "not",
    "if", "then", "else", "dependentRequired", "dependentSchemas", "patternProperties", "propertyNames",
    "unevaluatedProperties", "unevaluatedItems", "prefixItems", "contains", "minContains", "maxContains", "format",
    "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "contentEncoding", "contentMediaType",
    "contentSchema", "default", "examples", "title", "description", "deprecated", "readOnly", "writeOnly", "$ref", "$dynamicRef",
    "$defs", "$schema", "$comment",
];

/// The rule of providers that accept only what they enforce, unless they say otherwise.
pub(crate) fn common(keyword: &str) -> KeywordRule {
    match keyword {
        "type"
        | "properties"
        | "required"
        | "additionalProperties"
        | "items"
        | "title"
        | "description"
        | "$ref"
        | "$defs" => KeywordRule::Keep,
        "oneOf" => KeywordRule::AnyOf,
        "anyOf"
        | "allOf"
        | "not"
        | "if"
        | "then"
        | "else"
        | "dependentRequired"
        | "dependentSchemas"
        | "patternProperties"
        | "propertyNames"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "prefixItems"
        | "contains"
        | "minContains"
        | "maxContains"
        | "$dynamicRef"
        | "$recursiveRef" => KeywordRule::Loosen,
        "enum" | "const" | "format" | "pattern" | "minLength" | "maxLength" | "minimum"
        | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" | "minItems"
        | "maxItems" | "uniqueItems" | "minProperties" | "maxProperties" | "contentEncoding"
        | "contentMediaType" | "default" | "examples" => KeywordRule::Words,
        _ => KeywordRule::Drop,
    }
}

pub(crate) fn string_or_number(value: &Value) -> bool {
    value.is_string() || value.is_number()
}
