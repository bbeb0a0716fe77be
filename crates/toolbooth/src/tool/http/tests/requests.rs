//! Addresses and headers.

use super::*;

const fn query(style: Style, explode: bool) -> HttpCall {
    const fn field(style: Style, explode: bool) -> [QueryField; 1] {
        [QueryField { property: "p", name: "color", style, explode, read: None }]
    }
    const FORM: &[QueryField] = &field(Style::Form, false);
    const FORM_EXPLODED: &[QueryField] = &field(Style::Form, true);
    const SPACE: &[QueryField] = &field(Style::SpaceDelimited, false);
    const PIPE: &[QueryField] = &field(Style::PipeDelimited, false);
    const DEEP: &[QueryField] = &field(Style::DeepObject, true);
    const JSON: &[QueryField] = &field(Style::Json, false);
    let query = match (style, explode) {
        (Style::Form, false) => FORM,
        (Style::Form, true) => FORM_EXPLODED,
        (Style::SpaceDelimited, _) => SPACE,
        (Style::PipeDelimited, _) => PIPE,
        (Style::DeepObject, _) => DEEP,
        (Style::Json, _) => JSON,
    };
    HttpCall { query, ..CALL }
}

/// The examples of OpenAPI 3.1, "Style Examples", and what it leaves open.
#[test]
fn styles_of_queries() {
    use Style::{DeepObject, Form, Json, PipeDelimited, SpaceDelimited};
    let list = json!(["blue", "black", "brown"]);
    let object = json!({"R": 100, "G": 200, "B": 150});
    let nested = json!({"a": {"b": ["x", {"c": true}]}, "n": null});
    for (style, explode, value, expected) in [
        (Form, true, json!("blue"), "color=blue"),
        (Form, true, json!(""), "color="),
        (Form, true, json!("a&b=c#d/é+%"), "color=a%26b%3Dc%23d%2F%C3%A9%2B%25"),
        (Form, true, json!(true), "color=true"),
        (Form, true, json!(-7), "color=-7"),
        (Form, true, json!(2.5), "color=2.5"),
        (Form, true, json!(2.0), "color=2"),
        (Form, true, json!(1e300), "color=1e%2B300"),
        (Form, true, json!(null), ""),
        (Form, true, json!([]), ""),
        (Form, true, json!({}), ""),
        (Form, true, json!([null]), ""),
        (Form, true, list.clone(), "color=blue&color=black&color=brown"),
        (Form, false, list.clone(), "color=blue,black,brown"),
        (Form, false, json!(["a,b", null, [1, "c"]]), "color=a%2Cb,%5B1%2C%22c%22%5D"),
        (Form, false, json!([]), ""),
        (Form, true, object.clone(), "B=150&G=200&R=100"),
        (Form, false, object.clone(), "color=B,150,G,200,R,100"),
        (SpaceDelimited, false, list.clone(), "color=blue%20black%20brown"),
        (SpaceDelimited, false, object.clone(), "color=B%20150%20G%20200%20R%20100"),
        (PipeDelimited, false, list.clone(), "color=blue%7Cblack%7Cbrown"),
        (PipeDelimited, false, object.clone(), "color=B%7C150%7CG%7C200%7CR%7C100"),
        (DeepObject, true, object, "color%5BB%5D=150&color%5BG%5D=200&color%5BR%5D=100"),
        (
            DeepObject,
            true,
            nested,
            "color%5Ba%5D%5Bb%5D%5B0%5D=x&color%5Ba%5D%5Bb%5D%5B1%5D%5Bc%5D=true",
        ),
        (DeepObject, true, json!(["x"]), "color%5B0%5D=x"),
        (DeepObject, true, json!("x"), "color=x"),
        (Json, false, json!({"a": ["x"]}), "color=%7B%22a%22%3A%5B%22x%22%5D%7D"),
        (Json, false, json!("x"), "color=%22x%22"),
    ] {
        let request = sent(query(style, explode), json!({"p": value})).unwrap();
        let url = format!("https://web.example/items?{expected}");
        let url = url.trim_end_matches('?');
        assert_eq!(request.url, url, "{style:?} {explode} {value}");
    }
    assert_eq!(sent(query(Form, true), json!({})).unwrap().url, "https://web.example/items");
}

