//! Lists of tools: their responses, warnings and errors.

use serde_json::{Value, json};

use super::*;
use crate::providers::encode_rejection;
use crate::providers::{anthropic, gemini, openai};
use toolbooth::catalog::{Catalog, List, ListBody, Lists, Needs, SearchIndex, Tool};
use toolbooth::principal::Principal;
use toolbooth::principal::Scopes;
use toolbooth::testing::echo::CATALOG;
use toolbooth::testing::wire;
use toolbooth::testing::{FakeHost, with_context};

#[test]
fn what_a_provider_searches_is_deferred() {
    let text = r#"[{"n":0},{"n":5},{"n":6}]"#;
    let entry = |(place, tool)| Entry {
        tool,
        needs: Needs::Tool,
        name: "",
        start: 1 + 8 * place,
        end: 8 + 8 * place,
        unsupported: &[],
        warnings: &[],
    };
    let entries: Vec<_> = [0, 5, 6].into_iter().enumerate().map(entry).collect();
    let body = ListBody::Plain(text);
    let list = List { name: "anthropic", body, head: 1, entries: entries.leak(), etag: "" };
    let index = SearchIndex { words: &[], pinned: &[5, 6] };
    let lists = vec![
        Lists::all(vec![list, List { name: "openai-responses", ..list }].leak()),
        Lists { capability: "search", lists: &[], search: Some(index) },
    ];
    let catalog: &Catalog = Box::leak(Box::new(Catalog { lists: lists.leak(), ..*CATALOG }));
    let host = FakeHost::default();
    let get = |tools: Tools, query: &str| {
        with_context(catalog, &Principal::ANONYMOUS, query, &host, |context| {
            tools(context).map(|page| serde_json::from_str::<Value>(&page.body).unwrap())
        })
    };
    // The caller may not run the last.
    assert_eq!(
        get(anthropic::tools, "tools=search").unwrap(),
        json!([
            {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
            {"n": 5},
            {"defer_loading": true, "n": 0}
        ])
    );
    assert_eq!(
        get(openai::responses_tools, "tools=search").unwrap(),
        json!([
            {"type": "tool_search"},
            {"n": 5},
            {"type": "namespace", "name": "Echo", "description": "Tools of Echo", "tools": [{"defer_loading": true, "n": 0}]}
        ])
    );
    assert_eq!(get(anthropic::tools, "tools=all").unwrap(), json!([{"n": 0}, {"n": 5}]));
    for tools in [openai::chat_tools, gemini::tools] {
        let error = get(tools, "tools=search").unwrap_err();
        assert!(
            matches!(&error, PageError::Rejected(Rejection::Malformed(message)) if message.starts_with("tools must be all: ")),
            "{error:?}"
        );
    }
    assert!(get(anthropic::tools, "tools=few").is_err());
}

type Tools = fn(&RequestContext<'_>) -> Result<Page, PageError>;

const PROVIDERS: [Tools; 4] =
    [openai::chat_tools, openai::responses_tools, anthropic::tools, gemini::tools];

/// The names of the catalogue's tools, as in its lists.
const NAMES: [&str; 7] = [
    "Echo_Broken",
    "Echo_Narrow",
    "Echo_Private",
    "Echo_Say__1_0_0",
    "Echo_Say__1_10_0",
    "Echo_Say",
    "Echo_Scoped",
];

/// A list whose entries are the indices of the tools.
fn list(list: &'static str, unsupported: fn(usize) -> &'static [&'static str]) -> List {
    let mut body = "[".to_owned();
    let mut entries = Vec::new();
    for (tool, name) in NAMES.into_iter().enumerate() {
        let unsupported = unsupported(tool);
        if unsupported.is_empty() && body.len() > 1 {
            body.push(',');
        }
        let start = body.len();
        if unsupported.is_empty() {
            body.push_str(&tool.to_string());
        }
        let warnings: &[&str] = if tool == 1 { &["it is narrow"] } else { &[] };
        entries.push(Entry {
            tool,
            needs: Needs::Tool,
            name,
            start,
            end: body.len(),
            unsupported,
            warnings,
        });
    }
    body.push(']');
    List {
        name: list,
        body: ListBody::Plain(body.leak()),
        head: 1,
        entries: entries.leak(),
        etag: "\"whole\"",
    }
}

/// The catalogue of the pipeline's tests with OpenAI's lists. In the strict one, a tool is incompatible for two
/// reasons, and the latest version of another for one.
fn catalog() -> &'static Catalog {
    let strict = |tool| match tool {
        0 => &["not", "oneOf"][..],
        3 | 5 => &["optional_properties"],
        _ => &[],
    };
    let lists = vec![list("openai", |_| &[]), list("openai-strict", strict)];
    let lists = vec![Lists::all(lists.leak())];
    Box::leak(Box::new(Catalog { lists: lists.leak(), ..*CATALOG }))
}

fn list_tools(tools: Tools, catalog: &'static Catalog, query: &str) -> Result<Page, Response> {
    list_as(&Principal::ANONYMOUS, tools, catalog, query)
}

fn list_as(
    principal: &Principal,
    tools: Tools,
    catalog: &'static Catalog,
    query: &str,
) -> Result<Page, Response> {
    list_on(&FakeHost::default(), principal, tools, catalog, query)
}

fn list_on(
    host: &FakeHost,
    principal: &Principal,
    tools: Tools,
    catalog: &'static Catalog,
    query: &str,
) -> Result<Page, Response> {
    with_context(catalog, principal, query, host, |context| {
        tools(context).map_err(|error| response(error, context))
    })
}

fn response(error: PageError, context: &RequestContext<'_>) -> Response {
    match error {
        PageError::Rejected(rejection) => encode_rejection(&rejection, context.pipeline),
        PageError::Response(response) => response,
    }
}

fn error_of(response: &Response) -> Value {
    let body: Value = serde_json::from_slice(&response.body).unwrap();
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    body["error"].clone()
}

#[test]
fn tools_are_selected_by_the_query() {
    let narrow = "Echo_Narrow: it is narrow";
    // query, list, warning
    for (query, expected, warning) in [
        ("", "[0,1,2,5]", narrow),
        ("version=all", "[0,1,2,3,4,5]", narrow),
        ("include=Echo_Say", "[5]", ""),
        ("include=Echo_Say__1_0_0,Echo_Private", "[2,3]", ""),
        ("include=Echo_Say,Echo_Say", "[5]", ""),
        ("strict=true&include=Echo_Private", "[2]", ""),
        (
            "strict=true&skip_incompatible=true",
            "[1,2]",
            "Echo_Broken is omitted: not, oneOf; Echo_Say is omitted: optional_properties; \
             Echo_Narrow: it is narrow",
        ),
        (
            "strict=true&skip_incompatible=true&version=1.0.0&include=Echo_Say",
            "[]",
            "the list is empty, which providers reject: send no tools instead; \
             Echo_Say__1_0_0 is omitted: optional_properties",
        ),
    ] {
        let page = list_tools(openai::chat_tools, catalog(), query).unwrap();
        assert_eq!(page.body, expected, "{query}");
        let headers: Vec<_> =
            page.headers.iter().map(|(name, value)| (*name, value.as_ref())).collect();
        let expected = [("toolbooth-warning", warning)];
        assert_eq!(headers, &expected[..usize::from(!warning.is_empty())], "{query}");
    }
    let all = Principal::key("all", Scopes::All);
    let whole = list_as(&all, openai::chat_tools, catalog(), "version=all").unwrap();
    assert_eq!(whole.body, "[0,1,2,3,4,5,6]", "including the tool that requires scopes");
    assert_eq!(whole.etag, "\"whole\"", "the whole list was rendered at build time");
    let one = list_tools(openai::chat_tools, catalog(), "include=Echo_Say").unwrap();
    let other = list_tools(openai::chat_tools, catalog(), "include=Echo_Broken").unwrap();
    assert!(one.etag != whole.etag && one.etag != other.etag, "each list has its own entity tag");
}

#[test]
fn a_missing_scope_has_the_header_of_http() {
    let response = list_tools(openai::chat_tools, catalog(), "include=Echo_Scoped").unwrap_err();
    let rejection = Rejection::MissingScope {
        name: "Echo_Scoped",
        scopes: &["echo:a", "echo:b"],
        held: Vec::new(),
    };
    let expected = with_context(CATALOG, &Principal::ANONYMOUS, "", &FakeHost::default(), |it| {
        encode_rejection(&rejection, it.pipeline)
    });
    assert_eq!(response, expected);
    assert_eq!((response.status, response.headers[2].0), (403, "www-authenticate"));
}

/// An empty list is not an error, but providers reject it.
#[test]
fn empty_lists() {
    let nothing = FakeHost::with(&[("TOOL_ALLOWLIST", "Echo.Say@2.0.0")]);
    let (principal, query) = (&Principal::ANONYMOUS, "version=1.0.0");
    let page = list_on(&nothing, principal, openai::chat_tools, catalog(), query).unwrap();
    assert_eq!((&*page.body, &*page.headers[0].1), ("[]", EMPTY));
}

/// 5.4: a tool that the provider does not accept.
#[test]
fn incompatible_tools() {
    let response = list_tools(openai::chat_tools, catalog(), "strict=true").unwrap_err();
    assert_eq!(response.status, 400);
    let expected = json!({
        "code": "tool_schema_incompatible",
        "message": "Tool 'Echo_Broken' has 'not', 'oneOf', which strict tools of OpenAI Chat Completions \
                    cannot use. error.tools lists 2 such tools. Omit them with skip_incompatible=true, or \
                    narrow the list with include or toolkit",
        "type": "semantic_error",
        "incompatible_features": ["not", "oneOf", "optional_properties"],
        "tools": [
            {"name": "Echo_Broken", "incompatible_features": ["not", "oneOf"]},
            {"name": "Echo_Say", "incompatible_features": ["optional_properties"]}
        ]
    });
    assert_eq!(error_of(&response), expected);
    let one = list_tools(openai::chat_tools, catalog(), "strict=true&include=Echo_Say__1_0_0");
    let one = error_of(&one.unwrap_err());
    assert_eq!(
        one["message"],
        "Tool 'Echo_Say__1_0_0' has 'optional_properties', which strict tools of OpenAI Chat \
         Completions cannot use. Omit it with skip_incompatible=true, or narrow the list with \
         include or toolkit"
    );
}

/// A tool whose schema in the list is wider than its own is incompatible only for callers who ask for it.
#[test]
fn wider_schemas() {
    let text = r#"[{"n":0},{"n":1}]"#;
    let entry = |tool: usize, unsupported| Entry {
        tool,
        needs: Needs::Tool,
        name: NAMES[tool],
        start: 1 + 8 * tool,
        end: 8 + 8 * tool,
        unsupported,
        warnings: &[],
    };
    let entries = vec![entry(0, &["not"]), entry(1, &[])].leak();
    let list = List { name: "gemini", body: ListBody::Plain(text), head: 1, entries, etag: "" };
    let lists = vec![Lists::all(vec![list].leak())].leak();
    let catalog: &Catalog = Box::leak(Box::new(Catalog { lists, ..*CATALOG }));
    let get = |query| list_tools(gemini::tools, catalog, query).map(|page| page.body.into_owned());
    for query in ["", "strict_schemas=false", "skip_incompatible=true"] {
        assert_eq!(get(query).unwrap(), text, "{query}");
    }
    let error = error_of(&get("strict_schemas=true").unwrap_err());
    assert_eq!(error["tools"], json!([{"name": "Echo_Broken", "incompatible_features": ["not"]}]));
    assert_eq!(get("strict_schemas=true&skip_incompatible=true").unwrap(), r#"[{"n":1}]"#);
}

#[test]
fn errors() {
    let invalid = |message: &str| ("invalid_request", message.to_owned());
    let missing = |message: &str| ("tool_not_found", message.to_owned());
    for (query, (code, message)) in [
        ("strict=1", invalid("strict must be true or false")),
        ("version=9.9.9", invalid("version: none of the selected tools has version 9.9.9")),
        (
            "include=No%22pe",
            missing(
                "include: there is no tool \"No’pe\"; expected a name, a versioned name such as \
                 Name__1_0_0, or an id such as Toolkit.Tool@1.0.0",
            ),
        ),
        ("include=Echo.Say@7", missing("include: Echo.Say has no version 7.0.0")),
    ] {
        for tools in PROVIDERS {
            let response = list_tools(tools, CATALOG, query).unwrap_err();
            let expected =
                json!({"code": code, "message": message, "type": "invalid_request_error"});
            assert_eq!((response.status, error_of(&response)), (400, expected), "{query}");
        }
    }
    let response = list_tools(gemini::tools, CATALOG, "strict=true").unwrap_err();
    let message = error_of(&response)["message"].clone();
    assert!(message.as_str().unwrap().starts_with("Gemini has no strict tools"), "{message}");
    let bare: &Catalog = Box::leak(Box::new(Catalog { lists: &[], ..*CATALOG }));
    for tools in PROVIDERS {
        assert_eq!(
            list_tools(tools, bare, "").unwrap_err().status,
            503,
            "the catalogue has no list"
        );
    }
}

/// 7.1: at most 128 tools, and for Anthropic at most 20 strict ones.
#[test]
fn too_many_tools() {
    for (tools, name, query, most) in [
        (openai::chat_tools as Tools, "openai", "version=all", 128),
        (openai::chat_tools, "openai-strict", "version=all&strict=true", 128),
        (anthropic::tools, "anthropic", "version=all", 128),
        (anthropic::tools, "anthropic-strict", "version=all&strict=true", 20),
        (anthropic::tools, "anthropic-strict", "version=all&strict=true&tools=search", 20),
        (gemini::tools, "gemini", "version=all", 128),
    ] {
        for (count, fits) in [(most, true), (most + 1, false)] {
            let copies = |at: usize| toolbooth::catalog::Tool {
                version: toolbooth::catalog::Version::new(at as u64, 0, 0),
                ..copy(&CATALOG.tools[3])
            };
            let many: Vec<_> = (0..count).map(copies).collect();
            let entries: Vec<_> = (0..count)
                .map(|tool| Entry {
                    tool,
                    needs: Needs::Tool,
                    name: "",
                    start: 1,
                    end: 2,
                    unsupported: &[],
                    warnings: &[],
                })
                .collect();
            let lists = vec![List {
                name,
                body: ListBody::Plain("[0]"),
                head: 1,
                entries: entries.leak(),
                etag: "",
            }];
            let lists = vec![Lists::all(lists.leak())];
            let catalog = Catalog { tools: many.leak(), lists: lists.leak(), ..*CATALOG };
            let response = list_tools(tools, Box::leak(Box::new(catalog)), query);
            assert_eq!(response.is_ok(), fits, "{count} in {name}");
            if let Err(response) = response {
                let error = error_of(&response);
                assert_eq!(error["code"], "too_many_tools", "{}", wire(&response));
                let message = error["message"].as_str().unwrap();
                assert!(message.contains(&format!("at most {most} ")), "{message}");
                assert!(message.ends_with("Narrow the list with include or toolkit"), "{message}");
            }
        }
    }
}

fn copy(tool: &Tool) -> Tool {
    Tool { version: tool.version.clone(), ..*tool }
}

#[test]
fn the_warning_header_stays_short() {
    let header =
        |count: usize| header_value((0..count).map(|n| format!("Tool_{n:04}: w")).collect());
    assert_eq!(header(0), None);
    assert_eq!(header(2).as_deref(), Some("Tool_0000: w; Tool_0001: w"));
    let long = header(500).unwrap();
    assert!(long.len() < MAX_WARNING_BYTES + 32 && long.ends_with(" more"), "{long}");
    let listed = long.matches("; ").count();
    assert!(long.ends_with(&format!("; and {} more", 500 - listed)), "{long}");
}
