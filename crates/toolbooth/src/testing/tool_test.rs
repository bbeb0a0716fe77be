//! Calls tools in tests.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::{FakeHost, SentRequest, Upstream, call_tool};
use crate::call::{Outcome, Rejection, TakesTask, ToolRequest, ToolSelector};
use crate::catalog::Catalog;
use crate::host::{HttpError, HttpRequest, HttpResponse, TASKS};
use crate::principal::{Principal, Scopes};
use crate::settings::Settings;
use crate::tool::{
    ClientCapabilities, ClientCapability, Credentials, Dialogue, InputResponse, Named, Secret,
    ToolError,
};

/// Calls the tools of a catalogue as a client does, with fakes of everything that they use.
///
/// Calls pass the same checks as those of real clients: scopes, requirements, input and output. The caller has all
/// scopes, but no tokens and secrets. Each secret of the operator, and each variable without a default, has a made-up
/// value; other variables have their defaults.
///
/// # Services
///
/// [`respond`](Self::respond) scripts the response to a request, and [`requests`](Self::requests) returns what was sent.
/// A request without a scripted response fails the test.
///
/// ```
/// # use toolbooth::testing::example::CATALOG;
/// use serde_json::json;
/// use toolbooth::testing::{ToolTest, respond};
///
/// let test = ToolTest::new(&CATALOG)
///     .variable("ORDERS_KEY", "k3y")
///     .respond("GET https://orders.example/orders/7", respond(200, r#"{"status":"open"}"#));
///
/// assert_eq!(test.value("Orders.Find", json!({"id": "7"})), json!({"status": "open"}));
///
/// let [request] = &test.requests()[..] else { panic!("one request") };
/// assert_eq!(request.header("authorization"), Some("Bearer k3y"));
/// ```
///
/// Equal requests get their responses in order, and the last one repeats. A failed connection is an `Err`:
///
/// ```
/// # use toolbooth::testing::example::CATALOG;
/// # use serde_json::json;
/// # use toolbooth::testing::{ToolTest, respond};
/// use toolbooth::host::HttpError;
///
/// let url = "GET https://orders.example/orders/7";
/// let test = ToolTest::new(&CATALOG)
///     .respond(url, Err(HttpError::Timeout))
///     .respond(url, respond(503, ""))
///     .respond(url, respond(200, r#"{"status":"open"}"#));
///
/// assert_eq!(test.error("Orders.Find", json!({"id": "7"})).message, "The service did not respond in time");
/// assert!(test.error("Orders.Find", json!({"id": "7"})).can_retry);
/// assert_eq!(test.value("Orders.Find", json!({"id": "7"})), json!({"status": "open"}));
/// ```
///
/// # Users, clock
///
/// ```
/// # use toolbooth::testing::example::CATALOG;
/// # use serde_json::json;
/// # use toolbooth::testing::{ToolTest, respond};
/// let test = ToolTest::new(&CATALOG)
///     .user("ada")
///     .token("shop", "t0ken")
///     .at(1_700_000_000_000)
///     .respond("POST https://orders.example/orders/7/comments", respond(201, ""));
///
/// test.value("Orders.Comment", json!({"id": "7", "text": "Ring twice"}));
///
/// let comment = json!({"text": "Ring twice", "author": "ada", "at": 1_700_000_000_000_u64});
/// assert_eq!(test.requests()[0].json(), comment);
/// ```
///
/// # Rejected calls
///
/// [`call`](Self::call) returns every outcome. Here a user must authorize the tool first, because the call has no token;
/// and a caller lacks a scope:
///
/// ```
/// # use toolbooth::testing::example::CATALOG;
/// # use serde_json::json;
/// # use toolbooth::testing::ToolTest;
/// use toolbooth::call::{Outcome, Rejection};
///
/// let input = json!({"id": "7", "text": "Ring twice"});
/// let outcome = ToolTest::new(&CATALOG).user("ada").call("Orders.Comment", input);
/// let Outcome::Rejected(Rejection::MissingRequirements(missing)) = outcome else { panic!("{outcome:?}") };
/// assert_eq!(missing.authorization, ["shop"]);
///
/// let outcome = ToolTest::new(&CATALOG).scopes(&["orders:write"]).call("Orders.Find", json!({"id": "7"}));
/// assert!(matches!(outcome, Outcome::Rejected(Rejection::MissingScope { .. })));
/// ```
///
/// # The examples of definitions
///
/// One test runs them all:
///
/// ```
/// # use toolbooth::testing::example::{CATALOG, EXAMPLES};
/// # use toolbooth::testing::{ToolTest, respond};
/// ToolTest::new(&CATALOG)
///     .respond("GET https://orders.example/orders/7", respond(200, r#"{"status":"open"}"#))
///     .respond("GET https://orders.example/orders/8", respond(404, ""))
///     .respond("POST https://orders.example/orders/7/comments", respond(201, ""))
///     .check_examples(EXAMPLES);
/// ```
pub struct ToolTest {
    /// The fakes: store, log, limits and so on.
    pub host: FakeHost,
    pub(super) catalog: &'static Catalog,
    principal: Principal,
    user_id: Option<String>,
    tokens: Named<Secret>,
    secrets: Named<Secret>,
    dialogue: Dialogue,
}

