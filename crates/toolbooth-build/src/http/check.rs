//! Checks the member `http` of one definition.

use serde_json::Value;
use toolbooth::catalog::{
    AuthDefinition, BodyType, Definition, HttpDefinition, OAuthDefinition, PaginationDefinition,
    ParameterDefinition, ParameterPlace, ParameterStyle, SecretPlaceDefinition,
};

use super::sent::{Sent, is_header_value};
use super::{body, fields, path, select};
use crate::problem::Problems;

/// The longest time to wait for a response, in milliseconds.
const MAX_TIMEOUT_MS: u32 = 60_000;
/// The most bytes of a response that are read.
const MAX_BYTES: u32 = 4 << 20;

/// Checks the request of a definition, if it has one, except for what other files say.
pub(crate) fn check(definition: &Definition, problems: &mut Problems<'_>) {
    let Some(http) = &definition.http else {
        return;
    };
    unsupported(definition, problems);
    let mut problems = problems.within("http.");
    let problems = &mut problems;
    if !(1..=MAX_TIMEOUT_MS).contains(&http.timeout_ms) {
        problems
            .add("timeout_ms", format!("is {}; expected 1 to {MAX_TIMEOUT_MS}", http.timeout_ms));
    }
    if !(1..=MAX_BYTES).contains(&http.max_bytes) {
        problems.add("max_bytes", format!("is {}; expected 1 to {MAX_BYTES}", http.max_bytes));
    }
    if http.retry && !http.method.is_read() {
        problems
            .add("retry", "is only for GET and HEAD: other requests may change something twice");
    }
    if let Err(message) = fields::compile(&http.fields) {
        problems.add("fields", message);
    }
    if http.decode.iter().any(String::is_empty) {
        problems.add("decode", "has an empty name");
    }
    let failure = http.error.as_ref();
    if failure.is_some_and(|failure| failure.at.split('.').any(str::is_empty)) {
        problems.add("error.at", "must be names, such as error.message");
    }
    if failure.is_some_and(|it| !it.unauthorized.is_empty())
        && http.auth.iter().all(|auth| auth.provider.is_none())
    {
        problems.add("error.unauthorized", "is for tools with the user's token (auth.provider)");
    }
    if let Some(Err(message)) = http.select.as_deref().map(select::compile) {
        problems.add("select", message);
    }
    let mut sent = Sent::new(definition);
    for (name, value) in &http.headers {
        fixed_header(http, name, value, &mut sent, problems);
    }
    for name in http.query.keys() {
        let at = format!("query.{name}");
        sent.name("query", name, &at, &at, problems);
    }
    for (index, parameter) in http.parameters.iter().enumerate() {
        let place = format!("parameters[{index}]");
        check_parameter(parameter, &place, &mut sent, problems);
    }
    match &http.url {
        Some(url) => check_url(http, url, &mut sent, problems),
        None => check_path(http, definition, problems),
    }
    if let Some(body) = &http.body {
        body::check(http, body, &mut sent, problems);
    }
    for (index, auth) in http.auth.iter().enumerate() {
        check_auth(auth, &auth_place(http, index), definition, &mut sent, problems);
    }
    if http.auth_optional && http.auth.is_empty() {
        problems.add("auth_optional", "is for tools with auth");
    }
    if let Some(pagination) = &http.pagination {
        check_pagination(pagination, &sent, problems);
    }
    sent.complete(problems);
}

/// What a tool without a function cannot use.
fn unsupported(definition: &Definition, problems: &mut Problems<'_>) {
    if definition.content {
        problems
            .add("content", "needs a function; a tool with http returns the service's response");
    }
    if !definition.bindings.is_empty() {
        problems.add("bindings", "need a function; a tool with http uses none");
    }
    let Some(requirements) = &definition.requirements else { return };
    if !requirements.secrets.is_empty() {
        problems.add(
            "requirements.secrets",
            "need a function; http.auth sends secrets of the operator",
        );
    }
    let auth = definition.http.iter().flat_map(|http| &http.auth);
    let provider = auth.into_iter().find_map(|auth| auth.provider.as_ref());
    for (index, required) in requirements.authorization.iter().enumerate() {
        if provider != Some(&required.id) {
            let place = format!("requirements.authorization[{index}]");
            let message = format!("is {:?}, whose token http.auth does not send", required.id);
            problems.add(place, message);
        }
    }
}

