//! Runs the examples of definitions.

use std::io::{self, Write};

use serde::Deserialize;
use serde_json::{Value, json};

use super::difference::differences;
use super::tool_test::made_up;
use super::{FakeStore, ToolTest};
use crate::call::Outcome;
use crate::catalog::{Example, ExampleCall, Found, ToolRef};
use crate::secret::Secret;
use crate::tool::Credentials;

/// The examples of one version of a tool.
#[derive(Debug, Deserialize)]
pub struct Examples {
    /// The tool's id.
    pub id: String,
    /// The names of its bindings.
    #[serde(default)]
    pub bindings: Vec<String>,
    /// Whether its definition describes its request.
    #[serde(default)]
    pub http: bool,
    /// Whether its function is in TypeScript.
    #[serde(default)]
    pub external: bool,
    /// Its examples.
    pub examples: Vec<Example>,
}

impl Examples {
    /// Whether native tests can run the tool.
    fn is_native(&self) -> bool {
        self.bindings.is_empty() && !self.external
    }
}

/// Reads the generated constant `EXAMPLES`.
///
/// # Panics
/// It is another text.
#[allow(clippy::expect_used)]
pub fn read_examples(examples: &str) -> Vec<Examples> {
    serde_json::from_str(examples).expect("the build generates valid JSON")
}

impl ToolTest {
    /// Runs the examples of all definitions; `examples` is the generated constant `EXAMPLES`. Each begins with an empty
    /// store. The calls have made-up tokens, secrets and user ids.
    ///
    /// Tools with bindings, and tools in TypeScript, run on workerd only: `toolbooth test` runs their examples there. Examples of tools with `http` run
    /// if they have a `response`. This function prints the ids of the tools whose examples it does not run.
    ///
    /// # Panics
    /// A tool has no example, or one has a different outcome than documented. The message has a block for each such example.
    #[track_caller]
    pub fn check_examples(mut self, examples: &str) {
        let all = read_examples(examples);
        assert_eq!(all.len(), self.catalog.tools.len(), "each tool must have examples");
        let mut wrong = Vec::new();
        for tool in &all {
            let Examples { id, http, examples, .. } = tool;
            assert!(*http || !examples.is_empty(), "{id} has no example");
            for example in examples.iter().filter(|_| tool.is_native()) {
                if *http && example.response.is_none() {
                    continue;
                }
                self.host.store = FakeStore::default();
                self.host.http.record(example.response.as_ref());
                wrong.extend(self.check_example(id, example).err());
            }
        }
        for left in [left_to_workerd(&all), not_recorded(&all)].into_iter().flatten() {
            // Not captured, unlike the output of `eprintln!`; in one piece, because other tests print too.
            let _ = io::stderr().write_all(left.as_bytes());
        }
        let several = if wrong.len() == 1 { "example has" } else { "examples have" };
        assert!(
            wrong.is_empty(),
            "{} {several} a different outcome than documented:\n\n{}\n",
            wrong.len(),
            wrong.join("\n\n")
        );
    }

    /// Runs an example and compares the outcome: an error describes the difference.
    fn check_example(&self, id: &str, example: &Example) -> Result<(), String> {
        let difference = match self.outcome(id, example) {
            Ok(got) => differences(&documented(example), &got) + &self.other_request(example),
            Err(failed) => format!("    {failed}"),
        };
        if difference.is_empty() {
            return Ok(());
        }
        let title = example.title.as_ref().map(|title| format!(": {title}")).unwrap_or_default();
        let log: String = self.log().iter().map(|line| format!("\n  log: {line}")).collect();
        Err(format!("{id}{title}\n  input: {}\n{difference}{log}", example.input))
    }

