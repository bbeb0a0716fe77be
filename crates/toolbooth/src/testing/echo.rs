//! A small handwritten catalogue, for tests of the server and of its protocols: tools that echo, fail and ask.
#![allow(missing_docs, reason = "only tests of this repository use it")]

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::budget::{Budget, Unit, Window};
use crate::call::{
    BudgetExceeded, Challenge, MissingRequirements, Outcome, Rejection, RejectionKind, Sent,
};
use crate::catalog::{
    Authorization, Catalog, List, ListBody, Lists, QueryParameter, QueryValue, Run, RunError,
    ServerInfo, Tool, ToolFn, Version, Views, run,
};
use crate::host::HttpRequest;
use crate::schema::{
    AnyKeyword, ArrayKeyword, Defaults, Engine, Keyword, Literal, Matcher, Number, NumberKeyword,
    ObjectKeyword, Pattern, Properties, Schema, StringKeyword, Types, is_multiple, is_unique,
    regex,
};
use crate::tool::{
    ClientCapability, Context, InputRequest, InputRequired, LoggingLevel, Secret, ToolError,
};

static SAY_INPUT: Schema = Schema {
    keywords: &[
        OBJECT,
        Keyword::Object(ObjectKeyword::Required(&["text"])),
        Keyword::Object(ObjectKeyword::Properties(&Properties {
            named: &[
                (
                    "at",
                    of(&[
                        OBJECT,
                        Keyword::Object(ObjectKeyword::Required(&["x"])),
                        Keyword::Object(ObjectKeyword::Properties(&AT)),
                    ]),
                ),
                ("code", of(&[Keyword::String(StringKeyword::Pattern(&LETTERS))])),
                (
                    "either",
                    of(&[Keyword::Any(AnyKeyword::AnyOf(&[
                        of(&[STRING]),
                        of(&[OBJECT, WITH_ID]),
                    ]))]),
                ),
                (
                    "mood",
                    of(&[Keyword::Any(AnyKeyword::Enum(&[
                        Literal::String("glad"),
                        Literal::String("sad"),
                    ]))]),
                ),
                ("one", of(&[Keyword::Any(AnyKeyword::OneOf(&[of(&[INTEGER]), of(&[BOOLEAN])]))])),
                (
                    "tags",
                    of(&[
                        Keyword::Any(AnyKeyword::Type(Types(1 << 5))),
                        Keyword::Array(ArrayKeyword::MaxItems(2)),
                        Keyword::Array(ArrayKeyword::UniqueItems(is_unique)),
                        Keyword::Array(ArrayKeyword::Items(
                            0,
                            &of(&[Keyword::Any(AnyKeyword::Type(Types(1 | 1 << 4)))]),
                        )),
                    ]),
                ),
                (
                    "text",
                    of(&[
                        STRING,
                        Keyword::String(StringKeyword::MinLength(1)),
                        Keyword::String(StringKeyword::MaxLength(9)),
                    ]),
                ),
                (
                    "times",
                    of(&[
                        INTEGER,
                        Keyword::Number(NumberKeyword::Minimum(Number::Unsigned(1))),
                        Keyword::Number(NumberKeyword::ExclusiveMaximum(Number::Unsigned(10))),
                    ]),
                ),
            ],
            patterns: &[],
            additional: Some(&NOTHING),
        })),
    ],
};

const BOOLEAN: Keyword = Keyword::Any(AnyKeyword::Type(Types(1 << 1)));
const INTEGER: Keyword = Keyword::Any(AnyKeyword::Type(Types(1 << 2)));
const STRING: Keyword = Keyword::Any(AnyKeyword::Type(Types(1 << 4)));
pub const OBJECT: Keyword = Keyword::Any(AnyKeyword::Type(Types(1 << 6)));
const WITH_ID: Keyword = Keyword::Object(ObjectKeyword::Required(&["id"]));
pub const NOTHING: Schema = of(&[Keyword::Any(AnyKeyword::False)]);

const AT: Properties = Properties {
    named: &[(
        "x",
        of(&[
            Keyword::Any(AnyKeyword::Type(Types(1 << 3))),
            Keyword::Number(NumberKeyword::MultipleOf(Number::Float(0.5), is_multiple)),
        ]),
    )],
    patterns: &[],
    additional: None,
};

static LETTERS: Pattern = Pattern { source: "^[a-z]+$", matcher: Matcher::Engine(&LETTERS_ENGINE) };
static LETTERS_ENGINE: Engine = Engine::new("^[a-z]+$", regex);

pub const fn of(keywords: &'static [Keyword]) -> Schema {
    Schema { keywords }
}

static SAY_OUTPUT: Schema = of(&[STRING, Keyword::String(StringKeyword::MaxLength(12))]);

