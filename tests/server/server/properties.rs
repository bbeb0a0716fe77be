//! Property tests: any request gets a response in the format of its protocol (`send` and `answer` check it),
//! nothing panics, and the pipeline is ready at its first poll.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::*;
use crate::CAPABILITIES;

/// Enough cases to reach every branch, and few enough for fast tests. Failures are printed, not written to files.
pub(super) fn modest() -> ProptestConfig {
    ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() }
}

/// Nested JSON with these strings and keys.
pub(super) fn json(
    text: impl Strategy<Value = String> + 'static,
    key: impl Strategy<Value = String> + 'static,
) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    let key = key.boxed();
    leaf.prop_recursive(8, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

pub(super) fn any_json() -> impl Strategy<Value = Value> {
    json(".{0,8}".boxed(), ".{0,8}".boxed())
}

/// The JSON pointers of all values in a value.
pub(super) fn places(value: &Value) -> Vec<String> {
    let below = |key: &str, value: &Value| -> Vec<String> {
        let key = key.replace('~', "~0").replace('/', "~1");
        places(value).into_iter().map(|rest| format!("/{key}{rest}")).collect()
    };
    let mut all = vec![String::new()];
    match value {
        Value::Array(items) => {
            let items = items.iter().enumerate();
            all.extend(items.flat_map(|(at, item)| below(&at.to_string(), item)));
        }
        Value::Object(members) => {
            all.extend(members.iter().flat_map(|(key, member)| below(key, member)));
        }
        _ => {}
    }
    all
}

fn method() -> impl Strategy<Value = String> {
    let known = select(vec!["GET", "HEAD", "POST", "OPTIONS", "DELETE", "get"]);
    prop_oneof![9 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

fn path() -> impl Strategy<Value = String> {
    let protocols = CAPABILITIES.iter().flat_map(|capability| capability.protocols);
    let mounts: Vec<_> = protocols.clone().map(|(mount, _)| *mount).collect();
    let routes = protocols.flat_map(|(_, protocol)| protocol.routes);
    // A slash after a mount is ignored, and the contracts do not repeat that.
    let paths: Vec<_> = routes.map(|route| route.path.trim_end_matches('/')).collect();
    let known = (select(mounts), select(paths)).prop_map(|(mount, path)| format!("{mount}{path}"));
    prop_oneof![6 => known, 1 => "/[a-z/]{0,12}", 1 => any::<String>()]
}

fn header() -> impl Strategy<Value = (String, String)> {
    let known = select(vec![
        ("content-type", "application/json"),
        ("content-type", "application/json"),
        ("content-type", "text/plain"),
        ("oxp-version", "1.0"),
        ("oxp-version", "2.0"),
        ("if-none-match", "\"tag\""),
        ("origin", "https://a.example"),
        ("origin", "https://b.example"),
        ("access-control-request-method", "POST"),
    ]);
    let names =
        select(vec!["content-type", "oxp-version", "if-none-match", "origin", "authorization"]);
    prop_oneof![
        4 => known.prop_map(|(name, value)| (name.to_owned(), value.to_owned())),
        1 => (names, any::<String>()).prop_map(|(name, value)| (name.to_owned(), value)),
    ]
}

fn host() -> impl Strategy<Value = (&'static str, &'static str, bool)> {
    let origins = select(vec!["", "*", "https://a.example", "https://a.example,https://c.example"]);
    (origins, select(vec!["1000", "1000", "1000", "none"]), any::<bool>())
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..64),
        4 => any_json().prop_map(|value| value.to_string().into_bytes()),
        2 => Just(CALL.as_bytes().to_vec()),
        1 => Just(vec![b' '; 1001]),
    ]
}

/// A valid call of `Echo.Private` with one value replaced.
fn with(place: &str, value: Value) -> Value {
    let mut call = json!({
        "tool_id": "Echo.Private", "call_id": "7", "trace_id": "s", "input": {"text": "a"},
        "context": {
            "user_id": "u",
            "authorization": [{"id": "mail", "token": "t"}],
            "secrets": [{"id": "KEY", "value": "k"}]
        }
    });
    match call.pointer_mut(place) {
        Some(old) => *old = value,
        None => panic!("{place} is not in a call"),
    }
    call
}

const PLACES: [&str; 14] = [
    "",
    "/tool_id",
    "/call_id",
    "/trace_id",
    "/input",
    "/input/text",
    "/context",
    "/context/user_id",
    "/context/authorization",
    "/context/authorization/0",
    "/context/authorization/0/id",
    "/context/authorization/0/token",
    "/context/secrets",
    "/context/secrets/0/value",
];

const SCHEMAS: [&str; 3] = [
    "otc://1.0",
    "urn:oxp:1.0",
    "https://github.com/OpenToolCalling/Specification/tree/main/spec/http/1.0/openapi.json",
];

/// A text and a number that only the client sends.
const CANARY: &str = "Zc4n4ry";
const CANARY_NUMBER: u64 = 918_273_645;

/// JSON with canaries, under known and unknown keys.
fn canaries() -> impl Strategy<Value = Value> {
    let keys =
        select(vec!["text", "mood", "times", "tags", "at", "either", "one", "code", "x", "id"]);
    let leaf = select(vec![json!(CANARY), json!(CANARY_NUMBER), json!(true)]);
    leaf.prop_recursive(5, 32, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..8).prop_map(|members| {
                members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            }),
        ]
    })
}

