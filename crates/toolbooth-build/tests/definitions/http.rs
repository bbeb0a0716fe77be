//! Tests for the member `http`, and for `toolkit.json`.

mod wrong;

use serde_json::{Value, json};
use toolbooth_build::{Source, compile, is_of_worker};

use crate::sample::{GONE, catalogue, changed, define, problems, put};

/// A definition with most of what a request can have.
fn update() -> Value {
    json!({
        "id": "Web.Update@1.0.0",
        "name": "Web_Update",
        "description": "Updates an item.",
        "version": "1.0.0",
        "input_schema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "The id."},
                "tags": {"type": "array", "items": {"type": "string"}, "description": "Tags."},
                "trace": {"type": "string", "description": "A trace."},
                "title": {"type": "string", "description": "The title."},
                "id__body": {"type": "string", "description": "The new id."}
            },
            "required": ["id"],
            "additionalProperties": false
        },
        "output_schema": {},
        "http": {
            "method": "PUT",
            "base": "WEB_URL",
            "path": "/items/{item}.json",
            "parameters": [
                {"property": "id", "in": "path", "name": "item"},
                {"property": "tags", "in": "query", "name": "tag", "style": "form", "explode": false},
                {"property": "trace", "in": "header", "name": "X-Trace"}
            ],
            "body": {"type": "json", "properties": {"title": "title", "id__body": "id"}, "required": true},
            "headers": {"Accept": "application/json"},
            "auth": {"secret": "WEB_KEY", "in": "header", "name": "Authorization", "scheme": "Bearer"},
            "select": "$.items[*]",
            "timeout_ms": 5000,
            "max_bytes": 1000,
            "pagination": {"cursor": "meta.next", "parameter": "trace"}
        }
    })
}

const TOOLKIT: &str = r#"{"variables": {
    "WEB_URL": {"kind": "base", "default": "https://web.example/v1"},
    "OTHER_URL": {"kind": "base"},
    "WEB_KEY": {"kind": "secret"},
    "WEB_TOKEN_URL": {"kind": "url", "default": "https://web.example/token/?a=b"},
    "WEB_ID": {"kind": "text", "optional": true},
    "WEB_USER": {"kind": "text"}
}}"#;

fn with(definition: &Value, toolkit: &str) -> Source {
    let mut source = catalogue();
    put(&mut source, "web/toolkit.json", toolkit);
    define(&mut source, definition);
    source
}

/// The catalogue of a definition with these changes.
fn source(changes: &Value) -> Source {
    with(&changed(update(), changes), TOOLKIT)
}

#[test]
fn a_request_is_compiled_into_a_table() {
    let rendered = compile(&source(&json!({}))).unwrap();
    let rust = String::from_utf8(rendered.files[0].1.clone()).unwrap();
    for part in [
        "HttpCall { method: \"PUT\", base: \"WEB_URL\", url: None, \
         path: &[&[PathPart::Text(\"items\"), ], &[PathPart::Parameter { property: \"id\", explode: false }, PathPart::Text(\".json\"), ], ], \
         query: &[QueryField { property: \"tags\", name: \"tag\", style: Style::Form, explode: false, read: None }, ], \
         fixed_query: &[], headers: &[HeaderField { property: \"trace\", name: \"x-trace\", explode: false }, ], \
         fixed_headers: &[(\"accept\", \"application/json\")], \
         body: Some(HttpBody { content: Content::Members(&[(\"id__body\", \"id\"), (\"title\", \"title\")]), format: BodyFormat::Json, required: true }), \
         auth: &[HttpAuth::Secret { secret: \"WEB_KEY\", place: SecretPlace::Header(\"authorization\"), scheme: Some(\"Bearer\") }, ], \
         auth_optional: false, select: Some(Select { segments: &[Segment { descends: false, selectors: &[Selector::Name(\"items\")] }, Segment { descends: false, selectors: &[Selector::Wildcard] }, ], is_singular: false }), \
         fields: &[], decode: &[], failure: None, pagination: Some(Pagination::Cursor { path: &[\"meta\", \"next\"], property: \"trace\" }), \
         timeout_ms: 5000, max_bytes: 1000, retry: false, returns_nothing: false }",
        "run: toolbooth::catalog::Run::Http(&catalog_requests::CALL_2, toolbooth::tool::http::run),",
        "variables: &[\"WEB_URL\", \"WEB_KEY\"],",
        "DECLARED: &[toolbooth::tool::Variable] = &[toolbooth::tool::Variable::required(\"OTHER_URL\", toolbooth::address::service_address), \
         toolbooth::tool::Variable::required(\"WEB_ID\", toolbooth::private::not_empty).optional(), \
         toolbooth::tool::Variable::secret(\"WEB_KEY\"), \
         toolbooth::tool::Variable::new(\"WEB_TOKEN_URL\", \"https://web.example/token/?a=b\", toolbooth::address::secure_address), \
         toolbooth::tool::Variable::new(\"WEB_URL\", \"https://web.example/v1\", toolbooth::address::service_address), \
         toolbooth::tool::Variable::required(\"WEB_USER\", toolbooth::private::not_empty)];",
    ] {
        assert!(rust.contains(part), "{part}\n{rust}");
    }
    assert!(!rust.contains("crate::web"), "no function, no module");
}