/// Objects whose values are objects.
pub static OBJECTS: Schema = Schema {
    keywords: &[
        OBJECT,
        Keyword::Object(ObjectKeyword::Properties(&Properties {
            named: &[],
            patterns: &[],
            additional: Some(&OBJECTS),
        })),
    ],
};

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
        "user" => Ok(context.user_id().unwrap_or("no user").to_owned()),
        "ask" => request_input(context),
        "ask none" => Err(context.ask([], ())),
        "ask much" => Err(context.ask([("roots", InputRequest::Roots)], "x".repeat(2_000))),
        "note" => {
            context.progress(1.0, Some(2.0), "half");
            context.note(LoggingLevel::Warning, "slow");
            Ok(String::new())
        }
        "wait" => {
            context.progress(1.0, Some(2.0), "begun");
            context.note(LoggingLevel::Info, "begun");
            let _ = context.send(HttpRequest::get("https://service.example")).await;
            context.progress(2.0, Some(2.0), "done");
            Ok("waited".to_owned())
        }
        "sleep" => {
            context.host.sleep(Duration::from_secs(40)).await;
            Ok("slept".to_owned())
        }
        "send" => {
            let sent = context.send(HttpRequest::get("https://service.example")).await;
            Ok(sent.map_or("unreachable", |_| "sent").to_owned())
        }
        "revoked" => Err(context.token_refused("mail")),
        "token" => Ok(context.token("mail").map(Secret::expose).unwrap_or_default().to_owned()),
        _ => Ok(input.text + input.mood.as_deref().unwrap_or_default()),
    }
}

/// Requests a name, then a colour; the colour is optional.
fn request_input(context: &Context<'_>) -> Result<String, ToolError> {
    let form = |name: &str| InputRequest::form("Which?", json!({"properties": {name: {}}}));
    let Some(name) = context.state::<String>() else {
        return Err(match context.answer::<Map<String, Value>>("name")? {
            Some(name) => context.ask([("colour", form("colour"))], name.get("name")),
            None => context.ask([("name", form("name"))], ()),
        });
    };
    let colour = context.answer::<Map<String, Value>>("colour");
    let colour =
        colour.ok().flatten().and_then(|all| all.get("colour")?.as_str().map(str::to_owned));
    Ok(name + &colour.unwrap_or_default())
}

/// The input type is narrower than the schema.
#[derive(Deserialize)]
struct Narrow {
    text: u8,
}

async fn narrow(input: Narrow, _: &Context<'_>) -> Result<u8, ToolError> {
    Ok(input.text)
}

/// Parameters of [`SAY_INPUT`], although these tools are not marked as read-only.
const SAY_QUERY: &[QueryParameter] = &[
    QueryParameter { name: "mood", value: QueryValue::Text },
    QueryParameter { name: "one", value: QueryValue::Boolean },
    QueryParameter { name: "text", value: QueryValue::Text },
    QueryParameter { name: "times", value: QueryValue::Number },
];

const fn tool(tool: &'static str, name: &'static str, version: Version, run: ToolFn) -> Tool {
    const MAIL: &[Authorization] = &[Authorization { id: "mail", scopes: &["send"] }];
    let required: &[Authorization] = if tool.len() == "Private".len() { MAIL } else { &[] };
    let secrets: &[&str] = if required.is_empty() { &[] } else { &["KEY"] };
    Tool {
        toolkit: "Echo",
        tool,
        version,
        name,
        title: if required.is_empty() { None } else { Some("Use an account") },
        scopes: if matches!(tool.as_bytes(), b"Scoped") { &["echo:a", "echo:b"] } else { &[] },
        authorization: required,
        secrets,
        variables: &[],
        bindings: &[],
        user_id: !required.is_empty(),
        headers: &[],
        query: Some(SAY_QUERY),
        content: false,
        read_only: true,
        idempotent: false,
        task: None,
        input: &SAY_INPUT,
        output: &SAY_OUTPUT,
        defaults: &Defaults::NONE,
        run: Run::Function(run),
    }
}

const RUN_SAY: ToolFn = |input, context| run(input, context, say);
const RUN_BROKEN: ToolFn = |_, _| Box::pin(async { Err(RunError::Mismatch("detail")) });
const RUN_NARROW: ToolFn = |input, context| run(input, context, narrow);

/// A template for the tools of tests that run no tool.
pub const fn private() -> Tool {
    tool("Private", "Echo_Private", Version::new(1, 0, 0), RUN_SAY)
}

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
    List { name, body: ListBody::Plain(body), head, entries: &[], etag: "\"tag\"" }
}

