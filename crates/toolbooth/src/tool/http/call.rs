//! A request to a service, as the build stores it.

use crate::catalog::QueryValue;
use crate::host::BoxFuture;
use crate::secret::Secret;
use crate::tool::{Context, ToolError};

/// What the definition of a tool says about its request: the member `http`, checked and compiled by the build.
#[derive(Debug, Clone, Copy)]
pub struct HttpCall {
    /// The method.
    pub method: &'static str,
    /// The operator's variable with the address of the service.
    pub base: &'static str,
    /// Instead of a path: the property that is the whole address. `base` is then the variable with the hosts that it may name.
    pub url: Option<&'static str>,
    /// The path below that address, by segments.
    pub path: &'static [&'static [PathPart]],
    /// The query.
    pub query: &'static [QueryField],
    /// Fields of the query that are always the same.
    pub fixed_query: &'static [(&'static str, &'static str)],
    /// The headers that have parameters.
    pub headers: &'static [HeaderField],
    /// Headers that are always the same; names are in lower case.
    pub fixed_headers: &'static [(&'static str, &'static str)],
    /// The body, if it has one.
    pub body: Option<HttpBody>,
    /// How the request is authorized: all of these are sent.
    pub auth: &'static [HttpAuth],
    /// Whether the request is sent without any of them if one is not set.
    pub auth_optional: bool,
    /// The part of the response that is the value; `None` is all of it.
    pub select: Option<Select>,
    /// The members that are kept of the selected objects; all, if it is empty.
    pub fields: &'static [Kept],
    /// The names of members whose text is base64, and becomes the text that it encodes.
    pub decode: &'static [&'static str],
    /// How the service reports a failure in a response with a status of success.
    pub failure: Option<Failure>,
    /// How the service says that there is more.
    pub pagination: Option<Pagination>,
    /// How many milliseconds to wait for the response.
    pub timeout_ms: u32,
    /// The bytes of a response that are read.
    pub max_bytes: u32,
    /// Whether the request is sent once more after 429 or 503.
    pub retry: bool,
    /// Whether the tool returns `null`, whatever the service responds.
    pub returns_nothing: bool,
}

/// A part of a path's segment.
#[derive(Debug, Clone, Copy)]
pub enum PathPart {
    /// Text, encoded.
    Text(&'static str),
    /// A parameter, in OpenAPI's style `simple`.
    Parameter {
        /// The property of the input.
        property: &'static str,
        /// Whether the members of an object are written as `name=value`.
        explode: bool,
    },
}

/// A parameter in the query.
#[derive(Debug, Clone, Copy)]
pub struct QueryField {
    /// The property of the input.
    pub property: &'static str,
    /// The name in the query.
    pub name: &'static str,
    /// How a list or an object is written.
    pub style: Style,
    /// Whether each item of a list, and each member of an object, is a field of its own.
    pub explode: bool,
    /// How its text in the address of the next page becomes a value; `None` if it is a list or an object.
    pub read: Option<QueryValue>,
}

/// How a list or an object becomes text: OpenAPI 3.1, "Style Values".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `a,b`
    Form,
    /// `a%20b`
    SpaceDelimited,
    /// `a%7Cb`
    PipeDelimited,
    /// `name[member]=value`, at every depth.
    DeepObject,
    /// The value as JSON.
    Json,
}

/// A parameter in a header, in OpenAPI's style `simple`.
#[derive(Debug, Clone, Copy)]
pub struct HeaderField {
    /// The property of the input.
    pub property: &'static str,
    /// The header's name, in lower case.
    pub name: &'static str,
    /// Whether the members of an object are written as `name=value`.
    pub explode: bool,
}

/// The body of a request.
#[derive(Debug, Clone, Copy)]
pub struct HttpBody {
    /// Where it comes from.
    pub content: Content,
    /// Its format.
    pub format: BodyFormat,
    /// Whether a request without any of its properties has an empty body of this format, instead of none.
    pub required: bool,
}

/// Where a body comes from.
#[derive(Debug, Clone, Copy)]
pub enum Content {
    /// The value of one property is the whole body.
    Whole(&'static str),
    /// Properties of the input, with the names of the body's members.
    Members(&'static [(&'static str, &'static str)]),
    /// An object of JSON with properties at any depth.
    Template(&'static [(&'static str, Template)]),
}

/// A part of a body of JSON. A part is left out if none of its properties is given.
#[derive(Debug, Clone, Copy)]
pub enum Template {
    /// JSON without properties.
    Fixed(&'static str),
    /// The value of a property.
    Property(&'static str),
    /// An object.
    Object(&'static [(&'static str, Template)]),
    /// An array.
    Array(&'static [Template]),
    /// The text of a part, in base64.
    Base64(&'static Template),
    /// An e-mail (RFC 5322) in base64 for URLs: its headers, and `text`.
    Email(&'static [(&'static str, Template)]),
}