#[test]
fn a_value_in_a_path_stays_one_segment() {
    const fn path(explode: bool) -> HttpCall {
        const PLAIN: &[&[PathPart]] =
            &[&[PathPart::Parameter { property: "p", explode: false }], &[PathPart::Text("x")]];
        const EXPLODED: &[&[PathPart]] =
            &[&[PathPart::Parameter { property: "p", explode: true }], &[PathPart::Text("x")]];
        HttpCall { path: if explode { EXPLODED } else { PLAIN }, ..CALL }
    }
    for (explode, value, expected) in [
        (false, json!("a"), Some("a")),
        (false, json!(7), Some("7")),
        (false, json!("a/b?c#d\\e@f:g;h"), Some("a%2Fb%3Fc%23d%5Ce%40f%3Ag%3Bh")),
        (false, json!("a/.b/c../..."), Some("a%2F.b%2Fc..%2F...")),
        (false, json!("%2e%2e"), Some("%252e%252e")),
        (false, json!("..\n"), Some("..%0A")),
        (false, json!("a\r\nHost: b"), Some("a%0D%0AHost%3A%20b")),
        (false, json!("..."), Some("...")),
        (false, json!(["blue", "bl,ack"]), Some("blue,bl%2Cack")),
        (true, json!(["blue", "black"]), Some("blue,black")),
        (false, json!({"R": 100, "G": 200}), Some("G,200,R,100")),
        (true, json!({"R": 100, "G": 200}), Some("G=200,R=100")),
        (false, json!("../../admin"), None),
        (false, json!("a/../b"), None),
        (false, json!("a/./b"), None),
        (false, json!("a\\.."), None),
        (false, json!("a/..\\b"), None),
        (false, json!(["a", "b/.."]), None),
        (true, json!({"a": "b/..", "c": 1}), Some("a=b%2F..,c=1")),
        (false, json!(["."]), None),
        (false, json!(".."), None),
        (false, json!("."), None),
        (false, json!(""), None),
        (false, json!(null), None),
        (false, json!([]), None),
        (false, json!({}), None),
    ] {
        let got = sent(path(explode), json!({"p": value}));
        let expected = expected.map(|it| format!("https://web.example/{it}/x"));
        assert_eq!(got.as_ref().ok().map(|it| &it.url), expected.as_ref(), "{value}");
        if let Err(error) = got {
            assert!(error.additional_prompt_content.unwrap().starts_with("p must not "), "{value}");
        }
    }
    assert!(sent(path(false), json!({})).is_err(), "absent");
}

#[test]
fn text_around_a_value_cannot_make_a_segment_of_dots() {
    const DOTS: &[&[PathPart]] =
        &[&[PathPart::Text("."), PathPart::Parameter { property: "p", explode: false }]];
    const BOTH: &[&[PathPart]] = &[&[
        PathPart::Parameter { property: "p", explode: false },
        PathPart::Parameter { property: "q", explode: false },
    ]];
    for (path, input, expected) in [
        (DOTS, json!({"p": "git"}), Some(".git")),
        (DOTS, json!({"p": "."}), None),
        (DOTS, json!({"p": "./a"}), None),
        (BOTH, json!({"p": "a", "q": "."}), Some("a.")),
        (BOTH, json!({"p": ".", "q": "."}), None),
    ] {
        let got = sent(HttpCall { path, ..CALL }, input.clone()).ok().map(|it| it.url);
        assert_eq!(got, expected.map(|it| format!("https://web.example/{it}")), "{input}");
    }
}

#[test]
fn the_address_is_the_operators_and_of_limited_length() {
    let host =
        test(CALL).variable("WEB_URL", "http://10.0.0.1:8080/v1").upstream(|_| respond(200, "{}"));
    host.value("Web.Call", json!({}));
    assert_eq!(host.requests()[0].url, "http://10.0.0.1:8080/v1/items");

    let items = |count: usize| json!({"p": vec!["0123456789"; count]});
    assert!(sent(query(Style::Form, true), items(900)).is_ok());
    let error = sent(query(Style::Form, true), items(10_000)).unwrap_err();
    assert_eq!(error.message, "The input is too long for the address of a request");
}

#[test]
fn values_of_headers() {
    const fn header(explode: bool) -> HttpCall {
        const PLAIN: &[HeaderField] =
            &[HeaderField { property: "p", name: "x-trace", explode: false }];
        const EXPLODED: &[HeaderField] =
            &[HeaderField { property: "p", name: "x-trace", explode: true }];
        HttpCall { headers: if explode { EXPLODED } else { PLAIN }, ..CALL }
    }
    for (explode, value, expected) in [
        (false, json!("a b"), Ok(Some("a b"))),
        (false, json!(7.0), Ok(Some("7"))),
        (false, json!(["a", 1]), Ok(Some("a,1"))),
        (false, json!({"a": 1, "b": "c"}), Ok(Some("a,1,b,c"))),
        (true, json!({"a": 1, "b": "c"}), Ok(Some("a=1,b=c"))),
        (false, json!(null), Ok(None)),
        (false, json!(""), Ok(None)),
        (false, json!("a\r\nx-admin: true"), Err(())),
        (false, json!("a\nb"), Err(())),
        (false, json!("a\0"), Err(())),
        (false, json!("é"), Err(())),
        (false, json!({"a\r\nb": 1}), Err(())),
    ] {
        match (sent(header(explode), json!({"p": value})), expected) {
            (Ok(request), Ok(expected)) => {
                assert_eq!(request.header("x-trace"), expected, "{value}")
            }
            (Err(error), Err(())) => {
                assert_eq!(error.message, "A parameter is not valid in a header", "{value}");
            }
            (got, _) => panic!("{value}: {got:?}"),
        }
    }
}

