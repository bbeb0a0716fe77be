//! `format`: most have a validator that `jsonschema` generates. Where those accept characters that the grammar of the format
//! does not have, a check of ours is added or takes the place.

mod mailbox;

use serde_json::Value;

use crate::StringKeyword;

macro_rules! formats {
    ($($keyword:ident $validator:ident $name:tt $schema:tt $(and $also:path)?;)*) => {
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
            pub const $keyword: StringKeyword =
                StringKeyword::Format($name, |text| {
                    $($also(text) &&)? $validator::is_valid(&Value::String(text.to_owned()))
                });
        )*

        /// All formats that are checked, by name. Any other is an annotation.
        pub const ALL: &[(&str, StringKeyword)] = &[("email", EMAIL), $(($name, $keyword),)*];
    };
}

/// `email`.
pub const EMAIL: StringKeyword = StringKeyword::Format("email", mailbox::is_mailbox);

/// Whether a text has no characters that RFC 3987, 4.1, forbids in IRIs: they change the order in which others are shown.
fn has_no_bidi_formatting(text: &str) -> bool {
    !text.contains(|c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

/// Whether a text has no control characters. RFC 6570, 2.1, has none of those beyond ASCII either.
fn has_no_control(text: &str) -> bool {
    !text.contains(char::is_control)
}

formats! {
    DATE Date "date" r#"{"format":"date"}"#;
    DATE_TIME DateTime "date-time" r#"{"format":"date-time"}"#;
    DURATION Duration "duration" r#"{"format":"duration"}"#;
    HOSTNAME Hostname "hostname" r#"{"format":"hostname"}"#;
    IPV4 Ipv4 "ipv4" r#"{"format":"ipv4"}"#;
    IPV6 Ipv6 "ipv6" r#"{"format":"ipv6"}"#;
    IRI Iri "iri" r#"{"format":"iri"}"# and has_no_bidi_formatting;
    IRI_REFERENCE IriReference "iri-reference" r#"{"format":"iri-reference"}"# and has_no_bidi_formatting;
    JSON_POINTER JsonPointer "json-pointer" r#"{"format":"json-pointer"}"#;
    REGEX Regex "regex" r#"{"format":"regex"}"#;
    RELATIVE_JSON_POINTER RelativeJsonPointer "relative-json-pointer" r#"{"format":"relative-json-pointer"}"#;
    TIME Time "time" r#"{"format":"time"}"#;
    URI Uri "uri" r#"{"format":"uri"}"#;
    URI_REFERENCE UriReference "uri-reference" r#"{"format":"uri-reference"}"#;
    URI_TEMPLATE UriTemplate "uri-template" r#"{"format":"uri-template"}"# and has_no_control;
    UUID Uuid "uuid" r#"{"format":"uuid"}"#;
}

#[cfg(test)]
mod tests;
