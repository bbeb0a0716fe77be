//! Runs the examples of the fixtures.

use toolbooth::testing::ToolTest;

use super::report::stand_in::pages;
use super::{CATALOG, EXAMPLES};

#[test]
fn every_example_is_true() {
    ToolTest::new(&CATALOG).upstream(pages).check_examples(EXAMPLES);
}