fn has_canary(text: &str) -> bool {
    text.contains(CANARY) || text.contains(&CANARY_NUMBER.to_string())
}

proptest! {
    #![proptest_config(modest())]

    #[test]
    fn any_request_gets_a_response(
        (method, path) in (method(), path()),
        headers in prop::collection::vec(header(), 0..6),
        (origins, limit, store_works) in host(),
        body in body(),
    ) {
        let variables = [("ALLOWED_ORIGINS", origins), ("MAX_BODY_BYTES", limit)];
        let host = FakeHost { store_works, ..FakeHost::with(&variables) };
        let headers: Vec<_> = headers.iter().map(|(name, value)| (&**name, &**value)).collect();
        let answer = answer(CATALOG, &host, (&method, &path, &headers), Body::Read(body));
        prop_assert!(method == "POST" || ![413, 415, 422].contains(&answer.status));
    }

    #[test]
    fn any_json_in_any_place_of_a_call_gets_a_response(place in select(PLACES.to_vec()), value in any_json()) {
        let body = with(place, value).to_string();
        let answer = send(&FakeHost::default(), ("POST", "/call", &[JSON]), &body);
        let status: u16 = answer.lines().next().unwrap_or_default().parse().unwrap_or_default();
        prop_assert!([200, 400, 422].contains(&status), "{}", answer);
        if place.starts_with("/input") {
            prop_assert!(status != 400, "the schema validates any input: {}", answer);
        }
        if place.starts_with("/context") {
            prop_assert!(status != 422, "the input was valid: {}", answer);
        }
    }

    #[test]
    fn any_json_in_any_place_of_an_envelope_gets_a_response(
        path in select(vec!["/otc/call", "/oxp/1.0/call", "/call"]),
        place in select(PLACES.to_vec()),
        schema in prop_oneof![4 => select(SCHEMAS.to_vec()).prop_map(Value::from), 1 => any_json()],
        value in any_json(),
    ) {
        let served = schema.as_str().is_some_and(|schema| SCHEMAS.contains(&schema));
        let body = json!({"$schema": schema, "request": with(place, value)}).to_string();
        let answer = send(&FakeHost::default(), ("POST", path, &[JSON]), &body);
        let status: u16 = answer.lines().next().unwrap_or_default().parse().unwrap_or_default();
        prop_assert!(status == 400 || served && [200, 422].contains(&status), "{}", answer);
        if served && place.starts_with("/input") {
            prop_assert!(status != 400, "the schema validates any input: {}", answer);
        }
    }

    #[test]
    fn a_prefix_of_a_call_is_never_a_call(cut in 0..CALL.len()) {
        let answer = send(&FakeHost::default(), ("POST", "/call", &[JSON]), &CALL[..cut]);
        prop_assert!(answer.starts_with("400\n"), "{}", answer);
    }

    #[test]
    fn input_errors_and_the_log_never_repeat_a_value(
        tool in select(vec!["Echo.Say", "Echo.Private", "Echo.Broken", "Echo.Narrow"]),
        text in select(vec![json!(CANARY), json!("long"), json!("fail"), Value::Null]),
        rest in canaries(),
    ) {
        let mut input = match rest {
            Value::Object(members) => members,
            value => Map::from_iter([("code".to_owned(), value)]),
        };
        if !text.is_null() {
            input.insert("text".to_owned(), text);
        }
        let mut call = with("/input", Value::Object(input));
        call["tool_id"] = json!(tool);
        let host = FakeHost::default();
        let answer = send(&host, ("POST", "/call", &[JSON]), &call.to_string());
        prop_assert!(answer.starts_with("200\n") || !has_canary(&answer), "{}", answer);
        prop_assert!(!has_canary(&host.printed()), "{}", host.printed());
    }

    #[test]
    fn tokens_and_secrets_are_never_returned(place in select(PLACES[6..].to_vec()), value in canaries()) {
        // The handler returns the text "a" and nothing else of the request.
        let host = FakeHost::default();
        let call = with(place, value);
        for (path, body) in [("/call", &call), ("/otc/call", &json!({"request": call}))] {
            let answer = send(&host, ("POST", path, &[JSON]), &body.to_string());
            prop_assert!(!has_canary(&answer), "{}", answer);
        }
        prop_assert!(!has_canary(&host.printed()), "{}", host.printed());
    }
}