impl ToolTest {
    /// A test of the tools in `catalog`.
    pub fn new(catalog: &'static Catalog) -> Self {
        // The store is a fake, and tasks run within the call; other bindings have no fake.
        let bindings = BTreeSet::from(["KV", TASKS]);
        let mut host = FakeHost { upstream: unexpected, bindings, ..FakeHost::default() };
        let needed = catalog.variables.iter().filter_map(|variable| {
            let name = variable.name();
            let host = format!("{}.example", name.to_ascii_lowercase());
            let texts = [made_up(name), format!("https://{host}"), host];
            Some((name.to_owned(), variable.needed(texts)?))
        });
        host.variables.extend(needed);
        Self {
            host,
            catalog,
            principal: Principal::key("test", Scopes::All),
            user_id: None,
            tokens: Named::default(),
            secrets: Named::default(),
            dialogue: Dialogue { capabilities: ClientCapabilities::ALL, ..Dialogue::default() },
        }
    }

    /// Sets a variable or a secret of the operator.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.host.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Sets the scopes of the caller; otherwise it has all of them.
    #[must_use]
    pub fn scopes(self, scopes: &[&str]) -> Self {
        let scopes = Scopes::Listed(scopes.iter().map(|&scope| scope.to_owned()).collect());
        self.principal(Principal::key("test", scopes))
    }

    /// Sets the caller.
    #[must_use]
    pub fn principal(self, principal: Principal) -> Self {
        Self { principal, ..self }
    }

    /// Sets the user on whose behalf the calls are made.
    #[must_use]
    pub fn user(self, id: &str) -> Self {
        Self { user_id: Some(id.to_owned()), ..self }
    }

    /// Adds a token of the user for the provider `id`, as if the client had sent it or the user had authorized the tool.
    #[must_use]
    pub fn token(mut self, id: &str, token: &str) -> Self {
        self.tokens.insert(id.to_owned(), Secret::new(token.to_owned()));
        self
    }

    /// Adds a secret that the client sends.
    #[must_use]
    pub fn secret(mut self, id: &str, value: &str) -> Self {
        self.secrets.insert(id.to_owned(), Secret::new(value.to_owned()));
        self
    }

    /// Stops the clock at `ms` milliseconds since 1970. Otherwise each reading advances it by one millisecond.
    #[must_use]
    pub fn at(mut self, ms: u64) -> Self {
        self.host.now_ms.set(ms);
        self.host.tick_ms = 0;
        self
    }

    /// Advances the clock.
    pub fn advance(&self, duration: Duration) {
        let ms = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        self.host.now_ms.update(|now| now.saturating_add(ms));
    }

    /// Adds the response to a request, which is written as method and URL: `GET https://orders.example/orders/7`.
    #[must_use]
    pub fn respond(mut self, request: &str, response: Result<HttpResponse, HttpError>) -> Self {
        self.host.http.add(request, response);
        self
    }

    /// Sets the function that responds to the other requests; otherwise they fail the test.
    #[must_use]
    pub fn upstream(mut self, upstream: Upstream) -> Self {
        self.host.upstream = upstream;
        self
    }

    /// Sets what the client can be asked for; otherwise it has every capability.
    #[must_use]
    pub fn capabilities(mut self, capabilities: &[ClientCapability]) -> Self {
        self.dialogue.capabilities = capabilities.iter().copied().collect();
        self
    }

    /// Adds the response to a request for input.
    #[must_use]
    pub fn answer(mut self, key: &str, response: InputResponse) -> Self {
        self.dialogue.answers.insert(key.to_owned(), response);
        self
    }

    /// Sets the state that the tool passed with its requests for input.
    #[must_use]
    pub fn state(mut self, state: Value) -> Self {
        self.dialogue.state = Some(state);
        self
    }

    /// Calls a tool by its id, with or without a version: `Orders.Find@1`.
    ///
    /// # Panics
    /// The tool sends a request without a response.
    pub fn call(&self, tool: &str, input: Value) -> Outcome {
        let credentials = Credentials {
            user_id: self.user_id.clone(),
            tokens: self.tokens.clone(),
            secrets: self.secrets.clone(),
        };
        self.run(tool, &input, credentials)
    }

    pub(super) fn run(&self, tool: &str, input: &Value, credentials: Credentials) -> Outcome {
        let call = ToolRequest {
            credentials,
            // All steps run within the call.
            takes_task: TakesTask::Always,
            dialogue: self.dialogue.clone(),
            ..ToolRequest::new(ToolSelector::Id(tool.into()), input.into())
        };
        call_tool(call, self.catalog, &self.principal, &self.host)
    }

