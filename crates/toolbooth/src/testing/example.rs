//! The catalogue of the examples in the docs of [`ToolTest`](super::ToolTest).
//!
//! `Orders.Find` asks a service for an order. It needs the scope `orders:read` and a secret of the operator.
//! `Orders.Comment` writes a comment on behalf of a user, who must have authorized it at the provider `shop`.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::address::secure_base_address;
use crate::catalog::{Authorization, Catalog, Run, ServerInfo, Tool, ToolFn, Version, Views, run};
use crate::host::{HttpRequest, HttpResponse};
use crate::schema::{AnyKeyword, Defaults, Keyword, ObjectKeyword, Schema, Types};
use crate::tool::{Context, Secret, ToolError, Variable};
use crate::url::path_segment;

/// The tools, sorted.
pub static CATALOG: Catalog = Catalog {
    tools: &TOOLS,
    names: NAMES,
    lists: &[],
    variables: VARIABLES,
    external: None,
    views: Views::NONE,
    server: SERVER,
};

const SERVER: ServerInfo = ServerInfo { name: "orders", title: "Orders", version: "1.0.0" };

/// Their examples, as the build generates them from the definitions.
pub const EXAMPLES: &str = r#"[
    {"id": "Orders.Comment@1.0.0", "examples": [{"input": {"id": "7", "text": "Ring twice"}, "value": null}]},
    {"id": "Orders.Find@1.0.0", "examples": [
        {"input": {"id": "7"}, "value": {"status": "open"}},
        {"input": {"id": "8"}, "error": {"message": "There is no such order"}}
    ]}
]"#;

const VARIABLES: &[Variable] = &[
    Variable::new("ORDERS_URL", "https://orders.example", secure_base_address),
    Variable::secret("ORDERS_KEY"),
];

const NAMES: &[(&str, usize)] = &[("Orders_Comment", 0), ("Orders_Find", 1)];

static TOOLS: [Tool; 2] = [
    tool("Comment", "Orders_Comment", SHOP, |input, context| run(input, context, comment)),
    tool("Find", "Orders_Find", &[], |input, context| run(input, context, find)),
];

const SHOP: &[Authorization] = &[Authorization { id: "shop", scopes: &["comments"] }];

const fn tool(
    tool: &'static str,
    name: &'static str,
    authorization: &'static [Authorization],
    run: ToolFn,
) -> Tool {
    Tool {
        toolkit: "Orders",
        tool,
        version: Version::new(1, 0, 0),
        name,
        title: None,
        scopes: &["orders:read"],
        authorization,
        secrets: &[],
        variables: &["ORDERS_URL", "ORDERS_KEY"],
        bindings: &[],
        user_id: !authorization.is_empty(),
        headers: &[],
        query: None,
        content: false,
        read_only: false,
        idempotent: false,
        task: None,
        input: &Schema {
            keywords: &[
                Keyword::Any(AnyKeyword::Type(Types(1 << 6))),
                Keyword::Object(ObjectKeyword::Required(&["id"])),
            ],
        },
        output: &Schema { keywords: &[] },
        defaults: &Defaults::NONE,
        run: Run::Function(run),
    }
}

#[derive(Deserialize)]
struct Find {
    id: String,
}

async fn find(input: Find, context: &Context<'_>) -> Result<Value, ToolError> {
    let key = context.server_secret("ORDERS_KEY").map(Secret::expose).unwrap_or_default();
    let url = format!("{}/orders/{}", context.variable("ORDERS_URL"), path_segment(&input.id)?);
    let headers = vec![("authorization", format!("Bearer {key}").into())];
    let response = context.send(HttpRequest { headers, ..HttpRequest::get(url) }).await?;
    check(&response)?;
    response.json().ok_or_else(|| ToolError::new("The order service returned an invalid response"))
}

#[derive(Deserialize)]
struct Comment {
    id: String,
    text: String,
}

async fn comment(input: Comment, context: &Context<'_>) -> Result<(), ToolError> {
    let token = context.token("shop").map(Secret::expose).unwrap_or_default();
    let path = format!("/orders/{}/comments", path_segment(&input.id)?);
    let comment = json!({"text": input.text, "author": context.user_id(), "at": context.now_ms()});
    let request = HttpRequest {
        method: "POST",
        headers: vec![("authorization", format!("Bearer {token}").into())],
        body: Some(comment.to_string().into_bytes()),
        ..HttpRequest::get(format!("{}{path}", context.variable("ORDERS_URL")))
    };
    match context.send(request).await? {
        HttpResponse { status: 401, .. } => Err(context.token_refused("shop")),
        response => check(&response),
    }
}

fn check(response: &HttpResponse) -> Result<(), ToolError> {
    match response.status {
        200..=299 => Ok(()),
        404 => Err(ToolError::new("There is no such order")),
        _ => Err(ToolError::new("The order service is not available").retryable()),
    }
}