/// Each style, body and credential that a table can have, and the defaults of OpenAPI.
#[test]
fn parts_of_requests() {
    let query = |more: Value| {
        let mut parameter = json!({"property": "tags", "in": "query", "name": "tag"});
        parameter.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"/http/parameters": [update()["http"]["parameters"][0], parameter,
            update()["http"]["parameters"][2]]})
    };
    let body = |kind: &str, encoding: Value| json!({"/http/body/type": kind, "/http/body/encoding": encoding});
    let auth = |auth: Value| json!({"/http/auth": auth});
    let template = |template: Value| json!({"/http/body": {"type": "json", "template": template}});
    for (changes, expected) in [
        (query(json!({})), "style: Style::Form, explode: true, read: None }"),
        (
            query(json!({"style": "spaceDelimited"})),
            "style: Style::SpaceDelimited, explode: false, read: None }",
        ),
        (
            query(json!({"style": "pipeDelimited", "explode": true})),
            "style: Style::PipeDelimited, explode: true, read: None }",
        ),
        (
            query(json!({"style": "deepObject"})),
            "style: Style::DeepObject, explode: true, read: None }",
        ),
        (query(json!({"style": "json"})), "style: Style::Json, explode: false, read: None }"),
        (
            body(
                "form",
                json!({"id": {"style": "deepObject", "explode": true}, "title": {"contentType": "application/json"}}),
            ),
            "BodyFormat::Form(&[FormStyle { name: \"id\", style: Style::DeepObject, explode: true }, \
             FormStyle { name: \"title\", style: Style::Json, explode: false }, ])",
        ),
        (
            body("multipart", json!({"title": {"contentType": "text/plain; charset=utf-8"}})),
            "BodyFormat::Multipart(&[(\"title\", \"text/plain; charset=utf-8\"), ], &[])",
        ),
        (
            body(
                "multipart",
                json!({"id": {"explode": false}, "title": {"style": "pipeDelimited"}}),
            ),
            "BodyFormat::Multipart(&[], &[FormStyle { name: \"id\", style: Style::Form, explode: false }, \
             FormStyle { name: \"title\", style: Style::PipeDelimited, explode: false }, ])",
        ),
        (
            auth(json!({"secret": "WEB_KEY", "in": "cookie", "name": "sid"})),
            "HttpAuth::Secret { secret: \"WEB_KEY\", place: SecretPlace::Cookie(\"sid\"), scheme: None }",
        ),
        (
            auth(
                json!({"oauth2": {"token_url": "WEB_TOKEN_URL", "client_id": "WEB_USER", "client_secret": "WEB_KEY", "scopes": ["a:b"]}}),
            ),
            "auth: &[HttpAuth::Grant(&OAuthGrant { token_url: \"WEB_TOKEN_URL\", client: Some((\"WEB_USER\", \"WEB_KEY\")), \
             user: None, scopes: &[\"a:b\"] }, token), ], auth_optional: false",
        ),
        (
            auth(
                json!({"oauth2": {"token_url": "WEB_TOKEN_URL", "username": "WEB_USER", "password": "WEB_KEY"}}),
            ),
            "HttpAuth::Grant(&OAuthGrant { token_url: \"WEB_TOKEN_URL\", client: None, \
             user: Some((\"WEB_USER\", \"WEB_KEY\")), scopes: &[] }, token)",
        ),
        (json!({"/http/auth_optional": true}), "auth_optional: true, "),
        (
            auth(json!({"secret": "WEB_KEY", "in": "query", "name": "key"})),
            "HttpAuth::Secret { secret: \"WEB_KEY\", place: SecretPlace::Query(\"key\"), scheme: None }",
        ),
        (
            auth(json!({"basic": {"user": "WEB_USER", "password": "WEB_KEY"}})),
            "HttpAuth::Basic { user: \"WEB_USER\", password: \"WEB_KEY\" }",
        ),
        (
            json!({"/http/auth": {"provider": "web"}, "/requirements": {"authorization": [{"id": "web"}]}}),
            "HttpAuth::Provider { id: \"web\", scheme: \"Bearer\" }",
        ),
        (
            auth(json!([
                {"secret": "WEB_KEY", "in": "query", "name": "key"},
                {"basic": {"user": "WEB_USER", "password": "WEB_KEY"}},
            ])),
            "auth: &[HttpAuth::Secret { secret: \"WEB_KEY\", place: SecretPlace::Query(\"key\"), scheme: None }, \
             HttpAuth::Basic { user: \"WEB_USER\", password: \"WEB_KEY\" }, ]",
        ),
        (
            json!({"/http/body": {"type": "raw", "whole": "title", "contentType": "text/csv"}, "/input_schema/properties/id__body": GONE}),
            "HttpBody { content: Content::Whole(\"title\"), format: BodyFormat::Raw(Some(\"text/csv\")), required: false }",
        ),
        (
            json!({"/http/auth": GONE, "/http/pagination": {"link": true}}),
            "pagination: Some(Pagination::Link)",
        ),
        (
            json!({"/http/body": {"type": "json", "whole": "title"}, "/input_schema/properties/id__body": GONE}),
            "HttpBody { content: Content::Whole(\"title\"), format: BodyFormat::Json, required: false }",
        ),
        (json!({"/output_schema": null}), "returns_nothing: true"),
        (
            json!({"/http/query": {"part": "id,name"}, "/http/fields": ["user.name", "id", "user.id"], "/http/decode": ["data"]}),
            "fixed_query: &[(\"part\", \"id,name\")], ",
        ),
        (
            json!({"/http/fields": ["user.name", "id", "user.id"], "/http/decode": ["data"]}),
            "fields: &[Kept { name: \"id\", fields: &[] }, Kept { name: \"user\", fields: &[Kept { name: \"id\", fields: &[] }, \
             Kept { name: \"name\", fields: &[] }, ] }, ], decode: &[\"data\"], ",
        ),
        (
            json!({"/http/error": {"at": "meta.error"}}),
            "failure: Some(Failure { path: &[\"meta\", \"error\"], unauthorized: &[] })",
        ),
        (
            template(
                json!({"a": {"$base64": "{title}"}, "b": [{"c": "{id__body}"}, {"d": ["{"]}], "e": null}),
            ),
            "Content::Template(&[(\"a\", Template::Base64(&Template::Property(\"title\"))), \
             (\"b\", Template::Array(&[Template::Object(&[(\"c\", Template::Property(\"id__body\")), ]), \
             Template::Fixed(\"{\\\"d\\\":[\\\"{\\\"]}\")])), (\"e\", Template::Fixed(\"null\")), ])",
        ),
        (
            template(json!({"raw": {"$email": {"Subject": "{title}", "text": "{id__body}"}}})),
            "Template::Email(&[(\"Subject\", Template::Property(\"title\")), (\"text\", Template::Property(\"id__body\")), ])",
        ),
    ] {
        let rendered = compile(&source(&changes)).unwrap();
        let rust = String::from_utf8(rendered.files[0].1.clone()).unwrap();
        assert!(rust.contains(expected), "{expected}\n{rust}");
    }
}

