//! The examples of the tool. All steps run within the call.

use toolbooth::testing::ToolTest;

use super::stand_in::pages;
use super::{CATALOG, EXAMPLES};

#[test]
fn every_example_has_its_documented_outcome() {
    ToolTest::new(&CATALOG).upstream(pages).check_examples(EXAMPLES);
}
