//! Writes the request of a tool as Rust code. The checks have passed.

use toolbooth::catalog::{
    AuthDefinition, BodyDefinition, BodyType, Definition, EncodingDefinition, HttpDefinition,
    OAuthDefinition, PaginationDefinition, ParameterDefinition, ParameterPlace, ParameterStyle,
    SecretPlaceDefinition,
};

use super::{fields, path, select, template};

/// The Rust code of an `HttpCall`, with `toolbooth::tool::http::*` in scope.
pub(crate) fn call(http: &HttpDefinition, definition: &Definition) -> String {
    let HttpDefinition { method, base, timeout_ms, max_bytes, retry, parameters, .. } = http;
    let of = |place| parameters.iter().filter(move |it| it.place == place);
    let query: String = of(ParameterPlace::Query).map(|it| query(it, definition)).collect();
    let headers: String = of(ParameterPlace::Header).map(header).collect();
    let fixed: Vec<_> =
        http.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    let failure = http.error.as_ref().map(|failure| {
        let path: Vec<_> = failure.at.split('.').collect();
        format!("Failure {{ path: &{path:?}, unauthorized: &{:?} }}", failure.unauthorized)
    });
    let optional = |code: Option<String>| match code {
        Some(code) => format!("Some({code})"),
        None => "None".to_owned(),
    };
    let select = optional(http.select.as_deref().and_then(|it| select::compile(it).ok()));
    format!(
        "HttpCall {{ method: {method:?}, base: {base:?}, url: {url:?}, path: &[{path}], query: &[{query}], \
         fixed_query: &{fixed_query:?}, headers: &[{headers}], \
         fixed_headers: &{fixed:?}, body: {body}, auth: &[{auth}], auth_optional: {auth_optional}, select: {select}, \
         fields: &[{fields}], decode: &{decode:?}, failure: {failure}, pagination: {pagination}, \
         timeout_ms: {timeout_ms}, max_bytes: {max_bytes}, retry: {retry}, returns_nothing: {returns_nothing} }}",
        method = method.name(),
        url = http.url,
        path = segments(http),
        fixed_query = http.query.iter().collect::<Vec<_>>(),
        fields = fields::compile(&http.fields).unwrap_or_default(),
        decode = http.decode,
        failure = optional(failure),
        body = optional(http.body.as_ref().map(body)),
        auth = http.auth.iter().filter_map(auth).map(|it| it + ", ").collect::<String>(),
        auth_optional = http.auth_optional,
        pagination = optional(http.pagination.as_ref().and_then(pagination)),
        returns_nothing = definition.output_schema.is_none(),
    )
}

fn segments(http: &HttpDefinition) -> String {
    let part = |part: &path::Part| match part {
        path::Part::Text(text) => format!("PathPart::Text({text:?}), "),
        path::Part::Parameter(name) => {
            let is_it =
                |it: &&ParameterDefinition| it.place == ParameterPlace::Path && it.name == *name;
            let found = http.parameters.iter().find(is_it);
            let property = found.map_or(&**name, |it| &it.property);
            let explode = found.is_some_and(|it| it.explode == Some(true));
            format!("PathPart::Parameter {{ property: {property:?}, explode: {explode} }}, ")
        }
    };
    let segment =
        |parts: &Vec<path::Part>| format!("&[{}], ", parts.iter().map(part).collect::<String>());
    path::parse(&http.path).unwrap_or_default().iter().map(segment).collect()
}

fn query(parameter: &ParameterDefinition, definition: &Definition) -> String {
    let ParameterDefinition { property, name, style, explode, .. } = parameter;
    let (style, explode) = styled(*style, *explode);
    let schema = definition.input_schema.get("properties").and_then(|it| it.get(property));
    let read = match schema.and_then(|it| it.get("type")?.as_str()) {
        Some("string") => "Some(toolbooth::catalog::QueryValue::Text)",
        Some("integer") => "Some(toolbooth::catalog::QueryValue::Number)",
        Some("boolean") => "Some(toolbooth::catalog::QueryValue::Boolean)",
        _ => "None",
    };
    format!(
        "QueryField {{ property: {property:?}, name: {name:?}, style: {style}, explode: {explode}, read: {read} }}, "
    )
}

/// The style of a field, and whether it explodes: OpenAPI's defaults.
fn styled(style: Option<ParameterStyle>, explode: Option<bool>) -> (&'static str, bool) {
    let (name, explodes) = match style {
        None | Some(ParameterStyle::Form | ParameterStyle::Simple) => ("Style::Form", true),
        Some(ParameterStyle::SpaceDelimited) => ("Style::SpaceDelimited", false),
        Some(ParameterStyle::PipeDelimited) => ("Style::PipeDelimited", false),
        Some(ParameterStyle::DeepObject) => ("Style::DeepObject", true),
        Some(ParameterStyle::Json) => ("Style::Json", false),
    };
    (name, explode.unwrap_or(explodes))
}