/// Empty lists: the protocols and the build have their own tests of the entries.
pub const LISTS: &[List] = &[
    empty("oxp", r#"{"items":[]}"#, 10),
    empty("otc", r#"{"$schema":"otc://1.0","tools":[]}"#, 32),
    empty("oxp-envelope", r#"{"$schema":"urn:oxp:1.0","items":[]}"#, 34),
    empty(
        "opentool",
        r#"{"opentool":"1.1.0","info":{"title":"T","version":"1.0.0"},"functions":[]}"#,
        72,
    ),
    empty(
        "openrpc",
        r#"{"openrpc":"1.3.2","info":{"title":"T","version":"1.0.0"},"methods":[]}"#,
        69,
    ),
    empty("xaibo", "[]", 1),
    empty(
        "openapi",
        r#"{"openapi":"3.1.1","info":{"title":"T","version":"1.0.0"},"servers":[],"security":[],"paths":{}}"#,
        95,
    ),
    empty("utcp", r#"{"utcp_version":"1.0.0","manual_version":"1.0.0","tools":[]}"#, 57),
    empty("llms", "# Toolbooth at https://toolbooth.invalid/", 41),
    empty("llms-full", "# Toolbooth", 11),
    empty("client", "export interface Tools {}", 24),
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
    empty("mcp-templates", "[]", 1),
    empty("mcp-contents", "[]", 1),
    empty("mcp-prompts", "[]", 1),
    empty("mcp-prompt-texts", "[]", 1),
    empty("search", "[]", 1),
];

pub const CATALOG: &Catalog = &Catalog {
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
    lists: &[Lists::all(LISTS)],
    variables: &[],
    external: None,
    views: Views::NONE,
    server: ServerInfo { name: "echo-tools", title: "Echo tools", version: "1.2.3" },
};

/// One rejection of each kind, because every protocol must encode all of them.
pub fn every_rejection() -> Vec<Rejection> {
    let text = |text: &str| text.to_owned();
    let rejections = vec![
        Rejection::NOT_FOUND,
        Rejection::NotServed("it is hosted"),
        Rejection::MethodNotAllowed { allow: text("POST, OPTIONS") },
        Rejection::ForbiddenOrigin,
        Rejection::PayloadTooLarge { limit: 1000 },
        Rejection::UnsupportedMediaType,
        Rejection::InvalidJson(text("EOF at line 1 column 1")),
        Rejection::Malformed(text("x must be a \"string\"")),
        Rejection::UnsupportedVersion { field: "OXP-Version", supported: "1.0" },
        Rejection::InvalidToolId { meant: None },
        Rejection::UnknownTool { id: text("A.B"), name: text("A_B"), meant: None },
        Rejection::UnknownVersion { id: text("A.B"), name: "A_B", version: text("2.0.0") },
        Rejection::ToolNotAllowed { name: "A_B" },
        Rejection::ToolNotInKey { name: "A_B" },
        Rejection::ToolNotInTeam { name: "A_B" },
        Rejection::Unauthenticated { reason: "the token has expired", sent: Sent::Bearer },
        Rejection::MissingScope {
            name: "A_B",
            scopes: &["a:read", "b"],
            held: vec!["c".to_owned()],
        },
        Rejection::TooManyRequests { retry_after: 60 },
        Rejection::BudgetExceeded(BudgetExceeded {
            budget: Budget { window: Window::Minute, unit: Unit::ToolCalls, limit: 20 },
            left: 2,
            needed: 5,
            resets_at_ms: 1_741_724_040_000,
            retry_after: 40,
            team: None,
        }),
        Rejection::TooManyTasks { most: 50 },
        Rejection::MissingRequirements(MissingRequirements {
            authorization: vec!["mail"],
            secrets: vec!["KEY"],
            user_id: true,
            challenges: vec![Challenge {
                id: text("challenge"),
                url: text("https://tools.example/auth/start?c=a.b"),
                check_url: text("https://tools.example/auth/check?c=a.b"),
                provider: text("mail"),
                title: text("Mail"),
            }],
            help: Vec::new(),
        }),
        Rejection::CannotAsk {
            name: "A_B",
            lacking: vec![ClientCapability::Form, ClientCapability::Sampling],
        },
        Rejection::NeedsTask { name: "A_B" },
        Rejection::Unavailable("it has no random bytes"),
        Rejection::ToolNotConfigured { name: "A_B" },
        Rejection::Internal,
    ];
    let mut kinds: Vec<_> = rejections.iter().map(|rejection| rejection.describe().kind).collect();
    kinds.dedup();
    assert_eq!(kinds, RejectionKind::ALL, "one of each kind, at least");
    rejections
}

/// The outcome of a tool that requests input, and its rejection in protocols that cannot.
pub fn asks() -> (Outcome, Rejection) {
    let questions = [("q".to_owned(), InputRequest::form("m", json!({})))].into();
    let required = InputRequired { tool: "A_B", questions, state: Some(json!("s")) };
    (
        Outcome::InputRequired { required: required.clone(), notifications: Vec::new() },
        required.into(),
    )
}