    /// The value that a tool returns. Content blocks are JSON, as in `{"type": "text", "text": "…"}`.
    ///
    /// # Panics
    /// The call has another outcome.
    pub fn value(&self, tool: &str, input: Value) -> Value {
        match self.call(tool, input) {
            Outcome::Done { value, .. } => value,
            other => self.fail(tool, "a value", &other),
        }
    }

    /// The error that a tool returns.
    ///
    /// # Panics
    /// The call has another outcome.
    pub fn error(&self, tool: &str, input: Value) -> ToolError {
        match self.call(tool, input) {
            Outcome::Failed { error, .. } => error,
            other => self.fail(tool, "an error of the tool", &other),
        }
    }

    #[allow(clippy::panic)]
    fn fail(&self, tool: &str, expected: &str, outcome: &Outcome) -> ! {
        if let Outcome::Rejected(Rejection::ToolNotConfigured { .. }) = outcome {
            let settings = Settings::read(&self.host, &[], self.catalog.variables);
            let variables = settings.tools;
            let missing = variables.problems(self.catalog.tools, &[], &self.host).join("; ");
            panic!(
                "{tool}: expected {expected}, but it is not configured: {missing}. Tools with bindings need workerd: \
                 see \"Tests on workerd\" in docs/TOOLS.md"
            )
        }
        panic!("{tool}: expected {expected}, got {outcome:?}; log: {:?}", self.log())
    }

    /// The HTTP requests that the tools have sent.
    pub fn requests(&self) -> Vec<SentRequest> {
        self.host.http.requests.borrow().clone()
    }

    /// The problems that were logged for the operator.
    pub fn log(&self) -> Vec<String> {
        self.host.log.borrow().clone()
    }
}

pub(super) fn made_up(name: &str) -> String {
    format!("example-{name}")
}

#[allow(clippy::panic)]
fn unexpected(request: &HttpRequest<'_>) -> Result<HttpResponse, HttpError> {
    panic!("the test has no response to {} {}", request.method, request.url)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::example::CATALOG;
    use crate::testing::respond;

    #[test]
    #[should_panic(expected = "the test has no response to GET https://orders.example/orders/7")]
    fn an_unexpected_request_fails_the_test() {
        ToolTest::new(&CATALOG).call("Orders.Find", json!({"id": "7"}));
    }

    #[test]
    #[should_panic(expected = "Orders.Find: expected an error of the tool, got Done")]
    fn an_unexpected_outcome_fails_the_test() {
        let order = respond(200, "{}");
        let test = ToolTest::new(&CATALOG).respond("GET https://orders.example/orders/7", order);
        test.error("Orders.Find", json!({"id": "7"}));
    }

    #[test]
    #[should_panic(
        expected = "it is not configured: ORDERS_KEY is a secret that is not set; it disables Orders.Comment@1.0.0, Orders.Find@1.0.0. Tools with bindings need workerd"
    )]
    fn a_tool_that_is_not_configured_fails_the_test_with_the_reason() {
        ToolTest::new(&CATALOG).variable("ORDERS_KEY", "").value("Orders.Find", json!({"id": "7"}));
    }

    #[test]
    fn variables_of_the_operator() {
        let test = ToolTest::new(&CATALOG)
            .variable("ORDERS_URL", "https://other.example")
            .upstream(|request| respond(200, format!("\"{}\"", request.url)));
        let url = test.value("Orders.Find", json!({"id": "a/b"}));
        assert_eq!(url, "https://other.example/orders/a%2Fb");
        let [request] = &test.requests()[..] else { panic!("one request") };
        assert_eq!(request.header("Authorization"), Some("Bearer example-ORDERS_KEY"));
        assert_eq!((request.header("accept"), request.json()), (None, Value::Null));

        let test = ToolTest::new(&CATALOG).variable("ORDERS_KEY", "");
        let outcome = test.call("Orders.Find", json!({"id": "7"}));
        assert!(matches!(outcome, Outcome::Rejected(_)), "an empty secret is missing: {outcome:?}");
    }

    #[test]
    fn a_token_that_the_service_rejects() {
        let input = json!({"id": "7", "text": "Ring twice"});
        let test = ToolTest::new(&CATALOG).user("ada").token("shop", "old");
        let test = test.upstream(|_| respond(401, ""));
        let outcome = test.call("Orders.Comment", input);
        assert!(format!("{outcome:?}").contains("shop"), "{outcome:?}");
    }

    #[test]
    fn the_clock() {
        let test = ToolTest::new(&CATALOG).at(5).user("ada").token("shop", "t");
        let test = test.upstream(|_| respond(201, ""));
        let input = json!({"id": "7", "text": ""});
        test.value("Orders.Comment", input.clone());
        test.advance(Duration::from_secs(1));
        test.value("Orders.Comment", input);
        let times: Vec<_> = test.requests().iter().map(|it| it.json()["at"].clone()).collect();
        assert_eq!(times, [5, 1_005]);
    }
}