#[test]
fn credentials() {
    const fn secret(place: SecretPlace, scheme: Option<&'static str>) -> HttpAuth {
        HttpAuth::Secret { secret: "WEB_KEY", place, scheme }
    }
    const KEY: HttpAuth = secret(SecretPlace::Header("x-api-key"), None);
    const BASIC: HttpAuth = HttpAuth::Basic { user: "WEB_USER", password: "WEB_KEY" };
    const fn provider(scheme: &'static str) -> HttpAuth {
        HttpAuth::Provider { id: "web", scheme }
    }
    let bare = "https://web.example/items";
    for (auth, header, value, url) in [
        (&[provider("Bearer")][..], "authorization", Some("Bearer t0ken"), bare),
        (&[provider("token")], "authorization", Some("token t0ken"), bare),
        (
            &[const { secret(SecretPlace::Header("authorization"), Some("Bearer")) }],
            "authorization",
            Some("Bearer k3y"),
            bare,
        ),
        (&[KEY], "x-api-key", Some("k3y"), bare),
        (
            &[const { secret(SecretPlace::Query("key"), None) }],
            "authorization",
            None,
            "https://web.example/items?key=k3y",
        ),
        (&[BASIC], "authorization", Some("Basic YWRhOmszeQ=="), bare),
        // Several are sent together.
        (
            &[provider("Bearer"), KEY, const { secret(SecretPlace::Query("key"), None) }],
            "authorization",
            Some("Bearer t0ken"),
            "https://web.example/items?key=k3y",
        ),
        (&[BASIC, KEY], "x-api-key", Some("k3y"), bare),
        (&[const { secret(SecretPlace::Cookie("sid"), None) }], "cookie", Some("sid=k3y"), bare),
        (
            &[
                const { secret(SecretPlace::Cookie("a"), None) },
                const { secret(SecretPlace::Cookie("b"), None) },
            ],
            "cookie",
            Some("a=k3y; b=k3y"),
            bare,
        ),
        (&[], "authorization", None, bare),
    ] {
        let call = HttpCall { auth: Box::leak(auth.into()), ..CALL };
        let request = sent(call, json!({})).unwrap();
        assert_eq!((request.header(header), &*request.url), (value, url), "{auth:?}");
    }
}

#[test]
fn a_secret_that_no_header_can_have_is_neither_sent_nor_logged() {
    const fn secret(place: SecretPlace) -> [HttpAuth; 1] {
        [HttpAuth::Secret { secret: "WEB_KEY", place, scheme: None }]
    }
    const HEADER: &[HttpAuth] = &secret(SecretPlace::Header("x-api-key"));
    const COOKIE: &[HttpAuth] = &secret(SecretPlace::Cookie("sid"));
    for (auth, key) in [(HEADER, "s3cret\n"), (COOKIE, "s3cret\n"), (COOKIE, "s3cret; admin=1")] {
        let test = test(HttpCall { auth, ..CALL }).variable("WEB_KEY", key);
        let error = test.error("Web.Call", json!({}));
        assert_eq!(error, ToolError::new("The credentials for the service are not valid"));
        assert!(test.requests().is_empty());
        assert!(!test.log().is_empty() && !format!("{:?}", test.log()).contains("s3cret"));
    }
}