fn check_parameter<'a>(
    parameter: &'a ParameterDefinition,
    place: &str,
    sent: &mut Sent<'a>,
    problems: &mut Problems<'_>,
) {
    let ParameterDefinition { property, name, style, .. } = parameter;
    sent.property(property, place, &format!("{place}.property"), problems);
    let at = format!("{place}.name");
    let is_simple = style.is_none_or(|style| style == ParameterStyle::Simple);
    match parameter.place {
        ParameterPlace::Query => {
            sent.name("query", name, place, &at, problems);
            if *style == Some(ParameterStyle::Simple) {
                problems
                    .add(format!("{place}.style"), "is \"simple\", which is for path and header");
            }
        }
        ParameterPlace::Header => {
            if name.eq_ignore_ascii_case("content-type") {
                problems.add(&at, "is \"Content-Type\", which the body decides");
            } else if let Some(problem) = header_problem(name) {
                problems.add(&at, problem);
            }
            sent.name("header", name, place, &at, problems);
        }
        ParameterPlace::Path => {}
    }
    if parameter.place != ParameterPlace::Query && !is_simple {
        problems.add(format!("{place}.style"), "is only for the query; expected \"simple\"");
    }
}

/// Checks the property that is the whole address. A caller who chooses the address must not get a credential.
fn check_url<'a>(
    http: &'a HttpDefinition,
    url: &'a str,
    sent: &mut Sent<'a>,
    problems: &mut Problems<'_>,
) {
    sent.property(url, "url", "url", problems);
    let is_in_address = |it: &ParameterDefinition| it.place != ParameterPlace::Header;
    if !http.path.is_empty() || !http.query.is_empty() || http.parameters.iter().any(is_in_address)
    {
        problems.add(
            "url",
            "is the whole address; expected no path, and no parameters of path and query",
        );
    }
    if !http.auth.is_empty() {
        problems.add(
            "auth",
            "is not possible with url: the input chooses who would get the credentials",
        );
    }
}

fn check_path(http: &HttpDefinition, definition: &Definition, problems: &mut Problems<'_>) {
    let segments = match path::parse(&http.path) {
        Ok(segments) => segments,
        Err(message) => return problems.add("path", message),
    };
    let names: Vec<_> = segments
        .iter()
        .flatten()
        .filter_map(|part| match part {
            path::Part::Parameter(name) => Some(name),
            path::Part::Text(_) => None,
        })
        .collect();
    let parameters = || {
        let all = http.parameters.iter().enumerate();
        all.filter(|(_, it)| it.place == ParameterPlace::Path)
    };
    for (at, name) in names.iter().enumerate() {
        if names.iter().take(at).any(|earlier| earlier == name) {
            problems.add("path", format!("has {{{name}}} twice"));
        } else if !parameters().any(|(_, it)| it.name == **name) {
            let message =
                format!("has {{{name}}}, but no parameter with \"in\": \"path\" has this name");
            problems.add("path", message);
        }
    }
    let required = definition.input_schema.get("required").and_then(Value::as_array);
    for (index, ParameterDefinition { property, name, .. }) in parameters() {
        if !names.contains(&name) {
            let message = format!("is {name:?}, but the path has no {{{name}}}");
            problems.add(format!("parameters[{index}].name"), message);
        }
        if parameters().take_while(|(at, _)| *at < index).any(|(_, it)| it.name == *name) {
            problems.add(format!("parameters[{index}].name"), format!("repeats {name:?}"));
        }
        let is_required = required.is_some_and(|it| it.iter().any(|it| it == property));
        let schema = definition.input_schema.get("properties").and_then(|it| it.get(property));
        if !is_required && schema.is_some_and(|schema| schema.get("default").is_none()) {
            let message =
                format!("is {property:?}, a part of the path, so input_schema must require it");
            problems.add(format!("parameters[{index}].property"), message);
        }
    }
}

/// The headers that neither a definition nor its input may set.
const FORBIDDEN: [&str; 13] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Whether a text can be the name of a header or of a cookie: a token of RFC 9110, 5.6.2.
fn is_token(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(fits)
}

/// What is wrong with the name of a header.
fn header_problem(name: &str) -> Option<String> {
    let lower = name.to_ascii_lowercase();
    if !is_token(name) {
        return Some(format!("is {name:?}; expected the name of a header"));
    }
    if matches!(&*lower, "authorization" | "cookie" | "set-cookie") || lower.starts_with("proxy-") {
        return Some(format!("is {name:?}; credentials belong in http.auth"));
    }
    let is_forbidden = FORBIDDEN.contains(&&*lower)
        || ["cf-", "sec-", "x-forwarded-"].iter().any(|prefix| lower.starts_with(prefix));
    is_forbidden.then(|| format!("is {name:?}, which only the server sets"))
}

fn fixed_header(
    http: &HttpDefinition,
    name: &str,
    value: &str,
    sent: &mut Sent<'_>,
    problems: &mut Problems<'_>,
) {
    let at = format!("headers.{name}");
    if let Some(problem) = header_problem(name) {
        problems.add(&at, problem);
    }
    let is_json = http.body.as_ref().is_some_and(|body| body.format == BodyType::Json);
    if name.eq_ignore_ascii_case("content-type") && !is_json {
        problems.add(&at, "is only for a JSON body; other bodies set it themselves");
    }
    if !is_header_value(value) {
        problems.add(&at, "has characters that no header can have; expected visible ASCII");
    }
    sent.name("header", name, &at, &at, problems);
}

