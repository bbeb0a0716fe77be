//! Functions in a provider's answers: those that it knows by other names, custom tools, and one whose call is the answer itself.

use std::borrow::Cow;

use crate::gateway::{ChatRequest, Tool};

/// Whether a provider accepts the name of a function.
pub(super) type Accepts = fn(&str) -> bool;

/// A function that a model is forced to call, so that its answer is a JSON object.
pub(super) const ANSWER: &str = "json_object";

/// The functions of a request that a provider knows by other names, the custom tools that it knows as functions, and whether
/// [`ANSWER`] is a function of its own.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    pub(super) has_answer: bool,
    accepts: Option<Accepts>,
    /// The names of the request, each with that of the provider.
    renamed: Vec<(String, String)>,
    /// The custom tools that the provider knows as functions.
    custom: Vec<String>,
    /// The names of the request's tools.
    tools: Vec<String>,
}

impl Names {
    /// Those of the tools of a request. Each has an underscore before it, or as many as make it unique.
    pub(super) fn of(
        request: &ChatRequest,
        accepts: Option<Accepts>,
        has_answer: bool,
        custom: Vec<String>,
    ) -> Self {
        let tools = request.tools.iter().filter_map(Tool::name).map(str::to_owned).collect();
        let mut names = Self { has_answer, accepts, renamed: Vec::new(), custom, tools };
        let Some(accepts) = accepts else { return names };
        let known = || request.tools.iter().filter_map(Tool::name);
        for name in known().filter(|name| !accepts(name)) {
            let mut sent = format!("_{name}");
            while known().any(|it| it == sent) || names.renamed.iter().any(|(_, it)| *it == sent) {
                sent.insert(0, '_');
            }
            names.renamed.push((name.to_owned(), sent));
        }
        names
    }

    /// The name that the provider knows. A call of the conversation can be one of a function that the request no longer has.
    pub(super) fn sent<'n>(&self, name: Cow<'n, str>) -> Cow<'n, str> {
        match self.renamed.iter().find(|(known, _)| *known == name) {
            Some((_, sent)) => sent.clone().into(),
            None if self.accepts.is_none_or(|accepts| accepts(&name)) => name,
            None => format!("_{name}").into(),
        }
    }

    /// Whether a call of this function is the answer itself.
    pub(super) fn is_answer(&self, name: &str) -> bool {
        self.has_answer && name == ANSWER
    }

    /// Whether a tool of the request is a custom one that the provider knows as a function.
    pub(in crate::gateway) fn is_custom(&self, name: &str) -> bool {
        self.custom.iter().any(|known| known == name)
    }

    /// Whether this is only the beginning of the name of a tool, of which more must follow.
    pub(in crate::gateway) fn is_piece(&self, sent: &str) -> bool {
        let name = self.original(sent);
        let mut tools = self.tools.iter();
        !self.tools.iter().any(|tool| tool == name) && tools.any(|tool| tool.starts_with(name))
    }

    /// The name of the request.
    pub(in crate::gateway) fn original<'n>(&'n self, sent: &'n str) -> &'n str {
        self.renamed.iter().find(|(_, it)| it == sent).map_or(sent, |(name, _)| name)
    }
}
