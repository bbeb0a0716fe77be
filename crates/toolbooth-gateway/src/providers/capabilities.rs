//! `GET /providers`: what each provider's interface supports (2api.ai, 6 "Provider Capability Matrix").
//!
//! The JSON file has the date and the sources. docs/PROVIDERS.md shows the same as a table.

use std::sync::LazyLock;

use toolbooth::call::RequestContext;
use toolbooth::route::{Page, PageError};

const CAPABILITIES: &str = include_str!("capabilities.json");

pub(super) fn page(_: &RequestContext<'_>) -> Result<Page, PageError> {
    static PAGE: LazyLock<Page> = LazyLock::new(|| Page::new(CAPABILITIES));
    Ok(PAGE.borrowed())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use toolbooth::testing::repository;

    #[test]
    fn the_page_and_the_table_in_the_docs_agree() {
        let page: Value = serde_json::from_str(CAPABILITIES).unwrap();
        let Some(docs) = repository::text("docs/PROVIDERS.md") else { return };
        assert!(docs.contains(&format!("as of {}.", page["as_of"].as_str().unwrap())));
        for (letter, source) in page["sources"].as_object().unwrap() {
            let source = format!("{letter} is {}", source.as_str().unwrap());
            assert!(docs.contains(&source), "{source}");
        }
        let columns =
            ["feature", "openai", "openai-responses", "anthropic", "gemini", "page", "source"];
        let row = |feature: &Value| {
            let cells = columns.map(|column| feature[column].as_str().unwrap());
            format!("| {} |", cells.join(" | "))
        };
        let rows: Vec<String> = page["features"].as_array().unwrap().iter().map(row).collect();
        let lines = docs.lines().skip_while(|line| !line.starts_with("| Feature |")).skip(2);
        let table: Vec<&str> = lines.take_while(|line| line.starts_with('|')).collect();
        assert_eq!(table, rows);
    }
}
