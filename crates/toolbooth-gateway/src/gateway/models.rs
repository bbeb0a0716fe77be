//! `GET /v1/models`: the models that a request can name.

use serde::Serialize;

use super::routes::settings;
use toolbooth::call::Rejection;
use toolbooth::http::{Answer, Response};
use toolbooth::principal::GATEWAY_SCOPE;
use toolbooth::route::RouteRequest;

#[derive(Serialize)]
struct List<'a> {
    object: &'static str,
    data: Vec<Model<'a>>,
    /// Ours: the providers whose other models can be named as `provider/model`.
    providers: Vec<&'a str>,
}

/// An alias, or a model that an alias names.
#[derive(Serialize)]
struct Model<'a> {
    id: String,
    object: &'static str,
    /// Unknown; the member is required.
    created: u64,
    owned_by: &'a str,
}

/// Lists the aliases and the models in them, and the providers: the gateway passes any other model of theirs on, too.
pub(super) async fn models<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let settings = settings(request)?;
    let mut data = Vec::new();
    let mut providers = Vec::new();
    let model = |id, owned_by| Model { id, object: "model", created: 0, owned_by };
    if request.principal.scopes().cover(&[GATEWAY_SCOPE]) {
        for alias in &settings.aliases {
            data.push(model(alias.name.clone(), "toolbooth"));
        }
        for target in settings.aliases.iter().flat_map(|alias| &alias.targets) {
            let id = format!("{}/{}", target.provider, target.model);
            if !data.iter().any(|known: &Model<'_>| known.id == id) {
                data.push(model(id, &target.provider));
            }
        }
        providers.extend(settings.providers.iter().map(|provider| &*provider.id));
    }
    Ok(Response::json_of(200, &List { object: "list", data, providers }).into())
}
