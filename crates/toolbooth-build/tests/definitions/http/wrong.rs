//! What is wrong in a member `http` or in `toolkit.json`.

use super::*;

#[test]
fn requests_that_are_wrong() {
    let parameters = |index: usize, member: &str, value: Value| {
        let mut parameters = update()["http"]["parameters"].clone();
        parameters[index][member] = value;
        json!({"/http/parameters": parameters})
    };
    let auth = |auth: Value| json!({"/http/auth": auth});
    let body = |body: Value| json!({"/http/body": body});
    let encoding = |kind: &str, encoding: Value| json!({"/http/body/type": kind, "/http/body/encoding": encoding});
    let header = |name: &str, value: &str| json!({"/http/headers": {name: value}});
    for (changes, expected) in [
        (
            json!({"/http/uri": "x"}),
            &["http.uri: unknown field `uri`, expected one of `method`, `base`, `path`, `url`, \
            `parameters`, `query`, `body`, `headers`, `auth`, `auth_optional`, `select`, `fields`, `decode`, `error`, `timeout_ms`, `max_bytes`, `retry`, `pagination`"]
                [..],
        ),
        (
            json!({"/http/method": "TRACE"}),
            &["http.method: unknown variant `TRACE`, expected one of `GET`, `HEAD`, `POST`, \
            `PUT`, `PATCH`, `DELETE`"],
        ),
        (json!({"/http": []}), &["http: is an array; expected an object"]),
        (
            json!({"/http/timeout_ms": 0, "/http/max_bytes": 5_000_000}),
            &[
                "http.timeout_ms: is 0; expected 1 to 60000",
                "http.max_bytes: is 5000000; expected 1 to 4194304",
            ],
        ),
        (
            json!({"/http/retry": true}),
            &["http.retry: is only for GET and HEAD: other requests may change something twice"],
        ),
        (json!({"/http/method": "GET"}), &["http.body: is not possible with GET"]),
        (
            json!({"/http/select": "$.a[?@.b]"}),
            &[
                "http.select: has a filter (?…), which is not supported; expected names, indexes, slices, * and ..",
            ],
        ),
        (json!({"/http/path": "items/{item}"}), &["http.path: must begin with /"]),
        (
            json!({"/http/path": "/items"}),
            &["http.parameters[0].name: is \"item\", but the path has no {item}"],
        ),
        (json!({"/http/path": "/{item}/{item}"}), &["http.path: has {item} twice"]),
        (
            json!({"/http/path": "/{item}/{x}"}),
            &["http.path: has {x}, but no parameter with \"in\": \"path\" has this name"],
        ),
        (
            json!({"/input_schema/required": []}),
            &[
                "http.parameters[0].property: is \"id\", a part of the path, so input_schema must require it",
            ],
        ),
        (
            json!({"/input_schema/additionalProperties": GONE}),
            &[
                "input_schema.additionalProperties: must be false: what http does not map would be lost",
            ],
        ),
        (
            json!({"/input_schema/properties/more": {"description": "d"}}),
            &[
                "input_schema.properties.more: is sent nowhere; add it to http.parameters or http.body",
            ],
        ),
        (
            parameters(1, "property", json!("tag")),
            &[
                "http.parameters[1].property: is \"tag\", which input_schema.properties does not have",
                "input_schema.properties.tags: is sent nowhere; add it to http.parameters or http.body",
            ],
        ),
        (
            parameters(1, "property", json!("id")),
            &[
                "http.parameters[1].property: is \"id\", which http.parameters[0] sends too",
                "input_schema.properties.tags: is sent nowhere; add it to http.parameters or http.body",
            ],
        ),
        (
            parameters(1, "style", json!("simple")),
            &["http.parameters[1].style: is \"simple\", which is for path and header"],
        ),
        (
            parameters(0, "style", json!("form")),
            &["http.parameters[0].style: is only for the query; expected \"simple\""],
        ),
        (
            parameters(0, "style", json!("matrix")),
            &["http.parameters[0].style: unknown variant `matrix`, expected one of `simple`, \
            `form`, `spaceDelimited`, `pipeDelimited`, `deepObject`, `json`"],
        ),
        (
            parameters(2, "name", json!("Accept")),
            &[
                "http.parameters[2].name: is \"Accept\", a header that http.headers.Accept sends too",
            ],
        ),
        (
            parameters(2, "name", json!("Content-Type")),
            &["http.parameters[2].name: is \"Content-Type\", which the body decides"],
        ),
        (
            parameters(2, "name", json!("a b")),
            &["http.parameters[2].name: is \"a b\"; expected the name of a header"],
        ),
        (
            parameters(2, "name", json!("Host")),
            &["http.parameters[2].name: is \"Host\", which only the server sets"],
        ),
        (
            parameters(2, "name", json!("CF-Connecting-IP")),
            &["http.parameters[2].name: is \"CF-Connecting-IP\", which only the server sets"],
        ),
        (
            parameters(2, "name", json!("Cookie")),
            &["http.parameters[2].name: is \"Cookie\"; credentials belong in http.auth"],
        ),
        (
            header("Authorization", "Bearer abc"),
            &[
                "http.headers.Authorization: is \"Authorization\"; credentials belong in http.auth",
                "http.auth.name: is \"Authorization\", a header that http.headers.Authorization sends too",
            ],
        ),
        (
            header("X-A", "a\r\nb: c"),
            &["http.headers.X-A: has characters that no header can have; expected visible ASCII"],
        ),
        (encoding("form", json!({})), &[]),
        (
            json!({"/http/headers": {"Content-Type": "a/b"}, "/http/body/type": "form"}),
            &["http.headers.Content-Type: is only for a JSON body; other bodies set it themselves"],
        ),
        (
            body(json!({"type": "json"})),
            &[
                "http.body: must have exactly one of properties, whole and template",
                "input_schema.properties.id__body: is sent nowhere; add it to http.parameters or http.body",
                "input_schema.properties.title: is sent nowhere; add it to http.parameters or http.body",
            ],
        ),
        (
            body(json!({"type": "json", "properties": {"title": "id", "id__body": "id"}})),
            &["http.body.properties.title: is \"id\", the same member as that of \"id__body\""],
        ),
        (
            json!({"/http/body": {"type": "form", "whole": "title"}, "/input_schema/properties/id__body": GONE}),
            &["http.body.whole: is \"title\", which is not an object; a form has fields"],
        ),
        (
            json!({"/http/body": {"type": "form", "template": {"a": "{title}", "b": "{id__body}"}}}),
            &["http.body.template: is only for a JSON body"],
        ),
        (
            body(json!({"type": "json", "template": {"a": "{title}", "b": "{title}", "c": "{x}"}})),
            &[
                "http.body.template: is \"title\", which http.body sends too",
                "http.body.template: is \"x\", which input_schema.properties does not have",
                "input_schema.properties.id__body: is sent nowhere; add it to http.parameters or http.body",
            ],
        ),
        (
            json!({"/http/body/properties": GONE, "/http/body/template": [1]}),
            &[
                "http.body.template: must be an object",
                "input_schema.properties.id__body: is sent nowhere; add it to http.parameters or http.body",
                "input_schema.properties.title: is sent nowhere; add it to http.parameters or http.body",
            ],
        ),
        (
            body(
                json!({"type": "json", "template": {"a": {"$base64": "{title}", "b": "{id__body}"}}}),
            ),
            &[
                "http.body.template: has \"$base64\"; expected {\"$base64\": …} or {\"$email\": {…}} alone in an object",
                "input_schema.properties.id__body: is sent nowhere; add it to http.parameters or http.body",
                "input_schema.properties.title: is sent nowhere; add it to http.parameters or http.body",
            ],
        ),
        (
            body(
                json!({"type": "json", "template": {"a": {"$email": {"To\r\nBcc": "{title}", "text": "{id__body}"}}}}),
            ),
            &[
                "http.body.template: has an e-mail; expected headers, such as \"To\", and \"text\"",
                "input_schema.properties.id__body: is sent nowhere; add it to http.parameters or http.body",
                "input_schema.properties.title: is sent nowhere; add it to http.parameters or http.body",
            ],
        ),
        (
            json!({"/http/query": {"tag": "a"}}),
            &["http.parameters[1].name: is \"tag\", a query that http.query.tag sends too"],
        ),
        (
            json!({"/http/fields": ["a..b"]}),
            &["http.fields: has \"a..b\"; expected names, such as user.name"],
        ),
        (
            json!({"/http/fields": ["ab.c", "a.b", "a"]}),
            &["http.fields: has \"a.b\" and \"a\", of which one contains the other"],
        ),
        (json!({"/http/decode": [""]}), &["http.decode: has an empty name"]),
        (
            json!({"/http/error": {"at": "", "unauthorized": ["expired"]}}),
            &[
                "http.error.at: must be names, such as error.message",
                "http.error.unauthorized: is for tools with the user's token (auth.provider)",
            ],
        ),
        (
            json!({"/http/url": "trace"}),
            &[
                "http.url: is \"trace\", which http.parameters[2] sends too",
                "http.url: is the whole address; expected no path, and no parameters of path and query",
                "http.auth: is not possible with url: the input chooses who would get the credentials",
            ],
        ),
        (
            encoding("json", json!({"id": {}})),
            &["http.body.encoding.id: is only for form and multipart"],
        ),
        (
            encoding("form", json!({"x": {}})),
            &["http.body.encoding.x: is not a member of the body"],
        ),
        (
            encoding("form", json!({"id": {"contentType": "text/plain"}})),
            &[
                "http.body.encoding.id: must have either style and explode, or \"contentType\": \"application/json\"",
            ],
        ),
        (
            encoding("multipart", json!({"id": {"style": "form", "contentType": "text/plain"}})),
            &["http.body.encoding.id: must have either contentType, or style and explode"],
        ),
        (
            encoding("multipart", json!({"id": {"style": "deepObject"}})),
            &["http.body.encoding.id.style: is \"deepObject\", which is not for multipart"],
        ),
        (
            encoding("multipart", json!({"id": {"contentType": "a/b\r\nc: d"}})),
            &[
                "http.body.encoding.id.contentType: is \"a/b\\r\\nc: d\"; expected a media type, such as image/png",
            ],
        ),
        (
            json!({"/http/body/type": "raw"}),
            &["http.body: must have whole, because its type is raw"],
        ),
        (
            json!({"/http/body/contentType": "text/csv"}),
            &["http.body.contentType: is only for the type raw"],
        ),
        (
            json!({"/http/body": {"type": "raw", "whole": "title", "contentType": "csv\r\nx: y"}, "/input_schema/properties/id__body": GONE}),
            &[
                "http.body.contentType: is \"csv\\r\\nx: y\"; expected a media type, such as text/csv",
            ],
        ),
        (
            auth(json!([
                {"secret": "WEB_KEY", "in": "header", "name": "Authorization"},
                {"basic": {"user": "WEB_USER", "password": "WEB_KEY"}},
            ])),
            &["http.auth[1]: is \"authorization\", a header that http.auth[0] sends too"],
        ),
        (
            auth(json!([
                {"secret": "WEB_KEY", "in": "header", "name": "Authorization"},
                {"secret": "X", "in": "query", "name": "key"},
            ])),
            &[
                "http.auth[1].secret: is \"X\", which tools/web/toolkit.json does not declare; add \"X\": {\"kind\": \"secret\"} to its variables",
            ],
        ),
        (
            auth(json!("WEB_KEY")),
            &[
                "http.auth: invalid type: string \"WEB_KEY\", expected an object or a list of objects",
            ],
        ),
        (
            auth(json!({})),
            &["http.auth: must have exactly one of provider, secret, basic and oauth2"],
        ),
        (
            auth(json!({"provider": "web", "secret": "WEB_KEY"})),
            &["http.auth: must have exactly one of provider, secret, basic and oauth2"],
        ),
        (
            auth(json!({"provider": "web"})),
            &[
                "http.auth.provider: is \"web\", which requirements.authorization does not name; add {\"id\": \"web\"}",
            ],
        ),
        (
            json!({"/requirements": {"authorization": [{"id": "web"}]}}),
            &["requirements.authorization[0]: is \"web\", whose token http.auth does not send"],
        ),
        (
            auth(json!({"secret": "WEB_KEY"})),
            &[
                "http.auth: must have \"in\" (\"header\", \"query\" or \"cookie\") and \"name\" for a secret",
            ],
        ),
        (
            auth(json!({"secret": "WEB_KEY", "in": "query", "name": "tag"})),
            &["http.auth.name: is \"tag\", a query that http.parameters[1] sends too"],
        ),
        (
            auth(json!({"secret": "WEB_KEY", "in": "cookie", "name": "a=b; c"})),
            &[
                "http.auth: must have \"in\" (\"header\", \"query\" or \"cookie\") and \"name\" for a secret",
            ],
        ),
        (
            auth(json!([
                {"secret": "WEB_KEY", "in": "cookie", "name": "a"},
                {"secret": "WEB_KEY", "in": "cookie", "name": "a"},
            ])),
            &["http.auth[1].name: is \"a\", a cookie that http.auth[0] sends too"],
        ),
        (
            auth(json!({"secret": "WEB_ID", "in": "body", "name": "a"})),
            &["http.auth.in: unknown variant `body`, expected one of `header`, `query`, `cookie`"],
        ),
        (
            auth(
                json!({"oauth2": {"token_url": "WEB_TOKEN_URL", "client_id": "WEB_USER", "client_secret": "WEB_KEY", "scopes": ["a b"]}, "scheme": "Bearer"}),
            ),
            &[
                "http.auth.oauth2.scopes: must be scopes: visible ASCII characters",
                "http.auth.scheme: is not for basic and oauth2",
            ],
        ),
        (
            auth(
                json!({"oauth2": {"token_url": "WEB_URL", "client_id": "WEB_ID", "client_secret": "X"}}),
            ),
            &[
                "http.auth.oauth2.client_id: is \"WEB_ID\", which is optional in tools/web/toolkit.json; \
                 only the client of a user's grant may be",
                "http.auth.oauth2.client_secret: is \"X\", which tools/web/toolkit.json does not declare; \
                 add \"X\": {\"kind\": \"text\"} to its variables",
                "http.auth.oauth2.token_url: is \"WEB_URL\", which tools/web/toolkit.json does not declare as url",
            ],
        ),
        (
            auth(
                json!({"oauth2": {"token_url": "X", "username": "WEB_USER", "password": "WEB_KEY", "client_id": "WEB_ID", "client_secret": "WEB_ID"}}),
            ),
            &[
                "http.auth.oauth2.token_url: is \"X\", which tools/web/toolkit.json does not declare; \
                 add \"X\": {\"kind\": \"url\", \"default\": \"https://…\"} to its variables",
            ],
        ),
        (
            auth(json!({"oauth2": {"token_url": "WEB_TOKEN_URL", "client_id": "WEB_USER"}})),
            &[
                "http.auth.oauth2: must have client_id and client_secret, username and password, or all of them",
            ],
        ),
        (
            auth(json!({"oauth2": {"token_url": "WEB_TOKEN_URL"}})),
            &["http.auth.oauth2: must have client_id and client_secret, or username and password"],
        ),
        (
            json!({"/http/auth": GONE, "/http/auth_optional": true}),
            &["http.auth_optional: is for tools with auth"],
        ),
        (
            auth(json!({"secret": "WEB_KEY", "in": "header", "name": "Host"})),
            &["http.auth.name: is \"Host\", which only the server sets"],
        ),
        (
            auth(json!({"secret": "WEB_KEY", "in": "header", "name": "X", "scheme": "a b"})),
            &["http.auth.scheme: must be a word, such as \"Bearer\""],
        ),
        (
            auth(
                json!({"basic": {"user": "WEB_USER", "password": "WEB_KEY"}, "scheme": "Basic", "name": "x"}),
            ),
            &[
                "http.auth: has \"in\" or \"name\", which are for a secret",
                "http.auth.scheme: is not for basic and oauth2",
            ],
        ),
        (
            json!({"/http/pagination": {}}),
            &["http.pagination: must have either \"link\": true, or cursor and parameter"],
        ),
        (
            json!({"/http/pagination": {"cursor": "a..b", "parameter": "x"}}),
            &[
                "http.pagination.cursor: is \"a..b\"; expected names, such as meta.next_cursor",
                "http.pagination.parameter: is \"x\", a property that the request does not send",
            ],
        ),
        (
            json!({"/output_schema": GONE, "/content": true, "/bindings": [{"name": "A", "kind": "kv"}], "/requirements": {"secrets": [{"id": "A"}]}}),
            &[
                "content: needs a function; a tool with http returns the service's response",
                "bindings: need a function; a tool with http uses none",
                "requirements.secrets: need a function; http.auth sends secrets of the operator",
            ],
        ),
        (
            json!({"/http/base": "WEB_KEY"}),
            &["http.base: is \"WEB_KEY\", which tools/web/toolkit.json does not declare as base"],
        ),
        (
            json!({"/http/base": "MAIL_URL"}),
            &["http.base: is \"MAIL_URL\", which tools/web/toolkit.json does not declare; \
            add \"MAIL_URL\": {\"kind\": \"base\", \"default\": \"https://…\"} to its variables"],
        ),
        (
            auth(json!({"secret": "STATE_KEY", "in": "header", "name": "x"})),
            &["http.auth.secret: is \"STATE_KEY\", which tools/web/toolkit.json \
            does not declare; add \"STATE_KEY\": {\"kind\": \"secret\"} to its variables"],
        ),
        (
            auth(json!({"basic": {"user": "WEB_URL", "password": "X"}})),
            &[
                "http.auth.basic.user: is \"WEB_URL\", which tools/web/toolkit.json does not declare as text or secret",
                "http.auth.basic.password: is \"X\", which tools/web/toolkit.json does not declare; add \"X\": {\"kind\": \"text\"} to its variables",
            ],
        ),
    ] {
        let expected: Vec<_> =
            expected.iter().map(|it| format!("tools/web/Update@1.0.0.json: {it}")).collect();
        let (mut got, mut expected) = (problems(&source(&changes)), expected);
        got.sort();
        expected.sort();
        assert_eq!(got, expected, "{changes}");
    }
}

