//! Runs the examples of the fixtures.

use serde::Deserialize;
use toolbooth::catalog::Example;
use toolbooth::testing::{FakeHost, check_example};

use super::{CATALOG, EXAMPLES};

#[derive(Deserialize)]
struct Examples {
    id: String,
    examples: Vec<Example>,
}

#[test]
fn every_example_is_true() {
    let all: Vec<Examples> = serde_json::from_str(EXAMPLES).unwrap();
    assert_eq!(all.len(), CATALOG.tools.len());
    for Examples { id, examples } in &all {
        for example in examples {
            let outcome = check_example(&CATALOG, &FakeHost::default(), id, example);
            assert_eq!(outcome, Ok(()));
        }
    }
}
