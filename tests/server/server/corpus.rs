//! Replays the corpus of the fuzz target, so that its files stay valid.

use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::*;
use toolbooth::catalog::{Lists, Run, ServerInfo, Tool, ToolFn, Version, Views, run};
use toolbooth::schema::{AnyKeyword, Defaults, Keyword, ObjectKeyword, Properties, Schema, Types};
use toolbooth::testing::echo::{LISTS, OBJECT};
use toolbooth::testing::repository;
use toolbooth::tool::{Context, ToolError};

const ANYTHING: Schema = Schema { keywords: &[] };

static ADD_INPUT: Schema = Schema {
    keywords: &[
        OBJECT,
        Keyword::Object(ObjectKeyword::Required(&["a", "b"])),
        Keyword::Object(ObjectKeyword::Properties(&Properties {
            named: &[("a", NUMBER), ("b", NUMBER)],
            patterns: &[],
            additional: Some(&Schema { keywords: &[Keyword::Any(AnyKeyword::False)] }),
        })),
    ],
};
const NUMBER: Schema = Schema { keywords: &[Keyword::Any(AnyKeyword::Type(Types(1 << 3)))] };

static RING_INPUT: Schema = Schema {
    keywords: &[
        OBJECT,
        Keyword::Object(ObjectKeyword::Required(&["doorbell_id"])),
        Keyword::Object(ObjectKeyword::Properties(&Properties {
            named: &[(
                "doorbell_id",
                Schema { keywords: &[Keyword::Any(AnyKeyword::Type(Types(1 << 4)))] },
            )],
            patterns: &[],
            additional: Some(&Schema { keywords: &[Keyword::Any(AnyKeyword::False)] }),
        })),
    ],
};

#[derive(Deserialize)]
struct Add {
    a: Number,
    b: Number,
}

async fn add(input: Add, _: &Context<'_>) -> Result<Value, ToolError> {
    let sum = input.a.as_i128().zip(input.b.as_i128()).and_then(|(a, b)| Number::from_i128(a + b));
    Ok(sum.map_or_else(|| json!([input.a, input.b]), Value::Number))
}

#[derive(Deserialize)]
struct Ring {
    doorbell_id: String,
}

async fn ring(input: Ring, _: &Context<'_>) -> Result<Value, ToolError> {
    Err(ToolError::new("Doorbell ID not found").developer_message(input.doorbell_id))
}

const fn tool(
    (toolkit, tool, name): (&'static str, &'static str, &'static str),
    version: Version,
    input: &'static Schema,
    run: ToolFn,
) -> Tool {
    Tool {
        toolkit,
        tool,
        version,
        name,
        title: None,
        scopes: &[],
        authorization: &[],
        secrets: &[],
        variables: &[],
        bindings: &[],
        user_id: false,
        headers: &[],
        query: None,
        content: false,
        read_only: true,
        idempotent: false,
        task: None,
        input,
        output: &ANYTHING,
        defaults: &Defaults::NONE,
        run: Run::Function(run),
    }
}

/// Simplified versions of the tools that the corpus calls; the fuzz target has the real ones.
static TOOLS: [Tool; 2] = [
    tool(
        ("Calculator", "Add", "Calculator_Add"),
        Version::new(1, 0, 0),
        &ADD_INPUT,
        |input, context| run(input, context, add),
    ),
    tool(
        ("Doorbell", "Ring", "Doorbell_Ring"),
        Version::new(0, 1, 0),
        &RING_INPUT,
        |input, context| run(input, context, ring),
    ),
];

const CORPUS: &Catalog = &Catalog {
    tools: &TOOLS,
    names: &[("Calculator_Add", 0), ("Doorbell_Ring", 1)],
    lists: &[Lists::all(LISTS)],
    variables: &[],
    server: ServerInfo { name: "corpus", title: "Corpus", version: "1.0.0" },
    external: None,
    views: Views::NONE,
};

#[test]
fn every_file_of_the_corpus_has_its_status() {
    let Some(folder) = repository::path("fuzz/corpus/answer") else { return };
    let mut statuses = std::collections::BTreeSet::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&file).unwrap();
        let request = exchange::request(&bytes);
        let body = Body::from(request.body.to_vec());
        let headers = (request.method, request.path, request.headers);
        let answer = answer(CORPUS, &FakeHost::default(), headers, body);
        // Handwritten files begin with their status; files from the fuzzer do not.
        if let Some((status, _)) = name.split_once('-') {
            assert_eq!(status, answer.status.to_string(), "{name}: {}", wire(&answer));
            statuses.insert(answer.status);
        }
    }
    let expected = [200, 202, 204, 400, 404, 405, 415, 422];
    assert!(statuses.iter().eq(&expected), "at least one file per status: {statuses:?}");
}
