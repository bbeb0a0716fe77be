//! The member `http` of a definition: how a tool without a function sends its request.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// The request of a tool that has no function. The build compiles it into an [`HttpCall`](crate::tool::http::HttpCall).
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HttpDefinition {
    /// The method.
    pub method: HttpMethod,
    /// The name of the operator's variable with the address of the service.
    pub base: String,
    /// The path below that address; `{name}` is a parameter in the path.
    #[serde(default)]
    pub path: String,
    /// Instead of a path: the property that is the whole address. `base` is then the variable with the hosts that it may name.
    pub url: Option<String>,
    /// Where properties of the input are sent, except those of the body.
    #[serde(default)]
    pub parameters: Vec<ParameterDefinition>,
    /// Fields of the query that are always the same.
    #[serde(default)]
    pub query: BTreeMap<String, String>,
    /// The body.
    pub body: Option<BodyDefinition>,
    /// Headers that are always the same.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// How the request is authorized.
    #[serde(default, deserialize_with = "one_or_more")]
    pub auth: Vec<AuthDefinition>,
    /// Whether the request is sent without any of these credentials if one is not set.
    #[serde(default)]
    pub auth_optional: bool,
    /// A JSONPath (RFC 9535) to the part of the response that is the value.
    pub select: Option<String>,
    /// The members of the selected objects that are kept, at any depth: names that are joined by dots. All, if it is empty.
    #[serde(default)]
    pub fields: Vec<String>,
    /// The names of members whose text is base64, and becomes the text that it encodes.
    #[serde(default)]
    pub decode: Vec<String>,
    /// How the service reports a failure in a response with a status of success.
    pub error: Option<FailureDefinition>,
    /// How many milliseconds to wait for the response.
    #[serde(default = "default_timeout_ms")]
    pub timeout_ms: u32,
    /// The bytes of a response that are read.
    #[serde(default = "default_max_bytes")]
    pub max_bytes: u32,
    /// Whether the request is sent once more after 429 or 503.
    #[serde(default)]
    pub retry: bool,
    /// How the service says that there is more.
    pub pagination: Option<PaginationDefinition>,
}

fn default_timeout_ms() -> u32 {
    10_000
}

fn default_max_bytes() -> u32 {
    262_144
}

/// A method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[allow(missing_docs)]
pub enum HttpMethod {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl HttpMethod {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether the request only reads.
    pub fn is_read(self) -> bool {
        matches!(self, Self::Get | Self::Head)
    }
}

/// Where a property of the input is sent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ParameterDefinition {
    /// The property.
    pub property: String,
    /// The part of the request.
    #[serde(rename = "in")]
    pub place: ParameterPlace,
    /// The name there.
    pub name: String,
    /// How a list or an object is written. By default `form` in the query, `simple` elsewhere.
    pub style: Option<ParameterStyle>,
    /// Whether each item of a list, and each member of an object, is written on its own. By default for `form` and
    /// `deepObject`.
    pub explode: Option<bool>,
}

/// A part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum ParameterPlace {
    Path,
    Query,
    Header,
}

/// How a list or an object is written: OpenAPI 3.1, "Style Values"; `json` is its `content: application/json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs)]
pub enum ParameterStyle {
    Simple,
    Form,
    SpaceDelimited,
    PipeDelimited,
    DeepObject,
    Json,
}

/// The body of a request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BodyDefinition {
    /// Its format.
    #[serde(rename = "type")]
    pub format: BodyType,
    /// The media type of a `raw` body. Without it, a file says its own.
    #[serde(rename = "contentType")]
    pub content_type: Option<String>,
    /// Properties of the input, with the names of the body's members.
    pub properties: Option<BTreeMap<String, String>>,
    /// Instead of them: the property that is the whole body.
    pub whole: Option<String>,
    /// Instead of them: the body, in which the text `"{name}"` is the property of this name.
    pub template: Option<Value>,
    /// Whether a call without any of these properties sends an empty body instead of none.
    #[serde(default)]
    pub required: bool,
    /// How single members of a form are written.
    #[serde(default)]
    pub encoding: BTreeMap<String, EncodingDefinition>,
}

/// The format of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BodyType {
    /// `application/json`
    Json,
    /// `application/x-www-form-urlencoded`
    Form,
    /// `multipart/form-data`
    Multipart,
    /// A text or a file as it is.
    Raw,
}

