use serde_json::Value;

use super::*;

/// 6: docs/PROVIDERS.md and the page say the same.
#[test]
fn the_table_and_the_page_agree() {
    let page: Value = serde_json::from_str(CAPABILITIES).unwrap();
    let docs = include_str!("../../../../../../docs/PROVIDERS.md");
    assert!(docs.contains(&format!("As of {}.", page["as_of"].as_str().unwrap())));
    for (letter, source) in page["sources"].as_object().unwrap() {
        assert!(docs.contains(&format!("{letter} is {}", source.as_str().unwrap())), "{letter}");
    }
    let columns =
        ["feature", "openai", "openai-responses", "anthropic", "gemini", "page", "source"];
    let row = |feature: &Value| {
        let cells = columns.map(|column| feature[column].as_str().unwrap());
        format!("| {} |", cells.join(" | "))
    };
    let rows: Vec<String> = page["features"].as_array().unwrap().iter().map(row).collect();
    let table: Vec<&str> = docs
        .lines()
        .skip_while(|line| !line.starts_with("| Feature |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .collect();
    assert_eq!(table, rows);
}
