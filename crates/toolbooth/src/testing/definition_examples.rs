//! Runs the examples of definitions.

use serde::Deserialize;
use serde_json::{Value, json};

use super::tool_test::made_up;
use super::{FakeStore, ToolTest};
use crate::call::Outcome;
use crate::catalog::{Example, Found, ToolRef};
use crate::secret::Secret;
use crate::tool::Credentials;

/// The examples of one version of a tool.
#[derive(Debug, Deserialize)]
pub struct Examples {
    /// The tool's id.
    pub id: String,
    /// Its examples.
    pub examples: Vec<Example>,
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
    /// # Panics
    /// A tool has no example, or one has another outcome than documented.
    pub fn check_examples(mut self, examples: &str) {
        let all = read_examples(examples);
        assert_eq!(all.len(), self.catalog.tools.len(), "each tool must have examples");
        let mut wrong = Vec::new();
        for Examples { id, examples } in &all {
            assert!(!examples.is_empty(), "{id} has no example");
            for example in examples {
                self.host.store = FakeStore::default();
                wrong.extend(self.check_example(id, example).err());
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// Runs an example and compares the outcome: an error describes both.
    fn check_example(&self, id: &str, example: &Example) -> Result<(), String> {
        let reference = ToolRef::parse(id).map_err(|error| error.to_string())?;
        let Found::Tool(tool) = self.catalog.find(&reference) else {
            return Err(format!("{id} is not in the catalogue"));
        };
        let secret = |id: &&str| ((*id).to_owned(), Secret::new(made_up(id)));
        let credentials = Credentials {
            user_id: Some(made_up("user")),
            tokens: tool.authorization.iter().map(|it| secret(&it.id)).collect(),
            secrets: tool.secrets.iter().map(secret).collect(),
        };
        let got = match self.run(id, &example.input, credentials) {
            Outcome::Done { value, .. } => json!({ "value": value }),
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
        };
        let expected = match (&example.value, &example.error, &example.asks) {
            (Some(value), ..) => json!({ "value": value }),
            (None, Some(error), _) => json!({ "error": { "message": error.message } }),
            (None, None, Some(keys)) => json!({ "asks": keys }),
            (None, None, None) => Value::Null,
        };
        if got == expected {
            return Ok(());
        }
        let (input, log) = (&example.input, self.log());
        Err(format!("{id} with {input}: expected {expected}, got {got}; log: {log:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example::{CATALOG, EXAMPLES};
    use crate::testing::respond;

    #[test]
    #[should_panic(expected = r#"expected {\"value\":null}, got {\"error\":"#)]
    fn an_example_with_another_outcome_fails_the_test() {
        let test = ToolTest::new(&CATALOG).upstream(|_| respond(503, ""));
        test.check_examples(EXAMPLES);
    }
}