/// The place of one of the credentials: `auth`, or `auth[1]` in a list.
pub(super) fn auth_place(http: &HttpDefinition, index: usize) -> String {
    if http.auth.len() == 1 { "auth".to_owned() } else { format!("auth[{index}]") }
}

fn check_auth(
    auth: &AuthDefinition,
    at: &str,
    definition: &Definition,
    sent: &mut Sent<'_>,
    problems: &mut Problems<'_>,
) {
    let AuthDefinition { provider, secret, basic, oauth2, place, name, scheme, .. } = auth;
    let count = [provider.is_some(), secret.is_some(), basic.is_some(), oauth2.is_some()];
    if count.iter().filter(|is_there| **is_there).count() != 1 {
        return problems.add(at, "must have exactly one of provider, secret, basic and oauth2");
    }
    if scheme.as_deref().is_some_and(|scheme| scheme.contains(' ') || !is_header_value(scheme)) {
        problems.add(format!("{at}.scheme"), "must be a word, such as \"Bearer\"");
    }
    if secret.is_none() && (place.is_some() || name.is_some()) {
        problems.add(at, "has \"in\" or \"name\", which are for a secret");
    }
    if (basic.is_some() || oauth2.is_some()) && scheme.is_some() {
        problems.add(format!("{at}.scheme"), "is not for basic and oauth2");
    }
    if let Some(oauth2) = oauth2 {
        check_grant(oauth2, &format!("{at}.oauth2"), problems);
    }
    if let Some(provider) = provider {
        let requirements = definition.requirements.iter().flat_map(|it| &it.authorization);
        if !requirements.into_iter().any(|required| required.id == *provider) {
            let message = format!(
                "is {provider:?}, which requirements.authorization does not name; add {{\"id\": {provider:?}}}"
            );
            problems.add(format!("{at}.provider"), message);
        }
    }
    match (secret, place, name) {
        (None, ..) => sent.name("header", "authorization", at, at, problems),
        (Some(_), Some(SecretPlaceDefinition::Query), Some(name)) if !name.is_empty() => {
            sent.name("query", name, at, &format!("{at}.name"), problems);
        }
        (Some(_), Some(SecretPlaceDefinition::Cookie), Some(name)) if is_token(name) => {
            sent.name("cookie", name, at, &format!("{at}.name"), problems);
        }
        (Some(_), Some(SecretPlaceDefinition::Header), Some(name)) => {
            let is_usual = name.eq_ignore_ascii_case("authorization");
            if let Some(problem) = header_problem(name).filter(|_| !is_usual) {
                problems.add(format!("{at}.name"), problem);
            }
            sent.name("header", name, at, &format!("{at}.name"), problems);
        }
        _ => {
            let expected =
                "must have \"in\" (\"header\", \"query\" or \"cookie\") and \"name\" for a secret";
            problems.add(at, expected);
        }
    }
}

fn check_grant(grant: &OAuthDefinition, at: &str, problems: &mut Problems<'_>) {
    let OAuthDefinition { client_id, client_secret, username, password, scopes, .. } = grant;
    if client_id.is_some() != client_secret.is_some() || username.is_some() != password.is_some() {
        let expected =
            "must have client_id and client_secret, username and password, or all of them";
        problems.add(at, expected);
    } else if client_id.is_none() && username.is_none() {
        problems.add(at, "must have client_id and client_secret, or username and password");
    }
    // RFC 6749, 3.3
    let is_scope = |scope: &String| {
        let fits = |byte: u8| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~');
        !scope.is_empty() && scope.bytes().all(fits)
    };
    if !scopes.iter().all(is_scope) {
        problems.add(format!("{at}.scopes"), "must be scopes: visible ASCII characters");
    }
}

fn check_pagination(
    pagination: &PaginationDefinition,
    sent: &Sent<'_>,
    problems: &mut Problems<'_>,
) {
    let PaginationDefinition { link, cursor, parameter, .. } = pagination;
    match (link, cursor, parameter) {
        (true, None, None) => {}
        (false, Some(cursor), Some(parameter)) => {
            if cursor.split('.').any(str::is_empty) {
                let message = format!("is {cursor:?}; expected names, such as meta.next_cursor");
                problems.add("pagination.cursor", message);
            }
            if !sent.has_property(parameter) {
                let message =
                    format!("is {parameter:?}, a property that the request does not send");
                problems.add("pagination.parameter", message);
            }
        }
        _ => problems.add("pagination", "must have either \"link\": true, or cursor and parameter"),
    }
}
