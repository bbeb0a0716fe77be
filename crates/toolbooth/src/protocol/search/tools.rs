//! `search_tools` and `call_tool`.

use std::fmt::Write;

use super::LIST;
use crate::catalog::{List, QueryParameter, QueryValue, Run, RunError, Tool, ToolFn, Version};
use crate::json::{self, Value};
use crate::schema::{
    AnyKeyword, Defaults, Keyword, Literal, Number, NumberKeyword, ObjectKeyword, Properties,
    Schema, StringKeyword, Types,
};
use crate::text::excerpt;
use crate::tool::{Context, ServerView, ToolError};

/// Both tools, as MCP lists them.
pub(super) const LISTED: &str = include_str!("listed.json");

/// How many tools a search returns if it does not say how many.
const DEFAULT_LIMIT: usize = 5;

const STRING: Keyword = Keyword::Any(AnyKeyword::Type(Types(1 << 4)));
const OBJECT: Keyword = Keyword::Any(AnyKeyword::Type(Types(1 << 6)));
const NO_OTHERS: Schema = Schema { keywords: &[Keyword::Any(AnyKeyword::False)] };

static SEARCH_INPUT: Schema = Schema {
    keywords: &[
        OBJECT,
        Keyword::Object(ObjectKeyword::Required(&["query"])),
        Keyword::Object(ObjectKeyword::Properties(&Properties {
            named: &[
                (
                    "format",
                    Schema {
                        keywords: &[Keyword::Any(AnyKeyword::Enum(&[
                            Literal::String("json"),
                            Literal::String("text"),
                        ]))],
                    },
                ),
                (
                    "limit",
                    Schema {
                        keywords: &[
                            Keyword::Any(AnyKeyword::Type(Types(1 << 2))),
                            Keyword::Number(NumberKeyword::Minimum(Number::Unsigned(1))),
                            Keyword::Number(NumberKeyword::Maximum(Number::Unsigned(20))),
                        ],
                    },
                ),
                (
                    "query",
                    Schema {
                        keywords: &[
                            STRING,
                            Keyword::String(StringKeyword::MinLength(1)),
                            Keyword::String(StringKeyword::MaxLength(400)),
                        ],
                    },
                ),
                ("toolkit", Schema { keywords: &[STRING] }),
            ],
            patterns: &[],
            additional: Some(&NO_OTHERS),
        })),
    ],
};

/// An object with the tools, or a list of content blocks.
static SEARCH_OUTPUT: Schema =
    Schema { keywords: &[Keyword::Any(AnyKeyword::Type(Types(1 << 5 | 1 << 6)))] };

static CALL_INPUT: Schema = Schema {
    keywords: &[
        OBJECT,
        Keyword::Object(ObjectKeyword::Required(&["name"])),
        Keyword::Object(ObjectKeyword::Properties(&Properties {
            named: &[
                ("arguments", Schema { keywords: &[OBJECT] }),
                ("name", Schema { keywords: &[STRING] }),
            ],
            patterns: &[],
            additional: Some(&NO_OTHERS),
        })),
    ],
};

/// `search_tools`: the tools that match a query, as far as the caller may run them.
pub(super) static SEARCH_TOOLS: Tool =
    own("SearchTools", "search_tools", &SEARCH_INPUT, Some(SEARCH_QUERY), |input, context| {
        Box::pin(async move { search(input, context).map_err(RunError::Tool) })
    });

const SEARCH_QUERY: &[QueryParameter] = &[
    QueryParameter { name: "format", value: QueryValue::Text },
    QueryParameter { name: "limit", value: QueryValue::Number },
    QueryParameter { name: "query", value: QueryValue::Text },
    QueryParameter { name: "toolkit", value: QueryValue::Text },
];

/// `call_tool`. Calls become calls of the tool that they name, so that only those arrive here that name `call_tool`.
pub(super) static CALL_TOOL: Tool = own("CallTool", "call_tool", &CALL_INPUT, None, |_, _| {
    let error = ToolError::new("name must be that of another tool");
    Box::pin(async { Err(RunError::Tool(error)) })
});

