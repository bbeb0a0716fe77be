//! Bodies of requests.

use super::*;

const MEMBERS: Content =
    Content::Members(&[("title", "title"), ("id__body", "id"), ("file", "file")]);
/// The fake source of random bytes counts up; the id of the call comes first.
const BOUNDARY: &str = "10111213-1415-4617-9819-1a1b1c1d1e1f";
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
    let request = sent(call, json!({"body": 1}));
    assert_eq!(request.unwrap().header("content-type"), Some(MERGE[0].1));
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
                ("\"file\"\r\ncontent-type: application/octet-stream", "hi"),
                ("\"file\"\r\ncontent-type: application/json", r#"{"data":"aGk=","size":2}"#),
            ],
        ),
    ] {
        let (kind, text) = body(post(MEMBERS, BodyFormat::Multipart(types), false), &input);
        assert_eq!(text, lines(&parts), "{input}");
        let expected = format!("multipart/form-data; boundary={BOUNDARY}");
        assert_eq!(kind, Some(expected));
    }
    for (file, expected) in [
        (json!({"data": "no base64"}), "file: data must be base64."),
        (file("a", "image/png\r\nx: y"), "file: type must be a media type, such as image/png."),
        (file("a", "png"), "file: type must be a media type, such as image/png."),
    ] {
        let call = post(MEMBERS, BodyFormat::Multipart(&[]), false);
        let error = sent(call, json!({"file": file})).unwrap_err();
        assert_eq!(error, ToolError::new("A file is not valid").prompt(expected), "{file}");
    }
}