/// A tool whose request may be anonymous runs without its credentials, and with all of them.
#[test]
fn optional_credentials() {
    const KEY: HttpAuth = HttpAuth::Secret {
        secret: "WEB_KEY",
        place: SecretPlace::Header("x-api-key"),
        scheme: None,
    };
    const BASIC: HttpAuth = HttpAuth::Basic { user: "WEB_USER", password: "WEB_KEY" };
    const BOTH: &[HttpAuth] = &[HttpAuth::Provider { id: "web", scheme: "Bearer" }, KEY];
    for (auth, key, token, sent) in [
        (&[KEY][..], Some("k3y"), None, [Some("k3y"), None]),
        (&[KEY], None, None, [None, None]),
        (&[KEY], Some(""), None, [None, None]),
        (&[BASIC], Some("k3y"), None, [None, Some("Basic YWRhOmszeQ==")]),
        (&[BASIC], None, None, [None, None]),
        (BOTH, Some("k3y"), Some("t0ken"), [Some("k3y"), Some("Bearer t0ken")]),
        (BOTH, None, Some("t0ken"), [None, None]),
        (BOTH, Some("k3y"), None, [None, None]),
    ] {
        for auth_optional in [true, false] {
            let auth = Box::leak(auth.into());
            let mut test = without_credentials(tool(HttpCall { auth, auth_optional, ..CALL }));
            if let Some(key) = key {
                test = test.variable("WEB_KEY", key);
            }
            if let Some(token) = token {
                test = test.token("web", token);
            }
            let test = test.upstream(|_| respond(200, "{}"));
            let what = format!("{auth:?} {key:?} {token:?}");
            match (test.call("Web.Call", json!({})), auth_optional || sent != [None, None]) {
                (Outcome::Done { .. }, true) => {
                    let requests = test.requests();
                    let got = ["x-api-key", "authorization"].map(|name| requests[0].header(name));
                    assert_eq!(got, sent, "{what}");
                }
                (Outcome::Rejected(_), false) => assert!(test.requests().is_empty(), "{what}"),
                (outcome, _) => panic!("{what}: {outcome:?}"),
            }
        }
    }
}

/// RFC 7617, 2: either part may be empty.
#[test]
fn basic_authentication_with_an_empty_part() {
    const BASIC: &[HttpAuth] = &[HttpAuth::Basic { user: "WEB_USER", password: "WEB_PASSWORD" }];
    let call = HttpCall { auth: BASIC, ..CALL };
    for (user, password, expected) in [
        ("ada", Some("p"), Some("Basic YWRhOnA=")),
        ("ada", Some(""), Some("Basic YWRhOg==")),
        ("", Some("p"), Some("Basic OnA=")),
        ("ada", None, None),
    ] {
        let tool = Tool { variables: &["WEB_URL", "WEB_USER", "WEB_PASSWORD"], ..tool(call) };
        let mut test = without_credentials(tool).variable("WEB_USER", user);
        if let Some(password) = password {
            test = test.variable("WEB_PASSWORD", password);
        }
        let test = test.upstream(|_| respond(200, "{}"));
        match (test.call("Web.Call", json!({})), expected) {
            (Outcome::Done { .. }, Some(expected)) => {
                assert_eq!(test.requests()[0].header("authorization"), Some(expected));
            }
            (Outcome::Rejected(_), None) => assert!(test.requests().is_empty()),
            (outcome, _) => panic!("{user} {password:?}: {outcome:?}"),
        }
    }
}

#[test]
fn addresses_of_the_input() {
    let call = HttpCall { base: "WEB_HOSTS", url: Some("url"), path: &[], ..CALL };
    for url in [
        "https://web.example",
        "https://web.example/a/../b?c=https://evil.example/&d=%20@",
        "https://WEB.example:443/",
        "https://a.b.files.example/x",
        "http://localhost:8801/a",
    ] {
        let sent = sent(call, json!({"url": format!("{url}#part")})).unwrap();
        assert_eq!(sent.url, url);
    }
    for url in [
        "https://evil.example",
        "https://files.example/",
        "https://.files.example/",
        "https://evilfiles.example/",
        "https://web.example:8443/",
        "https://web.example.evil.example/",
        "https://web.example./",
        "https://[::1]/",
        "https://169.254.169.254/latest/meta-data",
        "https://evil.example#web.example",
        "https://evil.example?web.example",
        "https://localhost:8801.evil.example/",
        "http://localhost:8802/",
    ] {
        let error = sent(call, json!({"url": url})).unwrap_err();
        assert_eq!(error.message, "The server does not allow requests to this host", "{url}");
    }
    for url in [
        "",
        "web.example",
        "http://web.example/",
        "ftp://web.example/",
        "HTTPS://web.example/",
        "https:web.example",
        "https://web.example\\@evil.example/",
        "https://evil.example\\.web.example/",
        "https://user@web.example/",
        "https://web.example@evil.example/",
        "https://web.exa\nmple/",
        "https://web.example/ö",
        " https://web.example/",
    ] {
        let error = sent(call, json!({"url": url})).unwrap_err();
        assert_eq!(error.message, "A part of the address is not valid", "{url}");
    }
    let long = format!("https://web.example/{}", "a".repeat(16_384));
    let error = sent(call, json!({"url": long})).unwrap_err();
    let expected = ToolError::new("A part of the address is not valid").prompt("url is too long.");
    assert_eq!(error, expected);
}

#[test]
fn fields_of_queries_that_are_always_the_same() {
    let call =
        HttpCall { fixed_query: &[("fields", "a,b(c)"), ("v", "1")], ..query(Style::Form, true) };
    let sent = sent(call, json!({"p": 7})).unwrap();
    assert_eq!(sent.url, "https://web.example/items?fields=a%2Cb%28c%29&v=1&color=7");
}
