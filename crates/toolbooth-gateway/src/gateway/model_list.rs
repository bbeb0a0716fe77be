//! The models that a caller may use: those that the settings name, and those that providers list.

use std::collections::BTreeSet;
use std::slice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;

use crate::gateway::limits::access::Models;
use crate::gateway::settings::{GatewaySettings, ModelProvider, ModelTarget};
use crate::wire::fields::{count, text};
use toolbooth::budget::NANO_DOLLARS;
use toolbooth::call::{Rejection, join_all};
use toolbooth::host::{Host, HttpRequest, Level};
use toolbooth::json::{self, Value};
use toolbooth::principal::GATEWAY_SCOPE;
use toolbooth::route::RouteRequest;
use toolbooth::secret::Secret;
use toolbooth::settings::TeamSettings;

/// After this time a list is fetched again.
const FRESH_MS: u64 = 5 * 60 * 1000;
/// After a failure, do not retry for this long.
const FAILED_MS: u64 = 30 * 1000;
const TIMEOUT: Duration = Duration::from_secs(5);
/// The largest list, in bytes, in JSON values and in models. The largest providers have some hundreds.
const MAX_BYTES: usize = 4 << 20;
const MAX_VALUES: usize = 262_144;
const MAX_MODELS: usize = 2000;
/// The longest name of a model, in bytes.
const MAX_NAME: usize = 256;

/// What providers call the limits of a model: Anthropic, Gemini, and those with OpenAI's format, such as OpenRouter, Groq, Mistral and
/// vLLM.
const MAX_INPUT_TOKENS: [&str; 6] = [
    "max_input_tokens",
    "inputTokenLimit",
    "context_length",
    "context_window",
    "max_context_length",
    "max_model_len",
];
const MAX_OUTPUT_TOKENS: [&str; 3] = ["max_tokens", "outputTokenLimit", "max_completion_tokens"];

/// A model that a caller may use.
#[derive(Debug)]
pub(super) struct ListedModel {
    /// The name, as requests write it.
    pub(super) id: String,
    /// The provider; of an alias, this server.
    pub(super) owned_by: String,
    /// When it was created, in seconds since the Unix epoch; 0 if that is unknown.
    pub(super) created: u64,
    pub(super) limits: ModelLimits,
}

/// How many tokens a model can read and write, as far as `MODELS` or the provider's list says so, and what they cost by `MODELS`.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct ModelLimits {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) price: Option<DollarPrice>,
}

/// What a million tokens cost, in dollars, as `MODELS` writes it.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct DollarPrice {
    input: f64,
    output: f64,
}

impl DollarPrice {
    /// The most that these targets cost. `None` if one of them has no price.
    fn of(targets: &[ModelTarget]) -> Option<Self> {
        // For people: budgets count exactly.
        #[allow(clippy::cast_precision_loss)]
        let dollars = |nano: u64| nano as f64 / NANO_DOLLARS as f64;
        let mut most = (0, 0);
        for target in targets {
            let price = target.price?;
            most = (most.0.max(price.input), most.1.max(price.output));
        }
        Some(Self { input: dollars(most.0), output: dollars(most.1) })
    }
}