/// A tool of the search. The one with a query reads, and returns content blocks if it is asked for text.
const fn own(
    tool: &'static str,
    name: &'static str,
    input: &'static Schema,
    query: Option<&'static [QueryParameter]>,
    run: ToolFn,
) -> Tool {
    Tool {
        toolkit: "Toolbooth",
        tool,
        version: Version::new(1, 0, 0),
        name,
        title: None,
        scopes: &[],
        authorization: &[],
        secrets: &[],
        variables: &[],
        bindings: &[],
        user_id: false,
        headers: &[],
        query,
        content: query.is_some(),
        read_only: query.is_some(),
        idempotent: false,
        task: None,
        input,
        output: &SEARCH_OUTPUT,
        defaults: &Defaults::NONE,
        run: Run::Function(run),
    }
}

fn search(input: &Value<'_>, context: &Context<'_>) -> Result<serde_json::Value, ToolError> {
    let unavailable = || ToolError::new("The search is not available");
    let server = context.server().ok_or_else(unavailable)?;
    let ServerView { catalog, .. } = server;
    let index = catalog.search_index().ok_or_else(unavailable)?;
    let list = catalog.list(LIST.name).ok_or_else(unavailable)?;
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let limit = input.get("limit").and_then(Value::as_number).and_then(|it| it.as_u64());
    let limit = limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(DEFAULT_LIMIT);
    let sees = |tool: &Tool| server.shows(context.principal(), tool);
    if let Some(toolkit) = text("toolkit")
        && !catalog.tools.iter().any(|tool| tool.toolkit == toolkit && sees(tool))
    {
        let message = format!("There is no toolkit \"{}\"", excerpt(toolkit));
        return Err(ToolError::new(message).prompt("Search without toolkit"));
    }
    let is_selected = |at: usize| {
        let tool = catalog.tools.get(at);
        tool.is_some_and(|it| text("toolkit").is_none_or(|one| one == it.toolkit) && sees(it))
    };
    let found = index.find(text("query").unwrap_or_default(), limit, &is_selected);
    let found = found.into_iter().filter_map(|at| listed(list, at));
    if text("format") == Some("text") {
        return Ok(
            vec![json::object([("type", "text".into()), ("text", describe(found).into())])].into()
        );
    }
    let tools = found.map(|tool| {
        let member = |name: &str| tool.get(name).map(serde_json::Value::from).unwrap_or_default();
        let members = ["name", "description", "inputSchema"];
        json::object(members.map(|name| (name, member(name))))
    });
    Ok(json::object([("tools", tools.collect())]))
}

/// The tool at an index, as MCP lists it.
fn listed(list: &'static List, at: usize) -> Option<Value<'static>> {
    let entry = list.entries.iter().find(|entry| entry.tool == at)?;
    json::parse(list.json(entry)).ok()
}

/// Tools as short text: name, description, and each parameter with its type; `?` marks those that are optional.
fn describe(tools: impl Iterator<Item = Value<'static>>) -> String {
    let mut text = String::new();
    for tool in tools {
        let string = |name: &str| tool.get(name).and_then(Value::as_str).unwrap_or_default();
        let schema = tool.get("inputSchema");
        let required = schema.and_then(|it| it.get("required")).and_then(Value::as_array);
        let required = required.unwrap_or_default();
        let properties = schema.and_then(|it| it.get("properties")).and_then(Value::as_object);
        let parameters = properties.into_iter().flat_map(|it| it.iter()).map(|(name, schema)| {
            let is_required = required.iter().any(|it| it.as_str() == Some(name));
            let mark = if is_required { "" } else { "?" };
            format!("{name}{mark}: {}", kind(schema))
        });
        let parameters: Vec<_> = parameters.collect();
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{}({})\n{}\n",
            string("name"),
            parameters.join(", "),
            string("description")
        );
    }
    if text.is_empty() {
        "No tool matches; try other words".to_owned()
    } else {
        text.trim_end().to_owned()
    }
}

/// The type of a parameter: its values if they are few, otherwise what `type` says.
fn kind(schema: &Value<'_>) -> String {
    let several = schema.get("enum").or_else(|| schema.get("type"));
    match several {
        Some(Value::String(one)) => one.clone().into_owned(),
        Some(Value::Array(several)) => {
            let texts =
                several.iter().map(|it| it.as_str().map_or_else(|| it.text(), str::to_owned));
            texts.collect::<Vec<_>>().join(" | ")
        }
        _ => "any".to_owned(),
    }
}
