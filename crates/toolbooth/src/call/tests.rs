//! The pipeline against a small catalogue that is written by hand.

use serde::Deserialize;
use serde_json::{Value, json};

use super::serve::find;
use super::*;
use crate::catalog::{
    Authorization, Catalog, Handler, List, RunError, Tool, Validator, Version, run,
};
use crate::challenge::Challenge;
use crate::config::Config;
use crate::testing::{FakeHost, ready};

#[jsonschema::validator(
    schema = r#"{"type":"object","required":["text"],"additionalProperties":false,"properties":{
        "text":{"type":"string","minLength":1,"maxLength":9},
        "mood":{"enum":["glad","sad"]},
        "times":{"type":"integer","minimum":1,"exclusiveMaximum":10},
        "tags":{"type":"array","uniqueItems":true,"maxItems":2,"items":{"type":["string","null"]}},
        "at":{"type":"object","required":["x"],"properties":{"x":{"type":"number","multipleOf":0.5}}},
        "either":{"anyOf":[{"type":"string"},{"type":"object","required":["id"]}]},
        "one":{"oneOf":[{"type":"integer"},{"type":"boolean"}]},
        "code":{"pattern":"^[a-z]+$"}
    }}"#,
    draft = jsonschema::Draft::Draft202012,
    pattern_options = { engine = regex }
)]
struct SayInput;

#[jsonschema::validator(schema = r#"{"type":"string","maxLength":12}"#, draft = jsonschema::Draft::Draft202012)]
struct SayOutput;

/// Objects of objects, and of nothing else.
#[jsonschema::validator(
    schema = r##"{"type":"object","additionalProperties":{"$ref":"#"}}"##,
    draft = jsonschema::Draft::Draft202012
)]
struct Objects;

const OBJECTS: Validator =
    Validator { is_valid: Objects::is_valid, errors: |value| Objects::iter_errors(value) };

const SAY_INPUT: Validator =
    Validator { is_valid: SayInput::is_valid, errors: |value| SayInput::iter_errors(value) };
const SAY_OUTPUT: Validator =
    Validator { is_valid: SayOutput::is_valid, errors: |value| SayOutput::iter_errors(value) };

#[derive(Deserialize)]
struct Say {
    text: String,
    #[serde(default)]
    mood: Option<String>,
}

async fn say(input: Say, context: &Context<'_>) -> Result<String, ToolError> {
    match input.text.as_str() {
        "fail" => Err(ToolError::new("It failed")
            .developer_message("why")
            .prompt("try x")
            .retry_after_ms(5)),
        "long" => Ok("x".repeat(13)),
        "user" => Ok(context.user_id().unwrap_or("nobody").to_owned()),
        "revoked" => Err(context.token_refused("mail")),
        "token" => Ok(context.token("mail").map(Secret::expose).unwrap_or_default().to_owned()),
        _ => Ok(input.text + input.mood.as_deref().unwrap_or_default()),
    }
}

/// Its type is narrower than the schema of its input.
#[derive(Deserialize)]
struct Narrow {
    text: u8,
}

async fn narrow(input: Narrow, _: &Context<'_>) -> Result<u8, ToolError> {
    Ok(input.text)
}

const fn tool(tool: &'static str, name: &'static str, version: Version, run: Handler) -> Tool {
    const MAIL: &[Authorization] = &[Authorization { id: "mail", scopes: &["send"] }];
    let required: &[Authorization] = if tool.len() == "Private".len() { MAIL } else { &[] };
    let secrets: &[&str] = if required.is_empty() { &[] } else { &["KEY"] };
    Tool {
        toolkit: "Echo",
        tool,
        version,
        name,
        scopes: if matches!(tool.as_bytes(), b"Scoped") { &["echo:a", "echo:b"] } else { &[] },
        authorization: required,
        secrets,
        user_id: !required.is_empty(),
        headers: &[],
        input: SAY_INPUT,
        output: SAY_OUTPUT,
        run,
    }
}

const RUN_SAY: Handler = |input, context| run(input, context, say);
const RUN_BROKEN: Handler = |_, _| Box::pin(async { Err(RunError::Mismatch("detail".to_owned())) });
const RUN_NARROW: Handler = |input, context| run(input, context, narrow);