impl ModelLimits {
    /// What any of these targets can do.
    fn of(targets: &[ModelTarget]) -> Self {
        let least = |limit: fn(&ModelTarget) -> Option<u64>| targets.iter().filter_map(limit).min();
        Self {
            max_input_tokens: least(|target| target.max_input_tokens),
            max_output_tokens: least(|target| target.max_output_tokens),
            price: DollarPrice::of(targets),
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct ModelList {
    pub(super) models: Vec<ListedModel>,
    /// The providers whose other models the caller may use, as `provider/model`.
    pub(super) providers: Vec<String>,
}

/// The lists of the providers, cached in the instance: by the provider and, if that has a key of its own, the team.
#[derive(Debug, Default)]
// Never locked across an await: another request could then wait forever.
pub(super) struct ModelLists(Mutex<Vec<(String, CachedList)>>);

#[derive(Debug, Clone, Default)]
struct CachedList {
    models: Arc<[ProviderModel]>,
    /// Until when it is not fetched again, in milliseconds since the Unix epoch.
    until_ms: u64,
}

#[derive(Debug)]
struct ProviderModel {
    /// The name, as the provider writes it.
    name: String,
    created: u64,
    limits: ModelLimits,
}

/// What the sender of a request may use: the aliases and the models in them, those that its key names and, if it may use every
/// model, those that the providers list. Nothing without the scope. If only the model `id` is asked for, only its provider is.
pub(super) async fn models_of(
    request: &RouteRequest<'_>,
    settings: &GatewaySettings,
    id: Option<&str>,
) -> Result<ModelList, Rejection> {
    let mut list = ModelList::default();
    if !request.principal.scopes().cover(&[GATEWAY_SCOPE]) {
        return Ok(list);
    }
    let names = Models::of(&request.principal, request.state.settings(), settings).names;
    let mut known = BTreeSet::new();
    let mut add = |id: String, owned_by: &str, created, limits| {
        let is_allowed = names.as_ref().is_none_or(|names| names.contains(&id.as_str()));
        if is_allowed && known.insert(id.clone()) {
            let owned_by = owned_by.to_owned();
            list.models.push(ListedModel { id, owned_by, created, limits });
        }
    };
    for alias in &settings.aliases {
        // Any of its targets may answer.
        add(alias.name.clone(), "toolbooth", 0, ModelLimits::of(&alias.targets));
    }
    for target in settings.aliases.iter().flat_map(|alias| &alias.targets) {
        let id = format!("{}/{}", target.provider, target.model);
        add(id, &target.provider, 0, ModelLimits::of(slice::from_ref(target)));
    }
    for name in names.iter().flatten() {
        if let Some((provider, _)) = settings.provider_of(name) {
            add((*name).to_owned(), &provider.id, 0, ModelLimits::default());
        }
    }
    if names.is_none() {
        let lists = request.state.extensions.get::<ModelLists>().ok_or(Rejection::NOT_FOUND)?;
        let only = id.map(|id| settings.provider_of(id).map(|(provider, _)| &provider.id));
        let is_asked = |provider: &&ModelProvider| only.is_none_or(|id| id == Some(&provider.id));
        let asked: Vec<_> = settings.providers.iter().filter(is_asked).collect();
        let team = request.state.settings().team_of(&request.principal);
        let fetched = asked.iter().map(|provider| lists.of(provider, team, request.host));
        for (provider, models) in asked.iter().zip(join_all(fetched).await) {
            for model in models.iter() {
                let id = format!("{}/{}", provider.id, model.name);
                add(id, &provider.id, model.created, model.limits);
            }
            list.providers.push(provider.id.clone());
        }
    }
    Ok(list)
}

impl ModelLists {
    /// The models that a provider lists: none if it cannot be asked, or does not answer.
    async fn of(
        &self,
        provider: &ModelProvider,
        team: Option<&TeamSettings>,
        host: &dyn Host,
    ) -> Arc<[ProviderModel]> {
        let now_ms = host.now_ms();
        // A team with a key of its own may have other models.
        let own = team.and_then(|team| Some((&team.name, team.provider_key(&provider.id)?)));
        let id = match own {
            Some((team, _)) => format!("{} {team}", provider.id),
            None => provider.id.clone(),
        };
        let cached = self.cached(&id);
        let key = own.map(|(_, key)| key).or(provider.key.as_ref()).map(Secret::expose);
        let can_be_asked = key.is_some() || !provider.needs_key;
        let format = provider.formats.first().filter(|_| can_be_asked);
        let Some((format, path)) = format.and_then(|it| Some((it, it.models_path()?))) else {
            return cached.models;
        };
        if now_ms < cached.until_ms {
            return cached.models;
        }
        if !cached.models.is_empty() {
            // Meanwhile, other requests get the list as it was.
            let until_ms = now_ms.saturating_add(FAILED_MS);
            let models = Arc::clone(&cached.models);
            self.keep(&id, CachedList { models, until_ms });
        }
        let mut headers = vec![("accept", "application/json".into())];
        headers.extend(format.headers(key));
        let url = format!("{}{path}", provider.base_url);
        let request = HttpRequest {
            binding: provider.binding,
            headers,
            timeout: TIMEOUT,
            max_bytes: MAX_BYTES,
            ..HttpRequest::get(&url)
        };
        let models = match host.send(request).await {
            Ok(response) if response.status == 200 => read(&response.body),
            Ok(response) => Err(format!("status {}", response.status)),
            Err(error) => Err(error.to_string()),
        };
        let (models, life_ms) = match models {
            Ok(models) => (models.into(), FRESH_MS),
            Err(problem) => {
                let attributes = [("provider", provider.id.as_str()), ("problem", &problem)];
                host.log(Level::Warn, "models", &attributes);
                (cached.models, FAILED_MS)
            }
        };
        let until_ms = now_ms.saturating_add(life_ms);
        self.keep(&id, CachedList { models: Arc::clone(&models), until_ms });
        models
    }

    fn cached(&self, id: &str) -> CachedList {
        let lists = self.lists();
        let found = lists.iter().find(|(known, _)| known == id);
        found.map(|(_, list)| list.clone()).unwrap_or_default()
    }

    fn keep(&self, id: &str, list: CachedList) {
        let mut lists = self.lists();
        match lists.iter_mut().find(|(known, _)| known == id) {
            Some((_, known)) => *known = list,
            None => lists.push((id.to_owned(), list)),
        }
    }

    fn lists(&self) -> MutexGuard<'_, Vec<(String, CachedList)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The models of a provider's list: OpenAI and Anthropic have `data` with `id`, Gemini has `models` with `name`, and Together only the list.
fn read(body: &[u8]) -> Result<Vec<ProviderModel>, String> {
    let text = str::from_utf8(body).map_err(|_| "the list is not UTF-8")?;
    let value =
        json::parse_within(text, &mut { MAX_VALUES }).map_err(|_| "the list is not JSON")?;
    let models = value.get("data").or_else(|| value.get("models")).unwrap_or(&value);
    let models = models.as_array().ok_or("there is no list")?;
    Ok(models.iter().filter_map(model).take(MAX_MODELS).collect())
}

fn model(value: &Value<'_>) -> Option<ProviderModel> {
    let name = text(value.get("id")).or_else(|| text(value.get("name")))?;
    // Gemini's list has models of other methods too.
    let methods = value.get("supportedGenerationMethods").and_then(Value::as_array);
    let generates = |methods: &[Value<'_>]| {
        methods.iter().any(|method| method.as_str() == Some("generateContent"))
    };
    let is_usable =
        name.len() <= MAX_NAME && !name.contains(char::is_control) && methods.is_none_or(generates);
    let name = name.strip_prefix("models/").unwrap_or(name).to_owned();
    let created = count(value.get("created")).unwrap_or_default();
    let first = |names: &[&str]| names.iter().find_map(|name| count(value.get(name)));
    let limits = ModelLimits {
        max_input_tokens: first(&MAX_INPUT_TOKENS),
        max_output_tokens: first(&MAX_OUTPUT_TOKENS),
        price: None,
    };
    is_usable.then_some(ProviderModel { name, created, limits })
}
