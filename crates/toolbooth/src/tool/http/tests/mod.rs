//! Tables of calls with the requests that they send, and of responses with the values that they become.

mod bodies;
mod requests;
mod responses;
mod select;

use serde_json::{Value as Json, json};

use super::*;
use crate::address::base_address;
use crate::call::Outcome;
use crate::catalog::{Authorization, Catalog, Run, Tool};
use crate::schema::{Defaults, Schema};
use crate::testing::{SentRequest, ToolTest, echo, respond};
use crate::tool::{ToolError, Variable};

const ANYTHING: Schema = Schema { keywords: &[] };

/// `GET https://web.example/items`, without anything else.
pub(super) const CALL: HttpCall = HttpCall {
    method: "GET",
    base: "WEB_URL",
    url: None,
    path: &[&[PathPart::Text("items")]],
    query: &[],
    fixed_query: &[],
    headers: &[],
    fixed_headers: &[],
    body: None,
    auth: &[],
    auth_optional: false,
    select: None,
    fields: &[],
    decode: &[],
    failure: None,
    pagination: None,
    timeout_ms: 10_000,
    max_bytes: 1_000,
    retry: false,
    returns_nothing: false,
};

const VARIABLES: &[Variable] = &[
    Variable::new("WEB_URL", "https://web.example", base_address),
    Variable::new("WEB_USER", "ada", |_| Ok(())),
    Variable::secret("WEB_KEY"),
    Variable::secret("WEB_PASSWORD").or_empty(),
    Variable::new("WEB_HOSTS", "web.example,*.files.example,localhost:8801", |_| Ok(())),
];

/// A tool that sends this request, and accepts any input.
fn tool(call: HttpCall) -> Tool {
    let authorization: &[Authorization] = match call.auth {
        [HttpAuth::Provider { .. }, ..] => &[Authorization { id: "web", scopes: &[] }],
        _ => &[],
    };
    Tool {
        toolkit: "Web",
        tool: "Call",
        authorization,
        secrets: &[],
        variables: &["WEB_URL", "WEB_USER", "WEB_KEY", "WEB_HOSTS"],
        user_id: false,
        query: None,
        input: &ANYTHING,
        output: &ANYTHING,
        defaults: &Defaults::NONE,
        run: Run::Http(Box::leak(Box::new(call)), run),
        ..echo::private()
    }
}

fn test_of(tool: Tool) -> ToolTest {
    without_credentials(tool).token("web", "t0ken").variable("WEB_KEY", "k3y")
}

/// A test of a tool without a user's token and the operator's secrets.
fn without_credentials(tool: Tool) -> ToolTest {
    let catalog = Catalog {
        tools: Box::leak(Box::new([tool])),
        names: &[("Web_Call", 0)],
        variables: VARIABLES,
        ..*echo::CATALOG
    };
    let mut test = ToolTest::new(Box::leak(Box::new(catalog)));
    for name in ["WEB_KEY", "WEB_PASSWORD"] {
        test.host.variables.remove(name);
    }
    test
}

/// A test of a tool that sends this request.
fn test(call: HttpCall) -> ToolTest {
    test_of(tool(call))
}

/// The request that a call sends, or the error of one that sends none.
fn sent(call: HttpCall, input: Json) -> Result<SentRequest, ToolError> {
    let test = test(call).upstream(|_| respond(200, "{}"));
    match test.call("Web.Call", input) {
        Outcome::Done { .. } => Ok(test.requests().remove(0)),
        Outcome::Failed { error, .. } => {
            assert!(test.requests().is_empty(), "{error:?}");
            Err(error)
        }
        outcome => panic!("{outcome:?}"),
    }
}

#[test]
fn a_definition_sends_its_request_and_returns_the_response() {
    let call = HttpCall {
        path: &[
            &[PathPart::Text("items")],
            &[PathPart::Parameter { property: "id", explode: false }],
        ],
        query: &[QueryField {
            property: "q",
            name: "query",
            style: Style::Form,
            explode: true,
            read: None,
        }],
        fixed_headers: &[("accept", "application/json")],
        ..CALL
    };
    let url = "GET https://web.example/items/7?query=a%20b";
    let test = test(call).respond(url, respond(200, r#"{"name":"Ada","tags":[1,2.5,null]}"#));
    let value = test.value("Web.Call", json!({"id": 7, "q": "a b"}));
    assert_eq!(value, json!({"name": "Ada", "tags": [1, 2.5, null]}));
    let [request] = &test.requests()[..] else { panic!("one request") };
    let headers = [("user-agent", "toolbooth"), ("accept", "application/json")];
    assert_eq!(request.headers, headers.map(|(name, value)| (name.to_owned(), value.to_owned())));
}
