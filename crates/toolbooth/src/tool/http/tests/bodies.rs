//! Bodies of requests.

use super::*;

const MEMBERS: Content =
    Content::Members(&[("title", "title"), ("id__body", "id"), ("file", "file")]);
/// The fake source of random bytes counts up; the id of the call comes first.
const BOUNDARY: &str = "00010203-0405-4607-8809-0a0b0c0d0e0f";
const WHOLE: Content = Content::Whole("body");

fn post(content: Content, format: BodyFormat, required: bool) -> HttpCall {
    HttpCall { method: "POST", body: Some(HttpBody { content, format, required }), ..CALL }
}

fn body(call: HttpCall, input: &Json) -> (Option<String>, String) {
    let request = sent(call, input.clone()).unwrap();
    let kind = request.header("content-type").map(str::to_owned);
    (kind, String::from_utf8(request.body).unwrap())
}

#[test]
fn bodies_of_json() {
    for (content, required, input, expected) in [
        (
            MEMBERS,
            false,
            json!({"title": "a\"\n", "id__body": 2.0, "other": 1}),
            Some(r#"{"id":2.0,"title":"a\"\n"}"#),
        ),
        (MEMBERS, false, json!({"title": null}), Some(r#"{"title":null}"#)),
        (MEMBERS, false, json!({}), None),
        (MEMBERS, true, json!({}), Some("{}")),
        (WHOLE, false, json!({"body": [1, {"a": null}]}), Some(r#"[1,{"a":null}]"#)),
        (WHOLE, false, json!({"body": "text"}), Some(r#""text""#)),
        (WHOLE, false, json!({"body": null}), Some("null")),
        (WHOLE, true, json!({}), None),
    ] {
        let (kind, text) = body(post(content, BodyFormat::Json, required), &input);
        assert_eq!(text, expected.unwrap_or_default(), "{input}");
        assert_eq!(kind.as_deref(), expected.map(|_| "application/json"), "{input}");
    }
    const MERGE: &[(&str, &str)] = &[("content-type", "application/merge-patch+json")];
    let call = HttpCall { fixed_headers: MERGE, ..post(WHOLE, BodyFormat::Json, false) };
    for (input, expected) in [(json!({"body": 1}), Some(MERGE[0].1)), (json!({}), None)] {
        let request = sent(call, input).unwrap();
        assert_eq!(request.header("content-type"), expected);
    }
}

/// A part without a given property is left out, with what is fixed in it.
#[test]
fn bodies_of_templates() {
    use Template::{Array, Base64, Fixed, Object, Property};
    const MEMBERS: &[(&str, Template)] = &[
        ("query", Fixed(r#""{viewer}""#)),
        ("variables", Object(&[("id", Property("id")), ("first", Fixed("5"))])),
        ("list", Array(&[Fixed(r#"{"a":null}"#), Object(&[("b", Property("b"))])])),
        ("content", Base64(&Property("text"))),
    ];
    for (input, expected) in [
        (json!({}), json!({"query": "{viewer}"})),
        (
            json!({"id": null, "b": [1]}),
            json!({"query": "{viewer}", "variables": {"id": null, "first": 5}, "list": [{"a": null}, {"b": [1]}]}),
        ),
        (json!({"text": "é\n"}), json!({"query": "{viewer}", "content": "w6kK"})),
        (json!({"text": ""}), json!({"query": "{viewer}", "content": ""})),
    ] {
        let (_, text) = body(post(Content::Template(MEMBERS), BodyFormat::Json, false), &input);
        assert_eq!(serde_json::from_str::<Json>(&text).unwrap(), expected, "{input}");
    }
}

#[test]
fn emails() {
    use base64ct::{Base64UrlUnpadded, Encoding};
    const EMAIL: &[(&str, Template)] = &[
        ("Subject", Template::Property("subject")),
        ("To", Template::Property("to")),
        ("text", Template::Property("text")),
    ];
    const CALL: Content = Content::Template(&[("raw", Template::Email(EMAIL))]);
    let call = post(CALL, BodyFormat::Json, true);
    let written = |headers: &str, text: &str| {
        format!(
            "{headers}MIME-Version: 1.0\r\nContent-Type: text/plain; charset=UTF-8\r\n\
             Content-Transfer-Encoding: base64\r\n\r\n{text}"
        )
    };
    let long = "é".repeat(30);
    for (input, expected) in [
        (
            json!({"to": ["Ada <ada@a.example>", "bob@b.example"], "subject": "Hi: you", "text": "a\r\n.\r\n"}),
            written(
                "Subject: Hi: you\r\nTo: Ada <ada@a.example>,\r\n bob@b.example\r\n",
                "YQ0KLg0K\r\n",
            ),
        ),
        (
            json!({"to": "\"Zoë, R\" <zoe@z.example>", "subject": long, "text": "é".repeat(29)}),
            written(
                "Subject: =?UTF-8?B?w6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6k=?=\r\n \
                 =?UTF-8?B?w6nDqcOpw6nDqcOpw6nDqQ==?=\r\nTo: =?UTF-8?B?Wm/DqywgUg==?= <zoe@z.example>\r\n",
                "w6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nDqcOpw6nD\r\nqQ==\r\n",
            ),
        ),
        (
            json!({"to": "\"Ada, B\" <a@a.example>, Zoë <z@z.example>,\"É, <\" <e@e.example>", "subject": "1 < 2: é"}),
            written(
                "Subject: =?UTF-8?B?MSA8IDI6IMOp?=\r\nTo: \"Ada, B\" <a@a.example>,\r\n \
                 =?UTF-8?B?Wm/Dqw==?= <z@z.example>,\r\n =?UTF-8?B?w4ksIDw=?= <e@e.example>\r\n",
                "",
            ),
        ),
        (json!({"subject": null}), written("", "")),
    ] {
        let sent = sent(call, input.clone()).unwrap().json();
        let raw = Base64UrlUnpadded::decode_vec(sent["raw"].as_str().unwrap()).unwrap();
        assert_eq!(String::from_utf8(raw).unwrap(), expected, "{input}");
    }
    for to in ["zoë@z.example", "Zoë <zoe@é.example>", "a@a.example, zoë@z.example", "Zoë"] {
        let expected = "To must have addresses of ASCII characters, such as Zoë <zoe@example.com>.";
        let error = sent(call, json!({"to": to})).unwrap_err();
        assert_eq!(error, ToolError::new("The e-mail is not valid").prompt(expected), "{to}");
    }
    for (header, input) in [
        ("Subject", json!({"subject": "a\r\nBcc: eve@e.example"})),
        ("To", json!({"to": ["a@a.example", "b@b.example\nBcc: eve@e.example"]})),
        ("Subject", json!({"subject": "a\u{85}b"})),
    ] {
        let expected = format!("{header} must not have line breaks or other control characters.");
        let error = sent(call, input).unwrap_err();
        assert_eq!(error, ToolError::new("The e-mail is not valid").prompt(expected));
    }
}

#[test]
fn bodies_of_forms() {
    const DEEP: &[FormStyle] = &[FormStyle { name: "id", style: Style::DeepObject, explode: true }];
    const COMMAS: &[FormStyle] = &[FormStyle { name: "id", style: Style::Form, explode: false }];
    for (content, styles, input, expected) in [
        (
            MEMBERS,
            &[][..],
            json!({"title": "a b&c", "id__body": [1, 2]}),
            "title=a%20b%26c&id=1&id=2",
        ),
        (MEMBERS, &[], json!({"id__body": {"a": 1}, "title": null}), "id=%7B%22a%22%3A1%7D"),
        (MEMBERS, DEEP, json!({"id__body": {"a": [true]}}), "id%5Ba%5D%5B0%5D=true"),
        (MEMBERS, COMMAS, json!({"id__body": [1, 2]}), "id=1,2"),
        (WHOLE, &[], json!({"body": {"b": 1, "a": "x"}}), "a=x&b=1"),
    ] {
        let (kind, text) = body(post(content, BodyFormat::Form(styles), false), &input);
        assert_eq!(text, expected, "{input}");
        assert_eq!(kind.as_deref(), Some("application/x-www-form-urlencoded"), "{input}");
    }
    let (kind, text) = body(post(MEMBERS, BodyFormat::Form(&[]), false), &json!({"title": null}));
    assert_eq!((kind, &*text), (None, ""));
}

#[test]
fn bodies_as_they_are() {
    let file =
        |kind: Option<&str>| json!({"body": {"type": kind.unwrap_or("image/png"), "data": "aGk="}});
    for (kind, input, expected) in [
        (Some("text/csv"), json!({"body": "a,b\r\nc"}), Some(("text/csv", "a,b\r\nc"))),
        (None, json!({"body": "a"}), Some(("text/plain; charset=utf-8", "a"))),
        (Some("text/plain"), json!({"body": 1.5}), Some(("text/plain", "1.5"))),
        (None, file(None), Some(("image/png", "hi"))),
        (Some("image/gif"), file(None), Some(("image/gif", "hi"))),
        (None, json!({"body": {"data": ""}}), Some(("application/octet-stream", ""))),
        (None, json!({"body": null}), None),
        (None, json!({}), None),
    ] {
        let got = body(post(WHOLE, BodyFormat::Raw(kind), true), &input);
        let (kind, text) =
            expected.map_or((None, ""), |(kind, text)| (Some(kind.to_owned()), text));
        assert_eq!(got, (kind, text.to_owned()), "{input}");
    }
    let call = post(WHOLE, BodyFormat::Raw(None), false);
    let error = sent(call, file(Some("image/png\r\nx: y"))).unwrap_err();
    let expected = "body: type must be a media type, such as image/png.";
    assert_eq!(error, ToolError::new("A file is not valid").prompt(expected));
}

#[test]
fn bodies_with_files() {
    let lines = |parts: &[(&str, &str)]| {
        let part = |(head, content): &(&str, &str)| {
            format!(
                "--{BOUNDARY}\r\ncontent-disposition: form-data; name={head}\r\n\r\n{content}\r\n"
            )
        };
        parts.iter().map(part).collect::<String>() + &format!("--{BOUNDARY}--\r\n")
    };
    let file = |name: &str, kind: &str| json!({"name": name, "type": kind, "data": "aGk="});
    for (types, input, parts) in [
        (
            &[][..],
            json!({"title": "a", "id__body": [1, {"b": 2}], "file": file("a.png", "image/png")}),
            vec![
                ("\"title\"", "a"),
                ("\"id\"", "1"),
                ("\"id\"\r\ncontent-type: application/json", r#"{"b":2}"#),
                ("\"file\"; filename=\"a.png\"\r\ncontent-type: image/png", "hi"),
            ],
        ),
        (
            &[("file", "image/gif"), ("title", "text/markdown")],
            json!({"title": "a", "file": file("a\"\r\nb", "image/png")}),
            vec![
                ("\"title\"\r\ncontent-type: text/markdown", "a"),
                ("\"file\"; filename=\"a%22%0D%0Ab\"\r\ncontent-type: image/gif", "hi"),
            ],
        ),
        (
            &[],
            json!({"file": [{"data": "aGk="}, {"data": "aGk=", "size": 2}]}),
            vec![
                ("\"file\"; filename=\"file.bin\"\r\ncontent-type: application/octet-stream", "hi"),
                ("\"file\"\r\ncontent-type: application/json", r#"{"data":"aGk=","size":2}"#),
            ],
        ),
    ] {
        let (kind, text) = body(post(MEMBERS, BodyFormat::Multipart(types, &[]), false), &input);
        assert_eq!(text, lines(&parts), "{input}");
        let expected = format!("multipart/form-data; boundary={BOUNDARY}");
        assert_eq!(kind, Some(expected));
    }
    for (file, expected) in [
        (json!({"data": "no base64"}), "file: data must be base64."),
        (file("a", "image/png\r\nx: y"), "file: type must be a media type, such as image/png."),
        (file("a", "png"), "file: type must be a media type, such as image/png."),
    ] {
        let call = post(MEMBERS, BodyFormat::Multipart(&[], &[]), false);
        let error = sent(call, json!({"file": file})).unwrap_err();
        assert_eq!(error, ToolError::new("A file is not valid").prompt(expected), "{file}");
    }
}

/// Servers take a part without the name of a file for a text.
#[test]
fn files_without_a_name() {
    for (field, types, file, expected) in [
        ("file", &[][..], json!({"data": "aGk="}), "file.bin"),
        ("file", &[], json!({"name": "", "data": "aGk="}), "file.bin"),
        ("file", &[], json!({"name": "a b.txt", "data": "aGk="}), "a b.txt"),
        ("files[]", &[], json!({"type": "image/png", "data": "aGk="}), "files.png"),
        ("[]", &[], json!({"type": "image/svg+xml; charset=utf-8", "data": ""}), "file.svg"),
        ("a/../b", &[], json!({"type": "text/plain", "data": ""}), "ab.txt"),
        ("é\"\r\n", &[], json!({"type": "text/CSV", "data": ""}), "file.csv"),
        ("f", &[], json!({"type": "application/x-tar", "data": ""}), "f.tar"),
        ("f", &[], json!({"type": "application/vnd.ms-excel", "data": ""}), "f.bin"),
        ("f", &[], json!({"type": "/", "data": ""}), "f.bin"),
        ("f", &[("f", "image/gif")], json!({"type": "image/png", "data": ""}), "f.gif"),
    ] {
        let members: &[(&str, &str)] = Box::leak(Box::new([("file", field)]));
        let format = BodyFormat::Multipart(types, &[]);
        let call = post(Content::Members(members), format, false);
        let (_, text) = body(call, &json!({"file": file}));
        let line = text.lines().nth(1).unwrap();
        assert!(line.ends_with(&format!("; filename=\"{expected}\"")), "{line}");
    }
}

#[test]
fn lists_that_are_one_part() {
    const fn style(style: Style, explode: bool) -> [FormStyle; 1] {
        [FormStyle { name: "id", style, explode }]
    }
    for (styles, value, expected) in [
        (&const { style(Style::Form, false) }, json!(["a", 2, null]), &["a,2"][..]),
        (&const { style(Style::PipeDelimited, false) }, json!(["a b", "c|d"]), &["a b|c|d"]),
        (&const { style(Style::SpaceDelimited, false) }, json!(["a b", "c"]), &["a b c"]),
        (&const { style(Style::Form, true) }, json!(["a", "b"]), &["a", "b"]),
        (&const { style(Style::Form, false) }, json!("a"), &["a"]),
    ] {
        let format = BodyFormat::Multipart(&[], styles);
        let (_, text) = body(post(MEMBERS, format, false), &json!({"id__body": value}));
        let head = "content-disposition: form-data; name=\"id\"\r\n\r\n";
        let parts: Vec<_> = text.split(head).skip(1).filter_map(|it| it.lines().next()).collect();
        assert_eq!(parts, expected, "{value}");
    }
    // Files are parts of their own.
    let format = BodyFormat::Multipart(&[], &const { style(Style::Form, false) });
    let files = json!({"id__body": [{"data": "aGk="}, {"data": "aGk="}]});
    let (_, text) = body(post(MEMBERS, format, false), &files);
    assert_eq!(text.matches("filename=\"id.bin\"").count(), 2, "{text}");
}
