//! `format`: each is checked by a validator that `jsonschema` generates for it alone.

use serde_json::Value;

use super::Keyword;

macro_rules! formats {
    ($($keyword:ident $validator:ident $name:tt $schema:tt)*) => {
        $(
            #[jsonschema::validator(
                schema = $schema,
                draft = jsonschema::Draft::Draft202012,
                validate_formats = true,
                ignore_unknown_formats = false,
                methods = { validate = false, iter_errors = false }
            )]
            struct $validator;

            #[doc = concat!("`", $name, "`.")]
            pub const $keyword: Keyword =
                Keyword::Format($name, |text| $validator::is_valid(&Value::String(text.to_owned())));
        )*

        /// All formats that can be checked, by name.
        pub const ALL: &[(&str, Keyword)] = &[$(($name, $keyword),)*];
    };
}

formats! {
    DATE Date "date" r#"{"format":"date"}"#
    DATE_TIME DateTime "date-time" r#"{"format":"date-time"}"#
    DURATION Duration "duration" r#"{"format":"duration"}"#
    EMAIL Email "email" r#"{"format":"email"}"#
    HOSTNAME Hostname "hostname" r#"{"format":"hostname"}"#
    IPV4 Ipv4 "ipv4" r#"{"format":"ipv4"}"#
    IPV6 Ipv6 "ipv6" r#"{"format":"ipv6"}"#
    IRI Iri "iri" r#"{"format":"iri"}"#
    IRI_REFERENCE IriReference "iri-reference" r#"{"format":"iri-reference"}"#
    JSON_POINTER JsonPointer "json-pointer" r#"{"format":"json-pointer"}"#
    REGEX Regex "regex" r#"{"format":"regex"}"#
    RELATIVE_JSON_POINTER RelativeJsonPointer "relative-json-pointer" r#"{"format":"relative-json-pointer"}"#
    TIME Time "time" r#"{"format":"time"}"#
    URI Uri "uri" r#"{"format":"uri"}"#
    URI_REFERENCE UriReference "uri-reference" r#"{"format":"uri-reference"}"#
    URI_TEMPLATE UriTemplate "uri-template" r#"{"format":"uri-template"}"#
    UUID Uuid "uuid" r#"{"format":"uuid"}"#
}
