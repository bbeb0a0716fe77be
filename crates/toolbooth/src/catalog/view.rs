//! Views: pages in which hosts show the results of tools (the extension MCP Apps). Their files are not part of the program.

use std::any::Any;

use serde_json::Value;

use super::Ui;
use crate::host::BoxFuture;

/// The views of a catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Views {
    /// Each view, once.
    pub all: &'static [View],
    /// How the host reads their files; `None` if there are no views, so that nothing is linked for them.
    pub read: Option<ReadView>,
}

impl Views {
    /// No views.
    pub const NONE: Self = Self { all: &[], read: None };
}

/// A view.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Its address: `ui://weather/forecast.tsx`.
    pub uri: &'static str,
    /// The indexes of the tools whose results it shows. Callers who may run one of them may read it.
    pub tools: &'static [usize],
    /// The settings of its resource, `_meta.ui`, as JSON.
    pub meta: &'static str,
}

impl View {
    /// The path of its file among those that are deployed with the server: `/views/weather/forecast.tsx`.
    pub fn path(&self) -> String {
        self.uri.replacen("ui:/", "/views", 1)
    }
}

/// Reads a file that is deployed with the server, by its path; gets what [`Platform`](crate::host::Platform) returns.
/// The error is for the log.
pub type ReadView = for<'a> fn(String, &'a dyn Any) -> BoxFuture<'a, Result<String, String>>;

/// How the build renders a view.
#[derive(Debug, Clone, Copy)]
pub struct ViewForm {
    /// The name of the list that has it.
    pub list: &'static str,
    /// Its entry: from its address, the ids of its tools and the settings of its resource.
    pub entry: fn(&str, &[&str], &Value) -> Value,
    /// The settings of its resource, `_meta.ui`.
    pub meta: fn(&Ui) -> Value,
}
