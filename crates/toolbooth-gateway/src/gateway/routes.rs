//! The routes of the chat gateway, which has the format of OpenAI Chat Completions: chats, and the list of models.

use std::rc::Rc;

use serde::Serialize;

use crate::gateway::count_tokens::count_tokens;
use crate::gateway::embeddings::embeddings;
use crate::gateway::error::{ErrorKind, GatewayError};
use crate::gateway::format::chat_completions::front::{ChatCompletions, encode_rejection};
use crate::gateway::format::front::Front;
use crate::gateway::format::messages::front::{self as messages, Messages};
use crate::gateway::format::responses::front::Responses;
use crate::gateway::model_list::{ListedModel, ModelLimits, ModelList, ModelLists, models_of};
use crate::gateway::relay::background;
use crate::gateway::relay::chat::{Sender, chat};
use crate::gateway::relay::report::{Operation, log_rejected};
use crate::gateway::settings::{GatewaySettings, ModelProvider, SETTINGS};
use toolbooth::call::Rejection;
use toolbooth::capability::Capability;
use toolbooth::host::{Host, async_trait};
use toolbooth::http::{Answer, Response};
use toolbooth::log::CallRecorder;
use toolbooth::principal::{GATEWAY_SCOPE, Scopes};
use toolbooth::route::{
    BodyFormat, EncodeRejection, ErrorForm, Handler, Limit, Policy, Protocol, Route, RouteRequest,
    State,
};
use toolbooth::schema::text::excerpt;
use toolbooth::settings::{Allowlist, Permission};
use toolbooth::url::decoded;

/// The capability.
pub static CAPABILITY: Capability = Capability {
    protocols: &[
        ("/2api/v1", &AT_2API),
        ("/v1/responses", &RESPONSES),
        ("/v1/messages", &MESSAGES),
        ("/v1", &GATEWAY),
    ],
    settings: Some(&SETTINGS),
    scopes: &[GATEWAY_SCOPE],
    // The tools of a chat are written as in the requests of a provider.
    lists: "providers",
    background: &[&background::RESPONSES],
    start: Some(|startup| startup.extensions.insert(ModelLists::default())),
    warnings: Some(warnings),
    ..Capability::new("gateway")
};

/// Callers may chat, and there is no model, or not the one that their key names.
fn warnings(state: &State, _: &dyn Host) -> Vec<String> {
    let settings = state.settings();
    let gateway = settings.extensions.get::<GatewaySettings>();
    let has_models = gateway.is_some_and(|it| !it.providers.is_empty());
    let gives = |scopes: &Scopes| matches!(scopes, Scopes::Listed(listed) if listed.iter().any(|it| it == GATEWAY_SCOPE));
    let mut keys = settings.auth.api_keys.iter().flatten();
    let warning = keys.find(|key| gives(&key.scopes)).filter(|_| !has_models).map(|key| {
        format!(
            "API_KEYS gives {:?} the scope \"gateway\", but no provider of models is configured: set OPENAI_API_KEY, \
             ANTHROPIC_API_KEY, GEMINI_API_KEY or PROVIDERS",
            key.name
        )
    });
    let mut warnings: Vec<String> = warning.into_iter().collect();
    if let Some(gateway) = gateway.filter(|_| has_models) {
        warnings.extend(gateway.providers.iter().filter_map(ModelProvider::repeats_version));
        warnings.extend(unknown_names(gateway, state));
    }
    warnings
}

/// Models and tools that the configuration names and the server does not have.
// Out of the code that each start compiles.
#[inline(never)]
fn unknown_names(gateway: &GatewaySettings, state: &State) -> Vec<String> {
    let settings = state.settings();
    let mut warnings = Vec::new();
    let is_alias = |name: &String| gateway.aliases.iter().any(|alias| alias.name == *name);
    let keys = settings.auth.api_keys.iter().flatten();
    let keys = keys.map(|key| (format!("API_KEYS limits {:?}", key.name), &key.limits));
    let rules = settings.rule_limits.iter();
    let rules = rules.map(|limits| {
        ("A rule of SIGN_IN_ALLOWED, ENTERPRISE_ISSUERS or TEAMS limits people".to_owned(), limits)
    });
    for (place, limits) in keys.chain(rules) {
        let names = limits.models.iter().flatten();
        let unknown = names.filter(|name| !is_alias(name) && gateway.provider_of(name).is_none());
        warnings.extend(unknown.map(|name| {
            format!(
                "{place} to the model {name:?}, which is neither in MODELS nor one of a provider"
            )
        }));
    }
    let added = gateway.aliases.iter().flat_map(|alias| {
        let place = format!("MODELS.{}.tools", alias.name);
        alias.added_tools.iter().map(move |name| (place.clone(), name))
    });
    let general = gateway.added_tools.iter().map(|name| ("GATEWAY_TOOLS".to_owned(), name));
    let catalog = state.pipeline.catalog;
    let unknown = general.chain(added).filter(|(_, name)| {
        let only = Allowlist::only(vec![(*name).clone()]);
        !catalog.tools.iter().any(|tool| tool.permission_in(&only) == Permission::Given)
    });
    warnings.extend(unknown.map(|(place, name)| {
        format!("{place} names {name:?}, which selects no tool of this server")
    }));
    warnings
}

static GATEWAY: Protocol =
    protocol("gateway", "Chat gateway, with the format of OpenAI Chat Completions");
static MESSAGES: Protocol = Protocol {
    routes: &[
        Route::post("", CHAT, &ModelHandler(Operation::Chat, &MESSAGE)),
        Route::post("/count_tokens", CHAT, &ModelHandler(Operation::CountTokens, &COUNT)),
    ],
    ..Protocol::new(
        "messages",
        "Chat gateway, with the format of Anthropic Messages",
        EncodeRejection::Plain(messages::encode_rejection),
    )
};
static AT_2API: Protocol = protocol("2api", "Chat gateway, at the path of 2api.ai");