fn header(parameter: &ParameterDefinition) -> String {
    let ParameterDefinition { property, name, explode, .. } = parameter;
    let (name, explode) = (name.to_ascii_lowercase(), explode.unwrap_or_default());
    format!("HeaderField {{ property: {property:?}, name: {name:?}, explode: {explode} }}, ")
}

fn body(body: &BodyDefinition) -> String {
    let BodyDefinition {
        format,
        content_type,
        properties,
        whole,
        template,
        required,
        encoding,
        ..
    } = body;
    let filled = template.as_ref().and_then(|template| template::compile(template).ok());
    let content = match (whole, filled) {
        (Some(property), _) => format!("Content::Whole({property:?})"),
        (None, Some((members, _))) => format!("Content::Template(&[{members}])"),
        (None, None) => {
            let members: Vec<_> = properties.iter().flatten().collect();
            format!("Content::Members(&{members:?})")
        }
    };
    let style = |(name, encoding): (&String, &EncodingDefinition)| {
        let EncodingDefinition { content_type, style, explode, .. } = encoding;
        let style = if content_type.is_some() { Some(ParameterStyle::Json) } else { *style };
        let (style, explode) = styled(style, *explode);
        format!("FormStyle {{ name: {name:?}, style: {style}, explode: {explode} }}, ")
    };
    let media_type = |(name, encoding): (&String, &EncodingDefinition)| {
        let fixed = encoding.content_type.as_ref()?;
        Some(format!("({name:?}, {fixed:?}), "))
    };
    let format = match format {
        BodyType::Json => "BodyFormat::Json".to_owned(),
        BodyType::Form => {
            format!("BodyFormat::Form(&[{}])", encoding.iter().map(style).collect::<String>())
        }
        BodyType::Multipart => {
            let types: String = encoding.iter().filter_map(media_type).collect();
            let of_parts = encoding.iter().filter(|(_, encoding)| encoding.content_type.is_none());
            let styles: String = of_parts.map(style).collect();
            format!("BodyFormat::Multipart(&[{types}], &[{styles}])")
        }
        BodyType::Raw => format!("BodyFormat::Raw({content_type:?})"),
    };
    format!("HttpBody {{ content: {content}, format: {format}, required: {required} }}")
}

fn auth(auth: &AuthDefinition) -> Option<String> {
    let AuthDefinition { provider, secret, basic, oauth2, place, name, scheme, .. } = auth;
    if let Some(id) = provider {
        let scheme = scheme.as_deref().unwrap_or("Bearer");
        return Some(format!("HttpAuth::Provider {{ id: {id:?}, scheme: {scheme:?} }}"));
    }
    if let Some(secret) = secret {
        let name = name.as_deref()?;
        let place = match place.as_ref()? {
            SecretPlaceDefinition::Header => {
                format!("SecretPlace::Header({:?})", name.to_ascii_lowercase())
            }
            SecretPlaceDefinition::Query => format!("SecretPlace::Query({name:?})"),
            SecretPlaceDefinition::Cookie => format!("SecretPlace::Cookie({name:?})"),
        };
        return Some(format!(
            "HttpAuth::Secret {{ secret: {secret:?}, place: {place}, scheme: {scheme:?} }}"
        ));
    }
    if let Some(grant) = oauth2 {
        let OAuthDefinition { token_url, scopes, .. } = grant;
        let client = grant.client_id.as_ref().zip(grant.client_secret.as_ref());
        let user = grant.username.as_ref().zip(grant.password.as_ref());
        return Some(format!(
            "HttpAuth::Grant(&OAuthGrant {{ token_url: {token_url:?}, client: {client:?}, user: {user:?}, scopes: &{scopes:?} }}, token)"
        ));
    }
    let basic = basic.as_ref()?;
    Some(format!("HttpAuth::Basic {{ user: {:?}, password: {:?} }}", basic.user, basic.password))
}

fn pagination(pagination: &PaginationDefinition) -> Option<String> {
    let PaginationDefinition { link, cursor, parameter, .. } = pagination;
    if *link {
        return Some("Pagination::Link".to_owned());
    }
    let path: Vec<_> = cursor.as_ref()?.split('.').collect();
    let property = parameter.as_ref()?;
    Some(format!("Pagination::Cursor {{ path: &{path:?}, property: {property:?} }}"))
}
