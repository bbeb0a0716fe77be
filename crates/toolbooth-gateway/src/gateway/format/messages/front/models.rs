//! Models, as Anthropic writes them.

use serde::Serialize;

use crate::gateway::format::messages::front::block::Null;
use crate::gateway::model_list::ListedModel;
use toolbooth::http::{Headers, Response};
use toolbooth::time::utc;

/// Whether a request is from a client of Anthropic.
pub(in crate::gateway) fn is_asked_for(headers: &dyn Headers) -> bool {
    headers.get("anthropic-version").is_some()
}

#[derive(Serialize)]
struct List<'a> {
    data: Vec<Model<'a>>,
    has_more: bool,
    first_id: Option<&'a str>,
    last_id: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "model")]
struct Model<'a> {
    id: &'a str,
    display_name: &'a str,
    /// The beginning of time, if it is unknown; the member is required.
    created_at: String,
    lifecycle: &'static str,
    capabilities: Null,
    deprecated_at: Null,
    line: Null,
    max_input_tokens: Option<u64>,
    max_tokens: Option<u64>,
    retires_at: Null,
}

impl<'a> Model<'a> {
    fn of(model: &'a ListedModel) -> Self {
        Self {
            id: &model.id,
            display_name: &model.id,
            created_at: utc(model.created.saturating_mul(1000)),
            lifecycle: "active",
            capabilities: None,
            deprecated_at: None,
            line: None,
            max_input_tokens: model.limits.max_input_tokens,
            max_tokens: model.limits.max_output_tokens,
            retires_at: None,
        }
    }
}

/// All models in one page.
pub(in crate::gateway) fn list(models: &[ListedModel]) -> Response {
    let data: Vec<_> = models.iter().map(Model::of).collect();
    let (first_id, last_id) = (data.first().map(|it| it.id), data.last().map(|it| it.id));
    Response::json_of(200, &List { has_more: false, first_id, last_id, data })
}

/// One of them.
pub(in crate::gateway) fn one(model: &ListedModel) -> Response {
    Response::json_of(200, &Model::of(model))
}
