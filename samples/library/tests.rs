//! The examples of the tools, with the responses that they have recorded.

use serde_json::json;
use toolbooth::testing::{ToolTest, respond};

use super::{CATALOG, EXAMPLES};

#[test]
fn every_example_has_its_documented_outcome() {
    ToolTest::new(&CATALOG).check_examples(EXAMPLES);
}

#[test]
fn requests_have_the_credentials_of_their_tool() {
    let test = ToolTest::new(&CATALOG).token("library", "t0ken").upstream(|_| respond(200, "{}"));
    test.value("Library.FindBooks", json!({"query": "rust"}));
    test.value("Library.GetBook", json!({"id": "7"}));
    test.value("Library.AddReview", json!({"id": "7", "stars": 5, "text": null}));
    let [find, get, add] = &test.requests()[..] else { panic!("three requests") };
    assert_eq!(find.header("x-api-key"), Some("example-LIBRARY_API_KEY"));
    assert_eq!((get.header("x-api-key"), get.header("authorization")), (None, None));
    assert_eq!(add.header("authorization"), Some("Bearer t0ken"));
    assert_eq!(add.json(), json!({"stars": 5, "text": null}));
}
