//! Weather tools, with data from Open-Meteo.

mod open_meteo;
#[cfg(test)]
pub(crate) mod stand_in;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use toolbooth::address::base_address;
use toolbooth::tool::Variable;
use toolbooth::{Context, ToolError};

use open_meteo::{Place, Series};

/// The base URL of Open-Meteo's forecast API.
pub(crate) const FORECAST_URL: Variable = Variable {
    name: "WEATHER_FORECAST_URL",
    default: "https://api.open-meteo.com/v1",
    check: base_address,
};
/// The base URL of Open-Meteo's geocoding API.
pub(crate) const GEOCODING_URL: Variable = Variable {
    name: "WEATHER_GEOCODING_URL",
    default: "https://geocoding-api.open-meteo.com/v1",
    check: base_address,
};

#[derive(Debug, Clone, Copy, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Units {
    #[default]
    Celsius,
    Fahrenheit,
    Kelvin,
}

impl Units {
    /// Converts from degrees Celsius, Open-Meteo's unit, and rounds to two decimals.
    fn convert(self, celsius: f64) -> f64 {
        let value = match self {
            Self::Celsius => celsius,
            Self::Fahrenheit => celsius * 1.8 + 32.0,
            Self::Kelvin => celsius + 273.15,
        };
        (value * 100.0).round() / 100.0
    }
}

#[derive(Deserialize)]
pub(crate) struct CurrentInput {
    city: String,
    #[serde(default)]
    units: Units,
}

#[derive(Serialize)]
pub(crate) struct CurrentOutput {
    #[serde(flatten)]
    place: Place,
    units: Units,
    time: String,
    temperature: f64,
    conditions: &'static str,
    humidity_percent: f64,
    wind_speed_kmh: f64,
}

/// The weather in a city now.
pub(crate) async fn current(
    input: CurrentInput,
    context: &Context<'_>,
) -> Result<CurrentOutput, ToolError> {
    let place = open_meteo::find_city(context, &input.city).await?;
    let now = open_meteo::current(context, &place).await?;
    Ok(CurrentOutput {
        place,
        units: input.units,
        time: now.time,
        temperature: input.units.convert(now.temperature_2m),
        conditions: conditions(now.weather_code),
        humidity_percent: now.relative_humidity_2m,
        wind_speed_kmh: now.wind_speed_10m,
    })
}

#[derive(Deserialize)]
pub(crate) struct ForecastInput {
    city: String,
    #[serde(default)]
    units: Units,
    #[serde(default = "three")]
    days: u8,
}

fn three() -> u8 {
    3
}

#[derive(Serialize)]
pub(crate) struct ForecastOutput {
    #[serde(flatten)]
    place: Place,
    units: Units,
    days: Vec<Day>,
}

#[derive(Serialize)]
struct Day {
    date: String,
    min: f64,
    max: f64,
    conditions: &'static str,
    precipitation_mm: f64,
}

/// The weather in a city on the next days.
pub(crate) async fn forecast(
    input: ForecastInput,
    context: &Context<'_>,
) -> Result<ForecastOutput, ToolError> {
    let place = open_meteo::find_city(context, &input.city).await?;
    let Series { time, temperature_2m_min, temperature_2m_max, weather_code, precipitation_sum } =
        open_meteo::daily(context, &place, input.days).await?;
    let degrees = |celsius: f64| input.units.convert(celsius);
    let days = time
        .into_iter()
        .zip(temperature_2m_min.into_iter().zip(temperature_2m_max))
        .zip(weather_code.into_iter().zip(precipitation_sum))
        .map(|((date, (min, max)), (code, precipitation_mm))| Day {
            date,
            min: degrees(min),
            max: degrees(max),
            conditions: conditions(code),
            precipitation_mm,
        })
        .collect();
    Ok(ForecastOutput { place, units: input.units, days })
}

/// The codes of WMO table 4677 that Open-Meteo uses.
fn conditions(code: u8) -> &'static str {
    match code {
        0 => "clear sky",
        1 => "mainly clear",
        2 => "partly cloudy",
        3 => "overcast",
        45 | 48 => "fog",
        51 | 53 | 55 => "drizzle",
        56 | 57 => "freezing drizzle",
        61 | 63 | 65 => "rain",
        66 | 67 => "freezing rain",
        71 | 73 | 75 => "snowfall",
        77 => "snow grains",
        80..=82 => "rain showers",
        85 | 86 => "snow showers",
        95 => "thunderstorm",
        96 | 99 => "thunderstorm with hail",
        _ => "unknown",
    }
}