/// How a member of a form is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct EncodingDefinition {
    /// The media type of the part.
    #[serde(rename = "contentType")]
    pub content_type: Option<String>,
    /// As in [`ParameterDefinition`].
    pub style: Option<ParameterStyle>,
    /// As in [`ParameterDefinition`].
    pub explode: Option<bool>,
}

/// Reads an object as a list of one.
fn one_or_more<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<AuthDefinition>, D::Error> {
    struct OneOrMore;
    impl<'de> Visitor<'de> for OneOrMore {
        type Value = Vec<AuthDefinition>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object or a list of objects")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            Ok(vec![AuthDefinition::deserialize(MapAccessDeserializer::new(map))?])
        }

        fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
            Vec::deserialize(SeqAccessDeserializer::new(list))
        }
    }
    deserializer.deserialize_any(OneOrMore)
}

/// How a request is authorized: by one of `provider`, `secret`, `basic` and `oauth2`. A list of them is sent together.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AuthDefinition {
    /// The provider of the user's token.
    pub provider: Option<String>,
    /// The operator's secret.
    pub secret: Option<String>,
    /// The operator's name and password.
    pub basic: Option<BasicDefinition>,
    /// The server's own grant.
    pub oauth2: Option<OAuthDefinition>,
    /// Where the secret is sent.
    #[serde(rename = "in")]
    pub place: Option<SecretPlaceDefinition>,
    /// The name of the secret's header, or of its field in the query.
    pub name: Option<String>,
    /// The word before the token or the secret; `Bearer` for a token.
    pub scheme: Option<String>,
}

/// The part of a request that has a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum SecretPlaceDefinition {
    Header,
    Query,
    Cookie,
}

/// A grant of OAuth 2 to the server itself, by names of variables or secrets: with `client_id` and `client_secret` the
/// client's own (RFC 6749, 4.4), with `username` and `password` that of a user's password (4.3), where the client may be
/// optional.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OAuthDefinition {
    /// That with the address of the token endpoint.
    pub token_url: String,
    /// That with the client's id.
    pub client_id: Option<String>,
    /// That with the client's secret.
    pub client_secret: Option<String>,
    /// That with the user's name.
    pub username: Option<String>,
    /// That with the user's password.
    pub password: Option<String>,
    /// The scopes that are requested.
    #[serde(default)]
    pub scopes: Vec<String>,
}

/// The variables or secrets of Basic authentication.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct BasicDefinition {
    /// That with the name.
    pub user: String,
    /// That with the password.
    pub password: String,
}

/// How a service reports a failure in a response with a status of success.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FailureDefinition {
    /// The member of the response that describes the failure; names within each other are joined by dots.
    pub at: String,
    /// Its texts that mean that the user's token is not valid.
    #[serde(default)]
    pub unauthorized: Vec<String>,
}

/// How a service says that there is more: by one of `link` and `cursor`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PaginationDefinition {
    /// Whether the header `Link` has the address of the next page.
    #[serde(default)]
    pub link: bool,
    /// The member of the response that has the cursor of the next page; names within each other are joined by dots.
    pub cursor: Option<String>,
    /// The property of the input that takes the cursor.
    pub parameter: Option<String>,
}

/// The file `toolkit.json`: what the definitions of a toolkit share.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolkitDefinition {
    /// The variables and secrets of the operator.
    #[serde(default)]
    pub variables: BTreeMap<String, VariableDefinition>,
}

/// A variable or secret of the operator.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct VariableDefinition {
    /// What it is.
    pub kind: VariableKind,
    /// The address, unless the operator chooses a different one.
    pub default: Option<String>,
    /// Whether tools run without it.
    #[serde(default)]
    pub optional: bool,
}

/// What a variable is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VariableKind {
    /// The address of a service.
    Base,
    /// A secret.
    Secret,
    /// Any text.
    Text,
    /// An address that is used as it is, such as that of a token endpoint.
    Url,
    /// The hosts to which requests may go, separated by commas.
    Hosts,
}

/// The response of a service that an example has recorded.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ExampleResponse {
    /// The status.
    pub status: u16,
    /// The body: a string is text, `null` is nothing, and anything else is JSON.
    #[serde(default)]
    pub body: Value,
    /// The header `Link`.
    pub link: Option<String>,
}