/// The format of a body.
#[derive(Debug, Clone, Copy)]
pub enum BodyFormat {
    /// JSON.
    Json,
    /// `application/x-www-form-urlencoded`, with the fields that have a style of their own.
    Form(&'static [FormStyle]),
    /// `multipart/form-data`, with the media types of the parts that have a fixed one, and the styles of lists that are one part.
    Multipart(&'static [(&'static str, &'static str)], &'static [FormStyle]),
    /// A text or a file as it is, with its media type; `None` if a file says its own.
    Raw(Option<&'static str>),
}

/// The style of a field of a form.
#[derive(Debug, Clone, Copy)]
pub struct FormStyle {
    /// The field's name.
    pub name: &'static str,
    /// As in [`QueryField`].
    pub style: Style,
    /// As in [`QueryField`].
    pub explode: bool,
}

/// How a request is authorized.
#[derive(Debug, Clone, Copy)]
pub enum HttpAuth {
    /// By the user's token for a provider, in the header `Authorization`.
    Provider {
        /// The provider, which the requirements of the tool name.
        id: &'static str,
        /// The word before the token.
        scheme: &'static str,
    },
    /// By a secret of the operator.
    Secret {
        /// Its name.
        secret: &'static str,
        /// Where it is sent.
        place: SecretPlace,
        /// The word before it, if there is one.
        scheme: Option<&'static str>,
    },
    /// By name and password of the operator (RFC 7617).
    Basic {
        /// The variable or secret with the name.
        user: &'static str,
        /// The variable or secret with the password.
        password: &'static str,
    },
    /// By a token that the server gets for itself, in the header `Authorization`. The function is
    /// [`token`](super::token): a pointer, so that its code is linked only if a catalogue has such a tool.
    Grant(&'static OAuthGrant, TokenFn),
}

/// Where a secret is sent.
#[derive(Debug, Clone, Copy)]
pub enum SecretPlace {
    /// In the header with this name, in lower case.
    Header(&'static str),
    /// In the query, under this name.
    Query(&'static str),
    /// In a cookie of this name.
    Cookie(&'static str),
}

/// A grant of OAuth 2 to the server itself, of which all callers share the tokens. The texts are names of variables or
/// secrets of the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OAuthGrant {
    /// The address of the token endpoint.
    pub token_url: &'static str,
    /// Id and secret of the client. With a user, both may be empty, and the secret of any client.
    pub client: Option<(&'static str, &'static str)>,
    /// Name and password of a user (RFC 6749, 4.3); `None` for the client's own grant (4.4).
    pub user: Option<(&'static str, &'static str)>,
    /// The scopes that are requested.
    pub scopes: &'static [&'static str],
}

impl OAuthGrant {
    /// The variables and secrets that it needs.
    pub(crate) fn variables(&self) -> impl Iterator<Item = &'static str> {
        let owner = self.user.or(self.client);
        let pair = owner.into_iter().flat_map(|(name, secret)| [name, secret]);
        std::iter::once(self.token_url).chain(pair)
    }
}

/// A function that gets a token. With the token that the service has refused, it gets a newer one: `None` if there is none.
pub type TokenFn = for<'a> fn(
    &'static OAuthGrant,
    Option<&'a Secret>,
    &'a Context<'a>,
) -> BoxFuture<'a, Result<Option<Secret>, ToolError>>;

/// A part of a JSON document: a JSONPath (RFC 9535) without filters, which the build has parsed.
#[derive(Debug, Clone, Copy)]
pub struct Select {
    /// The segments, from the root.
    pub segments: &'static [Segment],
    /// Whether it selects one value at most; otherwise the selected values are a list.
    pub is_singular: bool,
}

/// A segment of a JSONPath.
#[derive(Debug, Clone, Copy)]
pub struct Segment {
    /// Whether it applies to everything below the values so far (`..`), not only to the values themselves.
    pub descends: bool,
    /// Its selectors.
    pub selectors: &'static [Selector],
}

/// A selector of a JSONPath.
#[derive(Debug, Clone, Copy)]
pub enum Selector {
    /// A member of an object.
    Name(&'static str),
    /// An item of an array; a negative index counts from its end.
    Index(i64),
    /// All members or items.
    Wildcard,
    /// The items of an array from `start` to before `end`, each `step`th.
    Slice {
        /// The first index.
        start: Option<i64>,
        /// The index at which it ends.
        end: Option<i64>,
        /// The distance of the indices.
        step: i64,
    },
}

/// A member that is kept.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// Its name.
    pub name: &'static str,
    /// The members that are kept of it; all, if it is empty.
    pub fields: &'static [Kept],
}

/// How a service reports a failure in a response with a status of success.
#[derive(Debug, Clone, Copy)]
pub struct Failure {
    /// The names of the members that lead to the description of the failure.
    pub path: &'static [&'static str],
    /// Descriptions that mean that the user's token is not valid.
    pub unauthorized: &'static [&'static str],
}

/// How a service says that there is more. The value of the tool is then `{"value", "next"}`.
#[derive(Debug, Clone, Copy)]
pub enum Pagination {
    /// The response has a header `Link` with the address of the next page (RFC 8288).
    Link,
    /// The response has a cursor.
    Cursor {
        /// The names of the members that lead to it.
        path: &'static [&'static str],
        /// The property of the input that takes it.
        property: &'static str,
    },
}
