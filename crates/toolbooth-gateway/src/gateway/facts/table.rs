//! The table of what models accept: `models.json`, which says how to read it.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::gateway::facts::Facts;
use crate::gateway::facts::name::{Name, Version};
use toolbooth::json;

const TABLE: &str = include_str!("../../../models.json");

/// Whose API a model is asked in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Maker {
    Anthropic,
    OpenAi,
    Google,
}

#[derive(Default, Deserialize)]
struct Table {
    anthropic: Vec<Row>,
    openai: Vec<Row>,
    google: Vec<Row>,
}

/// What the models of these names accept.
#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    names: Vec<String>,
    from: Option<Version>,
    facts: Facts,
}

/// What a model accepts: the first row that fits. The last one of each list fits every name.
pub(super) fn find(maker: Maker, model: &str) -> Option<&'static Facts> {
    static ROWS: LazyLock<Table> =
        LazyLock::new(|| json::read(TABLE.as_bytes()).unwrap_or_default());
    let rows = match maker {
        Maker::Anthropic => &ROWS.anthropic,
        Maker::OpenAi => &ROWS.openai,
        Maker::Google => &ROWS.google,
    };
    let name = Name::of(model);
    let fits = |row: &&Row| {
        row.names.is_empty() || row.names.iter().any(|words| name.fits(words, row.from))
    };
    rows.iter().find(fits).map(|row| &row.facts)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_row_has_its_source() {
        let table: Value = serde_json::from_str(TABLE).unwrap();
        for maker in ["anthropic", "openai", "google"] {
            let rows = table[maker].as_array().unwrap();
            for row in rows {
                let known = ["names", "from", "facts", "source", "date"];
                let members = row.as_object().unwrap();
                assert!(members.keys().all(|name| known.contains(&name.as_str())), "{row}");
                assert!(row["source"].as_str().is_some_and(|source| source.len() > 20), "{row}");
                assert!(row["date"].as_str().is_some_and(|date| date.len() == 10), "{row}");
                let is_last = row == rows.last().unwrap();
                assert_eq!(row["names"].is_null(), is_last, "{row}");
            }
        }
        let read: Table = json::read(TABLE.as_bytes()).unwrap();
        for (rows, maker) in
            [(read.anthropic, "anthropic"), (read.openai, "openai"), (read.google, "google")]
        {
            assert_eq!(rows.len(), table[maker].as_array().unwrap().len());
        }
    }
}