    /// Makes the calls of an example. Returns the outcome, in the form of [`documented`].
    fn outcome(&self, id: &str, example: &Example) -> Result<Value, String> {
        for ExampleCall { tool, input, .. } in &example.setup {
            let outcome = self.run(tool, input, self.made_up_credentials(tool)?);
            if !matches!(outcome, Outcome::Done { .. }) {
                return Err(format!("the setup {tool} with {input} failed: {outcome:?}"));
            }
        }
        Ok(match self.run(id, &example.input, self.made_up_credentials(id)?) {
            Outcome::Done { mut value, .. } => {
                let documented = example.value.as_ref();
                for part in &example.varies {
                    let documented = documented.and_then(|value| value.pointer(part));
                    if let (Some(got), Some(documented)) = (value.pointer_mut(part), documented) {
                        *got = documented.clone();
                    }
                }
                json!({ "value": value })
            }
            Outcome::Failed { error, .. } => json!({ "error": { "message": error.message } }),
            Outcome::InvalidInput(invalid) => {
                json!({ "invalid": format!("{:?}", invalid.errors) })
            }
            Outcome::InputRequired { required, .. } => {
                let mut keys: Vec<_> = required.questions.iter().map(|(key, _)| key).collect();
                keys.sort();
                json!({ "asks": keys })
            }
            Outcome::Rejected(rejection) => json!({ "rejected": format!("{rejection:?}") }),
        })
    }

    /// The difference of the request that was sent from that of the example, if it names one.
    fn other_request(&self, example: &Example) -> String {
        let requests = self.requests();
        let sent = requests.last();
        let line = sent.map(ToString::to_string).unwrap_or_default();
        let body = sent.map(|it| it.body.as_slice()).unwrap_or_default();
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        let of = |what: &str, expected: String, got: String| match got == expected {
            true => String::new(),
            false => format!("  {what}\n    expected: {expected}\n    got:      {got}\n"),
        };
        let request = example.request.clone().map(|expected| of("request", expected, line));
        let expected = example.request_body.as_ref().map(ToString::to_string);
        let body = expected.map(|expected| of("request_body", expected, body.to_string()));
        [request, body].into_iter().flatten().collect()
    }

    /// What a tool requires of the client.
    fn made_up_credentials(&self, id: &str) -> Result<Credentials, String> {
        let reference = ToolRef::parse(id).map_err(|error| error.to_string())?;
        let Found::Tool(tool) = self.catalog.find(&reference) else {
            return Err(format!("{id} is not in the catalogue"));
        };
        let secret = |id: &&str| ((*id).to_owned(), Secret::new(made_up(id)));
        Ok(Credentials {
            user_id: Some(made_up("user")),
            tokens: tool.authorization.iter().map(|it| secret(&it.id)).collect(),
            secrets: tool.secrets.iter().map(secret).collect(),
        })
    }
}

fn documented(example: &Example) -> Value {
    match (&example.value, &example.error, &example.asks) {
        (Some(value), ..) => json!({ "value": value }),
        (None, Some(error), _) => json!({ "error": { "message": error.message } }),
        (None, None, Some(keys)) => json!({ "asks": keys }),
        (None, None, None) => Value::Null,
    }
}

/// A line that names the tools that native tests cannot run, and why: their bindings, or the language.
fn left_to_workerd(all: &[Examples]) -> Option<String> {
    let reason = |it: &Examples| match &*it.bindings {
        [] => "TypeScript".to_owned(),
        bindings => bindings.join(", "),
    };
    let left = all.iter().filter(|it| !it.is_native());
    let names: Vec<_> = left.map(|it| format!("{} ({})", it.id, reason(it))).collect();
    let names = (!names.is_empty()).then(|| names.join(", "))?;
    Some(format!("\nNot run here, but on workerd by `toolbooth test`: {names}\n"))
}