/// A name or a password may be empty, unless another credential has the same variable.
#[test]
fn parts_of_basic_authentication_may_be_empty() {
    let basic = json!({"basic": {"user": "WEB_USER", "password": "WEB_KEY"}});
    let key = json!({"secret": "WEB_KEY", "in": "query", "name": "key"});
    for (auth, expected) in [
        (json!(basic), ["secret(\"WEB_KEY\").or_empty(),", "not_empty).or_empty()]"]),
        (json!([key, basic]), ["secret(\"WEB_KEY\"),", "not_empty).or_empty()]"]),
        (key, ["secret(\"WEB_KEY\"),", "not_empty)]"]),
    ] {
        let rendered = compile(&source(&json!({"/http/auth": auth}))).unwrap();
        let rust = String::from_utf8(rendered.files[0].1.clone()).unwrap();
        for part in expected {
            assert!(rust.contains(part), "{part}\n{rust}");
        }
    }
}

#[test]
fn examples_are_optional_and_other_files_are_no_definitions() {
    let recorded = json!([{"input": {"id": "7"}, "value": [], "request": "PUT https://web.example/v1/items/7.json",
        "response": {"status": 200, "body": {}, "link": "<a>; rel=next"}}]);
    for changes in [json!({}), json!({"/examples": recorded}), json!({"/examples": []})] {
        let mut source = source(&changes);
        put(&mut source, "web/import.json", "anything");
        assert_eq!(problems(&source), [""; 0], "{changes}");
    }
    let mut source = catalogue();
    let mut slugify = crate::sample::slugify("1.0.0");
    slugify["examples"][0]["response"] = json!({"status": 200});
    define(&mut source, &slugify);
    let expected = "tools/text/Slugify@1.0.0.json: examples[0]: has a request or a response, which are for tools with http";
    assert_eq!(problems(&source), [expected]);
}

#[test]
fn names_of_the_worker() {
    for (name, expected) in [
        ("STATE_KEY", true),
        ("STATE_KEY_PREVIOUS", true),
        ("OAUTH_GITHUB_CLIENT_SECRET", true),
        ("OPENAI_API_KEY", true),
        ("KV", true),
        ("STRIPE_API_KEY", false),
        ("GITHUB_URL", false),
    ] {
        assert_eq!(is_of_worker(name), expected, "{name}");
    }
}
