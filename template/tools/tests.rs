//! Runs the examples of every definition through the same pipeline as real calls.

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
fn every_example_has_its_documented_outcome() {
    let all: Vec<Examples> = serde_json::from_str(EXAMPLES).expect("the build generates valid JSON");
    let mut wrong = Vec::new();
    for Examples { id, examples } in &all {
        assert!(!examples.is_empty(), "{id} has no example");
        for example in examples {
            // Tools that call a service need a fake of it: FakeHost { upstream: my_service, .. }.
            let host = FakeHost::default();
            wrong.extend(check_example(&CATALOG, &host, id, example).err());
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
