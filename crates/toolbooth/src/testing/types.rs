//! Checks the input type of a function against its schema.

use std::future::Future;

use serde::Deserialize;

use crate::ToolError;
use crate::json::{Value, ValueDeserializer};
use crate::tool::Context;

/// Reads valid inputs of the tool `id`, a JSON array, as the input type of its function. Returns a sentence for each
/// field that cannot be read, and for each property that the type ignores. Generated tests call it.
pub fn check_input_type<I, O, F, R>(id: &str, _: F, inputs: &str) -> Vec<String>
where
    I: Deserialize<'static>,
    F: FnOnce(I, &'static Context<'static>) -> R,
    R: Future<Output = Result<O, ToolError>>,
{
    let inputs: Vec<serde_json::Value> = serde_json::from_str(inputs).unwrap_or_default();
    let mut wrong = Vec::new();
    for input in inputs {
        // The type may borrow from the value.
        let json: &'static serde_json::Value = Box::leak(Box::new(input));
        let value: &'static Value<'static> = Box::leak(Box::new(json.into()));
        let mut ignored = Vec::new();
        let mut track = serde_path_to_error::Track::new();
        let read: Result<I, _> = serde_ignored::deserialize(
            serde_path_to_error::Deserializer::new(ValueDeserializer(value), &mut track),
            |path| ignored.push(path.to_string()),
        );
        let field = track.path().to_string();
        let sentences = match read {
            Ok(_) => ignored
                .iter()
                .map(|property| {
                    format!("{id}: the function's input type has no field for `{property}`")
                })
                .collect(),
            Err(_) => {
                // Only this deserializer's errors have messages.
                let text: &'static str = json.to_string().leak();
                let error = serde_json::from_str::<I>(text).err();
                let reason = error.map_or_else(|| json.to_string(), |error| error.to_string());
                let reason = reason.split(" at line ").next().unwrap_or_default();
                let place = if field == "." { String::new() } else { format!(" in `{field}`") };
                vec![format!(
                    "{id}: the function's input type rejects what input_schema allows{place}: {reason}"
                )]
            }
        };
        for sentence in sentences {
            if !wrong.contains(&sentence) {
                wrong.push(sentence);
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Input<'a> {
        name: &'a str,
        #[serde(default)]
        size: Option<u8>,
        #[serde(default)]
        points: Vec<Point>,
    }

    #[derive(Deserialize)]
    #[allow(dead_code)]
    struct Point {
        x: f64,
    }

    async fn handler(_: Input<'_>, _: &Context<'_>) -> Result<(), ToolError> {
        Ok(())
    }

    #[test]
    fn a_wrong_field_is_named() {
        for (inputs, expected) in [
            (r#"[{"name": "a"}, {"name": "b", "size": 255, "points": [{"x": 1}]}]"#, &[][..]),
            (
                r#"[{"name": "a", "size": 256}]"#,
                &[
                    " rejects what input_schema allows in `size`: invalid value: integer `256`, expected u8",
                ],
            ),
            (
                r#"[{"name": "a", "points": [{"x": 1}, {"x": "1"}]}]"#,
                &[
                    " rejects what input_schema allows in `points[1].x`: invalid type: string \"1\", expected f64",
                ],
            ),
            ("[{}]", &[" rejects what input_schema allows: missing field `name`"]),
            (
                r#"[{"name": "a", "colour": "red"}, {"name": "a", "colour": "blue", "points": [{"x": 1, "y": 2}]}]"#,
                &[" has no field for `colour`", " has no field for `points.0.y`"],
            ),
        ] {
            let expected: Vec<_> = expected
                .iter()
                .map(|rest| format!("A.B@1.0.0: the function's input type{rest}"))
                .collect();
            assert_eq!(check_input_type("A.B@1.0.0", handler, inputs), expected, "{inputs}");
        }
    }
}