#[test]
fn toolkits_that_are_wrong() {
    let variables = |more: &str| {
        TOOLKIT.replacen("{\"variables\": {", &format!("{{\"variables\": {{{more},"), 1)
    };
    let private = "must be an https URL with the name of a public host, without user, query or trailing slash";
    for (toolkit, expected) in [
        ("{".to_owned(), vec!["is not JSON: EOF while parsing an object at line 1 column 1".to_owned()]),
        (TOOLKIT.replacen('{', "{\"title\": \"a\",", 1), vec!["title: unknown field `title`, expected `variables`".to_owned()]),
        (variables("\"A\": {\"kind\": \"number\"}"), vec!["variables.A.kind: unknown variant `number`, expected one of `base`, `secret`, `text`, `url`, `hosts`".to_owned()]),
        (variables("\"A\": {\"kind\": \"text\", \"default\": \"x\"}"), vec!["variables.A.default: is only for addresses; the operator sets this variable".to_owned()]),
        (variables("\"A\": {\"kind\": \"url\", \"default\": \"https://10.0.0.1/token\"}"), vec![format!("variables.A.default: is \"https://10.0.0.1/token\"; {private}")]),
        (variables("\"A\": {\"kind\": \"url\", \"default\": \"http://a.example/token\"}"), vec!["variables.A.default: is \"http://a.example/token\"; must be an https URL (http for localhost only), without a user".to_owned()]),
        (variables("\"A\": {\"kind\": \"base\", \"optional\": true}"), vec!["variables.A.optional: is only for texts and secrets".to_owned()]),
        (variables("\"a\": {\"kind\": \"text\"}"), vec!["variables.a: is \"a\"; expected capital letters, digits and _".to_owned()]),
        (variables("\"STATE_KEY\": {\"kind\": \"secret\"}"), vec!["variables.STATE_KEY: is a name that the Worker itself uses; choose a different one".to_owned()]),
        (variables("\"OAUTH_X_CLIENT_SECRET\": {\"kind\": \"secret\"}"), vec!["variables.OAUTH_X_CLIENT_SECRET: is a name that the Worker itself uses; choose a different one".to_owned()]),
        (variables("\"A\": {\"kind\": \"base\", \"default\": \"http://a.example\"}"), vec![format!("variables.A.default: is \"http://a.example\"; {private}")]),
        (variables("\"A\": {\"kind\": \"base\", \"default\": \"https://169.254.169.254\"}"), vec![format!("variables.A.default: is \"https://169.254.169.254\"; {private}")]),
    ] {
        let got = problems(&with(&update(), &toolkit));
        let expected: Vec<_> = expected.iter().map(|it| format!("tools/web/toolkit.json: {it}")).collect();
        // Definitions that use an unreadable file have problems of their own.
        assert_eq!(got[..1], expected, "{toolkit}");
    }
    let mut source = source(&json!({}));
    source.files.remove("web/toolkit.json");
    assert_eq!(problems(&source).len(), 2, "base and secret");
    put(&mut source, "web/toolkit.json", TOOLKIT);
    put(&mut source, "text/toolkit.json", r#"{"variables": {"WEB_URL": {"kind": "base"}}}"#);
    let expected = "tools/web/toolkit.json: variables.WEB_URL: differs from the variable of the same name in tools/text/toolkit.json";
    assert_eq!(problems(&source), [expected]);
}
