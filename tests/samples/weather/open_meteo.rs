//! A client for the parts of Open-Meteo's geocoding and forecast APIs that the tools use.

use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toolbooth::host::{HttpError, HttpRequest, HttpResponse};
use toolbooth::url::query_value;
use toolbooth::{Context, ToolError, json};

const TIMEOUT: Duration = Duration::from_secs(5);
/// How long to wait before retrying after a temporary failure.
const SOON_MS: u64 = 2_000;
/// Open-Meteo's shortest limit is per minute.
const MINUTE_MS: u64 = 60_000;

/// A city and its coordinates.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) city: String,
    pub(crate) country: String,
    pub(crate) latitude: f64,
    pub(crate) longitude: f64,
}

#[derive(Deserialize)]
struct Search {
    #[serde(default)]
    results: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    name: String,
    latitude: f64,
    longitude: f64,
    #[serde(default)]
    country: String,
    #[serde(default)]
    country_code: String,
    #[serde(default)]
    admin1: String,
}

impl Hit {
    /// Whether the city lies in `region`: a country, a country code, or a first-level division.
    fn lies_in(&self, region: &str) -> bool {
        let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<String>();
        let region = lower(region);
        [&self.country, &self.country_code, &self.admin1].iter().any(|name| lower(name) == region)
    }

    fn label(&self) -> String {
        if self.country.is_empty() {
            self.name.clone()
        } else {
            format!("{}, {}", self.name, self.country)
        }
    }
}

/// Finds a city by name, such as `Paris` or `Paris, Texas`. Of several matches, the first (most important) wins.
pub(crate) async fn find_city(context: &Context<'_>, city: &str) -> Result<Place, ToolError> {
    let (name, region) = match city.split_once(',') {
        Some((name, region)) => (name.trim(), Some(region.trim())),
        None => (city.trim(), None),
    };
    let hits = search(context, name).await?;
    let found = hits.iter().find(|hit| region.is_none_or(|region| hit.lies_in(region)));
    if let Some(hit) = found {
        return Ok(Place {
            city: hit.name.clone(),
            country: hit.country.clone(),
            latitude: hit.latitude,
            longitude: hit.longitude,
        });
    }
    // No match: suggest similar cities.
    let near = if hits.is_empty() { search(context, &beginning(name)).await? } else { hits };
    let unknown = ToolError::new("City not found")
        .developer_message("Open-Meteo's geocoding API returned no match.");
    if near.is_empty() {
        return Err(unknown);
    }
    let near: Vec<_> = near.iter().map(Hit::label).collect();
    Err(unknown.prompt(format!("cities: {}", near.join("; "))))
}

/// The first half of a name, at least three letters: for fewer, Open-Meteo only finds exact matches.
fn beginning(name: &str) -> String {
    name.chars().take(name.chars().count().div_ceil(2).max(3)).collect()
}

async fn search(context: &Context<'_>, name: &str) -> Result<Vec<Hit>, ToolError> {
    let name = query_value(name);
    let base = context.variable("WEATHER_GEOCODING_URL");
    let url = format!("{base}/search?name={name}&count=5&language=en&format=json");
    Ok(get::<Search>(context, &url).await?.results)
}

/// The weather now.
#[derive(Deserialize)]
pub(crate) struct Current {
    pub(crate) time: String,
    pub(crate) temperature_2m: f64,
    pub(crate) relative_humidity_2m: f64,
    pub(crate) wind_speed_10m: f64,
    pub(crate) weather_code: u8,
}

/// Fetches the current weather at a place.
pub(crate) async fn current(context: &Context<'_>, place: &Place) -> Result<Current, ToolError> {
    #[derive(Deserialize)]
    struct Response {
        current: Current,
    }
    let fields = "current=temperature_2m,relative_humidity_2m,wind_speed_10m,weather_code";
    Ok(get::<Response>(context, &forecast_url(context, place, fields)).await?.current)
}

/// Each field has one entry per day.
#[derive(Deserialize)]
pub(crate) struct Series {
    pub(crate) time: Vec<String>,
    pub(crate) temperature_2m_min: Vec<f64>,
    pub(crate) temperature_2m_max: Vec<f64>,
    pub(crate) weather_code: Vec<u8>,
    pub(crate) precipitation_sum: Vec<f64>,
}

/// Fetches the daily forecast of a place for `days` days.
pub(crate) async fn daily(
    context: &Context<'_>,
    place: &Place,
    days: u32,
) -> Result<Series, ToolError> {
    #[derive(Deserialize)]
    struct Response {
        daily: Series,
    }
    let fields = format!(
        "daily=temperature_2m_min,temperature_2m_max,weather_code,precipitation_sum&forecast_days={days}"
    );
    Ok(get::<Response>(context, &forecast_url(context, place, &fields)).await?.daily)
}

fn forecast_url(context: &Context<'_>, place: &Place, fields: &str) -> String {
    let base = context.variable("WEATHER_FORECAST_URL");
    // `format!` of doubles would add 5 KB to the bundle.
    let [latitude, longitude] = [place.latitude, place.longitude].map(|it| json::to_string(&it));
    format!("{base}/forecast?latitude={latitude}&longitude={longitude}&{fields}&timezone=auto")
}

/// Fetches and parses JSON. Every failure is a tool error that tells whether to retry.
async fn get<T: DeserializeOwned>(context: &Context<'_>, url: &str) -> Result<T, ToolError> {
    send(context, url).await?.json().ok_or_else(|| {
        context
            .warn("open_meteo", &[("fault", "the response does not have the documented format")]);
        ToolError::new("The weather service returned an invalid response").retry_after_ms(SOON_MS)
    })
}

/// Sends a request and maps failures to tool errors. Not generic, so it is compiled once.
async fn send(context: &Context<'_>, url: &str) -> Result<HttpResponse, ToolError> {
    let request = HttpRequest { timeout: TIMEOUT, ..HttpRequest::get(url) };
    let response = context.send(request).await.map_err(|error| {
        match error {
            HttpError::Timeout => ToolError::new("The weather service did not respond in time"),
            HttpError::TooLarge => ToolError::new("The weather service's response was too large"),
            _ => ToolError::new("The weather service could not be reached"),
        }
        .retry_after_ms(SOON_MS)
    })?;
    if response.status != 200 {
        context.warn("open_meteo", &[("status", &response.status.to_string())]);
    }
    match response.status {
        200 => Ok(response),
        429 => Err(ToolError::new("The weather service received too many requests")
            .retry_after_ms(response.retry_after_ms.unwrap_or(MINUTE_MS))),
        500.. => Err(ToolError::new("The weather service had an internal error")
            .developer_message(format!("Open-Meteo returned {}.", response.status))
            .retry_after_ms(response.retry_after_ms.unwrap_or(SOON_MS))),
        status => Err(ToolError::new("The weather service rejected the request")
            .developer_message(format!("Open-Meteo returned {status}."))),
    }
}