/// A line that names the tools whose examples have no recorded response.
fn not_recorded(all: &[Examples]) -> Option<String> {
    let is_missing = |it: &&Examples| it.http && it.examples.iter().all(|it| it.response.is_none());
    let names: Vec<_> = all.iter().filter(is_missing).map(|it| &*it.id).collect();
    (!names.is_empty()).then(|| {
        format!("\nNot run, because no example has a recorded response: {}\n", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example::{CATALOG, EXAMPLES};
    use crate::testing::respond;

    #[test]
    #[should_panic(
        expected = "3 examples have a different outcome than documented:\n\nOrders.Comment@1.0.0\n  input: "
    )]
    fn an_example_with_another_outcome_fails_the_test() {
        let test = ToolTest::new(&CATALOG).upstream(|_| respond(503, ""));
        test.check_examples(EXAMPLES);
    }

    #[test]
    fn calls_before_an_example_and_values_that_vary() {
        let comment = json!({"tool": "Orders.Comment", "input": {"id": "7", "text": "Ring twice"}});
        let comment_8 = json!({"tool": "Orders.Comment", "input": {"id": "8", "text": "a"}});
        let find = |setup: &[&Value], varies: &[&str], status: &str| json!({"setup": setup, "input": {"id": "7"}, "varies": varies, "value": {"status": status}});
        for (example, expected, requests) in [
            (find(&[&comment, &comment], &[], "open"), "", 3),
            (
                find(&[&comment, &comment_8], &[], "open"),
                "{\"id\":\"7\"}\n    the setup Orders.Comment with {",
                2,
            ),
            (find(&[], &["/status"], "lost"), "", 1),
            (
                find(&[], &["/state"], "lost"),
                "Orders.Find@1.0.0\n  input: {\"id\":\"7\"}\n  value.status\n    expected: \"lost\"\n    got:      \"open\"",
                1,
            ),
        ] {
            let test =
                ToolTest::new(&CATALOG).upstream(|request| match request.url.split('/').nth(4) {
                    Some("7") => respond(200, r#"{"status":"open"}"#),
                    _ => respond(404, ""),
                });
            let parsed = serde_json::from_value(example.clone()).expect("an example");
            let error = test.check_example("Orders.Find@1.0.0", &parsed).err().unwrap_or_default();
            assert_eq!(error.is_empty(), expected.is_empty(), "{example}: {error}");
            assert!(error.contains(expected), "{example}: {error}");
            assert_eq!(test.requests().len(), requests, "{example}");
        }
    }

    #[test]
    fn recorded_responses_of_services() {
        let find = |request: &str, request_body: Value, status: u16| {
            json!([{"id": "Orders.Comment@1.0.0", "http": true, "examples": []},
            {"id": "Orders.Find@1.0.0", "http": true, "examples": [
                {"input": {"id": "7"}, "value": "not run"},
                {"input": {"id": "7"}, "value": {"status": "open"}, "request": request,
                 "request_body": request_body, "response": {"status": status, "body": {"status": "open"}}}
            ]}])
            .to_string()
        };
        let url = "GET https://orders.example/orders/7";
        ToolTest::new(&CATALOG).check_examples(&find(url, Value::Null, 200));
        for (request, body, status, expected) in [
            (
                "GET https://a.example",
                Value::Null,
                200,
                "  request\n    expected: GET https://a.example\n    got:      GET https://orders",
            ),
            (
                url,
                json!({"a": 1}),
                200,
                "  request_body\n    expected: {\"a\":1}\n    got:      null",
            ),
            (url, Value::Null, 404, "There is no such order"),
        ] {
            let examples = read_examples(&find(request, body, status));
            let mut test = ToolTest::new(&CATALOG);
            let example = &examples[1].examples[1];
            test.host.http.record(example.response.as_ref());
            let error = test.check_example("Orders.Find@1.0.0", example).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        let line = not_recorded(&read_examples(&find(url, Value::Null, 200))).expect("a line");
        assert!(line.ends_with("recorded response: Orders.Comment@1.0.0\n"), "{line}");
    }

    #[test]
    fn examples_that_need_workerd_are_left_to_it() {
        let mut all: Value = serde_json::from_str(EXAMPLES).expect("JSON");
        all[1]["examples"][0]["value"] = json!("wrong");
        all[1]["bindings"] = json!(["NOTES"]);
        let test = ToolTest::new(&CATALOG).upstream(|_| respond(201, ""));
        test.check_examples(&all.to_string());
        let line = left_to_workerd(&read_examples(&all.to_string())).expect("a line");
        assert!(line.ends_with("`toolbooth test`: Orders.Find@1.0.0 (NOTES)\n"), "{line}");
        all[1]["bindings"] = json!([]);
        all[1]["external"] = json!(true);
        ToolTest::new(&CATALOG).upstream(|_| respond(201, "")).check_examples(&all.to_string());
        let line = left_to_workerd(&read_examples(&all.to_string())).expect("a line");
        assert!(line.ends_with("`toolbooth test`: Orders.Find@1.0.0 (TypeScript)\n"), "{line}");
        assert_eq!(left_to_workerd(&read_examples(EXAMPLES)), None);
    }
}