static TOOLS: [Tool; 7] = [
    tool("Broken", "Echo_Broken", Version::new(1, 0, 0), RUN_BROKEN),
    tool("Narrow", "Echo_Narrow", Version::new(1, 0, 0), RUN_NARROW),
    tool("Private", "Echo_Private", Version::new(1, 0, 0), RUN_SAY),
    tool("Say", "Echo_Say", Version::new(1, 0, 0), RUN_SAY),
    tool("Say", "Echo_Say", Version::new(1, 10, 0), RUN_SAY),
    tool("Say", "Echo_Say", Version::new(2, 0, 0), RUN_SAY),
    tool("Scoped", "Echo_Scoped", Version::new(1, 0, 0), RUN_SAY),
];

const fn empty(name: &'static str, body: &'static str, head: usize) -> List {
    List { name, body, head, entries: &[], etag: "\"tag\"" }
}

/// Empty lists: what stands in them is for the tests of their dialects and of the build.
pub(crate) const LISTS: &[List] = &[
    empty("oxp", r#"{"items":[]}"#, 10),
    empty("otc", r#"{"$schema":"otc://1.0","tools":[]}"#, 32),
    empty("oxp-envelope", r#"{"$schema":"urn:oxp:1.0","items":[]}"#, 34),
    empty(
        "opentool",
        r#"{"opentool":"1.1.0","info":{"title":"T","version":"1.0.0"},"functions":[]}"#,
        72,
    ),
    empty("xaibo", "[]", 1),
    empty("openai", "[]", 1),
    empty("openai-strict", "[]", 1),
    empty("openai-responses", "[]", 1),
    empty("openai-responses-strict", "[]", 1),
    empty("anthropic", "[]", 1),
    empty("anthropic-strict", "[]", 1),
    empty("gemini", r#"[{"functionDeclarations":[]}]"#, 26),
    empty("mcp-tools", "[]", 1),
    empty("mcp-resources", "[]", 1),
    empty("mcp-documents", "[]", 1),
    empty("mcp-prompts", "[]", 1),
    empty("mcp-prompt-texts", "[]", 1),
];

pub(crate) const CATALOG: &Catalog = &Catalog {
    tools: &TOOLS,
    names: &[
        ("Echo_Broken", 0),
        ("Echo_Broken__1_0_0", 0),
        ("Echo_Narrow", 1),
        ("Echo_Narrow__1_0_0", 1),
        ("Echo_Private", 2),
        ("Echo_Private__1_0_0", 2),
        ("Echo_Say", 5),
        ("Echo_Say__1_0_0", 3),
        ("Echo_Say__1_10_0", 4),
        ("Echo_Say__2_0_0", 5),
        ("Echo_Scoped", 6),
        ("Echo_Scoped__1_0_0", 6),
    ],
    lists: LISTS,
    variables: &[],
};

/// One refusal of each kind, for the tests of dialects: each must have an answer to all of them.
pub(crate) fn every_refusal() -> Vec<Refusal> {
    let text = |text: &str| text.to_owned();
    let rows = vec![
        Refusal::NotFound,
        Refusal::MethodNotAllowed { allow: "POST, OPTIONS" },
        Refusal::TooLarge { limit: 1000 },
        Refusal::NotJson,
        Refusal::InvalidJson(text("EOF at line 1 column 1")),
        Refusal::Malformed(text("x must be a \"string\"")),
        Refusal::UnsupportedVersion { supported: "1.0" },
        Refusal::InvalidToolId,
        Refusal::UnknownTool { id: text("A.B"), name: text("A_B") },
        Refusal::NoSuchVersion { id: text("A.B"), name: "A_B", version: text("2.0.0") },
        Refusal::Forbidden { name: "A_B" },
        Refusal::Unauthenticated { reason: "the token has expired", sent: true },
        Refusal::MissingScope { name: "A_B", scopes: &["a:read", "b"] },
        Refusal::TooManyRequests { retry_after: 60 },
        Refusal::MissingRequirements(Missing {
            authorization: vec!["mail"],
            secrets: vec!["KEY"],
            user_id: true,
            challenges: vec![Challenge {
                id: text("challenge"),
                url: text("https://booth.example/auth/start?c=a.b"),
                check_url: text("https://booth.example/auth/check?c=a.b"),
                provider: text("mail"),
                title: text("Mail"),
            }],
        }),
        Refusal::Unavailable("it has no random bytes"),
        Refusal::Failed,
    ];
    // A new kind does not compile here until somebody adds its row above.
    for refusal in &rows {
        match refusal {
            Refusal::NotFound
            | Refusal::MethodNotAllowed { .. }
            | Refusal::TooLarge { .. }
            | Refusal::NotJson
            | Refusal::InvalidJson(_)
            | Refusal::Malformed(_)
            | Refusal::UnsupportedVersion { .. }
            | Refusal::InvalidToolId
            | Refusal::UnknownTool { .. }
            | Refusal::NoSuchVersion { .. }
            | Refusal::Forbidden { .. }
            | Refusal::Unauthenticated { .. }
            | Refusal::MissingScope { .. }
            | Refusal::TooManyRequests { .. }
            | Refusal::MissingRequirements(_)
            | Refusal::Unavailable(_)
            | Refusal::Failed => {}
        }
    }
    rows
}

fn outcome(tool_id: &str, input: Value, credentials: Credentials) -> (Outcome, Vec<String>) {
    let host = FakeHost::default();
    let config = Config::read(&host, &[]);
    let call = Call { tool: Wanted::Id(tool_id.to_owned()), call_id: None, input, credentials };
    let outcome = ready(serve(call, &Caller::Anonymous, CATALOG, &config, &host));
    (outcome, host.log.into_inner())
}

fn credentials(user_id: Option<&str>, tokens: &[&str], secrets: &[&str]) -> Credentials {
    let map = |ids: &[&str]| {
        ids.iter().map(|id| ((*id).to_owned(), Secret::new(format!("{id}-value")))).collect()
    };
    Credentials { user_id: user_id.map(str::to_owned), tokens: map(tokens), secrets: map(secrets) }
}

#[test]
fn a_call_gives_a_value_an_id_and_a_duration() {
    let (outcome, log) =
        outcome("Echo.Say", json!({"text": "hi", "mood": "glad"}), Credentials::default());
    let Outcome::Done { call_id, duration_ms, value } = outcome else { panic!("{outcome:?}") };
    assert_eq!(
        call_id, "00010203-0405-4607-8809-0a0b0c0d0e0f",
        "a version 4 UUID of the host's random bytes"
    );
    assert_eq!(duration_ms, 1, "the fake clock ticks once between two looks");
    assert_eq!(value, json!("higlad"));
    assert!(log.is_empty(), "{log:?}");
}

#[test]
fn a_tools_own_failure_is_told_as_it_is() {
    let (outcome, log) = outcome("Echo.Say", json!({"text": "fail"}), Credentials::default());
    let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
    let expected = ToolError {
        message: "It failed".to_owned(),
        developer_message: Some("why".to_owned()),
        can_retry: true,
        additional_prompt_content: Some("try x".to_owned()),
        retry_after_ms: Some(5),
    };
    assert_eq!(error, expected);
    assert!(log.is_empty(), "{log:?}");
}

#[test]
fn a_tools_fault_is_vague_on_the_wire_and_loud_in_the_log() {
    for (id, text, detail) in [
        ("Echo.Say", "long", "input: Must have at most 12 characters"),
        ("Echo.Broken", "x", "detail"),
        ("Echo.Narrow", "secret", "input type refuses what input_schema allows (Data)"),
    ] {
        let (outcome, log) = outcome(id, json!({"text": text}), Credentials::default());
        let Outcome::Failed { error, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(error.message, "The tool failed");
        assert!(!error.can_retry);
        assert_eq!(log.len(), 1, "{log:?}");
        assert!(log[0].starts_with("Error faulty_tool") && log[0].contains(detail), "{log:?}");
        assert!(!log[0].contains("secret"), "not with the input: {log:?}");
    }
}

#[test]
fn refusals_before_the_call() {
    let missing = |authorization: &[&'static str], secrets: &[&'static str], user_id| {
        Refusal::MissingRequirements(Missing {
            authorization: authorization.to_vec(),
            secrets: secrets.to_vec(),
            user_id,
            challenges: Vec::new(),
        })
    };
    let unknown =
        |id: &str, name: &str| Refusal::UnknownTool { id: id.to_owned(), name: name.to_owned() };
    let no_version = |version: &str| Refusal::NoSuchVersion {
        id: "Echo.Say".to_owned(),
        name: "Echo_Say",
        version: version.to_owned(),
    };
    for (id, credentials, expected) in [
        ("Echo", Credentials::default(), Refusal::InvalidToolId),
        ("Echo.Say@", Credentials::default(), Refusal::InvalidToolId),
        ("Echo.Shout", Credentials::default(), unknown("Echo.Shout", "Echo_Shout")),
        ("Echo.Shout@1", Credentials::default(), unknown("Echo.Shout", "Echo_Shout")),
        ("Echo.Say@7", Credentials::default(), no_version("7.0.0")),
        (
            "Echo.Say@99999999999999999999",
            Credentials::default(),
            no_version("99999999999999999999"),
        ),
        (
            "Echo.Say@1.99999999999999999999.0",
            Credentials::default(),
            no_version("1.99999999999999999999.0"),
        ),
        ("Echo.Private", Credentials::default(), missing(&["mail"], &["KEY"], true)),
        ("Echo.Private", credentials(Some(""), &["mail"], &["KEY"]), missing(&[], &[], true)),
        ("Echo.Private", credentials(Some("u"), &[], &["KEY"]), missing(&["mail"], &[], false)),
        (
            "Echo.Private",
            credentials(Some("u"), &["mail"], &["OTHER"]),
            missing(&[], &["KEY"], false),
        ),
    ] {
        // The input is wrong as well: what precedes the call is told first.
        let (outcome, _) = outcome(id, json!({}), credentials);
        let Outcome::Refused(refusal) = outcome else { panic!("{id}: {outcome:?}") };
        assert_eq!(refusal, expected, "{id}");
    }
}

#[test]
fn a_handler_is_given_what_the_client_sent() {
    for (text, expected) in [("user", "u"), ("token", "mail-value")] {
        let sent = credentials(Some("u"), &["mail"], &["KEY"]);
        let (outcome, _) = outcome("Echo.Private", json!({"text": text}), sent);
        let Outcome::Done { value, .. } = outcome else { panic!("{outcome:?}") };
        assert_eq!(value, json!(expected));
    }
}

#[test]
fn secrets_are_not_printed() {
    let sent = credentials(Some("u"), &["mail"], &["KEY"]);
    let printed = format!("{sent:?}");
    assert!(!printed.contains("-value"), "{printed}");
}

#[test]
fn input_errors_in_words() {
    for (input, expected) in [
        (json!({}), vec![("text", "Is required")]),
        (json!({"text": 1}), vec![("text", "Must be a string")]),
        (json!({"text": ""}), vec![("text", "Must have at least 1 character")]),
        (json!({"text": "0123456789"}), vec![("text", "Must have at most 9 characters")]),
        (json!({"text": "a", "colour": 1}), vec![("colour", "Is not a known parameter")]),
        (json!({"text": "a", "x.y": 1}), vec![("[\"x.y\"]", "Is not a known parameter")]),
        (json!({"text": "a", "a\"\n": 1}), vec![("[\"a’�\"]", "Is not a known parameter")]),
        (json!({"text": "a", "mood": "odd"}), vec![("mood", "Must be one of: \"glad\", \"sad\"")]),
        (json!({"text": "a", "times": 0}), vec![("times", "Must be at least 1")]),
        (json!({"text": "a", "times": 10}), vec![("times", "Must be less than 10")]),
        (json!({"text": "a", "times": 1.5}), vec![("times", "Must be an integer")]),
        (json!({"text": "a", "tags": ["a", 1]}), vec![("tags[1]", "Must be null or a string")]),
        (
            json!({"text": "a", "tags": ["a", "a", "a"]}),
            vec![("tags", "Must have at most 2 items; Must not contain the same item twice")],
        ),
        (json!({"text": "a", "at": {}}), vec![("at.x", "Is required")]),
        (json!({"text": "a", "at": {"x": 0.3}}), vec![("at.x", "Must be a multiple of 0.5")]),
        (json!({"text": "a", "code": "A"}), vec![("code", "Must match the pattern ^[a-z]+$")]),
        (
            json!({"text": "a", "either": 1}),
            vec![("either", "Must fit at least one of: a string; an object")],
        ),
        (
            json!({"text": "a", "one": "x"}),
            vec![("one", "Must fit one of: an integer; true or false")],
        ),
        (json!([1]), vec![("input", "Must be an object")]),
        (json!(null), vec![("input", "Must be an object")]),
        (
            json!({"text": 1, "mood": 1, "times": "x"}),
            vec![
                ("mood", "Must be one of: \"glad\", \"sad\""),
                ("text", "Must be a string"),
                ("times", "Must be an integer"),
            ],
        ),
    ] {
        let (outcome, _) = outcome("Echo.Say", input.clone(), Credentials::default());
        let Outcome::Invalid(invalid) = outcome else { panic!("{input}: {outcome:?}") };
        let mut got: Vec<_> =
            invalid.errors.iter().map(|e| (e.parameter.as_str(), e.message.as_str())).collect();
        got.sort_unstable();
        assert_eq!(got, expected, "{input}");
    }
}

#[test]
fn the_number_of_told_faults_is_bounded() {
    let many: serde_json::Map<_, _> = (0..500).map(|n| (format!("p{n}"), json!(n))).collect();
    let (outcome, _) = outcome("Echo.Say", Value::Object(many), Credentials::default());
    let Outcome::Invalid(invalid) = outcome else { panic!("{outcome:?}") };
    assert_eq!(invalid.errors.len(), 32);
}

#[test]
fn the_size_of_told_faults_is_bounded() {
    let key = |letter: char| letter.to_string().repeat(10_000);
    let below = |count| -> Value { (0..count).map(|n| (format!("p{n}"), json!(n))).collect() };
    let deep = (0..60).fold(json!(1), |inner, _| json!({ key('🙂'): inner }));
    for (what, input) in [
        ("one long name", json!({ "text": "a", key('b'): 1 })),
        ("many", (0..500).map(|n| (format!("{n}{}", key('b')), json!(n))).collect()),
        ("a long path", deep.clone()),
        ("many faults below a long path", json!({ key('b'): below(500), key('c'): deep })),
    ] {
        let invalid = input::check(&OBJECTS, &input).unwrap_err();
        let size = invalid.to_string().len();
        assert!(size < 4096 + 64, "{what}: {size} bytes");
        assert!(
            invalid.errors.iter().all(|error| error.parameter.chars().count() <= 129),
            "{what}: {invalid}"
        );
    }
}

#[jsonschema::validator(
    schema = r#"{"type":"object","additionalProperties":false}"#,
    draft = jsonschema::Draft::Draft202012
)]
struct Nothing;

#[test]
fn a_tool_without_parameters_names_each_that_it_is_sent() {
    let nothing =
        Validator { is_valid: Nothing::is_valid, errors: |value| Nothing::iter_errors(value) };
    for (input, expected) in [
        (json!({}), vec![]),
        (
            json!({"b": 1, "a": {}}),
            vec![("a", "Is not a known parameter"), ("b", "Is not a known parameter")],
        ),
        (json!(1), vec![("input", "Must be an object")]),
    ] {
        let errors =
            input::check(&nothing, &input).map_or_else(|invalid| invalid.errors, |()| Vec::new());
        let got: Vec<_> =
            errors.iter().map(|e| (e.parameter.as_str(), e.message.as_str())).collect();
        assert_eq!(got, expected, "{input}");
    }
    let many: Value = (0..500).map(|n| (format!("p{n}"), json!(n))).collect();
    assert_eq!(input::check(&nothing, &many).map_err(|invalid| invalid.errors.len()), Err(32));
}

#[test]
fn the_allowlist_stands_before_everything_else_of_a_tool() {
    for (variables, tool, expected, logged) in [
        (&[("TOOL_ALLOWLIST", "Echo.Say")][..], "Echo_Say", "done", 0),
        (&[("TOOL_ALLOWLIST", "Echo.Say")], "Echo_Private", "forbidden", 0),
        (&[("TOOL_ALLOWLIST", "Echo.Say")], "Echo_Nothing", "unknown", 0),
        (&[("TOOL_ALLOWLIST", "X.Y"), ("TOOL_ALLOWLIST_MODE", "warn")], "Echo_Say", "done", 1),
        (&[("TOOL_ALLOWLIST", "X.Y"), ("TOOL_ALLOWLIST_MODE", "off")], "Echo_Say", "done", 0),
        (&[("TOOL_ALLOWLIST_MODE", "enforce")], "Echo_Say", "forbidden", 0),
        (&[("TOOL_ALLOWLIST_MODE", "yes")], "Echo_Say", "unavailable", 0),
    ] {
        let host = FakeHost::with(variables);
        let config = Config::read(&host, &[]);
        let call = Call {
            tool: Wanted::Name(tool.to_owned()),
            call_id: None,
            input: json!({"text": "hi"}),
            credentials: Credentials::default(),
        };
        let got = match ready(serve(call, &Caller::Anonymous, CATALOG, &config, &host)) {
            Outcome::Done { .. } => "done",
            Outcome::Refused(Refusal::Forbidden { .. }) => "forbidden",
            Outcome::Refused(Refusal::UnknownTool { .. }) => "unknown",
            Outcome::Refused(Refusal::Unavailable(_)) => "unavailable",
            other => panic!("{other:?}"),
        };
        assert_eq!(got, expected, "{variables:?} {tool}");
        assert_eq!(host.log.borrow().len(), logged, "{:?}", host.log.borrow());
    }
}

#[test]
fn a_tool_has_a_name_for_each_version_and_an_id() {
    for (asked, expected) in [
        ("Echo_Say", Ok("2.0.0")),
        ("Echo_Say__1_0_0", Ok("1.0.0")),
        ("Echo.Say", Ok("2.0.0")),
        ("Echo.Say@1", Ok("1.0.0")),
        ("Echo.Say@3", Err("NoSuchVersion")),
        ("Echo.Shout", Err("UnknownTool")),
        ("echo_say", Err("UnknownTool")),
        ("", Err("UnknownTool")),
    ] {
        let got = find(CATALOG, &Wanted::Name(asked.to_owned()));
        let got = got.map(|tool| tool.version.to_string()).map_err(|refusal| {
            format!("{refusal:?}").split([' ', '{']).next().unwrap_or_default().to_owned()
        });
        assert_eq!(got.as_deref().map_err(String::as_str), expected, "{asked}");
    }
}

#[test]
fn a_name_that_no_tool_has_is_told_as_it_was_asked() {
    let long = "é".repeat(5000);
    let cut = format!("{}…", "é".repeat(64));
    for (wanted, id, name) in [
        (Wanted::Id("Weather.Nope@2".to_owned()), "Weather.Nope", "Weather_Nope"),
        (Wanted::Name("Weather.Nope".to_owned()), "Weather.Nope", "Weather.Nope"),
        (Wanted::Name("Weather.Nope@2".to_owned()), "Weather.Nope", "Weather.Nope@2"),
        (Wanted::Name("rpc.x".to_owned()), "rpc.x", "rpc.x"),
        (Wanted::Name("Weather_Nope".to_owned()), "Weather_Nope", "Weather_Nope"),
        (Wanted::Name("it's".to_owned()), "it’s", "it’s"),
        (Wanted::Name(long), &cut, &cut),
    ] {
        let refusal = Refusal::UnknownTool { id: id.to_owned(), name: name.to_owned() };
        assert_eq!(find(CATALOG, &wanted).map(Tool::id), Err(refusal), "{wanted:?}");
    }
}

#[test]
fn excerpts() {
    let letters = |count| "a".repeat(count);
    for (word, expected) in [
        (String::new(), String::new()),
        ("Echo.Say@1".to_owned(), "Echo.Say@1".to_owned()),
        (letters(64), letters(64)),
        (letters(65), letters(64) + "…"),
        (letters(100_000), letters(64) + "…"),
        ("é日🙂".repeat(100), "é日🙂".repeat(21) + "é…"),
        ("a\"b'c`d".to_owned(), "a’b’c’d".to_owned()),
        ("\0\r\n\t\u{7f}\u{85}".to_owned(), "�".repeat(6)),
        ("\u{200b}\u{2028}\u{202e}\u{2066}\u{feff}".to_owned(), "�".repeat(5)),
    ] {
        assert_eq!(excerpt(&word), expected, "{word:.20?}");
    }
}
