//! Runs the examples of the fixtures.

use toolbooth::testing::ToolTest;

use super::{CATALOG, EXAMPLES};

#[test]
fn every_example_is_true() {
    ToolTest::new(&CATALOG).check_examples(EXAMPLES);
}