static RESPONSES: Protocol = Protocol {
    routes: &[
        Route::post("", CHAT, &ModelHandler(Operation::Chat, &Responses)),
        Route::get("/{id}", STORED, &background::retrieve),
        Route::delete("/{id}", STORED, &background::delete),
        Route::post("/{id}/cancel", STORED, &background::cancel),
    ],
    ..Protocol::new("responses", "OpenAI Responses", EncodeRejection::Plain(encode_rejection))
};

/// A chat counts like a call.
const CHAT: Policy = Policy {
    limit: Limit::Caller,
    needs_configuration: true,
    body: BodyFormat::Json,
    max_body_bytes: |state| {
        let gateway = state.settings().extensions.get::<GatewaySettings>();
        gateway.map_or(0, |gateway| gateway.max_body_bytes)
    },
    ..Policy::CALLER
};

/// A look at a response in the background costs as much as a call, so that it is limited like one.
const STORED: Policy = Policy { limit: Limit::Caller, ..Policy::CALLER };

const ROUTES: &[Route] = &[
    Route::post("/chat/completions", CHAT, &ModelHandler(Operation::Chat, &ChatCompletions)),
    Route::post("/embeddings", CHAT, &ModelHandler(Operation::Embeddings, &ChatCompletions)),
    Route::get("/models", LIST, &models),
    Route::get("/models/{+model}", LIST, &model),
];

const MESSAGE: Messages = Messages { counts_only: false };
const COUNT: Messages = Messages { counts_only: true };

/// Lists are written as the client's format has them, and so are rejections.
const LIST: Policy = Policy { errors: ErrorForm::Page(messages::list_rejection), ..Policy::CALLER };

const fn protocol(name: &'static str, title: &'static str) -> Protocol {
    Protocol {
        routes: ROUTES,
        ..Protocol::new(name, title, EncodeRejection::Plain(encode_rejection))
    }
}

/// Passes a request on to a model. A chat is answered with a stream if the client asks for one.
struct ModelHandler(Operation, &'static dyn Front);

#[async_trait(?Send)]
impl Handler for ModelHandler {
    async fn serve<'a>(&self, request: &Rc<RouteRequest<'a>>) -> Result<Answer<'a>, Rejection> {
        let (sender, body) = (self.sender(request)?, request.text()?);
        Ok(match self.0 {
            Operation::Chat => chat(sender, body).await?,
            Operation::CountTokens => count_tokens(sender, body).await,
            Operation::Embeddings => embeddings(sender, body).await.into(),
        })
    }

    fn rejected(&self, request: &RouteRequest<'_>, rejection: &Rejection) {
        if let Ok(sender) = self.sender(request) {
            log_rejected(&sender, rejection);
        }
    }
}

impl ModelHandler {
    fn sender<'a>(&self, request: &RouteRequest<'a>) -> Result<Sender<'a>, Rejection> {
        Ok(Sender {
            front: self.1,
            operation: self.0,
            settings: settings(request)?,
            headers: request.headers,
            principal: request.principal.clone(),
            pipeline: &request.state.pipeline,
            host: request.host,
            calls: CallRecorder::default(),
            background: None,
        })
    }
}

/// The settings, which are read whenever the capability is served.
fn settings<'a>(request: &RouteRequest<'a>) -> Result<&'a GatewaySettings, Rejection> {
    request.state.settings().extensions.get().ok_or(Rejection::NOT_FOUND)
}

#[derive(Serialize)]
struct List<'a> {
    object: &'static str,
    data: Vec<Model<'a>>,
    /// Ours: the providers whose other models can be named as `provider/model`.
    providers: &'a [String],
}

/// A model, as OpenAI writes it.
#[derive(Serialize)]
struct Model<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    owned_by: &'a str,
    /// Ours.
    #[serde(flatten)]
    limits: ModelLimits,
}

impl<'a> Model<'a> {
    fn of(model: &'a ListedModel) -> Self {
        let ListedModel { id, owned_by, created, limits } = model;
        Self { id, object: "model", created: *created, owned_by, limits: *limits }
    }
}

/// `GET /v1/models`: what the caller may use.
async fn models<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let ModelList { models, providers } = models_of(request, settings(request)?, None).await?;
    if messages::models::is_asked_for(request.headers) {
        return Ok(messages::models::list(&models).into());
    }
    let data = models.iter().map(Model::of).collect();
    let list = List { object: "list", data, providers: &providers };
    Ok(Response::json_of(200, &list).into())
}

/// `GET /v1/models/{id}`: one of them. Its id may have slashes.
async fn model<'a>(request: &RouteRequest<'a>) -> Result<Answer<'a>, Rejection> {
    let id = decoded(request.parameter);
    let settings = settings(request)?;
    let list = models_of(request, settings, Some(&id)).await?;
    let named = |id: &str| list.models.iter().find(|model| model.id == id);
    // A provider can have a second name, which lists do not have.
    let listed = settings.provider_of(&id).map(|(it, model)| format!("{}/{model}", it.id));
    let found = named(&id).or_else(|| named(&listed?));
    let is_anthropic = messages::models::is_asked_for(request.headers);
    let response = match found {
        Some(model) if is_anthropic => messages::models::one(model),
        Some(model) => Response::json_of(200, &Model::of(model)),
        None => {
            let message = format!("There is no model '{}' that the caller may use", excerpt(&id));
            let front: &dyn Front = match is_anthropic {
                true => &MESSAGE,
                false => &ChatCompletions,
            };
            GatewayError::new(ErrorKind::UnknownModel, message).response(front)
        }
    };
    Ok(response.into())
}
