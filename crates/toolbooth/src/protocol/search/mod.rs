//! The search in the catalogue: instead of all tools, a list has the tools `search_tools` and `call_tool`, and those that
//! are always listed. docs/TOOLS.md says how it works.
//!
//! The build makes the index ([`SearchIndex`]). Calls of `call_tool` become calls of the tool that they name before
//! anything else looks at them, so that nothing else has to know.

mod tools;

use crate::call::{ListMode, Search};
use crate::capability::Capability;
use crate::catalog::{ListForm, SearchIndex};
use crate::protocol::mcp;
use crate::settings::{CapabilitySettings, Row, VariableDoc};

/// The capability.
pub static CAPABILITY: Capability = Capability {
    settings: Some(&CapabilitySettings {
        variables: &[DOCS],
        auth_methods: &[],
        read: |settings, reader| {
            let mode = reader.get(&TOOLS_LIST);
            settings.extensions.insert(mode);
        },
    }),
    start: Some(|startup| {
        let mode = startup.settings.extensions.get::<ListMode>().copied();
        startup.search = startup.catalog.search_index().map(|index| Search {
            search_tool: &tools::SEARCH_TOOLS,
            call_tool: &tools::CALL_TOOL,
            listed: tools::LISTED,
            index,
            find: SearchIndex::find,
            mode: mode.unwrap_or(ListMode::Auto),
        });
    }),
    ..Capability::new("search")
};

/// The tools as MCP lists them, also if the Worker does not serve MCP. Otherwise the two lists share their bytes.
pub(crate) const LIST: ListForm = ListForm { name: "search", ..mcp::TOOLS };

static DOCS: &[VariableDoc] = &[TOOLS_LIST.doc()];

static TOOLS_LIST: Row<ListMode> = Row::new(
    "TOOLS_LIST",
    "which tools MCP's `tools/list` has: `all`; `search`, the tools `search_tools` and `call_tool`, and those that are \
     [always listed](TOOLS.md#many-tools); or `auto`, which is `search` for callers who may run more than 40 tools. \
     `?tools=all` or `?tools=search` in the client's URL overrides it | `auto` | the default applies",
    ListMode::Auto,
    |text| match text {
        "all" => Ok(ListMode::All),
        "search" => Ok(ListMode::Search),
        "" | "auto" => Ok(ListMode::Auto),
        _ => Err("must be all, search or auto".to_owned()),
    },
);

#[cfg(test)]
mod tests;
