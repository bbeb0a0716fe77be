//! Names of functions that a provider does not accept, and those that it knows them by.

use std::borrow::Cow;

use crate::gateway::{ChatRequest, Tool};

/// Whether a provider accepts the name of a function.
pub(super) type Accepts = fn(&str) -> bool;

/// The functions of a request that a provider knows by other names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    accepts: Option<Accepts>,
    /// The names of the request, each with that of the provider.
    renamed: Vec<(String, String)>,
}

impl Names {
    /// Those of the tools of a request. Each has an underscore before it, or as many as make it unique.
    pub(super) fn of(request: &ChatRequest, accepts: Option<Accepts>) -> Self {
        let mut names = Self { accepts, renamed: Vec::new() };
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

    /// The name of the request.
    pub(in crate::gateway) fn original<'n>(&'n self, sent: &'n str) -> &'n str {
        self.renamed.iter().find(|(_, it)| it == sent).map_or(sent, |(name, _)| name)
    }
}
